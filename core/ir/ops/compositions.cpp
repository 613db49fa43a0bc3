// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that are nothing but combinations of others: one decomposition each, from which type, values and gradient
// follow.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/pointwise.h"
#include "core/ir/ops/views.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;

OpDef composed(const std::string& schema, Decompose decompose, const char* doc, Promotion promotion = Promotion::None,
               uint32_t traits = 0) {
  return OpDef(schema, OpClass::Compound, traits, promotion, decomposed_type, nullptr, decompose, NoGradient::Pending,
               NoLowering{}, "", doc);
}

Node* call1(Builder& b, const char* op, Node* x) { return b.call(op, {x}); }
Node* where(Builder& b, Node* mask, const Argument& x, const Argument& y) {
  return b.call("aten.where.self", {mask, x, y});
}
Node* compare(Builder& b, const char* op, Node* x, const Argument& bound) { return b.call(op, {x, bound}); }
size_t rank(const Node* x) { return x->type.tensor.shape.size(); }
SymInt size(const Node* x, size_t dim) { return x->type.tensor.shape[dim]; }
Node* slice(Builder& b, Node* x, size_t dim, const SymInt& start, const SymInt& end) {
  return b.call("aten.slice.Tensor", {x, static_cast<int64_t>(dim), integer(start), integer(end)});
}

// ----------------------------------------------------------------------------------------------------------- pointwise

Nodes glu(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  if (rank(x) == 0) reject(c, "a 0-dimensional tensor cannot be halved");
  const size_t dim = c.dim(1, rank(x));
  require_multiple(c, size(x, dim), 2, "size of dimension " + std::to_string(dim));
  const SymInt half = floordiv(size(x, dim), 2);
  return {b.mul(slice(b, x, dim, 0, half), call1(b, "aten.sigmoid.default", slice(b, x, dim, half, half * 2)))};
}

/// Largest and smallest finite number of the operand's type.
double largest(DType d) {
  return d == DType::F16    ? 65504.0
         : d == DType::BF16 ? 3.3895313892515355e38
         : d == DType::F32  ? static_cast<double>(std::numeric_limits<float>::max())
                            : std::numeric_limits<double>::max();
}

Nodes nan_to_num(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const DType d = x->type.tensor.dtype;
  if (!is_floating(d)) return {x};
  const auto given = [&](size_t i, double otherwise) { return c.is_none(i) ? otherwise : c.number(i); };
  const double infinity = std::numeric_limits<double>::infinity();
  Node* y = b.call("aten.masked_fill.Scalar", {x, call1(b, "aten.isnan.default", x), given(1, 0)});
  y = b.call("aten.masked_fill.Scalar", {y, compare(b, "aten.eq.Scalar", x, infinity), given(2, largest(d))});
  return {b.call("aten.masked_fill.Scalar", {y, compare(b, "aten.eq.Scalar", x, -infinity), given(3, -largest(d))})};
}

/// log(exp(x) + exp(y)): the larger plus log1p of what the smaller adds; equal infinities stay.
Nodes logaddexp(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  Node* y = c.tensor(1);
  Node* distance = call1(b, "aten.abs.default", b.sub(x, y));
  Node* sum = b.add(b.call("aten.maximum.default", {x, y}),
                    call1(b, "aten.log1p.default", call1(b, "aten.exp.default", b.neg(distance))));
  Node* same =
      b.call("aten.logical_and.default", {b.call("aten.eq.Tensor", {x, y}), call1(b, "aten.isinf.default", x)});
  return {where(b, same, x, sum)};
}

Nodes xlogy(Builder& b, const Call& c) {
  Node* y = in_common_floats(b, c, 1);
  Node* product = b.mul(c.tensor(0), call1(b, "aten.log.default", y));
  Node* zero = b.call("aten.masked_fill.Scalar", {product, compare(b, "aten.eq.Scalar", c.tensor(0), 0), 0.0});
  return {where(b, call1(b, "aten.isnan.default", y), y, zero)};
}

Nodes logit(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  if (!is_floating(x->tensor().dtype)) x = b.cast(x, DType::F32);
  if (!c.is_none(1)) {
    const double low = c.number(1), high = 1 - low;
    if (low <= high) {
      x = b.call("aten.clamp.default", {x, low, high});
    } else {  // what is below `low` becomes that, and stays it
      Node *below = compare(b, "aten.lt.Scalar", x, low), *above = compare(b, "aten.gt.Scalar", x, high);
      x = b.call("aten.masked_fill.Scalar", {b.call("aten.masked_fill.Scalar", {x, above, high}), below, low});
    }
  }
  return {call1(b, "aten.log.default", b.div(x, b.add(b.neg(x), 1)))};
}

constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluScale = 1.0507009873554804934193349852946;

Rows activations_composed() {
  const auto p = Promotion::Default;
  Rows r;
  r.push_back(composed(
      "aten::selu(Tensor self) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.call("aten.elu.default", {c.tensor(0), kSeluAlpha, kSeluScale})};
      },
      "elu with the self-normalising constants", p));
  r.push_back(composed(
      "aten::celu(Tensor self, Scalar alpha=1.0) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.call("aten.elu.default", {c.tensor(0), c.number(1), 1, 1 / c.number(1)})};
      },
      "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))", p));
  r.push_back(
      composed("aten::glu(Tensor self, int dim=-1) -> Tensor", glu, "first half times the sigmoid of the second half"));
  r.push_back(composed(
      "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.call("aten.masked_fill.Scalar",
                       {c.tensor(0), compare(b, "aten.le.Scalar", c.tensor(0), c.arg(1)), c.arg(2)})};
      },
      "x above the threshold, else a value"));
  r.push_back(composed(
      "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        Node* small = compare(b, "aten.le.Scalar", call1(b, "aten.abs.default", c.tensor(0)), c.arg(1));
        return {b.call("aten.masked_fill.Scalar", {c.tensor(0), small, 0.0})};
      },
      "x where |x| > lambd, else 0"));
  r.push_back(composed(
      "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        Node* x = c.tensor(0);
        const double l = c.number(1);
        if (!(l >= 0 && l <= largest(x->tensor().dtype)))
          reject(c, "lambd must be a number of the operand's type from 0 on, found " + std::to_string(l));
        return {b.sub(x, b.call("aten.clamp.default", {x, -l, l}))};
      },
      "x moved towards 0 by lambd"));
  r.push_back(composed(
      "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? "
      "generator=None) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        if (c.boolean(3)) reject(c, "random slopes, in training, are not supported");
        return {b.call("aten.leaky_relu.default", {c.tensor(0), (c.number(1) + c.number(2)) / 2})};
      },
      "leaky_relu with the mean of two slopes"));
  r.push_back(composed(
      "aten::prelu(Tensor self, Tensor weight) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        Node* x = c.tensor(0);
        Node* w = c.tensor(1);
        std::vector<SymInt> line(std::max<size_t>(rank(x), 1), SymInt(1));
        line[rank(x) > 1 ? 1 : 0] = w->type.tensor.numel();
        Node* slope = w->type.tensor.numel() == SymInt(1) ? b.reshape(w, std::vector<SymInt>(rank(x), SymInt(1)))
                                                          : b.reshape(w, line);
        return {where(b, compare(b, "aten.gt.Scalar", x, 0), x, b.mul(x, slope))};
      },
      "x where positive, else weight * x; one weight, or one per channel"));
  return r;
}

Rows mathematical() {
  Rows r;
  r.push_back(
      composed("aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
               nan_to_num, "NaN and infinities replaced by numbers"));
  r.push_back(composed("aten::logaddexp(Tensor self, Tensor other) -> Tensor", logaddexp,
                       "log(exp(self) + exp(other)) without overflow"));
  r.push_back(composed("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", xlogy,
                       "self * log(other), 0 where self is 0"));
  r.push_back(composed("aten::logit(Tensor self, float? eps=None) -> Tensor", logit, "log(x / (1 - x))"));
  for (const char* name : {"multiply", "divide", "true_divide"})
    r.push_back(composed(
        "aten::" + std::string(name) + ".Tensor(Tensor self, Tensor other) -> Tensor",
        [](Builder& b, const Call& c) -> Nodes {
          return {c.op().name == "aten.multiply.Tensor" ? b.mul(c.tensor(0), c.arg(1)) : b.div(c.tensor(0), c.arg(1))};
        },
        "another name of mul or div"));
  r.push_back(composed(
      "aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.call("aten.sub.Tensor", {c.tensor(0), c.arg(1)}, {{"alpha", c.arg(2)}})};
      },
      "another name of sub"));
  return r;
}

// ---------------------------------------------------------------------------------------------- backward halves as AOT
// graphs have them

Rows backward_halves() {
  Rows r;
  r.push_back(composed(
      "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.mul(c.tensor(0), b.add(b.neg(b.mul(c.tensor(1), c.tensor(1))), 1))};
      },
      "gradient of tanh from its result"));
  r.push_back(composed(
      "aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.mul(b.mul(c.tensor(0), c.tensor(1)), b.add(b.neg(c.tensor(1)), 1))};
      },
      "gradient of sigmoid from its result"));
  r.push_back(composed(
      "aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {
            b.call("aten.masked_fill.Scalar", {c.tensor(0), compare(b, "aten.le.Scalar", c.tensor(1), c.arg(2)), 0.0})};
      },
      "gradient of relu and threshold"));
  const auto softmax = [](Builder& b, const Call& c) -> Nodes {
    require_same_shape(c, tensor_type(c, 0).shape, tensor_type(c, 1).shape, "grad_output and output");
    const Argument dims = Argument::list({c.arg(2)});
    const auto wide = [&](size_t i) { return b.cast(c.tensor(i), compute_dtype(c.type(i).dtype)); };
    Node *dy = wide(0), *y = wide(1);
    if (c.op().name == "aten._log_softmax_backward_data.default") {
      Node* total = b.call("aten.sum.dim_IntList", {dy, dims, true});
      return {b.cast(b.sub(dy, b.mul(call1(b, "aten.exp.default", y), total)), *c.dtype(3))};
    }
    Node* weighted = b.mul(dy, y);
    return {b.cast(b.sub(weighted, b.mul(y, b.call("aten.sum.dim_IntList", {weighted, dims, true}))), *c.dtype(3))};
  };
  for (const char* name : {"_softmax", "_log_softmax"})
    r.push_back(
        composed("aten::" + std::string(name) +
                     "_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
                 softmax, "gradient of softmax or its logarithm from its result"));
  r.push_back(composed(
      "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes { return {b.mul(b.mul(c.tensor(0), c.tensor(1)), c.number(2))}; },
      "gradient of dropout from its mask"));
  r.push_back(composed(
      "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
      "bool scale_grad_by_freq) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        if (c.boolean(4)) reject(c, "scale_grad_by_freq is not supported");
        Node* dy = c.tensor(0);
        if (const int64_t padding = c.constant(3); padding >= 0)
          dy = b.call("aten.masked_fill.Scalar",
                      {dy, b.unsqueeze(compare(b, "aten.eq.Scalar", c.tensor(1), padding), -1), 0.0});
        Node* zeros = b.call("aten.new_zeros.default", {dy, sizes({c.integer(2), dy->type.tensor.shape.back()})});
        return {b.call("aten.index_put.default", {zeros, Argument::list({c.tensor(1)}), dy, true})};
      },
      "gradient of embedding by its table"));
  return r;
}

// --------------------------------------------------------------------------------------------------------------- views

/// Along the last dimension, [end - shift, end) before [0, end - shift), so that neighbours stay neighbours; along the
/// others, at other indices.
Nodes roll(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const std::vector<SymInt> shifts = c.integers(1);
  const std::vector<int64_t> dims = c.constants(2);
  const bool flat = dims.empty();
  if (rank(x) == 0 && !flat) reject(c, "a 0-dimensional tensor has no dimension to roll along");
  if (flat ? shifts.size() != 1 : shifts.size() != dims.size()) reject(c, "shifts and dims must have the same length");
  const std::vector<SymInt> shape = x->type.tensor.shape;
  if (flat) x = b.reshape(x, {x->type.tensor.numel()});
  if (rank(x) == 0) return {x};
  std::vector<SymInt> by(rank(x), SymInt(0));
  for (size_t i = 0; i < shifts.size(); ++i) {
    const size_t dim = flat ? 0 : normalize_dim(dims[i], rank(x), c.node());
    by[dim] = by[dim] + shifts[i];
  }
  const size_t last = rank(x) - 1;
  const SymInt n = size(x, last), cut = n == SymInt(0) ? n : mod(SymInt(0) - by[last], n);
  by[last] = 0;
  if (std::ranges::any_of(by, [](const SymInt& shift) { return !(shift == SymInt(0)); }))
    x = b.call("prims.roll.default", {x, sizes(by)});
  if (!(cut == SymInt(0)))
    x = b.call("aten.cat.default",
               {Argument::list({slice(b, x, last, cut, n), slice(b, x, last, 0, cut)}), static_cast<int64_t>(last)});
  return {b.reshape(x, shape)};
}

Nodes tile(Builder& b, const Call& c) {
  std::vector<SymInt> counts = c.integers(1);
  while (counts.size() < rank(c.tensor(0))) counts.insert(counts.begin(), SymInt(1));
  return {b.call("aten.repeat.default", {c.tensor(0), sizes(counts)})};
}

/// Each element n times in place: a new last dimension, expanded and merged.
Nodes repeat_interleave(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const SymInt n = c.integer(1);
  if (c.is_none(2)) x = b.reshape(x, {x->type.tensor.numel()});
  if (rank(x) == 0) reject(c, "a tensor without dimensions has none to repeat along", "leave out dim");
  const size_t dim = c.is_none(2) ? 0 : c.dim(2, rank(x));
  std::vector<SymInt> wide = x->type.tensor.shape, merged = wide;
  wide.insert(wide.begin() + static_cast<ptrdiff_t>(dim) + 1, n);
  merged[dim] = merged[dim] * n;
  return {b.reshape(b.expand(b.unsqueeze(x, static_cast<int64_t>(dim) + 1), wide), merged)};
}

Nodes meshgrid(Builder& b, const Call& c) {
  const std::vector<Node*> axes = c.tensors(0);
  std::vector<SymInt> shape;
  if (axes.empty()) reject(c, "expected at least one tensor");
  if (const std::string order = c.size() > 1 ? c.string(1) : "ij"; order != "xy" && order != "ij")
    reject(c, "indexing must be xy or ij, found '" + order + "'");
  for (Node* a : axes) {
    if (rank(a) > 1) reject(c, "expected tensors of at most 1 dimension, found " + std::to_string(rank(a)));
    if (a->tensor().dtype != axes[0]->tensor().dtype) reject(c, "expected tensors of one type");
    shape.push_back(a->type.tensor.numel());
  }
  const bool xy = c.size() > 1 && c.string(1) == "xy" && axes.size() > 1;
  if (xy) std::swap(shape[0], shape[1]);
  Nodes grids;
  for (size_t k = 0; k < axes.size(); ++k) {
    std::vector<SymInt> line(axes.size(), SymInt(1));
    const size_t at = xy && k < 2 ? 1 - k : k;
    line[at] = shape[at];
    grids.push_back(b.expand(b.reshape(axes[k], line), shape));
  }
  return grids;
}

// ------------------------------------------------------------------------------------------------------------ indexing

Nodes one_hot(Builder& b, const Call& c) {
  const int64_t classes = c.constant(1);
  if (classes <= 0) reject(c, "the number of classes must be given: without it the size depends on data");
  Node* ids = b.unsqueeze(c.tensor(0), -1);
  Node* line = b.call("aten.arange.default", {classes}, {{"device", DeviceArg{ids->type.tensor.device}}});
  return {b.cast(b.call("aten.eq.Tensor", {ids, line}), DType::I64)};
}

/// `self` with `source` added or written at indices of a dimension.
Nodes index_into(Builder& b, const Call& c, bool accumulate) {
  const size_t dim = c.dim(1, rank(c.tensor(0)));
  check_line_of_indices(c, 2);
  check_source(c, dim);
  std::vector<Argument> indices(dim, Argument());
  indices.push_back(b.reshape(c.tensor(2), {c.type(2).numel()}));
  Node* source = c.tensor(3);
  if (rank(source) == 0) source = b.reshape(source, {SymInt(1)});
  if (accumulate && !(c.is_integer_scalar(4) && c.number(4) == 1)) source = b.mul(source, c.arg(4));
  Node* self = rank(c.tensor(0)) ? c.tensor(0) : b.reshape(c.tensor(0), {SymInt(1)});
  return {b.reshape(b.call("aten.index_put.default", {self, Argument::list(indices), source, accumulate}),
                    c.type(0).shape)};
}

/// True where the position along the dimension is among the indices; one comparison per pair.
Nodes index_fill(Builder& b, const Call& c) {
  Node* x = rank(c.tensor(0)) ? c.tensor(0) : b.reshape(c.tensor(0), {SymInt(1)});
  const size_t dim = c.dim(1, rank(x));
  check_line_of_indices(c, 2);
  const SymInt n = size(x, dim);
  if (n == SymInt(0)) return {c.tensor(0)};
  Node* places = b.call("aten.arange.default", {integer(n)}, {{"device", DeviceArg{x->type.tensor.device}}});
  // Taken from the places themselves, an index is checked, and counts from the front.
  Node* index = b.reshape(c.tensor(2), {c.type(2).numel(), SymInt(1)});
  Node* hit = b.call("aten.eq.Tensor", {b.call("aten.index.Tensor", {places, Argument::list({index})}), places});
  std::vector<SymInt> line(rank(x), SymInt(1));
  line[dim] = n;
  Node* filled = b.call("aten.masked_fill.Scalar", {x, b.reshape(b.call("aten.any.dim", {hit, 0}), line), c.arg(3)});
  return {b.reshape(filled, c.type(0).shape)};
}

/// Indices in [0, n): negative ones count from the end.
Node* from_the_front(Builder& b, Node* index, const SymInt& n) {
  return where(b, compare(b, "aten.lt.Scalar", index, 0), b.add(index, integer(n)), index);
}

/// All dimensions but one are broadcast.
Node* along_dim(Builder& b, const Call& c) {
  const size_t n = rank(c.tensor(0)), dim = c.dim(2, n);
  if (rank(c.tensor(1)) != n) reject(c, "self and indices must have as many dimensions");
  if (n == 0) return b.call("aten.gather.default", {c.tensor(0), c.arg(2), from_the_front(b, c.tensor(1), 1)});
  std::vector<SymInt> self = c.type(0).shape, indices = c.type(1).shape;
  const SymInt length = self[dim], count = indices[dim];
  self[dim] = indices[dim] = SymInt(1);
  self = indices = broadcast(self, indices, c.node());
  self[dim] = length;
  indices[dim] = count;
  Node* index = from_the_front(b, c.tensor(1), length);
  return b.call("aten.gather.default", {b.expand(c.tensor(0), self), c.arg(2), b.expand(index, indices)});
}

/// The main diagonal lies at multiples of one step; with `wrap` it begins again below where a tall matrix is wide.
Nodes fill_diagonal(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const auto& shape = x->tensor().shape;
  if (shape.size() < 2) reject(c, "expected at least 2 dimensions");
  SymInt step = 0, smallest = shape[0], below = 1;
  for (size_t d = shape.size(); d-- > 0; below = below * shape[d]) {
    if (shape.size() > 2) require_equal(c, shape[d], shape[0], "sizes of the dimensions");
    step = step + below;
    smallest = min(smallest, shape[d]);
  }
  const SymInt count = x->tensor().numel(), end = c.boolean(2) && shape.size() == 2 ? count : smallest * step;
  Node* place = b.call("aten.arange.default", {integer(count)}, {{"device", DeviceArg{x->tensor().device}}});
  Node* on = b.call("aten.eq.Scalar", {b.call("aten.remainder.Scalar", {place, integer(step)}), 0});
  on = b.call("aten.logical_and.default", {on, b.call("aten.lt.Scalar", {place, integer(end)})});
  return {b.call("aten.masked_fill.Scalar", {x, b.reshape(on, shape), c.arg(1)})};
}

/// The k-th true element of the mask takes the k-th element of source.
Nodes masked_scatter(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const std::vector<SymInt> shape = broadcast(x->type.tensor.shape, c.type(1).shape, c.node());
  require_mask(c, 1);
  if (tensor_type(c, 2).dtype != c.type(0).dtype) reject(c, "self and source must have one type");
  Node* mask = b.reshape(b.expand(c.tensor(1), shape), {product(shape)});
  Node* order = b.call("aten.cumsum.default", {mask, 0});
  Node* source = b.reshape(c.tensor(2), {c.type(2).numel()});
  if (range(c.type(2).numel()).min >= 1) {
    order = b.call("aten.clamp.default", {b.sub(order, 1), 0});
  } else {  // something to take where nothing has been taken yet
    Node* nothing = b.call("aten.new_zeros.default", {source, Argument::list({Argument(int64_t{1})})});
    source = b.call("aten.cat.default", {Argument::list({nothing, source})});
  }
  Node* taken = b.call("aten.index.Tensor", {source, Argument::list({order})});
  return {where(b, c.tensor(1), b.reshape(taken, shape), x)};
}

Nodes eye(Builder& b, const Call& c) {
  const bool square = c.op().schema.params[1].name != "m";
  const SymInt rows = c.integer(0), columns = square ? rows : c.integer(1);
  const DType d = c.dtype(square ? 1 : 2).value_or(DType::F32);
  Node* i = b.unsqueeze(b.call("aten.arange.default", {integer(rows)}), 1);
  return {b.cast(b.call("aten.eq.Tensor", {i, b.call("aten.arange.default", {integer(columns)})}), d)};
}

Nodes count_nonzero(Builder& b, const Call& c) {
  return {b.call("aten.sum.dim_IntList", {compare(b, "aten.ne.Scalar", c.tensor(0), 0), c.arg(1)})};
}

}  // namespace

Rows composed_pointwise() {
  Rows rows;
  for (auto part : {activations_composed, mathematical, backward_halves}) append(rows, part());
  return rows;
}

Rows composed_views() {
  Rows r;
  for (const char* name : {"view_as", "reshape_as"})
    r.push_back(composed(
        "aten::" + std::string(name) + "(Tensor(a) self, Tensor other) -> Tensor(a)",
        [](Builder& b, const Call& c) -> Nodes { return {b.reshape(c.tensor(0), c.type(1).shape)}; },
        "the elements in another tensor's shape"));
  r.push_back(composed(
      "aten::ravel(Tensor(a) self) -> Tensor(a)",
      [](Builder& b, const Call& c) -> Nodes { return {b.reshape(c.tensor(0), {c.type(0).numel()})}; },
      "all elements in one dimension"));
  for (const char* name : {"mT", "adjoint", "mH", "matrix_H"})
    r.push_back(composed(
        "aten::" + std::string(name) + "(Tensor(a) self) -> Tensor(a)",
        [](Builder& b, const Call& c) -> Nodes {
          if (rank(c.tensor(0)) == 0) return {c.tensor(0)};
          if (rank(c.tensor(0)) < 2) reject(c, "expected at least 2 dimensions");
          return {b.transpose(c.tensor(0), -2, -1)};
        },
        "matrices transposed"));
  r.push_back(composed(
      "aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
      [](Builder& b, const Call& c) -> Nodes {
        return {rank(c.tensor(0)) ? b.transpose(c.tensor(0), c.constant(1), c.constant(2)) : c.tensor(0)};
      },
      "two dimensions swapped"));
  r.push_back(composed("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", roll,
                       "elements moved along dimensions, around the end"));
  r.push_back(
      composed("aten::tile(Tensor self, SymInt[] dims) -> Tensor", tile, "the tensor repeated along each dimension"));
  r.push_back(
      composed("aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
               "output_size=None) -> Tensor",
               repeat_interleave, "each element repeated in place"));
  r.push_back(composed("aten::meshgrid(Tensor[] tensors) -> Tensor[]", meshgrid, "coordinates of a grid"));
  r.push_back(composed("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", meshgrid,
                       "coordinates of a grid"));
  return r;
}

Rows composed_indexing() {
  const std::string options =
      "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  Rows r;
  r.push_back(composed("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", one_hot, "1 at each class, else 0"));
  r.push_back(composed(
      "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
      [](Builder& b, const Call& c) { return index_into(b, c, true); },
      "self with source added at indices of a dimension"));
  r.push_back(composed(
      "aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
      [](Builder& b, const Call& c) { return index_into(b, c, false); },
      "self with source written at indices of a dimension"));
  r.push_back(composed("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                       index_fill, "self with a number at indices of a dimension"));
  r.push_back(composed("strata::fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor",
                       fill_diagonal, "self with a number on its diagonal"));
  r.push_back(composed("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", masked_scatter,
                       "elements of source in order where the mask holds, else self"));
  r.push_back(composed(
      "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        const SymInt all = c.type(0).numel();
        if (c.is_none(2))
          return {b.call("aten.gather.default", {b.reshape(c.tensor(0), {all}), 0,
                                                 b.reshape(from_the_front(b, c.tensor(1), all), {c.type(1).numel()})})};
        return {along_dim(b, c)};
      },
      "elements at positions along a dimension"));
  r.push_back(composed(
      "aten::take(Tensor self, Tensor index) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.call("aten.index.Tensor", {b.reshape(c.tensor(0), {c.type(0).numel()}), Argument::list({c.arg(1)})})};
      },
      "elements at row-major positions"));
  r.push_back(composed(
      "aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {b.getitem(b.call("aten.sort.default", {c.tensor(0), c.arg(1), c.arg(2)}), 1)};
      },
      "positions of the elements in order"));
  r.push_back(composed(
      "aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
      [](Builder& b, const Call& c) -> Nodes {
        const Argument dims = c.is_none(1) ? Argument::list({}) : Argument::list({c.arg(1)});
        return {b.call("aten.amin.default", {c.tensor(0), dims, c.boolean(2)}),
                b.call("aten.amax.default", {c.tensor(0), dims, c.boolean(2)})};
      },
      "smallest and largest element"));
  r.push_back(composed("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", count_nonzero,
                       "number of elements that are not zero"));
  r.push_back(composed("aten::eye(SymInt n, *, " + options, eye, "ones on the diagonal"));
  r.push_back(composed("aten::eye.m(SymInt n, SymInt m, *, " + options, eye, "ones on the diagonal"));
  return r;
}

}  // namespace strata::ops
