// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Winograd's convolutions in the vectors of whichever of vector_avx2.h and vector_avx512.h comes before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "codegen/winograd.h"

namespace strata::library {
namespace {

constexpr int64_t kColumns = 2 * kFloatLanes;           // of a panel
constexpr int kRows = kVectorRegisters == 32 ? 12 : 6;  // of a product: sums of two vectors, and what they are made of
constexpr int64_t kApart = 16;                          // floats, between what would lie a power of two apart
constexpr int64_t kSide = 4, kOut = 2, kTaps = 3;       // of a tile, of its result, of the kernel

/// Tiles as matrices of [tile, channel], one for each of the parts of a tile; and what they become for one panel.
struct Room {
  Room(float* room, int64_t in_channels, int64_t tiles)
      : row(in_channels + (in_channels % 512 == 0 ? kApart : 0)),
        part(tiles * row + kApart),
        sum_part(tiles * kColumns + kApart),
        tiles(room),
        sums(room + kWinogradParts * part) {}
  int64_t size() const { return kWinogradParts * (part + sum_part); }
  float* at(int64_t tile) const { return tiles + tile * row; }

  int64_t row, part, sum_part;  ///< distances: from tile to tile, and from part to part
  float *tiles, *sums;
};

/// From part to part of a panel of weights.
constexpr int64_t weight_part(int64_t in_channels) { return in_channels * kColumns + kApart; }

/// R tiles by one panel, of one part.
template <int R>
void multiply_rows(const float* a, int64_t row, const float* b, int64_t depth, float* sums) {
  FloatVector sum[R][2];
#pragma GCC unroll 12
  for (auto& s : sum) s[0] = s[1] = FloatVector{};
#pragma GCC unroll 2
  for (int64_t k = 0; k < depth; ++k, b += kColumns) {
    const FloatVector low = load_floats(b), high = load_floats(b + kFloatLanes);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const FloatVector x = all_lanes(a[r * row + k]);
      sum[r][0] = multiply_add(x, low, sum[r][0]);
      sum[r][1] = multiply_add(x, high, sum[r][1]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    store_floats(sums + r * kColumns, sum[r][0]);
    store_floats(sums + r * kColumns + kFloatLanes, sum[r][1]);
  }
}

using MultiplyRows = void (*)(const float*, int64_t, const float*, int64_t, float*);
template <class Rows>
struct Products;
template <int... R>
struct Products<std::integer_sequence<int, R...>> {
  static constexpr MultiplyRows of[] = {multiply_rows<R + 1>...};
};
using ProductOf = Products<std::make_integer_sequence<int, kRows>>;

/// A tile: of which image, and where its result begins.
struct TilePlace {
  int64_t image, y, x;
};

/// Goes through tiles in their order.
class TileWalk {
 public:
  TileWalk(const WinogradProduct& p, int64_t tile) : rows_(p.tile_rows()), columns_(p.tile_columns()) {
    column_ = tile % columns_;
    row_ = tile / columns_ % rows_;
    image_ = tile / columns_ / rows_;
  }
  TilePlace place() const { return {image_, kOut * row_, kOut * column_}; }
  void next() {
    if (++column_ < columns_) return;
    column_ = 0;
    if (++row_ < rows_) return;
    row_ = 0;
    ++image_;
  }

 private:
  int64_t rows_, columns_, image_ = 0, row_ = 0, column_ = 0;
};

/// B' of four: differences and sums, in place.
__attribute__((always_inline)) inline void turn_in(FloatVector& a, FloatVector& b, FloatVector& c, FloatVector& d) {
  const FloatVector sum = add(b, c), difference = subtract(c, b);
  a = subtract(a, c);
  d = subtract(b, d);
  b = sum;
  c = difference;
}

/// The 16 parts of a tile, of n channels from `channel` on; `load(i, j)` gives element (i, j).
template <class Load>
__attribute__((always_inline)) inline void store_parts(const Load& load, float* to, int64_t part, int64_t n) {
  FloatVector x[kSide][kSide];
#pragma GCC unroll 4
  for (int j = 0; j < kSide; ++j) {
#pragma GCC unroll 4
    for (int i = 0; i < kSide; ++i) x[i][j] = load(i, j);
    turn_in(x[0][j], x[1][j], x[2][j], x[3][j]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kSide; ++i) {
    turn_in(x[i][0], x[i][1], x[i][2], x[i][3]);
#pragma GCC unroll 4
    for (int j = 0; j < kSide; ++j) store_floats(to + (kSide * i + j) * part, x[i][j], n);
  }
}

/// A tile of the input as parts; beyond the edges there are zeros.
void take_tile(const ConvolutionProduct& p, const TilePlace& tile, float* to, int64_t part) {
  const int64_t y = tile.y - p.padding[0], x = tile.x - p.padding[1], channels = p.in_channels;
  const float* corner = p.in + tile.image * p.in_image + y * p.in_row + x * p.in_place;
  const bool inside = y >= 0 && x >= 0 && y + kSide <= p.in_size[0] && x + kSide <= p.in_size[1];
  int64_t c = 0;
  if (inside) {
    for (; c + kFloatLanes <= channels; c += kFloatLanes) {
      const float* from = corner + c;
      store_parts([&](int i, int j) { return load_floats(from + i * p.in_row + j * p.in_place); }, to + c, part,
                  kFloatLanes);
    }
  }
  bool is_there[kSide][kSide];
  for (int64_t i = 0; i < kSide; ++i)
    for (int64_t j = 0; j < kSide; ++j)
      is_there[i][j] = y + i >= 0 && y + i < p.in_size[0] && x + j >= 0 && x + j < p.in_size[1];
  for (; c < channels; c += kFloatLanes) {
    const int64_t n = channels - c < kFloatLanes ? channels - c : kFloatLanes;
    const auto load = [&](int i, int j) {
      return is_there[i][j] ? load_floats(corner + i * p.in_row + j * p.in_place + c, n) : FloatVector{};
    };
    store_parts(load, to + c, part, n);
  }
}

/// What is done to sums before they are stored.
inline void finish(const ConvolutionProduct& p, int64_t place, int64_t column, int64_t n, FloatVector sum) {
  const int64_t at = place * p.out_place + column;
  if (p.bias) sum = add(sum, load_floats(p.bias + column, n));
  if (p.scale) sum = multiply(sum, load_floats(p.scale + column, n));
  if (p.shift) sum = add(sum, load_floats(p.shift + column, n));
  if (p.added) sum = add(sum, load_floats(p.added + at, n));
  if (p.relu) sum = not_negative(sum);
  store_floats(p.out + at, sum, n);
}

/// The places of a tile's result that there are, as (y, x) within the tile and the place.
template <class Each>
__attribute__((always_inline)) inline void each_place(const ConvolutionProduct& p, const TilePlace& tile,
                                                      const Each& each) {
  const int64_t place = (tile.image * p.out_size[0] + tile.y) * p.out_size[1] + tile.x;
  const bool right = tile.x + 1 < p.out_size[1], below = tile.y + 1 < p.out_size[0];
  each(0, 0, place);
  if (right) each(0, 1, place + 1);
  if (below) each(1, 0, place + p.out_size[1]);
  if (right && below) each(1, 1, place + p.out_size[1] + 1);
}

/// A' of sums, stored. Returns whether all were finite: otherwise nothing was.
bool give_vector(const ConvolutionProduct& p, const TilePlace& tile, const float* sums, int64_t part, int64_t column,
                 int64_t n) {
  FloatVector rows[kOut][kSide];
#pragma GCC unroll 4
  for (int j = 0; j < kSide; ++j) {
    const auto m = [&](int i) { return load_floats(sums + (kSide * i + j) * part); };
    const FloatVector a = m(0), b = m(1), c = m(2), d = m(3);
    rows[0][j] = add(add(a, b), c);
    rows[1][j] = subtract(subtract(b, c), d);
  }
  FloatVector y[kOut][kOut];
#pragma GCC unroll 2
  for (int i = 0; i < kOut; ++i) {
    y[i][0] = add(add(rows[i][0], rows[i][1]), rows[i][2]);
    y[i][1] = subtract(subtract(rows[i][1], rows[i][2]), rows[i][3]);
  }
  const FloatVector zero{};
  const FloatVector wrong = multiply_add(y[0][0], zero, multiply(y[0][1], zero));
  const FloatVector also = multiply_add(y[1][0], zero, multiply(y[1][1], zero));
  if (has_nan(add(wrong, also))) return false;
  each_place(p, tile, [&](int i, int j, int64_t place) { finish(p, place, column, n, y[i][j]); });
  return true;
}

/// The weight of one panel as [tap, channel, kColumns], for tiles whose parts are not finite; of a turned one made when
/// it is needed.
class PlainPanel {
 public:
  PlainPanel(const WinogradProduct& p, int64_t column, int64_t n) : p_(p), column_(column), n_(n) {
    if (!p.turned) weight_ = p.convolution.weight + column * kTaps * kTaps * p.convolution.in_channels;
  }

  void give_tile(const TilePlace& tile) {
    if (!weight_) make();
    each_place(p_.convolution, tile,
               [&](int i, int j, int64_t place) { give_place(tile.image, tile.y + i, tile.x + j, place); });
  }

 private:
  void make() {
    const int64_t channels = p_.convolution.in_channels;
    float* to = room_.make(kTaps * kTaps * channels * kColumns);
    weight_ = to;
    for (int64_t tap = 0; tap < kTaps * kTaps; ++tap)
      for (int64_t c = 0; c < channels; ++c, to += kColumns)
        for (int64_t k = 0; k < n_; ++k)
          to[k] = p_.plain[(column_ + k) * p_.plain_strides[0] + c * p_.plain_strides[1] +
                           tap / kTaps * p_.plain_strides[2] + tap % kTaps * p_.plain_strides[3]];
  }
  void give_place(int64_t image, int64_t row, int64_t column, int64_t place) const {
    const ConvolutionProduct& p = p_.convolution;
    FloatVector low{}, high{};
    const float* weight = weight_;
    for (int64_t tap = 0; tap < kTaps * kTaps; ++tap, weight += p.in_channels * kColumns) {
      const int64_t y = row - p.padding[0] + tap / kTaps, x = column - p.padding[1] + tap % kTaps;
      if (y < 0 || y >= p.in_size[0] || x < 0 || x >= p.in_size[1]) continue;
      const float* in = p.in + image * p.in_image + y * p.in_row + x * p.in_place;
      for (int64_t c = 0; c < p.in_channels; ++c) {
        low = multiply_add(all_lanes(in[c]), load_floats(weight + c * kColumns), low);
        high = multiply_add(all_lanes(in[c]), load_floats(weight + c * kColumns + kFloatLanes), high);
      }
    }
    finish(p, place, column_, n_, low);
    if (n_ > kFloatLanes) finish(p, place, column_ + kFloatLanes, n_ - kFloatLanes, high);
  }

  const WinogradProduct& p_;
  int64_t column_, n_;
  const float* weight_ = nullptr;
  FloatRoom room_;
};

/// G of three.
__attribute__((always_inline)) inline void turn_kernel(FloatVector a, FloatVector b, FloatVector c,
                                                       FloatVector (&out)[kSide]) {
  const FloatVector half = all_lanes(0.5f), ends = add(a, c);
  out[0] = a;
  out[1] = multiply(add(ends, b), half);
  out[2] = multiply(subtract(ends, b), half);
  out[3] = c;
}

/// G g G' of a kernel, whose taps `load(tap)` gives.
template <class Load>
__attribute__((always_inline)) inline void store_kernel(const Load& load, float* to, int64_t part) {
  FloatVector rows[kTaps][kSide];
#pragma GCC unroll 3
  for (int j = 0; j < kTaps; ++j) turn_kernel(load(j), load(kTaps + j), load(2 * kTaps + j), rows[j]);
#pragma GCC unroll 4
  for (int i = 0; i < kSide; ++i) {
    FloatVector out[kSide];
    turn_kernel(rows[0][i], rows[1][i], rows[2][i], out);
#pragma GCC unroll 4
    for (int j = 0; j < kSide; ++j) store_floats(to + (kSide * i + j) * part, out[j]);
  }
}

/// A packed panel, turned.
void turn_panel(const float* packed, int64_t channels, float* to) {
  const int64_t tap = channels * kColumns, part = weight_part(channels);
  for (int64_t i = 0; i < tap; i += kFloatLanes)
    store_kernel([&](int t) { return load_floats(packed + t * tap + i); }, to + i, part);
}

void multiply_tiles(const WinogradProduct& product, int64_t first, int64_t last, int64_t first_panel,
                    int64_t last_panel, float* room_begin) {
  const ConvolutionProduct& p = product.convolution;
  const Room room(room_begin, p.in_channels, last - first);
  float* const turned_room = room_begin + room.size();
  TileWalk walk(product, first);
  for (int64_t t = 0; t < last - first; ++t, walk.next()) take_tile(p, walk.place(), room.at(t), room.part);
  for (int64_t panel = first_panel; panel < last_panel; ++panel) {
    const int64_t column = panel * kColumns, n = std::min(kColumns, p.out_channels - column);
    const float* weight = turned_room;
    if (product.turned)
      weight = p.weight + panel * kWinogradParts * weight_part(p.in_channels);
    else
      turn_panel(p.weight + column * kTaps * kTaps * p.in_channels, p.in_channels, turned_room);
    for (int64_t part = 0; part < kWinogradParts; ++part) {
      const float* b = weight + part * weight_part(p.in_channels);
      for (int64_t t = 0; t < last - first; t += kRows) {
        const int64_t rows = std::min<int64_t>(kRows, last - first - t);
        ProductOf::of[rows - 1](room.at(t) + part * room.part, room.row, b, p.in_channels,
                                room.sums + part * room.sum_part + t * kColumns);
      }
    }
    PlainPanel plain(product, column, n);
    TileWalk places(product, first);
    for (int64_t t = 0; t < last - first; ++t, places.next()) {
      const float* sums = room.sums + t * kColumns;
      bool good = give_vector(p, places.place(), sums, room.sum_part, column, std::min(n, kFloatLanes));
      if (n > kFloatLanes)
        good &=
            give_vector(p, places.place(), sums + kFloatLanes, room.sum_part, column + kFloatLanes, n - kFloatLanes);
      if (!good) plain.give_tile(places.place());
    }
  }
}

/// Kernels of some input channels, of as many output channels as there are lanes: [channel, tap].
constexpr int64_t kChannelsTogether = 4;
using KernelVectors = FloatVector[kChannelsTogether * kTaps * kTaps];

/// Of n input channels from `channel` on; `lines` has the output channels.
void load_kernels(const WinogradProduct& p, const float* const (&lines)[kFloatLanes], int64_t channel, int64_t n,
                  KernelVectors& to) {
  const int64_t* s = p.plain_strides;
  constexpr int64_t taps = kTaps * kTaps;
  FloatVector four[4];
  const bool dense_taps = s[3] == 1 && s[2] == kTaps && s[1] == taps;
  if (dense_taps) {  // all of them in a row
    for (int64_t e = 0; e < n * taps; e += 4) {
      const int64_t some = std::min<int64_t>(4, n * taps - e);
      turn_four(lines, channel * taps + e, some, four);
      for (int64_t i = 0; i < some; ++i) to[e + i] = four[i];
    }
    return;
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t at = tap / kTaps * s[2] + tap % kTaps * s[3];
    if (s[1] == 1) {
      const float* from[kFloatLanes];
      for (int64_t i = 0; i < kFloatLanes; ++i) from[i] = lines[i] + at;
      turn_four(from, channel, n, four);
      for (int64_t c = 0; c < n; ++c) to[c * taps + tap] = four[c];
      continue;
    }
    for (int64_t c = 0; c < n; ++c) {
      float some[kFloatLanes];
      for (int64_t i = 0; i < kFloatLanes; ++i) some[i] = lines[i][(channel + c) * s[1] + at];
      to[c * taps + tap] = load_floats(some);
    }
  }
}

/// G g G' of the kernels of panels. Lanes beyond the last channel have the last one's: they are never stored.
void turn_weights(const WinogradProduct& p, int64_t first_panel, int64_t last_panel, float* to) {
  const int64_t channels = p.convolution.in_channels, part = weight_part(channels);
  const int64_t last = p.convolution.out_channels - 1;
  for (int64_t column = first_panel * kColumns; column < last_panel * kColumns; column += kFloatLanes) {
    const float* lines[kFloatLanes];
    for (int64_t i = 0; i < kFloatLanes; ++i) lines[i] = p.plain + std::min(column + i, last) * p.plain_strides[0];
    float* panel = to + column / kColumns * kWinogradParts * part + column % kColumns;
    for (int64_t c = 0; c < channels; c += kChannelsTogether) {
      const int64_t n = std::min(kChannelsTogether, channels - c);
      KernelVectors kernels;
      load_kernels(p, lines, c, n, kernels);
      for (int64_t i = 0; i < n; ++i)
        store_kernel([&](int tap) { return kernels[i * kTaps * kTaps + tap]; }, panel + (c + i) * kColumns, part);
    }
  }
}

int64_t room_of(int64_t in_channels, int64_t tiles) { return Room(nullptr, in_channels, tiles).size(); }
int64_t panel_of(int64_t in_channels) { return kWinogradParts * weight_part(in_channels); }

constexpr WinogradKernels kKernels{kColumns, kRows, panel_of, room_of, multiply_tiles, turn_weights};

}  // namespace
}  // namespace strata::library
