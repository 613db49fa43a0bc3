// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/halves.h"

#include "codegen/instruction_sets.h"
#include "core/runtime/elements.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#include "codegen/vector_avx2.h"
// After the vector that it is written in.
#include "codegen/halves_tile.h"
#pragma GCC pop_options

#else

namespace strata::library {
namespace {

void widen_by_vectors(DType, const uint16_t*, float*, int64_t) { throw_internal("no AVX2 on this processor"); }
void narrow_by_vectors(DType, const float*, uint16_t*, int64_t) { throw_internal("no AVX2 on this processor"); }

}  // namespace
}  // namespace strata::library
#endif

namespace strata::library {
namespace {

template <class T>
void widen_each(const T* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = work_value(from[i]);
}
template <class T>
void narrow_each(const float* from, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = stored_value<T>(from[i]);
}

}  // namespace

void halves_to_floats(DType dtype, const void* from, float* to, int64_t n) {
  if (has_avx512()) return widen_by_sixteen(dtype, static_cast<const uint16_t*>(from), to, n);
  if (has_avx2()) return widen_by_vectors(dtype, static_cast<const uint16_t*>(from), to, n);
  dtype == DType::BF16 ? widen_each(static_cast<const BFloat16*>(from), to, n)
                       : widen_each(static_cast<const Half*>(from), to, n);
}

void floats_to_halves(DType dtype, const float* from, void* to, int64_t n) {
  if (has_avx512()) return narrow_by_sixteen(dtype, from, static_cast<uint16_t*>(to), n);
  if (has_avx2()) return narrow_by_vectors(dtype, from, static_cast<uint16_t*>(to), n);
  dtype == DType::BF16 ? narrow_each(from, static_cast<BFloat16*>(to), n)
                       : narrow_each(from, static_cast<Half*>(to), n);
}

}  // namespace strata::library
