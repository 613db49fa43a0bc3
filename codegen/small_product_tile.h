// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Templates behind small_product.h, for sources that have switched to AVX-512: hence the unnamed namespace. No
/// standard header may be included after that switch.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "codegen/small_product.h"
#include "codegen/vector_sums.h"

namespace strata::library {
namespace {

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

/// The first n lanes of alpha * x + bias into row `row` of the result, from `column` on.
inline void store(const SmallProduct& p, int64_t row, int64_t column, int64_t n, __m512 x) {
  const __mmask16 mask = lanes(n);
  if (p.alpha != 1.0f) x = _mm512_mul_ps(x, _mm512_set1_ps(p.alpha));
  if (p.bias) x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, p.bias + column));
  const int64_t at = row * p.c_stride + column;
  if (p.c_dtype == DType::F32)
    _mm512_mask_storeu_ps(static_cast<float*>(p.c) + at, mask, x);
  else
    _mm256_mask_storeu_epi16(static_cast<uint16_t*>(p.c) + at, mask, narrowed(x));
}

struct PlainFloats {
  using Element = float;
  using Register = __m512;
  static constexpr int64_t kStep = 16;
  static Register load(const float* p, int64_t n) {
    return n >= kStep ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(lanes(n), p);
  }
  static float one(const float* p) { return *p; }
  static void multiply_add(__m512& sum, Register x, Register y) { sum = _mm512_fmadd_ps(x, y, sum); }
};

/// bfloat16 made float32 on the way.
struct WideFloats {
  using Element = uint16_t;
  using Register = __m512;
  static constexpr int64_t kStep = 16;
  static Register load(const uint16_t* p, int64_t n) {
    return widened(n >= kStep ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))
                              : _mm256_maskz_loadu_epi16(lanes(n), p));
  }
  static float one(const uint16_t* p) {
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(static_cast<uint32_t>(*p) << 16))));
  }
  static void multiply_add(__m512& sum, Register x, Register y) { sum = _mm512_fmadd_ps(x, y, sum); }
};

/// R rows by C = 16 / R' columns of dot products. Columns that are not there are computed from the last one.
template <class P, int R, int C>
inline void dots(const SmallProduct& p, int64_t row, int64_t column, int64_t last) {
  using E = typename P::Element;
  const E *a[R], *b[C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) a[r] = static_cast<const E*>(p.a) + (row + r) * p.a_stride;
#pragma GCC unroll 16
  for (int c = 0; c < C; ++c) {
    const int64_t at = column + c < last ? column + c : last - 1;
    b[c] = static_cast<const E*>(p.b) + at * p.b_stride;
  }
  __m512 sum[16];
#pragma GCC unroll 16
  for (auto& s : sum) s = _mm512_setzero_ps();
  const auto step = [&](int64_t k, int64_t n) __attribute__((always_inline)) {
    typename P::Register x[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) x[r] = P::load(a[r] + k, n);
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      const typename P::Register y = P::load(b[c] + k, n);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) P::multiply_add(sum[r * C + c], x[r], y);
    }
  };
  int64_t k = 0;
  for (; k + P::kStep <= p.depth; k += P::kStep) step(k, P::kStep);
  if (k < p.depth) step(k, p.depth - k);
  const __m512 all = sums_of(sum);
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const int64_t n = last - column < C ? last - column : C;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
    store(p, row + r, column, n, _mm512_permutexvar_ps(_mm512_add_epi32(lane, _mm512_set1_epi32(r * C)), all));
}

template <class P, int R, int C>
inline void dot_rows(const SmallProduct& p, int64_t row, int64_t first, int64_t last) {
  for (int64_t column = first; column < last; column += C) dots<P, R, C>(p, row, column, last);
}

/// R rows by up to C vectors of columns, rows of b taken one after the other.
template <class P, int R, int C>
inline void combine(const SmallProduct& p, int64_t row, int64_t column, int64_t last) {
  using E = typename P::Element;
  const E* a = static_cast<const E*>(p.a) + row * p.a_stride;
  const E* b = static_cast<const E*>(p.b) + column;
  __m512 sum[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) sum[r][c] = _mm512_setzero_ps();
  const int64_t n = last - column - 16 * (C - 1);
  for (int64_t k = 0; k < p.depth; ++k, b += p.b_stride) {
    __m512 y[C];
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) y[c] = P::load(b + 16 * c, c + 1 < C ? 16 : n);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const __m512 x = _mm512_set1_ps(P::one(a + r * p.a_stride + k));
#pragma GCC unroll 16
      for (int c = 0; c < C; ++c) sum[r][c] = _mm512_fmadd_ps(x, y[c], sum[r][c]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) store(p, row + r, column + 16 * c, c + 1 < C ? 16 : n, sum[r][c]);
}

template <class P, int C>
inline void combine_rows(const SmallProduct& p, int64_t column, int64_t last) {
  int64_t row = 0;
  for (; row + 6 <= p.rows; row += 6) combine<P, 6, C>(p, row, column, last);
  for (; row + 4 <= p.rows; row += 4) combine<P, 4, C>(p, row, column, last);
  if (p.rows - row == 3) combine<P, 3, C>(p, row, column, last);
  if (p.rows - row == 2) combine<P, 2, C>(p, row, column, last);
  if (p.rows - row == 1) combine<P, 1, C>(p, row, column, last);
}

template <class P>
inline void combinations(const SmallProduct& p, int64_t first, int64_t last) {
  for (int64_t column = first; column < last; column += 64) {
    const int64_t end = column + 64 < last ? column + 64 : last, n = end - column;
    if (n > 48)
      combine_rows<P, 4>(p, column, end);
    else if (n > 32)
      combine_rows<P, 3>(p, column, end);
    else if (n > 16)
      combine_rows<P, 2>(p, column, end);
    else
      combine_rows<P, 1>(p, column, end);
  }
}

/// Columns in groups that stay in the first-level cache while all rows go over them.
template <class P>
inline void dots_in_groups(const SmallProduct& p, int64_t first, int64_t last) {
  constexpr int64_t kGroup = 16;
  for (int64_t column = first; column < last; column += kGroup) {
    const int64_t end = column + kGroup < last ? column + kGroup : last;
    int64_t row = 0;
    for (; row + 4 <= p.rows; row += 4) dot_rows<P, 4, 4>(p, row, column, end);
    if (p.rows - row == 3) dot_rows<P, 3, 4>(p, row, column, end);
    if (p.rows - row == 2) dot_rows<P, 2, 8>(p, row, column, end);
    if (p.rows - row == 1) dot_rows<P, 1, 16>(p, row, column, end);
  }
}

constexpr int64_t kTurnedRows = 13;    // from here on the sums across lanes cost more than turning b once
constexpr int64_t kTurnedDepth = 512;  // what is turned stays in the second-level cache

/// Four elements of sixteen columns of b, from n >= 1 of each on: element k of all of them is out[k].
__attribute__((always_inline)) inline void turn_four(const float* const (&b)[16], int64_t k, int64_t n,
                                                     __m512 (&out)[4]) {
  const __mmask8 mask = n >= 4 ? __mmask8(0xf) : __mmask8((1u << n) - 1);
  __m512 x[4];  // lane 4 l + j of x[i]: element j of column 4 l + i
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

/// Columns [first, last) of b, at most 64, as rows of 64 in `to`. What lies beyond `last` is not to be read.
inline void turn_columns(const SmallProduct& p, int64_t first, int64_t last, float* to) {
  for (int64_t column = first; column < last; column += 16) {
    const float* b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      b[i] = static_cast<const float*>(p.b) + (column + i < last ? column + i : last - 1) * p.b_stride;
    float* rows = to + (column - first);
    __m512 out[4];
    int64_t k = 0;
    for (; k + 4 <= p.depth; k += 4) {
      turn_four(b, k, 4, out);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) _mm512_store_ps(rows + (k + i) * 64, out[i]);
    }
    if (k < p.depth) turn_four(b, k, p.depth - k, out);
    for (int i = 0; k + i < p.depth; ++i) _mm512_store_ps(rows + (k + i) * 64, out[i]);
  }
}

/// Rows of a by columns [first, last) of b, each of which lies dense.
template <class P>
inline void dot_products(const SmallProduct& p, int64_t first, int64_t last) {
  if constexpr (sizeof(typename P::Element) == sizeof(float)) {
    if (p.rows >= kTurnedRows && p.depth <= kTurnedDepth) {
      alignas(64) float turned[kTurnedDepth * 64];
      for (int64_t column = first; column < last; column += 64) {
        const int64_t end = column + 64 < last ? column + 64 : last;
        turn_columns(p, column, end, turned);
        SmallProduct q = p;
        q.b = turned;
        q.b_stride = 64;
        q.c = static_cast<char*>(p.c) + column * (p.c_dtype == DType::F32 ? 4 : 2);
        if (p.bias) q.bias = p.bias + column;
        combinations<P>(q, 0, end - column);
      }
      return;
    }
  }
  dots_in_groups<P>(p, first, last);
}

}  // namespace
}  // namespace strata::library
