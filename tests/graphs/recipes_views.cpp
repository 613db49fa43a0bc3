// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "core/ir/aliasing.h"
#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

/// Two neighbouring dimensions merged, or one of them split: what needs no copy.
Shape another_shape(G& g, Shape to) {
  if (to.size() >= 2 && g.chance(70)) {
    const size_t at = g.below(to.size() - 1);
    to[at] = to[at] * to[at + 1];
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else if (!to.empty()) {
    const size_t at = g.below(to.size());
    const int64_t factor = g.between(1, 3);
    if (!to[at].is_const() || to[at].value() % factor != 0) return to;
    to[at] = to[at].value() / factor;
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(at + g.below(2)), factor);
  }
  return to;
}

Node* reshaped(G& g, const OpDef& row) {
  // `reshape` of what lies otherwise may or may not copy: only where PyTorch would not, what aliases is certain.
  Node* x = g.mutates() || has_name(row.name, {"aten.view.", "aten.view_copy."}) ? g.contiguous(g.value()) : g.value();
  return g.call(row, {x, g.sizes(another_shape(g, shape_of(x)))});
}

Node* like_another(G& g, const OpDef& row) {
  Node* x = g.contiguous(g.value());
  const Shape to = another_shape(g, shape_of(x));
  return g.call(row, {x, g.input(g.any_dtype(), to)});
}

Node* flattened(G& g, const OpDef& row) {
  Node* x = g.mutates() ? g.contiguous(g.value()) : g.value();
  if (row.schema.params.size() == 1) return g.call(row, {x});
  const int64_t rank = static_cast<int64_t>(std::max<size_t>(1, rank_of(x))), first = g.between(0, rank - 1);
  return g.call(row, {x, first, g.between(first, rank - 1)});
}

Node* unflattened(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const int64_t d = g.dim(x);
  const SymInt n = shape_of(x)[static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(rank_of(x)) : d)];
  const int64_t factor = g.between(1, 3);
  if (!n.is_const() || n.value() % factor) return g.call(row, {x, d, g.sizes({1, n})});
  return g.call(row, {x, d, G::ints({factor, g.chance(30) && n.value() ? -1 : n.value() / factor})});
}

Node* squeezed(G& g, const OpDef& row) {
  Shape shape = g.random_shape(0, 3);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(g.below(shape.size() + 1)), SymInt(1));
  Node* x = g.chance(50) ? g.value() : g.of(g.any_dtype(), shape);
  if (row.schema.params.size() == 1) return g.call(row, {x});
  if (row.schema.params[1].list) return g.call(row, {x, G::ints(g.dims(x))});
  return g.call(row, {x, g.dim(x)});
}

Node* unsqueezed(G& g, const OpDef& row) {
  Node* x = g.value();
  const auto rank = static_cast<int64_t>(rank_of(x));
  return g.call(row, {x, g.between(-rank - 1, rank)});
}

Node* permuted(G& g, const OpDef& row) {
  Node* x = g.value();
  std::vector<int64_t> order(rank_of(x));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::shuffle(order.begin(), order.end(), g.rng());
  return g.call(row, {x, G::ints(order)});
}

Node* two_dims(G& g, const OpDef& row) {
  Node* x = g.value(1);
  return g.call(row, {x, g.dim(x), g.dim(x)});
}

Node* moved(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const size_t rank = rank_of(x), count = 1 + g.below(rank);
  std::vector<int64_t> from(rank), to(rank);
  std::iota(from.begin(), from.end(), int64_t{0});
  std::iota(to.begin(), to.end(), int64_t{0});
  std::shuffle(from.begin(), from.end(), g.rng());
  std::shuffle(to.begin(), to.end(), g.rng());
  from.resize(count);
  to.resize(count);
  return g.call(row, {x, G::ints(from), G::ints(to)});
}

Node* matrix_turned(G& g, const OpDef& row) {
  return g.call(row, {row.name == "aten.t.default" ? g.value(0, 2) : g.value(2)});
}

Node* expanded(G& g, const OpDef& row) {
  Node* x = g.value();
  Shape to = shape_of(x);
  if (!to.empty() && g.chance(60)) {
    const size_t d = g.below(to.size());
    Shape narrow = to;
    narrow[d] = 1;
    x = g.of(dtype_of(x), narrow);
  }
  for (SymInt& s : to)
    if (s == SymInt(1)) s = g.size();
  if (g.chance(40)) to.insert(to.begin(), g.size());
  if (row.name == "aten.expand_as.default") return g.call(row, {x, g.input(g.any_dtype(), to)});
  return g.call(row, {x, g.sizes(to)});
}

Node* sliced(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const int64_t d = g.dim(x), start = g.between(0, 2), length = g.between(0, 5);
  const SymInt& size = shape_of(x).at(static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(rank_of(x)) : d));
  std::vector<Argument> args{x, d, g.chance(20) ? -start - 1 : start, g.chance(30) ? INT64_MAX : start + length};
  if (!size.is_const()) {  // starts and ends that are provably inside
    args[2] = g.between(0, 1);
    args[3] = g.chance(50) ? Argument(INT64_MAX) : Argument(size - SymInt(g.between(0, 1)));
  }
  if (g.chance(10)) args[2] = Argument();
  if (g.chance(25)) args.emplace_back(g.between(1, 3));
  return g.call(row, std::move(args));
}

/// A dimension of `x` with elements, and how many there surely are.
struct Place {
  int64_t dim, count;
};
std::optional<Place> some_dim(G& g, const Node* x) {
  const size_t d = g.below(rank_of(x));
  const SymInt n = shape_of(x)[d];
  const int64_t count = n.is_const() ? n.value() : std::min<int64_t>(2, range(n).min);
  if (count <= 0) return {};
  return Place{static_cast<int64_t>(d), count};
}

Node* selected(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const auto place = some_dim(g, x);
  if (!place) return nullptr;
  const int64_t index = g.between(0, place->count - 1);
  const bool known = shape_of(x)[static_cast<size_t>(place->dim)].is_const();
  return g.call(row, {x, place->dim, g.chance(20) && known ? index - place->count : index});
}

Node* narrowed(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const auto place = some_dim(g, x);
  if (!place) return nullptr;
  const int64_t start = g.between(0, place->count - 1);
  return g.call(row, {x, place->dim, start, g.between(0, place->count - start)});
}

Node* split(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const auto place = some_dim(g, x);
  if (!place) return nullptr;
  if (row.schema.params[1].name == "dim") return g.call(row, {x, place->dim});
  if (!row.schema.params[1].list) return g.call(row, {x, g.between(1, 3), place->dim});
  const SymInt n = shape_of(x)[static_cast<size_t>(place->dim)];
  const int64_t first = g.between(0, place->count);
  return g.call(row, {x, g.sizes({first, n - SymInt(first)}), place->dim});
}

/// What broadcasting would add is summed over.
Node* summed(G& g, const OpDef& row) {
  Node* x = g.number();
  return g.call(row, {x, g.sizes(g.smaller_shape(shape_of(x)))});
}

Node* unfolded(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const auto place = some_dim(g, x);
  if (!place) return nullptr;
  return g.call(row, {x, place->dim, g.between(1, place->count), g.between(1, 3)});
}

Node* as_strided(G& g, const OpDef& row) {
  // What is scattered into must lie row by row, which a decomposed copy or expansion does not.
  const bool scatters = row.name != "aten.as_strided.default";
  Node* x = scatters ? g.input(g.main_dtype(), g.random_shape(0, 3)) : g.value();
  if (scatters && !x->tensor().is_contiguous()) return nullptr;
  // A view looks at all the memory of what it is a view of, which may be more than its operand.
  if (!scatters && (g.chance(30) || !memory_order(storage_owner(*x).tensor()))) x = g.contiguous(x);
  const Node& owner = scatters ? *x : storage_owner(*x);
  if (!memory_order(owner.tensor())) return nullptr;
  const SymInt elements = elements_in_memory(owner.tensor(), dtype_of(x));
  if (!elements.is_const() || elements == SymInt(0)) return nullptr;
  const int64_t room = elements.value();
  std::vector<int64_t> sizes, strides;
  int64_t offset = g.between(0, std::min<int64_t>(2, room - 1)), last = offset;
  for (size_t d = g.below(4); d-- > 0;) {
    const int64_t stride = g.between(0, 4), most = stride ? (room - 1 - last) / stride + 1 : 3;
    sizes.push_back(g.between(1, std::min<int64_t>(most, 5)));
    strides.push_back(stride);
    last += (sizes.back() - 1) * stride;
  }
  if (row.name == "aten.as_strided_scatter.default") {
    Shape shape(sizes.begin(), sizes.end());
    for (size_t d = 0; d < strides.size(); ++d)  // no place twice
      if (strides[d] == 0 || d > 0) return nullptr;
    return g.call(row, {x, g.of(dtype_of(x), shape), G::ints(sizes), G::ints(strides), offset});
  }
  return g.call(row, {x, G::ints(sizes), G::ints(strides), offset});
}

Node* diagonal(G& g, const OpDef& row) {
  Node* x = g.value(2);
  return g.chance(50) ? g.call(row, {x, g.between(-1, 1)}) : g.call(row, {x, g.between(-1, 1), g.dim(x), g.dim(x)});
}

Node* flipped(G& g, const OpDef& row) {
  Node* x = g.value();
  return g.call(row, {x, G::ints(g.dims(x))});
}

Node* one_operand(G& g, const OpDef& row) { return g.call(row, {g.value()}); }

Node* repeated(G& g, const OpDef& row) {
  Node* x = g.value(0, 4);
  std::vector<int64_t> counts(rank_of(x) + g.below(2));
  if (row.name == "aten.tile.default" && g.chance(30) && !counts.empty()) counts.pop_back();
  for (int64_t& n : counts) n = g.chance(10) ? 0 : g.between(1, 2);
  return g.call(row, {x, G::ints(counts)});
}

Node* rolled(G& g, const OpDef& row) {
  Node* x = g.value();
  if (g.chance(30)) return g.call(row, {x, G::ints({g.between(-3, 3)})});
  std::vector<int64_t> at = g.dims(x), shifts;
  for (size_t i = 0; i < at.size(); ++i) shifts.push_back(g.between(-3, 3));
  return at.empty() ? nullptr : g.call(row, {x, G::ints(shifts), G::ints(at)});
}

Node* rolled_everywhere(G& g, const OpDef& row) {
  Node* x = g.value();
  std::vector<int64_t> shifts;
  for (size_t i = 0; i < x->type.tensor.shape.size(); ++i) shifts.push_back(g.chance(60) ? g.between(-3, 3) : 0);
  return g.call(row, {x, G::ints(shifts)});
}

Node* interleaved(G& g, const OpDef& row) {
  Node* x = g.value();
  return g.call(row, {x, g.between(0, 3), g.chance(70) ? Argument(g.dim(x)) : Argument()});
}

Node* shuffled_pixels(G& g, const OpDef& row) {
  const bool in = row.name == "aten.pixel_shuffle.default";
  const int64_t f = g.between(1, 2), c = g.between(1, 2);
  Shape shape = in ? Shape{c * f * f, g.size(), g.size()} : Shape{c, g.between(1, 3) * f, g.between(1, 3) * f};
  if (g.chance(70)) shape.insert(shape.begin(), g.size());
  return g.call(row, {g.of(g.chance(80) ? g.main_dtype() : g.any_dtype(), shape), f});
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.view.default", reshaped},
    {"aten.reshape.default", reshaped},
    {"aten._unsafe_view.default", reshaped},
    {"aten.view_as.default", like_another},
    {"aten.reshape_as.default", like_another},
    {"aten.view_copy.default", reshaped},
    {"aten.transpose_copy.int", two_dims},
    {"aten.expand_copy.default", expanded},
    {"aten.select_copy.int", selected},
    {"aten.narrow_copy.default", narrowed},
    {"aten.unfold_copy.default", unfolded},
    {"aten.unsafe_chunk.default", split},
    {"aten.unsafe_split.Tensor", split},
    {"aten.sum_to_size.default", summed},
    {"aten.flatten.using_ints", flattened},
    {"aten.ravel.default", flattened},
    {"aten.unflatten.int", unflattened},
    {"aten.squeeze*", squeezed},
    {"aten.unsqueeze.default", unsqueezed},
    {"aten.permute.default", permuted},
    {"aten.transpose.int", two_dims},
    {"aten.swapaxes.default", two_dims},
    {"aten.transpose_.default", two_dims},
    {"aten.swapaxes_.default", two_dims},
    {"aten.swapdims_.default", two_dims},
    {"aten.movedim.int", two_dims},
    {"aten.movedim.intlist", moved},
    {"aten.moveaxis.int", two_dims},
    {"aten.moveaxis.intlist", moved},
    {"aten.swapdims.default", two_dims},
    {"aten.t.default", matrix_turned},
    {"aten.mT.default", matrix_turned},
    {"aten.adjoint.default", matrix_turned},
    {"aten.expand.default", expanded},
    {"aten.expand_as.default", expanded},
    {"aten.broadcast_to.default", expanded},
    {"aten.slice.Tensor", sliced},
    {"aten.select.int", selected},
    {"aten.narrow.default", narrowed},
    {"aten.split*", split},
    {"aten.chunk.default", split},
    {"aten.unbind.int", split},
    {"aten.unfold.default", unfolded},
    {"aten.as_strided.default", as_strided},
    {"aten.as_strided_copy.default", as_strided},
    {"aten.as_strided_scatter.default", as_strided},
    {"aten.diagonal.default", diagonal},
    {"aten.flip.default", flipped},
    {"aten.alias.default", one_operand},
    {"aten.detach.default", one_operand},
    {"aten.lift_fresh*", one_operand},
    {"aten.repeat.default", repeated},
    {"aten.tile.default", repeated},
    {"aten.roll.default", rolled},
    {"prims.roll.default", rolled_everywhere},
    {"aten.repeat_interleave.self_int", interleaved},
    {"aten.pixel_shuffle.default", shuffled_pixels},
    {"aten.pixel_unshuffle.default", shuffled_pixels},
};

}  // namespace

std::span<const RecipeEntry> view_recipes() { return kRecipes; }

}  // namespace strata::fuzz
