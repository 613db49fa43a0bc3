// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/panel_product.h"

#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#include "codegen/vector_avx2.h"

namespace strata::library {
namespace {

constexpr int kRows = 6;         // of a tile: 12 sums, a row of the panel and an element of a in 16 registers
constexpr int64_t kDepth = 336;  // at most, of a piece of a panel: the first-level cache holds it and a tile's rows
constexpr int64_t kPanelsOfRows = 4;  // packed together: a row of b is read in pieces of four lines of the cache

/// What becomes of sums over a piece of the depth.
struct Ending {
  float* c;
  int64_t c_stride;
  float alpha;
  const float* bias;  ///< null where c is added to, or where there is none
  bool adds;
};

inline void finish(const Ending& e, int row, int64_t column, int64_t n, __m256 x) {
  float* c = e.c + row * e.c_stride + column;
  if (e.alpha != 1.0f) x = multiply(x, all_lanes(e.alpha));
  if (e.bias) x = add(x, load_floats(e.bias + column, n));
  if (e.adds) x = add(x, load_floats(c, n));
  store_floats(c, x, n);
}

/// R rows of a by one panel.
template <int R>
void tile(const float* a, int64_t a_stride, const float* b, int64_t depth, int64_t n, const Ending& e) {
  __m256 sum[R][2];
#pragma GCC unroll 6
  for (auto& s : sum) s[0] = s[1] = __m256{};
#pragma GCC unroll 2
  for (int64_t k = 0; k < depth; ++k, b += kPanelColumns) {
    const __m256 low = load_floats(b), high = load_floats(b + kFloatLanes);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      const __m256 x = all_lanes(a[r * a_stride + k]);
      sum[r][0] = multiply_add(x, low, sum[r][0]);
      sum[r][1] = multiply_add(x, high, sum[r][1]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    finish(e, r, 0, n, sum[r][0]);
    if (n > kFloatLanes) finish(e, r, kFloatLanes, n - kFloatLanes, sum[r][1]);
  }
}

using Tile = void (*)(const float*, int64_t, const float*, int64_t, int64_t, const Ending&);
constexpr Tile kTiles[kRows] = {tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>};

/// Elements of b as they become float32: a vector of the first n that there are, and four, for up to four.
struct Floats {
  using Element = float;
  static __m256 load(const float* p, int64_t n) { return load_floats(p, n); }
  static __m128 four(const float* p, int64_t n) {
    return n >= 4 ? _mm_loadu_ps(p) : _mm_maskload_ps(p, _mm256_castsi256_si128(lanes(n)));
  }
};
struct Halves {
  using Element = uint16_t;
  static __m128i four_bits(const uint16_t* p, int64_t n) {
    if (n >= 4) return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    uint64_t bits = 0;
    for (int64_t i = 0; i < n; ++i) bits |= static_cast<uint64_t>(p[i]) << (16 * i);
    return _mm_cvtsi64_si128(static_cast<int64_t>(bits));
  }
};
struct BFloat16s : Halves {
  static __m256 load(const uint16_t* p, int64_t n) { return load_halves(p, n); }
  static __m128 four(const uint16_t* p, int64_t n) {
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(four_bits(p, n)), 16));
  }
};
struct Float16s : Halves {
  static __m256 load(const uint16_t* p, int64_t n) { return load_float16s(p, n); }
  static __m128 four(const uint16_t* p, int64_t n) { return _mm_cvtph_ps(four_bits(p, n)); }
};

/// Lines of b, n of them, from `line` on: element k of line i becomes to[k * kPanelColumns + i].
template <class T>
void turn_lines(const typename T::Element* line, int64_t stride, int64_t n, int64_t depth, float* to) {
  for (int64_t half = 0; half < kPanelColumns; half += kFloatLanes) {
    const typename T::Element* b[kFloatLanes];
    for (int64_t i = 0; i < kFloatLanes; ++i) b[i] = line + std::min(half + i, n - 1) * stride;
    __m256 out[4];
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      turn_loaded([&](int i) __attribute__((always_inline)) { return T::four(b[i] + k, 4); }, out);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) store_floats(to + (k + i) * kPanelColumns + half, out[i]);
    }
    if (k == depth) continue;
    turn_loaded([&](int i) { return T::four(b[i] + k, depth - k); }, out);
    for (int i = 0; k + i < depth; ++i) store_floats(to + (k + i) * kPanelColumns + half, out[i]);
  }
}

template <class T>
void turn_all(const typename T::Element* from, int64_t from_stride, int64_t rows, int64_t columns, float* to,
              int64_t to_stride) {
  for (int64_t column = 0; column < columns; column += kFloatLanes) {
    const int64_t n = std::min(kFloatLanes, columns - column);
    const typename T::Element* lines[kFloatLanes];
    for (int64_t i = 0; i < kFloatLanes; ++i) lines[i] = from + (column + std::min(i, n - 1)) * from_stride;
    for (int64_t row = 0; row < rows; row += 4) {
      const int64_t m = std::min<int64_t>(4, rows - row);
      __m256 out[4];
      turn_loaded([&](int i) __attribute__((always_inline)) { return T::four(lines[i] + row, m); }, out);
      for (int64_t i = 0; i < m; ++i) store_floats(to + (row + i) * to_stride + column, out[i], n);
    }
  }
}

/// Rows of b, n columns from `row` on, as panels of kDepth by kPanelColumns.
template <class T>
void copy_rows(const typename T::Element* row, int64_t stride, int64_t n, int64_t depth, float* to) {
  for (int64_t k = 0; k < depth; ++k, row += stride, to += kPanelColumns) {
    float* out = to;
    for (int64_t c = 0; c < n; c += kPanelColumns, out += kDepth * kPanelColumns) {
      store_floats(out, T::load(row + c, n - c));
      if (n - c > kFloatLanes) store_floats(out + kFloatLanes, T::load(row + c + kFloatLanes, n - c - kFloatLanes));
    }
  }
}

template <class T>
void pack(const PanelProduct& p, int64_t column, int64_t n, int64_t k, int64_t depth, float* room) {
  const auto* b = static_cast<const typename T::Element*>(p.b);
  p.form == PanelProduct::Form::Lines ? turn_lines<T>(b + column * p.b_stride + k, p.b_stride, n, depth, room)
                                      : copy_rows<T>(b + k * p.b_stride + column, p.b_stride, n, depth, room);
}

/// Elements [k, k + depth) of n columns from `column` on, as panels; `room` is for those that must be packed. Returns
/// the first, and how far the next one is.
struct Panels {
  const float* first;
  int64_t stride;
};
Panels panels_of(const PanelProduct& p, int64_t column, int64_t n, int64_t k, int64_t depth, float* room) {
  if (p.form == PanelProduct::Form::Panels)
    return {static_cast<const float*>(p.b) + column / kPanelColumns * p.b_stride + k * kPanelColumns, p.b_stride};
  if (p.b_dtype == DType::F32)
    pack<Floats>(p, column, n, k, depth, room);
  else if (p.b_dtype == DType::BF16)
    pack<BFloat16s>(p, column, n, k, depth, room);
  else
    pack<Float16s>(p, column, n, k, depth, room);
  return {room, kDepth * kPanelColumns};
}

/// Rows [from, to) by one panel of elements [k, k + depth).
void multiply_rows(const PanelProduct& p, int64_t from, int64_t to, int64_t column, int64_t k, int64_t depth,
                   const float* b) {
  const int64_t n = std::min(kPanelColumns, p.columns - column);
  Ending e{nullptr, p.c_stride, p.alpha, k == 0 && p.bias ? p.bias + column : nullptr, k > 0};
  for (int64_t row = from; row < to; row += kRows) {
    e.c = p.c + row * p.c_stride + column;
    kTiles[std::min<int64_t>(kRows, to - row) - 1](p.a + row * p.a_stride + k, p.a_stride, b, depth, n, e);
  }
}

void multiply_panels(const PanelProduct& p, int64_t first_row, int64_t last_row, int64_t first_panel,
                     int64_t last_panel) {
  if (first_row >= last_row || p.depth <= 0) return;
  alignas(64) float room[kPanelsOfRows * kDepth * kPanelColumns];
  const int64_t group = p.form == PanelProduct::Form::Rows ? kPanelsOfRows : 1;
  const int64_t pieces = (p.depth + kDepth - 1) / kDepth, piece = (p.depth + pieces - 1) / pieces;
  const int64_t most = row_block(p.form);
  const int64_t blocks = (last_row - first_row + most - 1) / most;
  const int64_t block = ((last_row - first_row + blocks - 1) / blocks + kRows - 1) / kRows * kRows;
  for (int64_t from = first_row; from < last_row; from += block) {
    const int64_t to = std::min(from + block, last_row);
    for (int64_t k = 0; k < p.depth; k += piece) {
      const int64_t depth = std::min(piece, p.depth - k);
      for (int64_t panel = first_panel; panel < last_panel; panel += group) {
        const int64_t column = panel * kPanelColumns;
        const int64_t n = std::min(std::min(panel + group, last_panel) * kPanelColumns, p.columns) - column;
        const Panels b = panels_of(p, column, n, k, depth, room);
        for (int64_t c = 0; c < n; c += kPanelColumns)
          multiply_rows(p, from, to, column + c, k, depth, b.first + c / kPanelColumns * b.stride);
      }
    }
  }
}

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

void panel_product(const PanelProduct& product, int64_t first_row, int64_t last_row, int64_t first_panel,
                   int64_t last_panel) {
  multiply_panels(product, first_row, last_row, first_panel, last_panel);
}

void turn_columns(DType dtype, const void* from, int64_t from_stride, int64_t rows, int64_t columns, float* to,
                  int64_t to_stride) {
  const auto as = [&](auto type) {
    using T = decltype(type);
    turn_all<T>(static_cast<const typename T::Element*>(from), from_stride, rows, columns, to, to_stride);
  };
  if (dtype == DType::F32) return as(Floats{});
  dtype == DType::BF16 ? as(BFloat16s{}) : as(Float16s{});
}

}  // namespace strata::library

#else

namespace strata::library {

void panel_product(const PanelProduct&, int64_t, int64_t, int64_t, int64_t) {
  throw_internal("no AVX2 on this processor");
}
void turn_columns(DType, const void*, int64_t, int64_t, int64_t, float*, int64_t) {
  throw_internal("no AVX2 on this processor");
}

}  // namespace strata::library
#endif
