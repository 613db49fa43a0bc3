// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "codegen/native/special_blocks.h"
#include "core/support/special_functions.h"

namespace strata {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Numbers of both signs over all magnitudes from 2^low to 2^high.
std::vector<double> magnitudes(int count, int low, int high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> power(low, high);
  std::vector<double> x;
  for (int i = 0; i < count; ++i) x.push_back(std::exp2(power(random)) * (random() & 1 ? 1 : -1));
  return x;
}

/// Within `relative` of the function that goes number by number, or `absolute`.
void expect_same(const char* name, bool exact, const std::vector<double>& x, double relative, double absolute) {
  const special::Function* one = special::find(name);
  const native::BlockFunction many = native::find_block_function(name, exact);
  ASSERT_NE(many, nullptr);
  std::vector<double> y(x.size(), 77);
  many(x.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = one->one(x[i]);
    if (!std::isfinite(expected))
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(y[i]) : y[i] == expected) << name << " " << x[i] << " " << y[i];
    else
      ASSERT_NEAR(y[i], expected, relative * std::abs(expected) + absolute) << name << " of " << x[i];
  }
  std::vector<double> in_place = x;
  many(in_place.data(), static_cast<int64_t>(x.size()), in_place.data());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(in_place[i] == y[i] || std::isnan(y[i])) << name << " " << x[i];
}

TEST(SpecialBlocks, ErfinvFromTheMiddleToTheLastNumberBelowOne) {
  std::vector<double> x = magnitudes(20000, -60, 0, 1);
  for (const double tail : magnitudes(20000, -53, 0, 2)) x.push_back(std::copysign(1 - std::abs(tail), tail));
  for (const double special : {0.0, -0.0, 0.85, -0.85, 1.0, -1.0, 1.5, -kInf, kInf, std::nan("")}) x.push_back(special);
  expect_same("erfinv", true, x, 2e-15, 0);
}

TEST(SpecialBlocks, NdtriOfAllProbabilities) {
  std::vector<double> x;
  for (const double p : magnitudes(20000, -1020, 0, 3)) x.push_back(std::abs(p));
  for (const double p : magnitudes(20000, -50, 0, 4)) x.push_back(1 - std::abs(p));
  for (const double special : {0.0, 0.5, 1.0, 1.5, -0.5, -kInf, kInf, std::nan("")}) x.push_back(special);
  expect_same("ndtri", true, x, 1e-13, 1e-16);
}

TEST(SpecialBlocks, LgammaOfBothSignsWithItsZerosAndPoles) {
  std::vector<double> x = magnitudes(20000, -149, 128, 5);
  for (const double v : magnitudes(20000, -2, 5, 6)) x.push_back(v);
  for (const double v : magnitudes(2000, -23, -3, 7)) {
    x.push_back(1 + v);
    x.push_back(2 + v);
    x.push_back(std::round(64 * v) + v);
  }
  for (double v = -9; v <= 9; v += 0.5) x.push_back(v);
  for (const double special : {0.0, -0.0, -1e30, kInf, -kInf, std::nan("")}) x.push_back(special);
  for (double& v : x) v = static_cast<float>(v);
  expect_same("lgamma", false, x, 3e-14, 3e-14);
  EXPECT_EQ(native::find_block_function("lgamma", true), nullptr) << "not exact enough near its zeros";
  EXPECT_EQ(native::find_block_function("i0", false), nullptr);
}

}  // namespace
}  // namespace strata
