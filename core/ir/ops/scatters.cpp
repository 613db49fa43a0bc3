// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Writing at indices that come from tensors. A loop body gives one result element from its index, which a scatter
// cannot: those rows have kernels of their own.

#include <algorithm>
#include <limits>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/views.h"

namespace strata::ops {
namespace {

enum class Combine : uint8_t { Replace, Add, Multiply, Max, Min };

/// One element of `out` combined with `value`, both given by position; integers keep all bits.
void combine_into(const Tensor& out, int64_t at, const Tensor& from, int64_t value_at, Combine how) {
  std::byte* p = out.data() + at * static_cast<int64_t>(dtype_size(out.dtype));
  const std::byte* v = from.data() + value_at * static_cast<int64_t>(dtype_size(from.dtype));
  const auto joined = [how](auto a, auto b) {
    switch (how) {
      case Combine::Replace:
        return b;
      case Combine::Add:
        return wrap_add(a, b);
      case Combine::Multiply:
        return wrap_mul(a, b);
      case Combine::Max:
        return is_nan(b) ? b : nan_max(a, b);
      case Combine::Min:
        return is_nan(b) ? b : nan_min(a, b);
    }
    return b;
  };
  if (is_floating(out.dtype))
    store_from_double(out.dtype, p, joined(load_as_double(out.dtype, p), load_as_double(from.dtype, v)));
  else
    store_from_int(out.dtype, p, joined(load_as_int(out.dtype, p), load_as_int(from.dtype, v)));
}

OpDef scatter_row(const char* schema, ShapeRule type, Reference reference, std::variant<Gradient, NoGradient> gradient,
                  const char* doc, const char* kernel = "scatter") {
  return OpDef(schema, OpClass::Indexing, 0, Promotion::None, type, reference, nullptr, gradient, KernelRule{kernel},
               "", doc);
}

// ------------------------------------------------------------------------------------------------------------- scatter

Type scatter_type(const Call& call) {
  const TensorType& self = tensor_type(call, 0);
  const Index& index = tensor_type(call, 2).shape;
  const size_t rank = std::max<size_t>(1, self.shape.size()), dim = call.dim(1, rank);
  const bool empty = has_zero(index);
  check_index_type(call, 2);
  if (!empty && std::max<size_t>(1, index.size()) != rank) reject(call, "index must have as many dimensions as self");
  for (size_t d = 0; !empty && d < std::min(index.size(), self.shape.size()); ++d)
    if (d != dim) require_covered(call, self.shape[d], index, d, "self");
  if (is_tensor(call, 3)) {
    const TensorType& src = tensor_type(call, 3);
    if (src.dtype != self.dtype) reject(call, "self and src must have one type");
    // A tensor without dimensions counts as one of a single element.
    const Index one{SymInt(1)}, &at = index.empty() ? one : index, &from = src.shape.empty() ? one : src.shape;
    if (!empty && at.size() != from.size())
      reject(call, "src must have as many dimensions as index: expected " + std::to_string(at.size()) + ", found " +
                       std::to_string(from.size()));
    for (size_t d = 0; !empty && d < at.size(); ++d) require_covered(call, from[d], at, d, "src");
  }
  return result_like(call, self.dtype, self.shape);
}

/// Calls `visit(out position, index)` for every element of the index tensor.
template <class F>
void for_each_target(const RefContext& c, const Tensor& out, F&& visit) {
  const Tensor index = c.tensor(2).contiguous();
  if (index.numel() == 0) return;
  const size_t dim = c.call.dim(1, out.rank());
  for_each_index(index.shape, [&](int64_t flat, const std::vector<int64_t>& at) {
    std::vector<int64_t> target = at;
    const int64_t k = checked_index(c.call, index.int_at(flat), out.rank() ? out.shape[dim] : 1);
    if (out.rank() == 0)
      target.clear();
    else if (target.empty())
      target.push_back(k);
    else
      target[dim] = k;
    visit(position(out, target), at);
  });
}

/// src, or the number as a 0-dimensional tensor of self's type.
Tensor source_of(const RefContext& c, const Tensor& self) {
  if (is_tensor(c.call, 3)) return c.tensor(3);
  Tensor t = Tensor::empty(self.dtype, {});
  if (is_floating(self.dtype))
    t.set(0, scalar_value(c, 3));
  else
    t.set_int(0, scalar_as<int64_t>(c, 3));
  return t;
}

RefValue scatter_with(const RefContext& c, Combine how) {
  Tensor out = c.tensor(0).clone();
  const Tensor src = source_of(c, out);
  const bool number = !is_tensor(c.call, 3);
  for_each_target(c, out, [&](int64_t at, const std::vector<int64_t>& index) {
    combine_into(out, at, src, number || src.rank() == 0 ? 0 : position(src, index), how);
  });
  return out;
}
RefValue scatter_reference(const RefContext& c) { return scatter_with(c, Combine::Replace); }
RefValue scatter_add_reference(const RefContext& c) { return scatter_with(c, Combine::Add); }

Node* gathered(const GradientCall& g) {
  return g.builder.call("aten.gather.default", {cotangent(g), g.call.arg(1), g.call.arg(2)});
}

std::vector<Node*> scatter_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (!cotangent(g)) return out;
  if (g.needed(0)) out[0] = g.builder.call("aten.scatter.value", {cotangent(g), g.call.arg(1), g.call.arg(2), 0});
  // Elements of src beyond the index's shape are not used, which a gather's shape cannot say.
  if (is_tensor(g.call, 3) && g.needed(3)) {
    if (!same_sizes(g.call.type(2).shape, g.call.type(3).shape))
      reject(g.call, "no gradient for a src larger than index");
    out[3] = gathered(g);
  }
  return out;
}
std::vector<Node*> scatter_add_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (!cotangent(g)) return out;
  out[0] = cotangent(g);
  if (g.needed(3)) {
    if (!same_sizes(g.call.type(2).shape, g.call.type(3).shape))
      reject(g.call, "no gradient for a src larger than index");
    out[3] = gathered(g);
  }
  return out;
}

// ------------------------------------------------------------------------------------------------------ scatter_reduce

Combine reduction_of(const Call& call) {
  const std::string name = call.string(4);
  if (name == "sum" || name == "mean") return Combine::Add;
  if (name == "prod") return Combine::Multiply;
  if (name == "amax") return Combine::Max;
  if (name == "amin") return Combine::Min;
  reject(call, "reduce must be sum, prod, mean, amax or amin, found '" + name + "'");
}

Type scatter_reduce_type(const Call& call) {
  reduction_of(call);
  return scatter_type(call);
}

/// Without include_self the first value that arrives replaces what was there.
RefValue scatter_reduce_reference(const RefContext& c) {
  Tensor out = c.tensor(0).clone();
  const Tensor src = c.tensor(3);
  const bool include_self = c.call.boolean(5), mean = c.call.string(4) == "mean";
  std::vector<int64_t> arrived(static_cast<size_t>(out.numel()), 0);
  for_each_target(c, out, [&](int64_t at, const std::vector<int64_t>& index) {
    int64_t& n = arrived[static_cast<size_t>(at)];
    combine_into(out, at, src, src.rank() == 0 ? 0 : position(src, index),
                 n == 0 && !include_self ? Combine::Replace : reduction_of(c.call));
    ++n;
  });
  for (size_t i = 0; mean && i < arrived.size(); ++i) {
    const auto flat = static_cast<int64_t>(i), n = arrived[i] + (include_self ? 1 : 0);
    if (n < 2) continue;
    if (is_floating(out.dtype))
      out.set(flat, out.at(flat) / static_cast<double>(n));
    else
      out.set_int(flat,
                  static_cast<int64_t>(std::floor(static_cast<double>(out.int_at(flat)) / static_cast<double>(n))));
  }
  return out;
}

// ----------------------------------------------------------------------------------------------------------- index_put

bool is_mask(DType d) { return d == DType::Bool || d == DType::U8; }

bool has_masks(const Call& call) {
  const std::vector<Node*> indices = call.tensors(1);
  return std::any_of(indices.begin(), indices.end(), [](Node* n) { return n && is_mask(n->type.tensor.dtype); });
}

/// Masks take as many elements as they have true ones, so that only the kernel can compare sizes.
Type index_put_type(const Call& call) {
  const TensorType& self = tensor_type(call, 0);
  const TensorType& values = tensor_type(call, 2);
  if (values.dtype != self.dtype) reject(call, "self and values must have one type");
  if (!has_masks(call)) {
    const IndexPlan p = index_plan(call);
    if (broadcast(values.shape, p.shape, call.node()).size() != p.shape.size())
      reject(call, "values have more dimensions than self[indices]");
  }
  return result_like(call, self.dtype, self.shape);
}

/// Indices as PyTorch's `nonzero` makes them of masks: one tensor per dimension, undefined for a whole one.
std::vector<Tensor> without_masks(const std::vector<Tensor>& indices) {
  std::vector<Tensor> out;
  for (const Tensor& t : indices) {
    if (!t.defined() || !is_mask(t.dtype)) {
      out.push_back(t.defined() ? t.contiguous() : t);
      continue;
    }
    std::vector<std::vector<double>> at(t.rank());
    const Tensor mask = t.contiguous();
    for_each_index(mask.shape, [&](int64_t flat, const std::vector<int64_t>& index) {
      for (size_t d = 0; mask.int_at(flat) && d < index.size(); ++d) at[d].push_back(static_cast<double>(index[d]));
    });
    for (const auto& list : at) out.push_back(Tensor::of(DType::I64, {static_cast<int64_t>(list.size())}, list));
  }
  return out;
}

/// Shape of `self[indices]`, and where the indices' own shape stands in it.
struct Target {
  std::vector<int64_t> common, shape;
  size_t at = 0;
};
Target target_of(const Call& call, const Tensor& self, const std::vector<Tensor>& indices) {
  Target t;
  std::vector<size_t> used;
  std::vector<SymInt> common;
  for (size_t d = 0; d < indices.size(); ++d)
    if (indices[d].defined()) {
      common = broadcast(common, std::vector<SymInt>(indices[d].shape.begin(), indices[d].shape.end()), call.node());
      used.push_back(d);
    }
  for (const SymInt& s : common) t.common.push_back(s.value());
  if (!used.empty() && used.back() - used.front() + 1 == used.size()) t.at = used.front();
  for (size_t d = 0; d < self.rank(); ++d)
    if (d >= indices.size() || !indices[d].defined()) t.shape.push_back(self.shape[d]);
  t.shape.insert(t.shape.begin() + static_cast<ptrdiff_t>(t.at), t.common.begin(), t.common.end());
  return t;
}

RefValue index_put_reference(const RefContext& c) {
  Tensor out = c.tensor(0).clone();
  const std::vector<Tensor> indices = without_masks(c.tensors(1));
  const Target t = target_of(c.call, out, indices);
  const Tensor values = expanded(c.tensor(2), t.shape);
  if (std::ranges::find(t.common, 0) == t.common.end())  // asked where no element is written, too
    for (size_t d = 0; d < indices.size(); ++d)
      if (indices[d].defined() && out.shape[d] == 0) checked_index(c.call, indices[d].int_at(0), 0);
  const Combine how = c.call.boolean(3) ? Combine::Add : Combine::Replace;
  for_each_index(t.shape, [&](int64_t, const std::vector<int64_t>& at) {
    const auto first = at.begin() + static_cast<ptrdiff_t>(t.at);
    const std::vector<int64_t> inner(first, first + static_cast<ptrdiff_t>(t.common.size()));
    std::vector<int64_t> where(out.rank());
    for (size_t d = 0, next = 0; d < out.rank(); ++d) {
      if (d < indices.size() && indices[d].defined()) {
        const Tensor& index = indices[d];
        where[d] =
            checked_index(c.call, index.int_at(position(index, broadcast_position(inner, index.shape))), out.shape[d]);
      } else {
        if (next == t.at) next += t.common.size();
        where[d] = at[next++];
      }
    }
    combine_into(out, position(out, where), values, position(values, at), how);
  });
  return out;
}

std::vector<Node*> index_put_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  if (has_masks(g.call)) reject(g.call, "no gradient where a mask says what is written");
  Builder& b = g.builder;
  if (g.needed(0))
    out[0] = g.call.boolean(3)
                 ? dy
                 : b.call("aten.index_put.default",
                          {dy, g.call.arg(1),
                           b.call("aten.zeros_like.default", {g.call.tensor(2)}, {{"dtype", dy->type.tensor.dtype}})});
  if (g.needed(2)) out[2] = fit(b, b.call("aten.index.Tensor", {dy, g.call.arg(1)}), g.call.tensor(2));
  return out;
}

// ---------------------------------------------------------------------------------------------------- slice and select
// scatter

/// slice_scatter(self, src, dim, start, end, step) sees its bounds as slice(self, dim, start, end, step) does.
SliceBounds scatter_bounds(const Call& call) {
  Node slice;
  slice.op = find_op("aten.slice.Tensor");
  slice.target = slice.op->name;
  slice.args = {call.arg(0), call.arg(2), call.arg(3), call.arg(4), call.arg(5)};
  return slice_bounds(Call(slice), tensor_type(call, 0).shape);
}

Type slice_scatter_type(const Call& call) {
  const TensorType& self = tensor_type(call, 0);
  require_fits(call, 1);
  const SliceBounds s = scatter_bounds(call);
  Index expected = self.shape;
  expected[s.dim] = s.length;
  const Index& src = tensor_type(call, 1).shape;
  require_same_shape(call, src, expected, "src and the slice");
  return result_like(call, self.dtype, self.shape);
}

RefValue slice_scatter_reference(const RefContext& c) {
  Tensor out = c.tensor(0).clone(), view = out;
  const SliceBounds s = scatter_bounds(c.call);
  const Tensor src = converted(c.tensor(1), out.dtype);
  view.offset += c.eval(s.start) * out.strides[s.dim];
  view.strides[s.dim] *= c.eval(s.step);
  for_each_index(src.shape, [&](int64_t, const std::vector<int64_t>& at) {
    combine_into(view, position(view, at), src, position(src, at), Combine::Replace);
  });
  return out;
}

ScalarId slice_scatter_body(const IndexedCall& c) {
  Body& b = c.body;
  const SliceBounds s = scatter_bounds(c.call);
  const SymInt distance = c.index[s.dim] - s.start;
  const ScalarId d = b.index(distance), zero = b.integer(0);
  ScalarId inside =
      b.binary(ScalarOp::And, b.binary(ScalarOp::Ge, d, zero), b.binary(ScalarOp::Lt, d, b.index(s.length * s.step)));
  if (!(s.step == SymInt(1)))
    inside = b.binary(ScalarOp::And, inside, b.binary(ScalarOp::Eq, b.index(mod(distance, s.step)), zero));
  Index at = c.index;
  at[s.dim] = floordiv(distance, s.step);
  const DType dtype = compute_dtype(c.call.node().type.tensor.dtype);
  return b.select(inside, b.cast(c.load(c.call.tensor(1), at, inside), dtype),
                  b.cast(c.load(c.call.tensor(0), c.index, {}), dtype));
}

std::vector<Node*> slice_scatter_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  Builder& b = g.builder;
  const Call& c = g.call;
  if (g.needed(0)) {
    Node* zeros = b.call("aten.zeros_like.default", {c.tensor(1)}, {{"dtype", dy->type.tensor.dtype}});
    out[0] = b.call("aten.slice_scatter.default", {dy, zeros, c.arg(2), c.arg(3), c.arg(4), c.arg(5)});
  }
  if (g.needed(1))
    out[1] = fit(b, b.call("aten.slice.Tensor", {dy, c.arg(2), c.arg(3), c.arg(4), c.arg(5)}), c.tensor(1));
  return out;
}

std::vector<Node*> select_scatter(Builder& b, const Call& c) {
  const auto& shape = c.type(0).shape;
  if (shape.empty()) reject(c, "a 0-dimensional tensor has no dimension to select from");
  const size_t dim = c.dim(2, shape.size());
  const SymInt index = element_index(c, c.integer(3), shape, dim);
  Index slice = shape;
  slice.erase(slice.begin() + static_cast<ptrdiff_t>(dim));
  require_fits(c, 1);
  require_same_shape(c, tensor_type(c, 1).shape, slice, "src and the slice");
  return {b.call("aten.slice_scatter.default", {c.tensor(0), b.unsqueeze(c.tensor(1), static_cast<int64_t>(dim)),
                                                static_cast<int64_t>(dim), integer(index), integer(index + 1)})};
}

}  // namespace

Rows scatters() {
  Rows r;
  r.push_back(scatter_row("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter_type,
                          scatter_reference, Gradient(scatter_gradient),
                          "self with elements of src written at given positions; of several, the last"));
  r.push_back(scatter_row("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                          scatter_type, scatter_reference, Gradient(scatter_gradient),
                          "self with a number written at given positions"));
  r.push_back(scatter_row("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter_type,
                          scatter_add_reference, Gradient(scatter_add_gradient),
                          "self with elements of src added at given positions"));
  r.push_back(
      scatter_row("aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
                  "include_self=True) -> Tensor",
                  scatter_reduce_type, scatter_reduce_reference, NoGradient::Pending,
                  "self with elements of src combined at given positions"));
  r.push_back(scatter_row(
      "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", index_put_type,
      index_put_reference, Gradient(index_put_gradient), "self[indices] = values, or += with accumulate", "index_put"));
  r.push_back(
      OpDef("aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
            "step=1) -> Tensor",
            OpClass::Indexing, 0, Promotion::None, slice_scatter_type, slice_scatter_reference, nullptr,
            Gradient(slice_scatter_gradient), Lowering(IndexedBody(slice_scatter_body)), "",
            "self with a slice replaced by src"));
  r.push_back(compound("aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", 0, same_type,
                       select_scatter, "self with one index of a dimension replaced by src"));
  return r;
}

}  // namespace strata::ops
