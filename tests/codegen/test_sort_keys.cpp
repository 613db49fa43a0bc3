// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/native/sort_keys.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace strata {
namespace {

/// NaN is above all else.
template <class T>
bool before(T a, T b) {
  const auto x = work_value(a), y = work_value(b);
  return x < y || (x == x && y != y);
}

/// Any bits, and what is special about a type: of floats zeros, infinities and NaNs of both signs.
template <class T>
std::vector<T> random_line(size_t n, std::mt19937_64& random, bool few) {
  std::vector<T> line(n);
  for (T& x : line) {
    const uint64_t bits = random();
    std::memcpy(&x, &bits, sizeof x);
    if (few) {
      // Of 64 bits, some whose leading half is the same.
      int64_t small = static_cast<int64_t>(bits % 7) - 3;
      if (std::is_same_v<T, int64_t> && bits >> 60 == 0) small = INT64_MAX - static_cast<int64_t>(bits % 7);
      if constexpr (native::kIsFloat<T>)
        x = stored_value<T>(static_cast<WorkType<T>>(small == 3 ? NAN : small == 2 ? -0.0 : small));
      else
        x = static_cast<T>(small);
    }
  }
  return line;
}

template <class T>
void check_line(size_t n, std::mt19937_64& random, bool few) {
  const std::vector<T> x = random_line<T>(n, random, few);
  for (const bool descending : {false, true}) {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const T p = x[static_cast<size_t>(a)], q = x[static_cast<size_t>(b)];
      return descending ? before(q, p) : before(p, q);
    });
    const auto check = [&](auto line) {
      for (int run = 0; run < 2; ++run) {
        line.sort(x.data(), 1, descending);
        for (size_t i = 0; i < n; ++i) ASSERT_EQ(line.place(static_cast<int64_t>(i)), order[i]) << n << " " << i;
      }
    };
    check(native::LineSorter<T, uint32_t>(static_cast<int64_t>(n)));
    check(native::LineSorter<T, uint64_t>(static_cast<int64_t>(n)));
  }
}

/// The same elements, equal ones among them, in the same order as by the library's steps on values.
template <class T>
void check_largest(size_t n, size_t k, std::mt19937_64& random, bool few) {
  const std::vector<T> x = random_line<T>(n, random, few);
  for (const bool smallest : {false, true}) {
    for (const bool sorted : {false, true}) {
      std::vector<std::pair<WorkType<T>, int64_t>> line(n);
      for (size_t i = 0; i < n; ++i) line[i] = {work_value(x[i]), static_cast<int64_t>(i)};
      ops::select_first(line, static_cast<int64_t>(k), !smallest, sorted);
      native::LineSelector<T> selector(static_cast<int64_t>(n), static_cast<int64_t>(k), sorted);
      selector.select(x.data(), 1, smallest);
      for (size_t i = 0; i < k; ++i)
        ASSERT_EQ(selector.place(static_cast<int64_t>(i)), line[i].second) << n << " " << k << " " << i;
    }
  }
}

template <class T>
class SortKeys : public ::testing::Test {};
using Types = ::testing::Types<int8_t, uint8_t, int16_t, int32_t, int64_t, float, double, Half, BFloat16>;
TYPED_TEST_SUITE(SortKeys, Types);

/// Lines that are compared and lines that are counted, with many equal elements and with few.
TYPED_TEST(SortKeys, LinesAreSortedStably) {
  std::mt19937_64 random(std::random_device{}());
  for (const size_t n : {1, 2, 17, 31, 32, 33, 300, 5000})
    for (const bool few : {false, true}) check_line<TypeParam>(n, random, few);
}

/// Few of many, which a heap finds, and many.
TYPED_TEST(SortKeys, TheLargestAreThoseOfTheLibrary) {
  std::mt19937_64 random(std::random_device{}());
  for (const auto& [n, k] : std::vector<std::pair<size_t, size_t>>{{1, 1},
                                                                   {63, 1},
                                                                   {64, 1},
                                                                   {200, 2},
                                                                   {200, 3},
                                                                   {500, 7},
                                                                   {5000, 40},
                                                                   {5000, 77},
                                                                   {20, 20},
                                                                   {300, 100},
                                                                   {9, 0}})
    for (const bool few : {false, true}) check_largest<TypeParam>(n, k, random, few);
}

}  // namespace
}  // namespace strata
