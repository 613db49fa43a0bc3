// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Activation functions. They stay whole (their bodies emit scalar code), so that a kernel shows them by name.

#include <numbers>

#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

constexpr auto kDefault = Promotion::Default;
using Ctx = const GradientContext&;

constexpr double kInvSqrt2 = 0.70710678118654752440;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;

/// Arithmetic on scalars of one type, for readable bodies.
struct Maths {
  Body& b;
  DType dtype;
  ScalarId c(double v) const { return b.constant(v, dtype); }
  ScalarId add(ScalarId x, ScalarId y) const { return b.binary(ScalarOp::Add, x, y); }
  ScalarId sub(ScalarId x, ScalarId y) const { return b.binary(ScalarOp::Sub, x, y); }
  ScalarId mul(ScalarId x, ScalarId y) const { return b.binary(ScalarOp::Mul, x, y); }
  ScalarId div(ScalarId x, ScalarId y) const { return b.binary(ScalarOp::Div, x, y); }
  ScalarId min(ScalarId x, ScalarId y) const { return b.binary(ScalarOp::Min, x, y); }
  ScalarId max(ScalarId x, ScalarId y) const { return b.binary(ScalarOp::Max, x, y); }
  ScalarId gt(ScalarId x, ScalarId y) const { return b.binary(ScalarOp::Gt, x, y); }
};
Maths maths(Body& b, Operands x) { return {b, b.dtype(x[0])}; }

Node* compare(Ctx c, const char* op, Node* x, double bound) { return c.b.call(op, {x, bound}); }
/// 0 where the mask holds, else `x`.
Node* zero_where(Ctx c, Node* mask, Node* x) { return c.b.call("aten.masked_fill.Scalar", {x, mask, 0.0}); }
Node* where(Ctx c, Node* mask, Node* a, Node* b) { return c.b.call("aten.where.self", {mask, a, b}); }
Node* one_minus(Ctx c, Node* x) { return c.b.add(c.b.neg(x), 1); }

// ---------------------------------------------------------------------------------------------------------------- relu

Rows relus() {
  Rows r;
  r.push_back(row(
      "aten::relu(Tensor self) -> Tensor", trait::Idempotent | trait::ZeroPreserving, kDefault, number_type,
      unary_reference<[](auto x) { return nan_max(x, decltype(x){0}); }>,
      [](Body& b, const Call&, Operands x) {
        const DType d = b.dtype(x[0]);
        return b.binary(ScalarOp::Max, x[0], is_floating(d) ? b.constant(0, d) : b.integer(0, d));
      },
      gradient_of<[](Ctx c) { return zero_where(c, compare(c, "aten.le.Scalar", c.y, 0), c.dy); }>, "max(x, 0)"));
  r.push_back(row(
      "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", trait::ZeroPreserving, kDefault,
      floating_type, float_reference_with<[](const RefContext& c) {
        return [slope = scalar_value(c, 1)](auto x) { return 0 < x ? x : x * static_cast<decltype(x)>(slope); };
      }>,
      [](Body& b, const Call& call, Operands x) {
        const Maths m = maths(b, x);
        return b.select(m.gt(x[0], m.c(0)), x[0], m.mul(x[0], body_number(b, call, 1, m.dtype)));
      },
      gradient_of<[](Ctx c) {
        return where(c, compare(c, "aten.gt.Scalar", c.x(), 0), c.dy, c.b.mul(c.dy, c.arg(1)));
      }>,
      "x where positive, else negative_slope * x"));
  r.push_back(row(
      "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", trait::ZeroPreserving,
      kDefault, floating_type, float_reference_with<[](const RefContext& c) {
        return [a = scalar_value(c, 1), s = scalar_value(c, 2), i = scalar_value(c, 3)](auto x) {
          using T = decltype(x);
          return x < 0 ? std::expm1(x * static_cast<T>(i)) * static_cast<T>(a * s) : x * static_cast<T>(s);
        };
      }>,
      [](Body& b, const Call& call, Operands x) {
        const Maths m = maths(b, x);
        const double scale = call.number(2);
        const ScalarId negative =
            m.mul(b.unary(ScalarOp::Expm1, m.mul(x[0], m.c(call.number(3)))), m.c(call.number(1) * scale));
        return b.select(b.binary(ScalarOp::Lt, x[0], m.c(0)), negative, m.mul(x[0], m.c(scale)));
      },
      gradient_of<[](Ctx c) {
        const double scale = c.call.number(2), input_scale = c.call.number(3);
        Node* e = c.b.call("aten.exp.default", {c.b.mul(c.x(), input_scale)});
        Node* negative = c.b.mul(c.b.mul(c.dy, e), c.call.number(1) * scale * input_scale);
        return where(c, compare(c, "aten.gt.Scalar", c.x(), 0), c.b.mul(c.dy, scale), negative);
      }>,
      "scale * x where positive, else scale * alpha * (exp(input_scale * x) - 1)"));
  return r;
}

// ---------------------------------------------------------------------------------------------------------------- gelu

bool is_tanh_gelu(const Call& call) {
  const std::string approximate = call.string(1);
  if (approximate != "none" && approximate != "tanh")
    reject(call, "approximate must be 'none' or 'tanh', found '" + approximate + "'");
  return approximate == "tanh";
}

Type gelu_type(const Call& call) {
  is_tanh_gelu(call);
  return floating_type(call);
}

ScalarId gelu_body(Body& b, const Call& call, Operands x) {
  const Maths m = maths(b, x);
  const ScalarId v = x[0], half = m.mul(m.c(0.5), v);
  if (!is_tanh_gelu(call)) return m.mul(half, m.add(m.c(1), b.unary(ScalarOp::Erf, m.mul(v, m.c(kInvSqrt2)))));
  const ScalarId cube = m.mul(m.mul(v, v), v);
  const ScalarId inner = m.mul(m.c(kSqrt2OverPi), m.add(v, m.mul(m.c(kGeluCubic), cube)));
  return m.mul(half, m.add(m.c(1), b.unary(ScalarOp::Tanh, inner)));
}

Node* gelu_erf_gradient(Ctx c) {
  Node* x = c.x();
  Node* cdf = c.b.mul(c.b.add(c.b.call("aten.erf.default", {c.b.mul(x, kInvSqrt2)}), 1), 0.5);
  Node* pdf =
      c.b.mul(c.b.call("aten.exp.default", {c.b.mul(c.b.mul(x, x), -0.5)}), kInvSqrt2 * std::numbers::inv_sqrtpi);
  return c.b.mul(c.dy, c.b.add(cdf, c.b.mul(x, pdf)));
}

Node* gelu_tanh_gradient(Ctx c) {
  Node* x = c.x();
  Node* square = c.b.mul(x, x);
  Node* t = c.b.call("aten.tanh.default", {c.b.mul(c.b.mul(x, c.b.add(c.b.mul(square, kGeluCubic), 1)), kSqrt2OverPi)});
  Node* slope = c.b.mul(c.b.add(c.b.mul(square, 3 * kGeluCubic), 1), kSqrt2OverPi);
  Node* left = c.b.mul(c.b.add(t, 1), 0.5);
  Node* right = c.b.mul(c.b.mul(c.b.mul(x, 0.5), one_minus(c, c.b.mul(t, t))), slope);
  return c.b.mul(c.dy, c.b.add(left, right));
}

Rows gelus() {
  Rows r;
  r.push_back(row(
      "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", trait::ZeroPreserving, kDefault, gelu_type,
      float_reference_with<[](const RefContext& c) {
        return [tanh = is_tanh_gelu(c.call)](auto x) {
          using T = decltype(x);
          if (!tanh) return x * T(0.5) * (T(1) + std::erf(x * T(kInvSqrt2)));
          return T(0.5) * x * (T(1) + std::tanh(T(kSqrt2OverPi) * (x + T(kGeluCubic) * x * x * x)));
        };
      }>,
      gelu_body, gradient_of<[](Ctx c) { return is_tanh_gelu(c.call) ? gelu_tanh_gradient(c) : gelu_erf_gradient(c); }>,
      "x times the normal distribution's cumulative function, exact or by tanh"));
  return r;
}

// ------------------------------------------------------------------------------------------------------------- sigmoid
// family

Type silu_type(const Call& call) {
  return is_complex(tensor_type(call, 0).dtype) ? pointwise_type(call) : floating_type(call);
}

Rows sigmoids() {
  Rows r;
  r.push_back(row(
      "aten::silu(Tensor self) -> Tensor", trait::ZeroPreserving, kDefault, silu_type,
      float_reference<[](auto x) { return x / (decltype(x){1} + std::exp(-x)); }>,
      [](Body& b, const Call&, Operands x) {
        const Maths m = maths(b, x);
        return m.div(x[0], m.add(m.c(1), b.unary(ScalarOp::Exp, b.unary(ScalarOp::Neg, x[0]))));
      },
      gradient_of<[](Ctx c) {
        Node* s = c.b.call("aten.sigmoid.default", {c.x()});
        return c.b.mul(c.dy, c.b.mul(s, c.b.add(c.b.mul(c.x(), one_minus(c, s)), 1)));
      }>,
      "x * sigmoid(x)"));
  r.push_back(row(
      "aten::log_sigmoid(Tensor self) -> Tensor", 0, kDefault, floating_type,
      float_reference<[](auto x) { return std::min(decltype(x){0}, x) - std::log1p(std::exp(-std::abs(x))); }>,
      [](Body& b, const Call&, Operands x) {
        const Maths m = maths(b, x);
        const ScalarId e = b.unary(ScalarOp::Exp, b.unary(ScalarOp::Neg, b.unary(ScalarOp::Abs, x[0])));
        return m.sub(m.min(m.c(0), x[0]), b.unary(ScalarOp::Log1p, e));
      },
      gradient_of<[](Ctx c) { return c.b.mul(c.dy, c.b.call("aten.sigmoid.default", {c.b.neg(c.x())})); }>,
      "log(sigmoid(x)) without overflow"));
  r.push_back(row(
      "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", 0, kDefault, floating_type,
      float_reference_with<[](const RefContext& c) {
        return [beta = scalar_value(c, 1), threshold = scalar_value(c, 2)](auto x) {
          using T = decltype(x);
          const T scaled = x * static_cast<T>(beta);
          return static_cast<T>(threshold) < scaled ? x : std::log1p(std::exp(scaled)) / static_cast<T>(beta);
        };
      }>,
      [](Body& b, const Call& call, Operands x) {
        const Maths m = maths(b, x);
        const ScalarId beta = body_number(b, call, 1, m.dtype), scaled = m.mul(x[0], beta);
        const ScalarId soft = m.div(b.unary(ScalarOp::Log1p, b.unary(ScalarOp::Exp, scaled)), beta);
        return b.select(m.gt(scaled, body_number(b, call, 2, m.dtype)), x[0], soft);
      },
      gradient_of<[](Ctx c) {
        Node* scaled = c.b.mul(c.x(), c.arg(1));
        Node* soft = c.b.mul(c.dy, c.b.call("aten.sigmoid.default", {scaled}));
        return where(c, c.b.call("aten.gt.Scalar", {scaled, c.arg(2)}), c.dy, soft);
      }>,
      "log(1 + exp(beta * x)) / beta, linear above the threshold"));
  r.push_back(row(
      "aten::mish(Tensor self) -> Tensor", trait::ZeroPreserving, kDefault, floating_type,
      float_reference<[](auto x) { return x * std::tanh(std::log1p(std::exp(x))); }>,
      [](Body& b, const Call&, Operands x) {
        const ScalarId soft = b.unary(ScalarOp::Log1p, b.unary(ScalarOp::Exp, x[0]));
        return b.binary(ScalarOp::Mul, x[0], b.unary(ScalarOp::Tanh, soft));
      },
      gradient_of<[](Ctx c) {
        Node* t = c.b.call("aten.tanh.default", {c.b.call("aten.softplus.default", {c.x()})});
        Node* s = c.b.call("aten.sigmoid.default", {c.x()});
        Node* slope = c.b.mul(c.b.mul(c.x(), s), one_minus(c, c.b.mul(t, t)));
        return c.b.mul(c.dy, c.b.add(t, slope));
      }>,
      "x * tanh(softplus(x))"));
  return r;
}

// ---------------------------------------------------------------------------------------------------------------- hard
// forms

/// min(max(x + 3, 0), 6), NaN kept.
template <class T>
T relu6_shifted(T x) {
  return nan_min(nan_max(x + T(3), T(0)), T(6));
}
ScalarId relu6_shifted(const Maths& m, ScalarId x) { return m.min(m.max(m.add(x, m.c(3)), m.c(0)), m.c(6)); }

/// Clamps to parameters 1 and 2.
ScalarId hardtanh_body(Body& b, const Call& call, Operands x) {
  const DType d = b.dtype(x[0]);
  return b.binary(ScalarOp::Min, b.binary(ScalarOp::Max, x[0], body_number(b, call, 1, d)), body_number(b, call, 2, d));
}

Node* hardswish_gradient(Ctx c) {
  Node* middle = c.b.mul(c.dy, c.b.add(c.b.div(c.x(), 3.0), 0.5));
  Node* upper = where(c, compare(c, "aten.lt.Scalar", c.x(), 3), middle, c.dy);
  return zero_where(c, compare(c, "aten.le.Scalar", c.x(), -3), upper);
}

/// dy where lower < x < upper, else 0.
Node* inside(Ctx c, const Argument& lower, const Argument& upper, Node* dy) {
  Node* below = c.b.call("aten.le.Scalar", {c.x(), lower});
  Node* above = c.b.call("aten.ge.Scalar", {c.x(), upper});
  return zero_where(c, c.b.call("aten.logical_or.default", {below, above}), dy);
}

/// Integers have integers for bounds here; PyTorch would cut the fractions off.
Type hardtanh_type(const Call& call) {
  const Type type = number_type(call);
  if (type.tensor.dtype != tensor_type(call, 0).dtype) reject(call, "expected integers as the bounds of integers");
  if (call.size() == 3 && type.tensor.dtype == DType::U8 && (call.number(1) < 0 || call.number(2) < 0))
    reject(call, "cannot do hardtanh on an unsigned type with negative limits");
  return type;
}

Rows hard() {
  Rows r;
  r.push_back(row(
      "aten::hardsigmoid(Tensor self) -> Tensor", 0, kDefault, floating_type,
      float_reference<[](auto x) { return relu6_shifted(x) / decltype(x){6}; }>,
      [](Body& b, const Call&, Operands x) {
        const Maths m = maths(b, x);
        return m.div(relu6_shifted(m, x[0]), m.c(6));
      },
      gradient_of<[](Ctx c) { return inside(c, -3.0, 3.0, c.b.div(c.dy, 6.0)); }>, "clamp(x + 3, 0, 6) / 6"));
  r.push_back(row(
      "aten::hardswish(Tensor self) -> Tensor", trait::ZeroPreserving, kDefault, floating_type,
      float_reference<[](auto x) { return x * relu6_shifted(x) / decltype(x){6}; }>,
      [](Body& b, const Call&, Operands x) {
        const Maths m = maths(b, x);
        return m.div(m.mul(x[0], relu6_shifted(m, x[0])), m.c(6));
      },
      gradient_of<hardswish_gradient>, "x * clamp(x + 3, 0, 6) / 6"));
  r.push_back(row("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", trait::Idempotent,
                  kDefault, hardtanh_type, unary_reference_with<[](const RefContext& c) {
                    return [lo = scalar_value(c, 1), hi = scalar_value(c, 2)](auto x) {
                      using T = decltype(x);
                      return nan_min(nan_max(x, static_cast<T>(lo)), static_cast<T>(hi));
                    };
                  }>,
                  hardtanh_body, gradient_of<[](Ctx c) { return inside(c, c.arg(1), c.arg(2), c.dy); }>,
                  "clamp to [min_val, max_val]"));
  return r;
}

}  // namespace

Rows activations() {
  Rows rows;
  for (auto part : {relus, gelus, sigmoids, hard}) append(rows, part());
  rows.push_back(compound(
      "aten::relu6(Tensor self) -> Tensor", 0, number_type,
      [](Builder& b, const Call& c) -> std::vector<Node*> {
        return {b.call("aten.hardtanh.default", {c.tensor(0), 0, 6})};
      },
      "clamp to [0, 6]"));
  return rows;
}

}  // namespace strata::ops
