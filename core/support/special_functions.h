// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Special functions of float64 numbers with PyTorch's domains and limits: poles give infinity, what lies outside gives
/// NaN. Relative errors are some 1e-14, away from zeros.

#include <string_view>

namespace strata::special {

struct Function {
  std::string_view name;  ///< as in ATen, without `special_`
  double (*one)(double) = nullptr;
  double (*two)(double, double) = nullptr;
};

/// By name; null if there is none.
const Function* find(std::string_view name);

double digamma(double x);
/// The n-th derivative of digamma.
double polygamma(double n, double x);
/// Hurwitz's: the sum of (k + q)^-s over k from 0.
double zeta(double s, double q);
double erfinv(double x);
/// exp(x^2) erfc(x).
double erfcx(double x);
/// Where the normal distribution reaches p.
double ndtri(double p);
double log_ndtr(double x);
/// Regularised incomplete gamma functions, lower and upper.
double igamma(double a, double x);
double igammac(double a, double x);

}  // namespace strata::special
