// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace strata {
namespace {

using library::MathFunction;

struct Function {
  MathFunction function;
  double (*exact)(double);
  double most;  ///< units in the last place
};

/// What the vector library promises, and of erf what its tables do.
constexpr Function kFunctions[] = {
    {MathFunction::Exp, [](double x) { return std::exp(x); }, 4},
    {MathFunction::Expm1, [](double x) { return std::expm1(x); }, 4},
    {MathFunction::Tanh, [](double x) { return std::tanh(x); }, 4},
    {MathFunction::Erf, [](double x) { return std::erf(x); }, 2.2},
};

/// In units in the last place of the exact value's float32; of numbers that have none, whether they are the same.
double error(float found, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(exact) || !std::isfinite(nearest) || exact == 0) {
    const bool same =
        std::isnan(exact) ? std::isnan(found) : found == nearest && std::signbit(found) == std::signbit(nearest);
    return same ? 0 : std::numeric_limits<double>::infinity();
  }
  const double unit = std::ldexp(1.0, std::max(std::ilogb(nearest), -126) - 23);
  return std::abs(static_cast<double>(found) - exact) / unit;
}

std::vector<float> applied(MathFunction function, std::vector<float> x) {
  const auto n = static_cast<int64_t>(x.size());
  x.resize(static_cast<size_t>((n + library::kMathLanes - 1) / library::kMathLanes * library::kMathLanes), 7.0F);
  library::apply_all(function, x.data(), n);
  x.resize(static_cast<size_t>(n));
  return x;
}

TEST(LibraryVectorMath, NumbersOfAllSizes) {
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> exponent(-40, 6.4F);
  std::vector<float> x;
  for (int i = 0; i < 200'003; ++i) x.push_back(std::exp2(exponent(random)) * (random() % 2 ? 1.0F : -1.0F));
  for (const Function& f : kFunctions) {
    const std::vector<float> y = applied(f.function, x);
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (const double e = error(y[i], f.exact(x[i])); e > worst && std::abs(y[i]) >= 1.2e-38F) {
        worst = e;
        at = x[i];
      }
    EXPECT_LE(worst, f.most) << "function " << static_cast<int>(f.function) << " of " << at;
  }
}

TEST(LibraryVectorMath, NumbersThatAreSpecial) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> x{0.0F, -0.0F, inf, -inf, nan, -nan, 1e30F, -1e30F, 3.0e38F, 88.0F, 5.0F, -5.0F};
  for (const Function& f : kFunctions) {
    const std::vector<float> y = applied(f.function, x);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_LE(error(y[i], f.exact(x[i])), f.most)
          << "function " << static_cast<int>(f.function) << " of " << x[i] << ": " << y[i];
  }
}

}  // namespace
}  // namespace strata
