// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Products with few rows in AVX-512, and the choice of the instruction set.

#include "codegen/small_product.h"

#include "codegen/attention_kernel.h"
#include "codegen/instruction_sets.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // both in the intrinsics of the compiler
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")
#include "codegen/vector_avx512.h"
// After the vector that it is written in.
#include "codegen/small_product_tile.h"

namespace strata::library {
namespace {

void multiply_wide(const SmallProduct& p, int64_t first, int64_t last) { multiply_floats(p, first, last); }

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

bool has_small_products() { return has_avx512() || has_avx2(); }
bool multiplies_bfloat16(const SmallProduct& product) {
  return product.lines && product.dtype == DType::BF16 && has_bfloat16_products();
}
void small_product(const SmallProduct& product, int64_t first, int64_t last) {
  if (multiplies_bfloat16(product)) return small_product_bfloat16(product, first, last);
  has_avx512() ? multiply_wide(product, first, last) : small_product_avx2(product, first, last);
}

}  // namespace strata::library

#else

namespace strata::library {

bool has_small_products() { return false; }
bool multiplies_bfloat16(const SmallProduct&) { return false; }
void small_product(const SmallProduct&, int64_t, int64_t) { throw_internal("no such products on this processor"); }

}  // namespace strata::library
#endif
