// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tiles of attention in bfloat16, with the dot products of pairs that processors with AVX512_BF16 have, or the products
// of matrices of those with AMX. Weights become bfloat16 as they are computed, so that 2^-23 is accuracy enough.

#include "codegen/attention_kernel.h"
#include "codegen/instruction_sets.h"
#include "core/runtime/plan.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <utility>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in the intrinsics of the compiler
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma,amx-tile,amx-bf16")
#include "codegen/attention_tile.h"

namespace strata::library {
namespace {

constexpr float kLog2E = 1.44269504f;

/// Words of two bfloat16, multiplied and added to float32.
struct Pairs {
  using Sum = float;
  using Word = uint32_t;
  static constexpr int64_t kKeysPerWord = 2;
  static STRATA_INLINE void multiply_add(Floats& sum, Word a, const void* b, int64_t v) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a)), y = _mm512_load_si512(static_cast<const __m512i*>(b) + v);
    sum = _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y);
  }
};

// ------------------------------------------------------------------------------------------------------------- weights

/// 2^t for t <= 0 (or a little more), off by 2^-23 of it: a polynomial of least relative error. NaN stays. What would
/// be denormal is 0: processors take hundreds of cycles to find that out by themselves.
STRATA_INLINE __m512 power_of_two(__m512 t) {
  const __mmask16 normal = _mm512_cmp_ps_mask(t, _mm512_set1_ps(-126.0f), _CMP_NLT_UQ);
  const __m512 n = _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), r = _mm512_sub_ps(t, n);
  __m512 p = _mm512_set1_ps(1.3276472e-3f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(9.6755419e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.5507131e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.4022120e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.9314694e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  return _mm512_maskz_scalef_ps(normal, p, n);
}

/// As `weigh`, of scores that are still to be multiplied by `scale` > 0; weights of two keys become one word, in place.
template <int R>
STRATA_INLINE void weigh_pairs(const AttentionTile<float>& t, int64_t padded, float scale) {
  constexpr int kAtOnce = 4;  // of the maxima, which wait for each other
  const __m512i interleaved = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
                                               6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512 none = _mm512_set1_ps(kNone<float>), factor = _mm512_set1_ps(scale * kLog2E);
  for (int v = 0; v < R; ++v) {
    float* scores = t.scores + v * 16;
    __m512 tops[kAtOnce] = {none, none, none, none};
    for (int64_t j = 0; j < padded; j += kAtOnce)
      for (int i = 0; i < kAtOnce; ++i)  // the second operand, where one is NaN
        tops[i] = _mm512_max_ps(_mm512_load_ps(scores + (j + i) * R * 16), tops[i]);
    const __m512 highest = _mm512_max_ps(_mm512_max_ps(tops[0], tops[1]), _mm512_max_ps(tops[2], tops[3]));
    const __m512 before = _mm512_load_ps(t.maximum + v * 16);
    const __m512 top = _mm512_max_ps(_mm512_mul_ps(highest, _mm512_set1_ps(scale)), before);
    _mm512_store_ps(t.maximum + v * 16, top);
    // Nothing seen so far: any finite reference gives zeros (and keeps a NaN).
    const __m512 reference = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(top, none, _CMP_NEQ_UQ), top);
    const __m512 offset = _mm512_mul_ps(reference, _mm512_set1_ps(kLog2E));
    const __m512 shrink = power_of_two(_mm512_fmsub_ps(before, _mm512_set1_ps(kLog2E), offset));
    __m512 total = _mm512_mul_ps(_mm512_load_ps(t.sum + v * 16), shrink);
    if (_mm512_cmp_ps_mask(before, top, _CMP_NEQ_UQ))
      for (int64_t c = 0; c < t.width; ++c) {
        float* out = t.out + (c * R + v) * 16;
        _mm512_store_ps(out, _mm512_mul_ps(_mm512_load_ps(out), shrink));
      }
    for (int64_t j = 0; j < padded; j += 2) {
      const auto weight = [&](int64_t key) __attribute__((always_inline)) {
        return power_of_two(_mm512_fmsub_ps(_mm512_load_ps(scores + key * R * 16), factor, offset));
      };
      const __m512 low = weight(j), high = weight(j + 1);
      total = _mm512_add_ps(total, _mm512_add_ps(low, high));
      const auto words = _mm512_permutexvar_epi16(interleaved, (__m512i)_mm512_cvtne2ps_pbh(high, low));
      _mm512_store_si512(scores + j / 2 * R * 16, words);
    }
    _mm512_store_ps(t.sum + v * 16, total);
  }
}

template <int R>
STRATA_INLINE void attend_pairs(const AttentionTile<float>& t) {
  const int64_t limit = seen_keys(t);
  if (limit <= 0) return;
  const int64_t padded = (limit + kAttentionKeys - 1) / kAttentionKeys * kAttentionKeys;
  score<Pairs, R>(t, padded);
  mask_scores<float, R>(t, limit, padded);
  weigh_pairs<R>(t, padded, 1);
  gather<Pairs, R>(t, padded);
}

// ------------------------------------------------------------------------------------------------------------ matrices

constexpr int64_t kSide = kAttentionMatrix;  // rows of a matrix, and words of a row

/// Matrices 0 to 3 are sums of 16 by 16 floats, 4 and 6 left operands, `depth` words wide, 5 and 7 right ones.
STRATA_INLINE void shape_matrices(int64_t depth) {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64};
    uint8_t rows[16] = {kSide, kSide, kSide, kSide};
  } shape;
  static_assert(sizeof shape == 64);
  for (const int left : {4, 6}) shape.rows[left] = kSide, shape.row_bytes[left] = static_cast<uint16_t>(4 * depth);
  for (const int right : {5, 7}) shape.rows[right] = static_cast<uint8_t>(depth), shape.row_bytes[right] = 64;
  _tile_loadconfig(&shape);
}

/// c[16 M, 16 R] (+)= a[16 M, steps * depth] b[steps * depth, 16 R], of words; rows of b and c are dense.
template <int M, int R>
STRATA_INLINE void multiply_matrices(const uint32_t* a, int64_t a_stride, const uint32_t* b, float* c, int64_t steps,
                                     int64_t depth, bool add) {
  constexpr int64_t kRow = R * 64;  // bytes
  const int64_t row = 4 * a_stride;
  float* below = c + kSide * R * kSide;
  asm volatile("" ::: "memory");  // what was written before is read by instructions of which the compiler knows nothing
  if (add) {
    _tile_loadd(0, c, kRow);
    if constexpr (R == 2) _tile_loadd(1, c + kSide, kRow);
    if constexpr (M == 2) _tile_loadd(2, below, kRow);
    if constexpr (M == 2 && R == 2) _tile_loadd(3, below + kSide, kRow);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t s = 0; s < steps; ++s, a += depth, b += depth * R * kSide) {
    _tile_loadd(4, a, row);
    _tile_loadd(5, b, kRow);
    _tile_dpbf16ps(0, 4, 5);
    if constexpr (R == 2) {
      _tile_loadd(7, b + kSide, kRow);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (M == 2) {
      _tile_loadd(6, a + kSide * a_stride, row);
      _tile_dpbf16ps(2, 6, 5);
    }
    if constexpr (M == 2 && R == 2) _tile_dpbf16ps(3, 6, 7);
  }
  _tile_stored(0, c, kRow);
  if constexpr (R == 2) _tile_stored(1, c + kSide, kRow);
  if constexpr (M == 2) _tile_stored(2, below, kRow);
  if constexpr (M == 2 && R == 2) _tile_stored(3, below + kSide, kRow);
}

/// c[rows, 16 R] (+)= a[rows, words] b[words, 16 R]; `rows` is a multiple of 16.
template <int R>
STRATA_INLINE void multiply_rows(const uint32_t* a, int64_t a_stride, const uint32_t* b, float* c, int64_t rows,
                                 int64_t words, bool add) {
  for (int64_t from = 0; from < words;) {
    const int64_t depth = words - from < kSide ? words - from : kSide, steps = (words - from) / depth;
    shape_matrices(depth);
    int64_t r = 0;
    for (; r + 2 * kSide <= rows; r += 2 * kSide)
      multiply_matrices<2, R>(a + r * a_stride, a_stride, b, c + r * R * kSide, steps, depth, add);
    if (r < rows) multiply_matrices<1, R>(a + r * a_stride, a_stride, b, c + r * R * kSide, steps, depth, add);
    from += steps * depth;
    a += steps * depth;
    b += steps * depth * R * kSide;
    add = true;
  }
}

template <int R>
STRATA_INLINE void attend_matrices(const AttentionTile<float>& t) {
  const int64_t limit = seen_keys(t);
  if (limit <= 0) return;
  const int64_t padded = (limit + kSide - 1) / kSide * kSide;
  multiply_rows<R>(static_cast<const uint32_t*>(t.k), t.k_stride, static_cast<const uint32_t*>(t.q), t.scores, padded,
                   t.e, false);
  const bool scaled = t.kind != MaskKind::None || !(t.scale > 0);
  if (scaled)
    for (int64_t i = 0; i < padded * R; ++i) at<Floats>(t.scores, i) *= t.scale;
  mask_scores<float, R>(t, limit, padded);
  weigh_pairs<R>(t, padded, scaled ? 1.0f : t.scale);
  multiply_rows<R>(static_cast<const uint32_t*>(t.v), t.v_stride, reinterpret_cast<const uint32_t*>(t.scores), t.out,
                   t.width, padded / 2, true);
  _tile_release();
}

void attend_two_pairs(const AttentionTile<float>& t) { attend_pairs<2>(t); }
void attend_one_pairs(const AttentionTile<float>& t) { attend_pairs<1>(t); }
void attend_two_matrices(const AttentionTile<float>& t) { attend_matrices<2>(t); }
void attend_one_matrices(const AttentionTile<float>& t) { attend_matrices<1>(t); }

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

bool has_bfloat16_products() {
  static const bool has = has_avx512() && host_target().bf16;
  return has;
}

/// The system keeps the matrices of a thread that it interrupts only for processes that have asked for it.
bool has_bfloat16_matrices() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // of asm/prctl.h
  static const bool has =
      has_bfloat16_products() && host_target().amx && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return has;
}

void attend_tile_bfloat16(const AttentionTile<float>& tile, bool matrices) {
  if (matrices)
    tile.vectors == 2 ? attend_two_matrices(tile) : attend_one_matrices(tile);
  else
    tile.vectors == 2 ? attend_two_pairs(tile) : attend_one_pairs(tile);
}

}  // namespace strata::library

#else

namespace strata::library {

bool has_bfloat16_products() { return false; }
bool has_bfloat16_matrices() { return false; }
void attend_tile_bfloat16(const AttentionTile<float>&, bool) {
  throw_internal("no bfloat16 products on this processor");
}

}  // namespace strata::library
#endif
