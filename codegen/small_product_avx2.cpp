// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Products with few rows in AVX2.

#include "codegen/small_product.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#include "codegen/vector_avx2.h"
// After the vector that it is written in.
#include "codegen/small_product_tile.h"

namespace strata::library {
namespace {

void multiply_narrow(const SmallProduct& p, int64_t first, int64_t last) { multiply_floats(p, first, last); }

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

void small_product_avx2(const SmallProduct& product, int64_t first, int64_t last) {
  multiply_narrow(product, first, last);
}

}  // namespace strata::library

#else

namespace strata::library {

void small_product_avx2(const SmallProduct&, int64_t, int64_t) { throw_internal("no AVX2 on this processor"); }

}  // namespace strata::library
#endif
