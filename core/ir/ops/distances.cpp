// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Compositions over pairs of rows: distances, bilinear forms, sums of products; and grids of indices.

#include <algorithm>
#include <cmath>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;

Node* call1(Builder& b, const char* op, Node* x) { return b.call(op, {x}); }

/// The p-norm of the last dimension; 0 where there is nothing in it.
Node* norm_of_rows(Builder& b, Node* x, double p) {
  const TensorType& t = x->type.tensor;
  if (t.shape.back() == SymInt(0)) {
    const Index rest(t.shape.begin(), t.shape.end() - 1);
    return b.call("aten.full.default", {sizes(rest), 0.0}, {{"dtype", t.dtype}});
  }
  if (p == 0) return b.sum(b.cast(b.call("aten.ne.Scalar", {x, 0}), t.dtype), {-1}, false);
  if (p == 2) return call1(b, "aten.sqrt.default", b.sum(b.mul(x, x), {-1}, false));
  Node* size = call1(b, "aten.abs.default", x);
  if (p == 1) return b.sum(size, {-1}, false);
  if (std::isinf(p)) return b.call("aten.amax.default", {size, int_list({-1})});
  Node* sum = b.sum(b.call("aten.pow.Tensor_Scalar", {size, p}), {-1}, false);
  return b.call("aten.pow.Tensor_Scalar", {sum, 1 / p});
}

/// Between each row of the first and each row of the second operand.
Nodes cdist(Builder& b, const Call& c) {
  const TensorType &x = c.type(0), &y = c.type(1);
  if (x.shape.size() < 2 || y.shape.size() < 2) reject(c, "expected at least 2 dimensions");
  if (!is_floating(x.dtype) || !is_floating(y.dtype)) reject(c, "expected floating-point operands");
  require_equal(c, x.shape.back(), y.shape.back(), "columns of the operands");
  const double p = c.number(2);
  if (!(p >= 0)) reject(c, "only non-negative p values are supported");
  return {norm_of_rows(b, b.sub(b.unsqueeze(c.tensor(0), -2), b.unsqueeze(c.tensor(1), -3)), p)};
}

/// Between each two rows, in the order of the places above the diagonal of their matrix.
Nodes pdist(Builder& b, const Call& c) {
  const TensorType& x = c.type(0);
  if (x.shape.size() != 2) reject(c, "expected 2 dimensions");
  if (!is_floating(x.dtype)) reject(c, "expected a floating-point operand");
  if (!x.shape[0].is_const()) reject(c, "expected a known number of rows");
  if (!(c.number(1) >= 0)) reject(c, "only non-negative p values are supported");
  const int64_t rows = x.shape[0].value();
  Node* places = b.call("aten.triu_indices.default", {rows, rows, 1});
  const auto row = [&](int64_t i) {
    return b.call("aten.index_select.default", {c.tensor(0), 0, b.call("aten.select.int", {places, 0, i})});
  };
  return {norm_of_rows(b, b.sub(row(0), row(1)), c.number(1))};
}

/// x^T W y for each of the matrices W.
Nodes bilinear(Builder& b, const Call& c) {
  const TensorType &x = c.type(0), &y = c.type(1), &w = c.type(2);
  if (w.shape.size() != 3 || x.shape.empty() || x.shape.size() != y.shape.size())
    reject(c, "expected operands of equal rank and a weight of 3 dimensions");
  for (const size_t i : {1, 2, 3})
    if (is_tensor(c, i)) require_same_dtype(c, 0, i);
  if (!c.is_none(3)) {
    require_rank(c, 3, 1, 1);
    require_equal(c, c.type(3).shape[0], w.shape[0], "length of the bias and outputs");
  }
  require_equal(c, x.shape.back(), w.shape[1], "features of input1 and rows of the weight");
  require_equal(c, y.shape.back(), w.shape[2], "features of input2 and columns of the weight");
  for (size_t d = 0; d + 1 < x.shape.size(); ++d) require_equal(c, x.shape[d], y.shape[d], "sizes of the operands");
  Index rows(x.shape.begin(), x.shape.end() - 1), shape = rows;
  Node* weight = b.reshape(b.call("aten.contiguous.default", {b.permute(c.tensor(2), {1, 0, 2})}),
                           {w.shape[1], w.shape[0] * w.shape[2]});
  Node* flat = b.call("aten.reshape.default", {c.tensor(0), sizes({product(rows), w.shape[1]})});
  shape.push_back(w.shape[0]);
  shape.push_back(w.shape[2]);
  Node* left = b.reshape(b.call("aten.mm.default", {flat, weight}), shape);
  Node* sum = b.sum(b.mul(left, b.unsqueeze(c.tensor(1), -2)), {-1}, false);
  sum = b.cast(sum, x.dtype);
  return {c.is_none(3) ? sum : b.add(sum, c.arg(3))};
}

/// beta * self + alpha * the sum of all products.
Nodes addbmm(Builder& b, const Call& c) {
  const TensorType& t = c.type(0);
  const DType d = c.type(1).dtype;
  require_same_dtype(c, 0, 1);
  const auto scaled = [&](Node* x, size_t i) {
    if (!is_floating(d) && !c.is_integer_scalar(i)) reject(c, "integers are scaled by integers only");
    return c.number(i) == 1 ? x : b.mul(x, c.arg(i));
  };
  Node* sum = b.sum(b.cast(b.call("aten.bmm.default", {c.tensor(1), c.tensor(2)}), compute_dtype(d)), {0}, false);
  sum = scaled(b.cast(sum, compute_dtype(d)), 4);
  if (c.number(3) != 0) sum = b.add(sum, scaled(b.cast(c.tensor(0), compute_dtype(d)), 3));
  return {b.cast(sum, t.dtype)};
}

// ---------------------------------------------------------------------------------------------------- grids of indices

/// Rows and columns of the places on one side of a diagonal, row after row.
template <bool Lower>
Nodes triangle(Builder& b, const Call& c) {
  const int64_t rows = c.constant(0), columns = c.constant(1), offset = c.constant(2);
  if (rows < 0 || columns < 0) reject(c, "row and col must be non-negative");
  int64_t all = 0;
  if (__builtin_mul_overflow(rows, columns, &all)) reject(c, "row * col does not fit into 64 bits");
  // Row r has r + shift places before the diagonal, at most all: `some` rows have none, `few` fewer than all.
  const int64_t shift = std::clamp(offset, -rows, columns) + (Lower ? 1 : 0);
  const int64_t some = std::clamp<int64_t>(-shift, 0, rows), few = std::clamp(columns - shift, some, rows);
  const int64_t before = (few - some) * (some + few - 1 + 2 * shift) / 2 + (rows - few) * columns;
  const int64_t count = Lower ? before : all - before;
  const DType d = c.is_none(3) || c.arg(3).as<int64_t>() ? DType::I64 : *c.dtype(3);  // 4 is int64
  if (d != DType::I64 && d != DType::I32) reject(c, "expected int32 or int64, found " + std::string(dtype_name(d)));
  Node* row = b.unsqueeze(b.call("aten.arange.default", {rows}), 1);
  Node* inside = b.call(
      Lower ? "aten.ge.Tensor" : "aten.le.Tensor",
      {b.add(row, std::clamp(offset, -rows, columns)), b.unsqueeze(b.call("aten.arange.default", {columns}), 0)});
  Node* places = b.call("aten.nonzero_static.default", {inside}, {{"size", count}});
  return {b.cast(b.call("aten.contiguous.default", {b.permute(places, {1, 0})}), d)};
}

/// Memory laid out in the order of the dimensions that is given.
Nodes empty_permuted(Builder& b, const Call& c) {
  const Index shape = c.integers(0);
  const std::vector<int64_t> order = c.constants(1);
  std::vector<int64_t> back(shape.size(), -1);
  if (order.size() != shape.size()) reject(c, "the layout must name every dimension");
  Index memory;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t d = normalize_dim(order[i], shape.size(), c.node());
    if (back[d] >= 0) reject(c, "the layout names dimension " + std::to_string(d) + " twice");
    back[d] = static_cast<int64_t>(i);
    memory.push_back(shape[d]);
  }
  Node* fresh = b.call("aten.zeros.default", {sizes(memory)}, {{"dtype", c.dtype(2).value_or(DType::F32)}});
  return {shape.empty() ? fresh : b.permute(fresh, back)};
}

}  // namespace

Rows distances() {
  const std::string options = "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  Rows r;
  r.push_back(compound("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", 0,
                       decomposed_type, cdist, "p-norm of the difference of each pair of rows"));
  r.push_back(compound("aten::pdist(Tensor self, float p=2.) -> Tensor", 0, decomposed_type, pdist,
                       "p-norm of the difference of each two rows"));
  r.push_back(compound("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", 0,
                       decomposed_type, bilinear, "x^T W y + bias for each output"));
  r.push_back(
      compound("aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 0,
               decomposed_type, addbmm, "beta * self + alpha * the sum of products of matrices"));
  r.push_back(compound("aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, " + options, 0,
                       decomposed_type, triangle<true>, "places on and below a diagonal"));
  r.push_back(compound("aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, " + options, 0,
                       decomposed_type, triangle<false>, "places on and above a diagonal"));
  r.push_back(
      compound("aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, " + options, 0,
               decomposed_type, empty_permuted, "fresh memory, zeros here, with dimensions in a given order"));
  return r;
}

}  // namespace strata::ops
