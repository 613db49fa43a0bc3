// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Conditions on sizes that the exporter recorded: ranges of symbols, and Python text such as `L['x'].size()[0] % 2 ==
/// 0`.

#include <string>
#include <vector>

#include "core/ir/program.h"
#include "core/support/json.h"

namespace strata::capture {

/// Makes the symbols of `range_constraints` with their ranges; must come before any expression is read.
void read_ranges(const Json& program, ShapeEnv& env);

/// Adds every guard to the assumptions of the shape environment, and those that compare integer expressions of input
/// sizes to `program.guards`, which check_inputs evaluates. Needs `user_input_names`.
void add_guards(Program& program, const std::vector<std::string>& guards);

}  // namespace strata::capture
