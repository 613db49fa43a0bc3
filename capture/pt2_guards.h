// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Conditions on sizes that the exporter recorded as Python text: `L['x'].size()[0] % 2 == 0`.

#include <string>
#include <vector>

#include "core/ir/program.h"

namespace strata::capture {

/// Adds every guard to the assumptions of the shape environment, and those that compare integer expressions of input
/// sizes to `program.guards`, which check_inputs evaluates. Needs `user_input_names`.
void add_guards(Program& program, const std::vector<std::string>& guards);

}  // namespace strata::capture
