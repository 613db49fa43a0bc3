// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/native/sort_keys.h"

#include "core/support/vector_clones.h"

namespace strata::native {
namespace {

template <class T>
STRATA_ALWAYS_INLINE inline SortKey<T> key_of(T x) {
  using Key = SortKey<T>;
  constexpr Key kTop = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  const Key bits = std::bit_cast<Key>(x);
  if constexpr (kIsFloat<T>) {
    constexpr Key kInfinity = static_cast<Key>(sizeof(T) == 8            ? 0x7ff0000000000000
                                               : sizeof(T) == 4          ? 0x7f800000
                                               : std::is_same_v<T, Half> ? 0x7c00
                                                                         : 0x7f80);
    const Key magnitude = bits & static_cast<Key>(~kTop);
    const Key ordered = magnitude == 0 ? kTop : static_cast<Key>(bits & kTop ? ~bits : bits | kTop);
    return magnitude > kInfinity ? kNanKey<T> : ordered;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(bits ^ kTop);
  } else {
    return bits;
  }
}

template <class T>
STRATA_ALWAYS_INLINE inline void take_each(const T* x, int64_t step, int64_t n, bool descending, SortKey<T>* keys) {
  const SortKey<T> turn = descending ? std::numeric_limits<SortKey<T>>::max() : SortKey<T>{0};
  if (step != 1) {
    for (int64_t i = 0; i < n; ++i) keys[i] = key_of(x[i * step]) ^ turn;
    return;
  }
  STRATA_SIMD()
  for (int64_t i = 0; i < n; ++i) keys[i] = key_of(x[i]) ^ turn;
}

template <class Key>
STRATA_ALWAYS_INLINE inline bool any_of_all(const Key* keys, int64_t count, Key key) {
  Key any = 0;
  STRATA_SIMD(reduction(| : any))
  for (int64_t i = 0; i < count; ++i) any |= static_cast<Key>(keys[i] > key);
  return any != 0;
}

// Functions that are compiled for several vectors cannot be templates.
#define STRATA_TAKE(T)                                                                                     \
  STRATA_VECTOR_CLONES void take(const T* x, int64_t step, int64_t n, bool descending, SortKey<T>* keys) { \
    take_each(x, step, n, descending, keys);                                                               \
  }
#define STRATA_ANY(Key) \
  STRATA_VECTOR_CLONES bool any(const Key* keys, int64_t count, Key key) { return any_of_all(keys, count, key); }
STRATA_TAKE(int8_t)
STRATA_TAKE(uint8_t)
STRATA_TAKE(int16_t)
STRATA_TAKE(int32_t)
STRATA_TAKE(int64_t)
STRATA_TAKE(float)
STRATA_TAKE(double)
STRATA_TAKE(Half)
STRATA_TAKE(BFloat16)
STRATA_ANY(uint8_t)
STRATA_ANY(uint16_t)
STRATA_ANY(uint32_t)
STRATA_ANY(uint64_t)

}  // namespace

template <class T>
void take_sort_keys(const T* x, int64_t step, int64_t n, bool descending, SortKey<T>* keys) {
  take(x, step, n, descending, keys);
}
template <class Key>
bool any_above(const Key* keys, int64_t count, Key key) {
  return any(keys, count, key);
}

#define STRATA_TAKES(T) template void take_sort_keys(const T*, int64_t, int64_t, bool, SortKey<T>*);
#define STRATA_HAS_ANY(Key) template bool any_above(const Key*, int64_t, Key);
STRATA_TAKES(int8_t)
STRATA_TAKES(uint8_t)
STRATA_TAKES(int16_t)
STRATA_TAKES(int32_t)
STRATA_TAKES(int64_t)
STRATA_TAKES(float)
STRATA_TAKES(double)
STRATA_TAKES(Half)
STRATA_TAKES(BFloat16)
STRATA_HAS_ANY(uint8_t)
STRATA_HAS_ANY(uint16_t)
STRATA_HAS_ANY(uint32_t)
STRATA_HAS_ANY(uint64_t)

}  // namespace strata::native
