// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Fourier transforms against the sum of their definition, in long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include "codegen/native/fourier.h"
#include "codegen/native/fourier_passes.h"
#include "core/support/error.h"

namespace strata::native {
namespace {

using Wide = std::complex<long double>;

/// Complex numbers by line, as [k * lanes + l].
template <class T>
struct Lines {
  int64_t n = 0, lanes = 0;
  std::vector<T> re, im;

  Lines(int64_t n, int64_t lanes) : n(n), lanes(lanes), re(static_cast<size_t>(n * lanes)), im(re.size()) {}
  size_t place(int64_t k, int64_t l) const { return static_cast<size_t>(k * lanes + l); }
  Wide at(int64_t k, int64_t l) const { return {re[place(k, l)], im[place(k, l)]}; }
  bool operator==(const Lines&) const = default;

  /// One of the lines alone.
  Lines line(int64_t l) const {
    Lines one(n, 1);
    for (int64_t k = 0; k < n; ++k) {
      one.re[one.place(k, 0)] = re[place(k, l)];
      one.im[one.place(k, 0)] = im[place(k, l)];
    }
    return one;
  }
};

template <class T>
Lines<T> random_lines(int64_t n, int64_t lanes) {
  std::mt19937 generator(static_cast<unsigned>(1000 * n + lanes));
  std::uniform_real_distribution<T> values(-1, 1);
  Lines<T> x(n, lanes);
  for (T& value : x.re) value = values(generator);
  for (T& value : x.im) value = values(generator);
  return x;
}

/// Scratch of exactly the size asked for, full of what must not get into a result.
template <class T>
std::vector<T> scratch_for(const Fourier<T>& fourier, int64_t lanes) {
  return std::vector<T>(static_cast<size_t>(fourier.scratch_elements(lanes)), std::numeric_limits<T>::quiet_NaN());
}

template <class T>
Lines<T> transformed(Lines<T> x) {
  const Fourier<T> fourier(x.n);
  std::vector<T> scratch = scratch_for(fourier, x.lanes);
  fourier.transform(x.re.data(), x.im.data(), x.lanes, scratch.data());
  return x;
}

/// Of the real parts; the result has the first n / 2 + 1 values.
template <class T>
Lines<T> transformed_real(const Lines<T>& x) {
  const Fourier<T> fourier(x.n);
  std::vector<T> scratch = scratch_for(fourier, x.lanes);
  Lines<T> y(x.n / 2 + 1, x.lanes);
  std::ranges::fill(y.im, T(7));
  fourier.forward_real(x.re.data(), y.re.data(), y.im.data(), x.lanes, scratch.data());
  return y;
}

/// The n real numbers of a spectrum, as real parts.
template <class T>
Lines<T> inverse_real(const Lines<T>& y, int64_t n) {
  const Fourier<T> fourier(n);
  std::vector<T> scratch = scratch_for(fourier, y.lanes);
  Lines<T> x(n, y.lanes);
  fourier.inverse_real(y.re.data(), y.im.data(), x.re.data(), y.lanes, scratch.data());
  return x;
}

/// sum_j x(j) exp(sign 2 pi i j k / n).
template <class F>
Wide naive(int64_t n, int64_t k, int sign, const F& x) {
  static int64_t tabulated = 0;
  static std::vector<Wide> circle;
  if (tabulated != n) {
    circle.clear();
    for (int64_t j = 0; j < n; ++j) {
      circle.push_back(std::polar(
          1.0L, 2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(n)));
    }
    tabulated = n;
  }
  Wide sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const Wide w = circle[static_cast<size_t>(j * k % n)];
    sum += x(j) * (sign < 0 ? std::conj(w) : w);
  }
  return sum;
}

/// Relative to the root of n, which every value is about as large as.
template <class T>
long double tolerance(int64_t n) {
  const auto size = static_cast<long double>(n);
  const long double bits = std::max(1.0L, std::log2(size));
  return std::sqrt(size) * (std::is_same_v<T, float> ? 2e-7L * std::sqrt(bits) : 5e-16L * bits);
}

/// All values of a short length; of a long one some, spread over its places.
int64_t stride_of(int64_t n) { return n < 300 ? 1 : n / 7; }

/// Each way a length is transformed: every radix alone and mixed, primes with and without butterflies, two lengths.
std::vector<int64_t> lengths() {
  std::vector<int64_t> all{62,  64,  74,  81,  97,  100,  105,  121,  128,  134,  169, 196,
                           200, 211, 224, 256, 512, 1000, 1009, 2048, 2310, 3125, 4096};
  for (int64_t n = 1; n <= 41; ++n) all.push_back(n);
  return all;
}

template <class T>
void check_complex(int64_t n, int64_t lanes) {
  const Lines<T> x = random_lines<T>(n, lanes), y = transformed(x);
  for (int64_t l = 0; l < lanes; l += 2) {
    for (int64_t k = 0; k < n; k += stride_of(n)) {
      const Wide expected = naive(n, k, -1, [&](int64_t j) { return x.at(j, l); });
      ASSERT_LT(std::abs(y.at(k, l) - expected), tolerance<T>(n)) << n << " elements, value " << k << " of line " << l;
    }
  }
}

template <class T>
void check_forward_real(int64_t n, int64_t lanes) {
  const Lines<T> x = random_lines<T>(n, lanes), y = transformed_real(x);
  for (int64_t l = 0; l < lanes; l += 2) {
    EXPECT_EQ(y.at(0, l).imag(), 0) << n;
    EXPECT_EQ(n % 2 == 0 ? y.at(n / 2, l).imag() : 0, 0) << n;
    for (int64_t k = 0; k <= n / 2; k += stride_of(n)) {
      const Wide expected = naive(n, k, -1, [&](int64_t j) { return Wide(x.at(j, l).real()); });
      ASSERT_LT(std::abs(y.at(k, l) - expected), tolerance<T>(n)) << n << " elements, value " << k << " of line " << l;
    }
  }
}

template <class T>
void check_inverse_real(int64_t n, int64_t lanes) {
  const Lines<T> y = random_lines<T>(n / 2 + 1, lanes), x = inverse_real(y, n);
  for (int64_t l = 0; l < lanes; l += 2) {
    const auto value = [&](int64_t k) {
      if (k == 0 || 2 * k == n) return Wide(y.at(k, l).real());
      return 2 * k < n ? y.at(k, l) : std::conj(y.at(n - k, l));
    };
    for (int64_t j = 0; j < n; j += stride_of(n)) {
      const Wide expected = naive(n, j, 1, value);
      ASSERT_LT(std::abs(x.at(j, l).real() - expected), tolerance<T>(n)) << n << " elements, " << j << " of line " << l;
    }
  }
}

template <class T>
void check(int64_t n) {
  for (const int64_t lanes : {1, 3, 16}) {
    if (lanes == 16 && n > 64 && n < 2048) continue;  // for the time it takes
    check_complex<T>(n, lanes);
    check_forward_real<T>(n, lanes);
    check_inverse_real<T>(n, lanes);
  }
}

TEST(Fourier, EveryLengthInFloat) {
  for (const int64_t n : lengths()) check<float>(n);
}

TEST(Fourier, EveryLengthInDouble) {
  for (const int64_t n : lengths()) check<double>(n);
}

TEST(Fourier, OneElementIsItself) {
  const Lines<float> x = random_lines<float>(1, 3);
  EXPECT_EQ(transformed(x), x);
  EXPECT_EQ(transformed_real(x).re, x.re);
  EXPECT_EQ(inverse_real(x, 1).re, x.re);
}

TEST(Fourier, TwoElementsAreSumAndDifference) {
  Lines<double> x(2, 1);
  x.re = {3, 5};
  x.im = {1, -2};
  const Lines<double> y = transformed(x), z = transformed_real(x), back = inverse_real(x, 2);
  EXPECT_EQ(y.re, (std::vector<double>{8, -2}));
  EXPECT_EQ(y.im, (std::vector<double>{-1, 3}));
  EXPECT_EQ(z.re, (std::vector<double>{8, -2}));
  EXPECT_EQ(z.im, (std::vector<double>{0, 0}));
  EXPECT_EQ(back.re, (std::vector<double>{8, -2}));
}

TEST(Fourier, RoundTrips) {
  for (const int64_t n : {1, 2, 9, 16, 37, 74, 90, 2048, 2401}) {
    const Lines<double> x = random_lines<double>(n, 3);
    Lines<double> y = transformed(x);
    std::swap(y.re, y.im);
    y = transformed(y);
    const Lines<double> z = inverse_real(transformed_real(x), n);
    for (size_t i = 0; i < x.re.size(); ++i) {
      ASSERT_NEAR(y.im[i] / static_cast<double>(n), x.re[i], 4e-15) << n;
      ASSERT_NEAR(y.re[i] / static_cast<double>(n), x.im[i], 4e-15) << n;
      ASSERT_NEAR(z.re[i] / static_cast<double>(n), x.re[i], 4e-15) << n;
    }
  }
}

/// To the last bit: neither what other lines hold nor how many there are matters.
template <class T>
void check_lines_apart(int64_t n, T poison) {
  constexpr int64_t kLanes = 19, kSick = 1;
  const Lines<T> healthy = random_lines<T>(n, kLanes);
  Lines<T> sick = healthy;
  sick.re[sick.place(n / 2, kSick)] = sick.im[sick.place(0, kSick)] = poison;
  const Lines<T> y = transformed(sick), z = transformed_real(sick), back = inverse_real(sick, 2 * n - 2);
  for (const int64_t l : {0, 2, 16, 18}) {
    const Lines<T> alone = healthy.line(l);
    EXPECT_EQ(y.line(l), transformed(alone)) << n << " elements, line " << l;
    EXPECT_EQ(z.line(l), transformed_real(alone)) << n << " elements, line " << l;
    EXPECT_EQ(back.line(l), inverse_real(alone, 2 * n - 2)) << n << " elements, line " << l;
  }
  EXPECT_FALSE(std::isfinite(y.re[y.place(0, kSick)])) << n;
  EXPECT_FALSE(std::isfinite(z.re[z.place(0, kSick)])) << n;
  EXPECT_FALSE(std::isfinite(back.re[back.place(0, kSick)])) << n;
}

TEST(Fourier, LinesStayApart) {
  for (const int64_t n : {2, 15, 16, 37, 38, 60, 2048, 2401}) {
    check_lines_apart<float>(n, std::numeric_limits<float>::quiet_NaN());
    check_lines_apart<double>(n, std::numeric_limits<double>::infinity());
  }
}

TEST(Fourier, ImaginaryPartsOfRealValuesAreIgnored) {
  for (const int64_t n : {1, 2, 5, 6, 37, 74, 2048, 4096}) {
    const Lines<float> y = random_lines<float>(n / 2 + 1, 3);
    Lines<float> other = y;
    for (int64_t l = 0; l < 3; ++l) {
      other.im[other.place(0, l)] = std::numeric_limits<float>::quiet_NaN();
      if (n % 2 == 0) other.im[other.place(n / 2, l)] = std::numeric_limits<float>::quiet_NaN();
    }
    EXPECT_EQ(inverse_real(other, n), inverse_real(y, n)) << n;
  }
}

TEST(Fourier, ThreadsShareOneTransform) {
  for (const int64_t n : {60, 74, 2048}) {
    const Fourier<float> fourier(n);
    const Lines<float> x = random_lines<float>(n, 16), expected = transformed(x);
    std::vector<Lines<float>> results(4, x);
    std::vector<std::thread> threads;
    for (Lines<float>& y : results) {
      threads.emplace_back([&] {
        std::vector<float> scratch = scratch_for(fourier, 16);
        fourier.transform(y.re.data(), y.im.data(), 16, scratch.data());
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Lines<float>& y : results) EXPECT_EQ(y, expected) << n;
  }
}

template <class T>
void check_transpose(int64_t rows, int64_t columns) {
  const std::vector<T> from = random_lines<T>(rows, columns).re;
  std::vector<T> to(from.size()), expected(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    expected[static_cast<size_t>(place % columns * rows + place / columns)] = from[i];
  }
  transpose(from.data(), columns, to.data(), rows, rows, columns);
  EXPECT_EQ(to, expected) << rows << " rows of " << columns;
}

TEST(Fourier, TransposesAnyShape) {
  for (const int64_t rows : {1, 5, 16, 35}) {
    for (const int64_t columns : {1, 7, 16, 41}) {
      check_transpose<float>(rows, columns);
      check_transpose<double>(rows, columns);
    }
  }
}

TEST(Fourier, RefusesNoElements) {
  EXPECT_THROW(Fourier<float>(0), Error);
  EXPECT_THROW(Fourier<double>(-4), Error);
  EXPECT_EQ(Fourier<double>(12).size(), 12);
}

}  // namespace
}  // namespace strata::native
