// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Special functions: elementwise, by functions of float64 numbers; and what is made of them.

#include <numbers>

#include "core/ir/ops/indexing.h"
#include "core/support/special_functions.h"

namespace strata::ops {
namespace {

/// `aten.special_i0e.default` is `i0e`.
std::string_view function_name(const OpDef& op) {
  std::string_view name = op.name;
  name.remove_prefix(5);
  if (name.starts_with("special_")) name.remove_prefix(8);
  return name.substr(0, name.find('.'));
}

const special::Function& function_of(const Call& call) { return *special::find(function_name(call.op())); }

/// Parameter `i` in the result's type, as float64 numbers of the result's shape.
Tensor numbers(const RefContext& c, size_t i, const std::vector<int64_t>& shape) {
  if (!is_tensor(c.call, i)) return expanded(Tensor::scalar(DType::F64, c.call.number(i)), shape);
  return expanded(converted(operand(c, i, reference_compute_dtype(c)), DType::F64), shape);
}

RefValue special_reference(const RefContext& c) {
  const special::Function& f = function_of(c.call);
  const std::vector<int64_t> shape = c.eval(c.call.node().type.tensor.shape);
  const Tensor out =
      f.one ? map_elements<double>(shape, std::array{numbers(c, 0, shape)}, f.one, std::make_index_sequence<1>())
            : map_elements<double>(shape, std::array{numbers(c, 0, shape), numbers(c, 1, shape)}, f.two,
                                   std::make_index_sequence<2>());
  return as_result(c, out);
}

OpDef special_row(const std::string& schema, const char* doc, std::variant<Gradient, NoGradient> gradient,
                  ShapeRule type = pointwise_type) {
  return OpDef("aten::" + schema + " -> Tensor", OpClass::Indexing, 0, Promotion::IntToFloat, type, special_reference,
               nullptr, gradient, KernelRule{"special"}, "", doc);
}

Node* call1(Builder& b, const char* op, Node* x) { return b.call(op, {x}); }

std::vector<Node*> lgamma_gradient(const GradientCall& g) {
  return gradient_of<[](const GradientContext& c) { return c.b.mul(c.dy, call1(c.b, "aten.digamma.default", c.x())); }>(
      g);
}
std::vector<Node*> digamma_gradient(const GradientCall& g) {
  return gradient_of<[](const GradientContext& c) {
    return c.b.mul(c.dy, c.b.call("aten.polygamma.default", {1, c.x()}));
  }>(g);
}
Type polygamma_type(const Call& c) {
  if (const int64_t n = c.constant(0); n < 0) reject(c, "n must not be negative, found " + std::to_string(n));
  return pointwise_type(c);
}
std::vector<Node*> polygamma_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (Node* dy = cotangent(g); dy && g.needed(1))
    out[1] = g.builder.mul(dy, g.builder.call("aten.polygamma.default", {g.call.constant(0) + 1, g.call.tensor(1)}));
  return out;
}
/// sqrt(pi) / 2 * exp(erfinv(x)^2)
std::vector<Node*> erfinv_gradient(const GradientCall& g) {
  return gradient_of<[](const GradientContext& c) {
    Node* e = call1(c.b, "aten.exp.default", c.b.mul(c.y, c.y));
    return c.b.mul(c.dy, c.b.mul(e, std::sqrt(std::numbers::pi) / 2));
  }>(g);
}

/// dy where the signs agree, -dy where they do not; 0 at 0.
std::vector<Node*> copysign_gradient(const GradientCall& g) {
  return gradient_of<[](const GradientContext& c) {
    Node* agree = c.b.mul(call1(c.b, "aten.sign.default", c.x()), call1(c.b, "aten.sign.default", c.y));
    return c.b.mul(c.dy, agree);
  },
                     [](const GradientContext& c) { return call1(c.b, "aten.zeros_like.default", c.dy); }>(g);
}
std::vector<Node*> hypot_gradient(const GradientCall& g) {
  return gradient_of<[](const GradientContext& c) { return c.b.mul(c.dy, c.b.div(c.x(), c.y)); },
                     [](const GradientContext& c) { return c.b.mul(c.dy, c.b.div(c.x(1), c.y)); }>(g);
}

Rows unary_functions() {
  Rows r;
  const auto pending = NoGradient::Pending;
  const auto add = [&](const char* name, const char* doc, std::variant<Gradient, NoGradient> gradient) {
    r.push_back(special_row(std::string(name) + "(Tensor self)", doc, gradient));
  };
  for (const char* name : {"lgamma", "special_gammaln"})
    add(name, "logarithm of the absolute value of gamma", Gradient(lgamma_gradient));
  for (const char* name : {"digamma", "special_digamma", "special_psi"})
    add(name, "derivative of gamma's logarithm", Gradient(digamma_gradient));
  for (const char* name : {"erfinv", "special_erfinv"})
    add(name, "inverse of the error function", Gradient(erfinv_gradient));
  add("special_erfcx", "exp(x^2) erfc(x)", pending);
  add("special_ndtri", "inverse of the normal distribution", pending);
  add("special_log_ndtr", "logarithm of the normal distribution", pending);
  for (const char* name : {"i0", "special_i0"}) add(name, "modified Bessel function of order 0", pending);
  add("special_i0e", "modified Bessel function of order 0, times exp(-|x|)", pending);
  add("special_i1", "modified Bessel function of order 1", pending);
  add("special_i1e", "modified Bessel function of order 1, times exp(-|x|)", pending);
  for (const char* name : {"special_modified_bessel_i0", "special_modified_bessel_i1", "special_modified_bessel_k0",
                           "special_modified_bessel_k1"})
    add(name, "modified Bessel function", pending);
  for (const char* name : {"special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1"}) {
    std::string schema = std::string(name) + "(Tensor x)";
    r.push_back(special_row(schema, "modified Bessel function of the second kind, times exp(x)", pending));
  }
  for (const char* name : {"special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1"})
    add(name, "Bessel function", pending);
  r.push_back(special_row("special_spherical_bessel_j0(Tensor x)", "sin(x) / x", pending));
  r.push_back(special_row("special_airy_ai(Tensor x)", "Airy's function Ai", pending));
  return r;
}

Rows binary_functions() {
  Rows r;
  const auto pending = NoGradient::Pending;
  for (const char* name : {"polygamma", "special_polygamma"})
    r.push_back(special_row(std::string(name) + "(int n, Tensor self)", "n-th derivative of digamma",
                            Gradient(polygamma_gradient), polygamma_type));
  r.push_back(special_row("special_zeta(Tensor self, Tensor other)", "Hurwitz's zeta function", pending));
  r.push_back(special_row("special_zeta.self_scalar(Scalar self, Tensor other)", "Hurwitz's zeta function", pending));
  r.push_back(special_row("special_zeta.other_scalar(Tensor self, Scalar other)", "Hurwitz's zeta function", pending));
  r.push_back(special_row("copysign.Tensor(Tensor self, Tensor other)", "size of self with the sign of other",
                          Gradient(copysign_gradient)));
  r.push_back(special_row("copysign.Scalar(Tensor self, Scalar other)", "size of self with the sign of other",
                          Gradient(copysign_gradient)));
  r.push_back(special_row("hypot(Tensor self, Tensor other)", "length of the hypotenuse", Gradient(hypot_gradient)));
  for (const char* name : {"igamma", "special_gammainc"})
    r.push_back(
        special_row(std::string(name) + "(Tensor self, Tensor other)", "lower incomplete gamma function", pending));
  for (const char* name : {"igammac", "special_gammaincc"})
    r.push_back(
        special_row(std::string(name) + "(Tensor self, Tensor other)", "upper incomplete gamma function", pending));
  for (const char* name : {"chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
                           "chebyshev_polynomial_w", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
                           "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "hermite_polynomial_h",
                           "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"})
    for (const char* operands :
         {"(Tensor x, Tensor n)", ".x_scalar(Scalar x, Tensor n)", ".n_scalar(Tensor x, Scalar n)"})
      r.push_back(special_row("special_" + std::string(name) + operands, "orthogonal polynomial of degree n at x",
                              NoGradient::Pending));
  return r;
}

/// The sum of gamma's logarithms at x, x - 1/2, ... and a constant.
std::vector<Node*> mvlgamma(Builder& b, const Call& c) {
  const int64_t p = c.constant(1);
  if (p < 1) reject(c, "p has to be greater than or equal to 1");
  if (constexpr int64_t kMost = 1000; p > kMost) reject(c, "p is too large: " + std::to_string(p));
  Node* x = c.tensor(0);
  if (c.type(0).dtype == DType::Bool) reject(c, "expected numbers, found bool");
  const DType d = is_floating(c.type(0).dtype) ? c.type(0).dtype : DType::F32;
  x = b.cast(x, compute_dtype(d));
  Node* sum = nullptr;
  for (int64_t j = 0; j < p; ++j) {
    Node* term = call1(b, "aten.lgamma.default", j ? b.sub(x, 0.5 * static_cast<double>(j)) : x);
    sum = sum ? b.add(sum, term) : term;
  }
  const double constant = 0.25 * static_cast<double>(p * (p - 1)) * std::log(std::numbers::pi);
  return {b.cast(p > 1 ? b.add(sum, constant) : sum, d)};
}

}  // namespace

Rows special_functions() {
  Rows rows = unary_functions();
  append(rows, binary_functions());
  for (const char* name : {"mvlgamma", "special_multigammaln"})
    rows.push_back(compound("aten::" + std::string(name) + "(Tensor self, int p) -> Tensor", 0, decomposed_type,
                            mvlgamma, "logarithm of the multivariate gamma function"));
  return rows;
}

}  // namespace strata::ops
