// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Templates behind attention_kernel.h. Included by sources that are compiled for different processors, hence the
/// unnamed namespace and no guard against being included in several of them. No standard header may be included after
/// the including source has switched to another instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "codegen/attention_kernel.h"
#include "core/support/vector_clones.h"

#define STRATA_INLINE STRATA_ALWAYS_INLINE inline
#ifndef STRATA_VECTOR_BYTES
#define STRATA_VECTOR_BYTES 64
#endif

namespace strata::library {
namespace {

// 64 bytes are one register where there is AVX-512, several elsewhere: GCC takes comparisons and choices between those
// apart, number by number, so sources for one narrower instruction set say how many bytes its registers have. Never
// passed by value, so that the calling convention does not matter.
typedef float Floats __attribute__((vector_size(STRATA_VECTOR_BYTES), may_alias));
typedef double Doubles __attribute__((vector_size(STRATA_VECTOR_BYTES), may_alias));
typedef uint32_t Words __attribute__((vector_size(STRATA_VECTOR_BYTES), may_alias));
typedef int32_t Ints __attribute__((vector_size(STRATA_VECTOR_BYTES)));
typedef int64_t Longs __attribute__((vector_size(STRATA_VECTOR_BYTES)));

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = Floats;
  using Int = Ints;
};
template <>
struct VectorOf<double> {
  using Type = Doubles;
  using Int = Longs;
};
template <class T>
using Vector = typename VectorOf<T>::Type;
template <class T>
constexpr int64_t kLanes = STRATA_VECTOR_BYTES / static_cast<int64_t>(sizeof(T));
template <class T>
constexpr T kNone = -std::numeric_limits<T>::infinity();

template <class V>
STRATA_INLINE V& at(void* p, int64_t vector = 0) {
  return static_cast<V*>(p)[vector];
}
template <class V>
STRATA_INLINE const V& at(const void* p, int64_t vector = 0) {
  return static_cast<const V*>(p)[vector];
}

/// x = exp(x) for x <= 0, about 1 ulp; below -87 it is 0; NaN stays.
STRATA_INLINE void exp_in_place(Floats& x) {
  const Floats scaled = x * 1.44269504f + 12582912.0f;  // rounds to an integer in the low bits
  const Floats n = scaled - 12582912.0f;
  const Floats r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Ints bits;
  std::memcpy(&bits, &scaled, sizeof bits);
  const Ints power = (bits + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &power, sizeof scale);
  const Floats zero = {};
  const Floats value = p * scale;
  x = x < -87.0f ? zero : value;
}

/// The same; below -708 it is 0. The series of exp to the 13th power: its rest is below an ulp for |r| <= log(2) / 2.
STRATA_INLINE void exp_in_place(Doubles& x) {
  constexpr double kShift = 6755399441055744.0;
  const Doubles scaled = x * 1.4426950408889634 + kShift;
  const Doubles n = scaled - kShift;
  const Doubles r = x - n * 0.693147180369123816490 - n * 1.90821492927058770002e-10;
  Doubles p = r * 0.0 + 1.0;
  for (int k = 13; k > 0; --k) p = p * r * (1.0 / k) + 1.0;
  Longs bits;
  std::memcpy(&bits, &scaled, sizeof bits);
  const Longs power = (bits + 1023) << 52;
  Doubles scale;
  std::memcpy(&scale, &power, sizeof scale);
  const Doubles zero = {};
  const Doubles value = p * scale;
  x = x < -708.0 ? zero : value;
}

/// Products of plain numbers: a word is a T.
template <class T>
struct Plain {
  using Sum = T;
  using Word = T;
  static constexpr int64_t kKeysPerWord = 1;
  static STRATA_INLINE void multiply_add(Vector<T>& sum, Word a, const void* b, int64_t v) {
    sum += a * at<Vector<T>>(b, v);
  }
};

/// The same for 16 registers, which do not hold the sums of a whole tile.
template <class T>
struct PlainInParts : Plain<T> {
  static constexpr bool kInParts = true;
};

/// c[4, two vectors] (+)= a[4, steps] b[steps, two vectors], times `scale`; b and c have `lanes` numbers a row.
template <class T>
STRATA_INLINE void part_of_tile(const T* a, int64_t row, int64_t step, const T* b, T* c, int64_t lanes, int64_t steps,
                                T scale, bool add) {
  using V = Vector<T>;
  constexpr int kRows = 4;
  V sum[kRows][2];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < 2; ++v) sum[r][v] = add ? at<V>(c + r * lanes, v) : V{};
  for (int64_t p = 0; p < steps; ++p) {
    const V low = at<V>(b + p * lanes), high = at<V>(b + p * lanes, 1);
    for (int r = 0; r < kRows; ++r) {
      const T x = a[r * row + p * step];
      sum[r][0] += x * low;
      sum[r][1] += x * high;
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < 2; ++v) at<V>(c + r * lanes, v) = add ? sum[r][v] : sum[r][v] * scale;
}

/// c[8, W] (+)= a[8, steps] b[steps, W], times `scale`; a's element is a[r * row + p * step].
template <class P, int R>
STRATA_INLINE void tile(const typename P::Word* a, int64_t row, int64_t step, const void* b, typename P::Sum* c,
                        int64_t steps, typename P::Sum scale, bool add) {
  using V = Vector<typename P::Sum>;
  constexpr int64_t kRows = kAttentionKeys;
  if constexpr (requires { P::kInParts; }) {
    using T = typename P::Sum;
    constexpr int64_t kWide = R * kLanes<T>;
    for (int64_t r = 0; r < kRows; r += 4)
      for (int64_t v = 0; v < kWide; v += 2 * kLanes<T>)
        part_of_tile<T>(a + r * row, row, step, static_cast<const T*>(b) + v, c + r * kWide + v, kWide, steps, scale,
                        add);
    return;
  }
  V sum[kRows][R];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < R; ++v) sum[r][v] = add ? at<V>(c, r * R + v) : V{};
  for (int64_t p = 0; p < steps; ++p) {
    for (int r = 0; r < kRows; ++r) {
      const typename P::Word x = a[r * row + p * step];
      for (int v = 0; v < R; ++v) P::multiply_add(sum[r][v], x, b, p * R + v);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < R; ++v) at<V>(c, r * R + v) = add ? sum[r][v] : sum[r][v] * scale;
}

/// Masks scores [keys, W], keys `from` on: by the mask, by order, and those that are not there.
template <class T, int R>
STRATA_INLINE void mask_scores(const AttentionTile<T>& t, int64_t limit, int64_t padded) {
  using V = Vector<T>;
  for (int64_t j = 0; t.kind != MaskKind::None && j < limit; ++j) {
    for (int v = 0; v < R; ++v) {
      V m = {};
      if (t.mask_stride)
        m = at<V>(t.mask, j * R + v);
      else
        m = m + t.mask[j];
      V& s = at<V>(t.scores, j * R + v);
      const V fill = V{} + t.fill;
      const V sum = s + (t.kind == MaskKind::Add ? m : fill);
      s = t.kind == MaskKind::Add ? sum : (m == T(0) ? (t.kind == MaskKind::Hide ? sum : fill) : s);
    }
  }
  const V none = V{} + kNone<T>;
  V lanes;
  for (int64_t i = 0; i < kLanes<T>; ++i) lanes[i] = static_cast<T>(i);
  for (int64_t j = t.causal_from < 0 ? 0 : t.causal_from + 1; j < limit; ++j) {
    for (int v = 0; v < R; ++v) {
      V& s = at<V>(t.scores, j * R + v);
      s = lanes + static_cast<T>(v * kLanes<T>) < static_cast<T>(j - t.causal_from) ? none : s;
    }
  }
  for (int64_t j = limit; j < padded; ++j)
    for (int v = 0; v < R; ++v) at<V>(t.scores, j * R + v) = none;
}

/// Scores become weights relative to the rows' new maxima; what the rows have gathered is rescaled.
template <class T, int R>
STRATA_INLINE void weigh(const AttentionTile<T>& t, int64_t padded) {
  using V = Vector<T>;
  V reference[R], total[R];
  bool rescale = false;
  for (int v = 0; v < R; ++v) {
    const V before = at<V>(t.maximum, v), zero = {};
    V top = before;
    for (int64_t j = 0; j < padded; ++j) {
      const V& s = at<V>(t.scores, j * R + v);
      top = s > top ? s : top;
    }
    at<V>(t.maximum, v) = top;
    // Nothing seen so far: any finite reference gives zeros (and keeps a NaN).
    reference[v] = top == kNone<T> ? zero : top;
    V shrink = before - reference[v];
    exp_in_place(shrink);
    at<V>(t.sum, v) *= shrink;
    total[v] = V{};
    for (int64_t i = 0; i < kLanes<T>; ++i) rescale |= before[i] != top[i];
    if (!rescale) continue;
    for (int64_t c = 0; c < t.width; ++c) at<V>(t.out, c * R + v) *= shrink;
  }
  for (int64_t j = 0; j < padded; ++j) {
    for (int v = 0; v < R; ++v) {
      V x = at<V>(t.scores, j * R + v) - reference[v];
      exp_in_place(x);
      at<V>(t.scores, j * R + v) = x;
      total[v] += x;
    }
  }
  for (int v = 0; v < R; ++v) at<V>(t.sum, v) += total[v];
}

/// Keys that the rows of a tile see: those that exist, up to the last row's in causal order.
template <class T>
STRATA_INLINE int64_t seen_keys(const AttentionTile<T>& t) {
  const int64_t reach = t.causal_from + t.vectors * (64 / static_cast<int64_t>(sizeof(T)));
  return reach < t.live ? reach : t.live;
}

template <class P, int R>
STRATA_INLINE void score(const AttentionTile<typename P::Sum>& t, int64_t padded) {
  const auto* k = static_cast<const typename P::Word*>(t.k);
  for (int64_t j = 0; j < padded; j += kAttentionKeys)
    tile<P, R>(k + j * t.k_stride, t.k_stride, 1, t.q, t.scores + j * R * kLanes<typename P::Sum>, t.e, t.scale, false);
}

template <class P, int R>
STRATA_INLINE void gather(const AttentionTile<typename P::Sum>& t, int64_t padded) {
  const auto* v = static_cast<const typename P::Word*>(t.v);
  for (int64_t c = 0; c < t.width; c += kAttentionKeys)
    tile<P, R>(v + c, 1, t.v_stride, t.scores, t.out + c * R * kLanes<typename P::Sum>, padded / P::kKeysPerWord, 1,
               true);
}

template <class P, int R>
STRATA_INLINE void attend(const AttentionTile<typename P::Sum>& t) {
  using T = typename P::Sum;
  const int64_t limit = seen_keys(t);
  if (limit <= 0) return;
  const int64_t padded = (limit + kAttentionKeys - 1) / kAttentionKeys * kAttentionKeys;
  score<P, R>(t, padded);
  mask_scores<T, R>(t, limit, padded);
  weigh<T, R>(t, padded);
  gather<P, R>(t, padded);
}
template <class P>
STRATA_INLINE void attend(const AttentionTile<typename P::Sum>& t) {
  constexpr int kRegisters = 64 / STRATA_VECTOR_BYTES;  // of a vector
  t.vectors == 2 ? attend<P, 2 * kRegisters>(t) : attend<P, kRegisters>(t);
}

}  // namespace
}  // namespace strata::library
