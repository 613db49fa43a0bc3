// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/native/special_blocks.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/support/vector_clones.h"

namespace strata::native {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

template <int N>
inline double polynomial(const double (&c)[N], double x) {
  double y = c[N - 1];
  for (int i = N - 2; i >= 0; --i) y = y * x + c[i];
  return y;
}

/// Whole numbers up to 2^51 away from 0 show in the last bits of their sum with this.
constexpr double kWholes = 0x1.8p52;

/// The natural logarithm: of x = 2^e m with m about 1 by the series of atanh((m - 1) / (m + 1)). Not for negative or
/// denormal numbers.
inline double log_of(double x) {
  constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kOffset = uint64_t{1024} << 52;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t power = (bits - kRootOfHalf + kOffset) >> 52;
  const double m = std::bit_cast<double>(bits - (power << 52) + kOffset);
  const double e = std::bit_cast<double>(std::bit_cast<uint64_t>(kWholes) + power) - (kWholes + 1024);
  constexpr double kSeries[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
  const double s = (m - 1) / (m + 1), square = s * s;
  const double value = e * kLn2High + (2 * s + (2 * s * square * polynomial(kSeries, square) + e * kLn2Low));
  return x > 0 && x < kInf ? value : x == 0 ? -kInf : x;
}

/// sin(pi x) but for its sign.
inline double sine_of_turn(double x) {
  const double whole = (x + kWholes) - kWholes, part = std::fabs(x) < 0x1p51 ? x - whole : 0;
  constexpr double kSeries[] = {1.0,
                                -1.0 / 6,
                                1.0 / 120,
                                -1.0 / 5040,
                                1.0 / 362'880,
                                -1.0 / 39'916'800,
                                1.0 / 6'227'020'800,
                                -1.0 / 1'307'674'368'000,
                                1.0 / 355'687'428'096'000,
                                -1.0 / 121'645'100'408'832'000};
  const double angle = std::numbers::pi * part;
  return angle * polynomial(kSeries, angle * angle);
}

// Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution" (1988), PPND16: rational functions for
// the middle, and for two ranges of the root of the tail's logarithm.
constexpr double kMiddle[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                              1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                              3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr double kMiddleBelow[] = {1,
                                   4.2313330701600911252e1,
                                   6.8718700749205790830e2,
                                   5.3941960214247511077e3,
                                   2.1213794301586595867e4,
                                   3.9307895800092710610e4,
                                   2.8729085735721942674e4,
                                   5.2264952788528545610e3};
constexpr double kTail[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                            3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                            2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double kTailBelow[] = {1,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
constexpr double kFar[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double kFarBelow[] = {1,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};

/// The normal distribution's quantile of 1/2 + q, the smaller tail beside it being `tail`.
inline double quantile(double q, double tail) {
  const double middle = 0.180625 - q * q, root = std::sqrt(-log_of(tail));
  const double near = q * (polynomial(kMiddle, middle) / polynomial(kMiddleBelow, middle));
  const double r = root - 1.6, s = root - 5;
  const double tail_near = polynomial(kTail, r) / polynomial(kTailBelow, r);
  const double far = polynomial(kFar, s) / polynomial(kFarBelow, s);
  return middle >= 0 ? near : std::copysign(root <= 5 ? tail_near : far, q);
}

STRATA_VECTOR_CLONES void erfinv(const double* x, int64_t n, double* y) {
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) {
    const double a = std::fabs(x[i]), v = quantile(x[i] / 2, (1 - a) / 2) / std::numbers::sqrt2;
    y[i] = a < 1 ? v : a == 1 ? std::copysign(kInf, x[i]) : kNan;
  }
}

STRATA_VECTOR_CLONES void ndtri(const double* x, int64_t n, double* y) {
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) {
    const double p = x[i], q = p - 0.5, v = quantile(q, p < 0.5 ? p : 1 - p);
    y[i] = p > 0 && p < 1 ? v : p == 0 ? -kInf : p == 1 ? kInf : kNan;
  }
}

constexpr int64_t kBlock = 64;

STRATA_VECTOR_CLONES void logarithms(double* x, int64_t n) {
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) x[i] = log_of(x[i]);
}

/// Stirling's series from 8 on, where numbers below are brought to by the recurrence. Near the zeros at 1 and 2, what
/// is taken from each other is ten, so that some 1e-14 is left. One loop for each step: the compiler makes no vectors
/// of all in one. At most a block; not for numbers below 0.
STRATA_VECTOR_CLONES void lgamma_right(const double* x, int64_t n, double* y) {
  constexpr double kSeries[] = {1.0 / 12,   -1.0 / 360,       1.0 / 1260, -1.0 / 1680,
                                1.0 / 1188, -691.0 / 360'360, 1.0 / 156,  -3617.0 / 122'400};
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  double z[kBlock], log_below[kBlock];
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) {
    const double ends = x[i] * (x[i] + 7), product = ends * (ends + 6) * (ends + 10) * (ends + 12);  // of x to x + 7
    log_below[i] = x[i] < 8 ? product : 1;
    z[i] = x[i] < 8 ? x[i] + 8 : x[i];
  }
  logarithms(log_below, n);
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) {
    const double inverse = 1 / z[i], series = inverse * polynomial(kSeries, inverse * inverse);
    y[i] = (z[i] - 0.5) * log_of(z[i]) - z[i] + kHalfLogTwoPi + series - log_below[i];
  }
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] == 1 ? 0 : x[i] == 2 ? 0 : x[i] == kInf ? kInf : y[i];
}

/// Below 0, from lgamma(1 - x) in y: log(pi / |sin(pi x)|) - lgamma(1 - x). At most a block.
STRATA_VECTOR_CLONES void lgamma_left(const double* x, int64_t n, double* y) {
  constexpr double kLogPi = 1.14472988584940017414;
  double log_sine[kBlock];
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) log_sine[i] = std::fabs(sine_of_turn(x[i]));
  logarithms(log_sine, n);
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? kLogPi - log_sine[i] - y[i] : y[i];
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] == -kInf ? kInf : y[i];
}

void lgamma(const double* x, int64_t n, double* y) {
  double from[kBlock], right[kBlock];
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t count = n - first < kBlock ? n - first : kBlock;
    bool any_below = false;
    for (int64_t i = 0; i < count; ++i) {
      from[i] = x[first + i];
      right[i] = std::fabs(from[i]) + (from[i] < 0 ? 1 : 0);
      any_below |= from[i] < 0;
    }
    lgamma_right(right, count, y + first);
    if (any_below) lgamma_left(from, count, y + first);
  }
}

STRATA_VECTOR_CLONES void widen_block(const float* x, int64_t n, double* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}
STRATA_VECTOR_CLONES void narrow_block(const double* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}

}  // namespace

void widen(const float* x, int64_t n, double* y) { widen_block(x, n, y); }
void narrow(const double* x, int64_t n, float* y) { narrow_block(x, n, y); }

BlockFunction find_block_function(std::string_view name, bool exact) {
  if (name == "erfinv") return erfinv;
  if (name == "ndtri") return ndtri;
  if (!exact && (name == "lgamma" || name == "gammaln")) return lgamma;
  return nullptr;
}

}  // namespace strata::native
