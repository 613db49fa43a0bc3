// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Templates behind small_product.h, for sources that have switched to an instruction set and included vector_avx512.h
/// or vector_avx2.h: hence the unnamed namespace. No standard header may be included after that switch.
#pragma once

#include <cstdint>

#include "codegen/small_product.h"

namespace strata::library {
namespace {

constexpr int64_t kBlock = 64;  // columns that are taken together

/// The first n lanes of alpha * x + bias into row `row` of the result, from `column` on.
inline void store(const SmallProduct& p, int64_t row, int64_t column, int64_t n, FloatVector x) {
  if (p.alpha != 1.0f) x = multiply(x, all_lanes(p.alpha));
  if (p.bias) x = add(x, load_floats(p.bias + column, n));
  const int64_t at = row * p.c_stride + column;
  if (p.c_dtype == DType::F32)
    store_floats(static_cast<float*>(p.c) + at, x, n);
  else if (p.c_dtype == DType::BF16)
    store_halves(static_cast<uint16_t*>(p.c) + at, x, n);
  else
    store_float16s(static_cast<uint16_t*>(p.c) + at, x, n);
}

struct PlainFloats {
  using Element = float;
  using Register = FloatVector;
  static constexpr int64_t kStep = kFloatLanes;
  static Register load(const float* p, int64_t n) { return load_floats(p, n); }
  static float one(const float* p) { return *p; }
  static void step(FloatVector& sum, Register x, Register y) { sum = multiply_add(x, y, sum); }
};

/// bfloat16 made float32 on the way.
struct WideFloats {
  using Element = uint16_t;
  using Register = FloatVector;
  static constexpr int64_t kStep = kFloatLanes;
  static Register load(const uint16_t* p, int64_t n) { return load_halves(p, n); }
  static float one(const uint16_t* p) {
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(static_cast<uint32_t>(*p) << 16))));
  }
  static void step(FloatVector& sum, Register x, Register y) { sum = multiply_add(x, y, sum); }
};

/// And float16.
struct WideFloat16s : WideFloats {
  static Register load(const uint16_t* p, int64_t n) { return load_float16s(p, n); }
  static float one(const uint16_t* p) { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(*p)))); }
};

/// R rows by C columns of dot products, R C <= kFloatLanes. Columns that are not there are computed from the last one.
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
  FloatVector sum[kFloatLanes];
#pragma GCC unroll 16
  for (auto& s : sum) s = FloatVector{};
  const auto step = [&](int64_t k, int64_t n) __attribute__((always_inline)) {
    typename P::Register x[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) x[r] = P::load(a[r] + k, n);
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      const typename P::Register y = P::load(b[c] + k, n);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) P::step(sum[r * C + c], x[r], y);
    }
  };
  int64_t k = 0;
  for (; k + P::kStep <= p.depth; k += P::kStep) step(k, P::kStep);
  if (k < p.depth) step(k, p.depth - k);
  const FloatVector all = sums_of(sum);
  const int64_t n = last - column < C ? last - column : C;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) store(p, row + r, column, n, lanes_from(all, r * C));
}

template <class P, int R, int C>
inline void dot_rows(const SmallProduct& p, int64_t row, int64_t first, int64_t last) {
  for (int64_t column = first; column < last; column += C) dots<P, R, C>(p, row, column, last);
}

/// R rows by C vectors of columns, the last of which may be short, rows of b taken one after the other.
template <class P, int R, int C>
inline void combine(const SmallProduct& p, int64_t row, int64_t column, int64_t last) {
  using E = typename P::Element;
  const E* a = static_cast<const E*>(p.a) + row * p.a_stride;
  const E* b = static_cast<const E*>(p.b) + column;
  FloatVector sum[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) sum[r][c] = FloatVector{};
  const int64_t n = last - column - kFloatLanes * (C - 1);
  for (int64_t k = 0; k < p.depth; ++k, b += p.b_stride) {
    FloatVector y[C];
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) y[c] = P::load(b + kFloatLanes * c, c + 1 < C ? kFloatLanes : n);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const FloatVector x = all_lanes(P::one(a + r * p.a_stride + k));
#pragma GCC unroll 16
      for (int c = 0; c < C; ++c) sum[r][c] = multiply_add(x, y[c], sum[r][c]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) store(p, row + r, column + kFloatLanes * c, c + 1 < C ? kFloatLanes : n, sum[r][c]);
}

/// Vectors of columns for R rows: sums, a row of b and an element of a are to stay in registers.
template <int R>
constexpr int kVectors = kVectorRegisters >= 32 ? 4
                         : R > 4                ? 2
                         : R > 2                ? 3
                         : R > 1                ? 4
                                                : 8;

/// C vectors of columns, or as many as there are.
template <class P, int R, int C>
inline void combine_at_most(const SmallProduct& p, int64_t row, int64_t column, int64_t last) {
  if constexpr (C > 1) {
    if (last - column <= kFloatLanes * (C - 1)) return combine_at_most<P, R, C - 1>(p, row, column, last);
  }
  combine<P, R, C>(p, row, column, last);
}

template <class P, int R>
inline void combine_rows(const SmallProduct& p, int64_t row, int64_t first, int64_t last) {
  constexpr int C = kVectors<R>;
  for (int64_t column = first; column < last; column += kFloatLanes * C) combine_at_most<P, R, C>(p, row, column, last);
}

template <class P>
inline void combinations(const SmallProduct& p, int64_t first, int64_t last) {
  for (int64_t column = first; column < last; column += kBlock) {
    const int64_t end = column + kBlock < last ? column + kBlock : last;
    int64_t row = 0;
    for (; row + 6 <= p.rows; row += 6) combine_rows<P, 6>(p, row, column, end);
    for (; row + 4 <= p.rows; row += 4) combine_rows<P, 4>(p, row, column, end);
    if (p.rows - row == 3) combine_rows<P, 3>(p, row, column, end);
    if (p.rows - row == 2) combine_rows<P, 2>(p, row, column, end);
    if (p.rows - row == 1) combine_rows<P, 1>(p, row, column, end);
  }
}

/// Columns in groups that stay in the first-level cache while all rows go over them.
template <class P>
inline void dots_in_groups(const SmallProduct& p, int64_t first, int64_t last) {
  constexpr int64_t kGroup = 16;
  constexpr int kSums = static_cast<int>(kFloatLanes);
  for (int64_t column = first; column < last; column += kGroup) {
    const int64_t end = column + kGroup < last ? column + kGroup : last;
    int64_t row = 0;
    for (; row + 4 <= p.rows; row += 4) dot_rows<P, 4, kSums / 4>(p, row, column, end);
    if (p.rows - row == 3) dot_rows<P, 3, kSums / 4>(p, row, column, end);
    if (p.rows - row == 2) dot_rows<P, 2, kSums / 2>(p, row, column, end);
    if (p.rows - row == 1) dot_rows<P, 1, kSums>(p, row, column, end);
  }
}

// From here on the sums across lanes cost more than turning b once.
constexpr int64_t kTurnedRows = kFloatLanes >= 16 ? 13 : kManyRows;

/// Columns [first, last) of b, at most kBlock, as rows of kBlock in `to`. What lies beyond `last` is not to be read.
inline void turn_columns(const SmallProduct& p, int64_t first, int64_t last, float* to) {
  for (int64_t column = first; column < last; column += kFloatLanes) {
    const float* b[kFloatLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kFloatLanes; ++i)
      b[i] = static_cast<const float*>(p.b) + (column + i < last ? column + i : last - 1) * p.b_stride;
    float* rows = to + (column - first);
    FloatVector out[4];
    int64_t k = 0;
    for (; k + 4 <= p.depth; k += 4) {
      turn_four(b, k, 4, out);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) store_floats(rows + (k + i) * kBlock, out[i]);
    }
    if (k < p.depth) turn_four(b, k, p.depth - k, out);
    for (int i = 0; k + i < p.depth; ++i) store_floats(rows + (k + i) * kBlock, out[i]);
  }
}

/// Rows of a by columns [first, last) of b, each of which lies dense.
template <class P>
inline void dot_products(const SmallProduct& p, int64_t first, int64_t last) {
  if constexpr (sizeof(typename P::Element) == sizeof(float)) {
    if (p.rows >= kTurnedRows && p.depth <= kTurnableDepth) {
      alignas(64) float turned[kTurnableDepth * kBlock];
      for (int64_t column = first; column < last; column += kBlock) {
        const int64_t end = column + kBlock < last ? column + kBlock : last;
        turn_columns(p, column, end, turned);
        SmallProduct q = p;
        q.b = turned;
        q.b_stride = kBlock;
        q.c = static_cast<char*>(p.c) + column * (p.c_dtype == DType::F32 ? 4 : 2);
        if (p.bias) q.bias = p.bias + column;
        combinations<P>(q, 0, end - column);
      }
      return;
    }
  }
  dots_in_groups<P>(p, first, last);
}

inline void multiply_floats(const SmallProduct& p, int64_t first, int64_t last) {
  const auto by = [&](auto type) {
    using P = decltype(type);
    p.lines ? dot_products<P>(p, first, last) : combinations<P>(p, first, last);
  };
  if (p.dtype == DType::F32) return by(PlainFloats{});
  p.dtype == DType::BF16 ? by(WideFloats{}) : by(WideFloat16s{});
}

}  // namespace
}  // namespace strata::library
