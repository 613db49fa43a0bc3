// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/support/special_functions.h"

namespace strata {
namespace {

/// Term by term in long double, smallest first; the tail beyond is the integral and half of the next term.
double zeta_by_terms(int s, double q) {
  constexpr int kTerms = 200000;
  const long double end = static_cast<long double>(q) + kTerms;
  long double sum = std::pow(end, 1 - s) / (s - 1) + std::pow(end, -s) / 2;
  for (int k = kTerms; k-- > 0;) sum += std::pow(static_cast<long double>(q) + k, -s);
  return static_cast<double>(sum);
}

TEST(SpecialFunctions, ZetaFarBelowZeroIsTheSumOfItsTerms) {
  for (const double q : {-0.3, -31.75, -32.25, -40.5, -1000.125, -99999.6})
    for (const int s : {2, 3, 4, 7}) {
      const double expected = zeta_by_terms(s, q);
      // Odd powers cancel about the middle between two integers.
      EXPECT_NEAR(special::zeta(s, q), expected, 1e-12 * (std::abs(expected) + std::pow(2.0, s))) << s << " " << q;
    }
}

TEST(SpecialFunctions, ZetaTakesNoLongerTheFartherBelowZeroItIsAsked) {
  EXPECT_DOUBLE_EQ(special::zeta(4, -4e15 + 0.5), 2 * special::zeta(4, 0.5));  // the same terms on both sides
  EXPECT_NEAR(special::polygamma(3, -1e13 + 0.5), 2 * special::polygamma(3, 0.5), 1e-9);
  EXPECT_EQ(special::zeta(3, -1e30), HUGE_VAL) << "a pole, as every integer";
  EXPECT_TRUE(std::isnan(special::zeta(2.5, -1e6 - 0.5)));
}

TEST(SpecialFunctions, BesselFunctionsOfTheSecondKindEndNextToZero) {
  const auto k0 = special::find("modified_bessel_k0")->one, k1 = special::find("modified_bessel_k1")->one,
             scaled_k1 = special::find("scaled_modified_bessel_k1")->one;
  for (const double x : {5e-324, 1e-310, 1e-100, 1e-12}) {
    EXPECT_DOUBLE_EQ(k0(x), -std::log(x / 2) - 0.57721566490153286) << x;
    EXPECT_DOUBLE_EQ(scaled_k1(x), std::exp(x) / x) << x;
  }
  // Where the first terms of the series stop telling all, the library goes on.
  for (const double x : {0.999999e-9, 1.000001e-9}) {
    EXPECT_NEAR(k0(x), -std::log(x / 2) - 0.57721566490153286, 1e-14);
    EXPECT_NEAR(k1(x) * x, 1, 1e-14);
  }
}

TEST(SpecialFunctions, NdtriNextToItsZero) {
  const auto ndtri = special::find("ndtri")->one;
  EXPECT_EQ(ndtri(0.5), 0);
  for (const double d : {0x1p-53, 1e-12, 1e-9, -1e-9})
    EXPECT_NEAR(ndtri(0.5 + d) / ((0.5 + d - 0.5) * std::sqrt(2 * std::acos(-1))), 1, 1e-15) << d;
  for (const double p : {0.25, 0.2500001, 0.7499999, 0.75})
    EXPECT_NEAR(std::erfc(-ndtri(p) / std::sqrt(2)) / 2, p, 1e-16) << p;
}

}  // namespace
}  // namespace strata
