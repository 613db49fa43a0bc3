// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Names that exported programs keep for what other operators compute: determinants, inverses and norms of matrices,
// bags of embeddings, differences along dimensions, and losses over classes.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/ir/ops/neural.h"
#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
using Shape = std::vector<SymInt>;

const Shape& sizes_of(const Node* x) { return x->tensor().shape; }
int64_t dims_of(const Node* x) { return static_cast<int64_t>(sizes_of(x).size()); }
Node* first(Builder& b, Node* tuple) { return b.getitem(tuple, 0); }

// ----------------------------------------------------------------------------------------------------- linear algebra

Nodes det(Builder& b, const Call& c) { return {first(b, b.call("aten._linalg_det.default", {c.arg(0)}))}; }

Nodes slogdet(Builder& b, const Call& c) {
  Node* parts = b.call("aten._linalg_slogdet.default", {c.arg(0)});
  return {b.getitem(parts, 0), b.getitem(parts, 1)};
}

Nodes logdet(Builder& b, const Call& c) {
  const Nodes parts = slogdet(b, c);
  return {where_else(b, b.call("aten.ne.Scalar", {parts[0], -1}), parts[1], NAN)};
}

Nodes inverse(Builder& b, const Call& c) { return {first(b, b.call("aten.linalg_inv_ex.default", {c.arg(0)}))}; }

Nodes solve(Builder& b, const Call& c) {
  return {first(b, b.call("aten._linalg_solve_ex.default", {c.arg(0), c.arg(1)}, {{"left", c.boolean(2)}}))};
}

Nodes cholesky(Builder& b, const Call& c) {
  return {first(b, b.call("aten.linalg_cholesky_ex.default", {c.arg(0)}, {{"upper", c.boolean(1)}}))};
}

/// The largest (order 2), the least (-2) or the sum (0) of the singular values of matrices over two dimensions.
Node* norm_of_values(Builder& b, Node* x, const std::vector<int64_t>& dims, double order, bool keepdim) {
  std::vector<int64_t> order_of_dims;
  for (int64_t d = 0; d < dims_of(x); ++d)
    if (d != dims[0] && d != dims[1]) order_of_dims.push_back(d);
  order_of_dims.insert(order_of_dims.end(), dims.begin(), dims.end());
  Node* values = b.call("aten.linalg_svdvals.default", {b.permute(x, order_of_dims)});
  Node* norm = order == 0 ? b.sum(values, {-1}, false)
                          : b.call(order > 0 ? "aten.amax.default" : "aten.amin.default", {values, int_list({-1})});
  if (keepdim)
    for (const int64_t d : {std::min(dims[0], dims[1]), std::max(dims[0], dims[1])}) norm = b.unsqueeze(norm, d);
  return norm;
}

/// Norms of matrices: Frobenius, the largest or least sum of a column or row, and those of the singular values.
Nodes matrix_norm(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const DType own = x->tensor().dtype;
  if (!is_floating(own) && !is_complex(own))
    reject(c, "expected a floating-point tensor, found " + std::string(dtype_name(own)));
  if (dims_of(x) < 2) reject(c, "expected at least two dimensions");
  std::vector<int64_t> dims;
  for (const SymInt& d : c.integers(2)) dims.push_back(d.value() + (d.value() < 0 ? dims_of(x) : 0));
  for (const int64_t d : dims)
    if (d < 0 || d >= dims_of(x)) reject(c, "dim: expected dimensions of a tensor of " + std::to_string(dims_of(x)));
  if (dims.size() != 2 || dims[0] == dims[1]) reject(c, "expected two different dimensions");
  std::vector<std::pair<std::string, Argument>> keywords;
  if (!c.is_none(4)) keywords.emplace_back("dtype", c.arg(4));
  const bool keepdim = c.boolean(3);
  const bool by_name = c.op().schema.params[1].type == "str";
  const std::string name = by_name ? c.string(1) : "";
  if (by_name && name != "fro" && name != "nuc") reject(c, "there is no norm '" + name + "'", "use 'fro' or 'nuc'");
  if (name == "fro")
    return {b.call("aten.linalg_vector_norm.default", {x, 2, int_list(dims), keepdim}, std::move(keywords))};
  const double order = by_name ? 0 : c.number(1);
  if (by_name || std::abs(order) == 2) {
    if (!c.is_none(4)) x = b.cast(x, *c.dtype(4));
    return {norm_of_values(b, x, dims, order, keepdim)};
  }
  if (std::abs(order) != 1 && !std::isinf(order))
    reject(c, "there is no such norm of matrices", "use an order of 1, -1, 2, -2, inf or -inf, 'fro' or 'nuc'");
  const bool columns = std::abs(order) == 1;  // sums down the columns, else along the rows
  const int64_t summed = columns ? dims[0] : dims[1], left = columns ? dims[1] : dims[0];
  Node* sums = b.call("aten.linalg_vector_norm.default", {x, 1, int_list({summed}), true}, std::move(keywords));
  // The largest of none is 0.
  const bool none = order > 0 && sizes_of(x)[static_cast<size_t>(left)] == SymInt(0);
  Node* norm = none ? b.sum(sums, {left}, true)
                    : b.call(order > 0 ? "aten.amax.default" : "aten.amin.default", {sums, int_list({left}), true});
  if (keepdim) return {norm};
  return {squeeze(b, squeeze(b, norm, std::max(summed, left)), std::min(summed, left))};
}

/// Of a vector where `dim` is one dimension, of matrices where it is two.
Nodes norm(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const bool by_name = c.op().schema.params[1].type == "str";
  const size_t rank = sizes_of(x).size(), given = c.is_none(2) ? 0 : c.integers(2).size();
  std::vector<std::pair<std::string, Argument>> keywords;
  if (!c.is_none(4)) keywords.emplace_back("dtype", c.arg(4));
  if (by_name || (!c.is_none(1) && (given == 2 || (given == 0 && rank == 2)))) {
    const Argument dims = given == 0 ? int_list({0, 1}) : c.arg(2);
    return {b.call(by_name ? "aten.linalg_matrix_norm.str_ord" : "aten.linalg_matrix_norm.default",
                   {x, c.arg(1), dims, c.boolean(3)}, std::move(keywords))};
  }
  if (!c.is_none(1) && given == 0 && rank != 1) reject(c, "expected a tensor of 1 or 2 dimensions, or dim");
  if (given > 1 && !c.is_none(1)) reject(c, "dim: expected 1 or 2 dimensions, found " + std::to_string(given));
  const Argument order = c.is_none(1) ? Argument(2) : c.arg(1);
  return {b.call("aten.linalg_vector_norm.default", {x, order, c.arg(2), c.boolean(3)}, std::move(keywords))};
}

/// Pairs of a vector's elements, in order.
Nodes combinations(Builder& b, const Call& c) {
  require_rank(c, 0, 1, 1);
  const int64_t count = c.constant(1);
  const SymInt& n = sizes_of(c.tensor(0))[0];
  if (count == 1) return {b.unsqueeze(c.tensor(0), 1)};
  if (count != 2) reject(c, "r: expected 1 or 2, found " + std::to_string(count));
  if (!n.is_const()) reject(c, "expected a vector of known length");
  Node* places = b.call("aten.triu_indices.default", {n.value(), n.value(), c.boolean(2) ? 0 : 1});
  const SymInt pairs = sizes_of(places)[1];
  Node* elements = b.call("aten.index_select.default", {c.tensor(0), 0, b.reshape(places, {pairs * 2})});
  return {b.transpose(b.reshape(elements, {SymInt(2), pairs}), 0, 1)};
}

// ------------------------------------------------------------------------------------------------------------- lookups

/// Lines of nothing but -infinity give 0 where softmax gives NaN.
Nodes safe_softmax(Builder& b, const Call& c) {
  const auto dim = static_cast<int64_t>(c.dim(1, sizes_of(c.tensor(0)).size()));
  Node* shares = b.call("aten.softmax.int", {c.tensor(0), dim, c.arg(2)});
  Node* some = b.call("aten.any.dim", {b.call("aten.ne.Scalar", {c.tensor(0), -HUGE_VAL}), dim, true});
  return {where_else(b, some, shares, 0)};
}

/// Elements at places that need not exist where the mask is false.
Nodes masked_index(Builder& b, const Call& c) {
  const auto* given = c.arg(2).as<ListArg>();
  if (!given || given->items.size() > sizes_of(c.tensor(0)).size())
    reject(c, "expected an index for each dimension at most, in a list");
  std::vector<Argument> places;
  for (size_t d = 0; d < given->items.size(); ++d) {
    Node* index = given->items[d].node();
    places.push_back(index ? Argument(b.call("aten.clamp.default", {index, 0, integer(sizes_of(c.tensor(0))[d] - 1)}))
                           : Argument());
  }
  Node* found = b.call("aten.index.Tensor", {c.tensor(0), Argument::list(std::move(places))});
  return {b.call("aten.masked_fill.Scalar", {found, b.call("aten.logical_not.default", {c.tensor(1)}), c.arg(3)})};
}

// ---------------------------------------------------------------------------------------------------------- sequences

Nodes conv_tbc(Builder& b, const Call& c) {
  require_rank(c, 0, 3, 3);
  require_rank(c, 1, 3, 3);
  const auto pad = static_cast<int64_t>(c.number(3));
  Node *x = b.permute(c.tensor(0), {1, 2, 0}), *weight = b.permute(c.tensor(1), {2, 1, 0});
  Node* y = b.call("aten.conv1d.default", {x, weight, c.arg(2), int_list({1}), int_list({pad})});
  return {b.permute(y, {2, 0, 1})};
}

/// 1, x, x^2, ... as columns; of one number, one row.
Node* powers(Builder& b, const Call& c, const SymInt& count) {
  Node* x = b.unsqueeze(c.tensor(0), -1);
  if (dims_of(c.tensor(0)) == 0) x = b.unsqueeze(x, 0);
  if (is_integral_or_bool(x->tensor().dtype)) x = b.cast(x, DType::I64);
  Shape shape = sizes_of(x);
  shape.back() = count - 1;
  Shape one = shape;
  one.back() = 1;
  Node* ones = b.call("aten.full.default", {sizes(one), 1}, {{"dtype", x->tensor().dtype}});
  if (count.is_const() && count.value() == 1) return ones;
  Node* products = b.call("aten.cumprod.default", {b.expand(x, shape), -1});
  return b.call("aten.cat.default", {Argument::list({ones, products}), -1});
}

SymInt powers_wanted(const Call& c) {
  const Shape& shape = sizes_of(c.tensor(0));
  if (shape.empty() && c.is_none(1)) reject(c, "expected at least one dimension, or the number of columns");
  const SymInt count = c.is_none(1) ? shape.back() : c.integer(1);
  const int64_t least = c.op().name.starts_with("aten.linalg") ? 2 : 1;
  require_at_least(c, count, least, "columns");
  return count;
}

Nodes linalg_vander(Builder& b, const Call& c) { return {powers(b, c, powers_wanted(c))}; }

Nodes vander(Builder& b, const Call& c) {
  require_rank(c, 0, 1, 1);
  Node* columns = powers(b, c, powers_wanted(c));
  return {c.boolean(2) ? columns : b.call("aten.flip.default", {columns, int_list({-1})})};
}

Nodes pad_sequence(Builder& b, const Call& c) {
  const std::vector<Node*> all = c.tensors(0);
  if (all.empty()) reject(c, "expected at least one sequence");
  const bool left = c.string(3) == "left";
  if (!left && c.string(3) != "right") reject(c, "padding_side: expected left or right, found " + c.string(3));
  int64_t longest = 0;
  for (const Node* x : all) {
    if (sizes_of(x).empty() || !sizes_of(x)[0].is_const()) reject(c, "expected sequences of known lengths");
    longest = std::max(longest, sizes_of(x)[0].value());
  }
  std::vector<Argument> padded;
  for (Node* x : all) {
    const SymInt missing = SymInt(longest) - sizes_of(x)[0];
    Shape widths(2 * sizes_of(x).size(), SymInt(0));
    widths[widths.size() - (left ? 2 : 1)] = missing;
    padded.emplace_back(b.call("aten.constant_pad_nd.default", {x, sizes(widths), c.number(2)}));
  }
  return {b.call("aten.stack.default", {Argument::list(std::move(padded)), c.boolean(1) ? 0 : 1})};
}

/// Differences of neighbours over twice their distance; at the ends of the next ones, or of a parabola through three.
Node* slope(Builder& b, const Call& c, Node* x, int64_t dim, double spacing, int64_t order) {
  const SymInt n = sizes_of(x)[static_cast<size_t>(dim)];
  if (n.is_const() && n.value() < order + 1)
    reject(c, "expected at least edge_order + 1 elements along each dimension, found " + std::to_string(n.value()));
  const auto from = [&](const SymInt& low, const SymInt& high) {
    return b.call("aten.slice.Tensor", {x, dim, integer(low), integer(high)});
  };
  const auto at = [&](const SymInt& place) { return from(place, place + 1); };
  Node* within = b.div(b.sub(from(2, n), from(0, n - 2)), 2 * spacing);
  Node *begin, *end;
  if (order == 1) {
    begin = b.div(b.sub(at(1), at(0)), spacing);
    end = b.div(b.sub(at(n - 1), at(n - 2)), spacing);
  } else {
    const auto parabola = [&](Node* x0, Node* x1, Node* x2, double sign) {
      Node* sum = b.add(b.add(b.mul(x0, -1.5 * sign / spacing), b.mul(x1, 2 * sign / spacing)),
                        b.mul(x2, -0.5 * sign / spacing));
      return sum;
    };
    begin = parabola(at(0), at(1), at(2), 1);
    end = parabola(at(n - 1), at(n - 2), at(n - 3), -1);
  }
  return b.call("aten.cat.default", {Argument::list({begin, within, end}), dim});
}

/// Distances of neighbours along so many dimensions: one for all, or one for each.
std::vector<double> spacings(const Call& c, size_t count) {
  const std::optional<size_t> at = param(c, "spacing");
  if (!at || c.is_none(*at)) return std::vector<double>(count, 1.0);
  const auto* list = c.arg(*at).as<ListArg>();
  if (!list) return std::vector<double>(count, c.number(*at));
  if (list->items.size() != count)
    reject(c, "spacing: expected " + std::to_string(count) + " numbers, found " + std::to_string(list->items.size()));
  std::vector<double> each;
  for (const Argument& item : list->items) {
    const std::optional<double> distance = number_of(item);
    if (!distance) reject(c, "spacing: expected numbers");
    each.push_back(*distance);
  }
  return each;
}

Nodes gradient(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  require_rank(c, 0, 1, 64);
  if (x->tensor().dtype == DType::U8) reject(c, "expected numbers that may be negative, found uint8");
  const auto order = static_cast<int64_t>(c.number(*param(c, "edge_order")));
  if (order != 1 && order != 2) reject(c, "edge_order: expected 1 or 2, found " + std::to_string(order));
  if (!is_floating(x->tensor().dtype)) x = b.cast(x, DType::F32);
  const size_t along = *param(c, "dim");
  std::vector<size_t> dims = distinct_dims(c, along, sizes_of(x).size());
  if (c.is_none(along)) {
    dims.resize(sizes_of(x).size());
    std::iota(dims.begin(), dims.end(), size_t{0});
  }
  const std::vector<double> distance = spacings(c, dims.size());
  Nodes slopes;
  for (size_t i = 0; i < dims.size(); ++i)
    slopes.push_back(slope(b, c, x, static_cast<int64_t>(dims[i]), distance[i], order));
  return slopes;
}

// ------------------------------------------------------------------------------------------------------------- losses

/// max(0, margin - x[target] + x[j])^p over the other classes j.
Nodes multi_margin_loss(Builder& b, const Call& c) {
  require_rank(c, 0, 0, 2);
  const double p = c.number(2);
  if (p != 1 && p != 2) reject(c, "p: expected 1 or 2, found " + std::to_string(p));
  const DType own = c.type(0).dtype;
  if (!is_floating(own)) reject(c, "expected a floating-point tensor, found " + std::string(dtype_name(own)));
  Node *x = widen(b, c.tensor(0)), *target = c.tensor(1);
  const bool one = dims_of(x) < 2;
  if (one) x = b.reshape(x, {SymInt(1), product(sizes_of(x))});
  if (dims_of(target) != 1) target = b.reshape(target, {sizes_of(x)[0]});
  const SymInt classes = sizes_of(x)[1];
  Node* column = b.unsqueeze(target, 1);
  Node* own_score = b.call("aten.gather.default", {x, 1, column});
  Node* loss = b.call("aten.clamp_min.default", {b.add(b.sub(x, own_score), c.arg(3)), 0});
  if (p == 2) loss = b.mul(loss, loss);
  if (Node* weight = c.optional_tensor(4))
    loss = b.mul(loss, b.unsqueeze(b.call("aten.index_select.default", {widen(b, weight), 0, target}), 1));
  loss = where_else(b, b.call("aten.ne.Tensor", {arange(b, classes, x), column}), loss, 0);
  loss = b.div(b.sum(loss, {1}, false), integer(classes));
  if (one) loss = b.reshape(loss, {});
  return {b.cast(reduce_loss(b, c, loss, c.constant(5)), own)};
}

/// max(0, 1 - (x[t] - x[j])) over target classes t, up to the first -1, and the other classes j.
Nodes multilabel_margin_loss(Builder& b, const Call& c) {
  require_rank(c, 0, 0, 2);
  const DType own = c.type(0).dtype;
  if (!is_floating(own)) reject(c, "expected a floating-point tensor, found " + std::string(dtype_name(own)));
  Node *x = widen(b, c.tensor(0)), *target = c.tensor(1);
  const bool one = dims_of(x) < 2;
  if (one) {
    x = b.reshape(x, {SymInt(1), product(sizes_of(x))});
    target = b.reshape(target, sizes_of(x));
  }
  const SymInt classes = sizes_of(x)[1];
  Node* named = b.cast(b.call("aten.ge.Scalar", {target, 0}), DType::I64);
  Node* valid = b.call("aten.ne.Scalar", {b.call("aten.cumprod.default", {named, 1}), 0});
  Node* places = b.call("aten.where.ScalarOther", {valid, target, 0});
  Node* scores = b.call("aten.gather.default", {x, 1, places});
  // Which classes are targets: any of the valid ones.
  Node* equal = b.call("aten.eq.Tensor", {b.unsqueeze(places, 2), arange(b, classes, x)});
  Node* hits = b.call("aten.logical_and.default", {equal, b.unsqueeze(valid, 2)});
  Node* is_target = b.call("aten.any.dim", {hits, 1, true});
  Node* pairs = b.call("aten.clamp_min.default",
                       {b.call("aten.rsub.Scalar", {b.sub(b.unsqueeze(scores, 2), b.unsqueeze(x, 1)), 1}), 0});
  Node* counted =
      b.call("aten.logical_and.default", {b.unsqueeze(valid, 2), b.call("aten.logical_not.default", {is_target})});
  Node* loss = b.div(b.sum(where_else(b, counted, pairs, 0), {1, 2}, false), integer(classes));
  if (one) loss = b.reshape(loss, {});
  return {b.cast(reduce_loss(b, c, loss, c.constant(2)), own)};
}

// --------------------------------------------------------------------------------------------------------------- bags

/// How many indices each bag has where its offsets are 0, s, 2 s, ... and the bags hold all n: what PyTorch makes of
/// bags that are the rows of a matrix.
std::optional<SymInt> places_of_bag(const Node* offsets, const SymInt& n, const SymInt& bags) {
  const std::string_view name = offsets->op ? std::string_view(offsets->op->name) : std::string_view();
  if (name != "aten.arange.start_step" && name != "aten.arange.default" && name != "aten.arange.start") return {};
  const Call c(*offsets);
  const bool has_start = name != "aten.arange.default", has_step = name == "aten.arange.start_step";
  const auto* start = has_start ? c.arg(0).as<int64_t>() : nullptr;
  if ((has_start && !(start && *start == 0)) || (has_step && !c.is_integer_scalar(2))) return {};
  const SymInt step = has_step ? c.integer(2) : SymInt(1);
  return known_eq(step * bags, n) ? std::optional(step) : std::nullopt;
}

/// Bags of rows of a table: indices from one offset up to the next, summed, averaged or the largest of each column.
/// Beside the result PyTorch gives what its gradient needs; those parts are computed as well, as it does for float32.
Nodes embedding_bag(Builder& b, const Call& c) {
  require_rank(c, 0, 2, 2);
  require_rank(c, 1, 1, 1);
  require_rank(c, 2, 1, 1);
  Node *table = c.tensor(0), *places = c.tensor(1), *offsets = c.tensor(2);
  const DType own = table->tensor().dtype;
  if (!is_floating(own)) reject(c, "expected a floating-point table, found " + std::string(dtype_name(own)));
  const auto mode = static_cast<int64_t>(c.number(4));
  if (mode < 0 || mode > 2) reject(c, "mode: expected 0, 1 or 2, found " + std::to_string(mode));
  Node* factors = c.optional_tensor(6);
  if (factors && mode != 0) reject(c, "per_sample_weights are for sums only");
  const bool last = c.boolean(7);
  const SymInt n = sizes_of(places)[0], bags = last ? sizes_of(offsets)[0] - 1 : sizes_of(offsets)[0];
  std::optional<int64_t> padding;
  if (c.size() > 8 && !c.is_none(8)) padding = static_cast<int64_t>(c.number(8));
  if (c.op().name.starts_with("aten._") && padding && *padding < 0) padding = {};  // there, a place is none
  if (padding && *padding < 0 && sizes_of(table)[0].is_const()) *padding += sizes_of(table)[0].value();

  const DType whole = offsets->tensor().dtype;
  const auto filled = [&](const Shape& shape, double value, DType dtype) {
    return b.call("aten.full.default", {sizes(shape), value}, {{"dtype", dtype}});
  };
  Node* starts = last ? b.call("aten.slice.Tensor", {offsets, 0, 0, integer(bags)}) : offsets;
  // The bag of each index: how many bags start at or before it, less one.
  Node* at = arange(b, n, table);
  Node* bag = b.sub(b.call("aten.searchsorted.Tensor", {b.cast(starts, DType::I64), at, false, true}), 1);
  Node* used = padding ? b.call("aten.ne.Scalar", {places, *padding}) : nullptr;
  Node* ones = used ? b.cast(used, DType::I64) : filled({n}, 1, DType::I64);
  const std::optional<SymInt> even = last ? std::nullopt : places_of_bag(offsets, n, bags);
  const auto sum_of_bags = [&](Node* values, const Shape& shape) {
    if (!even) return b.call("aten.index_add.default", {filled(shape, 0, values->tensor().dtype), 0, bag, values});
    Shape split = shape;
    split.insert(split.begin() + 1, *even);
    return b.sum(b.reshape(values, split), {1}, false);
  };
  Node* counts = sum_of_bags(ones, {bags});

  Node* rows = widen(b, b.call("aten.embedding.default", {table, places}));
  if (factors) rows = b.mul(rows, b.unsqueeze(widen(b, factors), 1));
  const double nothing = mode == 2 ? -HUGE_VAL : 0;
  if (used) rows = where_else(b, b.unsqueeze(used, 1), rows, nothing);
  const Shape shape{bags, sizes_of(table)[1]};
  Node* result = nullptr;
  Node *sizes_told = b.cast(counts, whole), *largest = sizes_told;
  if (mode == 2) {
    Node* held = b.unsqueeze(b.call("aten.ne.Scalar", {counts, 0}), 1);
    Node* where = b.expand(b.unsqueeze(bag, 1), sizes_of(rows));
    result = filled(shape, nothing, rows->tensor().dtype);
    result = b.call("aten.scatter_reduce.two", {result, 0, where, rows, "amax"});
    // Which index a column's largest element comes from: the first.
    Node* is_largest = b.call("aten.eq.Tensor", {rows, b.call("aten.index_select.default", {result, 0, bag})});
    Node* turns = b.call("aten.where.self", {is_largest, b.unsqueeze(at, 1),
                                             b.call("aten.full_like.default", {b.unsqueeze(at, 1), integer(n)})});
    Node* first_turn = b.call("aten.full.default", {sizes(shape), integer(n)}, {{"dtype", DType::I64}});
    first_turn = b.call("aten.scatter_reduce.two", {first_turn, 0, where, turns, "amin"});
    // Bags that hold nothing look behind the last index: there must be something, were there no index at all.
    Node* behind = b.call("aten.cat.default", {Argument::list({places, filled({SymInt(1)}, 0, whole)}), 0});
    Node* flat = b.reshape(first_turn, {bags * sizes_of(table)[1]});
    largest = b.reshape(b.call("aten.index_select.default", {behind, 0, flat}), shape);
    largest = b.cast(where_else(b, held, largest, 0), whole);
    result = where_else(b, held, result, 0);
  } else {
    result = sum_of_bags(rows, shape);
    if (mode == 1)
      result = b.div(result, b.unsqueeze(b.call("aten.clamp_min.default", {counts, 1}), 1));
    else
      largest = sizes_told = filled({bags}, 0, whole);
  }
  // Sums of rows that lie side by side are made by a library, which needs no bag of each index.
  const bool by_library = mode == 0 && own != DType::F64 && !padding;
  return {b.cast(result, own), by_library ? filled({SymInt(0)}, 0, whole) : b.cast(bag, whole), sizes_told, largest};
}

}  // namespace

Rows shorthand_matrices() {
  Rows r;
  const auto add = [&](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(shorthand(schema, decompose, doc));
  };
  add("det(Tensor self) -> Tensor", det, "the determinant");
  add("linalg_det(Tensor A) -> Tensor", det, "the determinant");
  add("logdet(Tensor self) -> Tensor", logdet, "the logarithm of a determinant that is not negative");
  add("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", slogdet, "sign and logarithm of the determinant");
  add("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", slogdet, "sign and logarithm of the determinant");
  add("inverse(Tensor self) -> Tensor", inverse, "the inverse; PyTorch's error where there is none");
  add("linalg_inv(Tensor A) -> Tensor", inverse, "the inverse; PyTorch's error where there is none");
  add("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", solve, "X of A X = B, or of X A = B");
  add("cholesky(Tensor self, bool upper=False) -> Tensor", cholesky, "the triangle L of L L^T");
  add("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", cholesky, "the triangle L of L L^T");
  add("linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) "
      "-> Tensor",
      matrix_norm, "norms of matrices");
  add("linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? "
      "dtype=None) -> Tensor",
      matrix_norm, "norms of matrices");
  const std::string rest = ", int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  add("linalg_norm(Tensor self, Scalar? ord=None" + rest, norm, "norms of vectors or matrices");
  add("linalg_norm.ord_str(Tensor self, str ord" + rest, norm, "norms of matrices");
  add("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", combinations,
      "pairs of a vector's elements");
  add("_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", safe_softmax,
      "softmax, 0 for lines that hold nothing but -infinity");
  add("_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor", masked_index,
      "elements at places that exist where the mask is true");
  add("conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", conv_tbc,
      "convolution of time, batch, channels");
  add("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", vander, "powers as columns");
  add("linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", linalg_vander, "powers as columns");
  add("pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str padding_side=\"right\") -> "
      "Tensor",
      pad_sequence, "sequences as long as the longest, side by side");
  for (const char* given : {"scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None",
                            "scalararray(Tensor self, *, Scalar spacing, int[] dim", "array(Tensor self, *, int[] dim",
                            "scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None",
                            "scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim"})
    add("gradient." + std::string(given) + ", int edge_order=1) -> Tensor[]", gradient, "slopes along dimensions");
  add("multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
      "reduction=1) -> Tensor",
      multi_margin_loss, "how far other classes come near the right one");
  add("multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", multilabel_margin_loss,
      "how far other classes come near the right ones");
  const std::string bag = "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq",
                    four = ") -> (Tensor, Tensor, Tensor, Tensor)",
                    defaults =
                        "=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
                        "include_last_offset=False";
  const char* doc = "rows of a table, summed, averaged or the largest of each bag";
  add("embedding_bag" + bag + defaults + four, embedding_bag, doc);
  add("embedding_bag.padding_idx" + bag +
          ", int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx" + four,
      embedding_bag, doc);
  for (const std::string name : {"_embedding_bag", "_embedding_bag_forward_only"})
    add(name + bag + defaults + ", int padding_idx=-1" + four, embedding_bag, doc);
  return r;
}

}  // namespace strata::ops
