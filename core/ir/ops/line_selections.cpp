// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// One element of each line along a dimension, or one more at each step: k-th values, medians, modes, running extrema;
// and what is made of sorted lines.

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/line_selection.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;

size_t position_of(const Call& call, std::string_view name) { return call.op().schema.index_of(name); }

/// The operand's shape with the dimension of size 1 or left out, as `keepdim` says.
Type selected_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const size_t dim = call.dim(position_of(call, "dim"), t.shape.size());
  Index shape = t.shape;
  const bool mode = call.op().name == "aten.mode.default";
  if (is_complex(t.dtype) || (t.dtype == DType::Bool && !mode))
    reject(call, "not implemented for " + std::string(dtype_name(t.dtype)));
  if (!shape.empty()) {
    if (known_eq(shape[dim], 0))
      reject(call, "expected reduction dim " + std::to_string(dim) + " to have non-zero size");
    if (call.boolean(position_of(call, "keepdim")))
      shape[dim] = 1;
    else
      shape.erase(shape.begin() + static_cast<ptrdiff_t>(dim));
  }
  return Type::tuple({result_like(call, t.dtype, shape), result_like(call, DType::I64, shape)});
}

Type kth_type(const Call& call) {
  const Index& shape = tensor_type(call, 0).shape;
  const size_t dim = call.dim(2, shape.size());
  const SymInt n = shape.empty() ? SymInt(1) : shape[dim], k = call.integer(1);
  require_at_least(call, k, 1, "k");
  require_at_least(call, n, k, "elements of dimension " + std::to_string(dim) + " to select k from");
  return selected_type(call);
}

/// Calls `choose(line)` for each line of a contiguous tensor, and takes the element it names.
template <class F>
RefValue chosen(const RefContext& c, F&& choose) {
  const Tensor x = c.tensor(0).contiguous();
  Tensor values = c.result(0), indices = c.result(1);
  const size_t dim = c.call.dim(position_of(c.call, "dim"), x.rank()), item = dtype_size(x.dtype);
  // A dimension of one element may have any stride.
  const int64_t n = x.rank() ? x.shape[dim] : 1, step = x.rank() ? std::max<int64_t>(1, x.strides[dim]) : 1;
  const int64_t lines = n > 0 ? x.numel() / n : 0;
  with_work_type(x.dtype, [&]<class T>(T) {
    const Tensor wide = converted(x, work_dtype(x.dtype));
    std::vector<T> line(static_cast<size_t>(n));
    for (int64_t l = 0; l < lines; ++l) {
      const int64_t start = l / step * step * n + l % step;
      for (int64_t i = 0; i < n; ++i) line[static_cast<size_t>(i)] = wide.ptr<const T>()[start + i * step];
      const int64_t at = choose(line);
      std::memcpy(values.data() + static_cast<size_t>(l) * item,
                  x.data() + static_cast<size_t>(start + at * step) * item, item);
      indices.ptr<int64_t>()[l] = at;
    }
  });
  return std::vector<RefValue>{values, indices};
}

template <class T>
std::vector<std::pair<T, int64_t>> numbered(const std::vector<T>& line) {
  std::vector<std::pair<T, int64_t>> pairs;
  for (size_t i = 0; i < line.size(); ++i) pairs.emplace_back(line[i], static_cast<int64_t>(i));
  return pairs;
}

RefValue kth_reference(const RefContext& c) {
  return chosen(c, [k = c.integer(1) - 1](const auto& line) {
    auto pairs = numbered(line);
    return kth_position(pairs, k);
  });
}
template <bool SkipNan>
RefValue median_reference(const RefContext& c) {
  return chosen(c, [](const auto& line) { return median_position(line, SkipNan); });
}
RefValue mode_reference(const RefContext& c) {
  return chosen(c, [](const auto& line) {
    auto pairs = numbered(line);
    return mode_position(pairs);
  });
}

/// The cotangent goes where the element came from.
Nodes selected_gradient(const GradientCall& g) {
  Nodes out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  Builder& b = g.builder;
  const Index& shape = g.call.type(0).shape;
  const auto dim = static_cast<int64_t>(g.call.dim(position_of(g.call, "dim"), shape.size()));
  Node* indices = b.getitem(const_cast<Node*>(&g.call.node()), 1);
  if (!shape.empty() && dy->type.tensor.shape.size() < shape.size()) {
    dy = b.unsqueeze(dy, dim);
    indices = b.unsqueeze(indices, dim);
  }
  Node* zeros = b.call("aten.zeros_like.default", {g.call.tensor(0)}, {{"dtype", dy->type.tensor.dtype}});
  out[0] = b.call("aten.scatter_add.default", {zeros, dim, indices, dy});
  return out;
}

/// What PyTorch's `median` of nothing is: NaN, or what that becomes as an integer where its processors convert it.
Argument median_of_none(DType type) {
  if (is_floating(type)) return std::numeric_limits<double>::quiet_NaN();
  if (type == DType::I64) return std::numeric_limits<int64_t>::min();
  return int64_t{type == DType::I32 ? std::numeric_limits<int32_t>::min() : 0};
}

/// The median of all elements.
template <bool SkipNan>
Nodes median_of_all(Builder& b, const Call& c) {
  const DType type = c.type(0).dtype;
  const SymInt n = c.type(0).numel();
  const auto none = [&](const std::vector<SymInt>& shape) {
    return b.call("aten.full.default", {sizes(shape), median_of_none(type)}, {{"dtype", type}});
  };
  if (n == SymInt(0)) return {none({})};
  Node* flat = b.reshape(c.tensor(0), {n});
  // Of a size that may turn out to be 0: then that one.
  if (!known_lt(0, n)) flat = b.call("aten.cat.default", {Argument::list({flat, none({max(0, 1 - n)})}), 0});
  return {b.getitem(b.call(SkipNan ? "aten.nanmedian.dim" : "aten.median.dim", {flat, 0}), 0)};
}

Rows selecting() {
  Rows r;
  const auto add = [&](const char* schema, ShapeRule type, Reference reference, const char* kernel, const char* doc) {
    r.push_back(OpDef("aten::" + std::string(schema) + " -> (Tensor values, Tensor indices)", OpClass::Indexing, 0,
                      Promotion::None, type, reference, nullptr, Gradient(selected_gradient), KernelRule{kernel}, "",
                      doc));
  };
  add("kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False)", kth_type, kth_reference, "kthvalue",
      "the k-th smallest element, and where it is");
  add("median.dim(Tensor self, int dim, bool keepdim=False)", selected_type, median_reference<false>, "median",
      "the lower median, and where it is");
  add("nanmedian.dim(Tensor self, int dim, bool keepdim=False)", selected_type, median_reference<true>, "nanmedian",
      "the lower median of what is not NaN, and where it is");
  add("mode(Tensor self, int dim=-1, bool keepdim=False)", selected_type, mode_reference, "mode",
      "the most frequent element, and where it is");
  r.push_back(compound("aten::median(Tensor self) -> Tensor", 0, decomposed_type, median_of_all<false>,
                       "the lower median of all elements"));
  r.push_back(compound("aten::nanmedian(Tensor self) -> Tensor", 0, decomposed_type, median_of_all<true>,
                       "the lower median of all elements that are not NaN"));
  return r;
}

// ----------------------------------------------------------------------------------------------------- running extrema

Type running_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  call.dim(1, t.shape.size());
  return Type::tuple({result_like(call, t.dtype, t.shape), result_like(call, DType::I64, t.shape)});
}

template <bool Max>
RefValue running_reference(const RefContext& c) {
  const Tensor x = c.tensor(0).contiguous();
  Tensor values = c.result(0), indices = c.result(1);
  const size_t dim = c.call.dim(1, x.rank());
  const int64_t n = x.rank() ? x.shape[dim] : 1, step = x.rank() ? std::max<int64_t>(1, x.strides[dim]) : 1;
  const int64_t lines = n > 0 ? x.numel() / n : 0;
  const bool floating = is_floating(x.dtype);
  for (int64_t l = 0; l < lines; ++l) {
    int64_t at = l / step * step * n + l % step, best = at, where = 0;
    for (int64_t i = 0; i < n; ++i, at += step) {
      const double v = floating ? x.at(at) : 0, b = floating ? x.at(best) : 0;
      const int64_t vi = floating ? 0 : x.int_at(at), bi = floating ? 0 : x.int_at(best);
      const bool takes = std::isnan(v) || (!std::isnan(b) && (Max ? v >= b && vi >= bi : v <= b && vi <= bi));
      if (takes) {
        best = at;
        where = i;
      }
      if (floating)
        values.set(at, x.at(best));
      else
        values.set_int(at, x.int_at(best));
      indices.ptr<int64_t>()[at] = where;
    }
  }
  return std::vector<RefValue>{values, indices};
}

Nodes running_gradient(const GradientCall& g) {
  Nodes out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  Builder& b = g.builder;
  Node* zeros = b.call("aten.zeros_like.default", {g.call.tensor(0)}, {{"dtype", dy->type.tensor.dtype}});
  Node* indices = b.getitem(const_cast<Node*>(&g.call.node()), 1);
  out[0] = b.call("aten.scatter_add.default", {zeros, g.call.arg(1), indices, dy});
  return out;
}

Rows running() {
  Rows r;
  const auto add = [&](const char* name, Reference reference, const char* doc) {
    r.push_back(OpDef("aten::" + std::string(name) + "(Tensor self, int dim) -> (Tensor values, Tensor indices)",
                      OpClass::Indexing, 0, Promotion::None, running_type, reference, nullptr,
                      Gradient(running_gradient), KernelRule{name}, "", doc));
  };
  add("cummax", running_reference<true>, "the largest element up to each, and where it is");
  add("cummin", running_reference<false>, "the smallest element up to each, and where it is");
  return r;
}

// ---------------------------------------------------------------------------------------------------- logcumsumexp

Type logcumsumexp_type(const Call& call) {
  call.dim(1, tensor_type(call, 0).shape.size());
  return floating_type(call);
}

RefValue logcumsumexp_reference(const RefContext& c) {
  const Tensor x = converted(c.tensor(0).contiguous(), DType::F64);
  Tensor out = Tensor::empty(DType::F64, x.shape);
  const size_t dim = c.call.dim(1, x.rank());
  const int64_t n = x.rank() ? x.shape[dim] : 1, step = x.rank() ? std::max<int64_t>(1, x.strides[dim]) : 1;
  const int64_t lines = n > 0 ? x.numel() / n : 0;
  for (int64_t l = 0; l < lines; ++l) {
    int64_t at = l / step * step * n + l % step;
    double running = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < n; ++i, at += step) {
      const double v = x.ptr<const double>()[at], low = nan_min(running, v), high = nan_max(running, v);
      running = low != high || std::isfinite(low) ? high + std::log1p(std::exp(low - high)) : v;
      out.ptr<double>()[at] = running;
    }
  }
  return as_result(c, out);
}

// -------------------------------------------------------------------------------------------------------- sorted lines

Nodes argsort_stable(Builder& b, const Call& c) {
  Node* sorted =
      b.call("aten.sort.stable", {c.tensor(0)}, {{"stable", c.arg(1)}, {"dim", c.arg(2)}, {"descending", c.arg(3)}});
  return {b.getitem(sorted, 1)};
}

Nodes msort(Builder& b, const Call& c) { return {b.getitem(b.call("aten.sort.default", {c.tensor(0), 0}), 0)}; }

constexpr const char* kInterpolations[] = {"linear", "lower", "higher", "midpoint", "nearest"};

/// The probabilities as a line in the operand's type.
Node* probabilities(Builder& b, const Call& c) {
  const DType d = c.type(0).dtype;
  if (is_tensor(c, 1)) {
    const TensorType& q = c.type(1);
    if (q.dtype != d) reject(c, "q tensor must be same dtype as the input tensor");
    if (q.shape.size() > 1) reject(c, "q must be a scalar or 1D tensor");
    return b.reshape(c.tensor(1), {q.numel()});
  }
  if (!(c.number(1) >= 0 && c.number(1) <= 1)) reject(c, "q values must be in the range [0, 1]");
  return b.call("aten.full.default", {sizes({SymInt(1)}), c.number(1)}, {{"dtype", d}});
}

/// The place among the sorted elements of each line that a probability stands for. NaN stands at the end of a line, and
/// is what a line that has one gives, unless it is skipped.
Node* ranks_of(Builder& b, Node* lines, Node* q, bool skip_nan) {
  const TensorType& t = lines->type.tensor;
  const SymInt last = t.shape.back() - 1;
  Node* nan = b.call("aten.isnan.default", {lines});
  if (!skip_nan) {
    Node* end = b.call("aten.full.default", {sizes({}), integer(last)}, {{"dtype", t.dtype}});
    return b.call("aten.where.self", {b.call("aten.any.dim", {nan, -1, true}), end, b.mul(q, integer(last))});
  }
  Node* missing = b.cast(b.call("aten.sum.dim_IntList", {nan, int_list({-1}), true}), t.dtype);
  return b.mul(q, b.call("aten.clamp.default", {b.call("aten.rsub.Scalar", {missing, integer(last)}), 0}));
}

/// `lines` is sorted along its last dimension.
Node* at_ranks(Builder& b, Node* lines, Node* ranks, const std::string& interpolation) {
  if (interpolation == "lower") ranks = b.call("aten.floor.default", {ranks});
  if (interpolation == "higher") ranks = b.call("aten.ceil.default", {ranks});
  if (interpolation == "nearest") ranks = b.call("aten.round.default", {ranks});
  Node* below = b.cast(ranks, DType::I64);
  Node* low = b.call("aten.gather.default", {lines, -1, below});
  if (interpolation != "linear" && interpolation != "midpoint") return low;
  Node* high = b.call("aten.gather.default", {lines, -1, b.cast(b.call("aten.ceil.default", {ranks}), DType::I64)});
  if (interpolation == "midpoint") return b.call("aten.lerp.Scalar", {low, high, 0.5});
  return b.call("aten.lerp.Tensor", {low, high, b.sub(ranks, b.cast(below, ranks->type.tensor.dtype))});
}

Nodes quantile(Builder& b, const Call& c) {
  const std::string interpolation = c.string(4);
  const DType d = c.type(0).dtype;
  if (d != DType::F32 && d != DType::F64) reject(c, "input tensor must be either float or double dtype");
  if (c.type(0).numel() == SymInt(0)) reject(c, "input tensor must be non-empty");
  if (!is_tensor(c, 1) && !(c.number(1) >= 0 && c.number(1) <= 1)) reject(c, "q must be in the range [0, 1]");
  if (std::find(std::begin(kInterpolations), std::end(kInterpolations), interpolation) == std::end(kInterpolations))
    reject(c, "interpolation must be one of linear, lower, higher, midpoint or nearest, found " + interpolation);
  Node* x = c.tensor(0);
  Index kept = c.type(0).shape;  // of the result, but for the probabilities
  if (c.is_none(2) || kept.empty()) {
    x = b.reshape(x, {c.type(0).numel()});
    kept.assign(c.boolean(3) ? kept.size() : 0, SymInt(1));
  } else {
    const size_t dim = c.dim(2, kept.size());
    std::vector<int64_t> order;
    for (size_t i = 0; i < kept.size(); ++i)
      if (i != dim) order.push_back(static_cast<int64_t>(i));
    order.push_back(static_cast<int64_t>(dim));
    x = b.permute(x, order);
    kept[dim] = 1;
    if (!c.boolean(3)) kept.erase(kept.begin() + static_cast<ptrdiff_t>(dim));
  }
  Node* q = probabilities(b, c);
  Index shape = x->type.tensor.shape;
  shape.back() = q->type.tensor.shape[0];
  Node* ranks = b.expand(ranks_of(b, x, q, c.op().name.starts_with("aten.nanquantile")), shape);
  Node* y = at_ranks(b, b.getitem(b.call("aten.sort.default", {x, -1}), 0), ranks, interpolation);
  if (is_tensor(c, 1) && !c.type(1).shape.empty()) {
    std::vector<int64_t> order{static_cast<int64_t>(shape.size()) - 1};
    for (size_t i = 0; i + 1 < shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
    y = b.permute(y, order);
    kept.insert(kept.begin(), shape.back());
  }
  return {b.reshape(y, kept)};
}

Rows sorted() {
  Rows r;
  r.push_back(compound("aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
                       0, decomposed_type, argsort_stable, "positions of the elements in order"));
  r.push_back(
      compound("aten::msort(Tensor self) -> Tensor", 0, decomposed_type, msort, "sorted along the first dimension"));
  const std::string rest = ", int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor";
  for (const std::string name : {"quantile", "nanquantile"})
    for (const char* q : {"(Tensor self, Tensor q", ".scalar(Tensor self, float q"})
      r.push_back(compound("aten::" + name + q + rest, 0, decomposed_type, quantile,
                           "values below which given shares of the elements lie"));
  return r;
}

}  // namespace

Rows selections_of_lines() {
  Rows rows = selecting();
  append(rows, running());
  append(rows, sorted());
  rows.push_back(OpDef("aten::logcumsumexp(Tensor self, int dim) -> Tensor", OpClass::Indexing, 0, Promotion::None,
                       logcumsumexp_type, logcumsumexp_reference, nullptr, NoGradient::Pending,
                       KernelRule{"logcumsumexp"}, "", "logarithm of the running sum of exponentials"));
  return rows;
}

}  // namespace strata::ops
