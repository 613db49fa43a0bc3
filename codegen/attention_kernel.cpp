// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/attention_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codegen/attention_tile.h"
#include "codegen/attention_turn.h"
#include "codegen/instruction_sets.h"
#include "core/runtime/elements.h"
#include "core/runtime/tensor.h"
#include "core/support/vector_clones.h"

namespace strata::library {
namespace {

// -------------------------------------------------------------------------------------------------------------
// lines

/// A vector from memory of any alignment.
template <class T, bool Narrow>
STRATA_INLINE void load(Vector<T>& v, const void* p, int64_t i) {
  if constexpr (Narrow) {
    typedef uint16_t Halves __attribute__((vector_size(32)));
    typedef uint32_t Wide __attribute__((vector_size(64)));
    Halves h;
    std::memcpy(&h, static_cast<const uint16_t*>(p) + i, sizeof h);
    const Wide w = __builtin_convertvector(h, Wide) << 16;
    std::memcpy(&v, &w, sizeof v);
  } else {
    std::memcpy(&v, static_cast<const T*>(p) + i, sizeof v);
  }
}

template <class T>
STRATA_INLINE T total_of(const Vector<T>& v) {
  T sum = 0;
  for (int64_t i = 0; i < kLanes<T>; ++i) sum += v[i];
  return sum;
}

template <class T, bool Narrow, int R>
STRATA_INLINE void score_lines(const AttentionLines<T>& t) {
  constexpr int64_t kSize = Narrow ? 2 : static_cast<int64_t>(sizeof(T));
  for (int64_t j = 0; j < t.keys; ++j) {
    const void* k = static_cast<const std::byte*>(t.k) + j * t.k_stride * kSize;
    Vector<T> sum[R] = {};
    for (int64_t p = 0; p < t.e; p += kLanes<T>) {
      Vector<T> x, y;
      load<T, Narrow>(x, k, p);
      for (int r = 0; r < R; ++r) {
        load<T, false>(y, t.q, r * t.e + p);
        sum[r] += x * y;
      }
    }
    for (int r = 0; r < R; ++r) t.scores[r * t.score_stride + j] = total_of<T>(sum[r]) * t.scale;
  }
}

template <class T>
STRATA_INLINE void mask_line(const AttentionLines<T>& t, int64_t row, int64_t seen, int64_t padded) {
  T* s = t.scores + row * t.score_stride;
  const T* m = t.mask + row * t.mask_stride;
  if (t.kind == MaskKind::Add)
    for (int64_t j = 0; j < seen; ++j) s[j] += m[j];
  if (t.kind == MaskKind::Fill)
    for (int64_t j = 0; j < seen; ++j) s[j] = m[j] == T(0) ? t.fill : s[j];
  if (t.kind == MaskKind::Hide)
    for (int64_t j = 0; j < seen; ++j) s[j] = m[j] == T(0) ? s[j] + t.fill : s[j];
  std::fill(s + seen, s + padded, kNone<T>);
}

/// As `weigh` of a tile, for one row.
template <class T>
STRATA_INLINE void weigh_line(const AttentionLines<T>& t, int64_t row, int64_t padded) {
  T* s = t.scores + row * t.score_stride;
  Vector<T> top = Vector<T>{} + kNone<T>;
  for (int64_t j = 0; j < padded; j += kLanes<T>) {
    Vector<T> x;
    load<T, false>(x, s, j);
    top = x > top ? x : top;
  }
  const T before = t.maximum[row];
  T now = before;
  for (int64_t i = 0; i < kLanes<T>; ++i) now = top[i] > now ? top[i] : now;
  const T reference = now == kNone<T> ? T(0) : now;
  Vector<T> total = {};
  for (int64_t j = 0; j < padded; j += kLanes<T>) {
    Vector<T> x;
    load<T, false>(x, s, j);
    x -= reference;
    exp_in_place(x);
    std::memcpy(s + j, &x, sizeof x);
    total += x;
  }
  const T shrink = std::exp(before - reference);
  t.sum[row] = t.sum[row] * shrink + total_of<T>(total);
  t.maximum[row] = now;
  if (before == now) return;
  for (int64_t c = 0; c < t.width; ++c) t.out[row * t.width + c] *= shrink;
}

/// out[R, columns] += weights[R, keys] v, for `C` vectors of columns.
template <class T, bool Narrow, int R, int C>
STRATA_INLINE void gather_columns(const AttentionLines<T>& t, int64_t column) {
  constexpr int64_t kSize = Narrow ? 2 : static_cast<int64_t>(sizeof(T));
  Vector<T> sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) load<T, false>(sum[r][c], t.out, r * t.width + column + c * kLanes<T>);
  for (int64_t j = 0; j < t.keys; ++j) {
    const void* v = static_cast<const std::byte*>(t.v) + j * t.v_stride * kSize;
    for (int c = 0; c < C; ++c) {
      Vector<T> x;
      load<T, Narrow>(x, v, column + c * kLanes<T>);
      for (int r = 0; r < R; ++r) sum[r][c] += t.scores[r * t.score_stride + j] * x;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) std::memcpy(t.out + r * t.width + column + c * kLanes<T>, &sum[r][c], sizeof sum[r][c]);
}

template <class T, bool Narrow, int R>
STRATA_INLINE void lines(const AttentionLines<T>& t) {
  constexpr bool is_float = sizeof(T) == sizeof(float);
  const bool has_own = is_float && (has_avx512() || has_avx2());
  if constexpr (is_float)
    if (has_own) has_avx512() ? score_lines_avx512(t) : score_lines_avx2(t);
  if (!has_own) score_lines<T, Narrow, R>(t);
  const int64_t padded = (t.keys + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  for (int r = 0; r < R; ++r) {
    mask_line(t, r, std::clamp<int64_t>(t.causal_from + r + 1, 0, t.keys), padded);
    weigh_line(t, r, padded);
  }
  if constexpr (is_float)
    if (has_own) return has_avx512() ? gather_lines_avx512(t) : gather_lines_avx2(t);
  int64_t c = 0;
  for (; c + 4 * kLanes<T> <= t.width; c += 4 * kLanes<T>) gather_columns<T, Narrow, R, 4>(t, c);
  for (; c < t.width; c += kLanes<T>) gather_columns<T, Narrow, R, 1>(t, c);
}

template <class T, bool Narrow>
STRATA_INLINE void lines(const AttentionLines<T>& t) {
  switch (t.rows) {
    case 1:
      return lines<T, Narrow, 1>(t);
    case 2:
      return lines<T, Narrow, 2>(t);
    case 3:
      return lines<T, Narrow, 3>(t);
    default:
      return lines<T, Narrow, kAttentionLineRows>(t);
  }
}

STRATA_VECTOR_CLONES void lines_float(const AttentionLines<float>& t) { lines<float, false>(t); }
STRATA_VECTOR_CLONES void lines_narrow(const AttentionLines<float>& t) { lines<float, true>(t); }
STRATA_VECTOR_CLONES void lines_double(const AttentionLines<double>& t) { lines<double, false>(t); }

// -------------------------------------------------------------------------------------------------------------
// tiles

STRATA_VECTOR_CLONES void tile_float(const AttentionTile<float>& t) { attend<Plain<float>>(t); }
STRATA_VECTOR_CLONES void tile_double(const AttentionTile<double>& t) { attend<Plain<double>>(t); }

// -------------------------------------------------------------------------------------------------------------
// packing

STRATA_INLINE float widen(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

/// A float16: its exponent is 112 lower than a float's, which a product repairs, also for subnormals.
STRATA_INLINE float widen_half(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits & 0x7fff) << 13;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  x *= 0x1p112f;
  std::memcpy(&wide, &x, sizeof x);
  wide |= (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
  wide |= static_cast<uint32_t>(bits & 0x8000) << 16;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

STRATA_VECTOR_CLONES void widen_row(const uint16_t* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = widen(from[i]);
}
STRATA_VECTOR_CLONES void widen_half_row(const uint16_t* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = widen_half(from[i]);
}
STRATA_VECTOR_CLONES void bool_row(const uint8_t* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] ? 1.0f : 0.0f;
}

/// Whether a row of this type is converted by a loop over vectors.
bool pack_dense_row(const AttentionMatrix& m, int64_t row, int64_t n, float* to) {
  const int64_t at = row * m.row_stride;
  switch (m.dtype) {
    case DType::F32:
      std::memcpy(to, static_cast<const float*>(m.data) + at, static_cast<size_t>(n) * sizeof(float));
      return true;
    case DType::BF16:
      widen_row(static_cast<const uint16_t*>(m.data) + at, n, to);
      return true;
    case DType::F16:
      widen_half_row(static_cast<const uint16_t*>(m.data) + at, n, to);
      return true;
    case DType::Bool:
      bool_row(static_cast<const uint8_t*>(m.data) + at, n, to);
      return true;
    default:
      return false;
  }
}
bool pack_dense_row(const AttentionMatrix& m, int64_t row, int64_t n, double* to) {
  if (m.dtype != DType::F64) return false;
  std::memcpy(to, static_cast<const double*>(m.data) + row * m.row_stride, static_cast<size_t>(n) * sizeof(double));
  return true;
}

/// Rows with gaps between them, such as those of one head among several, are not what the processor fetches by itself.
constexpr int64_t kRowsAhead = 8, kLineBytes = 64;

template <class T>
void pack(const AttentionMatrix& m, int64_t rows, int64_t columns, int64_t filled, T* to, int64_t stride) {
  const auto* bytes = static_cast<const std::byte*>(m.data);
  const auto size = static_cast<int64_t>(dtype_size(m.dtype));
  const bool gaps = m.column_stride == 1 && m.row_stride > columns;
  for (int64_t r = 0; r < rows; ++r, to += stride) {
    if (gaps && r + kRowsAhead < rows)
      for (int64_t b = 0; b < columns * size; b += kLineBytes)
        __builtin_prefetch(bytes + (r + kRowsAhead) * m.row_stride * size + b);
    if (m.column_stride == 0 && columns > 0) {  // a mask that is the same for all keys
      std::fill(to, to + columns, static_cast<T>(load_as_double(m.dtype, bytes + r * m.row_stride * size)));
    } else if (m.column_stride != 1 || !pack_dense_row(m, r, columns, to)) {
      with_element_type(m.dtype, [&](auto element) {
        const auto* from = reinterpret_cast<const decltype(element)*>(bytes + r * m.row_stride * size);
        for (int64_t c = 0; c < columns; ++c) to[c] = static_cast<T>(work_value(from[c * m.column_stride]));
      });
    }
    std::fill(to + columns, to + filled, T(0));
  }
}

template <class T>
STRATA_INLINE bool finite_vectors(const T* x, int64_t n) {
  Vector<T> sum = {};
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    Vector<T> v;
    load<T, false>(v, x, i);
    sum += v * T(0);
  }
  T rest = total_of<T>(sum);
  for (; i < n; ++i) rest += x[i] * T(0);
  return rest == T(0);
}
STRATA_VECTOR_CLONES bool finite_float(const float* x, int64_t n) { return finite_vectors(x, n); }
STRATA_VECTOR_CLONES bool finite_double(const double* x, int64_t n) { return finite_vectors(x, n); }

STRATA_VECTOR_CLONES void transpose_in_float(const float* from, int64_t stride, int64_t rows, int64_t columns,
                                             int64_t vectors, float* to) {
  transpose_in(from, stride, rows, columns, vectors, to);
}
STRATA_VECTOR_CLONES void transpose_in_double(const double* from, int64_t stride, int64_t rows, int64_t columns,
                                              int64_t vectors, double* to) {
  transpose_in(from, stride, rows, columns, vectors, to);
}
STRATA_VECTOR_CLONES void transpose_out_float(const float* from, int64_t vectors, int64_t rows, int64_t columns,
                                              float* to, int64_t stride) {
  transpose_out(from, vectors, rows, columns, to, stride);
}
STRATA_VECTOR_CLONES void transpose_out_double(const double* from, int64_t vectors, int64_t rows, int64_t columns,
                                               double* to, int64_t stride) {
  transpose_out(from, vectors, rows, columns, to, stride);
}

STRATA_VECTOR_CLONES void pair_rows(const uint16_t* low, const uint16_t* high, int64_t n, uint32_t* to) {
  for (int64_t c = 0; c < n; ++c) to[c] = static_cast<uint32_t>(low[c]) | static_cast<uint32_t>(high[c]) << 16;
}

/// Round to nearest even; NaN stays NaN.
STRATA_INLINE uint16_t narrowed(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}
STRATA_VECTOR_CLONES void narrow_row(const float* from, int64_t n, uint16_t* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = narrowed(from[i]);
}

bool store_dense_row(const float* from, int64_t n, DType dtype, void* to) {
  if (dtype == DType::BF16) narrow_row(from, n, static_cast<uint16_t*>(to));
  if (dtype == DType::F32) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  return dtype == DType::BF16 || dtype == DType::F32;
}
bool store_dense_row(const double* from, int64_t n, DType dtype, void* to) {
  if (dtype == DType::F64) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(double));
  return dtype == DType::F64;
}

template <class T>
void store(const T* from, int64_t stride, int64_t rows, int64_t columns, const AttentionMatrix& m) {
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(m.data));
  const auto size = static_cast<int64_t>(dtype_size(m.dtype));
  for (int64_t r = 0; r < rows; ++r, from += stride) {
    if (m.column_stride == 1 && store_dense_row(from, columns, m.dtype, bytes + r * m.row_stride * size)) continue;
    for (int64_t c = 0; c < columns; ++c)
      store_from_double(m.dtype, bytes + (r * m.row_stride + c * m.column_stride) * size, from[c]);
  }
}

template <class T>
void join(T* maximum, T* sum, T* out, T other_maximum, T other_sum, const T* other_out, int64_t width) {
  const T now = std::max(*maximum, other_maximum), reference = now == kNone<T> ? T(0) : now;
  const T mine = std::exp(*maximum - reference), other = std::exp(other_maximum - reference);
  *maximum = now;
  *sum = *sum * mine + other_sum * other;
  for (int64_t c = 0; c < width; ++c) out[c] = out[c] * mine + other_out[c] * other;
}

}  // namespace

void attend_tile(const AttentionTile<float>& tile) { has_avx2_at_most() ? attend_tile_avx2(tile) : tile_float(tile); }
void attend_tile(const AttentionTile<double>& tile) { has_avx2_at_most() ? attend_tile_avx2(tile) : tile_double(tile); }
void attend_lines(const AttentionLines<float>& t) { t.narrow ? lines_narrow(t) : lines_float(t); }
void attend_lines(const AttentionLines<double>& t) { lines_double(t); }

bool all_finite(const float* x, int64_t n) { return finite_float(x, n); }
bool all_finite(const double* x, int64_t n) { return finite_double(x, n); }

void pack_rows(const AttentionMatrix& from, int64_t rows, int64_t columns, int64_t filled, float* to, int64_t stride) {
  pack(from, rows, columns, filled, to, stride);
}
void pack_rows(const AttentionMatrix& from, int64_t rows, int64_t columns, int64_t filled, double* to, int64_t stride) {
  pack(from, rows, columns, filled, to, stride);
}
void store_rows(const float* from, int64_t stride, int64_t rows, int64_t columns, const AttentionMatrix& to) {
  store(from, stride, rows, columns, to);
}
void store_rows(const double* from, int64_t stride, int64_t rows, int64_t columns, const AttentionMatrix& to) {
  store(from, stride, rows, columns, to);
}

void pack_transposed(const float* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors, float* to) {
  has_avx2_at_most() ? pack_transposed_avx2(from, stride, rows, columns, vectors, to)
                     : transpose_in_float(from, stride, rows, columns, vectors, to);
}
void pack_transposed(const double* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors, double* to) {
  transpose_in_double(from, stride, rows, columns, vectors, to);
}
void unpack_transposed(const float* from, int64_t vectors, int64_t rows, int64_t columns, float* to, int64_t stride) {
  has_avx2_at_most() ? unpack_transposed_avx2(from, vectors, rows, columns, to, stride)
                     : transpose_out_float(from, vectors, rows, columns, to, stride);
}
void unpack_transposed(const double* from, int64_t vectors, int64_t rows, int64_t columns, double* to, int64_t stride) {
  transpose_out_double(from, vectors, rows, columns, to, stride);
}

void pack_pairs(const uint16_t* from, int64_t stride, int64_t rows, int64_t columns, int64_t filled_rows, int64_t width,
                uint32_t* to) {
  for (int64_t j = 0; j < filled_rows; j += 2, to += width) {
    const uint16_t* low = from + j * stride;
    if (j + 1 < rows)
      pair_rows(low, low + stride, columns, to);
    else
      for (int64_t c = 0; c < columns; ++c) to[c] = j < rows ? low[c] : 0;
    std::fill(to + columns, to + width, 0u);
  }
}

void join_states(float* maximum, float* sum, float* out, float other_maximum, float other_sum, const float* other_out,
                 int64_t width) {
  join(maximum, sum, out, other_maximum, other_sum, other_out, width);
}
void join_states(double* maximum, double* sum, double* out, double other_maximum, double other_sum,
                 const double* other_out, int64_t width) {
  join(maximum, sum, out, other_maximum, other_sum, other_out, width);
}

}  // namespace strata::library
