// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/complex_formulas.h"

#include <cmath>
#include <numbers>

namespace strata::complex_formulas {
namespace {

ComplexParts scaled(Builder& b, const ComplexParts& x, double factor) {
  return {b.mul(x.real, factor), b.mul(x.imag, factor)};
}

/// The same number times i.
ComplexParts turned(Builder& b, const ComplexParts& x) { return {b.neg(x.imag), x.real}; }
ComplexParts turned_back(Builder& b, const ComplexParts& x) { return {x.imag, b.neg(x.real)}; }

ComplexParts waves(Builder& b, const ComplexParts& x, bool cosine) {  // sinh or cosh
  Node *s = unary(b, "sinh", x.real), *c = unary(b, "cosh", x.real);
  Node *cos = unary(b, "cos", x.imag), *sin = unary(b, "sin", x.imag);
  return cosine ? ComplexParts{b.mul(c, cos), b.mul(s, sin)} : ComplexParts{b.mul(s, cos), b.mul(c, sin)};
}

}  // namespace

Node* unary(Builder& b, const char* name, Node* x) { return b.call("aten." + std::string(name) + ".default", {x}); }

ComplexParts times(Builder& b, const ComplexParts& x, const ComplexParts& y) {
  Node* squares = b.mul(x.real, y.real);
  Node* real = b.sub(squares, b.mul(x.imag, y.imag));
  Node* crossed = b.mul(x.real, y.imag);
  return {real, b.add(crossed, b.mul(x.imag, y.real))};
}

Node* angle(Builder& b, const ComplexParts& x) { return b.call("aten.atan2.default", {x.imag, x.real}); }

/// The root of the sum of squares: `hypot`, as a kernel that fuses. float64 holds the squares of all float32 numbers;
/// its own parts are divided by the larger first.
Node* magnitude(Builder& b, const ComplexParts& x) {
  const DType part = x.real->tensor().dtype;
  Node* root = nullptr;
  if (part == DType::F64) {
    Node *real = unary(b, "abs", x.real), *imag = unary(b, "abs", x.imag);
    Node* larger = b.call("aten.maximum.default", {real, imag});
    Node* ratio = b.div(b.call("aten.minimum.default", {real, imag}), larger);
    Node* scaled = b.mul(larger, unary(b, "sqrt", b.add(b.mul(ratio, ratio), 1)));
    root = b.call("aten.where.self", {b.call("aten.eq.Scalar", {larger, 0}), larger, scaled});
  } else {
    Node *real = b.cast(x.real, DType::F64), *imag = b.cast(x.imag, DType::F64);
    root = b.cast(unary(b, "sqrt", b.add(b.mul(real, real), b.mul(imag, imag))), part);
  }
  Node* infinite = b.call("aten.logical_or.default", {unary(b, "isinf", x.real), unary(b, "isinf", x.imag)});
  Node* infinity = b.call("aten.full.default", {Argument::ints({}), HUGE_VAL}, {{"dtype", part}});
  return b.call("aten.where.self", {infinite, infinity, root});
}

/// Smith's method: by the quotient of the divisor's parts, the smaller by the larger, so that no square overflows. 0 /
/// 0 is for the division to say.
ComplexParts quotient(Builder& b, const ComplexParts& x, const ComplexParts& y) {
  Node *size = unary(b, "abs", y.real), *other = unary(b, "abs", y.imag);
  Node* steep = b.call("aten.lt.Tensor", {size, other});
  const auto chosen = [&](Node* if_steep, Node* flat) { return b.call("aten.where.self", {steep, if_steep, flat}); };
  Node *larger = chosen(y.imag, y.real), *smaller = chosen(y.real, y.imag);
  Node* ratio = b.div(smaller, larger);
  Node* scale = unary(b, "reciprocal", b.add(larger, b.mul(smaller, ratio)));
  // Of the dividend, what the larger part belongs to.
  Node *p = chosen(x.imag, x.real), *q = chosen(x.real, x.imag);
  Node* real = b.mul(b.add(p, b.mul(q, ratio)), scale);
  Node* crossed = b.mul(b.sub(q, b.mul(p, ratio)), scale);
  Node* imag = chosen(b.neg(crossed), crossed);
  Node* none =
      b.call("aten.logical_and.default", {b.call("aten.eq.Scalar", {size, 0}), b.call("aten.eq.Scalar", {other, 0})});
  return {b.call("aten.where.self", {none, b.div(x.real, size), real}),
          b.call("aten.where.self", {none, b.div(x.imag, other), imag})};
}

ComplexParts negative(Builder& b, const ComplexParts& x) { return {b.neg(x.real), b.neg(x.imag)}; }
ComplexParts exponential(Builder& b, const ComplexParts& x) {
  Node* size = unary(b, "exp", x.real);
  return {b.mul(size, unary(b, "cos", x.imag)), b.mul(size, unary(b, "sin", x.imag))};
}
ComplexParts exponential_2(Builder& b, const ComplexParts& x) {
  return exponential(b, scaled(b, x, std::numbers::ln2));
}
/// cos y = 1 - 2 sin^2(y / 2), so that nothing cancels.
ComplexParts exponential_less_1(Builder& b, const ComplexParts& x) {
  Node *half = unary(b, "sin", b.mul(x.imag, 0.5)), *less = unary(b, "expm1", x.real);
  Node* real = b.sub(b.mul(less, unary(b, "cos", x.imag)), b.mul(b.mul(half, half), 2));
  return {real, b.mul(unary(b, "exp", x.real), unary(b, "sin", x.imag))};
}
ComplexParts logarithm(Builder& b, const ComplexParts& x) { return {unary(b, "log", magnitude(b, x)), angle(b, x)}; }
/// Of the larger part first, the other from it: no digits are lost where the number is nearly real and negative.
ComplexParts square_root(Builder& b, const ComplexParts& x) {
  Node* half = unary(b, "sqrt", b.mul(b.add(unary(b, "abs", x.real), magnitude(b, x)), 0.5));
  Node* none = b.call("aten.eq.Scalar", {half, 0});
  Node* other = b.call("aten.where.self", {none, half, b.div(unary(b, "abs", x.imag), b.mul(half, 2))});
  Node* right = b.call("aten.ge.Scalar", {x.real, 0});
  Node* imag = b.call("aten.where.self", {right, other, half});
  return {b.call("aten.where.self", {right, half, other}), b.call("aten.copysign.Tensor", {imag, x.imag})};
}

/// exp(y log x); 0 stays 0, and any number to the power 0 is 1. What y log x is off shows as many times as it is large:
/// float32 goes through float64.
ComplexParts power(Builder& b, const ComplexParts& x, const ComplexParts& y) {
  const DType part = x.real->tensor().dtype;
  const auto parts_as = [&](DType dtype, const ComplexParts& z) {
    return ComplexParts{b.cast(z.real, dtype), b.cast(z.imag, dtype)};
  };
  const ComplexParts wide = times(b, parts_as(DType::F64, y), logarithm(b, parts_as(DType::F64, x)));
  const ComplexParts p = parts_as(part, exponential(b, wide));
  const auto is_zero = [&](const ComplexParts& z) {
    return b.call("aten.logical_and.default",
                  {b.call("aten.eq.Scalar", {z.real, 0}), b.call("aten.eq.Scalar", {z.imag, 0})});
  };
  Node *zero = is_zero(x), *one = is_zero(y);
  const auto number = [&](double v) {
    return b.call("aten.full.default", {Argument::ints({}), v}, {{"dtype", p.real->tensor().dtype}});
  };
  const auto chosen = [&](Node* part, double of_one) {
    Node* of_zero = b.call("aten.where.self", {zero, number(0.0), part});
    return b.call("aten.where.self", {one, number(of_one), of_zero});
  };
  return {chosen(p.real, 1), chosen(p.imag, 0)};
}

/// Kahan's form of tanh; past 20 it is a sign to the last digit, and the squares could overflow.
ComplexParts hyperbolic_tangent(Builder& b, const ComplexParts& x) {
  Node *t = unary(b, "tan", x.imag), *s = unary(b, "sinh", x.real);
  Node *beta = b.add(b.mul(t, t), 1), *rho = unary(b, "sqrt", b.add(b.mul(s, s), 1));
  Node* below = b.add(b.mul(beta, b.mul(s, s)), 1);
  Node* far = b.call("aten.gt.Scalar", {unary(b, "abs", x.real), 20});
  Node* real = b.div(b.mul(b.mul(beta, rho), s), below);
  return {b.call("aten.where.self", {far, unary(b, "sign", x.real), real}),
          b.call("aten.where.self", {far, b.mul(x.imag, 0.0), b.div(t, below)})};
}

ComplexParts inverse(Builder& b, const ComplexParts& x) {
  Node* one = b.call("aten.full.default", {Argument::ints({}), 1.0}, {{"dtype", x.real->tensor().dtype}});
  Node* zero = b.call("aten.full.default", {Argument::ints({}), 0.0}, {{"dtype", x.real->tensor().dtype}});
  return quotient(b, {one, zero}, x);
}
ComplexParts inverse_root(Builder& b, const ComplexParts& x) { return inverse(b, square_root(b, x)); }
ComplexParts logistic(Builder& b, const ComplexParts& x) {
  const ComplexParts e = exponential(b, negative(b, x));
  return inverse(b, {b.add(e.real, 1), e.imag});
}
ComplexParts logarithm_2(Builder& b, const ComplexParts& x) {
  return scaled(b, logarithm(b, x), 1 / std::numbers::ln2);
}
ComplexParts logarithm_10(Builder& b, const ComplexParts& x) {
  return scaled(b, logarithm(b, x), 1 / std::numbers::ln10);
}
ComplexParts hyperbolic_sine(Builder& b, const ComplexParts& x) { return waves(b, x, false); }
ComplexParts hyperbolic_cosine(Builder& b, const ComplexParts& x) { return waves(b, x, true); }
// Of i x, turned back.
ComplexParts sine(Builder& b, const ComplexParts& x) { return turned_back(b, waves(b, turned(b, x), false)); }
ComplexParts cosine(Builder& b, const ComplexParts& x) { return waves(b, turned(b, x), true); }
ComplexParts tangent(Builder& b, const ComplexParts& x) { return turned_back(b, hyperbolic_tangent(b, turned(b, x))); }

}  // namespace strata::complex_formulas
