// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that say in one word what others say in a few, of numbers: losses, distances, comparisons, other names.

#include <algorithm>
#include <limits>

#include "core/ir/ops/neural.h"
#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
using Shape = std::vector<SymInt>;

// ------------------------------------------------------------------------------------------------------------- losses

void check_floating(const Call& c) {
  if (const DType d = c.type(0).dtype; !is_floating(d))
    reject(c, "expected floating-point tensors, found " + std::string(dtype_name(d)));
}

/// -(y log x + (1 - y) log(1 - x)); logarithms are at least -100.
Nodes binary_cross_entropy(Builder& b, const Call& c) {
  check_floating(c);
  require_same_shape(c, tensor_type(c, 1).shape, c.type(0).shape, "target and input");
  const DType dtype = c.type(0).dtype;
  Node *x = widen(b, c.tensor(0)), *y = widen(b, c.tensor(1));
  const auto bounded = [&](Node* z) { return b.call("aten.clamp.default", {z, -100}); };
  Node* log_x = bounded(b.call("aten.log.default", {x}));
  Node* log_rest = bounded(b.call("aten.log1p.default", {b.neg(x)}));
  Node* loss = b.sub(b.mul(b.sub(y, 1), log_rest), b.mul(y, log_x));
  if (Node* weight = c.optional_tensor(2)) loss = b.mul(loss, widen(b, weight));
  return {b.cast(reduce_loss(b, c, loss, c.constant(3)), dtype)};
}

Nodes huber_loss(Builder& b, const Call& c) {
  check_floating(c);
  const double delta = c.number(3);
  if (!(delta > 0)) reject(c, "delta must be positive");
  Node* distance = b.call("aten.abs.default", {b.sub(c.tensor(0), c.tensor(1))});
  Node* square = b.mul(b.mul(distance, distance), 0.5);
  Node* line = b.mul(b.sub(distance, 0.5 * delta), delta);
  Node* near = b.call("aten.le.Scalar", {distance, delta});
  return {reduce_loss(b, c, b.call("aten.where.self", {near, square, line}), c.constant(2))};
}

Nodes kl_div(Builder& b, const Call& c) {
  check_floating(c);
  Node *x = c.tensor(0), *y = c.tensor(1);
  Node* loss = nullptr;
  if (c.boolean(3))
    loss = b.mul(b.call("aten.exp.default", {y}), b.sub(y, x));
  else
    loss = b.sub(b.call("aten.xlogy.Tensor", {y, y}), b.mul(y, x));
  return {reduce_loss(b, c, loss, c.constant(2))};
}

Nodes soft_margin_loss(Builder& b, const Call& c) {
  check_floating(c);
  require_same_shape(c, broadcast(c.type(0).shape, tensor_type(c, 1).shape, c.node()), c.type(0).shape,
                     "what input and target broadcast to and input");
  Node* z = b.neg(b.mul(c.tensor(0), c.tensor(1)));
  Node* loss = b.call("aten.log1p.default", {b.call("aten.exp.default", {z})});
  return {reduce_loss(b, c, loss, c.constant(2))};
}

Nodes margin_ranking_loss(Builder& b, const Call& c) {
  Node* distance = b.mul(b.neg(c.tensor(2)), b.sub(c.tensor(0), c.tensor(1)));
  Node* loss = b.call("aten.clamp_min.default", {b.add(distance, c.arg(3)), 0});
  return {reduce_loss(b, c, loss, c.constant(4))};
}

Nodes hinge_embedding_loss(Builder& b, const Call& c) {
  check_floating(c);
  Node *x = c.tensor(0), *y = c.tensor(1);
  Node* margin = b.call("aten.clamp_min.default", {b.call("aten.rsub.Scalar", {x, c.arg(2)}), 0});
  const auto where = [&](int64_t not_this, Node* z) {
    return where_else(b, b.call("aten.ne.Scalar", {y, not_this}), z, 0);
  };
  return {reduce_loss(b, c, b.add(where(1, margin), where(-1, x)), c.constant(3))};
}

// ----------------------------------------------------------------------------------------------------------- pointwise

Nodes scaled_angle(Builder& b, const Call& c) {
  constexpr double degree = 0.017453292519943295;
  const bool to_radians = c.op().name.find("deg2rad") != std::string::npos;
  Node* x = c.tensor(0);
  if (!is_floating(x->tensor().dtype)) x = b.cast(x, DType::F32);
  return {b.mul(x, to_radians ? degree : 1 / degree)};
}

template <int Sign>
Nodes is_signed_infinity(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  Node* infinite = b.call("aten.isinf.default", {x});
  Node* side = Sign < 0 ? b.call("aten.lt.Scalar", {x, 0}) : b.call("aten.gt.Scalar", {x, 0});
  return {b.call("aten.logical_and.default", {infinite, side})};
}

Nodes heaviside(Builder& b, const Call& c) {
  require_same_dtype(c, 0, 1);
  Node *x = c.tensor(0), *at_zero = c.tensor(1);
  Node* side = b.cast(b.call("aten.gt.Scalar", {x, 0}), x->tensor().dtype);
  return {b.call("aten.where.self", {b.call("aten.eq.Scalar", {x, 0}), at_zero, side})};
}

/// Numbers that are close enough: |x - y| <= atol + rtol * |y|, equal infinities, and NaN if it counts as equal.
Nodes isclose(Builder& b, const Call& c) {
  Node *x = c.tensor(0), *y = c.tensor(1);
  if (x->tensor().dtype != y->tensor().dtype) reject(c, "expected operands of one type");
  const double rtol = c.number(2), atol = c.number(3);
  if (rtol < 0 || atol < 0) reject(c, "tolerances must not be negative");
  const auto either = [&](Node* a, Node* z) { return b.call("aten.logical_or.default", {a, z}); };
  const auto both = [&](Node* a, Node* z) { return b.call("aten.logical_and.default", {a, z}); };
  Node* close = b.call("aten.eq.Tensor", {x, y});
  const bool floating = is_floating(x->tensor().dtype);
  if (floating && c.boolean(4))
    close = either(close, both(b.call("aten.isnan.default", {x}), b.call("aten.isnan.default", {y})));
  if (rtol == 0 && atol == 0) return {close};
  const DType wide = floating ? x->tensor().dtype : DType::F32;
  Node *a = b.cast(x, wide), *z = b.cast(y, wide);
  Node* allowed = b.add(b.call("aten.abs.default", {b.mul(z, rtol)}), atol);
  Node* distance = b.call("aten.abs.default", {b.sub(a, z)});
  Node* near = both(b.call("aten.isfinite.default", {distance}), b.call("aten.le.Tensor", {distance, allowed}));
  return {either(close, near)};
}

/// Compared with each of a few; of more, which are sorted, with the one where it would stand.
Nodes isin(Builder& b, const Call& c) {
  constexpr int64_t kFew = 16;
  Node *x = c.tensor(0), *among = c.tensor(1);
  const SymInt count = among->tensor().numel();
  const DType dtype = promote(x->tensor().dtype, among->tensor().dtype);
  Node *numbers = b.cast(x, dtype), *line = b.cast(b.reshape(among, {count}), dtype), *hit = nullptr;
  if (range(count).max <= kFew) {
    hit = b.call("aten.any.dim", {b.call("aten.eq.Tensor", {b.unsqueeze(numbers, -1), line}), -1});
  } else {
    if (range(count).min < 1) reject(c, "there may be nothing to be among, which is not known");
    Node* valid = nullptr;
    if (is_floating(dtype)) {  // NaN equals nothing, and is in order with nothing: another element takes its place
      valid = b.call("aten.eq.Tensor", {line, line});
      Node* least = b.call("aten.amin.default", {where_else(b, valid, line, std::numeric_limits<double>::infinity())});
      line = b.call("aten.where.self", {valid, line, least});
    }
    Node* sorted = b.getitem(b.call("aten.sort.default", {line}), 0);
    Node* place = b.call("aten.searchsorted.Tensor", {sorted, numbers});
    place = b.call("aten.clamp.default", {place, 0, integer(count - 1)});
    hit = b.call("aten.eq.Tensor", {b.call("aten.index.Tensor", {sorted, Argument::list({place})}), numbers});
    if (valid) hit = b.call("aten.logical_and.default", {hit, b.call("aten.any.default", {valid})});
  }
  return {c.boolean(3) ? b.call("aten.logical_not.default", {hit}) : hit};
}

Nodes float_power(Builder& b, const Call& c) {
  const std::string& name = c.op().name;
  const bool complex =
      (is_tensor(c, 0) && is_complex(c.type(0).dtype)) || (is_tensor(c, 1) && is_complex(c.type(1).dtype));
  const auto wide = [&](size_t i) { return Argument(b.cast(c.tensor(i), complex ? DType::C128 : DType::F64)); };
  if (name.ends_with(".Scalar")) return {b.call("aten.pow.Scalar", {c.number(0), wide(1)})};
  if (name.ends_with("Tensor_Scalar")) return {b.call("aten.pow.Tensor_Scalar", {wide(0), c.number(1)})};
  return {b.call("aten.pow.Tensor_Tensor", {wide(0), wide(1)})};
}

Nodes sinc(Builder& b, const Call& c) {
  constexpr double pi = 3.14159265358979323846;
  Node* x = c.tensor(0);
  if (!is_floating(x->tensor().dtype) && !is_complex(x->tensor().dtype)) x = b.cast(x, DType::F32);
  Node* angle = b.mul(widen(b, x), pi);
  Node* ratio = b.div(b.call("aten.sin.default", {angle}), angle);
  Node* y = where_else(b, b.call("aten.ne.Scalar", {x, 0}), ratio, 1);
  return {b.cast(y, x->tensor().dtype)};
}

Nodes addr(Builder& b, const Call& c) {
  require_rank(c, 1, 1, 1);
  require_rank(c, 2, 1, 1);
  const DType type = pointwise_compute_dtype(c);
  for (const size_t i : {3, 4})
    if (is_integral_or_bool(type) && !c.is_integer_scalar(i)) reject(c, "beta and alpha of integers must be integers");
  Node* product = b.mul(b.unsqueeze(b.cast(c.tensor(1), type), 1), b.cast(c.tensor(2), type));
  if (!(c.is_integer_scalar(4) && c.number(4) == 1)) product = b.mul(product, c.arg(4));
  // It is as large as the product, or is stretched to that.
  Node* x = b.expand(c.tensor(0), product->tensor().shape);
  if (c.number(3) == 0) return {product};
  if (!(c.is_integer_scalar(3) && c.number(3) == 1)) x = b.mul(x, c.arg(3));
  return {b.add(x, product)};
}

// ----------------------------------------------------------------------------------------------------------- distances

Node* norm(Builder& b, Node* x, double p, bool keepdim) {
  return b.call("aten.linalg_vector_norm.default", {x, p, int_list({-1}), keepdim});
}

Nodes pairwise_distance(Builder& b, const Call& c) {
  Node* distance = b.add(b.sub(c.tensor(0), c.tensor(1)), c.number(3));
  return {norm(b, distance, c.number(2), c.boolean(4))};
}

Nodes dist(Builder& b, const Call& c) {
  return {b.call("aten.linalg_vector_norm.default", {b.sub(c.tensor(0), c.tensor(1)), c.number(2)})};
}

/// Both divided by their norms, which are at least eps; then the sum of products.
Nodes cosine_similarity(Builder& b, const Call& c) {
  Shape shape = broadcast(c.type(0).shape, c.type(1).shape, c.node());
  const auto dim = static_cast<int64_t>(c.dim(2, shape.size()));
  if (shape.empty()) shape = {SymInt(1)};  // a number on its own is a line of one
  const auto unit = [&](Node* x) {
    x = b.expand(x, shape);
    Node* length = b.call("aten.linalg_vector_norm.default", {x, 2, int_list({dim}), true});
    return b.div(x, b.call("aten.clamp_min.default", {length, c.number(3)}));
  };
  return {b.sum(b.mul(unit(in_common_floats(b, c, 0)), unit(in_common_floats(b, c, 1))), {dim}, false)};
}

Nodes triplet_margin_loss(Builder& b, const Call& c) {
  const double p = c.number(4), eps = c.number(5);
  const auto distance = [&](size_t i, size_t j) {
    return norm(b, b.add(b.sub(c.tensor(i), c.tensor(j)), eps), p, false);
  };
  Node *positive = distance(0, 1), *negative = distance(0, 2);
  if (c.boolean(6)) negative = b.call("aten.minimum.default", {negative, distance(1, 2)});
  Node* loss = b.call("aten.clamp_min.default", {b.add(b.sub(positive, negative), c.number(3)), 0});
  return {reduce_loss(b, c, loss, c.constant(7))};
}

Nodes clamp_by(Builder& b, const Call& c) {
  const bool above = c.op().name.find("clamp_max") != std::string::npos;
  return {b.call(above ? "aten.minimum.default" : "aten.maximum.default", {c.tensor(0), c.tensor(1)})};
}

/// Rows that are others by another name, of one operand or of two.
struct OtherName {
  std::string_view name, target;
  size_t operands;
};
constexpr OtherName kOtherNames[] = {
    {"aten.absolute.default", "aten.abs.default", 1},  {"aten.negative.default", "aten.neg.default", 1},
    {"aten.fix.default", "aten.trunc.default", 1},     {"aten.arccos.default", "aten.acos.default", 1},
    {"aten.arccosh.default", "aten.acosh.default", 1}, {"aten.arcsin.default", "aten.asin.default", 1},
    {"aten.arcsinh.default", "aten.asinh.default", 1}, {"aten.arctan.default", "aten.atan.default", 1},
    {"aten.arctanh.default", "aten.atanh.default", 1}, {"aten.arctan2.default", "aten.atan2.default", 2},
    {"aten.greater.Tensor", "aten.gt.Tensor", 2},      {"aten.greater_equal.Tensor", "aten.ge.Tensor", 2},
    {"aten.less.Tensor", "aten.lt.Tensor", 2},         {"aten.less_equal.Tensor", "aten.le.Tensor", 2},
    {"aten.not_equal.Tensor", "aten.ne.Tensor", 2},
};

Nodes renamed(Builder& b, const Call& c) {
  const OtherName* row = std::find_if(std::begin(kOtherNames), std::end(kOtherNames),
                                      [&](const OtherName& other) { return other.name == c.op().name; });
  std::vector<Argument> arguments;
  for (size_t i = 0; i < row->operands; ++i) arguments.push_back(c.arg(i));
  return {b.call(row->target, std::move(arguments))};
}

}  // namespace

Rows shorthand_losses() {
  Rows r;
  const auto add = [&](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(shorthand(schema, decompose, doc));
  };
  add("binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
      binary_cross_entropy, "cross entropy of probabilities");
  add("huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor", huber_loss,
      "squares up to delta, then lines");
  add("kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor", kl_div,
      "Kullback-Leibler divergence, of logarithms");
  add("soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", soft_margin_loss,
      "log(1 + exp(-target * self))");
  add("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
      margin_ranking_loss, "how far pairs are from their order");
  add("pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
      pairwise_distance, "norms of differences along the last dimension");
  add("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist, "the norm of the difference");
  add("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", cosine_similarity,
      "cosines of angles between vectors");
  add("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float "
      "eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
      triplet_margin_loss, "how much nearer the positive should be than the negative");
  add("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor",
      hinge_embedding_loss, "self, or what it lacks to a margin");
  return r;
}

Rows shorthand_pointwise() {
  Rows r;
  const auto add = [&](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(shorthand(schema, decompose, doc));
  };
  add("deg2rad(Tensor self) -> Tensor", scaled_angle, "degrees in radians");
  add("rad2deg(Tensor self) -> Tensor", scaled_angle, "radians in degrees");
  add("isposinf(Tensor self) -> Tensor", is_signed_infinity<1>, "where the positive infinity is");
  add("isneginf(Tensor self) -> Tensor", is_signed_infinity<-1>, "where the negative infinity is");
  add("heaviside(Tensor self, Tensor values) -> Tensor", heaviside, "0 below 0, 1 above, a value at 0");
  add("clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", clamp_by, "the larger of two");
  add("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", clamp_by, "the smaller of two");
  add("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor", isclose,
      "where two are nearly equal");
  add("isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> "
      "Tensor",
      isin, "where an element is among others");
  add("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", float_power, "a power in float64");
  add("float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", float_power, "a power in float64");
  add("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", float_power, "a power in float64");
  add("sinc(Tensor self) -> Tensor", sinc, "sin(pi x) / (pi x), 1 at 0");
  add("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", addr,
      "beta * self + alpha * outer product");
  add(
      "positive(Tensor(a) self) -> Tensor(a)", [](Builder&, const Call& c) -> Nodes { return {c.tensor(0)}; },
      "the tensor itself");
  for (const OtherName& other : kOtherNames) {
    const std::string word(other.name.substr(0, other.name.find(".default")));
    const std::string operands = other.operands == 1 ? "(Tensor self)" : "(Tensor self, Tensor other)";
    add(word.substr(word.find('.') + 1) + operands + " -> Tensor", renamed, "another name");
  }
  return r;
}

}  // namespace strata::ops