// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that depend on the order of elements along one dimension: running sums, sorting.

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/line_selection.h"

namespace strata::ops {
namespace {

// --------------------------------------------------------------------------------------------------------------- scans

Type scan_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  call.dim(1, t.shape.size());
  return result_like(call, call.dtype(2).value_or(is_floating(t.dtype) || is_complex(t.dtype) ? t.dtype : DType::I64),
                     t.shape);
}

/// Lines along a dimension of a contiguous tensor: `visit(start, count, step)` in elements.
template <class F>
void for_each_line(const Tensor& t, size_t dim, F&& visit) {
  const int64_t n = t.rank() ? t.shape[dim] : 1, step = t.rank() ? t.strides[dim] : 1;
  const int64_t lines = n > 0 ? t.numel() / n : 0;
  for (int64_t i = 0; i < lines; ++i) visit(i / step * step * n + i % step, n, step);
}

template <bool Product>
RefValue scan_reference(const RefContext& c) {
  const DType declared = c.call.node().type.tensor.dtype, dtype = c.storage_dtype(declared);
  const Tensor x = operand(c, 0, dtype).contiguous();
  return with_work_type(dtype, [&]<class T>(T) -> RefValue {
    using A = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    Tensor out = Tensor::empty(x.dtype, x.shape);
    for_each_line(x, c.call.dim(1, x.rank()), [&](int64_t at, int64_t n, int64_t step) {
      A running = Product ? 1 : 0;
      for (int64_t i = 0; i < n; ++i, at += step) {
        const A v = static_cast<A>(x.ptr<const T>()[at]);
        running = Product ? wrap_mul(running, v) : wrap_add(running, v);
        // Of 16-bit types, kernels have products in float32: too large once is too large to the end.
        if (Product && is_reduced_float(declared)) running = static_cast<A>(static_cast<T>(running));
        out.ptr<T>()[at] = static_cast<T>(running);
      }
    });
    return as_result(c, out);
  });
}

/// Each element reaches all later sums: the running sum of the cotangent from the end.
std::vector<Node*> cumsum_gradient(const GradientCall& g) {
  return gradient_of<[](const GradientContext& c) -> Node* {
    if (c.x()->type.tensor.shape.empty()) return c.dy;
    const Argument dims = Argument::list({c.arg(1)});
    Node* flipped = c.b.call("aten.flip.default", {c.dy, dims});
    return c.b.call("aten.flip.default", {c.b.call("aten.cumsum.default", {flipped, c.arg(1)}), dims});
  }>(g);
}

Rows scans() {
  Rows r;
  r.push_back(OpDef("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", OpClass::Indexing, 0,
                    Promotion::None, scan_type, scan_reference<false>, nullptr, Gradient(cumsum_gradient),
                    Lowering(ScanRule{loop::Combine::Sum}), "", "sums up to each element along a dimension"));
  r.push_back(OpDef("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", OpClass::Indexing, 0,
                    Promotion::None, scan_type, scan_reference<true>, nullptr, NoGradient::Pending,
                    Lowering(ScanRule{loop::Combine::Prod}), "", "products up to each element along a dimension"));
  return r;
}

// ------------------------------------------------------------------------------------------------------------- sorting

/// What the sorting rows have in common.
struct SortSpec {
  size_t dim;
  bool descending;
  std::optional<SymInt> count;  ///< topk's k
  bool sorted = true;           ///< topk's
};

SortSpec sort_spec(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  const auto& params = call.op().schema.params;
  SortSpec s{0, false, {}, true};
  for (size_t i = 1; i < params.size(); ++i) {
    if (params[i].name == "dim") s.dim = call.dim(i, rank);
    if (params[i].name == "descending" || params[i].name == "largest") s.descending = call.boolean(i);
    if (params[i].name == "k") s.count = call.integer(i);
    if (params[i].name == "sorted") s.sorted = call.boolean(i);
  }
  return s;
}

Type sort_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const SortSpec s = sort_spec(call);
  Index shape = t.shape;
  if (s.count) {
    const SymInt size = shape.empty() ? SymInt(1) : shape[s.dim];
    require_at_least(call, *s.count, 0, "k");
    require_at_least(call, size, *s.count, "elements to take k from");
    if (!shape.empty()) shape[s.dim] = *s.count;
  }
  return Type::tuple({result_like(call, t.dtype, shape), result_like(call, DType::I64, shape)});
}

/// Positions of the first elements of a line in the order of topk.
template <class T, class Load>
void first_positions(std::vector<int64_t>& order, int64_t keep, const SortSpec& s, Load load) {
  std::vector<std::pair<T, int64_t>> line;
  for (const int64_t i : order) line.emplace_back(load(i), i);
  select_first(line, keep, s.descending, s.sorted);
  for (int64_t i = 0; i < keep; ++i) order[static_cast<size_t>(i)] = line[static_cast<size_t>(i)].second;
}

/// NaN counts as the largest; equals keep their order, but in topk.
RefValue sort_reference(const RefContext& c) {
  const SortSpec s = sort_spec(c.call);
  const Tensor x = c.tensor(0).contiguous();
  Tensor values = c.result(0), indices = c.result(1);
  const bool floating = is_floating(x.dtype);
  // A dimension of one element may have any stride.
  const int64_t keep = values.rank() ? values.shape[s.dim] : 1,
                out_step = values.rank() ? std::max<int64_t>(1, values.strides[s.dim]) : 1;
  int64_t line = 0;
  std::vector<int64_t> order;
  for_each_line(x, s.dim, [&](int64_t at, int64_t n, int64_t step) {
    order.resize(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    const size_t item = dtype_size(x.dtype);
    const auto place = [&](int64_t i) { return x.data() + static_cast<size_t>(at + i * step) * item; };
    const auto as_integer = [&](int64_t i) { return load_as_int(x.dtype, place(i)); };
    const auto as_number = [&](int64_t i) { return load_as_double(x.dtype, place(i)); };
    const auto less = [&](int64_t a, int64_t b) {
      return floating ? comes_after(as_number(b), as_number(a)) : as_integer(a) < as_integer(b);
    };
    if (!s.count)
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return s.descending ? less(b, a) : less(a, b); });
    else if (floating)
      first_positions<double>(order, keep, s, as_number);
    else
      first_positions<int64_t>(order, keep, s, as_integer);
    const int64_t to = line / out_step * out_step * keep + line % out_step;
    ++line;
    for (int64_t i = 0; i < keep; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      std::memcpy(values.data() + static_cast<size_t>(to + i * out_step) * item,
                  x.data() + static_cast<size_t>(at + from * step) * item, item);
      indices.ptr<int64_t>()[to + i * out_step] = from;
    }
  });
  return std::vector<RefValue>{values, indices};
}

std::vector<Node*> sort_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  Builder& b = g.builder;
  Node* zeros = b.call("aten.zeros_like.default", {g.call.tensor(0)}, {{"dtype", dy->type.tensor.dtype}});
  Node* indices = b.getitem(const_cast<Node*>(&g.call.node()), 1);
  out[0] = b.call("aten.scatter_add.default", {zeros, static_cast<int64_t>(sort_spec(g.call).dim), indices, dy});
  return out;
}

Rows sorts() {
  Rows r;
  const auto add = [&](const char* schema, const char* doc) {
    r.push_back(OpDef(schema, OpClass::Indexing, 0, Promotion::None, sort_type, sort_reference, nullptr,
                      Gradient(sort_gradient), KernelRule{"sort"}, "", doc));
  };
  add("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
      "elements in order, and where they were");
  add("aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
      "indices)",
      "elements in order, and where they were");
  add("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor "
      "indices)",
      "the k largest or smallest elements in order, and where they were");
  return r;
}

}  // namespace

Rows orders() {
  Rows rows = scans();
  append(rows, sorts());
  return rows;
}

}  // namespace strata::ops
