// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// 16-bit floats by sixteen: two thirds of the instructions that eight at a time take for half of them.

#include "codegen/halves.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // both in the intrinsics of the compiler
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")
#include "codegen/vector_avx512.h"
// After the vector that it is written in.
#include "codegen/halves_tile.h"

namespace strata::library {

void widen_by_sixteen(DType dtype, const uint16_t* from, float* to, int64_t n) { widen_by_vectors(dtype, from, to, n); }
void narrow_by_sixteen(DType dtype, const float* from, uint16_t* to, int64_t n) {
  narrow_by_vectors(dtype, from, to, n);
}

}  // namespace strata::library
#pragma GCC pop_options

#else

namespace strata::library {

void widen_by_sixteen(DType, const uint16_t*, float*, int64_t) { throw_internal("no AVX-512 on this processor"); }
void narrow_by_sixteen(DType, const float*, uint16_t*, int64_t) { throw_internal("no AVX-512 on this processor"); }

}  // namespace strata::library
#endif
