// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Other spellings of writing at indices: all become `scatter`, `scatter_reduce` or `index_put`.

#include <algorithm>

#include "core/ir/ops/indexing.h"

namespace strata::ops {
namespace {

OpDef written(const std::string& schema, Decompose decompose, const char* doc, ShapeRule type = same_type) {
  return OpDef(schema, OpClass::Compound, 0, Promotion::None, type, nullptr, decompose, NoGradient::Pending,
               NoLowering{}, "", doc);
}

size_t dims_of(const Node* x) { return x->type.tensor.shape.size(); }

Node* in_shape(Builder& b, Node* x, const Index& shape) {
  return same_sizes(x->type.tensor.shape, shape) ? x : b.reshape(x, shape);
}
Node* at_least_one_dim(Builder& b, Node* x) { return dims_of(x) ? x : b.reshape(x, {SymInt(1)}); }
Node* all_in_one_dim(Builder& b, Node* x) { return in_shape(b, x, {x->type.tensor.numel()}); }

/// The reduction that `scatter`'s keyword `reduce` names.
std::string reduction_word(const Call& c, size_t i) {
  const std::string word = c.string(i);
  if (word != "add" && word != "multiply") reject(c, "reduce must be add or multiply, found '" + word + "'");
  return word == "add" ? "sum" : "prod";
}

std::vector<Node*> scatter_reduce_source(Builder& b, const Call& c) {
  return {b.call("aten.scatter_reduce.two", {c.arg(0), c.arg(1), c.arg(2), c.arg(3), reduction_word(c, 4)})};
}

std::vector<Node*> scatter_reduce_value(Builder& b, const Call& c) {
  Node* number = b.call("aten.full.default", {sizes({}), c.arg(3)}, {{"dtype", c.type(0).dtype}});
  return {b.call("aten.scatter_reduce.two",
                 {c.arg(0), c.arg(1), c.arg(2), b.expand(number, c.type(2).shape), reduction_word(c, 4)})};
}

/// The index, one per position of `dim`, in the shape of `source`.
Node* index_along(Builder& b, Node* index, Node* source, size_t dim) {
  Index line(dims_of(source), SymInt(1));
  line[dim] = index->type.tensor.numel();
  return b.expand(b.reshape(index, line), source->type.tensor.shape);
}

std::vector<Node*> index_reduce(Builder& b, const Call& c) {
  Node* self = at_least_one_dim(b, c.tensor(0));
  Node* source = at_least_one_dim(b, c.tensor(3));
  const size_t dim = c.dim(1, dims_of(self));
  check_line_of_indices(c, 2);
  check_source(c, dim);
  if (const std::string reduce = c.string(4); reduce == "sum")
    reject(c, "reduce must be prod, mean, amax or amin, found 'sum'");
  Node* made = b.call("aten.scatter_reduce.two",
                      {self, static_cast<int64_t>(dim), index_along(b, c.tensor(2), source, dim), source, c.arg(4)},
                      {{"include_self", c.boolean(5)}});
  return {in_shape(b, made, c.type(0).shape)};
}

Type index_fill_type(const Call& c) {
  if (!tensor_type(c, 3).shape.empty()) reject(c, "the value must have no dimensions");
  return same_type(c);
}
std::vector<Node*> index_fill_tensor(Builder& b, const Call& c) {
  Node* self = at_least_one_dim(b, c.tensor(0));
  check_line_of_indices(c, 2);
  std::vector<Argument> indices(c.dim(1, dims_of(self)), Argument());
  indices.push_back(all_in_one_dim(b, c.tensor(2)));
  Node* made =
      b.call("aten.index_put.default", {self, Argument::list(indices), b.cast(c.tensor(3), c.type(0).dtype), false});
  return {in_shape(b, made, c.type(0).shape)};
}

std::vector<Node*> put(Builder& b, const Call& c) {
  require_equal(c, tensor_type(c, 1).numel(), tensor_type(c, 2).numel(), "numbers of indices and of source's elements");
  Node* made = b.call("aten.index_put.default",
                      {all_in_one_dim(b, c.tensor(0)), Argument::list({all_in_one_dim(b, c.tensor(1))}),
                       all_in_one_dim(b, c.tensor(2)), c.boolean(3)});
  return {in_shape(b, made, c.type(0).shape)};
}

/// Where a strided view of row-major memory has its elements, one per element of `size`.
std::vector<Node*> as_strided_scatter(Builder& b, const Call& c) {
  const TensorType& self = c.type(0);
  const Index size = c.integers(2), stride = c.integers(3);
  if (size.size() != stride.size()) reject(c, "size and stride must have as many elements");
  for (const SymInt& s : stride) require_at_least(c, s, 0, "stride");
  require_same_shape(c, tensor_type(c, 1).shape, size, "src and the view");
  const Type rows = result_like(c, self.dtype, self.shape);
  if (!self.strides || !same_sizes(*self.strides, *rows.tensor.strides)) reject(c, "self must lie row-major");
  SymInt last = c.optional_integer(4).value_or(0);
  require_at_least(c, last, 0, "storage_offset");
  Node* at = b.call("aten.full.default", {sizes(size), integer(last)}, {{"dtype", DType::I64}});
  for (size_t d = 0; d < size.size(); ++d) {
    Index line(size.size(), SymInt(1));
    line[d] = size[d];
    Node* step = b.mul(b.call("aten.arange.default", {integer(size[d])}), integer(stride[d]));
    at = b.add(at, b.reshape(step, line));
    last = last + (size[d] - 1) * stride[d];
  }
  require_at_least(c, self.numel(), unless_empty(last + 1, size), "elements of self for the view");
  Node* made =
      b.call("aten.index_put.default", {all_in_one_dim(b, c.tensor(0)), Argument::list({all_in_one_dim(b, at)}),
                                        all_in_one_dim(b, b.expand(c.tensor(1), size)), false});
  return {in_shape(b, made, self.shape)};
}

/// Values that the mask leaves out are added as zeros, at indices brought into range.
std::vector<Node*> masked_index_put(Builder& b, const Call& c) {
  const std::vector<Node*> given = c.tensors(2);
  if (given.size() > tensor_type(c, 0).shape.size()) reject(c, "there are more indices than dimensions");
  std::vector<Argument> indices;
  for (size_t d = 0; d < given.size(); ++d) {
    const SymInt n = c.type(0).shape.at(d);
    indices.push_back(given[d] ? Argument(b.call("aten.clamp.default", {given[d], integer(-n), integer(n - 1)}))
                               : Argument());
  }
  Node* outside = b.call("aten.logical_not.default", {c.tensor(1)});
  Node* values = b.call("aten.masked_fill.Scalar", {c.tensor(3), outside, 0});
  return {b.call("aten.index_put.default", {c.tensor(0), Argument::list(indices), values, true})};
}

// ---------------------------------------------------------------------------------------------------- diagonal_scatter

struct Band {
  size_t row, column;  ///< dimensions
  int64_t offset;
};
Band band_of(const Call& c) {
  const size_t n = tensor_type(c, 0).shape.size();
  if (n < 2) reject(c, "expected at least 2 dimensions");
  const Band band{c.dim(3, n), c.dim(4, n), c.constant(2)};
  if (band.row == band.column) reject(c, "the two dimensions must differ");
  return band;
}

Type diagonal_scatter_type(const Call& c) {
  require_fits(c, 1);
  const Band band = band_of(c);
  const Index &self = c.type(0).shape, &src = tensor_type(c, 1).shape;
  Index expected;
  for (size_t d = 0; d < self.size(); ++d)
    if (d != band.row && d != band.column) expected.push_back(self[d]);
  const SymInt rows = self[band.row] - std::max<int64_t>(-band.offset, 0),
               columns = self[band.column] - std::max<int64_t>(band.offset, 0);
  expected.push_back(max(SymInt(0), min(rows, columns)));
  require_same_shape(c, src, expected, "src and the diagonal");
  return result_like(c, c.type(0).dtype, self);
}

RefValue diagonal_scatter_reference(const RefContext& c) {
  Tensor out = c.tensor(0).clone();
  const Band band = band_of(c.call);
  const Tensor src = converted(c.tensor(1), out.dtype).contiguous();
  const auto size = static_cast<int64_t>(dtype_size(out.dtype));
  for_each_index(src.shape, [&](int64_t flat, const std::vector<int64_t>& at) {
    std::vector<int64_t> where(out.rank());
    size_t next = 0;
    for (size_t d = 0; d < where.size(); ++d)
      where[d] = d == band.row      ? at.back() + std::max<int64_t>(-band.offset, 0)
                 : d == band.column ? at.back() + std::max<int64_t>(band.offset, 0)
                                    : at[next++];
    std::copy_n(src.data() + flat * size, size, out.data() + position(out, where) * size);
  });
  return out;
}

ScalarId diagonal_scatter_body(const IndexedCall& c) {
  Body& b = c.body;
  const Band band = band_of(c.call);
  const SymInt row = c.index[band.row], column = c.index[band.column];
  const ScalarId inside = b.binary(ScalarOp::Eq, b.index(column - row), b.integer(band.offset));
  Index at;
  for (size_t d = 0; d < c.index.size(); ++d)
    if (d != band.row && d != band.column) at.push_back(c.index[d]);
  at.push_back(band.offset < 0 ? column : row);
  const DType dtype = compute_dtype(c.call.node().type.tensor.dtype);
  return b.select(inside, b.cast(c.load(c.call.tensor(1), at, inside), dtype),
                  b.cast(c.load(c.call.tensor(0), c.index, {}), dtype));
}

std::vector<Node*> diagonal_scatter_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  Builder& b = g.builder;
  const Call& c = g.call;
  if (g.needed(0)) {
    Node* zeros = b.call("aten.zeros_like.default", {c.tensor(1)}, {{"dtype", dy->type.tensor.dtype}});
    out[0] = b.call("aten.diagonal_scatter.default", {dy, zeros, c.arg(2), c.arg(3), c.arg(4)});
  }
  if (g.needed(1)) out[1] = fit(b, b.call("aten.diagonal.default", {dy, c.arg(2), c.arg(3), c.arg(4)}), c.tensor(1));
  return out;
}

}  // namespace

Rows scatter_forms() {
  Rows r;
  r.push_back(written("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
                      scatter_reduce_source, "self with elements of src added or multiplied at given positions"));
  r.push_back(
      written("aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
              scatter_reduce_value, "self with a number added or multiplied at given positions"));
  r.push_back(
      written("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
              "include_self=True) -> Tensor",
              index_reduce, "self with source combined at indices of a dimension"));
  r.push_back(written("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
                      index_fill_tensor, "self with a value at indices of a dimension", index_fill_type));
  r.push_back(written("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", put,
                      "self with source written at row-major positions"));
  r.push_back(
      written("aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
              "storage_offset=None) -> Tensor",
              as_strided_scatter, "self with a strided view replaced by src"));
  r.push_back(
      written("aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor "
              "values) -> Tensor",
              masked_index_put, "self with values added at indices where a mask holds"));
  r.push_back(written(
      "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
      [](Builder& b, const Call& c) -> std::vector<Node*> {
        return {b.call("aten.index_put.default", {c.arg(0), c.arg(1), c.arg(2), c.arg(3)})};
      },
      "index_put"));
  r.push_back(OpDef("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
                    OpClass::Indexing, 0, Promotion::None, diagonal_scatter_type, diagonal_scatter_reference, nullptr,
                    Gradient(diagonal_scatter_gradient), Lowering(IndexedBody(diagonal_scatter_body)), "",
                    "self with a diagonal replaced by src"));
  return r;
}

}  // namespace strata::ops
