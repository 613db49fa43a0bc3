// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// 16-bit floats from and to float32 by vectors: to be included after vector_avx2.h or vector_avx512.h.

#include <cstdint>

#include "core/ir/dtype.h"

namespace strata::library {
namespace {

inline void widen_by_vectors(DType dtype, const uint16_t* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; i += kFloatLanes) {
    const FloatVector x = dtype == DType::BF16 ? load_halves(from + i, n - i) : load_float16s(from + i, n - i);
    store_floats(to + i, x, n - i);
  }
}

inline void narrow_by_vectors(DType dtype, const float* from, uint16_t* to, int64_t n) {
  for (int64_t i = 0; i < n; i += kFloatLanes) {
    const FloatVector x = load_floats(from + i, n - i);
    dtype == DType::BF16 ? store_halves(to + i, x, n - i) : store_float16s(to + i, x, n - i);
  }
}

}  // namespace
}  // namespace strata::library
