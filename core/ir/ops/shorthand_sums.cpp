// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// More operators that say in one word what others say in a few: sums, areas, products of several tensors, and numbers.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/ir/ops/neural.h"
#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
using Shape = std::vector<SymInt>;

const Shape& shape_of(const Node* x) { return x->tensor().shape; }
int64_t rank(const Node* x) { return static_cast<int64_t>(shape_of(x).size()); }
Node* in_floats(Builder& b, Node* x) { return is_floating(x->tensor().dtype) ? x : b.cast(x, DType::F32); }

std::vector<int64_t> dims_or_all(const Call& c, size_t i, const Node* x) {
  std::vector<int64_t> dims;
  if (!c.is_none(i))
    for (const SymInt& d : c.integers(i)) dims.push_back(d.value());
  if (dims.empty())
    for (int64_t d = 0; d < rank(x); ++d) dims.push_back(d);
  return dims;
}

// --------------------------------------------------------------------------------------------------------------- sums

Nodes count_nonzero(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  return {b.sum(b.call("aten.ne.Scalar", {x, 0}), dims_or_all(c, 1, x), false)};
}

Node* sum_without_nan(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const auto dims = dims_or_all(c, 1, x);
  if (is_floating(x->tensor().dtype))
    x = b.call("aten.masked_fill.Scalar", {x, b.call("aten.isnan.default", {x}), 0.0});
  std::vector<std::pair<std::string, Argument>> keywords;
  if (!c.is_none(3)) keywords.emplace_back("dtype", c.arg(3));
  return b.call("aten.sum.dim_IntList", {x, int_list(dims), c.boolean(2)}, std::move(keywords));
}

Nodes nansum(Builder& b, const Call& c) { return {sum_without_nan(b, c)}; }

/// The first operand, which must be of a floating-point type.
Node* floating_operand(const Call& c) {
  Node* x = c.tensor(0);
  if (!is_floating(x->tensor().dtype))
    reject(c, "expected a floating-point tensor, found " + std::string(dtype_name(x->tensor().dtype)));
  return x;
}

Nodes nanmean(Builder& b, const Call& c) {
  Node* x = floating_operand(c);
  Node* numbers = b.call("aten.logical_not.default", {b.call("aten.isnan.default", {x})});
  return {b.div(sum_without_nan(b, c), b.sum(numbers, dims_or_all(c, 1, x), c.boolean(2)))};
}

/// All but the first (`from` 1) or the last (-1) element along a dimension.
Node* without(Builder& b, Node* x, int64_t dim, int64_t from) {
  const SymInt n = shape_of(x)[static_cast<size_t>(dim)];
  const Argument low = from > 0 ? Argument(1) : Argument(0), high = from > 0 ? integer(n) : integer(n - 1);
  return b.call("aten.slice.Tensor", {x, dim, low, high});
}

/// Sums of neighbours, times the distances between their places: twice the areas between them.
template <bool Running>
Nodes trapezoid(Builder& b, const Call& c) {
  Node* y = c.tensor(0);
  if (rank(y) == 0) reject(c, "expected values of at least one dimension");
  const auto dim = static_cast<int64_t>(c.dim(2, shape_of(y).size()));
  if (y->tensor().dtype == DType::Bool) reject(c, "expected numbers, found bool");
  Node* areas = b.add(without(b, y, dim, 1), without(b, y, dim, -1));
  const bool places = c.op().schema.params[1].name == "x";
  if (places) {
    Node* x = c.tensor(1);
    if (rank(x) == 0) reject(c, "places of at least one dimension are expected");
    Shape shape(shape_of(y).size(), SymInt(1));
    if (rank(x) == 1) {
      require_equal(c, shape_of(x)[0], shape_of(y)[static_cast<size_t>(dim)], "numbers of places and of values");
      shape[static_cast<size_t>(dim)] = shape_of(x)[0];
    } else if (rank(x) <= rank(y))
      std::copy(shape_of(x).begin(), shape_of(x).end(), shape.end() - rank(x));
    else
      reject(c, "places have more dimensions than values");
    x = b.reshape(x, shape);
    areas = b.mul(areas, b.sub(without(b, x, dim, 1), without(b, x, dim, -1)));
  }
  areas = Running ? b.call("aten.cumsum.default", {areas, dim}) : b.sum(areas, {dim}, false);
  return {places ? b.div(areas, 2) : b.mul(areas, c.number(1) / 2)};
}

// ----------------------------------------------------------------------------------------------------------- products

Nodes tensordot(Builder& b, const Call& c) {
  Node *x = c.tensor(0), *y = c.tensor(1);
  const auto normal = [&](size_t i, const Node* of) {
    std::vector<int64_t> dims;
    for (const int64_t d : c.constants(i))
      dims.push_back(static_cast<int64_t>(normalize_dim(d, shape_of(of).size(), c.node())));
    return dims;
  };
  const auto own = normal(2, x), other = normal(3, y);
  if (own.size() != other.size()) reject(c, "both need equally many dimensions to sum over");
  SymInt inner = 1;
  for (size_t k = 0; k < own.size(); ++k) {
    const SymInt n = shape_of(x)[static_cast<size_t>(own[k])], m = shape_of(y)[static_cast<size_t>(other[k])];
    if (known_ne(n, m) && n == SymInt(1))  // what one has once is multiplied by the sum
      y = b.cast(b.sum(y, {other[k]}, true), y->tensor().dtype);
    else if (known_ne(n, m) && m == SymInt(1))
      x = b.cast(b.sum(x, {own[k]}, true), x->tensor().dtype);
    else
      require_equal(c, n, m, "sizes of dimensions to sum over");
    inner = inner * shape_of(x)[static_cast<size_t>(own[k])];
  }
  Shape result;
  const auto free_dims = [&](const Node* of, const std::vector<int64_t>& summed, SymInt& count) {
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < rank(of); ++d) {
      if (std::find(summed.begin(), summed.end(), d) != summed.end()) continue;
      dims.push_back(d);
      result.push_back(shape_of(of)[static_cast<size_t>(d)]);
      count = count * result.back();
    }
    return dims;
  };
  SymInt rows = 1, columns = 1;
  auto left = free_dims(x, own, rows), right = free_dims(y, other, columns);
  left.insert(left.end(), own.begin(), own.end());
  right.insert(right.begin(), other.begin(), other.end());
  Node* product = b.call("aten.mm.default", {b.reshape(b.permute(x, left), {rows, inner}),
                                             b.reshape(b.permute(y, right), {inner, columns})});
  return {b.reshape(product, result)};
}

Nodes product_of_all(Builder& b, const Call& c) {
  const auto factors = c.tensors(0);
  if (factors.size() < 2) reject(c, "expected at least two tensors");
  for (size_t i = 0; i < factors.size(); ++i) {
    const bool inner = i > 0 && i + 1 < factors.size();
    if (rank(factors[i]) != 2 && (inner || rank(factors[i]) != 1))
      reject(c, "tensor " + std::to_string(i) + ": expected " + (inner ? "2" : "1 or 2") + " dimensions, found " +
                    std::to_string(rank(factors[i])));
  }
  Node* product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) product = b.call("aten.matmul.default", {product, factors[i]});
  return {product};
}

Nodes matrix_power(Builder& b, const Call& c) {
  int64_t n = c.constant(1);
  require_rank(c, 0, 2, 64);
  const Shape& shape = shape_of(c.tensor(0));
  require_equal(c, shape.back(), shape[shape.size() - 2], "rows and columns of a matrix");
  Node *square = c.tensor(0), *result = nullptr;
  if (n < 0) {
    if (n == std::numeric_limits<int64_t>::min()) reject(c, "n is too small: " + std::to_string(n));
    square = b.call("aten.inverse.default", {square});
    n = -n;
  }
  if (n == 0) {
    Node* one = b.call("aten.eye.default", {integer(shape.back())}, {{"dtype", square->tensor().dtype}});
    return {b.expand(one, shape)};
  }
  for (;; square = b.call("aten.matmul.default", {square, square})) {
    if (n % 2) result = result ? b.call("aten.matmul.default", {result, square}) : square;
    if ((n /= 2) == 0) return {result};
  }
}

Nodes vecdot(Builder& b, const Call& c) {
  require_same_dtype(c, 0, 1);
  Node* product = b.mul(c.tensor(0), c.tensor(1));
  const auto dim = static_cast<int64_t>(c.dim(2, shape_of(product).size()));
  return {b.cast(b.sum(product, {dim}, false), product->tensor().dtype)};
}

/// All tuples of one element of each.
Nodes cartesian_prod(Builder& b, const Call& c) {
  const auto lines = c.tensors(0);
  for (const Node* line : lines)
    if (rank(line) != 1) reject(c, "expected tensors of one dimension");
  if (lines.size() == 1) return {lines[0]};
  Shape all;
  SymInt count = 1;
  for (const Node* line : lines) {
    all.push_back(shape_of(line)[0]);
    count = count * all.back();
  }
  std::vector<Argument> columns;
  for (size_t i = 0; i < lines.size(); ++i) {
    Shape own(lines.size(), SymInt(1));
    own[i] = all[i];
    columns.emplace_back(b.reshape(b.expand(b.reshape(lines[i], own), all), {count, SymInt(1)}));
  }
  return {b.call("aten.cat.default", {Argument::list(std::move(columns)), 1})};
}

// -------------------------------------------------------------------------------------------------------------- losses

Nodes poisson_nll_loss(Builder& b, const Call& c) {
  Node *x = in_floats(b, c.tensor(0)), *y = c.tensor(1);
  Node* loss = c.boolean(2) ? b.sub(b.call("aten.exp.default", {x}), b.mul(y, x))
                            : b.sub(x, b.mul(y, b.call("aten.log.default", {b.add(x, c.number(4))})));
  if (c.boolean(3)) {  // Stirling's approximation of log(y!)
    Node* half = b.mul(b.call("aten.log.default", {b.mul(y, 2 * std::numbers::pi)}), 0.5);
    Node* stirling = b.add(b.sub(b.mul(y, b.call("aten.log.default", {y})), y), half);
    loss = b.add(loss, where_else(b, b.call("aten.gt.Scalar", {y, 1}), stirling, 0));
  }
  return {reduce_loss(b, c, loss, c.constant(5))};
}

Nodes cosine_embedding_loss(Builder& b, const Call& c) {
  Node *x = c.tensor(0), *y = c.tensor(1), *target = c.tensor(2);
  if (rank(target) > 1) reject(c, "expected a target of at most one dimension");
  constexpr double kTiny = 1e-12;
  const int64_t dim = rank(target);
  const auto dot = [&](Node* p, Node* q) { return b.sum(b.mul(p, q), {dim}, false); };
  Node* lengths = b.call("aten.sqrt.default", {b.mul(b.add(dot(x, x), kTiny), b.add(dot(y, y), kTiny))});
  Node* cosine = b.div(dot(x, y), lengths);
  Node* apart = b.call("aten.clamp_min.default", {b.sub(cosine, c.number(3)), 0});
  const auto of = [&](int64_t sign, Node* z) { return where_else(b, b.call("aten.eq.Scalar", {target, sign}), z, 0); };
  Node* loss = b.add(of(1, b.add(b.neg(cosine), 1)), of(-1, apart));
  return {reduce_loss(b, c, loss, c.constant(4))};
}

// ------------------------------------------------------------------------------------------------------------- numbers

/// self * 2^other. By whole numbers the result is rounded once, also where 2^other is too large or too small to be a
/// number: float64 has room for the others' powers, and takes its own in three steps.
Nodes ldexp(Builder& b, const Call& c) {
  Node *x = in_floats(b, c.tensor(0)), *exponent = c.tensor(1);
  const auto power = [&](Node* e) { return b.call("aten.pow.Scalar", {2.0, e}); };
  if (!is_integral_or_bool(exponent->tensor().dtype)) return {b.mul(c.tensor(0), power(exponent))};
  const DType dtype = x->tensor().dtype;
  const int64_t steps = dtype == DType::F64 ? 3 : 1;
  exponent = b.call("aten.clamp.default", {b.cast(exponent, DType::F64), -700.0 * steps, 700.0 * steps});
  Node* y = b.cast(x, DType::F64);
  for (int64_t step = steps; step > 0; --step) {
    Node* part = step == 1 ? exponent : b.call("aten.trunc.default", {b.div(exponent, step)});
    y = b.mul(y, power(part));
    if (step > 1) exponent = b.sub(exponent, part);
  }
  return {b.cast(y, dtype)};
}

/// log2(2^x + 2^y): the larger, and what the other adds to it.
Nodes logaddexp2(Builder& b, const Call& c) {
  const DType dtype = promote(c.type(0).dtype, c.type(1).dtype);
  if (!is_floating(dtype)) reject(c, "expected floating-point tensors, found " + std::string(dtype_name(dtype)));
  Node *x = widen(b, c.tensor(0)), *y = widen(b, c.tensor(1));
  Node* difference = b.neg(b.call("aten.abs.default", {b.sub(x, y)}));
  Node* more = b.call("aten.log1p.default", {b.call("aten.exp2.default", {difference})});
  Node* sum = b.add(b.call("aten.maximum.default", {x, y}), b.mul(more, std::numbers::log2e));
  Node* equal =
      b.call("aten.logical_and.default", {b.call("aten.isinf.default", {x}), b.call("aten.eq.Tensor", {x, y})});
  return {b.cast(b.call("aten.where.self", {equal, x, sum}), dtype)};
}

/// A shift by a number, or of one.
Nodes shift(Builder& b, const Call& c) {
  const std::string& name = c.op().name;
  const bool left = name.find("left") != std::string::npos || name.find("lshift") != std::string::npos;
  const auto* first = c.arg(0).node();
  const DType dtype = (first ? first : c.tensor(1))->tensor().dtype;
  if (is_floating(dtype) || dtype == DType::Bool)
    reject(c, "expected integers, found " + std::string(dtype_name(dtype)));
  const auto operand = [&](size_t i) {
    if (c.arg(i).node()) return c.tensor(i);
    if (!c.is_integer_scalar(i)) reject(c, "expected integers, found a floating-point number");
    return b.scalar(c.number(i), dtype);
  };
  Node *x = operand(0), *y = operand(1);
  return {b.call(left ? "aten.bitwise_left_shift.Tensor" : "aten.bitwise_right_shift.Tensor", {x, y})};
}

Nodes number_first(Builder& b, const Call& c) {
  std::string target = c.op().name;
  target.replace(target.rfind('.'), std::string::npos, ".Scalar");
  return {b.call(target, {c.tensor(1), c.arg(0)})};
}

/// -x log x; 0 at 0, negative infinity below.
Nodes entropy(Builder& b, const Call& c) {
  Node* x = in_floats(b, c.tensor(0));
  Node* value = b.neg(b.call("aten.xlogy.Tensor", {x, x}));
  return {where_else(b, b.call("aten.logical_not.default", {b.call("aten.lt.Scalar", {x, 0})}), value, -HUGE_VAL)};
}

/// The area below the bell curve up to x.
Nodes ndtr(Builder& b, const Call& c) {
  Node* x = widen(b, in_floats(b, c.tensor(0)));
  const DType dtype = c.type(0).dtype;
  Node* tail = b.call("aten.erfc.default", {b.mul(x, -std::numbers::sqrt2 / 2)});
  return {b.cast(b.mul(tail, 0.5), is_floating(dtype) ? dtype : DType::F32)};
}

/// x log(1 + y), 0 where x is 0 and y a number.
Nodes xlog1py(Builder& b, const Call& c) {
  Node *x = c.tensor(0), *y = in_common_floats(b, c, 1);
  Node* product = b.mul(x, b.call("aten.log1p.default", {y}));
  Node* zero = b.call("aten.masked_fill.Scalar", {product, b.call("aten.eq.Scalar", {x, 0}), 0.0});
  return {b.call("aten.where.self", {b.call("aten.isnan.default", {y}), y, zero})};
}

/// Of a number and a tensor, whose floating type the number takes.
Nodes with_number(Builder& b, const Call& c) {
  const Node* tensor = c.arg(0).node() ? c.arg(0).node() : c.arg(1).node();
  const DType dtype = is_floating(tensor->tensor().dtype) ? tensor->tensor().dtype : DType::F32;
  const auto operand = [&](size_t i) {
    return c.arg(i).node() ? b.cast(c.tensor(i), dtype) : b.scalar(c.number(i), dtype);
  };
  const bool one_more = c.op().name.find("xlog1py") != std::string::npos;
  return {b.call(one_more ? "aten.special_xlog1py.default" : "aten.xlogy.Tensor", {operand(0), operand(1)})};
}

Nodes is_number(Builder& b, const Call& c) {
  return {b.call(c.boolean(3) ? "aten.ne.Scalar" : "aten.eq.Scalar", {c.tensor(0), c.arg(1)})};
}

std::vector<int64_t> all_but(const Node* x, size_t own) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank(x); ++d)
    if (d != static_cast<int64_t>(own)) dims.push_back(d);
  return dims;
}

/// Slices along a dimension, shortened where their norms exceed a bound.
Nodes renorm(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  if (rank(x) < 2) reject(c, "expected at least two dimensions");
  if (!(c.number(1) > 0)) reject(c, "p must be positive");
  if (!(c.number(3) >= 0)) reject(c, "maxnorm must not be negative");
  const std::vector<int64_t> dims = all_but(x, c.dim(2, shape_of(x).size()));
  Node* norm = b.call("aten.linalg_vector_norm.default", {widen(b, x), c.number(1), int_list(dims), true});
  Node* shorter = b.mul(b.call("aten.reciprocal.default", {b.add(norm, 1e-7)}), c.number(3));
  Node* factor = where_else(b, b.call("aten.gt.Scalar", {norm, c.number(3)}), shorter, 1);
  return {b.cast(b.mul(x, factor), x->tensor().dtype)};
}

/// v with the lengths g: those of slices along a dimension, or of all of v.
Nodes weight_norm(Builder& b, const Call& c) {
  Node* v = floating_operand(c);
  require_same_dtype(c, 0, 1);
  const bool whole = c.constant(2) == -1;
  const std::vector<int64_t> dims = whole ? std::vector<int64_t>{} : all_but(v, c.dim(2, shape_of(v).size()));
  Node* length = widen(b, v);
  length = dims.empty() && !whole  // no dimension at all would mean every one
               ? b.call("aten.abs.default", {length})
               : b.call("aten.linalg_vector_norm.default", {length, 2, int_list(dims), !whole});
  return {b.cast(b.mul(v, b.div(c.tensor(1), length)), v->tensor().dtype)};
}

}  // namespace

Rows shorthand_sums() {
  Rows r;
  const auto add = [&](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(shorthand(schema, decompose, doc));
  };
  add("count_nonzero(Tensor self, int? dim=None) -> Tensor", count_nonzero, "how many are not 0");
  add("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", nansum,
      "the sum of what is not NaN");
  add("nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", nanmean,
      "the mean of what is not NaN");
  for (const std::string name : {"trapezoid", "trapz"}) {
    add(name + ".x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid<false>, "the area below a line");
    add(name + (name == "trapz" ? ".dx(Tensor y, *, float dx=1.0, int dim=-1) -> Tensor"
                                : ".dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor"),
        trapezoid<false>, "the area below a line");
  }
  add("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid<true>,
      "the area below a line so far");
  add("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", trapezoid<true>,
      "the area below a line so far");
  add("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", tensordot,
      "products summed over dimensions of both");
  add("chain_matmul(Tensor[] matrices) -> Tensor", product_of_all, "the product of all");
  add("linalg_multi_dot(Tensor[] tensors) -> Tensor", product_of_all, "the product of all");
  add("matrix_power(Tensor self, int n) -> Tensor", matrix_power, "a matrix times itself, n times");
  add("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", vecdot, "dot products along a dimension");
  add("cartesian_prod(Tensor[] tensors) -> Tensor", cartesian_prod, "all tuples of one element of each");
  add("poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
      poisson_nll_loss, "how unlikely counts are, Poisson distributed");
  add("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
      cosine_embedding_loss, "how far cosines are from what the targets say");
  add("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", weight_norm, "v with the lengths g");
  add("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", ldexp, "self * 2^other");
  add("logaddexp2(Tensor self, Tensor other) -> Tensor", logaddexp2, "log2(2^self + 2^other)");
  for (const std::string side : {"left", "right"}) {
    add("bitwise_" + side + "_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", shift, "shifted by a number");
    add("bitwise_" + side + "_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", shift, "a number, shifted");
    add("__" + side.substr(0, 1) + "shift__.Scalar(Tensor self, Scalar other) -> Tensor", shift, "shifted by a number");
    add("__" + side.substr(0, 1) + "shift__.Tensor(Tensor self, Tensor other) -> Tensor", shift, "shifted");
  }
  for (const std::string word : {"and", "or", "xor"})
    add("bitwise_" + word + ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", number_first, "bits of a number");
  add("special_entr(Tensor self) -> Tensor", entropy, "-x log x");
  add("special_ndtr(Tensor self) -> Tensor", ndtr, "the area below the bell curve up to x");
  add("special_xlog1py(Tensor self, Tensor other) -> Tensor", xlog1py, "self * log(1 + other)");
  for (const auto& [name, other, self] : {std::array{"xlogy", "Scalar_Other", "Scalar_Self"},
                                          {"special_xlogy", "other_scalar", "self_scalar"},
                                          {"special_xlog1py", "other_scalar", "self_scalar"}}) {
    const std::string overload = std::string(name) + ".";
    add(overload + other + "(Tensor self, Scalar other) -> Tensor", with_number, "self * log(a number)");
    add(overload + self + "(Scalar self, Tensor other) -> Tensor", with_number, "a number * log(other)");
  }
  add("isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> "
      "Tensor",
      is_number, "where an element is a number");
  add("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", renorm, "slices with bounded norms");
  return r;
}

}  // namespace strata::ops
