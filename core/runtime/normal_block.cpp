// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// PyTorch evaluates the polynomials of the Cephes library here, in vectors, and its compiler fuses sums with products.
// To give the same bits, each such sum is written as `std::fma`. Lanes do the same in a loop, which becomes a vector.

#include "core/runtime/normal_block.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace strata {
namespace {

constexpr int kLanes = 8;

/// Natural logarithm of a normal number in (0, 1].
[[gnu::always_inline]] inline float logarithm(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  float e = static_cast<float>(static_cast<int32_t>(bits >> 23) - 127) + 1.0F;
  float m = std::bit_cast<float>((bits & 0x807fffffU) | 0x3f000000U);  // [0.5, 1)
  const bool low = m < 0.707106781186547524F;
  const float again = low ? m : 0.0F;
  m -= 1.0F;
  e -= low ? 1.0F : 0.0F;
  m += again;
  const float z = m * m;
  float y = 7.0376836292E-2F;
  y = std::fma(y, m, -1.1514610310E-1F);
  y = std::fma(y, m, 1.1676998740E-1F);
  y = std::fma(y, m, -1.2420140846E-1F);
  y = std::fma(y, m, 1.4249322787E-1F);
  y = std::fma(y, m, -1.6668057665E-1F);
  y = std::fma(y, m, 2.0000714765E-1F);
  y = std::fma(y, m, -2.4999993993E-1F);
  y = std::fma(y, m, 3.3333331174E-1F);
  y = y * m;
  y = std::fma(y, z, e * -2.12194440e-4F);
  y = std::fma(-z, 0.5F, y);
  return std::fma(e, 0.693359375F, m + y);
}

/// Sine and cosine of an angle in [0, 2 pi].
[[gnu::always_inline]] inline void sine_cosine(float x, float& sine, float& cosine) {
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516F) + 1) & ~1;
  const auto y = static_cast<float>(octant);
  x = std::fma(y, -0.78515625F, x);
  x = std::fma(y, -2.4187564849853515625e-4F, x);
  x = std::fma(y, -3.77489497744594108e-8F, x);
  const float z = x * x;
  float c = 2.443315711809948E-005F;
  c = std::fma(c, z, -1.388731625493765E-003F);
  c = std::fma(c, z, 4.166664568298827E-002F);
  c = c * z;
  c = std::fma(c, z, -(z * 0.5F));
  c = c + 1.0F;
  float s = -1.9515295891E-4F;
  s = std::fma(s, z, 8.3321608736E-3F);
  s = std::fma(s, z, -1.6666654611E-1F);
  s = s * z;
  s = std::fma(s, x, x);
  const bool straight = (octant & 2) == 0;
  const uint32_t sign_of_sine = static_cast<uint32_t>(octant & 4) << 29;
  const uint32_t sign_of_cosine = static_cast<uint32_t>(~(octant - 2) & 4) << 29;
  sine = std::bit_cast<float>(std::bit_cast<uint32_t>(straight ? s : c) ^ sign_of_sine);
  cosine = std::bit_cast<float>(std::bit_cast<uint32_t>(straight ? c : s) ^ sign_of_cosine);
}

[[gnu::target("avx2,fma")]] void with_polynomials(float* data, float mean, float deviation) {
  for (int j = 0; j < kLanes; ++j) {
    const float radius = std::sqrt(-2.0F * logarithm(1.0F - data[j]));
    float sine, cosine;
    sine_cosine(static_cast<float>(2.0 * std::numbers::pi) * data[j + kLanes], sine, cosine);
    data[j] = std::fma(radius * cosine, deviation, mean);
    data[j + kLanes] = std::fma(radius * sine, deviation, mean);
  }
}

void with_library(float* data, float mean, float deviation) {
  for (int j = 0; j < kLanes; ++j) {
    const float radius = std::sqrt(-2 * std::log(1 - data[j]));
    const auto angle = static_cast<float>(2 * std::numbers::pi * static_cast<double>(data[j + kLanes]));
    data[j] = std::fma(radius * std::cos(angle), deviation, mean);
    data[j + kLanes] = std::fma(radius * std::sin(angle), deviation, mean);
  }
}

}  // namespace

void normal_block(float* data, float mean, float deviation) {
  static const bool vectors = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  (vectors ? with_polynomials : with_library)(data, mean, deviation);
}

}  // namespace strata
