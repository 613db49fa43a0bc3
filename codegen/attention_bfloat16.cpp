// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tiles of attention with the dot products of pairs that processors with AVX512_BF16 have.

#include "codegen/attention_kernel.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>
#include <limits>
#include <utility>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in the intrinsics of the compiler
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")
#include "codegen/attention_tile.h"

namespace strata::library {
namespace {

/// Words of two bfloat16, multiplied and added to float32.
struct Pairs {
  using Sum = float;
  using Word = uint32_t;
  static constexpr int64_t kKeysPerWord = 2;
  static STRATA_INLINE void multiply_add(Floats& sum, Word a, const void* b, int64_t v) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a)), y = _mm512_load_si512(static_cast<const __m512i*>(b) + v);
    sum = _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y);
  }
  /// Weights of two keys become one word, in place.
  static STRATA_INLINE void narrow(float* weights, int64_t keys, int64_t lanes) {
    for (int64_t j = 0; j < keys; j += 2) {
      for (int64_t i = 0; i < lanes; i += 16) {
        const __m256bh low = _mm512_cvtneps_pbh(_mm512_load_ps(weights + j * lanes + i));
        const __m256bh high = _mm512_cvtneps_pbh(_mm512_load_ps(weights + (j + 1) * lanes + i));
        const __m512i both = _mm512_or_si512(_mm512_cvtepu16_epi32((__m256i)low),
                                             _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)high), 16));
        _mm512_store_si512(reinterpret_cast<__m512i*>(weights + j / 2 * lanes + i), both);
      }
    }
  }
};

void attend_pairs(const AttentionTile<float>& tile) {
  if (tile.vectors == 2)
    attend<Pairs, 2>(tile);
  else
    attend<Pairs, 1>(tile);
}

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

bool has_bfloat16_products() {
  static const bool has = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}
void attend_tile_bfloat16(const AttentionTile<float>& tile) { attend_pairs(tile); }

}  // namespace strata::library

#else

namespace strata::library {

bool has_bfloat16_products() { return false; }
void attend_tile_bfloat16(const AttentionTile<float>&) { throw_internal("no bfloat16 products on this processor"); }

}  // namespace strata::library
#endif
