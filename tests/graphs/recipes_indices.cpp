// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reading and writing at places that data tells, searching, sorting.

#include <algorithm>

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

size_t below_rank(G& g, const Node* x) { return g.below(rank_of(x)); }
int64_t as_dim(size_t d) { return static_cast<int64_t>(d); }

Node* looked_up(G& g, const OpDef& row) {
  Node* table = g.value(2, 2);
  Node* index = g.indices(0, shape_of(table)[0], g.random_shape(0, 2), g.chance(80) ? DType::I64 : DType::I32);
  return index ? g.call(row, {table, index}) : nullptr;
}

Node* gathered(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const size_t d = below_rank(g, x);
  Shape s = shape_of(x);
  for (SymInt& n : s)
    if (n.is_const() && n.value() > 1 && g.chance(20)) n = n.value() - 1;
  s[d] = g.size();
  Node* index = g.indices(0, shape_of(x)[d], s);
  return index ? g.call(row, {x, as_dim(d), index}) : nullptr;
}

Node* taken_along(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const size_t d = below_rank(g, x);
  Shape s = shape_of(x);
  s[d] = g.size();
  Node* index = g.indices(0, shape_of(x)[d], s);
  return index ? g.call(row, {x, index, as_dim(d)}) : nullptr;
}

Node* rows_selected(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const size_t d = below_rank(g, x);
  Node* index = g.indices(0, shape_of(x)[d], {g.size()}, g.chance(80) ? DType::I64 : DType::I32);
  return index ? g.call(row, {x, as_dim(d), index}) : nullptr;
}

/// Index tensors that broadcast with each other, with None between them now and then; null if some dimension is empty.
struct Indices {
  std::vector<Argument> items;
  Shape shape;  ///< of what they select
};
std::optional<Indices> some_indices(G& g, const Node* x) {
  Indices found;
  const Shape common = g.random_shape(0, 2);
  const size_t count = 1 + g.below(std::min<size_t>(3, rank_of(x)));
  size_t first = SIZE_MAX, last = 0, used = 0;
  for (size_t d = 0; d < count; ++d) {
    if (count > 1 && g.chance(30)) {
      found.items.emplace_back();
      continue;
    }
    const SymInt n = shape_of(x)[d];
    Node* index = g.indices(n.is_const() && g.chance(20) ? SymInt(-n.value()) : SymInt(0), n, common);
    if (!index) return {};
    found.items.emplace_back(index);
    first = std::min(first, d);
    last = d;
    ++used;
  }
  if (used == 0) return {};
  const bool adjacent = last - first + 1 == used;
  if (!adjacent) found.shape = common;
  for (size_t d = 0; d < rank_of(x); ++d) {
    if (adjacent && d == first) found.shape.insert(found.shape.end(), common.begin(), common.end());
    if (d >= count || found.items[d].is_none()) found.shape.push_back(shape_of(x)[d]);
  }
  return found;
}

Node* indexed(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const auto indices = some_indices(g, x);
  return indices ? g.call(row, {x, Argument::list(indices->items)}) : nullptr;
}

Node* masked_indexed(G& g, const OpDef& row) {
  Node* x = g.number(1);
  const auto indices = some_indices(g, x);
  if (!indices) return nullptr;
  for (const SymInt& n : shape_of(x))
    if (g.concrete(n) == 0) return nullptr;  // no place exists, masked or not
  Node* mask = g.of(DType::Bool, shape_of(g.call("aten.index.Tensor", {x, Argument::list(indices->items)})));
  return g.call(row, {x, mask, Argument::list(indices->items), g.scalar(dtype_of(x))});
}

Node* indices_put(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const auto indices = some_indices(g, x);
  if (!indices) return nullptr;
  Node* values = g.of(dtype_of(x), g.smaller_shape(indices->shape));
  return g.call(row, {x, Argument::list(indices->items), values, g.chance(40)});
}

Node* masked_indices_put(G& g, const OpDef& row) {
  Node* x = g.floating(1);
  const Shape s = g.random_shape(1, 1);
  Shape values = s;
  values.insert(values.end(), shape_of(x).begin() + 1, shape_of(x).end());
  Node* index = g.indices(0, shape_of(x)[0], s);
  if (!index || rank_of(x) > 1) return nullptr;
  return g.call(row, {x, g.of(DType::Bool, s), Argument::list({index}), g.of(dtype_of(x), values)});
}

/// `scatter` and what is like it.
Node* scattered(G& g, const OpDef& row) {
  const std::string_view name = name_of(row);
  Node* x = g.number(1);
  const size_t d = below_rank(g, x);
  Shape s = shape_of(x);
  for (SymInt& n : s)
    if (n.is_const() && n.value() > 1 && g.chance(30)) n = g.between(1, n.value());
  Node* index = g.indices(0, shape_of(x)[d], s);
  if (!index) return nullptr;
  std::vector<Argument> args{x, as_dim(d), index};
  if (has_name(name, {"value"}))
    args.push_back(g.scalar(dtype_of(x)));
  else
    args.emplace_back(g.of(dtype_of(x), s));
  if (name == "aten.scatter.reduce" || name == "aten.scatter.value_reduce")
    return g.call(row, std::move(args), {{"reduce", g.chance(50) ? "add" : "multiply"}});
  if (name != "aten.scatter_reduce.two") return g.call(row, std::move(args));
  args.emplace_back(g.pick({"sum", "prod", "mean", "amax", "amin"}));
  return g.call(row, std::move(args), {{"include_self", g.chance(60)}});
}

Node* rows_written(G& g, const OpDef& row) {
  Node* x = g.number(1);
  const size_t d = below_rank(g, x);
  Shape s = shape_of(x);
  s[d] = g.between(0, 4);
  Node* index = g.indices(0, shape_of(x)[d], {s[d]});
  if (!index) return nullptr;
  std::vector<Argument> args{x, as_dim(d), index};
  if (name_of(row) == "aten.index_fill.int_Scalar")
    args.push_back(g.scalar(dtype_of(x)));
  else
    args.emplace_back(g.of(dtype_of(x), name_of(row) == "aten.index_fill.int_Tensor" ? Shape{} : s));
  if (has_name(row.name, {"index_reduce"})) {
    if (!is_floating(dtype_of(x))) return nullptr;
    args.emplace_back(g.pick({"prod", "mean", "amax", "amin"}));
    return g.call(row, std::move(args), {{"include_self", g.chance(60)}});
  }
  return g.call(row, std::move(args));
}

Node* put(G& g, const OpDef& row) {
  Node* x = g.number();
  SymInt count = 1;
  for (const SymInt& n : shape_of(x)) count = count * n;
  if (!count.is_const()) return nullptr;
  const Shape s = g.random_shape(0, 2);
  Node* index = g.indices(0, count, s);
  return index ? g.call(row, {x, index, g.of(dtype_of(x), s), g.chance(40)}) : nullptr;
}

Node* taken(G& g, const OpDef& row) {
  Node* x = g.value();
  SymInt count = 1;
  for (const SymInt& n : shape_of(x)) count = count * n;
  if (!count.is_const()) return nullptr;
  Node* index = g.indices(0, count, g.random_shape(0, 2));
  return index ? g.call(row, {x, index}) : nullptr;
}

Node* mask_scattered(G& g, const OpDef& row) {
  Node* x = g.value();
  return g.call(row, {x, g.of(DType::Bool, shape_of(x)), g.of(dtype_of(x), shape_of(x))});
}

Node* masked_fill(G& g, const OpDef& row) {
  Node* x = g.value();
  Node* mask = g.of(DType::Bool, g.smaller_shape(shape_of(x)));
  if (name_of(row) == "aten.masked_fill.Scalar") return g.call(row, {x, mask, g.scalar(dtype_of(x))});
  return g.call(row, {x, mask, g.of(dtype_of(x), {})});
}

Node* slice_written(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const size_t d = below_rank(g, x);
  const SymInt n = shape_of(x)[d];
  if (!n.is_const()) return nullptr;
  const int64_t start = g.between(0, n.value()), end = g.between(start, n.value()), step = g.between(1, 2);
  Shape s = shape_of(x);
  s[d] = (end - start + step - 1) / step;
  return g.call(row, {x, g.of(dtype_of(x), s), as_dim(d), start, end, step});
}

Node* index_written(G& g, const OpDef& row) {
  Node* x = g.value(1);
  const size_t d = below_rank(g, x);
  const SymInt n = shape_of(x)[d];
  if (!n.is_const() || n.value() == 0) return nullptr;
  Shape s = shape_of(x);
  s.erase(s.begin() + as_dim(d));
  const int64_t at = g.between(0, n.value() - 1);
  return g.call(row, {x, g.of(dtype_of(x), s), as_dim(d), g.chance(25) ? at - n.value() : at});
}

Node* diagonal_written(G& g, const OpDef& row) {
  Node* x = g.value(2);
  const int64_t offset = g.between(-1, 1);
  Node* line = g.call("aten.diagonal.default", {x, offset});
  return g.call(row, {x, g.of(dtype_of(x), shape_of(line)), offset});
}

Node* classes(G& g, const OpDef& row) {
  const int64_t n = g.between(1, 5);
  Node* index = g.indices(0, n, g.random_shape(0, 2));
  return index ? g.call(row, {index, n}) : nullptr;
}

Node* table_gradient(G& g, const OpDef& row) {
  const int64_t rows = g.between(1, 5);
  const Shape s = g.random_shape(1, 2);
  Shape dy = s;
  dy.push_back(g.size());
  Node* index = g.indices(0, rows, s);
  return index ? g.call(row, {g.of(g.floating_dtype(), dy), index, rows, g.between(-1, rows - 1), false}) : nullptr;
}

Node* searched(G& g, const OpDef& row) {
  const bool buckets = has_name(row.name, {"bucketize"});
  const DType dtype = g.chance(70) ? DType::F32 : DType::I64;
  Node* line = g.call("aten.arange.start", {-4, g.between(-4, 5)}, {{"dtype", dtype}});
  const bool scalar = has_name(row.name, {"Scalar"});
  const Argument value = scalar ? g.scalar(dtype) : Argument(g.of(dtype, g.random_shape(0, 3)));
  std::vector<std::pair<std::string, Argument>> kwargs{{"out_int32", g.chance(30)}, {"right", g.chance(50)}};
  return buckets ? g.call(row, {value, line}, std::move(kwargs)) : g.call(row, {line, value}, std::move(kwargs));
}

/// Sorting, and what is chosen along one dimension.
Node* sorted(G& g, const OpDef& row) {
  const bool all = row.schema.params.size() == 1;
  Node* x = g.number(all ? 0 : 1);
  if (all) return g.call(row, {x});
  const size_t d = below_rank(g, x);
  const SymInt n = shape_of(x)[d];
  const bool selects = has_name(row.name, {"median", "mode", "kthvalue", "cummax", "cummin", "logcumsumexp"});
  if (selects && (!n.is_const() || n.value() == 0)) return nullptr;
  if (row.name == "aten.logcumsumexp.default") return is_floating(dtype_of(x)) ? g.call(row, {x, as_dim(d)}) : nullptr;
  if (row.name == "aten.kthvalue.default") return g.call(row, {x, g.between(1, n.value()), as_dim(d), g.chance(50)});
  if (row.name == "aten.topk.default")
    return n.is_const() ? g.call(row, {x, g.between(0, n.value()), as_dim(d), g.chance(50), true}) : nullptr;
  if (has_name(row.name, {"stable"}))
    return g.call(row, {x}, {{"stable", true}, {"dim", as_dim(d)}, {"descending", g.chance(50)}});
  if (has_name(row.name, {"sort"})) return g.call(row, {x, as_dim(d), g.chance(50)});
  if (has_name(row.name, {"cumm"})) return g.call(row, {x, as_dim(d)});
  return g.call(row, {x, as_dim(d), g.chance(50)});
}

Node* quantile(G& g, const OpDef& row) {
  Node* x = g.input(g.chance(70) ? DType::F32 : DType::F64, {g.between(1, 4), g.between(1, 5)});
  const Argument q = has_name(row.name, {"scalar"})
                         ? Argument(g.pick({0.0, 0.25, 0.4, 1.0}))
                         : Argument(g.input(dtype_of(x), g.random_shape(0, 1), {Domain::Kind::Unit, 0, 0}));
  return g.call(row, {x, q, g.chance(70) ? Argument(g.dim(x)) : Argument(), g.chance(50)},
                {{"interpolation", g.pick({"linear", "lower", "higher", "midpoint", "nearest"})}});
}

Node* nonzero_places(G& g, const OpDef& row) {
  return g.call(row, {g.value()}, {{"size", g.between(0, 6)}, {"fill_value", g.between(-1, 3)}});
}

/// Bags that follow each other, some of them empty.
Node* bags(G& g, const OpDef& row) {
  Node* table = g.floating(2, 2);
  const SymInt n = g.size();
  Node* index = g.indices(0, shape_of(table)[0], {n});
  Node* cuts = g.indices(0, n + 1, {g.size()});
  if (!index || !cuts) return nullptr;
  Node* none = g.call("aten.full.default", {Argument::list({1}), 0}, {{"dtype", DType::I64}});
  Node* sorted_cuts = g.part(g.call("aten.sort.default", {cuts}), 0);
  Node* offsets = g.call("aten.cat.default", {Argument::list({none, sorted_cuts})});
  const int64_t mode = g.between(0, 2);
  const Argument factors = mode == 0 && g.chance(40) ? Argument(g.of(dtype_of(table), {n})) : Argument();
  std::vector<Argument> args{table, index, offsets, false, mode, false, factors, g.chance(30)};
  if (has_name(row.name, {"padding", "_embedding"})) args.emplace_back(g.chance(60) ? 0 : -1);
  return g.part(g.call(row, std::move(args)), g.below(3));
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.embedding.default", looked_up},
    {"aten.embedding_bag*", bags},
    {"aten._embedding_bag*", bags},
    {"aten.gather.default", gathered},
    {"aten.take_along_dim.default", taken_along},
    {"aten.index_select.default", rows_selected},
    {"aten.index.Tensor", indexed},
    {"aten._unsafe_masked_index.default", masked_indexed},
    {"aten.index_put*", indices_put},
    {"aten._unsafe_index_put.default", indices_put},
    {"aten._unsafe_masked_index_put_accumulate.default", masked_indices_put},
    {"aten.scatter*", scattered},
    {"aten.index_add.default", rows_written},
    {"aten.index_copy.default", rows_written},
    {"aten.index_reduce.default", rows_written},
    {"aten.index_fill*", rows_written},
    {"aten.put.default", put},
    {"aten.take.default", taken},
    {"aten.masked_scatter.default", mask_scattered},
    {"aten.masked_fill*", masked_fill},
    {"aten.slice_scatter.default", slice_written},
    {"aten.select_scatter.default", index_written},
    {"aten.diagonal_scatter.default", diagonal_written},
    {"aten.one_hot.default", classes},
    {"aten.embedding_dense_backward.default", table_gradient},
    {"aten.searchsorted*", searched},
    {"aten.bucketize*", searched},
    {"aten.sort*", sorted},
    {"aten.argsort*", sorted},
    {"aten.msort.default", sorted},
    {"aten.topk.default", sorted},
    {"aten.kthvalue.default", sorted},
    {"aten.median*", sorted},
    {"aten.nanmedian*", sorted},
    {"aten.mode.default", sorted},
    {"aten.cummax.default", sorted},
    {"aten.cummin.default", sorted},
    {"aten.logcumsumexp.default", sorted},
    {"aten.quantile*", quantile},
    {"aten.nanquantile*", quantile},
    {"aten.nonzero_static.default", nonzero_places},
};

}  // namespace

std::span<const RecipeEntry> index_recipes() { return kRecipes; }

}  // namespace strata::fuzz
