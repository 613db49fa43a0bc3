// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Joining, borders, tensors made of nothing.

#include <algorithm>

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

Node* joined(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const bool stacks = row.name == "aten.stack.default";
  const int64_t rank = static_cast<int64_t>(rank_of(x)) + (stacks ? 1 : 0), d = g.between(0, rank - 1);
  std::vector<Argument> items{x};
  for (size_t i = g.below(4); i-- > 0;) {
    Shape s = shape_of(x);
    if (!stacks && g.chance(60)) s[static_cast<size_t>(d)] = g.size();
    items.emplace_back(g.of(g.chance(85) ? dtype_of(x) : g.any_dtype(), s));
  }
  if (g.chance(20)) items.push_back(items.front());
  return g.call(row, {Argument::list(items), g.chance(20) ? d - rank : d});
}

/// hstack and its like, of tensors of one shape; what only looks at each may have any.
Node* joined_in_a_word(G& g, const OpDef& row) {
  Node* x = g.value(0, 4);
  std::vector<Argument> items{x};
  const bool block = row.name == "aten.block_diag.default", each = has_name(row.name, {"atleast", "broadcast"});
  if (block) items[0] = x = g.value(0, 2);
  for (size_t i = g.below(3); i-- > 0;) {
    const Shape s = block ? g.random_shape(0, 2) : each ? g.smaller_shape(shape_of(x)) : shape_of(x);
    items.emplace_back(g.of(g.chance(85) ? dtype_of(x) : g.any_dtype(), s));
  }
  Node* made = g.call(row, {Argument::list(items)});
  return each ? g.part(made, g.below(items.size())) : made;
}

Node* piece(G& g, const OpDef& row) {
  const bool named = row.name.starts_with("aten.tensor_split");
  Node* x = g.value(named || row.name[5] == 'h' ? 1 : row.name[5] == 'v' ? 2 : 3);
  const size_t d = named ? g.below(rank_of(x)) : row.name[5] == 'h' && rank_of(x) > 1 ? 1 : row.name[5] == 'd' ? 2 : 0;
  const int64_t n = g.concrete(shape_of(x)[d]), count = named ? g.between(1, 4) : n % 2 == 0 && g.chance(70) ? 2 : 1;
  const bool at = has_name(row.name, {"indices", "array"});
  std::vector<int64_t> ends;
  for (int64_t i = 1; i < count; ++i) ends.push_back(g.between(-2, 4));
  std::vector<Argument> args{x, at ? G::ints(ends) : Argument(count)};
  if (named) args.emplace_back(static_cast<int64_t>(d) - (g.chance(20) ? static_cast<int64_t>(rank_of(x)) : 0));
  return g.part(g.call(row, std::move(args)), g.below(at ? ends.size() + 1 : static_cast<size_t>(count)));
}

Node* shuffled(G& g, const OpDef& row) {
  const int64_t groups = g.between(1, 3);
  Shape shape{g.size(), SymInt(groups * g.between(1, 3)), g.size()};
  if (g.chance(50)) shape.push_back(g.size());
  return g.call(row, {g.of(g.any_dtype(), shape), groups});
}

/// Windows of images as columns, and back.
Node* unfolded(G& g, const OpDef& row) {
  std::vector<int64_t> kernel, dilation, padding, stride, image, windows;
  for (size_t d = 0; d < 2; ++d) {
    kernel.push_back(g.between(1, 3));
    dilation.push_back(g.between(1, 2));
    padding.push_back(g.between(0, 2));
    stride.push_back(g.between(1, 2));
    image.push_back(g.between(5, 8));
    windows.push_back((image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1);
  }
  Shape shape{g.size()};
  const bool back = row.name == "aten.col2im.default";
  const int64_t channels = g.between(1, 2);
  if (back)
    shape.insert(shape.end(), {SymInt(channels * kernel[0] * kernel[1]), SymInt(windows[0] * windows[1])});
  else
    shape.insert(shape.end(), {SymInt(channels), SymInt(image[0]), SymInt(image[1])});
  std::vector<Argument> args{g.of(g.chance(80) ? g.main_dtype() : g.floating_dtype(), shape)};
  if (back) args.push_back(G::ints(image));
  for (const auto& list : {kernel, dilation, padding, stride}) args.push_back(G::ints(list));
  return g.call(row, std::move(args));
}

Node* padded_by_number(G& g, const OpDef& row) {
  Node* x = g.value(1);
  std::vector<int64_t> widths;
  for (size_t i = 2 * (1 + g.below(std::min<size_t>(2, rank_of(x)))); i-- > 0;)
    widths.push_back(g.between(0, 2) - (g.chance(10) ? 1 : 0));
  if (row.name == "aten.pad.default")
    return g.call(row, {x, G::ints(widths), "constant", g.chance(50) ? Argument() : Argument(1.5)});
  return g.call(row, {x, G::ints(widths), g.scalar(dtype_of(x))});
}

/// Borders made of the tensor itself: at most as wide as it is.
Node* bordered(G& g, const OpDef& row) {
  const bool any = row.name == "aten.pad.default" || row.name == "prims.circular_pad.default";
  const size_t n = any ? 1 + g.below(3) : static_cast<size_t>(row.name[row.name.find("_pad") + 4] - '0');
  Shape shape = g.random_shape(any || g.chance(70) ? 2 : 1, any || g.chance(70) ? 2 : 1);
  std::vector<int64_t> widths;
  for (size_t d = 0; d < n; ++d) {
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(shape.size() - d), SymInt(g.between(3, 6)));
    widths.push_back(g.between(0, 2));
    widths.push_back(g.between(0, 2));
  }
  Node* x = g.of(g.chance(80) ? g.main_dtype() : g.floating_dtype(), shape);
  if (row.name != "aten.pad.default") return g.call(row, {x, G::ints(widths)});
  return g.call(row, {x, G::ints(widths), g.pick({"reflect", "replicate", "circular"})});
}

Node* padded(G& g, const OpDef& row) { return g.chance(50) ? padded_by_number(g, row) : bordered(g, row); }

Node* difference(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const int64_t d = g.dim(x);
  if (g.chance(60)) return g.call(row, {x, g.between(0, 2), d});
  return g.call(row, {x, 1, d, g.of(dtype_of(x), shape_of(x)), g.chance(50) ? Argument() : Argument(x)});
}

Node* grid(G& g, const OpDef& row) {
  std::vector<Argument> items;
  const DType dtype = g.any_dtype();
  for (size_t i = 1 + g.below(3); i-- > 0;) items.emplace_back(g.of(dtype, g.random_shape(0, 1)));
  if (row.schema.params.size() == 1) return g.call(row, {Argument::list(items)});
  return g.call(row, {Argument::list(items)}, {{"indexing", g.chance(50) ? "ij" : "xy"}});
}

using Keywords = std::vector<std::pair<std::string, Argument>>;
Keywords some_dtype(G& g) { return g.chance(70) ? Keywords{{"dtype", g.any_dtype()}} : Keywords{}; }

Node* made_of_size(G& g, const OpDef& row) {
  std::vector<Argument> args;
  if (row.schema.params[0].name == "self") args.emplace_back(g.value());
  args.push_back(g.sizes(g.random_shape(0, 3)));
  const bool number = has_name(row.name, {"full"});
  if (number) args.push_back(g.scalar(DType::I64));
  return g.call(row, std::move(args), some_dtype(g));
}

Node* made_like(G& g, const OpDef& row) {
  Node* x = g.value();
  std::vector<Argument> args{x};
  if (row.name == "aten.full_like.default") args.push_back(g.scalar(dtype_of(x)));
  return g.call(row, std::move(args), some_dtype(g));
}

/// What memory holds is not defined before something is written to it.
Node* made_empty(G& g, const OpDef& row) {
  const bool strided = has_name(row.name, {"strided"});
  const Shape shape = g.random_shape(0, 3);
  if (row.name == "aten.empty_permuted.default") {
    std::vector<int64_t> order;
    for (size_t d = shape.size(); d-- > 0;) order.push_back(static_cast<int64_t>(d));
    return g.call("aten.fill.Scalar", {g.call(row, {g.sizes(shape), G::ints(order)}, some_dtype(g)), 1});
  }
  std::vector<Argument> args;
  if (row.schema.params[0].name == "self") args.emplace_back(g.value());
  if (!has_name(row.name, {"like"})) args.push_back(g.sizes(shape));
  if (strided) args.push_back(g.sizes(contiguous_strides(shape)));
  Node* made = g.call(row, std::move(args), some_dtype(g));
  return g.call("aten.fill.Scalar", {made, 1});
}

Node* filled(G& g, const OpDef& row) {
  Node* x = g.value();
  if (row.schema.params[1].type == "Scalar") return g.call(row, {x, g.scalar(dtype_of(x))});
  if (name_of(row) == "aten.fill.Tensor") return g.call(row, {x, g.of(g.chance(70) ? dtype_of(x) : DType::I8, {})});
  Node* from = g.of(g.chance(70) ? dtype_of(x) : g.any_dtype(), g.smaller_shape(shape_of(x)));
  if (is_floating(dtype_of(from)) && !is_floating(dtype_of(x))) from = g.tame(from);
  return g.call(row, {x, from});
}

Node* range(G& g, const OpDef& row) {
  const DType dtype = g.pick({DType::I64, DType::I32, DType::F32, DType::F64, DType::F16, DType::BF16});
  const bool fractions = is_floating(dtype) && g.chance(30);
  const SymInt end = g.size();
  if (row.name == "aten.arange.default")
    return g.call(row, {g.sizes({end}).as<ListArg>()->items[0]}, {{"dtype", dtype}});
  const int64_t start = g.between(-3, 3), step = g.between(1, 3);
  if (row.name == "aten.arange.start") return g.call(row, {start, start + g.between(0, 9)}, {{"dtype", dtype}});
  if (fractions) return g.call(row, {0.5, 4.0, 0.75}, {{"dtype", dtype}});
  return g.chance(50) ? g.call(row, {start, start + g.between(0, 9), step}, {{"dtype", dtype}})
                      : g.call(row, {start, start - g.between(0, 9), -step}, {{"dtype", dtype}});
}

Node* iota(G& g, const OpDef& row) {
  return g.call(row, {g.sizes({g.size()}).as<ListArg>()->items[0]},
                {{"start", g.between(-2, 2)},
                 {"step", g.between(1, 3)},
                 {"dtype", g.chance(50) ? DType::I64 : DType::I32},
                 {"device", DeviceArg{"cpu"}},
                 {"requires_grad", false}});
}

/// linspace and logspace; ends are numbers or tensors of no dimension.
Node* spaced(G& g, const OpDef& row) {
  const auto end = [&](const Param& p) {
    return p.type == "Tensor" ? Argument(g.input(DType::F32, {}, {Domain::Kind::Tame, 0, 0}))
                              : Argument(static_cast<double>(g.between(-4, 4)) / 2);
  };
  std::vector<Argument> args{end(row.schema.params[0]), end(row.schema.params[1]), g.between(0, 9)};
  if (has_name(row.name, {"logspace"}) && g.chance(40)) args.emplace_back(2.0);
  return g.call(row, std::move(args),
                {{"dtype", g.pick({DType::F32, DType::F64, DType::F32, DType::BF16, DType::F16})}});
}

Node* identity(G& g, const OpDef& row) {
  std::vector<Argument> args{g.between(0, 5)};
  if (row.name == "aten.eye.m") args.emplace_back(g.between(0, 5));
  return g.call(row, std::move(args), some_dtype(g));
}

Node* triangle_places(G& g, const OpDef& row) {
  return g.call(row, {g.between(0, 4), g.between(0, 4), g.between(-2, 2)});
}

Node* lone_number(G& g, const OpDef& row) { return g.call(row, {g.scalar(g.any_dtype())}, some_dtype(g)); }

Node* tuples(G& g, const OpDef& row) {
  Node* x = g.value(1, 1);
  return g.call(row, {Argument::list({x, g.of(dtype_of(x), {g.size()})})});
}

Node* triangle(G& g, const OpDef& row) { return g.call(row, {g.value(2), g.between(-2, 2)}); }

Node* padded_sequences(G& g, const OpDef& row) {
  Node* x = g.value(1, 3);
  std::vector<Argument> items{x};
  for (size_t i = g.below(3); i-- > 0;) {
    Shape s = shape_of(x);
    s[0] = g.between(0, 4);
    items.emplace_back(g.of(dtype_of(x), s));
  }
  if (!shape_of(x)[0].is_const()) return nullptr;
  return g.call(row, {Argument::list(items), g.chance(50), 0.5, g.chance(50) ? "left" : "right"});
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.cat.default", joined},
    {"aten.stack.default", joined},
    {"aten.concat.default", joined},
    {"aten.pad_sequence.default", padded_sequences},
    {"aten.concatenate.default", joined},
    {"aten.row_stack.default", joined_in_a_word},
    {"aten.cartesian_prod.default", tuples},
    {"aten.constant_pad_nd.default", padded_by_number},
    {"aten.pad.default", padded},
    {"aten.reflection_pad*", bordered},
    {"aten.replication_pad*", bordered},
    {"prims.circular_pad.default", bordered},
    {"aten.diff.default", difference},
    {"aten.meshgrid*", grid},
    {"aten.hstack.default", joined_in_a_word},
    {"aten.vstack.default", joined_in_a_word},
    {"aten.dstack.default", joined_in_a_word},
    {"aten.column_stack.default", joined_in_a_word},
    {"aten.atleast_*.Sequence", joined_in_a_word},
    {"aten.broadcast_tensors.default", joined_in_a_word},
    {"aten.block_diag.default", joined_in_a_word},
    {"aten.tensor_split.*", piece},
    {"aten.hsplit.*", piece},
    {"aten.vsplit.*", piece},
    {"aten.dsplit.*", piece},
    {"aten.channel_shuffle.default", shuffled},
    {"aten.im2col.default", unfolded},
    {"aten.col2im.default", unfolded},
    {"aten.full.default", made_of_size},
    {"aten.zeros.default", made_of_size},
    {"aten.ones.default", made_of_size},
    {"aten.new_zeros.default", made_of_size},
    {"aten.new_ones.default", made_of_size},
    {"aten.new_full.default", made_of_size},
    {"aten.zeros_like.default", made_like},
    {"aten.ones_like.default", made_like},
    {"aten.full_like.default", made_like},
    {"aten.empty*", made_empty},
    {"aten.new_empty*", made_empty},
    {"aten.fill.*", filled},
    {"aten.copy.default", filled},
    {"aten.arange*", range},
    {"prims.iota.default", iota},
    {"aten.linspace*", spaced},
    {"aten.logspace*", spaced},
    {"aten.eye*", identity},
    {"aten.scalar_tensor.default", lone_number},
    {"aten.tril_indices.default", triangle_places},
    {"aten.triu_indices.default", triangle_places},
    {"aten.tril.default", triangle},
    {"aten.triu.default", triangle},
};

}  // namespace

std::span<const RecipeEntry> join_recipes() { return kRecipes; }

}  // namespace strata::fuzz
