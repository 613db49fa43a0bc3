// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The two products of attention for few rows (`AttentionLines`), for sources that have switched to an instruction set
/// and included vector_avx512.h or vector_avx2.h: hence the unnamed namespace. No standard header may be included after
/// that switch.
#pragma once

#include <cstdint>

#include "codegen/attention_kernel.h"

namespace strata::library {
namespace {

struct FloatLine {
  using Element = float;
  static FloatVector load(const float* p) { return load_floats(p); }
};
struct NarrowLine {
  using Element = uint16_t;
  static FloatVector load(const uint16_t* p) { return load_halves(p); }
};

/// Lines of the keys after the next, which lie apart: those of one head among several.
template <class E>
inline void fetch(const E* line, int64_t elements) {
  for (int64_t i = 0; i < elements; i += static_cast<int64_t>(64 / sizeof(E)))
    _mm_prefetch(reinterpret_cast<const char*>(line + i), _MM_HINT_T0);
}

/// As many keys at a time as a vector has lanes, so that their sums over the head are finished together.
template <class P>
void score_keys(const AttentionLines<float>& t) {
  using E = typename P::Element;
  for (int64_t j = 0; j < t.keys; j += kFloatLanes) {
    const E* k[kFloatLanes];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kFloatLanes; ++i) {
      const int64_t key = j + i < t.keys ? j + i : t.keys - 1;  // behind the last one: anything
      k[i] = static_cast<const E*>(t.k) + key * t.k_stride;
      if (key + kFloatLanes < t.keys) fetch(k[i] + kFloatLanes * t.k_stride, t.e);
    }
    for (int64_t r = 0; r < t.rows; ++r) {
      FloatVector sum[kFloatLanes];
#pragma GCC unroll 16
      for (auto& s : sum) s = FloatVector{};
      for (int64_t p = 0; p < t.e; p += kFloatLanes) {
        const FloatVector q = load_floats(t.q + r * t.e + p);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kFloatLanes; ++i) sum[i] = multiply_add(P::load(k[i] + p), q, sum[i]);
      }
      store_floats(t.scores + r * t.score_stride + j, multiply(sums_of(sum), all_lanes(t.scale)));
    }
  }
}

/// out[R, columns] += weights[R, keys] v, for C vectors of columns.
template <class P, int R, int C>
void gather_some(const AttentionLines<float>& t, int64_t column) {
  using E = typename P::Element;
  constexpr int64_t kAhead = 8;
  FloatVector sum[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) sum[r][c] = load_floats(t.out + r * t.width + column + kFloatLanes * c);
  const E* v = static_cast<const E*>(t.v) + column;
  for (int64_t j = 0; j < t.keys; ++j, v += t.v_stride) {
    if (j + kAhead < t.keys) fetch(v + kAhead * t.v_stride, kFloatLanes * C);
    FloatVector x[C];
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) x[c] = P::load(v + kFloatLanes * c);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const FloatVector weight = all_lanes(t.scores[r * t.score_stride + j]);
#pragma GCC unroll 16
      for (int c = 0; c < C; ++c) sum[r][c] = multiply_add(weight, x[c], sum[r][c]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) store_floats(t.out + r * t.width + column + kFloatLanes * c, sum[r][c]);
}

template <class P, int R>
void gather_columns(const AttentionLines<float>& t) {
  constexpr int C = kVectorRegisters >= 32 || R <= 2 ? 4 : 2;
  int64_t c = 0;
  for (; c + C * kFloatLanes <= t.width; c += C * kFloatLanes) gather_some<P, R, C>(t, c);
  for (; c < t.width; c += kFloatLanes) gather_some<P, R, 1>(t, c);
}

template <class P>
void gather_values(const AttentionLines<float>& t) {
  switch (t.rows) {
    case 1:
      return gather_columns<P, 1>(t);
    case 2:
      return gather_columns<P, 2>(t);
    case 3:
      return gather_columns<P, 3>(t);
    default:
      return gather_columns<P, kAttentionLineRows>(t);
  }
}

void score_all(const AttentionLines<float>& t) { t.narrow ? score_keys<NarrowLine>(t) : score_keys<FloatLine>(t); }
void gather_all(const AttentionLines<float>& t) {
  t.narrow ? gather_values<NarrowLine>(t) : gather_values<FloatLine>(t);
}

}  // namespace
}  // namespace strata::library
