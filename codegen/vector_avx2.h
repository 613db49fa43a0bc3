// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// A vector of float32 in AVX2 with FMA: the names of vector_avx512.h, which says how they are used.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace strata::library {
namespace {

using FloatVector = __m256;
constexpr int64_t kFloatLanes = 8;
constexpr int kVectorRegisters = 16;

/// All bits of the first n lanes.
inline __m256i lanes(int64_t n) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n < 8 ? n : 8)), lane);
}
inline __m256 all_lanes(float x) { return _mm256_set1_ps(x); }
inline __m256 multiply(__m256 x, __m256 y) { return _mm256_mul_ps(x, y); }
inline __m256 add(__m256 x, __m256 y) { return _mm256_add_ps(x, y); }
inline __m256 subtract(__m256 x, __m256 y) { return _mm256_sub_ps(x, y); }
/// Numbers below 0 become 0; NaN stays.
inline __m256 not_negative(__m256 x) { return _mm256_max_ps(__m256{}, x); }  // of NaN the second
inline bool has_nan(__m256 x) { return _mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) != 0; }
/// x * y + sum, rounded once.
inline __m256 multiply_add(__m256 x, __m256 y, __m256 sum) { return _mm256_fmadd_ps(x, y, sum); }

inline __m256 load_floats(const float* p) { return _mm256_loadu_ps(p); }
/// The first n >= 1; the other lanes are 0, and what lies there is not read.
inline __m256 load_floats(const float* p, int64_t n) {
  return n >= 8 ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, lanes(n));
}
inline void store_floats(float* p, __m256 x) { _mm256_storeu_ps(p, x); }
inline void store_floats(float* p, __m256 x, int64_t n) {
  n >= 8 ? _mm256_storeu_ps(p, x) : _mm256_maskstore_ps(p, lanes(n), x);
}

/// Eight bfloat16 as float32.
inline __m256 widened(__m128i halves) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
inline __m256 load_halves(const uint16_t* p) { return widened(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
inline __m256 load_halves(const uint16_t* p, int64_t n) {
  if (n >= 8) return load_halves(p);
  alignas(16) uint16_t some[8] = {};
  for (int64_t i = 0; i < n; ++i) some[i] = p[i];
  return load_halves(some);
}
/// Round to nearest even; NaN stays NaN.
inline __m128i narrowed(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x), high = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
  const __m256i rounded =
      _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
  const __m256i quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m256i wide = _mm256_blendv_epi8(rounded, quiet, nan);
  return _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
}
inline void store_halves(uint16_t* p, __m256 x, int64_t n) {
  const __m128i halves = narrowed(x);
  if (n >= 8) return _mm_storeu_si128(reinterpret_cast<__m128i*>(p), halves);
  alignas(16) uint16_t some[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(some), halves);
  for (int64_t i = 0; i < n; ++i) p[i] = some[i];
}

/// Eight float16 as float32.
inline __m256 load_float16s(const uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline __m256 load_float16s(const uint16_t* p, int64_t n) {
  if (n >= 8) return load_float16s(p);
  alignas(16) uint16_t some[8] = {};
  for (int64_t i = 0; i < n; ++i) some[i] = p[i];
  return load_float16s(some);
}
inline void store_float16s(uint16_t* p, __m256 x, int64_t n) {
  const __m128i halves = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
  if (n >= 8) return _mm_storeu_si128(reinterpret_cast<__m128i*>(p), halves);
  alignas(16) uint16_t some[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(some), halves);
  for (int64_t i = 0; i < n; ++i) p[i] = some[i];
}

/// Lane i of the result is lane from + i, for those that there are.
inline __m256 lanes_from(__m256 x, int from) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_permutevar8x32_ps(x, _mm256_add_epi32(lane, _mm256_set1_epi32(from)));
}

/// Lane i of the result is the sum of the lanes of x[i].
__attribute__((always_inline)) inline __m256 sums_of(__m256 (&x)[8]) {
  const __m256 low = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
  const __m256 high = _mm256_hadd_ps(_mm256_hadd_ps(x[4], x[5]), _mm256_hadd_ps(x[6], x[7]));
  return _mm256_add_ps(_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31));
}

/// Four elements of eight lines, four of line i given by `load(i)`: element j of all of them is out[j].
template <class Load>
__attribute__((always_inline)) inline void turn_loaded(const Load& load, __m256 (&out)[4]) {
  __m256 x[4];  // lane 4 l + j of x[i]: element j of line 4 l + i
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) x[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(load(i)), load(4 + i), 1);
  const __m256d low01 = _mm256_castps_pd(_mm256_unpacklo_ps(x[0], x[1]));
  const __m256d low23 = _mm256_castps_pd(_mm256_unpacklo_ps(x[2], x[3]));
  const __m256d high01 = _mm256_castps_pd(_mm256_unpackhi_ps(x[0], x[1]));
  const __m256d high23 = _mm256_castps_pd(_mm256_unpackhi_ps(x[2], x[3]));
  out[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(low01, low23));
  out[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low01, low23));
  out[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(high01, high23));
  out[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(high01, high23));
}
/// Of float32, from n >= 1 of element k of each on.
__attribute__((always_inline)) inline void turn_four(const float* const (&b)[8], int64_t k, int64_t n,
                                                     __m256 (&out)[4]) {
  const __m128i mask = _mm256_castsi256_si128(lanes(n));
  turn_loaded(
      [&](int i)
          __attribute__((always_inline)) { return n >= 4 ? _mm_loadu_ps(b[i] + k) : _mm_maskload_ps(b[i] + k, mask); },
      out);
}

}  // namespace
}  // namespace strata::library
