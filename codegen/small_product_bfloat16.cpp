// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Products with few rows in the dot products of pairs that processors with AVX512_BF16 have.

#include "codegen/small_product.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // both in the intrinsics of the compiler
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma,f16c")
#include "codegen/vector_avx512.h"
// After the vector that it is written in.
#include "codegen/small_product_tile.h"

namespace strata::library {
namespace {

struct PairsOfHalves {
  using Element = uint16_t;
  using Register = __m512i;
  static constexpr int64_t kStep = 32;
  static Register load(const uint16_t* p, int64_t n) {
    return n >= kStep ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi16((__mmask32(1) << n) - 1, p);
  }
  static void step(__m512& sum, Register x, Register y) { sum = _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y); }
};

void multiply_pairs(const SmallProduct& p, int64_t first, int64_t last) { dot_products<PairsOfHalves>(p, first, last); }

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

void small_product_bfloat16(const SmallProduct& product, int64_t first, int64_t last) {
  multiply_pairs(product, first, last);
}

}  // namespace strata::library

#else

namespace strata::library {

void small_product_bfloat16(const SmallProduct&, int64_t, int64_t) {
  throw_internal("no bfloat16 products on this processor");
}

}  // namespace strata::library
#endif
