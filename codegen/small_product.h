// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arithmetic of matrix products with few rows, where time goes into reading b once: neither operand is packed.

#include <cstdint>

#include "core/ir/dtype.h"

namespace strata::library {

/// Columns that lie dense become rows first, for so many rows of a in AVX2 (more in AVX-512), as long as they are no
/// longer than this: the second-level cache holds 64 of them.
constexpr int64_t kManyRows = 4, kTurnableDepth = 512;

/// c[rows, columns] = alpha * a b + bias, summed in float32. Strides in elements; a's rows lie dense.
struct SmallProduct {
  int64_t rows, columns, depth;
  const void* a;  ///< [rows, depth]
  int64_t a_stride;
  const void* b;  ///< lines: [columns, depth], each column of b dense; else [depth, columns], each row dense
  int64_t b_stride;
  bool lines;
  DType dtype;  ///< of a and b: F32, BF16 or F16
  void* c;
  int64_t c_stride;  ///< from row to row; columns lie dense
  DType c_dtype;     ///< F32, BF16 or F16
  float alpha;
  const float* bias;  ///< [columns], or null
};

/// Whether this processor has the instructions that these kernels are written in.
bool has_small_products();
/// Whether the product is taken of bfloat16 as they are, not widened: `lines` on a processor that has such products.
bool multiplies_bfloat16(const SmallProduct& product);
/// Columns [first, last) of the result; `first` a multiple of 64. Only where has_small_products().
void small_product(const SmallProduct& product, int64_t first, int64_t last);

/// What small_product calls where there is AVX2 and no AVX-512.
void small_product_avx2(const SmallProduct& product, int64_t first, int64_t last);
/// And where multiplies_bfloat16().
void small_product_bfloat16(const SmallProduct& product, int64_t first, int64_t last);

}  // namespace strata::library
