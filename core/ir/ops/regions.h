// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Regions of images as torchvision's operators take them: rows (image, x0, y0, x1, y1), which are scaled and divided
/// into `high` by `wide` bins. Positions are computed in T, the type of the elements (float32 for 16-bit floats), so
/// that as many samples and the same pixels come out as there.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/ir/op.h"

namespace strata::ops {

/// What the parameters say that are not tensors.
struct RegionCall {
  double scale = 1;             ///< from coordinates of regions to pixels
  int64_t high = 1, wide = 1;   ///< bins
  int64_t samples = 0;          ///< of a bin along each dimension; 0 and less: one per pixel, rounded up
  double offset = 0;            ///< subtracted from scaled coordinates
  bool at_least_one = false;    ///< regions are at least one pixel wide
  bool counts_at_least = true;  ///< a bin without samples is 0, not NaN
};

/// One dimension of a region.
template <class T>
struct RegionAxis {
  T start = 0, bin = 0;  ///< where it begins, and the size of a bin, in pixels
  int64_t samples = 0;   ///< of a bin; none if negative, as where corners change places
};

template <class T>
RegionAxis<T> region_axis(const RegionCall& call, T from, T to, int64_t bins) {
  const T scale = static_cast<T>(call.scale), offset = static_cast<T>(call.offset);
  RegionAxis<T> axis;
  axis.start = from * scale - offset;
  T size = (to * scale - offset) - axis.start;
  if (call.at_least_one) size = std::max(size, T{1});
  axis.bin = size / static_cast<T>(bins);
  if (call.samples > 0)
    axis.samples = call.samples;
  else if (const T pixels = std::ceil(axis.bin); pixels == pixels)
    axis.samples = static_cast<int64_t>(std::clamp(pixels, T{-0x40000000}, T{0x40000000}));
  return axis;
}

/// Two neighbours that a sample blends.
template <class T>
struct Blend {
  int64_t low = 0, high = 0;  ///< pixels
  T to_low = 0, to_high = 0;  ///< their weights
};

/// The samples of bin `bin` that lie in an image of `size` pixels or at most one pixel outside: others are 0.
template <class T>
std::vector<Blend<T>> samples_of(const RegionAxis<T>& axis, int64_t bin, int64_t size) {
  std::vector<Blend<T>> blends;
  const T begin = axis.start + static_cast<T>(bin) * axis.bin, count = static_cast<T>(axis.samples);
  // Which of them may lie there: a region may be far larger than the image.
  const double step = static_cast<double>(axis.bin) / static_cast<double>(axis.samples);
  double first = 0, last = static_cast<double>(axis.samples);
  if (step > 0) {
    first = std::max(first, std::floor((-1 - static_cast<double>(begin)) / step) - 2);
    last = std::min(last, std::ceil((static_cast<double>(size - begin)) / step) + 2);
  }
  if (size < 1 || !std::isfinite(step) || !(first < last)) return blends;
  for (auto i = static_cast<int64_t>(first); i < static_cast<int64_t>(last); ++i) {
    T at = begin + (static_cast<T>(i) + T{0.5}) * axis.bin / count;
    if (!(at >= -1 && at <= static_cast<T>(size))) continue;
    at = std::max(at, T{0});
    Blend<T> blend;
    blend.low = static_cast<int64_t>(at);
    if (blend.low >= size - 1) {
      blend.low = blend.high = size - 1;
      at = static_cast<T>(blend.low);
    } else {
      blend.high = blend.low + 1;
    }
    blend.to_high = at - static_cast<T>(blend.low);
    blend.to_low = 1 - blend.to_high;
    blends.push_back(blend);
  }
  return blends;
}

/// What the samples of a bin are divided by.
template <class T>
T samples_in_bin(const RegionCall& call, const RegionAxis<T>& y, const RegionAxis<T>& x) {
  const double count = static_cast<double>(y.samples) * static_cast<double>(x.samples);
  return static_cast<T>(call.counts_at_least ? std::max(count, 1.0) : count);
}

/// Whole pixels of a bin: [begin, end).
struct PixelSpan {
  int64_t begin = 0, end = 0;
};

/// One dimension of a region whose coordinates are rounded to pixels.
template <class T>
struct PixelAxis {
  int64_t start = 0;
  T bin = 0;
};

/// `last_counts`: the pixel where the region ends is of the region.
template <class T>
PixelAxis<T> pixel_axis(const RegionCall& call, T from, T to, int64_t bins, bool last_counts) {
  const auto pixel = [&](T x) {
    const T at = std::round(x * static_cast<T>(call.scale));
    return at > -T{0x40000000} && at < T{0x40000000} ? static_cast<int64_t>(at) : at > 0 ? 0x40000000 : -0x40000000;
  };
  const int64_t start = pixel(from);
  const int64_t size = std::max<int64_t>(pixel(to) - start + (last_counts ? 1 : 0), 1);
  return {start, static_cast<T>(size) / static_cast<T>(bins)};
}

/// The pixels of a bin among the first `size`.
template <class T>
PixelSpan span_of(const PixelAxis<T>& axis, int64_t bin, int64_t size) {
  const auto within = [&](T x) { return std::clamp<int64_t>(static_cast<int64_t>(x) + axis.start, 0, size); };
  return {within(std::floor(static_cast<T>(bin) * axis.bin)), within(std::ceil(static_cast<T>(bin + 1) * axis.bin))};
}

/// The parameters of a call of `roi_align`, `ps_roi_align`, `roi_pool` or `ps_roi_pool`; `eval` for its sizes.
template <class Eval>
RegionCall region_call(const Call& call, Eval eval) {
  RegionCall r;
  r.scale = call.number(2);
  r.high = eval(call.integer(3));
  r.wide = eval(call.integer(4));
  const auto& params = call.op().schema.params;
  const bool samples = params.size() > 5, whole = params.size() > 6;  // `sampling_ratio`, `aligned`
  if (samples) r.samples = eval(call.integer(5));
  const bool aligned = whole ? call.boolean(6) : samples;
  r.offset = aligned ? 0.5 : 0;
  r.at_least_one = !aligned;
  r.counts_at_least = whole;
  return r;
}

/// The image that a region lies in, or -1 where there is none of that number.
template <class T>
int64_t image_of(T number, int64_t images) {
  if (!(number > -1 && number < static_cast<T>(images))) return -1;
  const auto image = static_cast<int64_t>(number);
  return image < images ? image : -1;
}

}  // namespace strata::ops
