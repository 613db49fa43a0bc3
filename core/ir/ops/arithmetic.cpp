// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic of two operands, with PyTorch's promotion; integers wrap, `//` and `%` round like Python's.

#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

constexpr auto kDefault = Promotion::Default;
using Ctx = const GradientContext&;

Node* where(Ctx c, Node* mask, Node* a, Node* b) { return c.b.call("aten.where.self", {mask, a, b}); }
Node* zero_where(Ctx c, Node* mask, Node* x) { return c.b.call("aten.masked_fill.Scalar", {x, mask, 0.0}); }

// ------------------------------------------------------------------------------------------------------------- add and
// sub

/// `a op alpha * b`; alpha is parameter 2.
template <ScalarOp Op>
ScalarId scaled_body(Body& b, const Call& call, Operands x) {
  ScalarId other = body_operand(b, call, x, 1);
  const Argument& alpha = call.arg(2);
  if (alpha.node() || alpha.as<SymInt>() || call.number(2) != 1)
    other = b.binary(ScalarOp::Mul, other, body_number(b, call, 2, body_dtype(b, x)));
  const ScalarId self = body_operand(b, call, x, 0);
  if (body_dtype(b, x) == DType::Bool)
    return b.binary(ScalarOp::Or, self, other);  // only add: PyTorch refuses bool - bool
  return b.binary(Op, self, other);
}

/// `sign` +1 or -1: self + sign * alpha * other.
template <int Sign>
RefValue scaled_reference(const RefContext& c) {
  const bool bools = pointwise_compute_dtype(c.call) == DType::Bool;
  return map_reference<2>(c, {0, 1}, [bools](const RefContext& r) {
    return [bools, alpha = scalar_value(r, 2)](auto a, auto b) {
      using T = decltype(a);
      const T scaled = wrap_mul(b, static_cast<T>(alpha));
      if (bools) return static_cast<T>(a != T{0} || scaled != T{0});
      return Sign > 0 ? wrap_add(a, scaled) : wrap_sub(a, scaled);
    };
  });
}

Node* scaled(Ctx c, Node* x) {
  const Argument& alpha = c.arg(2);
  return !alpha.node() && !alpha.as<SymInt>() && c.call.number(2) == 1 ? x : c.b.mul(x, alpha);
}

constexpr auto kSame = [](Ctx c) { return c.dy; };

/// PyTorch subtracts no bools, from anything.
Type difference_type(const Call& call) {
  for (const size_t i : {0, 1}) {
    const bool tensor = is_tensor(call, i);
    if (tensor ? tensor_type(call, i).dtype == DType::Bool : call.arg(i).as<bool>() != nullptr)
      reject(call, "expected numbers, found bool", "use logical or bitwise operators on bool");
  }
  return pointwise_type(call);
}

Rows sums() {
  const auto add = gradient_of<kSame, [](Ctx c) { return scaled(c, c.dy); }>;
  const auto sub = gradient_of<kSame, [](Ctx c) { return c.b.neg(scaled(c, c.dy)); }>;
  const auto rsub = [](const GradientCall& g) {
    return gradient_of<[](Ctx c) { return c.b.neg(scaled(c, c.dy)); }, [](Ctx c) { return c.dy; }>(g);
  };
  Rows r;
  r.push_back(row("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", trait::Commutative,
                  kDefault, pointwise_type, scaled_reference<1>, scaled_body<ScalarOp::Add>, add,
                  "self + alpha * other"));
  r.push_back(row("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 0, kDefault, pointwise_type,
                  scaled_reference<1>, scaled_body<ScalarOp::Add>, gradient_of<kSame>, "self + alpha * other"));
  r.push_back(row("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 0, kDefault,
                  difference_type, scaled_reference<-1>, scaled_body<ScalarOp::Sub>, sub, "self - alpha * other"));
  r.push_back(row("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 0, kDefault, difference_type,
                  scaled_reference<-1>, scaled_body<ScalarOp::Sub>, gradient_of<kSame>, "self - alpha * other"));
  const Decompose swapped = [](Builder& b, const Call& c) -> std::vector<Node*> {
    return {b.call("aten.sub.Tensor", {c.arg(1), c.arg(0)}, {{"alpha", c.arg(2)}})};
  };
  const Decompose negated = [](Builder& b, const Call& c) -> std::vector<Node*> {
    Node* self = c.tensor(0);
    const Argument& alpha = c.arg(2);
    return {b.add(b.neg(alpha.node() || c.number(2) != 1 ? b.mul(self, alpha) : self), c.arg(1))};
  };
  r.push_back(OpDef("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", OpClass::Compound, 0,
                    kDefault, difference_type, nullptr, swapped, Gradient(rsub), NoLowering{}, "",
                    "other - alpha * self"));
  r.push_back(OpDef("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", OpClass::Compound, 0,
                    kDefault, difference_type, nullptr, negated,
                    gradient_of<[](Ctx c) { return c.b.neg(scaled(c, c.dy)); }>, NoLowering{}, "",
                    "other - alpha * self"));
  return r;
}

// ------------------------------------------------------------------------------------------------------------ products

ScalarId mul_body(Body& b, const Call& call, Operands x) {
  const ScalarOp op = body_dtype(b, x) == DType::Bool ? ScalarOp::And : ScalarOp::Mul;
  return b.binary(op, body_operand(b, call, x, 0), body_operand(b, call, x, 1));
}
constexpr auto kTimesOther = [](Ctx c) { return c.b.mul(c.dy, c.arg(1)); };
constexpr auto kOverOther = [](Ctx c) { return c.b.div(c.dy, c.arg(1)); };
/// Gradient of a / b by b: -dy * (a / b) / b.
constexpr auto kQuotientOther = [](Ctx c) -> Node* { return c.b.neg(c.b.div(c.b.mul(c.dy, c.y), c.arg(1))); };

Rows products() {
  constexpr auto product = binary_reference<[](auto a, auto b) { return wrap_mul(a, b); }>;
  constexpr auto quotient = float_binary_reference<[](auto a, auto b) { return a / b; }>;
  Rows r;
  r.push_back(row("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", trait::Commutative | trait::WideFactor,
                  kDefault, pointwise_type, product, mul_body,
                  gradient_of<kTimesOther, [](Ctx c) -> Node* { return c.b.mul(c.dy, c.arg(0)); }>, "self * other"));
  r.push_back(row("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", trait::WideFactor, kDefault, pointwise_type,
                  product, mul_body, gradient_of<kTimesOther>, "self * other"));
  r.push_back(row("aten::div.Tensor(Tensor self, Tensor other) -> Tensor", trait::WideFactor, Promotion::IntToFloat,
                  pointwise_type, quotient, binary_body<ScalarOp::Div>, gradient_of<kOverOther, kQuotientOther>,
                  "self / other in floating point"));
  r.push_back(row("aten::div.Scalar(Tensor self, Scalar other) -> Tensor", trait::WideFactor, Promotion::IntToFloat,
                  pointwise_type, quotient, binary_body<ScalarOp::Div>, gradient_of<kOverOther>,
                  "self / other in floating point"));
  return r;
}

// ---------------------------------------------------------------------------------------------------- rounded division

template <class T>
void check_divisor(T b) {
  if (std::is_integral_v<T> && b == T{0}) throw_user("integer division by zero");
}
/// Divisions of the smallest integer by -1 wrap instead of trapping.
inline int64_t int_div(int64_t a, int64_t b) { return b == -1 ? wrap_neg(a) : a / b; }
inline int64_t int_rem(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

template <class T>
T floor_division(T a, T b) {
  check_divisor(b);
  if constexpr (std::is_integral_v<T>) {
    const T q = int_div(a, b);
    return int_rem(a, b) != 0 && (a < 0) != (b < 0) ? q - 1 : q;
  } else {
    // Python's rule (CPython's float_divmod): exact remainder first, so that floor(a / b) is not off by one through
    // rounding.
    if (b == 0) return a / b;
    T rest = std::fmod(a, b), q = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) q -= T(1);
    if (q == 0) return std::copysign(T(0), a / b);
    const T f = std::floor(q);
    return q - f > T(0.5) ? f + T(1) : f;
  }
}

template <class T>
T python_remainder(T a, T b) {
  check_divisor(b);
  if constexpr (std::is_integral_v<T>) {
    const T rest = int_rem(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

template <class T>
T truncated_division(T a, T b) {
  check_divisor(b);
  if constexpr (std::is_integral_v<T>)
    return int_div(a, b);
  else
    return std::trunc(a / b);
}

template <class T>
T c_remainder(T a, T b) {
  check_divisor(b);
  if constexpr (std::is_integral_v<T>)
    return int_rem(a, b);
  else
    return std::fmod(a, b);
}

/// An integer divisor of 0 ends the run, as PyTorch's ZeroDivisionError does.
template <ScalarOp Op>
ScalarId division_body(Body& b, const Call& call, Operands x) {
  const ScalarId a = body_operand(b, call, x, 0);
  ScalarId divisor = body_operand(b, call, x, 1);
  if (const DType d = b.dtype(divisor); is_integral(d)) {
    const ScalarId holds = b.binary(ScalarOp::Ne, divisor, b.integer(0, d));
    divisor = b.check(divisor, holds, b.integer(1, d), {loop::Check::Kind::Divisor, 0, false, {}, {}, 0});
  }
  return b.binary(Op, a, divisor);
}

/// Body of truncated division: integer Div truncates already.
ScalarId trunc_div_body(Body& b, const Call& call, Operands x) {
  const ScalarId q = division_body<ScalarOp::Div>(b, call, x);
  return is_floating(b.dtype(q)) ? b.unary(ScalarOp::Trunc, q) : q;
}

enum class Rounding : uint8_t { None, Floor, Trunc };
Rounding rounding_mode(const Call& call) {
  if (call.is_none(2)) return Rounding::None;
  const std::string mode = call.string(2);
  if (mode == "floor") return Rounding::Floor;
  if (mode == "trunc") return Rounding::Trunc;
  reject(call, "rounding_mode must be None, 'floor' or 'trunc', found '" + mode + "'");
}

/// True division turns integers into floats, the rounded ones keep them: a row has one promotion, so the mode chooses
/// among rows.
std::vector<Node*> div_mode(Builder& b, const Call& c) {
  constexpr const char* rows[] = {"aten.div.Tensor", "aten.floor_divide.default", "prims.div_trunc.default"};
  return {b.call(rows[static_cast<size_t>(rounding_mode(c))], {c.arg(0), c.arg(1)})};
}
Type div_mode_type(const Call& c) {
  DType d = pointwise_compute_dtype(c);
  if (rounding_mode(c) == Rounding::None && !is_floating(d)) d = DType::F32;
  if (d == DType::Bool) reject(c, "expected numbers, found bool");
  return broadcast_type(c, d);
}

/// Gradient of a - b * q, q constant: to b goes -dy * q.
constexpr auto kMinusFloor = [](Ctx c) -> Node* {
  return c.b.neg(c.b.mul(c.dy, c.b.call("aten.floor_divide.default", {c.x(), c.arg(1)})));
};
constexpr auto kMinusTrunc = [](Ctx c) -> Node* {
  return c.b.neg(c.b.mul(c.dy, c.b.call("prims.div_trunc.default", {c.x(), c.arg(1)})));
};

/// Of bools and numbers, too, but not of bools alone.
Type mixed_number_type(const Call& call) {
  if (pointwise_compute_dtype(call) == DType::Bool) reject(call, "expected numbers, found bool");
  return pointwise_type(call);
}

Rows divisions() {
  constexpr auto zeros = [](Ctx c) -> Node* { return c.b.mul(c.dy, 0.0); };
  constexpr auto floor_div = binary_reference<[](auto a, auto b) { return floor_division(a, b); }>;
  constexpr auto trunc_div = binary_reference<[](auto a, auto b) { return truncated_division(a, b); }>;
  constexpr auto remainder = binary_reference<[](auto a, auto b) { return python_remainder(a, b); }>;
  constexpr auto fmod = binary_reference<[](auto a, auto b) { return c_remainder(a, b); }>;
  Rows r;
  r.push_back(row("aten::floor_divide(Tensor self, Tensor other) -> Tensor", trait::WideFactor, kDefault,
                  mixed_number_type, floor_div, division_body<ScalarOp::FloorDiv>, gradient_of<zeros, zeros>,
                  "Python's self // other"));
  r.push_back(row("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", trait::WideFactor, kDefault,
                  mixed_number_type, floor_div, division_body<ScalarOp::FloorDiv>, gradient_of<zeros>,
                  "Python's self // other"));
  r.push_back(row("prims::div_trunc(Tensor self, Tensor other) -> Tensor", trait::WideFactor, kDefault,
                  mixed_number_type, trunc_div, trunc_div_body, gradient_of<zeros, zeros>,
                  "self / other rounded towards zero"));
  r.push_back(row("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", 0, kDefault, mixed_number_type,
                  remainder, division_body<ScalarOp::Mod>, gradient_of<kSame, kMinusFloor>,
                  "Python's self % other: the divisor's sign"));
  r.push_back(row("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", 0, kDefault, mixed_number_type,
                  remainder, division_body<ScalarOp::Mod>, gradient_of<kSame>,
                  "Python's self % other: the divisor's sign"));
  r.push_back(row("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", 0, kDefault, mixed_number_type,
                  remainder, division_body<ScalarOp::Mod>, NoGradient::Pending,
                  "Python's self % other: the divisor's sign"));
  r.push_back(row("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", 0, kDefault, mixed_number_type, fmod,
                  division_body<ScalarOp::Fmod>, gradient_of<kSame, kMinusTrunc>,
                  "C's remainder: the dividend's sign"));
  r.push_back(row("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", 0, kDefault, mixed_number_type, fmod,
                  division_body<ScalarOp::Fmod>, gradient_of<kSame>, "C's remainder: the dividend's sign"));
  for (const char* schema : {"aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
                             "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"})
    r.push_back(OpDef(schema, OpClass::Compound, 0, kDefault, div_mode_type, nullptr, div_mode, NoGradient::Pending,
                      NoLowering{}, "", "self / other, rounded as rounding_mode says"));
  return r;
}

// -------------------------------------------------------------------------------------------------------------- powers

template <class T>
T power(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    T result = 1;
    for (; b > 0; b >>= 1, a = wrap_mul(a, a))
      if (b & 1) result = wrap_mul(result, a);
    return result;
  } else {
    return std::pow(a, b);
  }
}

Type pow_type(const Call& call) {
  const bool negative = call.op().schema.params[1].type == "Scalar" && call.is_integer_scalar(1) &&
                        !call.arg(1).node() && !call.arg(1).as<SymInt>() && call.number(1) < 0;
  if (negative && !is_floating(tensor_type(call, 0).dtype))
    reject(call, "integers to negative integer powers are not defined");
  return mixed_number_type(call);
}

/// x ** n by multiplications for the small exponents that programs use; the general function else.
ScalarId pow_scalar_body(Body& b, const Call& call, Operands x) {
  const Argument& e = call.arg(1);
  const ScalarId v = x[0];
  if (e.node() || e.as<SymInt>()) return b.binary(ScalarOp::Pow, v, body_number(b, call, 1, b.dtype(v)));
  const double n = call.number(1);
  const bool floating = is_floating(b.dtype(v));
  if (n == 1) return v;
  if (n == 2 || n == 3) {
    const ScalarId square = b.binary(ScalarOp::Mul, v, v);
    return n == 2 ? square : b.binary(ScalarOp::Mul, square, v);
  }
  if (floating && n == 0.5) return b.unary(ScalarOp::Sqrt, v);
  if (floating && n == -0.5) return b.unary(ScalarOp::Rsqrt, v);
  if (floating && n == -1) return b.unary(ScalarOp::Reciprocal, v);
  return b.binary(ScalarOp::Pow, v, body_number(b, call, 1, b.dtype(v)));
}

/// PyTorch computes x ** 0.5 as sqrt(x) and x ** -0.5 as 1 / sqrt(x): they differ from pow at -inf and -0.
RefValue pow_scalar_reference(const RefContext& c) {
  return map_reference<2>(c, {0, 1}, [](const RefContext& r) {
    const double n = scalar_value(r, 1);
    return [n](auto a, auto e) {
      using T = decltype(a);
      if constexpr (std::is_floating_point_v<T>) {
        if (n == 0.5) return std::sqrt(a);
        if (n == -0.5) return T(1) / std::sqrt(a);
        if (n == 2) return a * a;
        if (n == 3) return a * a * a;
      }
      return power(a, e);
    };
  });
}

Node* pow_scalar_gradient(Ctx c) {
  const double n = c.call.number(1);
  if (n == 0) return c.b.mul(c.dy, 0.0);
  if (n == 1) return c.dy;
  Node* lower = n == 2 ? c.x() : c.b.call("aten.pow.Tensor_Scalar", {c.x(), n - 1});
  return c.b.mul(c.dy, c.b.mul(lower, n));
}
/// dy * b * a ** (b - 1), 0 where b is 0.
Node* pow_base_gradient(Ctx c) {
  Node* lower = c.b.call("aten.pow.Tensor_Tensor", {c.x(0), c.b.sub(c.x(1), 1)});
  Node* full = c.b.mul(c.b.mul(c.dy, c.x(1)), lower);
  return zero_where(c, c.b.call("aten.eq.Scalar", {c.x(1), 0}), full);
}
/// dy * y * log(a), 0 where a is 0 and b not negative.
Node* pow_exponent_gradient(Ctx c) {
  Node* full = c.b.mul(c.dy, c.b.mul(c.y, c.b.call("aten.log.default", {c.x(0)})));
  Node* zero_base = c.b.call("aten.eq.Scalar", {c.x(0), 0});
  Node* not_negative = c.b.call("aten.ge.Scalar", {c.x(1), 0});
  return zero_where(c, c.b.call("aten.logical_and.default", {zero_base, not_negative}), full);
}
std::vector<Node*> pow_number_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  const double base = g.call.number(0);
  if (!cotangent(g) || !g.needed(1)) return out;
  Node* full =
      g.builder.mul(g.builder.mul(cotangent(g), const_cast<Node*>(&g.call.node())), base == 0 ? 0.0 : std::log(base));
  out[1] = fit(g.builder, full, g.call.tensor(1));
  return out;
}

Rows powers() {
  constexpr auto general = binary_reference<[](auto a, auto b) { return power(a, b); }>;
  Rows r;
  r.push_back(row("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", 0, kDefault, pow_type,
                  pow_scalar_reference, pow_scalar_body, gradient_of<pow_scalar_gradient>,
                  "self to the power of a number"));
  r.push_back(row("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", 0, kDefault, mixed_number_type,
                  general, binary_body<ScalarOp::Pow>, gradient_of<pow_base_gradient, pow_exponent_gradient>,
                  "self to the power of exponent"));
  r.push_back(row("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", 0, kDefault, mixed_number_type, general,
                  binary_body<ScalarOp::Pow>, Gradient(pow_number_gradient), "a number to the power of exponent"));
  return r;
}

// --------------------------------------------------------------------------------------------------- extrema and atan2

/// dy where a beats b, half of it where they are equal (as PyTorch), 0 elsewhere.
template <bool Larger, size_t Me>
Node* extremum_gradient(Ctx c) {
  Node* mine = c.x(Me);
  Node* other = c.x(1 - Me);
  Node* loses = c.b.call(Larger ? "aten.lt.Tensor" : "aten.gt.Tensor", {mine, other});
  Node* half = where(c, c.b.call("aten.eq.Tensor", {mine, other}), c.b.mul(c.dy, 0.5), c.dy);
  return zero_where(c, loses, half);
}

/// Bool's order is that of 0 and 1.
template <ScalarOp Op, ScalarOp BoolOp>
ScalarId extremum_body(Body& b, const Call& call, Operands x) {
  const ScalarOp op = body_dtype(b, x) == DType::Bool ? BoolOp : Op;
  return b.binary(op, body_operand(b, call, x, 0), body_operand(b, call, x, 1));
}

Rows extrema() {
  constexpr auto largest = gradient_of<extremum_gradient<true, 0>, extremum_gradient<true, 1>>;
  constexpr auto smallest = gradient_of<extremum_gradient<false, 0>, extremum_gradient<false, 1>>;
  constexpr uint32_t traits = trait::Commutative;
  Rows r;
  r.push_back(row("aten::maximum(Tensor self, Tensor other) -> Tensor", traits, kDefault, pointwise_type,
                  binary_reference<[](auto a, auto b) { return is_nan(b) ? b : nan_max(a, b); }>,
                  extremum_body<ScalarOp::Max, ScalarOp::Or>, largest, "the larger; NaN if either is"));
  r.push_back(row("aten::minimum(Tensor self, Tensor other) -> Tensor", traits, kDefault, pointwise_type,
                  binary_reference<[](auto a, auto b) { return is_nan(b) ? b : nan_min(a, b); }>,
                  extremum_body<ScalarOp::Min, ScalarOp::And>, smallest, "the smaller; NaN if either is"));
  r.push_back(row(
      "aten::fmax(Tensor self, Tensor other) -> Tensor", traits, kDefault, pointwise_type,
      binary_reference<[](auto a, auto b) { return is_nan(b) || b < a ? a : b; }>,
      [](Body& b, const Call& call, Operands x) {
        return is_floating(body_dtype(b, x)) ? binary_body<ScalarOp::Fmax>(b, call, x)
                                             : extremum_body<ScalarOp::Max, ScalarOp::Or>(b, call, x);
      },
      NoGradient::Pending, "the larger; NaN only if both are"));
  r.push_back(row(
      "aten::fmin(Tensor self, Tensor other) -> Tensor", traits, kDefault, pointwise_type,
      binary_reference<[](auto a, auto b) { return is_nan(b) || a < b ? a : b; }>,
      [](Body& b, const Call& call, Operands x) {
        return is_floating(body_dtype(b, x)) ? binary_body<ScalarOp::Fmin>(b, call, x)
                                             : extremum_body<ScalarOp::Min, ScalarOp::And>(b, call, x);
      },
      NoGradient::Pending, "the smaller; NaN only if both are"));
  for (const char* name : {"max", "min"})
    r.push_back(OpDef(
        "aten::" + std::string(name) + ".other(Tensor self, Tensor other) -> Tensor", OpClass::Compound, traits,
        kDefault, pointwise_type, nullptr,
        [](Builder& b, const Call& c) -> std::vector<Node*> {
          const bool larger = c.op().name == "aten.max.other";
          return {b.call(larger ? "aten.maximum.default" : "aten.minimum.default", {c.arg(0), c.arg(1)})};
        },
        NoGradient::Pending, NoLowering{}, "", "the larger or smaller of two tensors"));
  r.push_back(row("aten::atan2(Tensor self, Tensor other) -> Tensor", 0, Promotion::IntToFloat, pointwise_type,
                  float_binary_reference<[](auto a, auto b) { return std::atan2(a, b); }>, binary_body<ScalarOp::Atan2>,
                  gradient_of<[](Ctx c) -> Node* {
                    Node* norm = c.b.add(c.b.mul(c.x(0), c.x(0)), c.b.mul(c.x(1), c.x(1)));
                    return c.b.mul(c.dy, c.b.div(c.x(1), norm));
                  },
                              [](Ctx c) -> Node* {
                                Node* norm = c.b.add(c.b.mul(c.x(0), c.x(0)), c.b.mul(c.x(1), c.x(1)));
                                return c.b.neg(c.b.mul(c.dy, c.b.div(c.x(0), norm)));
                              }>,
                  "angle of the point (other, self)"));
  return r;
}

}  // namespace

Rows arithmetic() {
  Rows rows;
  for (auto part : {sums, products, divisions, powers, extrema}) append(rows, part());
  return rows;
}

}  // namespace strata::ops
