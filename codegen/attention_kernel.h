// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arithmetic of attention, for operands that lie dense. Two forms: *tiles* of up to 32 query rows, one row per
/// vector lane, and *lines* for few rows (decoding), where vectors run along the head.
///
/// A row's state is the maximum of its scores so far, the sum of the weights relative to it, and the weighted sum of
/// values; blocks of keys come one after the other.

#include <cstdint>

#include "core/ir/dtype.h"

namespace strata::library {

constexpr int64_t kAttentionKeys = 8;      ///< keys of a tile are a multiple of this, and so are the columns of values
constexpr int64_t kAttentionMatrix = 16;   ///< the same for products of matrices
constexpr int64_t kAttentionLineRows = 4;  ///< most rows of `attend_lines`

enum class MaskKind : uint8_t {
  None,
  Add,   ///< the mask is added to the scaled score
  Fill,  ///< where the mask is 0, the score is `fill`
  Hide,  ///< where the mask is 0, `fill` is added to the score: a score that is no number stays none
};

/// As PyTorch does, a row in causal order multiplies the values of this many keys at a time: of the keys that it does
/// not see, those in its own block have a weight of 0, which makes NaN of values that are not finite; those behind are
/// not looked at.
constexpr int64_t kCausalKeys = 512;

/// One block of keys for 1 to 2 vectors of rows. `T` is what is summed in; a word is a T, or two bfloat16 in 32 bits
/// (pairs run along the head in `q` and `k`, along the keys in `v`). Buffers are 64-byte aligned but for `k` and `v`.
template <class T>
struct AttentionTile {
  int64_t vectors;             ///< 1 or 2; W = vectors * (64 / sizeof(T)) rows
  const void* q;               ///< words [e, W]
  const void* k;               ///< words [keys, k_stride]
  const void* v;               ///< words [keys or pairs of keys, v_stride]
  int64_t k_stride, v_stride;  ///< in words
  int64_t e, keys, width;      ///< words of a head; keys, filled up to a multiple of 8; columns, a multiple of 8
  int64_t live;                ///< keys that exist; the rest gets no weight
  int64_t causal_from;         ///< row i sees keys up to causal_from + i
  T scale, fill;
  MaskKind kind;
  const T* mask;              ///< [keys, W], or [keys] if `mask_stride` is 0
  int64_t mask_stride;        ///< W or 0
  T *scores, *maximum, *sum;  ///< scratch [keys, W]; state [W]
  T* out;                     ///< state [width, W]
};
void attend_tile(const AttentionTile<float>& tile);
void attend_tile(const AttentionTile<double>& tile);
/// What `attend_tile` is where there is AVX2 and no AVX-512.
void attend_tile_avx2(const AttentionTile<float>& tile);
void attend_tile_avx2(const AttentionTile<double>& tile);
/// Words of two bfloat16. Only where `has_bfloat16_products()`. `matrices`, only where `has_bfloat16_matrices()`: keys
/// and columns are filled up to multiples of `kAttentionMatrix`, and `v` is [width, v_stride], pairs of keys side by
/// side.
void attend_tile_bfloat16(const AttentionTile<float>& tile, bool matrices);
bool has_bfloat16_products();
bool has_bfloat16_matrices();

/// One block of keys for up to `kAttentionLineRows` rows. Heads and columns are multiples of a vector's lanes; `k` and
/// `v` are of type T, or bfloat16 (`narrow`).
template <class T>
struct AttentionLines {
  int64_t rows;
  const T* q;  ///< [rows, e]
  const void *k, *v;
  int64_t k_stride, v_stride;  ///< elements from one key to the next
  bool narrow;
  int64_t e, keys, width;
  int64_t causal_from;  ///< row i sees keys up to causal_from + i
  T scale, fill;
  MaskKind kind;
  const T* mask;                      ///< mask[i * mask_stride + key]
  int64_t mask_stride, score_stride;  ///< multiples of the lanes; scores has room for whole vectors
  T *scores, *maximum, *sum, *out;    ///< [rows, score_stride], [rows], [rows], [rows, width]
};
void attend_lines(const AttentionLines<float>& lines);
void attend_lines(const AttentionLines<double>& lines);
/// What `attend_lines` is made of, in an instruction set: scores of all keys before masks, and out += scores v.
void score_lines_avx512(const AttentionLines<float>& lines);
void gather_lines_avx512(const AttentionLines<float>& lines);
void score_lines_avx2(const AttentionLines<float>& lines);
void gather_lines_avx2(const AttentionLines<float>& lines);

/// A strided matrix in memory; strides in elements.
struct AttentionMatrix {
  const void* data;
  DType dtype;
  int64_t row_stride, column_stride;
};

/// to[rows, stride] = from, converted to T; columns from `columns` to `filled` are 0. Bool gives 0 and 1.
void pack_rows(const AttentionMatrix& from, int64_t rows, int64_t columns, int64_t filled, float* to, int64_t stride);
void pack_rows(const AttentionMatrix& from, int64_t rows, int64_t columns, int64_t filled, double* to, int64_t stride);

/// Whether all of `n` numbers are finite.
bool all_finite(const float* x, int64_t n);
bool all_finite(const double* x, int64_t n);

/// The way back; `columns` that exist.
void store_rows(const float* from, int64_t stride, int64_t rows, int64_t columns, const AttentionMatrix& to);
void store_rows(const double* from, int64_t stride, int64_t rows, int64_t columns, const AttentionMatrix& to);

/// to[columns, W] = transpose of from[rows, stride] with rows behind `rows` as 0; `columns` a multiple of the lanes.
/// Elements are floats, doubles, or 32-bit words.
void pack_transposed(const float* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors, float* to);
void pack_transposed(const double* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors, double* to);
/// The way back: to[i, stride] = from[columns, W] by row.
void unpack_transposed(const float* from, int64_t vectors, int64_t rows, int64_t columns, float* to, int64_t stride);
void unpack_transposed(const double* from, int64_t vectors, int64_t rows, int64_t columns, double* to, int64_t stride);

/// What these are where there is AVX2 and no AVX-512.
void pack_transposed_avx2(const float* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors, float* to);
void unpack_transposed_avx2(const float* from, int64_t vectors, int64_t rows, int64_t columns, float* to,
                            int64_t stride);

/// to[(rows + 1) / 2, width] = words of the elements (2i, c) and (2i + 1, c); what is not there is 0.
void pack_pairs(const uint16_t* from, int64_t stride, int64_t rows, int64_t columns, int64_t filled_rows, int64_t width,
                uint32_t* to);

/// a and b of a row are states over different keys: a becomes that of all.
void join_states(float* maximum, float* sum, float* out, float other_maximum, float other_sum, const float* other_out,
                 int64_t width);
void join_states(double* maximum, double* sum, double* out, double other_maximum, double other_sum,
                 const double* other_out, int64_t width);

}  // namespace strata::library
