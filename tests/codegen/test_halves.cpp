// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/halves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/runtime/elements.h"

namespace strata {
namespace {

/// Bits of the exponent and the fraction.
struct Format {
  int exponent, fraction;
};
Format format_of(DType dtype) { return dtype == DType::BF16 ? Format{8, 7} : Format{5, 10}; }

/// By the definition of the formats.
double widened(DType dtype, uint16_t bits) {
  const Format f = format_of(dtype);
  const int bias = (1 << (f.exponent - 1)) - 1, exponent = bits >> f.fraction & ((1 << f.exponent) - 1);
  const int fraction = bits & ((1 << f.fraction) - 1);
  double value = std::ldexp(fraction + (exponent ? 1 << f.fraction : 0), std::max(exponent, 1) - bias - f.fraction);
  if (exponent == (1 << f.exponent) - 1) value = fraction ? std::nan("") : INFINITY;
  return bits & 0x8000 ? -value : value;
}
/// The nearest number of the format, of two as near that which is even.
double rounded(DType dtype, double x) {
  if (!std::isfinite(x) || x == 0) return x;
  const Format f = format_of(dtype);
  const int bias = (1 << (f.exponent - 1)) - 1;
  const int exponent = std::max(std::ilogb(x), 1 - bias) - f.fraction;
  const double y = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return std::abs(y) >= std::ldexp(1, bias + 1) ? std::copysign(INFINITY, x) : y;
}

bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

float by_elements(DType dtype, uint16_t bits) {
  return dtype == DType::BF16 ? work_value(BFloat16{bits}) : work_value(Half{bits});
}
uint16_t by_elements(DType dtype, float x) {
  return dtype == DType::BF16 ? stored_value<BFloat16>(x).bits : stored_value<Half>(x).bits;
}

TEST(Halves, EveryOneOfThemIsWidened) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const DType dtype : {DType::BF16, DType::F16}) {
    std::vector<float> to(all.size(), -1);
    library::halves_to_floats(dtype, all.data(), to.data(), static_cast<int64_t>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(same(to[i], widened(dtype, all[i]))) << i << " " << to[i];
      EXPECT_TRUE(same(by_elements(dtype, all[i]), widened(dtype, all[i]))) << i;
    }
  }
}

/// Any bits at all, and numbers halfway between two halves and next to these.
TEST(Halves, NumbersAreRoundedToNearestEven) {
  std::mt19937 random(std::random_device{}());
  std::vector<float> from{0.0F, -0.0F, INFINITY, -INFINITY, NAN, 65504.0F, 65519.9F, 65520.0F, 3.4e38F, 1e-45F, 6e-8F};
  for (int i = 0; i < 20000; ++i) from.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (const DType dtype : {DType::BF16, DType::F16}) {
    std::vector<float> x = from;
    for (uint32_t bits = 0; bits < 0x7c00; bits += 7) {
      const auto a = static_cast<float>(widened(dtype, static_cast<uint16_t>(bits)));
      const auto b = static_cast<float>(widened(dtype, static_cast<uint16_t>(bits + 1)));
      const float middle = a + (b - a) / 2;
      x.insert(x.end(), {middle, std::nextafter(middle, a), std::nextafter(middle, b), -middle});
    }
    std::vector<uint16_t> to(x.size(), 1);
    library::floats_to_halves(dtype, x.data(), to.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(same(widened(dtype, to[i]), rounded(dtype, x[i]))) << x[i] << " " << to[i];
      EXPECT_TRUE(same(widened(dtype, by_elements(dtype, x[i])), rounded(dtype, x[i]))) << x[i];
    }
  }
}

TEST(Halves, NothingBeyondTheLastIsTouched) {
  for (const DType dtype : {DType::BF16, DType::F16}) {
    for (int64_t n = 0; n < 20; ++n) {
      std::vector<float> floats(32, 1.5F);
      std::vector<uint16_t> halves(32, 0x1234);
      library::floats_to_halves(dtype, floats.data(), halves.data(), n);
      for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(halves[i], i < n ? by_elements(dtype, 1.5F) : 0x1234) << n << " " << i;
      std::fill(floats.begin(), floats.end(), -7.0F);
      library::halves_to_floats(dtype, halves.data(), floats.data(), n);
      for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(floats[i], i < n ? 1.5F : -7.0F) << n << " " << i;
    }
  }
}

}  // namespace
}  // namespace strata
