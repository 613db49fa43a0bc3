// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "codegen/native/fourier_passes.h"
#include "codegen/native/fourier_vectors.h"

namespace strata::native {
namespace {

// -------------------------------------------------------------------------------------------------------------
// factors

template <class V, class From, class To, class F>
STRATA_INLINE void multiply(const Planes<From>& from, int64_t i, const Planes<To>& to, int64_t o, const F& c,
                            const F& s) {
  V re, im;
  load(re, from.re + i);
  load(im, from.im + i);
  const V product_re = re * c - im * s, product_im = re * s + im * c;
  store(product_re, to.re + o);
  store(product_im, to.im + o);
}

template <int Bytes, class T, class From, class To>
STRATA_INLINE void multiply_all(const Planes<From>& from, const Planes<To>& to, const T* factors, int64_t rows,
                                int64_t width) {
  int64_t k = 0;
  if (width == 1 && from.step == 1 && to.step == 1) {
    for (; k + kVector<T, Bytes> <= rows; k += kVector<T, Bytes>) {
      Vector<T, Bytes> c, s;
      load(c, factors + k);
      load(s, factors + rows + k);
      multiply<Vector<T, Bytes>>(from, k, to, k, c, s);
    }
  }
  for (; k < rows; ++k) {
    const T c = factors[k], s = factors[rows + k];
    int64_t i = 0;
    for (; i + kVector<T, Bytes> <= width; i += kVector<T, Bytes>)
      multiply<Vector<T, Bytes>>(from, k * from.step + i, to, k * to.step + i, c, s);
    for (; i < width; ++i) multiply<T>(from, k * from.step + i, to, k * to.step + i, c, s);
  }
}

// -------------------------------------------------------------------------------------------------------------
// real numbers

template <class V, int... e>
STRATA_INLINE void reverse(V& v, std::integer_sequence<int, e...>) {
  v = __builtin_shufflevector(v, v, (static_cast<int>(sizeof...(e)) - 1 - e)...);
}
template <class T, class V>
STRATA_INLINE void reverse(V& v) {
  reverse(v, std::make_integer_sequence<int, sizeof(V) / sizeof(T)>{});
}

/// Values k and h - k of a spectrum, which stand at a and b; `Reversed` if b holds a vector of them.
template <bool Join, bool Reversed, class V, class T, class F>
STRATA_INLINE void pair(const Planes<const T>& from, const Planes<T>& to, int64_t a, int64_t b, const F& c,
                        const F& s) {
  V a_re, a_im, b_re, b_im;
  load(a_re, from.re + a);
  load(a_im, from.im + a);
  load(b_re, from.re + b);
  load(b_im, from.im + b);
  if constexpr (Reversed) {
    reverse<T>(b_re);
    reverse<T>(b_im);
  }
  constexpr T kScale = Join ? 1 : static_cast<T>(0.5);
  const V even_re = (a_re + b_re) * kScale, even_im = (a_im - b_im) * kScale;
  const V dif_re = (a_re - b_re) * kScale, sum_im = (a_im + b_im) * kScale;
  V odd_re, odd_im;
  if constexpr (Join) {
    odd_re = dif_re * s - sum_im * c;
    odd_im = dif_re * c + sum_im * s;
  } else {
    odd_re = sum_im * c + dif_re * s;
    odd_im = sum_im * s - dif_re * c;
  }
  a_re = even_re + odd_re;
  a_im = even_im + odd_im;
  b_re = even_re - odd_re;
  b_im = odd_im - even_im;
  if constexpr (Reversed) {
    reverse<T>(b_re);
    reverse<T>(b_im);
  }
  store(a_re, to.re + a);
  store(a_im, to.im + a);
  store(b_re, to.re + b);
  store(b_im, to.im + b);
}

template <int Bytes, bool Join, class T>
STRATA_INLINE void all_pairs(const Planes<const T>& from, const Planes<T>& to, const T* factors, int64_t h,
                             int64_t lanes) {
  const int64_t count = h / 2 + 1;
  int64_t k = 1;
  if (lanes == 1) {
    for (; 2 * (k + kVector<T, Bytes>) <= h + 1; k += kVector<T, Bytes>) {
      Vector<T, Bytes> c, s;
      load(c, factors + k);
      load(s, factors + count + k);
      pair<Join, true, Vector<T, Bytes>>(from, to, k, h - k - kVector<T, Bytes> + 1, c, s);
    }
  }
  for (; k < count; ++k) {
    const T c = factors[k], s = factors[count + k];
    const int64_t a = k * lanes, b = (h - k) * lanes;
    int64_t i = 0;
    for (; i + kVector<T, Bytes> <= lanes; i += kVector<T, Bytes>)
      pair<Join, false, Vector<T, Bytes>>(from, to, a + i, b + i, c, s);
    for (; i < lanes; ++i) pair<Join, false, T>(from, to, a + i, b + i, c, s);
  }
}

template <int Bytes, class T>
STRATA_INLINE void split_all(T* re, T* im, const T* factors, int64_t h, int64_t lanes) {
  for (int64_t i = 0; i < lanes; ++i) {
    const T even = re[i], odd = im[i];
    re[i] = even + odd;
    re[h * lanes + i] = even - odd;
    im[i] = im[h * lanes + i] = 0;
  }
  all_pairs<Bytes, false, T>({re, im, lanes}, {re, im, lanes}, factors, h, lanes);
}

template <int Bytes, class T>
STRATA_INLINE void join_all(const Planes<const T>& from, const Planes<T>& to, const T* factors, int64_t h,
                            int64_t lanes) {
  for (int64_t i = 0; i < lanes; ++i) {
    const T first = from.re[i], last = from.re[h * lanes + i];
    to.re[i] = first + last;
    to.im[i] = first - last;
  }
  all_pairs<Bytes, true, T>(from, to, factors, h, lanes);
}

// -------------------------------------------------------------------------------------------------------------
// moving
template <int Bytes, class T>
STRATA_INLINE void copy_row(const T* from, T* to, int64_t width) {
  int64_t i = 0;
  for (; i + kVector<T, Bytes> <= width; i += kVector<T, Bytes>)
    std::memcpy(to + i, from + i, sizeof(Vector<T, Bytes>));
  for (; i < width; ++i) to[i] = from[i];
}

template <int Bytes, class T>
STRATA_INLINE void copy_all(const Planes<const T>& from, const Planes<T>& to, int64_t rows, int64_t width) {
  for (int64_t k = 0; k < rows; ++k) {
    copy_row<Bytes>(from.re + k * from.step, to.re + k * to.step, width);
    copy_row<Bytes>(from.im + k * from.step, to.im + k * to.step, width);
  }
}

/// Exchanges the blocks of H by H off the diagonal: element e of vector a, where e has bit H, with that of b where not.
template <int H, class V, int... e>
STRATA_INLINE void exchange(V& a, V& b, std::integer_sequence<int, e...>) {
  constexpr int n = sizeof...(e);
  const V first = __builtin_shufflevector(a, b, ((e & H) == 0 ? e : n + e - H)...);
  b = __builtin_shufflevector(a, b, ((e & H) == 0 ? e + H : n + e)...);
  a = first;
}

template <int H, int N, class V>
STRATA_INLINE void exchange_blocks(V* v) {
  if constexpr (H > 0) {
    each<N>(N, [&](auto i) STRATA_INLINE_LAMBDA {
      if constexpr ((i & H) == 0) exchange<H>(v[i], v[i + H], std::make_integer_sequence<int, N>{});
    });
    exchange_blocks<H / 2, N>(v);
  }
}

template <int Bytes, class T>
STRATA_INLINE void transpose_all(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows,
                                 int64_t columns) {
  constexpr int n = kVector<T, Bytes>;
  const int64_t whole_rows = rows / n * n, whole_columns = columns / n * n;
  for (int64_t r = 0; r < whole_rows; r += n) {
    for (int64_t c = 0; c < whole_columns; c += n) {
      Vector<T, Bytes> v[n];
      each<n>(n, [&](auto i) STRATA_INLINE_LAMBDA { load(v[i], from + (r + i) * from_step + c); });
      exchange_blocks<n / 2, n>(v);
      each<n>(n, [&](auto i) STRATA_INLINE_LAMBDA { store(v[i], to + (c + i) * to_step + r); });
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      to[c * to_step + r] = from[r * from_step + c];
  }
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define STRATA_MULTIPLY_ROWS(FROM, TO, FACTOR)                                                                     \
  STRATA_EVERY_WIDTH(multiply_rows,                                                                                \
                     (Planes<const FROM> from, Planes<TO> to, const FACTOR* factors, int64_t rows, int64_t width), \
                     (from, to, factors, rows, width), multiply_all)
STRATA_MULTIPLY_ROWS(float, float, float)
STRATA_MULTIPLY_ROWS(double, double, double)
STRATA_MULTIPLY_ROWS(float, double, double)
STRATA_MULTIPLY_ROWS(double, float, double)

#define STRATA_ROWS(T)                                                                                              \
  STRATA_EVERY_WIDTH(split_halves, (T * re, T * im, const T* factors, int64_t h, int64_t lanes),                    \
                     (re, im, factors, h, lanes), split_all)                                                        \
  STRATA_EVERY_WIDTH(join_halves, (Planes<const T> from, Planes<T> to, const T* factors, int64_t h, int64_t lanes), \
                     (from, to, factors, h, lanes), join_all)                                                       \
  STRATA_EVERY_WIDTH(copy_rows, (Planes<const T> from, Planes<T> to, int64_t rows, int64_t width),                  \
                     (from, to, rows, width), copy_all)                                                             \
  STRATA_EVERY_WIDTH(transpose,                                                                                     \
                     (const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns),     \
                     (from, from_step, to, to_step, rows, columns), transpose_all)
STRATA_ROWS(float)
STRATA_ROWS(double)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace strata::native
