// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products. The primitives are mm, addmm, bmm and baddbmm; everything else folds its batch dimensions as PyTorch
// does and becomes one of them, operands transposed by strides rather than by copies.

#include "core/ir/ops/neural.h"
#include "core/runtime/parallel.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;

// ---------------------------------------------------------------------------------------------------------------
// shapes

/// Type of the product of parameters `a` and `b`, both with `batch` leading dimensions that must agree.
Type product_type(const Call& call, size_t a, size_t b, size_t batch) {
  require_rank(call, a, batch + 2, batch + 2);
  require_rank(call, b, batch + 2, batch + 2);
  require_same_dtype(call, a, b);
  const Shape &x = call.type(a).shape, &y = call.type(b).shape;
  if (batch) require_equal(call, x[0], y[0], "batch sizes");
  require_equal(call, x[batch + 1], y[batch], "columns of the first and rows of the second matrix");
  Shape shape = x;
  shape[batch + 1] = y[batch + 1];
  return result_like(call, call.type(a).dtype, std::move(shape));
}
Type mm_type(const Call& call) { return product_type(call, 0, 1, 0); }
Type bmm_type(const Call& call) { return product_type(call, 0, 1, 1); }

/// PyTorch cuts fractions off beta and alpha for integers, and does not say so: those calls are not ours.
void require_whole_factors(const Call& call) {
  if (is_floating(call.type(1).dtype) || is_complex(call.type(1).dtype)) return;
  for (const size_t i : {3, 4})
    if (!call.is_integer_scalar(i)) reject(call, "beta and alpha of integers must be integers");
}

/// addmm and baddbmm: parameter 0 broadcasts to the product.
Type add_product_type(const Call& call, size_t batch) {
  require_whole_factors(call);
  Type type = product_type(call, 1, 2, batch);
  require_same_dtype(call, 0, 1);
  const Shape wide = broadcast(tensor_type(call, 0).shape, type.tensor.shape, call.node());
  if (wide.size() != type.tensor.shape.size()) reject(call, "'self' has more dimensions than the product");
  for (size_t i = 0; i < wide.size(); ++i)
    require_equal(call, wide[i], type.tensor.shape[i], "sizes of 'self' and of the product");
  return type;
}
Type addmm_type(const Call& call) { return add_product_type(call, 0); }
Type baddbmm_type(const Call& call) { return add_product_type(call, 1); }

Type linear_type(const Call& call) {
  require_rank(call, 0, 1, 64);
  require_rank(call, 1, 1, 2);
  require_same_dtype(call, 0, 1);
  const Shape &x = call.type(0).shape, &w = call.type(1).shape;
  require_equal(call, x.back(), w.back(), "last sizes of input and weight");
  Shape shape(x.begin(), x.end() - 1);
  if (w.size() == 2) shape.push_back(w[0]);
  if (call.optional_tensor(2))
    require_same_dtype(call, 0, 2), shape = broadcast(shape, call.type(2).shape, call.node());
  return result_like(call, call.type(0).dtype, std::move(shape));
}

Type matmul_type(const Call& call) {
  require_rank(call, 0, 1, 64);
  require_rank(call, 1, 1, 64);
  require_same_dtype(call, 0, 1);
  const Shape &a = call.type(0).shape, &b = call.type(1).shape;
  require_equal(call, a.back(), b.size() == 1 ? b[0] : b[b.size() - 2], "inner sizes");
  const Shape left(a.begin(), a.end() - static_cast<long>(std::min<size_t>(2, a.size())));
  const Shape right(b.begin(), b.end() - static_cast<long>(std::min<size_t>(2, b.size())));
  Shape shape = broadcast(left, right, call.node());
  if (a.size() > 1) shape.push_back(a[a.size() - 2]);
  if (b.size() > 1) shape.push_back(b.back());
  return result_like(call, call.type(0).dtype, std::move(shape));
}

Type dot_type(const Call& call) {
  require_rank(call, 0, 1, 1);
  require_rank(call, 1, 1, 1);
  require_same_dtype(call, 0, 1);
  require_equal(call, call.type(0).shape[0], call.type(1).shape[0], "lengths");
  return result_like(call, call.type(0).dtype, {});
}

Type mv_type(const Call& call) {
  require_rank(call, 0, 2, 2);
  require_rank(call, 1, 1, 1);
  require_same_dtype(call, 0, 1);
  require_equal(call, call.type(0).shape[1], call.type(1).shape[0], "columns of the matrix and length of the vector");
  return result_like(call, call.type(0).dtype, {call.type(0).shape[0]});
}

Type outer_type(const Call& call) {
  require_rank(call, 0, 1, 1);
  require_rank(call, 1, 1, 1);
  return result_like(call, promote(call.type(0).dtype, call.type(1).dtype),
                     {call.type(0).shape[0], call.type(1).shape[0]});
}

// ------------------------------------------------------------------------------------------------------------
// references

/// a[batch, m, k] b[batch, k, n] in double.
std::vector<double> batched_product(const Tensor& a, const Tensor& b) {
  const size_t lead = a.rank() - 2;
  const int64_t batch = lead ? a.shape[0] : 1, m = a.shape[lead], k = a.shape[lead + 1], n = b.shape[lead + 1];
  const std::vector<double> x = doubles_of(a), y = doubles_of(b);
  std::vector<double> z(static_cast<size_t>(batch * m * n), 0);
  if (batch == 1) {
    multiply_add_parallel(m, n, k, {x.data(), k}, {y.data(), n}, z.data(), n);
    return z;
  }
  parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      multiply_add(m, n, k, {x.data() + i * m * k, k}, {y.data() + i * k * n, n}, z.data() + i * m * n, n);
  });
  return z;
}

/// The same of integers, which wrap.
std::vector<uint64_t> integer_product(const Tensor& a, const Tensor& b) {
  const size_t lead = a.rank() - 2;
  const int64_t batch = lead ? a.shape[0] : 1, m = a.shape[lead], k = a.shape[lead + 1], n = b.shape[lead + 1];
  std::vector<uint64_t> z(static_cast<size_t>(batch * m * n), 0);
  for (int64_t i = 0; i < batch * m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        z[static_cast<size_t>(i * n + j)] +=
            static_cast<uint64_t>(a.int_at(i * k + p)) *
            static_cast<uint64_t>(b.int_at((i / std::max<int64_t>(m, 1) * k + p) * n + j));
  return z;
}

/// beta * bias + alpha * product (a null bias: the product alone).
void store_integers(std::vector<uint64_t> z, const Tensor* bias, int64_t beta, int64_t alpha, const Tensor& out) {
  for (size_t i = 0; i < z.size(); ++i) {
    const auto flat = static_cast<int64_t>(i);
    uint64_t v = z[i] * static_cast<uint64_t>(alpha);
    if (bias && beta != 0) v += static_cast<uint64_t>(beta) * static_cast<uint64_t>(bias->int_at(flat));
    out.set_int(flat, static_cast<int64_t>(v));
  }
}

RefValue product_reference(const RefContext& c) {
  Tensor out = c.result();
  if (!is_floating(out.dtype)) {
    store_integers(integer_product(c.tensor(0), c.tensor(1)), nullptr, 0, 1, out);
    return out;
  }
  store_doubles(batched_product(c.tensor(0), c.tensor(1)), out);
  return out;
}

RefValue add_product_reference(const RefContext& c) {
  Tensor out = c.result();
  if (!is_floating(out.dtype)) {
    const Tensor bias = expanded(c.tensor(0), out.shape);
    store_integers(integer_product(c.tensor(1), c.tensor(2)), &bias, scalar_as<int64_t>(c, 3), scalar_as<int64_t>(c, 4),
                   out);
    return out;
  }
  const double beta = scalar_value(c, 3), alpha = scalar_value(c, 4);
  std::vector<double> z = batched_product(c.tensor(1), c.tensor(2));
  for (double& v : z) v *= alpha;
  if (beta != 0) {  // a beta of 0 ignores `self`, NaN included
    const std::vector<double> bias = doubles_of(expanded(c.tensor(0), out.shape));
    for (size_t i = 0; i < z.size(); ++i) z[i] += beta * bias[i];
  }
  store_doubles(z, out);
  return out;
}

// ---------------------------------------------------------------------------------------------------------
// decompositions

/// `x` as a matrix whose rows are all its leading dimensions.
Node* as_rows(Builder& b, Node* x) {
  const Shape& s = x->tensor().shape;
  return b.reshape(x, {product(Shape(s.begin(), s.end() - 1)), s.back()});
}

Node* as_batch(Builder& b, Node* x, const Shape& lead) {
  const Shape& s = x->tensor().shape;
  Shape wide = lead;
  wide.insert(wide.end(), s.end() - 2, s.end());
  return b.reshape(b.expand(x, wide), {product(lead), s[s.size() - 2], s.back()});
}

std::vector<Node*> decompose_linear(Builder& b, const Call& call) {
  Node *x = call.tensor(0), *w = call.tensor(1), *bias = call.optional_tensor(2);
  if (w->tensor().shape.size() == 1) {
    Node* y = b.call("aten.matmul.default", {x, w});
    return {bias ? b.add(y, bias) : y};
  }
  Node* rows = as_rows(b, x);
  Node* wt = b.permute(w, {1, 0});
  const bool joined = bias && bias->tensor().shape.size() == 1;
  Node* y = joined ? b.call("aten.addmm.default", {bias, rows, wt}) : b.call("aten.mm.default", {rows, wt});
  if (joined || !bias) return {b.reshape(y, call.node().tensor().shape)};
  Shape shape(x->tensor().shape.begin(), x->tensor().shape.end() - 1);
  shape.push_back(w->tensor().shape[0]);
  return {b.add(b.reshape(y, shape), bias)};
}

std::vector<Node*> decompose_matmul(Builder& b, const Call& call) {
  Node *x = call.tensor(0), *y = call.tensor(1);
  const Shape& shape = call.node().tensor().shape;
  const size_t left = x->tensor().shape.size(), right = y->tensor().shape.size();
  if (left == 1 && right == 1) return {b.call("aten.dot.default", {x, y})};
  if (left == 1) x = b.unsqueeze(x, 0);
  if (right == 1) y = b.unsqueeze(y, 1);
  if (right <= 2) return {b.reshape(b.call("aten.mm.default", {as_rows(b, x), y}), shape)};
  const auto lead_of = [](Node* n) { return Shape(n->tensor().shape.begin(), n->tensor().shape.end() - 2); };
  const Shape lead = broadcast(lead_of(x), lead_of(y), call.node());
  return {b.reshape(b.call("aten.bmm.default", {as_batch(b, x, lead), as_batch(b, y, lead)}), shape)};
}

/// PyTorch sums 16-bit products in float32.
std::vector<Node*> decompose_dot(Builder& b, const Call& call) {
  Node* y = b.sum(b.mul(widen(b, call.tensor(0)), widen(b, call.tensor(1))), {0}, false);
  return {b.cast(y, call.node().tensor().dtype)};
}

std::vector<Node*> decompose_mv(Builder& b, const Call& call) {
  return {squeeze(b, b.call("aten.mm.default", {call.tensor(0), b.unsqueeze(call.tensor(1), 1)}), 1)};
}

std::vector<Node*> decompose_outer(Builder& b, const Call& call) {
  return {b.mul(b.unsqueeze(call.tensor(0), 1), b.unsqueeze(call.tensor(1), 0))};
}

std::vector<Node*> decompose_addmv(Builder& b, const Call& call) {
  Node* column = b.unsqueeze(b.expand(call.tensor(0), call.node().tensor().shape), 1);
  Node* y = b.call("aten.addmm.default", {column, call.tensor(1), b.unsqueeze(call.tensor(2), 1)},
                   {{"beta", call.arg(3)}, {"alpha", call.arg(4)}});
  return {squeeze(b, y, 1)};
}
Type addmv_type(const Call& call) {
  require_whole_factors(call);
  require_rank(call, 1, 2, 2);
  require_rank(call, 2, 1, 1);
  require_equal(call, call.type(1).shape[1], call.type(2).shape[0], "columns of the matrix and length of the vector");
  return result_like(call, call.type(1).dtype, {call.type(1).shape[0]});
}

// --------------------------------------------------------------------------------------------------------------
// gradients

Node* scaled(Builder& b, Node* x, const Call& call, size_t i) {
  return call.number(i) == 1.0 ? x : b.mul(x, call.arg(i));
}

/// Cotangents of z = a b with respect to parameters `first` and `first + 1`.
void product_gradient(const GradientCall& g, Node* dz, size_t first, std::vector<Node*>& out) {
  Builder& b = g.builder;
  Node *x = g.call.tensor(first), *y = g.call.tensor(first + 1);
  const std::string_view op = x->tensor().shape.size() == 2 ? "aten.mm.default" : "aten.bmm.default";
  if (g.needed(first)) out[first] = b.call(op, {dz, b.transpose(y, -2, -1)});
  if (g.needed(first + 1)) out[first + 1] = b.call(op, {b.transpose(x, -2, -1), dz});
}

std::vector<Node*> mm_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (Node* dz = cotangent(g)) product_gradient(g, dz, 0, out);
  return out;
}

std::vector<Node*> addmm_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dz = cotangent(g);
  if (!dz) return out;
  if (g.needed(0)) out[0] = fit(g.builder, scaled(g.builder, dz, g.call, 3), g.call.tensor(0));
  if (g.needed(1) || g.needed(2)) product_gradient(g, scaled(g.builder, dz, g.call, 4), 1, out);
  return out;
}

OpDef library(std::string_view schema, ShapeRule shape, Reference reference, Gradient gradient, std::string_view doc) {
  return OpDef(schema, OpClass::Library, 0, Promotion::None, shape, reference, nullptr, gradient, LibraryRule{"matmul"},
               "", doc);
}

}  // namespace

Rows matrix() {
  Rows rows{
      library("aten::mm(Tensor self, Tensor mat2) -> Tensor", mm_type, product_reference, mm_gradient,
              "product of two matrices"),
      library("aten::bmm(Tensor self, Tensor mat2) -> Tensor", bmm_type, product_reference, mm_gradient,
              "product of two batches of matrices"),
      library("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              addmm_type, add_product_reference, addmm_gradient, "beta * self + alpha * (mat1 @ mat2)"),
      library("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              baddbmm_type, add_product_reference, addmm_gradient, "beta * self + alpha * (batch1 @ batch2)"),
      compound("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", 0, linear_type,
               decompose_linear, "input @ weight.T + bias over the last dimension"),
      compound("aten::matmul(Tensor self, Tensor other) -> Tensor", 0, matmul_type, decompose_matmul,
               "matrix product with broadcast batch dimensions; vectors are rows on the left, columns on the right"),
      compound("aten::dot(Tensor self, Tensor tensor) -> Tensor", 0, dot_type, decompose_dot,
               "sum of products of two vectors"),
      compound("aten::vdot(Tensor self, Tensor other) -> Tensor", 0, dot_type, decompose_dot, "dot of real vectors"),
      compound("aten::mv(Tensor self, Tensor vec) -> Tensor", 0, mv_type, decompose_mv, "matrix times vector"),
      compound("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", 0,
               addmv_type, decompose_addmv, "beta * self + alpha * (mat @ vec)"),
      compound("aten::outer(Tensor self, Tensor vec2) -> Tensor", 0, outer_type, decompose_outer,
               "all products of two vectors' elements"),
      compound("aten::ger(Tensor self, Tensor vec2) -> Tensor", 0, outer_type, decompose_outer,
               "outer under its old name"),
  };
  append(rows, attention_rows());
  append(rows, einsum_rows());
  append(rows, grouped_rows());
  append(rows, recurrent_rows());
  return rows;
}

}  // namespace strata::ops
