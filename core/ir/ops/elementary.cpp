// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of one element.

#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

constexpr auto kFloat = Promotion::IntToFloat;
constexpr auto kDefault = Promotion::Default;
using Ctx = const GradientContext&;

/// Row of a function that turns integers into floats.
template <auto F, ScalarOp Op>
OpDef function(std::string_view schema, Gradient gradient, std::string_view doc, uint32_t traits = 0) {
  return row(schema, traits, kFloat, pointwise_type, float_reference<F>, unary_body<Op>, gradient, doc);
}

/// Row of a rounding function; integers stay as they are.
template <auto F, ScalarOp Op>
OpDef rounding(std::string_view schema, std::string_view doc) {
  return row(
      schema, trait::Idempotent | trait::ZeroPreserving, kDefault, number_type, unary_reference<[](auto x) {
        if constexpr (std::is_integral_v<decltype(x)>)
          return x;
        else
          return F(x);
      }>,
      [](Body& b, const Call&, Operands x) { return is_floating(b.dtype(x[0])) ? b.unary(Op, x[0]) : x[0]; },
      Gradient(zero_gradient), doc);
}

Node* call1(Ctx c, const char* op, Node* x) { return c.b.call(op, {x}); }
Node* square(Ctx c, Node* x) { return c.b.mul(x, x); }
/// dy / sqrt(add + sign * x * x)
Node* over_root(Ctx c, double sign, double add) {
  return c.b.mul(c.dy, call1(c, "aten.rsqrt.default", c.b.add(c.b.mul(square(c, c.x()), sign), add)));
}

Rows exponentials() {
  Rows r;
  r.push_back(function<[](auto x) { return std::exp(x); }, ScalarOp::Exp>(
      "aten::exp(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.mul(c.dy, c.y); }>,
      "e to the power of each element"));
  r.push_back(function<[](auto x) { return std::exp2(x); }, ScalarOp::Exp2>(
      "aten::exp2(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.mul(c.b.mul(c.dy, c.y), M_LN2); }>,
      "2 to the power of each element"));
  r.push_back(function<[](auto x) { return std::expm1(x); }, ScalarOp::Expm1>(
      "aten::expm1(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.mul(c.dy, c.b.add(c.y, 1)); }>,
      "exp(x) - 1 without cancellation", trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::log(x); }, ScalarOp::Log>(
      "aten::log(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.div(c.dy, c.x()); }>,
      "natural logarithm"));
  r.push_back(function<[](auto x) { return std::log2(x); }, ScalarOp::Log2>(
      "aten::log2(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.div(c.dy, c.b.mul(c.x(), M_LN2)); }>,
      "logarithm to base 2"));
  r.push_back(function<[](auto x) { return std::log10(x); }, ScalarOp::Log10>(
      "aten::log10(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.div(c.dy, c.b.mul(c.x(), M_LN10)); }>,
      "logarithm to base 10"));
  r.push_back(function<[](auto x) { return std::log1p(x); }, ScalarOp::Log1p>(
      "aten::log1p(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.div(c.dy, c.b.add(c.x(), 1)); }>,
      "log(1 + x) without cancellation", trait::ZeroPreserving));
  return r;
}

Rows roots() {
  Rows r;
  r.push_back(function<[](auto x) { return std::sqrt(x); }, ScalarOp::Sqrt>(
      "aten::sqrt(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.div(c.dy, c.b.mul(c.y, 2)); }>,
      "square root", trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return decltype(x){1} / std::sqrt(x); }, ScalarOp::Rsqrt>(
      "aten::rsqrt(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.mul(c.b.mul(c.dy, c.b.mul(square(c, c.y), c.y)), -0.5); }>, "1 / sqrt(x)"));
  r.push_back(function<[](auto x) { return decltype(x){1} / x; }, ScalarOp::Reciprocal>(
      "aten::reciprocal(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.neg(c.b.mul(c.dy, square(c, c.y))); }>, "1 / x"));
  return r;
}

Rows trigonometric() {
  Rows r;
  r.push_back(function<[](auto x) { return std::sin(x); }, ScalarOp::Sin>(
      "aten::sin(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.mul(c.dy, call1(c, "aten.cos.default", c.x())); }>, "sine",
      trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::cos(x); }, ScalarOp::Cos>(
      "aten::cos(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.neg(c.b.mul(c.dy, call1(c, "aten.sin.default", c.x()))); }>, "cosine"));
  r.push_back(function<[](auto x) { return std::tan(x); }, ScalarOp::Tan>(
      "aten::tan(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.mul(c.dy, c.b.add(square(c, c.y), 1)); }>,
      "tangent", trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::asin(x); }, ScalarOp::Asin>(
      "aten::asin(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return over_root(c, -1, 1); }>, "arc sine",
      trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::acos(x); }, ScalarOp::Acos>(
      "aten::acos(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return c.b.neg(over_root(c, -1, 1)); }>,
      "arc cosine"));
  r.push_back(function<[](auto x) { return std::atan(x); }, ScalarOp::Atan>(
      "aten::atan(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.div(c.dy, c.b.add(square(c, c.x()), 1)); }>, "arc tangent",
      trait::ZeroPreserving));
  return r;
}

Rows hyperbolic() {
  Rows r;
  r.push_back(function<[](auto x) { return std::sinh(x); }, ScalarOp::Sinh>(
      "aten::sinh(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.mul(c.dy, call1(c, "aten.cosh.default", c.x())); }>, "hyperbolic sine",
      trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::cosh(x); }, ScalarOp::Cosh>(
      "aten::cosh(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.mul(c.dy, call1(c, "aten.sinh.default", c.x())); }>, "hyperbolic cosine"));
  r.push_back(function<[](auto x) { return std::tanh(x); }, ScalarOp::Tanh>(
      "aten::tanh(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.mul(c.dy, c.b.add(c.b.neg(square(c, c.y)), 1)); }>, "hyperbolic tangent",
      trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::asinh(x); }, ScalarOp::Asinh>(
      "aten::asinh(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return over_root(c, 1, 1); }>,
      "inverse hyperbolic sine", trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::acosh(x); }, ScalarOp::Acosh>(
      "aten::acosh(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return over_root(c, 1, -1); }>,
      "inverse hyperbolic cosine"));
  r.push_back(function<[](auto x) { return std::atanh(x); }, ScalarOp::Atanh>(
      "aten::atanh(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.div(c.dy, c.b.add(c.b.neg(square(c, c.x())), 1)); }>,
      "inverse hyperbolic tangent", trait::ZeroPreserving));
  return r;
}

/// dy * factor * exp(-x^2), the gradient of erf and (negated) erfc.
Node* gaussian(Ctx c, double factor) {
  return c.b.mul(c.b.mul(c.dy, call1(c, "aten.exp.default", c.b.neg(square(c, c.x())))), factor);
}

Rows special() {
  Rows r;
  r.push_back(function<[](auto x) { return std::erf(x); }, ScalarOp::Erf>(
      "aten::erf(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return gaussian(c, M_2_SQRTPI); }>, "error function",
      trait::ZeroPreserving));
  r.push_back(function<[](auto x) { return std::erfc(x); }, ScalarOp::Erfc>(
      "aten::erfc(Tensor self) -> Tensor", gradient_of<[](Ctx c) { return gaussian(c, -M_2_SQRTPI); }>, "1 - erf(x)"));
  r.push_back(function<[](auto x) { return decltype(x){1} / (decltype(x){1} + std::exp(-x)); }, ScalarOp::Sigmoid>(
      "aten::sigmoid(Tensor self) -> Tensor",
      gradient_of<[](Ctx c) { return c.b.mul(c.b.mul(c.dy, c.y), c.b.add(c.b.neg(c.y), 1)); }>, "1 / (1 + exp(-x))"));
  return r;
}

/// Magnitudes of complex numbers are real.
Type magnitude_type(const Call& call) {
  Type type = number_type(call);
  type.tensor.dtype = real_dtype(type.tensor.dtype);
  return type;
}

Rows signs() {
  Rows r;
  r.push_back(row("aten::neg(Tensor self) -> Tensor", trait::Involution | trait::ZeroPreserving, kDefault, number_type,
                  unary_reference<[](auto x) { return wrap_neg(x); }>, unary_body<ScalarOp::Neg>,
                  gradient_of<[](Ctx c) { return c.b.neg(c.dy); }>, "-x; integers wrap"));
  r.push_back(row("aten::abs(Tensor self) -> Tensor", trait::Idempotent | trait::ZeroPreserving, kDefault,
                  magnitude_type, unary_reference<[](auto x) {
                    if constexpr (std::is_integral_v<decltype(x)>)
                      return x < 0 ? wrap_neg(x) : x;
                    else
                      return std::abs(x);
                  }>,
                  unary_body<ScalarOp::Abs>,
                  gradient_of<[](Ctx c) { return c.b.mul(c.dy, call1(c, "aten.sign.default", c.x())); }>,
                  "absolute value"));
  r.push_back(row(
      "aten::sign(Tensor self) -> Tensor", trait::Idempotent | trait::ZeroPreserving, kDefault, pointwise_type,
      unary_reference<[](auto x) {
        using T = decltype(x);
        return is_nan(x) ? T{0} : static_cast<T>((x > T{0}) - (x < T{0}));
      }>,
      [](Body& b, const Call&, Operands x) {
        return b.dtype(x[0]) == DType::Bool ? x[0] : b.unary(ScalarOp::Sign, x[0]);
      },
      Gradient(zero_gradient), "-1, 0 or 1; 0 for NaN"));
  return r;
}

Rows rounding_rows() {
  Rows r;
  r.push_back(rounding<[](auto x) { return std::floor(x); }, ScalarOp::Floor>("aten::floor(Tensor self) -> Tensor",
                                                                              "largest integer not above x"));
  r.push_back(rounding<[](auto x) { return std::ceil(x); }, ScalarOp::Ceil>("aten::ceil(Tensor self) -> Tensor",
                                                                            "smallest integer not below x"));
  r.push_back(rounding<[](auto x) { return std::nearbyint(x); }, ScalarOp::Round>("aten::round(Tensor self) -> Tensor",
                                                                                  "nearest integer, halves to even"));
  r.push_back(rounding<[](auto x) { return std::trunc(x); }, ScalarOp::Trunc>("aten::trunc(Tensor self) -> Tensor",
                                                                              "towards zero"));
  r.push_back(row(
      "aten::frac(Tensor self) -> Tensor", trait::ZeroPreserving, kDefault, floating_type,
      float_reference<[](auto x) { return x - std::trunc(x); }>,
      [](Body& b, const Call&, Operands x) { return b.binary(ScalarOp::Sub, x[0], b.unary(ScalarOp::Trunc, x[0])); },
      gradient_of<[](Ctx c) { return c.dy; }>, "x - trunc(x)"));
  return r;
}

/// Body of a test that is false for integers.
template <ScalarOp Op>
ScalarId float_test(Body& b, const Call&, Operands x) {
  return is_floating(b.dtype(x[0])) ? b.unary(Op, x[0]) : b.integer(0, DType::Bool);
}

Rows tests() {
  constexpr auto none = NoGradient::Nondifferentiable;
  Rows r;
  r.push_back(row("aten::isnan(Tensor self) -> Tensor", 0, Promotion::Compare, pointwise_type,
                  unary_reference<[](auto x) { return is_nan(x); }>, float_test<ScalarOp::IsNan>, none,
                  "is the element NaN"));
  r.push_back(row("aten::isinf(Tensor self) -> Tensor", 0, Promotion::Compare, pointwise_type,
                  unary_reference<[](auto x) {
                    if constexpr (std::is_integral_v<decltype(x)>)
                      return false;
                    else
                      return std::isinf(x);
                  }>,
                  float_test<ScalarOp::IsInf>, none, "is the element infinite"));
  return r;
}

}  // namespace

Rows elementary() {
  Rows rows;
  for (auto part : {exponentials, roots, trigonometric, hyperbolic, special, signs, rounding_rows, tests})
    append(rows, part());
  rows.push_back(OpDef(
      "aten::square(Tensor self) -> Tensor", OpClass::Compound, 0, kDefault, number_type, nullptr,
      [](Builder& b, const Call& c) -> std::vector<Node*> { return {b.mul(c.tensor(0), c.tensor(0))}; },
      NoGradient::Pending, NoLowering{}, "", "x * x"));
  rows.push_back(OpDef(
      "aten::isfinite(Tensor self) -> Tensor", OpClass::Compound, 0, Promotion::Compare, pointwise_type, nullptr,
      [](Builder& b, const Call& c) -> std::vector<Node*> {
        Node* bad = b.call("aten.logical_or.default",
                           {b.call("aten.isnan.default", {c.tensor(0)}), b.call("aten.isinf.default", {c.tensor(0)})});
        return {b.call("aten.logical_not.default", {bad})};
      },
      NoGradient::Nondifferentiable, NoLowering{}, "", "neither NaN nor infinite"));
  return rows;
}

}  // namespace strata::ops
