// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "capture/torch_trace/ordered_work.h"
#include "capture/torch_trace/workers.h"

namespace strata::capture {
namespace {

TEST(OrderedWork, GivesEachResultOnceAndInOrder) {
  for (const int threads : {0, 1, 3}) {
    for (const std::size_t window : {1u, 2u, 7u, 5000u}) {
      std::vector<std::atomic<int>> made(500);
      OrderedWork<std::size_t> work(
          500, threads, window, 1 << 20, [](std::size_t i) { return i % 50 == 3 ? std::size_t{200000} : 10; },
          [&](std::size_t i) {
            ++made[i];
            return i * i;
          });
      for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(work.take(i), i * i) << threads << ' ' << window;
      for (const auto& m : made) ASSERT_EQ(m, 1);
    }
  }
}

TEST(OrderedWork, StaysWithinItsWindow) {
  std::atomic<std::size_t> taken{0}, furthest{0};
  OrderedWork<int> work(
      300, 3, 8, 1 << 30, [](std::size_t i) { return i == 250 ? std::size_t{1} << 20 : 1; },
      [&](std::size_t i) {
        std::size_t ahead = i - std::min(i, taken.load());
        for (std::size_t old = furthest; ahead > old && !furthest.compare_exchange_weak(old, ahead);) {
        }
        return 1;
      });
  for (std::size_t i = 0; i < 300; ++i) {
    work.take(i);
    taken = i + 1;
  }
  EXPECT_LE(furthest, 9u);
}

TEST(OrderedWork, BudgetNeverStopsIt) {
  OrderedWork<int> work(
      50, 2, 100, 10, [](std::size_t) { return std::size_t{1} << 20; },
      [](std::size_t i) { return static_cast<int>(i); });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(work.take(static_cast<std::size_t>(i)), i);
}

TEST(OrderedWork, ThrowsWhatWasThrown) {
  for (const int threads : {0, 2}) {
    OrderedWork<int> work(
        20, threads, 8, 1 << 20, [](std::size_t) { return std::size_t{1}; },
        [](std::size_t i) -> int { return i == 5 ? throw std::runtime_error("five") : 1; });
    for (std::size_t i = 0; i < 5; ++i) work.take(i);
    EXPECT_THROW(work.take(5), std::runtime_error);
    EXPECT_EQ(work.take(6), 1);
  }  // And what is left is dropped.
}

TEST(ParallelEach, DoesAllAndThrowsTheFirst) {
  std::vector<std::atomic<int>> done(1000);
  parallel_each(done.size(), 4, 7, [&](std::size_t i) { ++done[i]; });
  for (const auto& d : done) ASSERT_EQ(d, 1);
  EXPECT_THROW(parallel_each(100, 3, 1,
                             [](std::size_t i) {
                               if (i == 50) throw std::runtime_error("fifty");
                             }),
               std::runtime_error);
}

}  // namespace
}  // namespace strata::capture
