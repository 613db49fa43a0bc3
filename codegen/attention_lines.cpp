// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The two products of attention for few rows (`AttentionLines`), in AVX-512.

#include "codegen/attention_kernel.h"
#include "core/runtime/plan.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // both in the intrinsics of the compiler
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma")
#include "codegen/vector_sums.h"

namespace strata::library {
namespace {

struct FloatLine {
  using Element = float;
  static __m512 load(const float* p) { return _mm512_loadu_ps(p); }
};
struct NarrowLine {
  using Element = uint16_t;
  static __m512 load(const uint16_t* p) { return widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
};

constexpr int64_t kKeys = 16;  // scores of a register

/// Lines of the keys after the next, which lie apart: those of one head among several.
template <class E>
inline void fetch(const E* line, int64_t elements) {
  for (int64_t i = 0; i < elements; i += static_cast<int64_t>(64 / sizeof(E)))
    _mm_prefetch(reinterpret_cast<const char*>(line + i), _MM_HINT_T0);
}

/// Sixteen keys at a time, so that their sums over the head are finished together.
template <class P>
void score_keys(const AttentionLines<float>& t) {
  using E = typename P::Element;
  for (int64_t j = 0; j < t.keys; j += kKeys) {
    const E* k[kKeys];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kKeys; ++i) {
      const int64_t key = j + i < t.keys ? j + i : t.keys - 1;  // behind the last one: anything
      k[i] = static_cast<const E*>(t.k) + key * t.k_stride;
      if (key + kKeys < t.keys) fetch(k[i] + kKeys * t.k_stride, t.e);
    }
    for (int64_t r = 0; r < t.rows; ++r) {
      __m512 sum[kKeys];
#pragma GCC unroll 16
      for (auto& s : sum) s = _mm512_setzero_ps();
      for (int64_t p = 0; p < t.e; p += 16) {
        const __m512 q = _mm512_loadu_ps(t.q + r * t.e + p);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kKeys; ++i) sum[i] = _mm512_fmadd_ps(P::load(k[i] + p), q, sum[i]);
      }
      _mm512_storeu_ps(t.scores + r * t.score_stride + j, _mm512_mul_ps(sums_of(sum), _mm512_set1_ps(t.scale)));
    }
  }
}

/// out[R, columns] += weights[R, keys] v, for C vectors of columns.
template <class P, int R, int C>
void gather_some(const AttentionLines<float>& t, int64_t column) {
  using E = typename P::Element;
  constexpr int64_t kAhead = 8;
  __m512 sum[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) sum[r][c] = _mm512_loadu_ps(t.out + r * t.width + column + 16 * c);
  const E* v = static_cast<const E*>(t.v) + column;
  for (int64_t j = 0; j < t.keys; ++j, v += t.v_stride) {
    if (j + kAhead < t.keys) fetch(v + kAhead * t.v_stride, 16 * C);
    __m512 x[C];
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) x[c] = P::load(v + 16 * c);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const __m512 weight = _mm512_set1_ps(t.scores[r * t.score_stride + j]);
#pragma GCC unroll 16
      for (int c = 0; c < C; ++c) sum[r][c] = _mm512_fmadd_ps(weight, x[c], sum[r][c]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) _mm512_storeu_ps(t.out + r * t.width + column + 16 * c, sum[r][c]);
}

template <class P, int R>
void gather_columns(const AttentionLines<float>& t) {
  int64_t c = 0;
  for (; c + 64 <= t.width; c += 64) gather_some<P, R, 4>(t, c);
  for (; c < t.width; c += 16) gather_some<P, R, 1>(t, c);
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
#pragma GCC pop_options

namespace strata::library {

bool has_wide_lines() {
  static const bool has = host_target().avx512 && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}
void score_wide_lines(const AttentionLines<float>& lines) { score_all(lines); }
void gather_wide_lines(const AttentionLines<float>& lines) { gather_all(lines); }

}  // namespace strata::library

#else

namespace strata::library {

bool has_wide_lines() { return false; }
void score_wide_lines(const AttentionLines<float>&) { throw_internal("no such lines on this processor"); }
void gather_wide_lines(const AttentionLines<float>&) { throw_internal("no such lines on this processor"); }

}  // namespace strata::library
#endif
