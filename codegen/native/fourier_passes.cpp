// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/native/fourier_passes.h"

#include "codegen/native/fourier_vectors.h"

namespace strata::native {
namespace {

// -------------------------------------------------------------------------------------------------------------
// butterflies

template <class V>
STRATA_INLINE void butterfly2(V& a_re, V& a_im, V& b_re, V& b_im) {
  const V re = a_re - b_re, im = a_im - b_im;
  a_re = a_re + b_re;
  a_im = a_im + b_im;
  b_re = re;
  b_im = im;
}

/// Of the inputs at 0, S, 2S and 3S; the results take their places in order.
template <int S, class V>
STRATA_INLINE void butterfly4(V* re, V* im) {
  butterfly2(re[0], im[0], re[2 * S], im[2 * S]);
  butterfly2(re[S], im[S], re[3 * S], im[3 * S]);
  const V a_re = re[2 * S], a_im = im[2 * S], b_re = re[3 * S], b_im = im[3 * S], c_re = re[S], c_im = im[S];
  re[2 * S] = re[0] - c_re;
  im[2 * S] = im[0] - c_im;
  re[0] = re[0] + c_re;
  im[0] = im[0] + c_im;
  re[S] = a_re + b_im;
  im[S] = a_im - b_re;
  re[3 * S] = a_re - b_im;
  im[3 * S] = a_im + b_re;
}

template <class T, class V>
STRATA_INLINE void butterfly8(V* re, V* im) {
  constexpr T kHalfRoot = static_cast<T>(0.70710678118654752440);
  butterfly4<2>(re, im);
  butterfly4<2>(re + 1, im + 1);
  // The odd half, at 1, 3, 5, 7, times exp(-2 pi i k / 8).
  const V a_re = re[3] + im[3], a_im = im[3] - re[3], b_re = im[7] - re[7], b_im = re[7] + im[7];
  const V odd_re[4] = {re[1], a_re * kHalfRoot, im[5], b_re * kHalfRoot};
  const V odd_im[4] = {im[1], a_im * kHalfRoot, -re[5], b_im * -kHalfRoot};
  const V even_re[4] = {re[0], re[2], re[4], re[6]}, even_im[4] = {im[0], im[2], im[4], im[6]};
  each<4>(4, [&](auto k) STRATA_INLINE_LAMBDA {
    re[k] = even_re[k] + odd_re[k];
    im[k] = even_im[k] + odd_im[k];
    re[k + 4] = even_re[k] - odd_re[k];
    im[k + 4] = even_im[k] - odd_im[k];
  });
}

/// Any odd radix; known to the compiler if R is not 0. Inputs j and radix - j share their cosine and, but for the sign,
/// their sine.
template <int R, class T, class V>
STRATA_INLINE void butterfly_odd(V* re, V* im, int radix, const T* angles) {
  constexpr int kHalf = R == 0 ? kLargestRadix / 2 : R / 2;
  const int half = radix / 2;
  V sum_re[kHalf], sum_im[kHalf], dif_re[kHalf], dif_im[kHalf];
  const V first_re = re[0], first_im = im[0];  // NOLINT: they are set, by a lambda
  each<R / 2>(half, [&](auto j) STRATA_INLINE_LAMBDA {
    const int a = j + 1, b = radix - a;
    sum_re[j] = re[a] + re[b];
    sum_im[j] = im[a] + im[b];
    dif_re[j] = re[a] - re[b];
    dif_im[j] = im[a] - im[b];
    re[0] = re[0] + sum_re[j];
    im[0] = im[0] + sum_im[j];
  });
  each<R / 2>(half, [&](auto k) STRATA_INLINE_LAMBDA {
    const T* angle = angles + k * half * 2;
    V a_re = first_re, a_im = first_im, b_re = dif_re[0] * angle[1], b_im = dif_im[0] * angle[1];
    each<R / 2>(half, [&](auto j) STRATA_INLINE_LAMBDA {
      const T c = angle[2 * j], s = angle[2 * j + 1];
      a_re = a_re + sum_re[j] * c;
      a_im = a_im + sum_im[j] * c;
      if (j == 0) return;
      b_re = b_re + dif_re[j] * s;
      b_im = b_im + dif_im[j] * s;
    });
    const int a = k + 1, b = radix - a;
    re[a] = a_re + b_im;
    im[a] = a_im - b_re;
    re[b] = a_re - b_im;
    im[b] = a_im + b_re;
  });
}

template <int R, class T, class V>
STRATA_INLINE void butterfly(V* re, V* im, int radix, const T* angles) {
  if constexpr (R == 2)
    butterfly2(re[0], im[0], re[1], im[1]);
  else if constexpr (R == 4)
    butterfly4<1>(re, im);
  else if constexpr (R == 8)
    butterfly8<T>(re, im);
  else
    butterfly_odd<R>(re, im, radix, angles);
}

/// One vector or one number of every input of a butterfly.
template <int R, class V, class T>
STRATA_INLINE void pass_column(const Pass<T>& p, int64_t in, int64_t out, const T* twiddles) {
  constexpr int kMost = R == 0 ? kLargestRadix : R;
  const int radix = R == 0 ? static_cast<int>(p.radix) : R;
  V re[kMost], im[kMost];
  each<R>(radix, [&](auto j) STRATA_INLINE_LAMBDA {
    load(re[j], p.in.re + in + j * p.in_step);
    load(im[j], p.in.im + in + j * p.in_step);
  });
  butterfly<R>(re, im, radix, p.angles);
  each<R>(radix, [&](auto j) STRATA_INLINE_LAMBDA {
    T *to_re = p.out.re + out + j * p.out_step, *to_im = p.out.im + out + j * p.out_step;
    if (twiddles == nullptr || j == 0) {
      store(re[j], to_re);
      store(im[j], to_im);
    } else {
      const T c = twiddles[2 * j - 2], s = twiddles[2 * j - 1];
      const V product_re = re[j] * c - im[j] * s, product_im = re[j] * s + im[j] * c;
      store(product_re, to_re);
      store(product_im, to_im);
    }
  });
}

/// What is left of a row after the vectors goes number by number, by the same template.
template <int Bytes, int R, class T>
STRATA_INLINE void pass_row(const Pass<T>& p, int64_t row, const T* twiddles) {
  const int64_t in = row * p.in.step, out = row * p.out.step;
  int64_t i = 0;
  for (; i + kVector<T, Bytes> <= p.width; i += kVector<T, Bytes>)
    pass_column<R, Vector<T, Bytes>>(p, in + i, out + i, twiddles);
  for (; i < p.width; ++i) pass_column<R, T>(p, in + i, out + i, twiddles);
}

template <int Bytes, int R, class T>
STRATA_INLINE void pass_rows(const Pass<T>& pass) {
  const Pass<T> p = pass;  // a copy, which stores cannot change
  if (p.twiddles == nullptr) {
    for (int64_t row = 0; row < p.rows; ++row) pass_row<Bytes, R, T>(p, row, nullptr);
    return;
  }
  pass_row<Bytes, R, T>(p, 0, nullptr);  // its factors are 1
  for (int64_t row = 1; row < p.rows; ++row) pass_row<Bytes, R>(p, row, p.twiddles + row * (p.radix - 1) * 2);
}

template <int Bytes, class T>
STRATA_INLINE void any_pass(const Pass<T>& p) {
  switch (p.radix) {
    case 2:
      return pass_rows<Bytes, 2>(p);
    case 3:
      return pass_rows<Bytes, 3>(p);
    case 4:
      return pass_rows<Bytes, 4>(p);
    case 5:
      return pass_rows<Bytes, 5>(p);
    case 7:
      return pass_rows<Bytes, 7>(p);
    case 8:
      return pass_rows<Bytes, 8>(p);
    default:
      return pass_rows<Bytes, 0>(p);
  }
}

}  // namespace

STRATA_EVERY_WIDTH(run_pass, (const Pass<float>& pass), (pass), any_pass)
STRATA_EVERY_WIDTH(run_pass, (const Pass<double>& pass), (pass), any_pass)

}  // namespace strata::native
