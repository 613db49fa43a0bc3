// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Values of a volume at places between its elements, by decomposition into gathers of the corners around them.

#include <array>

#include "core/ir/ops/indexing.h"

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
  Node* place(Node* x, const SymInt& size) const {
    x = position(x, size);
    if (padding == Padding::Zeros) return x;
    if (padding == Padding::Reflection)
      x = align_corners ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1);
    return clamp(x, size - 1);
  }
};

/// Elements of volumes `[n, channels, points]` at integral places; zero outside.
struct Volume {
  Builder& b;
  Node* flat;
  std::array<SymInt, 3> size;

  Node* at(const std::array<Node*, 3>& place) const {
    Node *inside = nullptr, *index = nullptr;
    for (size_t d = 0; d < 3; ++d) {
      Node* in = b.call("aten.logical_and.default", {b.call("aten.ge.Scalar", {place[d], 0}),
                                                     b.call("aten.lt.Scalar", {place[d], integer(size[d])})});
      inside = inside ? b.call("aten.logical_and.default", {inside, in}) : in;
      Node* i = b.cast(b.call("aten.clamp.default", {place[d], 0, integer(size[d] - 1)}), DType::I64);
      index = index ? b.add(b.mul(index, integer(size[d])), i) : i;
    }
    const Index& shape = flat->type.tensor.shape;
    const Index all{shape[0], shape[1], index->type.tensor.shape[1]};
    Node* value = b.call("aten.gather.default", {flat, 2, b.expand(b.unsqueeze(index, 1), all)});
    return b.call("aten.where.self", {b.unsqueeze(inside, 1), value, b.call("aten.zeros_like.default", {value})});
  }

  /// Weighted by how near each corner is.
  Node* between(const std::array<Node*, 3>& place) const {
    std::array<Node*, 3> low{}, part{};
    for (size_t d = 0; d < 3; ++d) {
      low[d] = b.call("aten.floor.default", {place[d]});
      part[d] = b.sub(place[d], low[d]);
    }
    Node* sum = nullptr;
    for (unsigned corner = 0; corner < 8; ++corner) {
      std::array<Node*, 3> at_corner{};
      Node* weight = nullptr;
      for (size_t d = 0; d < 3; ++d) {
        const bool upper = (corner >> d & 1) != 0;
        at_corner[d] = upper ? b.add(low[d], 1) : low[d];
        Node* near = upper ? part[d] : b.call("aten.rsub.Scalar", {part[d], 1});
        weight = weight ? b.mul(weight, near) : near;
      }
      Node* term = b.mul(at(at_corner), b.unsqueeze(weight, 1));
      sum = sum ? b.add(sum, term) : term;
    }
    return sum;
  }
};

std::vector<Node*> grid_sampler_3d(Builder& b, const Call& c) {
  const TensorType &x = c.type(0), &g = c.type(1);
  if (x.shape.size() != 5 || g.shape.size() != 5 || !known_eq(g.shape[4], 3))
    reject(c, "expected an input and a grid of 5 dimensions, the grid's last of size 3");
  if (known_ne(x.shape[0], g.shape[0])) reject(c, "expected as many grids as inputs");
  const int64_t mode = c.constant(2), padding = c.constant(3);
  if (mode < 0 || mode > 1) reject(c, "only bilinear and nearest interpolation exist in three dimensions");
  if (padding < 0 || padding > 2) reject(c, "unknown padding mode " + std::to_string(padding));
  const DType d = compute_dtype(x.dtype);
  const SymInt points = g.shape[1] * g.shape[2] * g.shape[3];
  const Sampling sampling{b, static_cast<Padding>(padding), c.boolean(4)};
  Node* flat = b.call("aten.reshape.default",
                      {b.cast(c.tensor(0), d), sizes({x.shape[0], x.shape[1], x.shape[2] * x.shape[3] * x.shape[4]})});
  const Volume volume{b, flat, {x.shape[2], x.shape[3], x.shape[4]}};
  Node* grid = b.call("aten.reshape.default", {b.cast(c.tensor(1), d), sizes({g.shape[0], points, 3})});
  std::array<Node*, 3> place{};
  for (int64_t i = 0; i < 3; ++i)  // the grid names columns first
    place[static_cast<size_t>(2 - i)] =
        sampling.place(b.call("aten.select.int", {grid, 2, i}), x.shape[static_cast<size_t>(4 - i)]);
  if (mode == 1)
    for (Node*& p : place) p = b.call("aten.round.default", {p});
  Node* y = mode == 1 ? volume.at(place) : volume.between(place);
  return {b.cast(b.reshape(y, {x.shape[0], x.shape[1], g.shape[1], g.shape[2], g.shape[3]}), x.dtype)};
}

}  // namespace

Rows grid_samplings() {
  return {
      compound("aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
               "align_corners) -> Tensor",
               0, decomposed_type, grid_sampler_3d, "values of a volume at places that a grid gives")};
}

}  // namespace strata::ops
