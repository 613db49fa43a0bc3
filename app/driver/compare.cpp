// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace strata {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double default_rtol(DType dtype) {
  if (is_integral_or_bool(dtype)) return 0;
  if (dtype_size(dtype) == 1) return 1e-1;
  return is_reduced_float(dtype) || dtype == DType::C32 ? 2e-2 : 1e-4;
}

double default_atol(DType dtype) {
  const double rtol = default_rtol(dtype);
  return rtol == 1e-4 ? 1e-5 : rtol;
}

double error_of(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double error = std::abs(a - b);
  return std::isfinite(error) ? error : kInfinity;
}

/// Real and imaginary parts as two elements; everything else as it is.
Tensor as_reals(const Tensor& t) {
  if (!is_complex(t.dtype)) return t.contiguous();
  Tensor reals = t.contiguous();
  reals.dtype = t.dtype == DType::C128 ? DType::F64 : t.dtype == DType::C64 ? DType::F32 : DType::F16;
  reals.shape.push_back(2);
  reals.strides = contiguous_strides(std::span<const int64_t>(reals.shape));
  reals.offset *= 2;
  return reals;
}

}  // namespace

Comparison compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance, std::string* problem) {
  Comparison c;
  if (actual.dtype != expected.dtype || actual.shape != expected.shape) {
    if (problem) *problem = "expected " + expected.str() + ", found " + actual.str();
    c.failures = 1;
    c.max_abs = c.max_rel = kInfinity;
    return c;
  }
  const Tensor a = as_reals(actual), b = as_reals(expected);
  c.elements = a.numel();
  for (int64_t i = 0; i < c.elements; ++i)
    if (const double v = std::abs(b.at(i)); std::isfinite(v)) c.scale = std::max(c.scale, v);
  c.rtol = tolerance.rtol.value_or(default_rtol(expected.dtype));
  c.atol = tolerance.atol.value_or(default_atol(expected.dtype) * c.scale);
  const bool exact = is_integral(a.dtype) && c.rtol == 0 && c.atol == 0;
  double worst = -kInfinity;
  for (int64_t i = 0; i < c.elements; ++i) {
    const double x = a.at(i), y = b.at(i);
    double error = error_of(x, y);
    if (exact && error == 0 && a.int_at(i) != b.int_at(i)) error = 1;  // differ beyond the digits of a double
    const double limit = c.atol + (std::isfinite(y) ? c.rtol * std::abs(y) : 0);
    if (error > limit) ++c.failures;
    c.max_abs = std::max(c.max_abs, error);
    if (y != 0 && error > 0) c.max_rel = std::max(c.max_rel, std::isfinite(y) ? error / std::abs(y) : kInfinity);
    if (error - limit <= worst) continue;
    worst = error - limit;
    c.worst = i;
    c.worst_actual = x;
    c.worst_expected = y;
  }
  c.passed = c.failures == 0;
  return c;
}

}  // namespace strata
