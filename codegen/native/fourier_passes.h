// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The loops behind fourier.h: everything that touches every number. Real and imaginary parts are separate arrays.

#include <cstdint>

namespace strata::native {

/// Rows of complex numbers.
template <class T>
struct Planes {
  T *re, *im;
  int64_t step;  ///< from row to row
};

/// One pass of a transform: butterflies of `radix` inputs `in_step` apart and as many results `out_step` apart, for
/// `rows` rows of `width` neighbours each.
template <class T>
struct Pass {
  int64_t radix, rows, width;
  Planes<const T> in;
  int64_t in_step;
  Planes<T> out;
  int64_t out_step;
  const T* twiddles;  ///< [rows][radix - 1] factors of the results but the first; null: none
  const T* angles;    ///< cosine and sine of 2 pi j k / radix for j, k = 1..radix / 2; used where radix is odd
};

/// Primes up to this have a butterfly.
constexpr int64_t kLargestRadix = 31;

/// In place only where every input of a butterfly is also the place of one of its results.
void run_pass(const Pass<float>& pass);
void run_pass(const Pass<double>& pass);

/// to[k][l] = from[k][l] * factors[k]. Of all factors here the real parts stand before the imaginary ones, other than
/// in a pass. May be in place.
void multiply_rows(Planes<const float> from, Planes<float> to, const float* factors, int64_t rows, int64_t width);
void multiply_rows(Planes<const double> from, Planes<double> to, const double* factors, int64_t rows, int64_t width);
void multiply_rows(Planes<const float> from, Planes<double> to, const double* factors, int64_t rows, int64_t width);
void multiply_rows(Planes<const double> from, Planes<float> to, const double* factors, int64_t rows, int64_t width);

/// From the transform z of even and odd numbers as real and imaginary parts, [h * lanes], to that of all 2h numbers,
/// [(h + 1) * lanes], in place. `factors` are exp(-2 pi i k / 2h).
void split_halves(float* re, float* im, const float* factors, int64_t h, int64_t lanes);
void split_halves(double* re, double* im, const double* factors, int64_t h, int64_t lanes);
/// The inverse of split_halves times 2.
void join_halves(Planes<const float> from, Planes<float> to, const float* factors, int64_t h, int64_t lanes);
void join_halves(Planes<const double> from, Planes<double> to, const double* factors, int64_t h, int64_t lanes);

/// to[k][l] = from[k][l].
void copy_rows(Planes<const float> from, Planes<float> to, int64_t rows, int64_t width);
void copy_rows(Planes<const double> from, Planes<double> to, int64_t rows, int64_t width);

/// to[c * to_step + r] = from[r * from_step + c].
void transpose(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t rows, int64_t columns);
void transpose(const double* from, int64_t from_step, double* to, int64_t to_step, int64_t rows, int64_t columns);

}  // namespace strata::native
