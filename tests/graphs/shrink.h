// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tests/graphs/program.h"

namespace strata::fuzz {

/// A smaller program for which `fails` still holds: outputs and nodes go, operands are cut off and become inputs, sizes
/// and symbols become small constants, inputs get plain strides, plain kinds and plain values. `fails` is called at
/// most `budget` times.
RandomProgram shrink(const RandomProgram& program, const std::function<bool(const RandomProgram&)>& fails,
                     size_t budget = 2000);

}  // namespace strata::fuzz
