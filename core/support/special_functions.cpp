// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/support/special_functions.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace strata::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi, kEpsilon = std::numeric_limits<double>::epsilon();

double lgamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

/// Bernoulli's numbers B2, B4, ...
constexpr std::array kBernoulli{1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
                                -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

// ------------------------------------------------------------------------------------------------------------- Bessel

/// The sum of (x/2)^(2k + n) / (k! (k + n)!), all terms of one sign.
double modified_series(int n, double x) {
  const double quarter = x * x / 4;
  double term = n == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 500 && std::fabs(term) > kEpsilon / 8 * std::fabs(sum); ++k) {
    term *= quarter / (k * static_cast<double>(k + n));
    sum += term;
  }
  return sum;
}
/// Hankel's expansion without the exponential: sign -1 for I, 1 for K, before 1 / sqrt(2 pi x) or sqrt(pi / 2x).
double hankel(int n, double x, double sign) {
  double term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2 * k - 1, next = term * sign * (4.0 * n * n - odd * odd) / (8 * x * k);
    if (std::fabs(next) >= std::fabs(term)) break;
    term = next;
    sum += term;
    if (std::fabs(term) < kEpsilon / 8) break;
  }
  return sum;
}

/// exp(-|x|) I_n(x).
double scaled_modified(int n, double x) {
  const double a = std::fabs(x), sign = n == 1 && x < 0 ? -1 : 1;
  if (a < 25) return sign * std::exp(-a) * modified_series(n, a);
  if (std::isinf(a)) return 0;
  return sign * hankel(n, a, -1) / std::sqrt(2 * kPi * a);
}
double modified(int n, double x) {
  const double a = std::fabs(x), sign = n == 1 && x < 0 ? -1 : 1;
  if (a < 25) return sign * modified_series(n, a);
  return sign * std::exp(a) * (hankel(n, a, -1) / std::sqrt(2 * kPi * a));
}
double i0(double x) { return modified(0, x); }
double i1(double x) { return modified(1, x); }
double i0e(double x) { return scaled_modified(0, x); }
double i1e(double x) { return scaled_modified(1, x); }

/// K_n(x) of small x > 0: the first terms of its series tell all there is below 1e-9, where those of the library do not
/// come to an end for numbers whose reciprocal is infinite.
double library_second(int n, double x) {
  if (x < 1e-9) return n == 0 ? -std::log(x / 2) - std::numbers::egamma : 1 / x;
  return std::cyl_bessel_k(static_cast<double>(n), x);
}

/// exp(x) K_n(x).
double scaled_second(int n, double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kInf;
  if (std::isinf(x)) return 0;
  if (x >= 25) return hankel(n, x, 1) * std::sqrt(kPi / (2 * x));
  return std::exp(x) * library_second(n, x);
}
double second(int n, double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kInf;
  return x >= 25 ? scaled_second(n, x) * std::exp(-x) : library_second(n, x);
}
double k0(double x) { return second(0, x); }
double k1(double x) { return second(1, x); }
double scaled_k0(double x) { return scaled_second(0, x); }
double scaled_k1(double x) { return scaled_second(1, x); }

double bessel_j0(double x) { return ::j0(x); }
double bessel_j1(double x) { return ::j1(x); }
double bessel_y0(double x) { return x < 0 ? kNan : x == 0 ? -kInf : ::y0(x); }
double bessel_y1(double x) { return x < 0 ? kNan : x == 0 ? -kInf : ::y1(x); }

double spherical_j0(double x) {
  if (std::isinf(x)) return 0;
  return std::fabs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x;
}

/// Ai: Maclaurin's series about 0, Bessel functions of order 1/3 elsewhere.
double airy_ai(double x) {
  if (std::isnan(x) || std::isinf(x)) return kNan;
  if (std::fabs(x) < 2) {
    const double cube = x * x * x;
    double f = 1, g = x, sum_f = 1, sum_g = x;
    for (int k = 1; k < 30; ++k) {
      f *= cube / ((3.0 * k - 1) * (3.0 * k));
      g *= cube / ((3.0 * k) * (3.0 * k + 1));
      sum_f += f;
      sum_g += g;
    }
    return 0.355028053887817239 * sum_f - 0.258819403792806798 * sum_g;
  }
  const double a = std::fabs(x), z = 2.0 / 3 * a * std::sqrt(a);
  if (x > 0) return z > 700 ? 0 : std::sqrt(x / 3) / kPi * std::cyl_bessel_k(1.0 / 3, z);
  const double j = std::cyl_bessel_j(1.0 / 3, z), y = std::cyl_neumann(1.0 / 3, z);
  return std::sqrt(a) / 2 * (j - y / std::sqrt(3.0));
}

// -------------------------------------------------------------------------------------------------------- polynomials

using Degree = int64_t;

/// p(k + 1) from p(k) and p(k - 1) up to degree n.
template <class Next>
double recur(Degree n, double first, double second, Next next) {
  if (n == 0) return first;
  double before = first, now = second;
  for (Degree k = 1; k < n && !std::isnan(now); ++k) {
    const double after = next(static_cast<double>(k), now, before);
    before = now;
    now = after;
  }
  return now;
}
Degree degree(double n) { return std::fabs(n) < 9e18 ? static_cast<Degree>(n) : -1; }
double even_sign(Degree n) { return n % 2 == 0 ? 1 : -1; }

/// Chebyshev's four kinds; degrees above this are computed by angles inside (-1, 1).
constexpr Degree kByAngle = 6;

double chebyshev_t(double x, double degrees) {
  const Degree n = degree(degrees);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return x > 0 ? 1 : even_sign(n);
  if (n > kByAngle && std::fabs(x) < 1) return std::cos(static_cast<double>(n) * std::acos(x));
  return recur(n, 1, x, [x](double, double q, double p) { return 2 * x * q - p; });
}
double chebyshev_u(double x, double degrees) {
  const Degree n = degree(degrees);
  const auto m = static_cast<double>(n);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return (x > 0 ? 1 : even_sign(n)) * (m + 1);
  if (n > kByAngle && std::fabs(x) < 1) return std::sin((m + 1) * std::acos(x)) / std::sin(std::acos(x));
  return recur(n, 1, 2 * x, [x](double, double q, double p) { return 2 * x * q - p; });
}
double chebyshev_v(double x, double degrees) {
  const Degree n = degree(degrees);
  const auto m = static_cast<double>(n);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return x > 0 ? 1 : even_sign(n) * (2 * m + 1);
  if (n > kByAngle && std::fabs(x) < 1) return std::cos((m + 0.5) * std::acos(x)) / std::cos(std::acos(x) / 2);
  return recur(n, 1, 2 * x - 1, [x](double, double q, double p) { return 2 * x * q - p; });
}
double chebyshev_w(double x, double degrees) {
  const Degree n = degree(degrees);
  const auto m = static_cast<double>(n);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return x > 0 ? 2 * m + 1 : even_sign(n);
  if (n > kByAngle && std::fabs(x) < 1) return std::sin((m + 0.5) * std::acos(x)) / std::sin(std::acos(x) / 2);
  return recur(n, 1, 2 * x + 1, [x](double, double q, double p) { return 2 * x * q - p; });
}
double shifted_t(double x, double n) { return chebyshev_t(2 * x - 1, n); }
double shifted_u(double x, double n) { return chebyshev_u(2 * x - 1, n); }
double shifted_v(double x, double n) { return chebyshev_v(2 * x - 1, n); }
double shifted_w(double x, double n) { return chebyshev_w(2 * x - 1, n); }

double hermite_h(double x, double degrees) {
  const Degree n = degree(degrees);
  return n < 0 ? 0 : recur(n, 1, 2 * x, [x](double k, double q, double p) { return 2 * x * q - 2 * k * p; });
}
double hermite_he(double x, double degrees) {
  const Degree n = degree(degrees);
  return n < 0 ? 0 : recur(n, 1, x, [x](double k, double q, double p) { return x * q - k * p; });
}
double laguerre(double x, double degrees) {
  const Degree n = degree(degrees);
  if (n < 0) return 0;
  if (x == 0) return 1;
  return recur(n, 1, 1 - x, [x](double k, double q, double p) { return ((2 * k + 1 - x) * q - k * p) / (k + 1); });
}
double legendre(double x, double degrees) {
  const Degree n = degree(degrees);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return x > 0 ? 1 : even_sign(n);
  return recur(n, 1, x, [x](double k, double q, double p) { return ((2 * k + 1) * x * q - k * p) / (k + 1); });
}

// ------------------------------------------------------------------------------------------------------ incomplete
// gamma

/// x^a exp(-x) / gamma(a + 1), by way of its logarithm.
double gamma_factor(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - lgamma(a + 1));
  // About x = a the logarithm's parts cancel: d = (x - a) / a, and Stirling's series for the rest.
  const double d = (x - a) / a, series = 1 / (12 * a) - 1 / (360 * a * a * a) + 1 / (1260 * std::pow(a, 5));
  return std::exp(a * (std::log1p(d) - d) - series) / std::sqrt(2 * kPi * a);
}
double lower_series(double a, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 100000 && term > kEpsilon / 4 * sum; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * gamma_factor(a, x);
}
/// Lentz's evaluation of Legendre's continued fraction.
double upper_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int k = 1; k < 100000; ++k) {
    const double term = -k * (k - a);
    b += 2;
    d = term * d + b;
    c = b + term / c;
    d = 1 / (std::fabs(d) < tiny ? tiny : d);
    if (std::fabs(c) < tiny) c = tiny;
    h *= d * c;
    if (std::fabs(d * c - 1) < kEpsilon) break;
  }
  return h * a * gamma_factor(a, x);
}

double copy_sign(double x, double y) { return std::copysign(x, y); }
double hypotenuse(double x, double y) { return std::hypot(x, y); }

constexpr std::array kFunctions{
    Function{"lgamma", lgamma},
    Function{"gammaln", lgamma},
    Function{"digamma", digamma},
    Function{"psi", digamma},
    Function{"erfinv", erfinv},
    Function{"erfcx", erfcx},
    Function{"ndtri", ndtri},
    Function{"log_ndtr", log_ndtr},
    Function{"i0", i0},
    Function{"i0e", i0e},
    Function{"i1", i1},
    Function{"i1e", i1e},
    Function{"modified_bessel_i0", i0},
    Function{"modified_bessel_i1", i1},
    Function{"modified_bessel_k0", k0},
    Function{"modified_bessel_k1", k1},
    Function{"scaled_modified_bessel_k0", scaled_k0},
    Function{"scaled_modified_bessel_k1", scaled_k1},
    Function{"bessel_j0", bessel_j0},
    Function{"bessel_j1", bessel_j1},
    Function{"bessel_y0", bessel_y0},
    Function{"bessel_y1", bessel_y1},
    Function{"spherical_bessel_j0", spherical_j0},
    Function{"airy_ai", airy_ai},
    Function{"copysign", nullptr, copy_sign},
    Function{"hypot", nullptr, hypotenuse},
    Function{"zeta", nullptr, zeta},
    Function{"polygamma", nullptr, polygamma},
    Function{"igamma", nullptr, igamma},
    Function{"gammainc", nullptr, igamma},
    Function{"igammac", nullptr, igammac},
    Function{"gammaincc", nullptr, igammac},
    Function{"chebyshev_polynomial_t", nullptr, chebyshev_t},
    Function{"chebyshev_polynomial_u", nullptr, chebyshev_u},
    Function{"chebyshev_polynomial_v", nullptr, chebyshev_v},
    Function{"chebyshev_polynomial_w", nullptr, chebyshev_w},
    Function{"shifted_chebyshev_polynomial_t", nullptr, shifted_t},
    Function{"shifted_chebyshev_polynomial_u", nullptr, shifted_u},
    Function{"shifted_chebyshev_polynomial_v", nullptr, shifted_v},
    Function{"shifted_chebyshev_polynomial_w", nullptr, shifted_w},
    Function{"hermite_polynomial_h", nullptr, hermite_h},
    Function{"hermite_polynomial_he", nullptr, hermite_he},
    Function{"laguerre_polynomial_l", nullptr, laguerre},
    Function{"legendre_polynomial_p", nullptr, legendre},
};

}  // namespace

const Function* find(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  double shift = 0;
  if (x < 0) {
    double whole = 0;
    const double fraction = std::modf(x, &whole);
    if (fraction == 0) return kNan;
    shift = -kPi / std::tan(kPi * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) shift -= 1 / x;
  double series = 0;
  const double square = 1 / (x * x);
  if (x < 1e17)
    for (size_t k = 8; k-- > 0;) series = square * (kBernoulli[k] / (2.0 * static_cast<double>(k + 1)) + series);
  return std::log(x) - 0.5 / x - series + shift;
}

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1 && x < 0.5) {
    const double s = std::sin(kPi * x);
    return kPi * kPi / (s * s) - polygamma(1, 1 - x);
  }
  const double sign = std::fmod(n, 2) != 0 ? 1 : -1;
  return sign * std::exp(lgamma(n + 1)) * zeta(n + 1, x);
}

double zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q)) return kNan;
  if (s == 1) return kInf;
  if (s < 1) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (s != std::floor(s)) return kNan;
  }
  if (q < -32) {  // as many terms as q is far below zero: those are a series of their own, mirrored, without its tail
    const double fraction = q - std::floor(q), sign = std::fmod(s, 2) == 0 ? 1 : -1;
    return zeta(s, fraction) + sign * (zeta(s, 1 - fraction) - zeta(s, 1 - q));
  }
  if (q > 1e8) return (1 / (s - 1) + 1 / (2 * q)) * std::pow(q, 1 - s);
  double sum = 0, at = q;
  for (int k = 0; k < 12 || at <= 12; ++k, at += 1) {
    const double term = std::pow(at, -s);
    sum += term;
    if (at > 0 && std::fabs(term) < kEpsilon / 4 * std::fabs(sum)) return sum;
  }
  // Euler and Maclaurin's formula for the rest, from `at` on.
  const double power = std::pow(at, -s);
  sum += power * at / (s - 1) + power / 2;
  double factor = s * power / at, factorial = 2;
  for (size_t k = 0; k < kBernoulli.size(); ++k) {
    const double term = kBernoulli[k] / factorial * factor, m = 2.0 * static_cast<double>(k + 1);
    sum += term;
    if (std::fabs(term) < kEpsilon / 4 * std::fabs(sum)) break;
    factor *= (s + m - 1) * (s + m) / (at * at);
    factorial *= (m + 1) * (m + 2);
  }
  return sum;
}

double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double square = 1 / (2 * x * x);
  return (1 - square * (1 - square * (3 - square * (15 - square * 105)))) / (x * std::sqrt(kPi));
}

/// A first guess from the tail's logarithm, then Newton's steps on the side where nothing cancels.
double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNan;
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  // Next to 1/2, where x is small, the steps below would leave few digits right.
  if (std::fabs(p - 0.5) <= 0.25) return erfinv(2 * (p - 0.5)) * std::numbers::sqrt2;
  if (p > 0.5) return -ndtri(1 - p);  // which is exact
  const double t = std::sqrt(-2 * std::log(p));
  double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 4; ++i) {
    // Halley's step for erfc(-x / sqrt(2)) / 2 - p, relative to the density.
    const double scale = std::sqrt(2 * kPi) * std::exp(x * x / 2);
    const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p, step = error * scale;
    if (!std::isfinite(step)) break;
    x -= step / (1 + x * step / 2);
    if (std::fabs(step) < 1e-16 * std::fabs(x)) break;
  }
  return x;
}

double erfinv(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return kNan;
  if (std::fabs(x) == 1) return std::copysign(kInf, x);
  if (std::fabs(x) > 0.5) return std::copysign(-ndtri((1 - std::fabs(x)) / 2) / std::numbers::sqrt2, x);
  double y = x * std::sqrt(kPi) / 2 * (1 + kPi / 12 * x * x);
  for (int i = 0; i < 4; ++i) {
    const double step = (std::erf(y) - x) * std::sqrt(kPi) / 2 * std::exp(y * y);
    y -= step / (1 + y * step);
  }
  return y;
}

double log_ndtr(double x) {
  const double t = x / std::numbers::sqrt2;
  if (x < -1) return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-std::erfc(t) / 2);
}

double igamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNan;
  if (a == 0) return x > 0 ? 1 : kNan;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
  if (std::isinf(x)) return 1;
  return x < a + 1 ? lower_series(a, x) : 1 - upper_fraction(a, x);
}

double igammac(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNan;
  if (a == 0) return x > 0 ? 0 : kNan;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
  if (std::isinf(x)) return 0;
  return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}

}  // namespace strata::special
