// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Pieces of AVX-512 that several kernels share, for sources that have switched to it: hence the unnamed namespace and
/// no guard against being included in several of them. No standard header may be included after that switch.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace strata::library {
namespace {

inline __mmask16 lanes(int64_t n) { return n >= 16 ? __mmask16(0xffff) : __mmask16((1u << n) - 1); }

/// Sixteen bfloat16 as float32.
inline __m512 widened(__m256i halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

/// Lane i of the result is the sum of the lanes of x[i]. Each step adds halves of two registers into one.
template <int S>
__attribute__((always_inline)) inline void join_halves(__m512 (&x)[16]) {
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i bit = _mm512_set1_epi32(S);
  const __m512i here = _mm512_mask_add_epi32(lane, _mm512_test_epi32_mask(lane, bit), lane, _mm512_set1_epi32(16));
  const __m512i there = _mm512_xor_si512(here, bit);
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2 * S)
    x[i] = _mm512_add_ps(_mm512_permutex2var_ps(x[i], here, x[i + S]), _mm512_permutex2var_ps(x[i], there, x[i + S]));
}
__attribute__((always_inline)) inline __m512 sums_of(__m512 (&x)[16]) {
  join_halves<1>(x);
  join_halves<2>(x);
  join_halves<4>(x);
  join_halves<8>(x);
  return x[0];
}

}  // namespace
}  // namespace strata::library
