// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the loops of fourier_passes.h are written with: vectors of 64, 32 or 16 bytes, each for the machines that have
/// registers of that size. Other than STRATA_VECTOR_CLONES, which translates the same vectors for all of them: a
/// butterfly of vectors in several registers each does not fit the registers, and is ten times slower.

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// One width where there is no other; for clang, which only checks; and for sanitizers, with which g++ takes minutes
// over one function of all butterflies.
#if !defined(__x86_64__) || defined(__clang__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRATA_ONE_WIDTH
#define STRATA_INLINE inline
#define STRATA_INLINE_LAMBDA
#else
#define STRATA_INLINE __attribute__((always_inline)) inline
#define STRATA_INLINE_LAMBDA __attribute__((always_inline))
#endif

namespace strata::native {

/// Never passed by value, so that the calling convention does not matter.
template <class T, int Bytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(Bytes)));
};
template <class T, int Bytes>
using Vector = typename VectorOf<T, Bytes>::Type;
template <class T, int Bytes>
constexpr int kVector = Bytes / static_cast<int>(sizeof(T));

/// What the vector V holds; V itself where that is a number.
template <class V>
struct ElementOf {
  using Type = V;
};
template <class V>
  requires(!std::is_arithmetic_v<V>)
struct ElementOf<V> {
  using Type = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;
};
/// As many T as V has elements.
template <class V, class T>
using Like = typename VectorOf<T, static_cast<int>(sizeof(V) / sizeof(typename ElementOf<V>::Type) * sizeof(T))>::Type;

/// Of one vector or number, which in memory may be of another type.
template <class V, class T>
STRATA_INLINE void load(V& v, const T* p) {
  if constexpr (std::is_same_v<typename ElementOf<V>::Type, T>) {
    std::memcpy(&v, p, sizeof v);
  } else if constexpr (std::is_arithmetic_v<V>) {
    v = static_cast<V>(*p);
  } else {
    Like<V, T> narrow;
    std::memcpy(&narrow, p, sizeof narrow);
    v = __builtin_convertvector(narrow, V);
  }
}
template <class V, class T>
STRATA_INLINE void store(const V& v, T* p) {
  if constexpr (std::is_same_v<typename ElementOf<V>::Type, T>) {
    std::memcpy(p, &v, sizeof v);
  } else if constexpr (std::is_arithmetic_v<V>) {
    *p = static_cast<T>(v);
  } else {
    typedef Like<V, T> Narrow;
    const Narrow narrow = __builtin_convertvector(v, Narrow);
    std::memcpy(p, &narrow, sizeof narrow);
  }
}

/// f(0), ..., f(n - 1), written out if N is not 0.
template <int N, class F>
STRATA_INLINE void each(int n, const F& f) {
  if constexpr (N == 0) {
    for (int j = 0; j < n; ++j) f(j);
  } else {
    [&]<int... j>(std::integer_sequence<int, j...>)
        STRATA_INLINE_LAMBDA { (f(std::integral_constant<int, j>{}), ...); }(std::make_integer_sequence<int, N>{});
  }
}

/// STRATA_EVERY_WIDTH defines a function that calls the template LOOP, whose first parameter is the size of the
/// vectors.
// NOLINTBEGIN(bugprone-macro-parentheses): these are lists
#ifdef STRATA_ONE_WIDTH
#define STRATA_EVERY_WIDTH(NAME, PARAMETERS, ARGUMENTS, LOOP) \
  void NAME PARAMETERS { LOOP<16> ARGUMENTS; }
#else
inline int vector_bytes() {
  static const int bytes = __builtin_cpu_supports("x86-64-v4") ? 64 : __builtin_cpu_supports("x86-64-v3") ? 32 : 16;
  return bytes;
}

#define STRATA_EVERY_WIDTH(NAME, PARAMETERS, ARGUMENTS, LOOP)                                                 \
  __attribute__((target("arch=x86-64-v4"))) static void NAME##_in_64_bytes PARAMETERS { LOOP<64> ARGUMENTS; } \
  __attribute__((target("arch=x86-64-v3"))) static void NAME##_in_32_bytes PARAMETERS { LOOP<32> ARGUMENTS; } \
  static void NAME##_in_16_bytes PARAMETERS { LOOP<16> ARGUMENTS; }                                           \
  void NAME PARAMETERS {                                                                                      \
    const int bytes = vector_bytes();                                                                         \
    if (bytes == 64)                                                                                          \
      NAME##_in_64_bytes ARGUMENTS;                                                                           \
    else if (bytes == 32)                                                                                     \
      NAME##_in_32_bytes ARGUMENTS;                                                                           \
    else                                                                                                      \
      NAME##_in_16_bytes ARGUMENTS;                                                                           \
  }
#endif
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace strata::native
