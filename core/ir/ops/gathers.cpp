// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reading at indices that come from tensors.

#include <algorithm>
#include <cstring>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

OpDef indexed(const char* schema, ShapeRule type, Reference reference, std::variant<Gradient, NoGradient> gradient,
              IndexedBody body, const char* doc) {
  return OpDef(schema, OpClass::Indexing, 0, Promotion::None, type, reference, nullptr, gradient, Lowering(body), "",
               doc);
}

Node* zeros_of(Builder& b, Node* like, DType dtype) {
  return b.call("aten.zeros_like.default", {like}, {{"dtype", dtype}});
}

// ----------------------------------------------------------------------------------------------------------- embedding

Type embedding_type(const Call& call) {
  const TensorType& weight = tensor_type(call, 0);
  if (weight.shape.size() != 2)
    reject(call, "the weight must have 2 dimensions, found " + std::to_string(weight.shape.size()));
  check_index_type(call, 1);
  Index shape = tensor_type(call, 1).shape;
  shape.push_back(weight.shape[1]);
  return result_like(call, weight.dtype, shape);
}

RefValue embedding_reference(const RefContext& c) {
  const Tensor weight = c.tensor(0).contiguous(), indices = c.tensor(1).contiguous();
  Tensor out = c.result();
  const int64_t rows = weight.shape[0], n = indices.numel();
  const size_t bytes = static_cast<size_t>(weight.shape[1]) * dtype_size(weight.dtype);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = indices.int_at(i);
    if (row < 0 || row >= rows)
      reject(c.call,
             "index " + std::to_string(row) + " is out of range, expected [0, " + std::to_string(rows - 1) + "]");
    if (bytes)
      std::memcpy(out.data() + static_cast<size_t>(i) * bytes, weight.data() + static_cast<size_t>(row) * bytes, bytes);
  }
  return out;
}

ScalarId embedding_body(const IndexedCall& c) {
  const Index position(c.index.begin(), c.index.end() - 1);
  const ScalarId row = c.load(c.call.tensor(1), position, {});
  std::optional<ScalarId> readable;
  const IndexRange rows{c.call.type(0).shape[0], false, "index out of range in self: {index} of {size} rows"};
  const SymInt at = checked_data_index(c.body, row, rows, readable);
  return c.load(c.call.tensor(0), {at, c.index.back()}, readable);
}

/// Cotangents are added to the rows they were read from; padding_idx gets none.
std::vector<Node*> embedding_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  if (g.call.boolean(3)) reject(g.call, "scale_grad_by_freq has no gradient here");
  Builder& b = g.builder;
  Node* weight = g.call.tensor(0);
  Node* indices = g.call.tensor(1);
  if (const int64_t padding = g.call.constant(2); padding >= 0) {
    Node* padded = b.unsqueeze(b.call("aten.eq.Scalar", {indices, padding}), -1);
    dy = b.call("aten.masked_fill.Scalar", {dy, padded, 0.0});
  }
  out[0] = b.call("aten.index_put.default",
                  {zeros_of(b, weight, weight->type.tensor.dtype), Argument::list({indices}), dy, true});
  return out;
}

// -------------------------------------------------------------------------------------------------------------- gather

Type gather_type(const Call& call) {
  const TensorType& self = tensor_type(call, 0);
  check_index_type(call, 2);
  const Index& index = tensor_type(call, 2).shape;
  const size_t rank = std::max<size_t>(1, self.shape.size());
  const size_t dim = call.dim(1, rank);
  const bool empty = has_zero(index);
  if (!empty && std::max<size_t>(1, index.size()) != rank) reject(call, "index must have as many dimensions as self");
  for (size_t d = 0; !empty && d < std::min(index.size(), self.shape.size()); ++d)
    if (d != dim) require_covered(call, self.shape[d], index, d, "self");
  return result_like(call, self.dtype, index);
}

RefValue gather_reference(const RefContext& c) {
  const Tensor self = c.tensor(0), index = c.tensor(2).contiguous();
  Tensor out = c.result();
  const size_t item = dtype_size(self.dtype), dim = c.call.dim(1, self.rank());
  for_each_index(index.shape, [&](int64_t flat, std::vector<int64_t> at) {
    const int64_t k = checked_index(c.call, index.int_at(flat), self.rank() ? self.shape[dim] : 1, false);
    if (self.rank() == 0)
      at.clear();
    else if (at.empty())
      at.push_back(k);
    else
      at[dim] = k;
    std::memcpy(out.data() + static_cast<size_t>(flat) * item,
                self.data() + position(self, at) * static_cast<int64_t>(item), item);
  });
  return out;
}

ScalarId gather_body(const IndexedCall& c) {
  const Index& shape = c.call.type(0).shape;
  std::optional<ScalarId> readable;
  const ScalarId index = c.load(c.call.tensor(2), c.index, {});
  if (shape.empty()) {
    checked_data_index(c.body, index, index_range(1, 0, false), readable);
    return c.load(c.call.tensor(0), {}, {});
  }
  const size_t dim = c.call.dim(1, shape.size());
  const SymInt chosen = checked_data_index(c.body, index, index_range(shape[dim], dim, false), readable);
  Index at = c.index;
  at.resize(shape.size(), SymInt(0));  // the ranks differ for a single index and for none at all
  at[dim] = chosen;
  return c.load(c.call.tensor(0), at, readable);
}

/// Of one element along the dimension, where nothing can meet: no scatter is needed. Null if there may be several.
Node* spread_cotangent(const GradientCall& g) {
  Builder& b = g.builder;
  const Index &shape = g.call.type(0).shape, &index = g.call.type(2).shape;
  if (shape.empty() || shape.size() != index.size()) return nullptr;
  const size_t dim = g.call.dim(1, shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (!(index[d] == (d == dim ? SymInt(1) : shape[d]))) return nullptr;
  Node* places = along(b, arange(b, shape[dim], g.call.tensor(2)), dim, shape.size());
  Node* hit = b.call("aten.eq.Tensor", {g.call.tensor(2), places});
  return where_else(b, hit, b.expand(cotangent(g), shape), 0.0);
}

std::vector<Node*> gather_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (!cotangent(g) || !g.needed(0)) return out;
  if (Node* only = spread_cotangent(g)) return out[0] = only, out;
  Node* zeros = zeros_of(g.builder, g.call.tensor(0), cotangent(g)->type.tensor.dtype);
  out[0] = g.builder.call("aten.scatter_add.default", {zeros, g.call.arg(1), g.call.arg(2), cotangent(g)});
  return out;
}

// -------------------------------------------------------------------------------------------------------- index_select

Type index_select_type(const Call& call) {
  const TensorType& self = tensor_type(call, 0);
  check_index_type(call, 2);
  const TensorType& index = tensor_type(call, 2);
  if (index.shape.size() > 1) reject(call, "index must have at most 1 dimension");
  const size_t dim = call.dim(1, self.shape.size());
  Index shape = self.shape;
  if (shape.empty())
    require_equal(call, index.numel(), 1, "indices into a tensor without dimensions and 1");
  else
    shape[dim] = index.numel();
  return result_like(call, self.dtype, shape);
}

RefValue index_select_reference(const RefContext& c) {
  const Tensor self = c.tensor(0), index = c.tensor(2);
  Tensor out = c.result();
  const size_t item = dtype_size(self.dtype), dim = c.call.dim(1, self.rank());
  for_each_index(out.shape, [&](int64_t flat, std::vector<int64_t> at) {
    if (self.rank())
      at[dim] = checked_index(c.call, index.int_at(at[dim]), self.shape[dim], false);
    else
      checked_index(c.call, index.int_at(0), 1, false);
    std::memcpy(out.data() + static_cast<size_t>(flat) * item,
                self.data() + position(self, at) * static_cast<int64_t>(item), item);
  });
  return out;
}

ScalarId index_select_body(const IndexedCall& c) {
  Index at = c.index;
  const bool one = at.empty();
  const size_t dim = c.call.dim(1, at.size());
  const Index where = c.call.type(2).shape.empty() ? Index{} : Index{one ? SymInt(0) : at[dim]};
  std::optional<ScalarId> readable;
  if (one) {
    checked_data_index(c.body, c.load(c.call.tensor(2), where, {}), index_range(1, 0, false), readable);
    return c.load(c.call.tensor(0), {}, {});
  }
  at[dim] = checked_data_index(c.body, c.load(c.call.tensor(2), where, {}),
                               index_range(c.call.type(0).shape[dim], dim, false), readable);
  return c.load(c.call.tensor(0), at, readable);
}

std::vector<Node*> index_select_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  Builder& b = g.builder;
  Node* self = g.call.tensor(0);
  Node* index = g.call.tensor(2);
  const size_t rank = self->type.tensor.shape.size();
  std::vector<Argument> indices(g.call.dim(1, rank), Argument());
  indices.push_back(rank ? b.reshape(index, {index->type.tensor.numel()}) : index);
  if (rank == 0)
    out[0] = dy;
  else
    out[0] =
        b.call("aten.index_put.default", {zeros_of(b, self, dy->type.tensor.dtype), Argument::list(indices), dy, true});
  return out;
}

// --------------------------------------------------------------------------------------------------------------- index

Type index_type(const Call& call) {
  if (indexed_by_mask(call)) return masked_index_type(call);
  return result_like(call, tensor_type(call, 0).dtype, index_plan(call).shape);
}

RefValue index_reference(const RefContext& c) {
  const Tensor self = c.tensor(0);
  Tensor out = c.result();
  const size_t item = dtype_size(self.dtype);
  for_each_indexed(c, [&](int64_t flat, const std::vector<int64_t>&, const std::vector<int64_t>& source) {
    std::memcpy(out.data() + static_cast<size_t>(flat) * item,
                self.data() + position(self, source) * static_cast<int64_t>(item), item);
  });
  return out;
}

ScalarId index_body(const IndexedCall& c) {
  const IndexPlan p = index_plan(c.call);
  const Index& self = c.call.type(0).shape;
  const size_t n = p.broadcast.size();
  const Index inner(c.index.begin() + static_cast<ptrdiff_t>(p.at), c.index.begin() + static_cast<ptrdiff_t>(p.at + n));
  Index source(self.size());
  std::optional<ScalarId> readable;
  size_t next = 0;
  for (size_t d = 0; d < self.size(); ++d) {
    if (d < p.indices.size() && p.indices[d]) {
      const Index at = broadcast_position(inner, p.indices[d]->type.tensor.shape);
      source[d] = checked_data_index(c.body, c.load(p.indices[d], at, {}), index_range(self[d], d, true), readable);
    } else {
      if (next == p.at) next += n;
      source[d] = c.index[next++];
    }
  }
  return c.load(c.call.tensor(0), source, readable);
}

std::vector<Node*> index_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (!cotangent(g) || !g.needed(0)) return out;
  Node* zeros = zeros_of(g.builder, g.call.tensor(0), cotangent(g)->type.tensor.dtype);
  out[0] = g.builder.call("aten.index_put.default", {zeros, g.call.arg(1), cotangent(g), true});
  return out;
}

}  // namespace

Rows gathers() {
  Rows r;
  r.push_back(
      indexed("aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
              "bool sparse=False) -> Tensor",
              embedding_type, embedding_reference, Gradient(embedding_gradient), embedding_body, "rows of a table"));
  r.push_back(indexed("aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
                      gather_type, gather_reference, Gradient(gather_gradient), gather_body,
                      "elements at given positions along a dimension"));
  r.push_back(indexed("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", index_select_type,
                      index_select_reference, Gradient(index_select_gradient), index_select_body,
                      "given indices of a dimension"));
  r.push_back(OpDef("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", OpClass::Indexing,
                    trait::DataDependent, Promotion::None, index_type, index_reference, index_without_masks,
                    Gradient(index_gradient), Lowering(IndexedBody(index_body)), "",
                    "self[indices] with integer tensors or masks; None takes a whole dimension"));
  return r;
}

}  // namespace strata::ops
