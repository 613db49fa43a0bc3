// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Transposes of squares of vectors; included as attention_tile.h is, after it.
#pragma once

#include <cstdint>
#include <cstring>

namespace strata::library {
namespace {

/// Exchanges blocks of S by S across the diagonals of blocks of twice that size. Unrolled, so that the rows stay in
/// registers and the places are constants.
template <class T, int S>
STRATA_INLINE void exchange_blocks(Vector<T>* rows) {
  using V = Vector<T>;
  constexpr int kN = kLanes<T>;
  typename VectorOf<T>::Int low, high;
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) {
    low[i] = i & S ? i - S + kN : i;
    high[i] = i & S ? i + kN : i + S;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) {
    if (i & S) continue;
    const V a = rows[i], b = rows[i + S];
#if defined(__clang__)
    for (int k = 0; k < kN; ++k) {
      rows[i][k] = low[k] < kN ? a[low[k]] : b[low[k] - kN];
      rows[i + S][k] = high[k] < kN ? a[high[k]] : b[high[k] - kN];
    }
#else
    rows[i] = __builtin_shuffle(a, b, low);
    rows[i + S] = __builtin_shuffle(a, b, high);
#endif
  }
}

/// Transposes a square of vectors in place.
template <class T>
STRATA_INLINE void transpose_square(Vector<T>* rows) {
  exchange_blocks<T, 1>(rows);
  exchange_blocks<T, 2>(rows);
  if constexpr (kLanes<T> >= 8) exchange_blocks<T, 4>(rows);
  if constexpr (kLanes<T> == 16) exchange_blocks<T, 8>(rows);
}

template <class T>
STRATA_INLINE void transpose_in(const T* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors, T* to) {
  constexpr int64_t kN = kLanes<T>;
  for (int64_t v = 0; v < vectors; ++v) {
    for (int64_t c = 0; c < columns; c += kN) {
      Vector<T> square[kN];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kN; ++i) {
        square[i] = Vector<T>{};
        if (v * kN + i < rows) std::memcpy(&square[i], from + (v * kN + i) * stride + c, sizeof square[i]);
      }
      transpose_square<T>(square);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kN; ++i) at<Vector<T>>(to + (c + i) * vectors * kN, v) = square[i];
    }
  }
}

/// `columns` is any number here: what is not there is neither read nor written.
template <class T>
STRATA_INLINE void transpose_out(const T* from, int64_t vectors, int64_t rows, int64_t columns, T* to, int64_t stride) {
  constexpr int64_t kN = kLanes<T>;
  for (int64_t v = 0; v < vectors; ++v) {
    for (int64_t c = 0; c < columns; c += kN) {
      const int64_t n = columns - c < kN ? columns - c : kN;
      Vector<T> square[kN];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kN; ++i)
        square[i] = i < n ? at<Vector<T>>(from + (c + i) * vectors * kN, v) : Vector<T>{};
      transpose_square<T>(square);
      if (n == kN && (v + 1) * kN <= rows) {
#pragma GCC unroll 16
        for (int64_t i = 0; i < kN; ++i) std::memcpy(to + (v * kN + i) * stride + c, &square[i], sizeof square[i]);
        continue;
      }
      for (int64_t i = 0; i < kN && v * kN + i < rows; ++i)
        std::memcpy(to + (v * kN + i) * stride + c, &square[i], static_cast<size_t>(n) * sizeof(T));
    }
  }
}

}  // namespace
}  // namespace strata::library
