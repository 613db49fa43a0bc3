// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which boxes overlap no better one, and what lies in regions of images. A thread takes a region and some channels:
// where its samples lie and what they weigh is the same for all of them.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "codegen/native/lines.h"
#include "codegen/native/strided.h"
#include "core/ir/ops/regions.h"
#include "core/runtime/parallel.h"
#include "core/support/vector_clones.h"

namespace strata::native {
namespace {

// ----------------------------------------------------------------------------------------------------------- overlaps

/// The largest T that is at most `x`: more than the one is more than the other.
template <class T>
T not_above(double x) {
  const T rounded = static_cast<T>(x);
  return static_cast<double>(rounded) > x ? std::nextafter(rounded, -std::numeric_limits<T>::infinity()) : rounded;
}

/// Boxes from the best to the worst, side by side.
template <class T>
struct SortedBoxes {
  std::vector<int64_t> order;
  std::array<std::vector<T>, 4> side;
  std::vector<T> area;

  SortedBoxes(const Tensor& boxes, const Tensor& scores) : order(static_cast<size_t>(scores.shape[0])) {
    std::iota(order.begin(), order.end(), int64_t{0});
    const T* const s = scores.ptr<const T>();
    std::stable_sort(order.begin(), order.end(), [s](int64_t a, int64_t b) {
      if (s[a] != s[a] || s[b] != s[b]) return s[a] != s[a] && s[b] == s[b];  // NaN is the best
      return s[a] > s[b];
    });
    const T* const from = boxes.ptr<const T>();
    for (size_t k = 0; k < 4; ++k)
      for (const int64_t i : order) side[k].push_back(from[i * 4 + static_cast<int64_t>(k)]);
    for (size_t i = 0; i < order.size(); ++i) area.push_back((side[2][i] - side[0][i]) * (side[3][i] - side[1][i]));
  }
};

/// Marks those after `i` that overlap it by more than `most`. NaN compares as in torchvision's std::max and std::min.
template <class T>
STRATA_ALWAYS_INLINE inline void mark_overlaps(const SortedBoxes<T>& boxes, size_t i, T most, uint8_t* dropped) {
  const T *const left = boxes.side[0].data(), *const top = boxes.side[1].data(), *const right = boxes.side[2].data(),
                 *const bottom = boxes.side[3].data(), *const areas = boxes.area.data();
  const T x0 = left[i], y0 = top[i], x1 = right[i], y1 = bottom[i], own = areas[i];
  const auto count = static_cast<int64_t>(boxes.order.size());
  STRATA_SIMD()
  for (int64_t j = static_cast<int64_t>(i) + 1; j < count; ++j) {
    const T w = std::max(T{0}, std::min(x1, right[j]) - std::max(x0, left[j]));
    const T h = std::max(T{0}, std::min(y1, bottom[j]) - std::max(y0, top[j]));
    const T both = w * h;
    dropped[j] = both / (own + areas[j] - both) > most ? 1 : dropped[j];
  }
}
STRATA_VECTOR_CLONES void drop_overlaps(const SortedBoxes<float>& boxes, size_t i, float most, uint8_t* dropped) {
  mark_overlaps(boxes, i, most, dropped);
}
STRATA_VECTOR_CLONES void drop_overlaps(const SortedBoxes<double>& boxes, size_t i, double most, uint8_t* dropped) {
  mark_overlaps(boxes, i, most, dropped);
}

template <class T>
void keep_boxes(const Arguments& a) {
  const SortedBoxes<T> boxes(as_rows(a.tensor(0)), as_rows(a.tensor(1)));
  const T most = not_above<T>(a.call.number(2));
  std::vector<uint8_t> dropped(boxes.order.size(), 0);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i]) continue;
    kept.push_back(boxes.order[i]);
    drop_overlaps(boxes, i, most, dropped.data());
  }
  if (a.result(1).defined()) *a.result(1).ptr<int64_t>() = static_cast<int64_t>(kept.size());
  if (!a.result(0).defined()) return;
  kept.resize(dropped.size(), 0);
  std::copy(kept.begin(), kept.end(), a.result(0).ptr<int64_t>());
}

void nms(const Arguments& a) {
  if (a.tensor(0).dtype == DType::F64)
    keep_boxes<double>(a);
  else
    keep_boxes<float>(a);
}

// ------------------------------------------------------------------------------------------------------------ regions

constexpr int64_t kChannels = 64;  ///< of a piece of work

/// A region and the channels that one thread takes of it.
template <class T>
struct Piece {
  int64_t region, first, last;      ///< channels [first, last) of the result
  std::array<WorkType<T>, 4> at{};  ///< x0, y0, x1, y1
  const T* image;                   ///< its first element
};

/// Features, regions, and results of a call.
template <class T>
struct Regions {
  /// `features` as they lie.
  Regions(const Arguments& arguments, Tensor features)
      : a(arguments),
        call(ops::region_call(a.call, [this](const SymInt& e) { return a.eval(e); })),
        x(std::move(features)),
        rois(as_rows(a.tensor(1))),
        out(a.result(0).defined() ? a.result(0) : a.result(1)),
        height(x.shape[2]),
        width(x.shape[3]),
        values(memory_of<T>(0)),
        second(memory_of<int32_t>(1)) {}

  /// `work(piece)` on several threads. Refuses regions of images that are not there before any.
  template <class F>
  void each(F work) const {
    const auto* const rows = rois.template ptr<const T>();
    std::vector<int64_t> images;
    for (int64_t k = 0; k < rois.shape[0]; ++k) {
      const WorkType<T> number = work_value(rows[k * 5]);
      images.push_back(ops::image_of(number, x.shape[0]));
      if (images.back() < 0)
        refuse(a.call, "region " + std::to_string(k) + " is of image " + std::to_string(number) + ", expected [0, " +
                           std::to_string(x.shape[0] - 1) + "]");
    }
    const int64_t channels = out.shape[1], parts = (channels + kChannels - 1) / kChannels;
    parallel_for(rois.shape[0] * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t k = i / parts, first = i % parts * kChannels;
        Piece<T> piece{k, first, std::min(first + kChannels, channels), {}, nullptr};
        for (size_t c = 0; c < 4; ++c) piece.at[c] = work_value(rows[k * 5 + 1 + static_cast<int64_t>(c)]);
        piece.image = x.template ptr<const T>() + images[static_cast<size_t>(k)] * x.strides[0];
        work(piece);
      }
    });
  }

  int64_t bins() const { return call.high * call.wide; }
  /// Number of the first bin of a channel.
  int64_t place(const Piece<T>& p, int64_t channel) const { return (p.region * out.shape[1] + channel) * bins(); }

  const Arguments& a;
  const ops::RegionCall call;
  const Tensor x, rois;
  const Tensor& out;  ///< one of the results
  const int64_t height, width;
  T* const values;  ///< null when nobody reads them
  int32_t* const second;

 private:
  template <class E>
  E* memory_of(size_t k) const {
    return a.call.op().schema.returns.size() > k && a.result(k).defined() ? a.result(k).template ptr<E>() : nullptr;
  }
};

/// What a bin reads of a plane: where, and with which weight.
template <class W>
struct Samples {
  std::vector<std::pair<int64_t, W>> of;
  std::vector<size_t> end;  ///< per bin
  W count = 1;

  template <class T>
  Samples(const Regions<T>& r, const Piece<T>& p) {
    const ops::RegionAxis<W> down = ops::region_axis(r.call, p.at[1], p.at[3], r.call.high),
                             along = ops::region_axis(r.call, p.at[0], p.at[2], r.call.wide);
    count = ops::samples_in_bin(r.call, down, along);
    const int64_t to_row = r.x.strides[2], to_column = r.x.strides[3];
    std::vector<std::vector<ops::Blend<W>>> columns;
    for (int64_t x = 0; x < r.call.wide; ++x) columns.push_back(ops::samples_of(along, x, r.width));
    for (int64_t y = 0; y < r.call.high; ++y) {
      const std::vector<ops::Blend<W>> rows = ops::samples_of(down, y, r.height);
      for (const auto& bin : columns) {
        for (const ops::Blend<W>& v : rows)
          for (const ops::Blend<W>& h : bin) {
            of.emplace_back(v.low * to_row + h.low * to_column, v.to_low * h.to_low);
            of.emplace_back(v.low * to_row + h.high * to_column, v.to_low * h.to_high);
            of.emplace_back(v.high * to_row + h.low * to_column, v.to_high * h.to_low);
            of.emplace_back(v.high * to_row + h.high * to_column, v.to_high * h.to_high);
          }
        end.push_back(of.size());
      }
    }
  }
};

/// Adds up samples of channels that lie side by side.
template <class T>
STRATA_ALWAYS_INLINE inline void add_samples(const T* image, const std::pair<int64_t, WorkType<T>>* samples,
                                             size_t count, int64_t channels, WorkType<T>* sums) {
  for (size_t s = 0; s < count; ++s) {
    const T* const from = image + samples[s].first;
    const WorkType<T> weight = samples[s].second;
    STRATA_SIMD()
    for (int64_t c = 0; c < channels; ++c) sums[c] += weight * work_value(from[c]);
  }
}
STRATA_VECTOR_CLONES void blend(const float* image, const std::pair<int64_t, float>* samples, size_t count,
                                int64_t channels, float* sums) {
  add_samples(image, samples, count, channels, sums);
}
STRATA_VECTOR_CLONES void blend(const double* image, const std::pair<int64_t, double>* samples, size_t count,
                                int64_t channels, double* sums) {
  add_samples(image, samples, count, channels, sums);
}
STRATA_VECTOR_CLONES void blend(const Half* image, const std::pair<int64_t, float>* samples, size_t count,
                                int64_t channels, float* sums) {
  add_samples(image, samples, count, channels, sums);
}
STRATA_VECTOR_CLONES void blend(const BFloat16* image, const std::pair<int64_t, float>* samples, size_t count,
                                int64_t channels, float* sums) {
  add_samples(image, samples, count, channels, sums);
}

/// All channels of a bin at once, where they lie side by side.
template <class T>
void align_channels(const Regions<T>& r, const Piece<T>& p, const Samples<WorkType<T>>& samples) {
  using W = WorkType<T>;
  const int64_t count = p.last - p.first;
  size_t begin = 0;
  for (int64_t bin = 0; bin < r.bins(); ++bin) {
    std::array<W, kChannels> sums{};
    const size_t end = samples.end[static_cast<size_t>(bin)];
    blend(p.image + p.first, samples.of.data() + begin, end - begin, count, sums.data());
    begin = end;
    T* const to = r.values + r.place(p, p.first) + bin;
    for (int64_t c = 0; c < count; ++c)
      to[c * r.bins()] = stored_value<T>(sums[static_cast<size_t>(c)] / samples.count);
  }
}

/// The features as they lie, or with their channels side by side where more is read than that copies.
template <bool ByPlace>
Tensor features(const Arguments& a) {
  Tensor x = a.tensor(0);
  const std::vector<int64_t>& bins = (a.result(0).defined() ? a.result(0) : a.result(1)).shape;
  const int64_t along = ByPlace ? 0 : std::max<int64_t>(a.integer(5), 1);
  const double reads = 4.0 * static_cast<double>(bins[0] * bins[2] * bins[3]) * static_cast<double>(along * along);
  if (x.strides[1] == 1 || reads < 2.0 * static_cast<double>(x.shape[0] * x.shape[2] * x.shape[3])) return x;
  const auto turned = [](const std::vector<int64_t>& v) { return std::vector<int64_t>{v[0], v[2], v[3], v[1]}; };
  const Tensor rows = as_rows(Tensor{x.dtype, turned(x.shape), turned(x.strides), x.offset, x.storage});
  x.strides = {rows.strides[0], rows.strides[3], rows.strides[1], rows.strides[2]};
  x.offset = rows.offset;
  x.storage = rows.storage;
  return x;
}

/// `ByPlace`: each bin has channels of its own.
template <bool ByPlace>
void align(const Arguments& a) {
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      throw_internal("regions of " + std::string(dtype_name(a.tensor(0).dtype)));
    } else {
      const Regions<T> r(a, features<ByPlace>(a));
      r.each([&](const Piece<T>& p) {
        using W = WorkType<T>;
        const Samples<W> samples(r, p);
        if (!ByPlace && r.x.strides[1] == 1) return align_channels(r, p, samples);
        for (int64_t c = p.first; c < p.last; ++c) {
          size_t s = 0;
          for (int64_t bin = 0; bin < r.bins(); ++bin) {
            const int64_t from = ByPlace ? c * r.bins() + bin : c;
            const T* const plane = p.image + from * r.x.strides[1];
            W sum = 0;
            for (; s < samples.end[static_cast<size_t>(bin)]; ++s)
              sum += samples.of[s].second * work_value(plane[samples.of[s].first]);
            if (r.values) r.values[r.place(p, c) + bin] = stored_value<T>(sum / samples.count);
            if constexpr (ByPlace)
              if (r.second) r.second[r.place(p, c) + bin] = static_cast<int32_t>(from);
          }
        }
      });
    }
  });
}

/// The largest of some pixels and its place in the plane, and their mean.
template <class W>
struct Pooled {
  W most = 0, mean = 0;
  int64_t where = -1;

  template <class T>
  Pooled(const Regions<T>& r, const T* plane, const ops::PixelSpan& rows, const ops::PixelSpan& columns) {
    if (rows.begin >= rows.end || columns.begin >= columns.end) return;
    most = -static_cast<W>(std::numeric_limits<float>::max());  // what torchvision begins with
    for (int64_t row = rows.begin; row < rows.end; ++row)
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const W value = work_value(plane[row * r.x.strides[2] + column * r.x.strides[3]]);
        mean += value;
        if (!(value > most)) continue;
        most = value;
        where = row * r.width + column;
      }
    mean /= static_cast<W>((rows.end - rows.begin) * (columns.end - columns.begin));
  }
};

template <bool ByPlace>
void pool(const Arguments& a) {
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      throw_internal("regions of " + std::string(dtype_name(a.tensor(0).dtype)));
    } else {
      const Regions<T> r(a, a.tensor(0));
      r.each([&](const Piece<T>& p) {
        using W = WorkType<T>;
        const ops::PixelAxis<W> down = ops::pixel_axis(r.call, p.at[1], p.at[3], r.call.high, !ByPlace),
                                along = ops::pixel_axis(r.call, p.at[0], p.at[2], r.call.wide, !ByPlace);
        for (int64_t c = p.first; c < p.last; ++c)
          for (int64_t bin = 0; bin < r.bins(); ++bin) {
            const int64_t from = ByPlace ? c * r.bins() + bin : c;
            // torchvision's means leave the last row and column out.
            const Pooled<W> pooled(r, p.image + from * r.x.strides[1],
                                   ops::span_of(down, bin / r.call.wide, r.height - ByPlace),
                                   ops::span_of(along, bin % r.call.wide, r.width - ByPlace));
            const int64_t place = r.place(p, c) + bin;
            if (r.values) r.values[place] = stored_value<T>(ByPlace ? pooled.mean : pooled.most);
            if (r.second) r.second[place] = static_cast<int32_t>(ByPlace ? from : pooled.where);
          }
      });
    }
  });
}

constexpr std::array kEntries{Entry{"nms", nms}, Entry{"roi_align", align<false>}, Entry{"ps_roi_align", align<true>},
                              Entry{"roi_pool", pool<false>}, Entry{"ps_roi_pool", pool<true>}};

}  // namespace

std::span<const Entry> regions() { return kEntries; }

}  // namespace strata::native
