// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rows of the window's tables and the tree of the inspector, made from what was read.

#include <QStandardItemModel>

#include "app/studio/models/step.h"
#include "app/studio/models/table_model.h"

namespace strata::studio {

/// Stage or pass, time, nodes, change. Stages in order, each with the pass that made it; passes that made no snapshot
/// stand between them, marked by `effect`.
QStringList stage_headers();
std::vector<TableRow> stage_rows(const CompileData& compile);

/// What differs from the step before: added, removed (with reason), changed nodes.
QStringList change_headers();
std::vector<TableRow> change_rows(const StepData& step);

/// Rule, before -> after, reason.
QStringList rewrite_headers();
std::vector<TableRow> rewrite_rows(const StepData& step);

/// One row per kernel.
QStringList time_headers();
std::vector<TableRow> time_rows(const CompileData& compile);

/// One row per launch, with the buffers it reads and writes.
QStringList launch_headers();
/// `program`: only that program's; none: all.
std::vector<TableRow> launch_rows(const CompileData& compile, trace::Id program = trace::kNone);

/// All fields of the selection, with links (NodeRole, KernelRole, FileRole and LineRole).
void fill_inspector(QStandardItemModel& model, const CompileData* compile, const Details* details);

/// `Launch 3 · addmm_1`, in one line.
QString selection_title(const Details& details);

/// The Python lines of the selection one after the other, outermost call first, each under its place: what is left of
/// the source where the trace has no whole files. `lines` gets the line numbers, in this text, of the code itself.
QString stack_text(const Details& details, LineRanges& lines);

QString qt(const std::string& text);
/// `12.3 µs`; empty for an unknown time (negative).
QString duration_text(double ns);
/// `401 kB`; decimal units.
QString bytes_text(double bytes);

}  // namespace strata::studio
