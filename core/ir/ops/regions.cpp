// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// torchvision's operators on boxes and regions of images, which exported detectors hold: which boxes overlap no better
// one, and what features lie in a region. Kernels by hand: how many samples a region takes is told by its coordinates.

#include "core/ir/ops/regions.h"

#include <limits>
#include <numeric>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"
#include "core/support/index_error.h"

namespace strata::ops {
namespace {

// ----------------------------------------------------------------------------------------------------------- overlaps

void check_boxes(const Call& call) {
  const TensorType &boxes = tensor_type(call, 0), &scores = tensor_type(call, 1);
  const auto ranks = [&](const char* what, const TensorType& t, size_t rank) {
    if (t.shape.size() != rank)
      reject(call, std::string(what) + " should be a " + std::to_string(rank) + "d tensor, got " +
                       std::to_string(t.shape.size()) + "D");
  };
  ranks("boxes", boxes, 2);
  ranks("scores", scores, 1);
  require_equal(call, boxes.shape[1], 4, "elements of boxes in dimension 1 and 4");
  require_equal(call, boxes.shape[0], scores.shape[0], "numbers of boxes and scores");
  if (boxes.dtype != scores.dtype) reject(call, "dets should have the same type as scores");
  if (boxes.dtype != DType::F32 && boxes.dtype != DType::F64)
    reject(call, "expected boxes of type float32 or float64, found " + std::string(dtype_name(boxes.dtype)));
}

Type nms_order_type(const Call& call) {
  check_boxes(call);
  return tuple_like(call, {{DType::I64, {tensor_type(call, 1).shape[0]}}, {DType::I64, {}}});
}

/// Comparisons as torchvision makes them, on which it depends what NaN does.
template <class T>
std::vector<int64_t> boxes_kept(const std::vector<T>& boxes, const std::vector<T>& scores, double threshold) {
  std::vector<int64_t> order(scores.size()), kept;
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto score = [&](int64_t i) { return scores[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (std::isnan(score(a)) || std::isnan(score(b))) return std::isnan(score(a)) && !std::isnan(score(b));
    return score(a) > score(b);
  });
  const auto side = [&](int64_t box, size_t k) { return boxes[static_cast<size_t>(box) * 4 + k]; };
  const auto area = [&](int64_t i) { return (side(i, 2) - side(i, 0)) * (side(i, 3) - side(i, 1)); };
  std::vector<bool> dropped(scores.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    if (dropped[i]) continue;
    const int64_t a = order[i];
    kept.push_back(a);
    for (size_t j = i + 1; j < order.size(); ++j) {
      const int64_t b = order[j];
      const T w = std::max(T{0}, std::min(side(a, 2), side(b, 2)) - std::max(side(a, 0), side(b, 0)));
      const T h = std::max(T{0}, std::min(side(a, 3), side(b, 3)) - std::max(side(a, 1), side(b, 1)));
      const T both = w * h;
      if (static_cast<double>(both / (area(a) + area(b) - both)) > threshold) dropped[j] = true;
    }
  }
  return kept;
}

template <class T>
std::vector<T> elements(const Tensor& t) {
  const std::vector<double> values = t.values();
  return {values.begin(), values.end()};
}

RefValue nms_order_reference(const RefContext& c) {
  Tensor order = c.result(0), count = c.result(1);
  // In the declared type, whatever the interpreter keeps numbers in: an overlap is more than the threshold or not.
  const std::vector<int64_t> kept =
      tensor_type(c.call, 0).dtype == DType::F32
          ? boxes_kept(elements<float>(c.tensor(0)), elements<float>(c.tensor(1)), c.call.number(2))
          : boxes_kept(elements<double>(c.tensor(0)), elements<double>(c.tensor(1)), c.call.number(2));
  for (int64_t i = 0; i < order.numel(); ++i)
    order.set_int(i, i < static_cast<int64_t>(kept.size()) ? kept[static_cast<size_t>(i)] : 0);
  count.set_int(0, static_cast<int64_t>(kept.size()));
  return std::vector<RefValue>{order, count};
}

Type nms_type(const Call& call) {
  check_boxes(call);
  return result_like(call, DType::I64, {stated_size(call, 0, 0)});
}

std::vector<Node*> nms(Builder& b, const Call& c) {
  const SymInt count = stated_size(c, 0, 0);
  Node* found = b.call("strata.nms_order.default", {c.tensor(0), c.tensor(1), c.number(2)});
  read_size(b, b.getitem(found, 1), count);
  return {b.call("aten.slice.Tensor", {b.getitem(found, 0), 0, 0, integer(count)})};
}

// ------------------------------------------------------------------------------------------------------------ regions

/// `ByPlace`: each bin has channels of its own.
template <bool ByPlace>
Index regions_shape(const Call& call) {
  const TensorType &x = tensor_type(call, 0), &rois = tensor_type(call, 1);
  if (!is_floating(x.dtype)) reject(call, "expected floating-point features");
  if (x.dtype != rois.dtype) reject(call, "expected rois of the type of the features");
  if (x.shape.size() != 4) reject(call, "expected features of 4 dimensions");
  if (rois.shape.size() != 2) reject(call, "rois must have shape as Tensor[K, 5]");
  require_equal(call, rois.shape[1], 5, "size of rois in dimension 1 and 5");
  const SymInt high = call.integer(3), wide = call.integer(4);
  require_at_least(call, high, ByPlace ? 1 : 0, "pooled height");
  require_at_least(call, wide, ByPlace ? 1 : 0, "pooled width");
  SymInt channels = x.shape[1];
  if (ByPlace) {
    require_multiple(call, channels, high * wide, "input channels");
    channels = floordiv(channels, high * wide);
  }
  return {rois.shape[0], channels, high, wide};
}

template <bool ByPlace>
Type one_type(const Call& call) {
  return result_like(call, tensor_type(call, 0).dtype, regions_shape<ByPlace>(call));
}
template <bool ByPlace>
Type two_type(const Call& call) {
  const Index shape = regions_shape<ByPlace>(call);
  return tuple_like(call, {{tensor_type(call, 0).dtype, shape}, {DType::I32, shape}});
}

/// Calls `region(k, image, corners)` for each region; corners are x0, y0, x1, y1 in T.
template <class T, class F>
void for_regions(const RefContext& c, int64_t images, F region) {
  const Tensor rois = c.tensor(1).contiguous();
  for (int64_t k = 0; k < rois.shape[0]; ++k) {
    std::array<T, 4> corners{};
    for (size_t i = 0; i < 4; ++i) corners[i] = static_cast<T>(rois.at(k * 5 + 1 + static_cast<int64_t>(i)));
    const double number = rois.at(k * 5);
    const int64_t image = image_of(number, images);
    if (image < 0)
      throw IndexError("'" + c.call.node().name + "' (" + c.call.op().name + "): region " + std::to_string(k) +
                       " is of image " + std::to_string(number) + ", expected [0, " + std::to_string(images - 1) + "]");
    region(k, image, corners);
  }
}

/// Number of a bin among those of all channels of a result.
int64_t place_in(const std::vector<int64_t>& shape, int64_t k, int64_t channel, int64_t y, int64_t x) {
  return ((k * shape[1] + channel) * shape[2] + y) * shape[3] + x;
}

template <bool ByPlace>
RefValue align_reference(const RefContext& c) {
  const Tensor image = c.tensor(0).contiguous();
  Tensor out = c.result(0);
  const RegionCall call = region_call(c.call, [&](const SymInt& e) { return c.eval(e); });
  const int64_t height = image.shape[2], width = image.shape[3];
  std::vector<int64_t> channels(static_cast<size_t>(out.numel()), 0);
  with_work_type(image.dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      for_regions<T>(c, image.shape[0], [&](int64_t k, int64_t n, const std::array<T, 4>& at) {
        const RegionAxis<T> down = region_axis(call, at[1], at[3], call.high),
                            along = region_axis(call, at[0], at[2], call.wide);
        for (int64_t channel = 0; channel < out.shape[1]; ++channel)
          for (int64_t y = 0; y < call.high; ++y)
            for (int64_t x = 0; x < call.wide; ++x) {
              const int64_t from = ByPlace ? (channel * call.high + y) * call.wide + x : channel;
              const int64_t plane = (n * image.shape[1] + from) * height * width;
              double sum = 0;
              for (const Blend<T>& v : samples_of(down, y, height))
                for (const Blend<T>& h : samples_of(along, x, width))
                  for (const auto& [row, row_weight] : {std::pair(v.low, v.to_low), std::pair(v.high, v.to_high)})
                    for (const auto& [column, weight] : {std::pair(h.low, h.to_low), std::pair(h.high, h.to_high)})
                      sum += static_cast<double>(row_weight * weight) * image.at(plane + row * width + column);
              const int64_t place = place_in(out.shape, k, channel, y, x);
              out.set(place, sum / static_cast<double>(samples_in_bin(call, down, along)));
              channels[static_cast<size_t>(place)] = from;
            }
      });
  });
  if constexpr (!ByPlace) {
    return out;
  } else {
    Tensor mapping = c.result(1);
    for (int64_t i = 0; i < mapping.numel(); ++i) mapping.set_int(i, channels[static_cast<size_t>(i)]);
    return std::vector<RefValue>{out, mapping};
  }
}

/// The mean of a bin of its own channels, or the largest element and where it is.
template <bool ByPlace>
RefValue pool_reference(const RefContext& c) {
  const Tensor image = c.tensor(0).contiguous();
  Tensor out = c.result(0), second = c.result(1);
  const RegionCall call = region_call(c.call, [&](const SymInt& e) { return c.eval(e); });
  const int64_t height = image.shape[2], width = image.shape[3];
  with_work_type(image.dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      for_regions<T>(c, image.shape[0], [&](int64_t k, int64_t n, const std::array<T, 4>& at) {
        const PixelAxis<T> down = pixel_axis(call, at[1], at[3], call.high, !ByPlace),
                           along = pixel_axis(call, at[0], at[2], call.wide, !ByPlace);
        for (int64_t channel = 0; channel < out.shape[1]; ++channel)
          for (int64_t y = 0; y < call.high; ++y)
            for (int64_t x = 0; x < call.wide; ++x) {
              const int64_t from = ByPlace ? (channel * call.high + y) * call.wide + x : channel;
              const int64_t plane = (n * image.shape[1] + from) * height * width;
              // torchvision's means leave the last row and column out.
              const PixelSpan rows = span_of(down, y, height - ByPlace), columns = span_of(along, x, width - ByPlace);
              const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
              double sum = 0, most = empty ? 0 : -static_cast<double>(std::numeric_limits<float>::max());
              int64_t where = -1;
              for (int64_t row = rows.begin; row < rows.end; ++row)
                for (int64_t column = columns.begin; column < columns.end; ++column) {
                  const double value = image.at(plane + row * width + column);
                  sum += value;
                  if (!(value > most)) continue;
                  most = value;
                  where = row * width + column;
                }
              const auto pixels = static_cast<double>((rows.end - rows.begin) * (columns.end - columns.begin));
              const int64_t place = place_in(out.shape, k, channel, y, x);
              out.set(place, !ByPlace ? most : empty ? 0 : sum / pixels);
              second.set_int(place, ByPlace ? from : where);
            }
      });
  });
  return std::vector<RefValue>{out, second};
}

OpDef of_kernel(const std::string& schema, ShapeRule type, Reference reference, KernelRule kernel, const char* doc) {
  return OpDef(schema, OpClass::Indexing, 0, Promotion::None, type, reference, nullptr, NoGradient::Pending, kernel, "",
               doc);
}

}  // namespace

Rows regions() {
  const std::string bins = "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width";
  Rows r;
  r.push_back(
      OpDef("strata::nms_order(Tensor dets, Tensor scores, float iou_threshold) -> (Tensor order, Tensor count)",
            OpClass::Indexing, 0, Promotion::None, nms_order_type, nms_order_reference, nullptr,
            NoGradient::Nondifferentiable, KernelRule{"nms"}, "",
            "boxes that overlap no better one, best first, and how many"));
  r.push_back(OpDef("torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", OpClass::Compound,
                    trait::DataDependent, Promotion::None, nms_type, nullptr, nms, NoGradient::Pending, NoLowering{},
                    "", "boxes that overlap no better one, best first"));
  r.push_back(of_kernel("torchvision::roi_align" + bins + ", int sampling_ratio, bool aligned) -> Tensor",
                        one_type<false>, align_reference<false>, {"roi_align"}, "means of samples in bins of regions"));
  r.push_back(of_kernel("torchvision::ps_roi_align" + bins + ", int sampling_ratio) -> (Tensor, Tensor)",
                        two_type<true>, align_reference<true>, {"ps_roi_align"},
                        "means of samples in bins of regions, each of channels of its own"));
  r.push_back(of_kernel("torchvision::roi_pool" + bins + ") -> (Tensor, Tensor)", two_type<false>,
                        pool_reference<false>, {"roi_pool"}, "largest elements in bins of regions"));
  r.push_back(of_kernel("torchvision::ps_roi_pool" + bins + ") -> (Tensor, Tensor)", two_type<true>,
                        pool_reference<true>, {"ps_roi_pool"},
                        "means of elements in bins of regions, each of channels of its own"));
  return r;
}

}  // namespace strata::ops
