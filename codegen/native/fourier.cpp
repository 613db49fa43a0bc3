// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A length is transformed in one of three ways: by passes of butterflies over all elements, after which the results are
// in order (Stockham); if it is long as two short ones, whose work stays in the nearest cache; and if it has a large
// prime factor as a convolution (Bluestein). The length alone decides, so that a line's result does not depend on how
// many lines come with it.

#include "codegen/native/fourier.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "codegen/native/fourier_passes.h"
#include "core/support/error.h"

namespace strata::native {
namespace {

/// From here on a length is transformed as two.
constexpr int64_t kLongLength = 2048;

/// The elements of the widest vector; the same on every machine, as scratch depends on it.
template <class T>
constexpr int64_t kVector = 64 / static_cast<int64_t>(sizeof(T));

/// The numbers exp(-2 pi i k / n). Only angles up to an eighth of the circle are computed.
template <class T>
class Circle {
 public:
  explicit Circle(int64_t n) : n_(n), unit_(std::gcd(8, 2 * n)), eighth_(static_cast<size_t>(n / unit_ + 1)) {
    using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    for (size_t i = 0; i < eighth_.size(); ++i) {
      const Wide angle = std::numbers::pi_v<Wide> * static_cast<Wide>(static_cast<int64_t>(i) * unit_) / (4 * n);
      eighth_[i] = {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
    }
  }

  std::complex<T> at(int64_t k) const {
    int64_t angle = k % n_ * 8;  // the circle being 8n
    const bool lower = angle > 4 * n_;
    if (lower) angle = 8 * n_ - angle;
    const bool left = angle > 2 * n_;
    if (left) angle = 4 * n_ - angle;
    const bool steep = angle > n_;
    if (steep) angle = 2 * n_ - angle;
    const std::complex<T> value = eighth_[static_cast<size_t>(angle / unit_)];
    const T c = steep ? value.imag() : value.real(), s = steep ? value.real() : value.imag();
    return {left ? -c : c, lower ? s : -s};
  }

  /// The numbers of k = 0, step, 2 step, ...: the real parts, then the imaginary ones.
  void write(int64_t step, int64_t count, T* to) const {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = at(i * step);
      to[i] = value.real();
      to[count + i] = value.imag();
    }
  }

 private:
  int64_t n_, unit_;
  std::vector<std::complex<T>> eighth_;
};

/// The factors of n as the radixes of its passes, the largest first.
std::vector<int64_t> radixes_of(int64_t n) {
  std::vector<int64_t> radixes;
  for (int64_t radix = 8; n % 2 == 0; n /= radix) {
    if (n % 8 != 0 || n % 32 == 16) radix = n % 4 == 0 ? 4 : 2;  // 16 as 4 * 4
    radixes.push_back(radix);
  }
  for (int64_t prime = 3; n > 1; prime += 2) {
    for (; n % prime == 0; n /= prime) radixes.push_back(prime);
  }
  std::ranges::sort(radixes, std::greater());
  return radixes;
}

/// n without its prime factors up to `largest`.
int64_t without_small_primes(int64_t n, int64_t largest) {
  for (int64_t prime = 2; prime <= largest; ++prime) {
    while (n % prime == 0) n /= prime;
  }
  return n;
}

// -------------------------------------------------------------------------------------------------------------
// passes over all elements

template <class T>
class Stages {
 public:
  explicit Stages(int64_t n) {
    const Circle<T> circle(n);
    int64_t done = 1;
    for (const int64_t radix : radixes_of(n)) {
      stages_.push_back({.radix = radix, .done = done, .rows = n / done / radix, .twiddles = {}, .angles = {}});
      make_tables(stages_.back(), circle);
      done *= radix;
    }
  }

  /// `a` and `b` are room for n rows without gaps. `b` may be `from` or `to`; these may be the same without gaps.
  void run(Planes<const T> from, Planes<T> to, int64_t lanes, Planes<T> a, Planes<T> b) const {
    if (stages_.empty()) copy_rows(from, to, 1, lanes);
    for (const Stage& stage : stages_) {
      const bool last = &stage == &stages_.back();
      run(stage, from, last ? to : a, lanes, last);
      from = {a.re, a.im, lanes};
      std::swap(a, b);
    }
  }

 private:
  struct Stage {
    int64_t radix, done, rows;  ///< n = done * radix * rows
    std::vector<T> twiddles, angles;
  };

  void make_tables(Stage& stage, const Circle<T>& circle) const {
    for (int64_t row = 0; row < stage.rows && stage.rows > 1; ++row) {
      for (int64_t i = 1; i < stage.radix; ++i) {
        const auto w = circle.at(row * i * stage.done);
        stage.twiddles.insert(stage.twiddles.end(), {w.real(), w.imag()});
      }
    }
    if (stage.radix % 2 == 0) return;
    const Circle<T> angles(stage.radix);
    for (int64_t k = 1; k <= stage.radix / 2; ++k) {
      for (int64_t j = 1; j <= stage.radix / 2; ++j) {
        const std::complex<T> w = angles.at(j * k);
        stage.angles.insert(stage.angles.end(), {w.real(), -w.imag()});
      }
    }
  }

  void run(const Stage& stage, const Planes<const T>& from, const Planes<T>& to, int64_t lanes, bool last) const {
    const int64_t width = stage.done * lanes;
    Pass<T> pass{.radix = stage.radix,
                 .rows = stage.rows,
                 .width = width,
                 .in = {from.re, from.im, stage.done == 1 ? from.step : width},
                 .in_step = stage.rows * (stage.done == 1 ? from.step : width),
                 .out = {to.re, to.im, stage.radix * width},
                 .out_step = width,
                 .twiddles = last ? nullptr : stage.twiddles.data(),
                 .angles = stage.angles.data()};
    if (last && to.step != lanes) {  // with gaps: every element is a row
      pass.rows = stage.done;
      pass.width = pass.in.step = lanes;
      pass.in_step = stage.done == 1 ? from.step : width;
      pass.out.step = to.step;
      pass.out_step = stage.done * to.step;
    }
    run_pass(pass);
  }

  std::vector<Stage> stages_;
};

// -------------------------------------------------------------------------------------------------------------
// a long length as two

/// n = a b. Element j = j1 b + j2 of a line goes into the transform over j1 of its column j2, whose result k1, turned,
/// goes into the transform over j2, whose result k2 is value k1 + a k2.
template <class T>
class LongTransform {
 public:
  explicit LongTransform(int64_t n) : a_(divisor(n)), b_(n / a_), first_(a_), second_(b_) {
    const Circle<T> circle(n);
    turns_.resize(static_cast<size_t>(2 * n));
    for (int64_t j = 0; j < b_; ++j) circle.write(j, a_, turns_.data() + 2 * j * a_);
  }

  /// First the results of the first transforms, then four blocks of columns.
  int64_t scratch_elements(int64_t lanes) const { return 2 * a_ * b_ * lanes + 4 * std::max(a_, b_) * most(lanes); }

  void run(Planes<const T> from, Planes<T> to, int64_t lanes, T* scratch) const {
    const int64_t all = a_ * b_ * lanes, room = std::max(a_, b_) * most(lanes);
    T *const middle_re = scratch, *const middle_im = middle_re + all, *const rest = middle_im + all;
    const Planes<T> x{rest, rest + room, 0}, y{rest + 2 * room, rest + 3 * room, 0};
    for_blocks(b_, lanes, [&](int64_t j, int64_t count) {
      const Planes<const T> block{from.re + j * lanes, from.im + j * lanes, b_ * lanes};
      const Planes<T> columns{y.re, y.im, count * lanes};
      first_.run(block, columns, count * lanes, x, columns);
      turn(columns, {middle_re + j * a_ * lanes, middle_im + j * a_ * lanes, lanes}, j, count, lanes);
    });
    for_blocks(a_, lanes, [&](int64_t k, int64_t count) {
      const Planes<const T> block{middle_re + k * lanes, middle_im + k * lanes, a_ * lanes};
      second_.run(block, {to.re + k * lanes, to.im + k * lanes, a_ * lanes}, count * lanes, x, y);
    });
  }

 private:
  /// The divisor next below the square root.
  static int64_t divisor(int64_t n) {
    auto a = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    while (n % a != 0) --a;
    return a;
  }

  /// So many columns at once that their lanes fill vectors.
  static int64_t columns_at_once(int64_t lanes) {
    return lanes >= kVector<T> ? 1 : kVector<T> / std::gcd(kVector<T>, lanes);
  }
  static int64_t most(int64_t lanes) { return columns_at_once(lanes) * lanes; }

  /// The last block may overlap the one before: computing columns again is cheaper than a block that fills no vector.
  template <class F>
  static void for_blocks(int64_t columns, int64_t lanes, const F& f) {
    const int64_t count = std::min(columns, columns_at_once(lanes));
    for (int64_t i = 0; i < columns; i += count) f(std::min(i, columns - count), count);
  }

  /// Column by column, times exp(-2 pi i j k / n).
  void turn(const Planes<T>& columns, Planes<T> to, int64_t j, int64_t count, int64_t lanes) const {
    if (lanes == 1) {
      transpose(columns.re, columns.step, to.re, a_, a_, count);
      transpose(columns.im, columns.step, to.im, a_, a_, count);
    }
    for (int64_t i = 0; i < count; ++i) {
      Planes<const T> from{columns.re + i * lanes, columns.im + i * lanes, columns.step};
      if (lanes == 1) from = {to.re, to.im, 1};
      multiply_rows(from, to, turns_.data() + 2 * (j + i) * a_, a_, lanes);
      to.re += a_ * lanes;
      to.im += a_ * lanes;
    }
  }

  int64_t a_, b_;
  Stages<T> first_, second_;
  std::vector<T> turns_;  ///< [b][2][a]
};

}  // namespace

// -------------------------------------------------------------------------------------------------------------
// any length

/// Transforms of complex numbers, which may stand apart.
template <class T>
class FourierPlan {
 public:
  explicit FourierPlan(int64_t n) : n_(n) {
    if (without_small_primes(n, kLargestRadix) > 1)
      make_convolution();
    else if (n >= kLongLength)
      long_.emplace(n);
    else
      stages_.emplace(n);
  }

  int64_t scratch_elements(int64_t lanes) const {
    constexpr int64_t kDouble = std::is_same_v<T, double> ? 1 : 2;  // its elements in T
    if (convolution_) return (2 * convolution_->n_ * lanes + convolution_->scratch_elements(lanes) + 1) * kDouble;
    return long_ ? long_->scratch_elements(lanes) : 2 * n_ * lanes;
  }

  /// `spare` is room for n rows without gaps, and may be `from` or `to`; these may be the same without gaps.
  void run(Planes<const T> from, Planes<T> to, int64_t lanes, Planes<T> spare, T* scratch) const {
    if (stages_) return stages_->run(from, to, lanes, {scratch, scratch + n_ * lanes, lanes}, spare);
    if (convolution_) return convolve(from, to, lanes, scratch);
    if (from.step != lanes) {
      copy_rows(from, spare, n_, lanes);
      from = {spare.re, spare.im, lanes};
    }
    long_->run(from, to.step == lanes ? to : spare, lanes, scratch);
    if (to.step != lanes) copy_rows({spare.re, spare.im, lanes}, to, n_, lanes);
  }

 private:
  template <class>
  friend class FourierPlan;

  /// j k = (j^2 + k^2 - (k - j)^2) / 2: a convolution with exp(pi i j^2 / n), of which `spectrum_` is the transform.
  void make_convolution() {
    int64_t m = 2 * n_ - 1;
    while (without_small_primes(m, 5) > 1) ++m;
    convolution_ = std::make_unique<FourierPlan<double>>(m);
    const Circle<double> circle(2 * n_);
    const auto n = static_cast<size_t>(n_), size = static_cast<size_t>(m);
    chirp_.resize(2 * n);
    spectrum_.resize(2 * size);
    for (size_t j = 0; j < n; ++j) {
      const auto w = circle.at(static_cast<int64_t>(j * j % (2 * n)));
      chirp_[j] = w.real();
      chirp_[n + j] = w.imag();
      spectrum_[j] = spectrum_[(size - j) % size] = w.real() / static_cast<double>(m);
      spectrum_[size + j] = spectrum_[size + (size - j) % size] = -w.imag() / static_cast<double>(m);
    }
    std::vector<double> scratch(static_cast<size_t>(convolution_->scratch_elements(1)));
    const Planes<double> planes{spectrum_.data(), spectrum_.data() + m, 1};
    convolution_->run({planes.re, planes.im, 1}, planes, 1, planes, scratch.data());
  }

  /// In double also for float: the numbers of a convolution are larger than its result.
  void convolve(const Planes<const T>& from, const Planes<T>& to, int64_t lanes, T* scratch) const {
    const int64_t m = convolution_->n_, all = m * lanes;
    void* room = scratch;
    size_t bytes = sizeof(T) * static_cast<size_t>(scratch_elements(lanes));
    auto* re = static_cast<double*>(std::align(alignof(double), sizeof(double), room, bytes));
    double *im = re + all, *rest = im + all;
    multiply_rows(from, Planes<double>{re, im, lanes}, chirp_.data(), n_, lanes);
    std::fill(re + n_ * lanes, im, 0.0);
    std::fill(im + n_ * lanes, rest, 0.0);
    convolution_->run({re, im, lanes}, {re, im, lanes}, lanes, {re, im, lanes}, rest);
    multiply_rows(Planes<const double>{re, im, lanes}, Planes<double>{re, im, lanes}, spectrum_.data(), m, lanes);
    convolution_->run({im, re, lanes}, {im, re, lanes}, lanes, {im, re, lanes}, rest);
    multiply_rows(Planes<const double>{re, im, lanes}, to, chirp_.data(), n_, lanes);
  }

  int64_t n_;
  std::optional<Stages<T>> stages_;
  std::optional<LongTransform<T>> long_;
  std::unique_ptr<const FourierPlan<double>> convolution_;
  std::vector<double> chirp_, spectrum_;  ///< real parts, then imaginary ones
};

template <class T>
struct FourierTables {
  explicit FourierTables(int64_t n) : full(n) {
    if (n % 2 != 0) return;
    half.emplace(n / 2);
    turns.resize(static_cast<size_t>(2 * (n / 4 + 1)));
    Circle<T>(n).write(1, n / 4 + 1, turns.data());
  }

  FourierPlan<T> full;
  std::optional<FourierPlan<T>> half;  ///< for the real transforms of even lengths
  std::vector<T> turns;                ///< exp(-2 pi i k / n) for k up to n / 4
};

template <class T>
Fourier<T>::Fourier(int64_t n) : n_(n) {
  if (n < 1) throw_internal("a Fourier transform of " + std::to_string(n) + " elements");
  tables_ = std::make_shared<const FourierTables<T>>(n);
}

template <class T>
int64_t Fourier<T>::scratch_elements(int64_t lanes) const {
  const int64_t full = tables_->full.scratch_elements(lanes);
  return tables_->half ? std::max(full, n_ * lanes + tables_->half->scratch_elements(lanes)) : full + 2 * n_ * lanes;
}

template <class T>
void Fourier<T>::transform(T* re, T* im, int64_t lanes, T* scratch) const {
  tables_->full.run({re, im, lanes}, {re, im, lanes}, lanes, {re, im, lanes}, scratch);
}

template <class T>
void Fourier<T>::forward_real(const T* x, T* re, T* im, int64_t lanes, T* scratch) const {
  const int64_t all = n_ * lanes, half = n_ / 2;
  if (tables_->half) {
    tables_->half->run({x, x + lanes, 2 * lanes}, {re, im, lanes}, lanes, {re, im, lanes}, scratch);
    return split_halves(re, im, tables_->turns.data(), half, lanes);
  }
  const Planes<T> z{scratch, scratch + all, lanes};
  std::copy_n(x, all, z.re);
  std::fill_n(z.im, all, T(0));
  tables_->full.run({z.re, z.im, lanes}, z, lanes, z, scratch + 2 * all);
  std::copy_n(z.re, (half + 1) * lanes, re);
  std::copy_n(z.im, (half + 1) * lanes, im);
  std::fill_n(im, lanes, T(0));
}

template <class T>
void Fourier<T>::inverse_real(const T* re, const T* im, T* x, int64_t lanes, T* scratch) const {
  const int64_t all = n_ * lanes, half = n_ / 2;
  if (tables_->half) {
    const Planes<T> z{scratch, scratch + half * lanes, lanes}, swapped{z.im, z.re, lanes};
    join_halves({re, im, lanes}, z, tables_->turns.data(), half, lanes);
    return tables_->half->run({z.im, z.re, lanes}, {x + lanes, x, 2 * lanes}, lanes, swapped, scratch + all);
  }
  const Planes<T> z{scratch, scratch + all, lanes}, swapped{z.im, z.re, lanes};
  std::copy_n(re, (half + 1) * lanes, z.re);
  std::copy_n(im, (half + 1) * lanes, z.im);
  std::fill_n(z.im, lanes, T(0));
  for (int64_t k = 1; k <= half; ++k) {
    std::copy_n(re + k * lanes, lanes, z.re + (n_ - k) * lanes);
    std::transform(im + k * lanes, im + (k + 1) * lanes, z.im + (n_ - k) * lanes, std::negate());
  }
  tables_->full.run({z.im, z.re, lanes}, swapped, lanes, swapped, scratch + 2 * all);
  std::copy_n(z.re, all, x);
}

template class Fourier<float>;
template class Fourier<double>;

}  // namespace strata::native
