// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Special functions of many numbers at once, by formulas without loops, which vectors of numbers go through together.

#include <cstdint>
#include <string_view>

namespace strata::native {

/// y[i] = f(x[i]); x and y may be the same.
using BlockFunction = void (*)(const double* x, int64_t n, double* y);

/// The function of that name (of `special::find`), or null where numbers have to go one by one. `exact`: as exact as
/// float64 is, 1e-15 of the value; else enough for float32, whose zeros are met to 1e-14.
BlockFunction find_block_function(std::string_view name, bool exact);

void widen(const float* x, int64_t n, double* y);
void narrow(const double* x, int64_t n, float* y);

}  // namespace strata::native
