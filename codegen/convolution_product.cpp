// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/convolution_product.h"

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

constexpr int kPlaces = 6;       // of a tile: 12 sums, a line of the panel and an element of a place in 16 registers
constexpr int64_t kDepth = 336;  // at most, of a piece of a panel: the first-level cache holds it and what a tile reads
constexpr int64_t kTiles = kPlacesAtOnce / kPlaces;
constexpr int64_t kFewestChannels = 8;
constexpr int64_t kMostTaps = kDepth / kFewestChannels;  // of a piece

/// What a tile reads for one tap: places beyond the edges are zeros.
struct Tap {
  const float* places[kPlaces];
  int64_t weight;  ///< where its part of the piece begins
};

/// All that it reads of a piece.
struct TileTaps {
  Tap taps[kMostTaps];
  int64_t count;
  int64_t pitch;  ///< not 0: places lie so far apart, and only the first of them is set
};

alignas(64) constexpr float kZeros[kDepth] = {};

/// What becomes of sums over a piece.
struct Ending {
  float* out;
  int64_t stride;
  const float* bias;  ///< null where the result is added to, or where there is none
  /// Null before the last piece, or where there is none; `added` from where the tile begins.
  const float *scale, *shift, *added;
  bool adds, relu;
};

inline void finish(const Ending& e, int place, int64_t column, int64_t n, __m256 x) {
  const int64_t at = place * e.stride + column;
  if (e.bias) x = add(x, load_floats(e.bias + column, n));
  if (e.adds) x = add(x, load_floats(e.out + at, n));
  if (e.scale) x = multiply(x, load_floats(e.scale + column, n));
  if (e.shift) x = add(x, load_floats(e.shift + column, n));
  if (e.added) x = add(x, load_floats(e.added + at, n));
  if (e.relu) x = not_negative(x);
  store_floats(e.out + at, x, n);
}

/// P places by one panel, over `depth` channels of each tap.
template <int P>
void tile(const TileTaps& taps, int64_t depth, const float* weight, int64_t n, const Ending& e) {
  __m256 sum[P][2];
#pragma GCC unroll 6
  for (auto& s : sum) s[0] = s[1] = __m256{};
  for (const Tap* tap = taps.taps; tap != taps.taps + taps.count; ++tap) {
    const float* a[P];
#pragma GCC unroll 6
    for (int p = 0; p < P; ++p) a[p] = taps.pitch ? tap->places[0] + p * taps.pitch : tap->places[p];
    const float* b = weight + tap->weight;
#pragma GCC unroll 2
    for (int64_t k = 0; k < depth; ++k, b += kPanelColumns) {
      const __m256 low = load_floats(b), high = load_floats(b + kFloatLanes);
#pragma GCC unroll 6
      for (int p = 0; p < P; ++p) {
        const __m256 x = all_lanes(a[p][k]);
        sum[p][0] = multiply_add(x, low, sum[p][0]);
        sum[p][1] = multiply_add(x, high, sum[p][1]);
      }
    }
  }
#pragma GCC unroll 6
  for (int p = 0; p < P; ++p) {
    finish(e, p, 0, n, sum[p][0]);
    if (n > kFloatLanes) finish(e, p, kFloatLanes, n - kFloatLanes, sum[p][1]);
  }
}

using Tile = void (*)(const TileTaps&, int64_t, const float*, int64_t, const Ending&);
constexpr Tile kTileOf[kPlaces] = {tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>};

/// Taps [first, last), and of each the channels [channel, channel + channels).
struct Piece {
  int64_t first, last, channel, channels;
};

/// The next piece, of about as many channels in all as the others, or one without taps at the end.
class Pieces {
 public:
  explicit Pieces(const ConvolutionProduct& p) : taps_(p.kernel[0] * p.kernel[1]), channels_(p.in_channels) {
    const int64_t most = std::clamp<int64_t>(kDepth / channels_, 1, std::min(taps_, kMostTaps));
    each_ = even_part(taps_, most);
    width_ = even_part(channels_, kDepth);
  }
  Piece next() {
    const Piece piece{tap_, std::min(tap_ + each_, taps_), channel_, std::min(width_, channels_ - channel_)};
    channel_ += width_;
    if (channel_ >= channels_) channel_ = 0, tap_ += each_;
    return piece;
  }

 private:
  static int64_t even_part(int64_t n, int64_t most) {
    const int64_t parts = (n + most - 1) / most;
    return (n + parts - 1) / parts;
  }
  int64_t taps_, channels_, each_, width_;
  int64_t tap_ = 0, channel_ = 0;
};

/// Where a place's first tap reads: element (y, x) of an image, which may lie beyond its edges.
struct Corner {
  const float* image;
  int64_t y, x;
  bool inside;  ///< all taps lie within the edges
};

void find_corners(const ConvolutionProduct& p, int64_t first, int64_t count, Corner* corners) {
  int64_t column = first % p.out_size[1], row = first / p.out_size[1] % p.out_size[0];
  const float* image = p.in + first / p.out_size[1] / p.out_size[0] * p.in_image;
  const auto is_inside = [&](size_t d, int64_t at) {
    return at >= 0 && at + (p.kernel[d] - 1) * p.dilation[d] < p.in_size[d];
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t y = row * p.stride[0] - p.padding[0], x = column * p.stride[1] - p.padding[1];
    corners[i] = {image, y, x, is_inside(0, y) && is_inside(1, x)};
    if (++column < p.out_size[1]) continue;
    column = 0;
    if (++row < p.out_size[0]) continue;
    row = 0;
    image += p.in_image;
  }
}

/// The taps of a piece that some of `count` places read within the edges.
void find_taps(const ConvolutionProduct& p, const Piece& piece, const Corner* corners, int64_t count, TileTaps& out) {
  const int64_t weights = p.in_channels * kPanelColumns;
  const auto offset = [&](int64_t y, int64_t x) { return y * p.in_row + x * p.in_place + piece.channel; };
  const Corner &first = corners[0], &last = corners[count - 1];
  const int64_t pitch = p.stride[1] * p.in_place;
  const bool in_a_row = pitch != 0 && first.image == last.image && first.y == last.y && first.inside && last.inside;
  out.pitch = in_a_row ? pitch : 0;
  Tap* next = out.taps;
  int64_t row = piece.first / p.kernel[1], column = piece.first % p.kernel[1];
  for (int64_t t = 0; t < piece.last - piece.first; ++t) {
    const int64_t dy = row * p.dilation[0], dx = column * p.dilation[1];
    next->weight = t * weights;
    if (in_a_row) {
      next++->places[0] = first.image + offset(first.y + dy, first.x + dx);
    } else {
      bool any = false;
      for (int64_t i = 0; i < kPlaces; ++i) {
        const Corner& c = corners[std::min(i, count - 1)];
        const int64_t y = c.y + dy, x = c.x + dx;
        const bool inside = y >= 0 && y < p.in_size[0] && x >= 0 && x < p.in_size[1];
        any = any || inside;
        next->places[i] = inside ? c.image + offset(y, x) : kZeros;
      }
      if (any) ++next;
    }
    if (++column == p.kernel[1]) column = 0, ++row;
  }
  out.count = next - out.taps;
}

void multiply(const ConvolutionProduct& p, int64_t first, int64_t last, int64_t first_panel, int64_t last_panel) {
  const int64_t all_taps = p.kernel[0] * p.kernel[1], panel_size = all_taps * p.in_channels * kPanelColumns;
  Corner corners[kPlacesAtOnce];
  TileTaps taps[kTiles];
  for (int64_t from = first; from < last; from += kPlacesAtOnce) {
    const int64_t places = std::min(kPlacesAtOnce, last - from), tiles = (places + kPlaces - 1) / kPlaces;
    find_corners(p, from, places, corners);
    Pieces pieces(p);
    bool adds = false;
    for (Piece piece = pieces.next(), next; piece.first < all_taps; piece = next, adds = true) {
      next = pieces.next();
      const bool ends = next.first >= all_taps;
      for (int64_t t = 0; t < tiles; ++t)
        find_taps(p, piece, corners + t * kPlaces, std::min<int64_t>(kPlaces, places - t * kPlaces), taps[t]);
      for (int64_t panel = first_panel; panel < last_panel; ++panel) {
        const int64_t column = panel * kPanelColumns, n = std::min(kPanelColumns, p.out_channels - column);
        const float* weight =
            p.weight + panel * panel_size + (piece.first * p.in_channels + piece.channel) * kPanelColumns;
        const auto part_of = [&](bool is_now, const float* x) { return is_now && x ? x + column : nullptr; };
        Ending e{nullptr, p.out_place, part_of(!adds, p.bias), part_of(ends, p.scale), part_of(ends, p.shift),
                 nullptr, adds,        ends && p.relu};
        for (int64_t t = 0; t < tiles; ++t) {
          const int64_t at = (from + t * kPlaces) * p.out_place + column;
          e.out = p.out + at;
          e.added = ends && p.added ? p.added + at : nullptr;
          const int64_t count = std::min<int64_t>(kPlaces, places - t * kPlaces);
          kTileOf[count - 1](taps[t], piece.channels, weight, n, e);
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

void convolution_product(const ConvolutionProduct& product, int64_t first, int64_t last, int64_t first_panel,
                         int64_t last_panel) {
  multiply(product, first, last, first_panel, last_panel);
}

}  // namespace strata::library

#else

namespace strata::library {

void convolution_product(const ConvolutionProduct&, int64_t, int64_t, int64_t, int64_t) {
  throw_internal("no AVX2 on this processor");
}

}  // namespace strata::library
#endif
