// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// A vector of float32 in AVX-512. vector_avx2.h has the same names: a kernel is a template over neither, its source
/// includes one of the two after it has switched to that instruction set; hence the unnamed namespace. No standard
/// header may be included after that switch.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace strata::library {
namespace {

using FloatVector = __m512;
constexpr int64_t kFloatLanes = 16;
constexpr int kVectorRegisters = 32;

inline __mmask16 lanes(int64_t n) { return n >= 16 ? __mmask16(0xffff) : __mmask16((1u << n) - 1); }
inline __m512 all_lanes(float x) { return _mm512_set1_ps(x); }
inline __m512 multiply(__m512 x, __m512 y) { return _mm512_mul_ps(x, y); }
inline __m512 add(__m512 x, __m512 y) { return _mm512_add_ps(x, y); }
inline __m512 subtract(__m512 x, __m512 y) { return _mm512_sub_ps(x, y); }
/// Numbers below 0 become 0; NaN stays.
inline __m512 not_negative(__m512 x) { return _mm512_max_ps(__m512{}, x); }  // of NaN the second
inline bool has_nan(__m512 x) { return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) != 0; }
/// x * y + sum, rounded once.
inline __m512 multiply_add(__m512 x, __m512 y, __m512 sum) { return _mm512_fmadd_ps(x, y, sum); }

inline __m512 load_floats(const float* p) { return _mm512_loadu_ps(p); }
/// The first n >= 1; the other lanes are 0, and what lies there is not read.
inline __m512 load_floats(const float* p, int64_t n) {
  return n >= 16 ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(lanes(n), p);
}
inline void store_floats(float* p, __m512 x) { _mm512_storeu_ps(p, x); }
inline void store_floats(float* p, __m512 x, int64_t n) { _mm512_mask_storeu_ps(p, lanes(n), x); }

/// Sixteen bfloat16 as float32.
inline __m512 widened(__m256i halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
inline __m512 load_halves(const uint16_t* p) {
  return widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline __m512 load_halves(const uint16_t* p, int64_t n) {
  return n >= 16 ? load_halves(p) : widened(_mm256_maskz_loadu_epi16(lanes(n), p));
}
/// Round to nearest even; NaN stays NaN.
inline __m256i narrowed(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x), one = _mm512_set1_epi32(1);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
  const __m512i rounded =
      _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd), 16);
  const __m512i quiet = _mm512_or_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x40));
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, nan, quiet));
}
inline void store_halves(uint16_t* p, __m512 x, int64_t n) { _mm256_mask_storeu_epi16(p, lanes(n), narrowed(x)); }

/// Sixteen float16 as float32.
inline __m512 load_float16s(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline __m512 load_float16s(const uint16_t* p, int64_t n) {
  return n >= 16 ? load_float16s(p) : _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes(n), p));
}
inline void store_float16s(uint16_t* p, __m512 x, int64_t n) {
  _mm256_mask_storeu_epi16(p, lanes(n), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

/// Lane i of the result is lane from + i, for those that there are.
inline __m512 lanes_from(__m512 x, int from) {
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_permutexvar_ps(_mm512_add_epi32(lane, _mm512_set1_epi32(from)), x);
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

/// Four elements of sixteen lines, from n >= 1 of each on: element k + i of all of them is out[i].
__attribute__((always_inline)) inline void turn_four(const float* const (&b)[16], int64_t k, int64_t n,
                                                     __m512 (&out)[4]) {
  const __mmask8 mask = n >= 4 ? __mmask8(0xf) : __mmask8((1u << n) - 1);
  __m512 x[4];  // lane 4 l + j of x[i]: element j of line 4 l + i
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm512_castps128_ps512(_mm_maskz_loadu_ps(mask, b[i] + k));
    x[i] = _mm512_insertf32x4(x[i], _mm_maskz_loadu_ps(mask, b[4 + i] + k), 1);
    x[i] = _mm512_insertf32x4(x[i], _mm_maskz_loadu_ps(mask, b[8 + i] + k), 2);
    x[i] = _mm512_insertf32x4(x[i], _mm_maskz_loadu_ps(mask, b[12 + i] + k), 3);
  }
  const __m512d low01 = _mm512_castps_pd(_mm512_unpacklo_ps(x[0], x[1]));
  const __m512d low23 = _mm512_castps_pd(_mm512_unpacklo_ps(x[2], x[3]));
  const __m512d high01 = _mm512_castps_pd(_mm512_unpackhi_ps(x[0], x[1]));
  const __m512d high23 = _mm512_castps_pd(_mm512_unpackhi_ps(x[2], x[3]));
  out[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(low01, low23));
  out[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low01, low23));
  out[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high01, high23));
  out[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high01, high23));
}

}  // namespace
}  // namespace strata::library
