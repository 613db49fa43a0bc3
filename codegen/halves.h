// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// 16-bit floats (BF16 and F16) from and to float32, by vectors where the processor has AVX2 or AVX-512.

#include <cstdint>

#include "core/ir/dtype.h"

namespace strata::library {

/// `n` elements that follow each other; `dtype` is one of the two.
void halves_to_floats(DType dtype, const void* from, float* to, int64_t n);
/// Rounds to nearest, ties to even; NaN stays NaN.
void floats_to_halves(DType dtype, const float* from, void* to, int64_t n);

/// The same where there is AVX-512.
void widen_by_sixteen(DType dtype, const uint16_t* from, float* to, int64_t n);
void narrow_by_sixteen(DType dtype, const float* from, uint16_t* to, int64_t n);

}  // namespace strata::library
