// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators that the table does not have and somebody else computes: a program that uses one still compiles, and the
/// call is made in its place, as a launch of its own.

#include <functional>
#include <string_view>

#include "core/ir/op.h"

namespace strata {

/// Computes a call. Operands are copies; the result has the types that the node says (a vector for a tuple). May be
/// called from any thread, one call at a time per program.
using ForeignFunction = std::function<RefValue(const RefContext& context)>;

/// A row for an operator, by its schema in ATen's notation; `random` when two equal calls may differ; `effect` when it
/// must be called even if nobody uses its results. The row that is there already is returned as it is. Nobody may have
/// a row for an operator that writes or aliases its operands: user Error. Rows live as long as the process; may be
/// called from any thread.
const OpDef* add_foreign_op(std::string_view schema, bool random, ForeignFunction function, bool effect = false);

/// The foreign row of this name, or null.
const OpDef* find_foreign_op(std::string_view name);
bool is_foreign(const OpDef& op);

}  // namespace strata
