// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is put on the clipboard, and tables as files.

#include <QAbstractItemModel>
#include <functional>

#include "app/studio/models/step.h"

namespace strata::studio {

/// One node as FX prints it: `add: "f32[8, 64]" = torch.ops.aten.add.Tensor(x, y)`.
QString fx_line(const trace::NodeRecord& node);
/// These nodes of a stage, in its order.
QString fx_lines(const StepData& step, const std::unordered_set<trace::NodeId>& nodes);
/// The whole stage as the method of a module.
QString fx_text(const StepData& step);
/// The node, its operands and its users.
std::unordered_set<trace::NodeId> neighbours(const StepData& step, trace::NodeId node);

enum class TableFormat { Tabs, Csv };
/// Headers and rows as they stand in the model, children indented under their parents by two blanks. `wanted` null: all
/// rows. Tabs and line ends in cells become blanks, or are quoted in CSV (RFC 4180).
QString table_text(const QAbstractItemModel& model, TableFormat format,
                   const std::function<bool(const QModelIndex&)>& wanted = {});

}  // namespace strata::studio
