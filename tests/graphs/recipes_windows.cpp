// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Pooling and resampling.

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

/// `...2d...` has 2 dimensions.
size_t dims_of(const OpDef& row) {
  return static_cast<size_t>(row.name[row.name.find('d', row.name.find("pool") + 4) - 1] - '0');
}

struct Window {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil = false;
};
Window window(G& g, size_t dims, bool dilated) {
  Window w;
  for (size_t d = 0; d < dims; ++d) {
    w.kernel.push_back(g.between(1, 3));
    w.stride.push_back(g.between(1, 2));
    w.padding.push_back(w.kernel.back() > 1 ? g.between(0, 1) : 0);
    w.dilation.push_back(dilated && g.chance(20) ? 2 : 1);
  }
  w.ceil = g.chance(30);
  return w;
}

Node* image(G& g, size_t dims, bool plain = false) {
  if (Node* found = plain ? nullptr : g.image(dims)) return found;
  Shape shape = g.random_shape(1, 1);
  if (plain || g.chance(80)) shape.insert(shape.begin(), g.size());
  for (size_t d = 0; d < dims; ++d) shape.emplace_back(!plain && g.chance(20) ? g.size() : SymInt(g.between(5, 8)));
  const DType dtype = g.chance(80) ? g.main_dtype() : g.floating_dtype();
  return plain ? g.input(dtype, shape) : g.of(dtype, shape);
}

Node* max_pooled(G& g, const OpDef& row) {
  const size_t dims = dims_of(row);
  Node* x = image(g, dims);
  const Window w = window(g, dims, true);
  return g.call(row, {x, G::ints(w.kernel), G::ints(w.stride), G::ints(w.padding), G::ints(w.dilation), w.ceil});
}

Node* average_pooled(G& g, const OpDef& row) {
  const size_t dims = dims_of(row);
  Node* x = image(g, dims);
  const Window w = window(g, dims, false);
  std::vector<Argument> args{x, G::ints(w.kernel), G::ints(w.stride), G::ints(w.padding), w.ceil, g.chance(50)};
  if (dims > 1 && g.chance(20)) args.emplace_back(g.between(1, 5));
  return g.call(row, std::move(args));
}

Node* max_pool_gradient(G& g, const OpDef& row) {
  const size_t dims = dims_of(row);
  Node* x = image(g, dims, true);
  const Window w = window(g, dims, true);
  const std::vector<Argument> tail{G::ints(w.kernel), G::ints(w.stride), G::ints(w.padding), G::ints(w.dilation),
                                   w.ceil};
  std::vector<Argument> forward{x};
  forward.insert(forward.end(), tail.begin(), tail.end());
  Node* pooled = g.call("aten.max_pool" + std::to_string(dims) + "d_with_indices.default", forward);
  Node *y = g.part(pooled, 0), *at = g.part(pooled, 1);
  std::vector<Argument> args{g.of(dtype_of(y), shape_of(y)), x};
  args.insert(args.end(), tail.begin(), tail.end());
  args.emplace_back(at);
  return g.call(row, std::move(args));
}

Node* average_pool_gradient(G& g, const OpDef& row) {
  Node* x = image(g, 2, true);
  const Window w = window(g, 2, false);
  const std::vector<Argument> tail{G::ints(w.kernel), G::ints(w.stride), G::ints(w.padding), w.ceil, g.chance(50)};
  std::vector<Argument> forward{x};
  forward.insert(forward.end(), tail.begin(), tail.end());
  Node* y = g.call("aten.avg_pool2d.default", forward);
  std::vector<Argument> args{g.of(dtype_of(y), shape_of(y)), x};
  args.insert(args.end(), tail.begin(), tail.end());
  args.emplace_back();
  return g.call(row, std::move(args));
}

Node* unpooled(G& g, const OpDef& row) {
  const size_t dims = dims_of(row);
  Node* x = image(g, dims, true);
  const std::vector<int64_t> two(dims, 2), none(dims, 0);
  Node* pooled =
      g.call("aten.max_pool" + std::to_string(dims) + "d_with_indices.default", {x, G::ints(two), G::ints(two)});
  std::vector<Argument> args{g.part(pooled, 0), g.part(pooled, 1),
                             g.sizes(Shape(shape_of(x).end() - static_cast<std::ptrdiff_t>(dims), shape_of(x).end()))};
  if (dims == 3) args.insert(args.end(), {G::ints(two), G::ints(none)});
  return g.call(row, std::move(args));
}

Node* adaptive(G& g, const OpDef& row) {
  const size_t dims = dims_of(row);
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < dims; ++d) sizes.push_back(g.between(1, 6));
  return g.call(row, {image(g, dims), G::ints(sizes)});
}

Node* resampled(G& g, const OpDef& row) {
  const bool forms = has_name(row.name, {".vec"}), weighs = has_name(row.name, {"linear", "cubic"});
  const size_t dims = has_name(row.name, {"1d"}) ? 1 : has_name(row.name, {"3d"}) ? 3 : 2;
  Shape shape{g.size(), g.size()};
  for (size_t d = 0; d < dims; ++d) {
    const SymInt size = forms ? g.size() : SymInt(0);
    shape.push_back(size.is_const() ? SymInt(g.between(1, 5)) : size);
  }
  Node* x = dims == 2 && (!forms || g.chance(50)) ? g.image(2) : nullptr;
  if (!x) x = g.of(g.chance(80) ? g.main_dtype() : g.floating_dtype(), shape);
  if (weighs && g.special()) x = g.tame(x);  // a weight of nearly zero times infinity
  std::vector<Argument> args{x};
  const bool factors = forms && g.chance(50);
  std::vector<int64_t> sizes;
  std::vector<Argument> times;
  for (size_t d = 0; d < dims; ++d) {
    sizes.push_back(g.between(1, 8));
    constexpr double kFactors[] = {2, 1.5, 1.1, 1.0 / 3, 0.29};  // the last two: from four elements on
    const bool is_long = range(x->tensor().shape[d + 2]).min >= 4;
    times.emplace_back(kFactors[g.between(0, is_long ? 4 : 2)]);
  }
  args.push_back(factors ? Argument() : G::ints(sizes));
  if (weighs) args.emplace_back(g.chance(40));
  if (forms) args.push_back(factors ? Argument::list(times) : Argument());
  return g.call(row, std::move(args));
}

/// Places mostly inside of [-1, 1], where the sampled tensor lies.
Node* sampled(G& g, const OpDef& row) {
  const size_t dims = has_name(row.name, {"_3d"}) ? 3 : 2;
  const SymInt batch = g.size();
  Shape shape{batch, g.size()}, places{batch};
  for (size_t d = 0; d < dims; ++d) {
    shape.emplace_back(g.between(1, 5));
    places.emplace_back(g.between(0, 4));
  }
  places.emplace_back(static_cast<int64_t>(dims));
  const DType dtype = g.chance(80) ? g.main_dtype() : g.floating_dtype();
  Node* grid = g.call("aten.sin.default", {g.input(dtype, places, {Domain::Kind::Tame, 0, 0})});
  if (g.chance(30)) grid = g.call("aten.mul.Tensor", {grid, 1.5});
  Node* x = g.of(dtype, shape);
  if (g.special()) x = g.tame(x);
  const int64_t modes = has_name(row.name, {"grid_sampler_3d"}) ? 1 : 2;
  return g.call(row, {x, grid, g.between(0, modes), g.between(0, 2), g.chance(50)});
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.max_pool2d_with_indices_backward.default", max_pool_gradient},
    {"aten.max_pool3d_with_indices_backward.default", max_pool_gradient},
    {"aten.max_pool*", max_pooled},
    {"aten.max_unpool*", unpooled},
    {"aten.avg_pool2d_backward.default", average_pool_gradient},
    {"aten.avg_pool*", average_pooled},
    {"aten.adaptive_*", adaptive},
    {"aten._adaptive_avg_pool2d.default", adaptive},
    {"aten.upsample_*", resampled},
    {"aten._upsample_*", resampled},
    {"aten.grid_sampler*", sampled},
};

}  // namespace

std::span<const RecipeEntry> window_recipes() { return kRecipes; }

}  // namespace strata::fuzz
