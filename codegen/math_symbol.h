// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace strata::codegen {

/// Address of a function that emitted code may call: vector math, C math, and helpers of this library. Null if unknown.
void* math_symbol(const std::string& name);

}  // namespace strata::codegen
