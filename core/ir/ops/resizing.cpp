// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Interpolation to another size by taps: along one dimension after the other, each element of the result is a sum of a
// few elements with weights that depend on where it lies. Nearest (also "exact"), linear and cubic kernels take 1, 2
// and 4 elements; with antialiasing, kernels are as much wider as the result is smaller.
//
// Positions and weights follow PyTorch's `UpSample.h` and `UpSampleKernel.cpp`, in the type that the sums are taken in.

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;

enum class Kernel : uint8_t { Nearest, NearestExact, Linear, Cubic };

/// How one dimension is resized.
struct Resize {
  SymInt in, out;
  bool align_corners = false;
  std::optional<double> factor;  ///< given by the caller in place of the sizes
};

/// Where the elements of the result take theirs: [out * taps] indices, [out, taps] weights (none: all are 1), and which
/// of them count (none: all).
struct Taps {
  int64_t count;
  Node *indices, *weights = nullptr, *counted = nullptr;
};

class Resampler {
 public:
  /// Positions of nearest elements are float32 for every type.
  Resampler(Builder& b, const Call& c, bool nearest)
      : b_(b), like_(c.tensor(0)), type_(nearest ? DType::F32 : compute_dtype(c.type(0).dtype)) {}

  /// `x` resized along a dimension.
  Node* along(Node* x, size_t dim, Kernel kernel, const Resize& r, bool antialias) {
    const Taps taps = antialias ? wide_taps(kernel, r) : taps_of(kernel, r);
    const Shape before = x->tensor().shape;
    Node* taken = b_.call("aten.index_select.default", {x, static_cast<int64_t>(dim), taps.indices});
    if (!taps.weights) return taken;
    Shape split = before, line(before.size() + 1, SymInt(1));
    split[dim] = line[dim] = r.out;
    split.insert(split.begin() + static_cast<ptrdiff_t>(dim) + 1, SymInt(taps.count));
    line[dim + 1] = SymInt(taps.count);
    Node* terms = b_.mul(b_.reshape(taken, split), b_.reshape(taps.weights, line));
    if (taps.counted) terms = where_else(b_, b_.reshape(taps.counted, line), terms, 0);
    return b_.sum(terms, {static_cast<int64_t>(dim) + 1}, false);
  }

 private:
  using Attributes = std::vector<std::pair<std::string, Argument>>;

  Attributes of_type(DType dtype) const { return {{"dtype", dtype}, {"device", DeviceArg{like_->tensor().device}}}; }
  /// 0, 1, ..., n - 1 of the type that is computed in.
  Node* count_to(const SymInt& n) { return b_.call("aten.arange.default", {integer(n)}, of_type(type_)); }
  Node* number(const SymInt& n) { return b_.call("aten.full.default", {sizes({}), integer(n)}, of_type(type_)); }
  Node* floor(Node* x) { return b_.call("aten.floor.default", {x}); }
  Node* clamp(Node* x, const Argument& low, const Argument& high) {
    return b_.call("aten.clamp.default", {x, low, high});
  }
  Node* column(Node* x) { return b_.unsqueeze(x, 1); }

  /// Elements of the operand per element of the result.
  Node* scale(const Resize& r) {
    if (r.align_corners) {
      if (known_eq(r.out, 1)) return number(0);
      return b_.div(number(r.in - 1), b_.call("aten.clamp.default", {number(r.out - 1), 1}));
    }
    if (r.factor) return b_.call("aten.full.default", {sizes({}), 1 / *r.factor}, of_type(type_));
    return b_.div(number(r.in), number(r.out));
  }

  Taps taps_of(Kernel kernel, const Resize& r) {
    Node* index = count_to(r.out);
    if (kernel == Kernel::Nearest || kernel == Kernel::NearestExact) {
      if (kernel == Kernel::NearestExact) index = b_.add(index, 0.5);
      Node* at = b_.cast(floor(b_.mul(index, scale(r))), DType::I64);
      return {1, b_.call("aten.clamp.default", {at, 0, integer(r.in - 1)})};
    }
    Node* at = r.align_corners ? b_.mul(index, scale(r)) : b_.sub(b_.mul(b_.add(index, 0.5), scale(r)), 0.5);
    if (kernel == Kernel::Linear) {
      if (!r.align_corners) at = b_.call("aten.clamp.default", {at, 0});
      Node* low = b_.call("aten.clamp.default", {floor(at), 0, integer(r.in - 1)});
      Node* part = clamp(b_.sub(at, low), 0, 1);
      return {2, places(low, 0, 2, r.in), stacked({b_.call("aten.rsub.Scalar", {part, 1}), part})};
    }
    Node* low = floor(at);
    Node* t = clamp(b_.sub(at, low), 0, 1);
    const auto weights = cubic_weights(b_, t);
    return {4, places(low, -1, 4, r.in), stacked({weights.begin(), weights.end()})};
  }

  /// Indices low + first, low + first + 1, ... of each element, held inside.
  Node* places(Node* low, int64_t first, int64_t count, const SymInt& in) {
    Node* steps = b_.add(b_.call("aten.arange.default", {count}, of_type(DType::I64)), first);
    Node* all = b_.add(column(b_.cast(low, DType::I64)), steps);
    return b_.reshape(b_.call("aten.clamp.default", {all, 0, integer(in - 1)}), {low->tensor().numel() * count});
  }
  Node* stacked(const std::vector<Node*>& columns) {
    return b_.call("aten.stack.default", {Argument::list({columns.begin(), columns.end()}), 1});
  }

  /// Kernels wide enough for all that an element of the result stands for.
  Taps wide_taps(Kernel kernel, const Resize& r) {
    const double half = kernel == Kernel::Cubic ? 2 : 1;
    const double ratio = static_ratio(r), support = ratio >= 1 ? half * ratio : half;
    const auto count = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
    Node* scaled = scale(r);
    Node* reach = ratio >= 1 ? b_.mul(scaled, half) : b_.call("aten.full.default", {sizes({}), half}, of_type(type_));
    Node* center = b_.mul(b_.add(count_to(r.out), 0.5), scaled);
    Node* first = floor(b_.call("aten.clamp.default", {b_.add(b_.sub(center, reach), 0.5), 0}));
    Node* end = b_.call("aten.clamp_max.default", {floor(b_.add(b_.add(center, reach), 0.5)), integer(r.in)});
    Node* place = b_.add(column(first), count_to(count));
    Node* counted = b_.call("aten.lt.Tensor", {place, column(end)});
    Node* distance = b_.add(b_.sub(place, column(center)), 0.5);
    if (ratio >= 1) distance = b_.div(distance, scaled);
    distance = b_.call("aten.abs.default", {distance});
    Node* weight = nullptr;
    const auto within = [&](double limit) { return b_.call("aten.lt.Scalar", {distance, limit}); };
    if (kernel == Kernel::Cubic) {
      constexpr double a = -0.5;
      Node* far = where_else(b_, within(2), cubic_beyond(b_, distance, a), 0);
      weight = b_.call("aten.where.self", {within(1), cubic_within(b_, distance, a), far});
    } else {
      weight = b_.call("aten.clamp.default", {b_.call("aten.rsub.Scalar", {distance, 1}), 0});
    }
    weight = where_else(b_, counted, weight, 0);
    weight = b_.div(weight, b_.sum(weight, {1}, true));
    Node* indices = b_.cast(b_.call("aten.clamp_max.default", {place, integer(r.in - 1)}), DType::I64);
    return {count, b_.reshape(indices, {r.out * count}), weight, counted};
  }

  static double static_ratio(const Resize& r) {
    if (r.factor && !r.align_corners) return 1 / *r.factor;
    const auto in = static_cast<double>(r.in.value()), out = static_cast<double>(r.out.value());
    if (r.align_corners) return out > 1 ? (in - 1) / (out - 1) : 0;
    return in / out;
  }

  Builder& b_;
  Node* like_;
  DType type_;
};

// ------------------------------------------------------------------------------------------------------------- rows

Kernel kernel_of(const Call& c) {
  const std::string_view name = c.op().name;
  if (name.find("nearest_exact") != name.npos) return Kernel::NearestExact;
  if (name.find("nearest") != name.npos) return Kernel::Nearest;
  return name.find("cubic") != name.npos ? Kernel::Cubic : Kernel::Linear;
}

/// Factors of the caller, one per dimension; nothing where the sizes count.
std::vector<std::optional<double>> factors_of(const Call& c, size_t spatial) {
  std::vector<std::optional<double>> factors(spatial);
  const size_t params = c.op().schema.params.size();
  const auto take = [&](size_t d, const Argument& value) {
    const auto* number = value.as<double>();
    if (number && *number > 0) factors[d] = *number;
  };
  if (c.op().name.ends_with(".vec")) {
    const auto* list = c.is_none(1) ? c.arg(params - 1).as<ListArg>() : nullptr;
    for (size_t d = 0; list && d < std::min(spatial, list->items.size()); ++d) take(d, list->items[d]);
  } else {
    for (size_t d = 0; d < spatial; ++d) take(d, c.arg(params - spatial + d));
  }
  return factors;
}

template <size_t Spatial>
Type resized_type(const Call& c) {
  require_rank(c, 0, Spatial + 2, Spatial + 2);
  const std::vector<SymInt> out = wanted_sizes(c, Spatial, c.op().schema.params.size() - 1);
  const TensorType& x = c.type(0);
  const Kernel kernel = kernel_of(c);
  const bool nearest = kernel == Kernel::Nearest || kernel == Kernel::NearestExact;
  if (!nearest && !is_floating(x.dtype)) reject(c, "integers are interpolated in another arithmetic");
  Shape shape = x.shape;
  require_at_least(c, shape[1], 1, "channels");
  for (size_t d = 0; d < Spatial; ++d) {
    require_at_least(c, out[d], 1, "output size");
    require_at_least(c, shape[2 + d], 1, "input size");
    const bool antialias = c.op().name.find("_aa") != std::string::npos;
    if (antialias && !(out[d].is_const() && shape[2 + d].is_const()))
      reject(c, "with antialiasing, the number of elements that count depends on the sizes, which must be known");
    shape[2 + d] = out[d];
  }
  return result_like(c, x.dtype, std::move(shape));
}

template <size_t Spatial>
std::vector<Node*> resized(Builder& b, const Call& c) {
  const Kernel kernel = kernel_of(c);
  const bool nearest = kernel == Kernel::Nearest || kernel == Kernel::NearestExact;
  const bool antialias = c.op().name.find("_aa") != std::string::npos;
  const Shape &from = c.type(0).shape, &to = c.node().tensor().shape;
  const auto factors = factors_of(c, Spatial);
  const bool align = !nearest && c.boolean(2);
  Node* x = nearest ? c.tensor(0) : widen(b, c.tensor(0));
  Resampler resampler(b, c, nearest);
  for (size_t d = 2 + Spatial; d-- > 2;) {  // the last one first
    const Resize r{from[d], to[d], align, factors[d - 2]};
    if (known_eq(r.in, r.out) && (!nearest || !r.factor || *r.factor == 1) && (align || !r.factor || *r.factor == 1))
      continue;
    x = resampler.along(x, d, kernel, r, antialias);
  }
  return {b.cast(x, c.type(0).dtype)};
}

template <size_t Spatial>
void add(Rows& rows, const std::string& name, bool corners) {
  const std::string n = std::to_string(Spatial), align = corners ? "bool align_corners, " : "";
  const std::string each = Spatial == 1   ? "float? scales=None"
                           : Spatial == 2 ? "float? scales_h=None, float? scales_w=None"
                                          : "float? scales_d=None, float? scales_h=None, float? scales_w=None";
  const char* doc = "resizes by weighing the nearest elements along each dimension";
  rows.push_back(
      compound("aten::" + name + "(Tensor self, SymInt[" + n + "] output_size, " + align + each + ") -> Tensor", 0,
               resized_type<Spatial>, resized<Spatial>, doc));
  rows.push_back(compound(
      "aten::" + name + ".vec(Tensor input, SymInt[]? output_size, " + align + "float[]? scale_factors) -> Tensor", 0,
      resized_type<Spatial>, resized<Spatial>, doc));
}

}  // namespace

Node* cubic_within(Builder& b, Node* x, double a) {
  return b.add(b.mul(b.mul(b.sub(b.mul(x, a + 2), a + 3), x), x), 1);
}

Node* cubic_beyond(Builder& b, Node* x, double a) {
  return b.sub(b.mul(b.add(b.mul(b.sub(b.mul(x, a), 5 * a), x), 8 * a), x), 4 * a);
}

std::array<Node*, 4> cubic_weights(Builder& b, Node* part) {
  constexpr double a = -0.75;
  Node* rest = b.call("aten.rsub.Scalar", {part, 1});
  return {cubic_beyond(b, b.add(part, 1), a), cubic_within(b, part, a), cubic_within(b, rest, a),
          cubic_beyond(b, b.add(rest, 1), a)};
}

Rows resizing_rows() {
  Rows rows;
  add<1>(rows, "upsample_nearest1d", false);
  add<3>(rows, "upsample_nearest3d", false);
  add<1>(rows, "_upsample_nearest_exact1d", false);
  add<2>(rows, "_upsample_nearest_exact2d", false);
  add<3>(rows, "_upsample_nearest_exact3d", false);
  add<1>(rows, "upsample_linear1d", true);
  add<3>(rows, "upsample_trilinear3d", true);
  add<2>(rows, "upsample_bicubic2d", true);
  add<2>(rows, "_upsample_bilinear2d_aa", true);
  add<2>(rows, "_upsample_bicubic2d_aa", true);
  return rows;
}

}  // namespace strata::ops
