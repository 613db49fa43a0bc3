// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Values of an image or a volume at places between its elements, by decomposition into gathers of the elements around
// them; and convolutions of such values.

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

enum class Padding : uint8_t { Zeros, Border, Reflection };

struct Sampling {
  Builder& b;
  Padding padding;
  bool align_corners;

  Node* clamp(Node* x, const SymInt& last) const { return b.call("aten.clamp.default", {x, 0, integer(last)}); }

  /// From [-1, 1] to positions of elements.
  Node* position(Node* x, const SymInt& size) const {
    x = b.add(x, 1);
    if (align_corners) return b.mul(b.mul(x, 0.5), integer(size - 1));
    return b.mul(b.sub(b.mul(x, integer(size)), 1), 0.5);
  }

  /// Mirrored at low / 2 and high / 2 until it lies between them.
  Node* reflected(Node* x, int64_t twice_low, const SymInt& twice_high) const {
    if (known_eq(twice_high, twice_low)) return b.mul(x, 0);
    const double low = static_cast<double>(twice_low) / 2;
    const SymInt twice_span = twice_high - twice_low;
    x = b.call("aten.abs.default", {b.sub(x, low)});
    Node* spans = b.call("aten.floor.default", {b.div(b.mul(x, 2), integer(twice_span))});
    Node* rest = b.call("aten.fmod.Scalar", {b.mul(x, 2), integer(twice_span)});
    Node* odd = b.call("aten.ne.Scalar", {b.call("aten.fmod.Scalar", {spans, 2}), 0});
    Node* mirrored = b.call("aten.rsub.Scalar", {rest, integer(twice_span)});
    return b.add(b.mul(b.call("aten.where.self", {odd, mirrored, rest}), 0.5), low);
  }

  /// Position along one dimension, where the padding wants it.
  Node* place(Node* x, const SymInt& size) const { return padded(position(x, size), size); }
  Node* padded(Node* x, const SymInt& size) const {
    if (padding == Padding::Zeros) return x;
    if (padding == Padding::Reflection)
      x = align_corners ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1);
    return clamp(x, size - 1);
  }
};

/// Elements of images or volumes `[n, channels, points]` at integral places; zero outside.
struct Volume {
  Builder& b;
  Node* flat;
  std::vector<SymInt> size;

  Node* at(const std::vector<Node*>& place) const {
    Node *inside = nullptr, *index = nullptr;
    for (size_t d = 0; d < size.size(); ++d) {
      Node* in = b.call("aten.logical_and.default", {b.call("aten.ge.Scalar", {place[d], 0}),
                                                     b.call("aten.lt.Scalar", {place[d], integer(size[d])})});
      inside = inside ? b.call("aten.logical_and.default", {inside, in}) : in;
      Node* i = b.cast(b.call("aten.clamp.default", {place[d], 0, integer(size[d] - 1)}), DType::I64);
      index = index ? b.add(b.mul(index, integer(size[d])), i) : i;
    }
    if (!index) throw_internal("an image without dimensions");
    const Index& shape = flat->type.tensor.shape;
    const Index all{shape[0], shape[1], index->type.tensor.shape[1]};
    Node* value = b.call("aten.gather.default", {flat, 2, b.expand(b.unsqueeze(index, 1), all)});
    return b.call("aten.where.self", {b.unsqueeze(inside, 1), value, b.call("aten.zeros_like.default", {value})});
  }

  /// Along one dimension: elements next to a place, and their weights.
  using Steps = std::vector<std::pair<Node*, Node*>>;

  Steps linear(Node* place) const {
    Node* low = b.call("aten.floor.default", {place});
    Node* part = b.sub(place, low);
    return {{low, b.call("aten.rsub.Scalar", {part, 1})}, {b.add(low, 1), part}};
  }

  /// Each of the four elements is padded by itself.
  Steps cubic(Node* place, const Sampling& sampling, const SymInt& length) const {
    Node* low = b.call("aten.floor.default", {place});
    const auto weights = cubic_weights(b, b.sub(place, low));
    Steps steps;
    for (int64_t k = 0; k < 4; ++k)
      steps.emplace_back(sampling.padded(b.add(low, k - 1), length), weights[static_cast<size_t>(k)]);
    return steps;
  }

  /// The sum over all combinations of steps.
  Node* between(const std::vector<Steps>& steps) const {
    size_t combinations = 1;
    for (const Steps& along : steps) combinations *= along.size();
    Node* sum = nullptr;
    for (size_t number = 0; number < combinations; ++number) {
      std::vector<Node*> corner;
      Node* weight = nullptr;
      size_t rest = number;
      for (const Steps& along : steps) {
        const auto& [place, near] = along[rest % along.size()];
        rest /= along.size();
        corner.push_back(place);
        weight = weight ? b.mul(weight, near) : near;
      }
      Node* term = b.mul(at(corner), b.unsqueeze(weight, 1));
      sum = sum ? b.add(sum, term) : term;
    }
    return sum;
  }
};

enum Mode : int64_t { kLinear, kNearest, kCubic };

template <size_t Spatial>
std::vector<Node*> grid_sampler(Builder& b, const Call& c) {
  const TensorType &x = c.type(0), &g = c.type(1);
  const std::string ranks = std::to_string(Spatial + 2), last = std::to_string(Spatial);
  if (x.shape.size() != Spatial + 2 || g.shape.size() != Spatial + 2)
    reject(c, "expected an input and a grid of " + ranks + " dimensions");
  require_same_dtype(c, 0, 1);
  require_equal(c, g.shape.back(), static_cast<int64_t>(Spatial), "last size of the grid and " + last);
  require_equal(c, x.shape[0], g.shape[0], "numbers of inputs and grids");
  const int64_t mode = c.constant(2), padding = c.constant(3);
  if (mode < kLinear || mode > (Spatial == 2 ? kCubic : kNearest))
    reject(c, "unknown interpolation mode " + std::to_string(mode) + " in " + last + " dimensions");
  if (padding < 0 || padding > 2) reject(c, "unknown padding mode " + std::to_string(padding));
  const DType d = compute_dtype(x.dtype);
  const std::vector<SymInt> size(x.shape.begin() + 2, x.shape.end()), out(g.shape.begin() + 1, g.shape.end() - 1);
  const Sampling sampling{b, static_cast<Padding>(padding), c.boolean(4)};
  Node* flat = b.reshape(b.cast(c.tensor(0), d), {x.shape[0], x.shape[1], product(size)});
  const Volume volume{b, flat, size};
  Node* grid = b.reshape(b.cast(c.tensor(1), d), {g.shape[0], product(out), SymInt(static_cast<int64_t>(Spatial))});
  std::vector<Node*> place;
  std::vector<Volume::Steps> steps;
  for (size_t i = 0; i < Spatial; ++i) {  // the grid names columns first
    Node* along = b.call("aten.select.int", {grid, 2, static_cast<int64_t>(Spatial - 1 - i)});
    along = mode == kCubic ? sampling.position(along, size[i]) : sampling.place(along, size[i]);
    if (mode == kNearest)
      place.push_back(b.call("aten.round.default", {along}));
    else
      steps.push_back(mode == kCubic ? volume.cubic(along, sampling, size[i]) : volume.linear(along));
  }
  Node* y = mode == kNearest ? volume.at(place) : volume.between(steps);
  std::vector<SymInt> shape{x.shape[0], x.shape[1]};
  shape.insert(shape.end(), out.begin(), out.end());
  return {b.cast(b.reshape(y, shape), x.dtype)};
}

/// Places in the images that affine maps give: theta [N, D, D + 1] times the places of the result's elements, each from
/// -1 to 1, the last dimension first, and 1.
std::vector<Node*> affine_grid(Builder& b, const Call& c) {
  const Index size = c.integers(1);
  if (size.size() != 4 && size.size() != 5) reject(c, "expected a size of 4 or 5 dimensions");
  const size_t spatial = size.size() - 2;
  const auto count = static_cast<int64_t>(spatial);
  require_same_shape(c, tensor_type(c, 0).shape, {size[0], count, count + 1}, "theta and the maps of such images");
  const TensorType& theta = c.type(0);
  const Index inner(size.begin() + 2, size.end());
  std::vector<Argument> columns;
  for (size_t d = spatial; d-- > 0;) {
    const SymInt& n = inner[d];
    require_at_least(c, n, 1, "size");
    const std::vector<std::pair<std::string, Argument>> attributes{{"dtype", theta.dtype}};
    Node* steps = b.call("aten.full.default", {sizes({}), integer(n)}, attributes);
    // -1 to 1 from the first to the last element; otherwise these are the ends of the image.
    Node* last = b.call("aten.clamp_min.default", {b.sub(steps, 1), 1});
    Node* width = c.boolean(2) ? last : steps;
    Node* place = b.mul(b.call("aten.arange.default", {integer(n)}, attributes), 2);
    place = b.div(b.sub(place, b.sub(steps, 1)), width);
    if (known_eq(n, 1)) place = b.call("aten.zeros_like.default", {place});
    Index line(spatial, SymInt(1));
    line[d] = n;
    columns.emplace_back(b.reshape(b.expand(b.reshape(place, line), inner), {product(inner)}));
  }
  columns.emplace_back(b.call("aten.full.default", {sizes({product(inner)}), 1}, {{"dtype", theta.dtype}}));
  Node* places = b.call("aten.stack.default", {Argument::list(std::move(columns)), 1});
  Node* grid = b.call("aten.matmul.default", {places, b.transpose(c.tensor(0), 1, 2)});
  Index shape{size[0]};
  shape.insert(shape.end(), inner.begin(), inner.end());
  shape.emplace_back(count);
  return {b.reshape(grid, shape)};
}

/// Places along one dimension of an image that the taps of a kernel look at: [taps, rows, columns], before offsets.
Node* tap_places(Builder& b, const Call& c, size_t first, Node* tap, const SymInt& count, DType d, bool down) {
  const std::vector<std::pair<std::string, Argument>> attributes{{"dtype", d}};
  Node* steps = b.mul(b.call("aten.arange.default", {integer(count)}, attributes), integer(c.integer(first)));
  steps = b.sub(steps, integer(c.integer(first + 2)));
  steps = b.reshape(steps, down ? Index{1, count, 1} : Index{1, 1, count});
  Node* taps = b.mul(tap, integer(c.integer(first + 4)));
  return b.add(b.reshape(taps, {tap->type.tensor.shape[0], 1, 1}), steps);
}

/// A convolution whose taps look at places that data moves, between elements: these blended, times weights. Parameters
/// 5 to 10 are strides, paddings and dilations.
std::vector<Node*> deform_conv2d(Builder& b, const Call& c) {
  const TensorType &x = c.type(0), &weight = c.type(1), &offset = c.type(2);
  if (x.shape.size() != 4 || weight.shape.size() != 4 || offset.shape.size() != 4)
    reject(c, "expected an input, weights and offsets of 4 dimensions");
  if (!is_floating(x.dtype)) reject(c, "expected a floating-point input");
  const bool use_mask = c.boolean(13);
  for (size_t i = 1; i < 5; ++i)
    if (i != 3 || use_mask) require_same_dtype(c, 0, i);
  const SymInt groups = c.integer(11), parts = c.integer(12);
  require_at_least(c, groups, 1, "groups");
  require_at_least(c, parts, 1, "offset groups");
  require_multiple(c, x.shape[1], parts, "input channels");
  require_multiple(c, weight.shape[0], groups, "output channels");
  const SymInt n = x.shape[0], channels = floordiv(x.shape[1], parts), rows = offset.shape[2],
               columns = offset.shape[3];
  const SymInt taps = weight.shape[2] * weight.shape[3], points = rows * columns;
  require_equal(c, x.shape[1], weight.shape[1] * groups, "channels of the input and of the weights");
  for (size_t i = 0; i < 2; ++i) {
    const SymInt reach = c.integer(9 + i) * (weight.shape[2 + i] - 1) + 1;
    require_at_least(c, c.integer(5 + i), 1, "stride");
    require_equal(c, offset.shape[2 + i], floordiv(x.shape[2 + i] + 2 * c.integer(7 + i) - reach, c.integer(5 + i)) + 1,
                  "sizes of the offsets and of the result");
  }
  require_same_shape(c, offset.shape, {n, 2 * parts * taps, rows, columns}, "offsets and places of the taps");
  if (use_mask) require_same_shape(c, c.type(3).shape, {n, parts * taps, rows, columns}, "mask and places of the taps");

  const DType d = compute_dtype(x.dtype);
  const std::vector<std::pair<std::string, Argument>> numbers{{"dtype", DType::I64}};
  Node* number = b.call("aten.arange.default", {integer(taps)}, numbers);
  Node* across = b.call("aten.remainder.Scalar", {number, integer(weight.shape[3])});
  Node* downwards = b.call("aten.floor_divide.default", {number, integer(weight.shape[3])});
  Node* moved = b.reshape(b.cast(c.tensor(2), d), {n * parts, taps, 2, rows, columns});
  std::vector<Volume::Steps> steps;
  const Volume volume{
      b, b.reshape(b.cast(c.tensor(0), d), {n * parts, channels, x.shape[2] * x.shape[3]}), {x.shape[2], x.shape[3]}};
  for (size_t i = 0; i < 2; ++i) {
    Node* place = tap_places(b, c, 5 + i, b.cast(i == 0 ? downwards : across, d), offset.shape[2 + i], d, i == 0);
    place = b.add(b.call("aten.select.int", {moved, 2, static_cast<int64_t>(i)}), place);
    steps.push_back(volume.linear(b.reshape(place, {n * parts, taps * points})));
  }
  Node* seen = volume.between(steps);
  if (use_mask) seen = b.mul(seen, b.reshape(b.cast(c.tensor(3), d), {n * parts, 1, taps * points}));
  seen = b.reshape(b.cast(seen, x.dtype), {n, groups, weight.shape[1] * taps, points});
  Node* weights = b.reshape(c.tensor(1), {groups, floordiv(weight.shape[0], groups), weight.shape[1] * taps});
  Node* y = b.reshape(b.call("aten.matmul.default", {weights, seen}), {n, weight.shape[0], rows, columns});
  return {b.add(y, b.reshape(c.tensor(4), {weight.shape[0], 1, 1}))};
}

}  // namespace

Rows grid_samplings() {
  const std::string rest =
      "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";
  const Decompose either = [](Builder& b, const Call& c) {
    return c.type(0).shape.size() == 4 ? grid_sampler<2>(b, c) : grid_sampler<3>(b, c);
  };
  const char* doc = "values of images or volumes at places that a grid gives";
  return {compound("aten::grid_sampler_2d" + rest, 0, decomposed_type, grid_sampler<2>, doc),
          compound("aten::grid_sampler_3d" + rest, 0, decomposed_type, grid_sampler<3>, doc),
          compound("aten::grid_sampler" + rest, 0, decomposed_type, either, doc),
          compound("aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor", 0,
                   decomposed_type, affine_grid, "places in images that affine maps give"),
          compound("torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
                   "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt "
                   "dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
                   0, decomposed_type, deform_conv2d, "convolution whose taps data moves")};
}

}  // namespace strata::ops
