// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace strata::native {

template <class T>
struct FourierTables;

/// Discrete Fourier transforms of one length, of several lines at once. Element k of line l stands at [k * lanes + l].
///
/// Lines never meet in an operation: what is wrong with one of them stays in it. Fastest where the lanes fill a vector
/// of 64 bytes: 16 of float, 8 of double. Calls are safe from several threads at once, each with scratch of its own.
template <class T>  // float or double
class Fourier {
 public:
  /// Makes the tables, n >= 1.
  explicit Fourier(int64_t n);

  int64_t size() const { return n_; }
  /// How many elements of scratch every call needs. Scratch holds nothing between calls.
  int64_t scratch_elements(int64_t lanes) const;

  /// sum_j x[j] exp(-2 pi i j k / n), in place. With re and im exchanged: the same with +.
  void transform(T* re, T* im, int64_t lanes, T* scratch) const;
  /// The first n / 2 + 1 values of the transform of n real numbers. Those that are real have imaginary parts of 0.
  void forward_real(const T* x, T* re, T* im, int64_t lanes, T* scratch) const;
  /// n real numbers from the first n / 2 + 1 values of their spectrum, summed with exp(+2 pi i j k / n). What the
  /// imaginary parts of values 0 and n / 2 hold does not matter.
  void inverse_real(const T* re, const T* im, T* x, int64_t lanes, T* scratch) const;

 private:
  int64_t n_;
  std::shared_ptr<const FourierTables<T>> tables_;
};

extern template class Fourier<float>;
extern template class Fourier<double>;

}  // namespace strata::native
