// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions of many float32 numbers for kernels written by hand: erf after erf_tables.h, the others the vector
/// library's (libmvec, at most 4 units in the last place) where the processor and the library have them, else C's one
/// by one.

#include <cstdint>

namespace strata::library {

/// Lanes by which the functions below may go on behind the last number.
constexpr int64_t kMathLanes = 16;

enum class MathFunction : uint8_t { Exp, Expm1, Tanh, Erf };

/// x[i] = f(x[i]) for 0 <= i < n. `x` has room for n rounded up to a multiple of kMathLanes.
void apply_all(MathFunction f, float* x, int64_t n);

}  // namespace strata::library
