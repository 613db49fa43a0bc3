// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/runtime/arena.h"
#include "core/runtime/parallel.h"
#include "core/runtime/plan.h"
#include "core/runtime/target.h"
#include "core/support/error.h"

namespace strata {
namespace {

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (int64_t total : {0, 1, 2, 5, 100, 10007}) {
      for (int64_t grain : {1, 3, 1000}) {
        std::vector<int> hits(static_cast<size_t>(total));
        std::mutex mutex;
        std::vector<int64_t> sizes;
        parallel_for(total, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++hits[i];
          std::lock_guard lock(mutex);
          sizes.push_back(end - begin);
        });
        EXPECT_TRUE(std::all_of(hits.begin(), hits.end(), [](int h) { return h == 1; })) << total << " by " << grain;
        EXPECT_LE(sizes.size(), static_cast<size_t>(threads));
        EXPECT_LE(std::count_if(sizes.begin(), sizes.end(), [&](int64_t s) { return s < grain; }), 1);
      }
    }
  }
}

TEST(ParallelFor, RethrowsAndGoesOnWorking) {
  set_thread_count(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(parallel_for(300, 1,
                              [](int64_t begin, int64_t) {
                                if (begin > 0) throw std::runtime_error("no");
                              }),
                 std::runtime_error);
    std::atomic<int64_t> sum{0};
    parallel_for(300, 1, [&](int64_t b, int64_t e) { sum += e - b; });
    EXPECT_EQ(sum, 300);
  }
}

TEST(ParallelFor, NestedAndConcurrentUse) {
  set_thread_count(4);
  std::atomic<int64_t> sum{0};
  parallel_for(8, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) parallel_for(10, 1, [&](int64_t x, int64_t y) { sum += y - x; });
  });
  EXPECT_EQ(sum, 80);
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) parallel_for(64, 1, [&](int64_t x, int64_t y) { sum += y - x; });
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum, 80 + 3 * 50 * 64);
}

TEST(ParallelFor, RawPassesItsContext) {
  std::atomic<int64_t> sum{0};
  parallel_for_raw(
      1000, 10, 3, [](void* p, int64_t b, int64_t e) { *static_cast<std::atomic<int64_t>*>(p) += e - b; }, &sum);
  EXPECT_EQ(sum, 1000);
  parallel_for_raw(-5, 10, 3, [](void*, int64_t, int64_t) { ADD_FAILURE() << "called for nothing"; }, nullptr);
}

TEST(ParallelFor, PartsCoverEverythingOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const int64_t total : {0, 1, 2, 7, 16}) {
      std::vector<std::atomic<int>> seen(total);
      std::atomic<int> calls{0};
      parallel_parts(total, threads, [&](int64_t begin, int64_t end) {
        ++calls;
        for (; begin < end; ++begin) ++seen[begin];
      });
      EXPECT_LE(calls, threads);
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; })) << total;
    }
  }
}

TEST(Arena, BuffersThatLiveTogetherNeverOverlap) {
  unsigned state = 12345;
  const auto pick = [&](unsigned n) { return state = state * 1664525u + 1013904223u, (state >> 8) % n; };
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaRequest> requests;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(pick(40));
      requests.push_back({static_cast<int64_t>(pick(5000)), first, first + static_cast<int>(pick(6)), -1});
    }
    const ArenaLayout layout = plan_arena(requests);
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(layout.offsets[i] % 64, 0);
      EXPECT_LE(layout.offsets[i] + requests[i].bytes, layout.bytes);
      for (size_t j = 0; j < i; ++j) {
        const bool together = requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
        const bool overlap = layout.offsets[i] < layout.offsets[j] + requests[j].bytes &&
                             layout.offsets[j] < layout.offsets[i] + requests[i].bytes;
        EXPECT_FALSE(together && overlap && requests[i].bytes && requests[j].bytes) << i << " and " << j;
      }
    }
    EXPECT_LT(layout.bytes, layout.unshared / 2);
  }
}

TEST(Arena, ReuseTakesTheSamePlaceWhereItFits) {
  const ArenaLayout layout = plan_arena({{256, 0, 1, -1}, {256, 1, 2, 0}, {300, 2, 3, 1}, {64, 0, 3, -1}});
  EXPECT_EQ(layout.offsets[1], layout.offsets[0]);
  EXPECT_NE(layout.offsets[2], layout.offsets[1]);  // larger: a place of its own
  EXPECT_EQ(layout.unshared, 256 + 256 + 320 + 64);
}

TEST(Arena, LoansHoldWhatIsDoneWithBeforeTheyEnd) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int lent = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaRequest> requests;
    for (int i = 0; i < 60; ++i) {
      const int first = pick(40);
      const int reuse_of = i > 0 && pick(4) == 0 ? pick(i) : -1;
      requests.push_back({pick(5000), first, first + pick(6), reuse_of});
    }
    const std::vector<ArenaLoan> loans{{8000, 20}, {20000, 35}, {100, 50}, {0, 50}};
    const ArenaLayout layout = plan_arena(requests, loans);
    EXPECT_LE(layout.bytes, plan_arena(requests).bytes);
    for (size_t i = 0; i < requests.size(); ++i) {
      const int loan = layout.loans[i];
      if (loan >= 0) {
        ++lent;
        EXPECT_LT(requests[i].last, loans[loan].until);
        EXPECT_LE(layout.offsets[i] + requests[i].bytes, loans[loan].bytes);
      } else {
        EXPECT_LE(layout.offsets[i] + requests[i].bytes, layout.bytes);
      }
      for (size_t j = 0; j < i; ++j) {
        const bool together = requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
        const bool overlap = layout.offsets[i] < layout.offsets[j] + requests[j].bytes &&
                             layout.offsets[j] < layout.offsets[i] + requests[i].bytes;
        const bool shares =
            requests[i].reuse_of >= 0 || requests[j].reuse_of >= 0;  // perhaps one's place is the other's
        EXPECT_FALSE(together && overlap && !shares && loan == layout.loans[j] && requests[i].bytes &&
                     requests[j].bytes)
            << i << " and " << j;
      }
    }
  }
  EXPECT_GT(lent, 500);
}

TEST(Arena, NothingIsLentThatTheArenaHasRoomFor) {
  const ArenaLayout layout = plan_arena({{4096, 5, 9, -1}, {64, 0, 1, -1}}, {{1 << 20, 3}});
  EXPECT_EQ(layout.loans, (std::vector<int>{-1, -1}));
  EXPECT_EQ(layout.bytes, 4096);
}

TEST(Arena, HugeRequestsAreRefused) {
  EXPECT_THROW(plan_arena({{INT64_MAX - 10, 0, 1, -1}}), Error);
  EXPECT_THROW(plan_arena({{INT64_MAX / 2, 0, 1, -1}, {INT64_MAX / 2, 0, 1, -1}, {INT64_MAX / 2, 0, 1, -1}}), Error);
}

TEST(TargetDescription, SaysWhatTheHostIs) {
  const Target& t = host_target();
  EXPECT_GE(t.cores, 1);
  EXPECT_FALSE(t.cpu.empty());
  EXPECT_TRUE(t.vector_bits == 128 || t.vector_bits == 256 || t.vector_bits == 512);
  EXPECT_EQ(t.avx512, t.features.find("+avx512f") != std::string::npos);
  EXPECT_EQ(&t, &host_target());
}

TEST(Capabilities, RefusalsSayWhy) {
  LibraryCall call;
  call.kind = "convolution";
  call.name = "conv2d_1";
  call.result.shape = {2, 8, 5, 5};
  std::string why;
  const auto operand = [](std::vector<SymInt> shape, DType dtype = DType::F32) {
    LibraryOperand o;
    o.shape = std::move(shape);
    o.dtype = dtype;
    return o;
  };
  const LibraryCapabilities& can = cpu_library_capabilities();
  const PostOp add{PostOp::Kind::Add, 0, 0, 3, 0};
  for (const auto& shape : {std::vector<SymInt>{2, 8, 5, 5}, {8, 1, 1}, {1, 8, 1, 1}, {1}, {}}) {
    const LibraryOperand o = operand(shape);
    EXPECT_TRUE(can.accepts(call, add, &o, &why)) << why;
  }
  const LibraryOperand column = operand({5, 1}), integers = operand({2, 8, 5, 5}, DType::I64);
  EXPECT_FALSE(can.accepts(call, add, &column, &why));
  EXPECT_EQ(why, "add with an operand that is broadcast along other dimensions than the library can");
  EXPECT_FALSE(can.accepts(call, add, &integers, &why));
  EXPECT_EQ(why, "add with an operand of int64");
  call.post_ops = {{PostOp::Kind::Clamp, 0, 6, -1, 0}};
  EXPECT_TRUE(can.accepts(call, {PostOp::Kind::Clamp, 0, 6, -1, 0}, nullptr, nullptr));
  EXPECT_FALSE(can.accepts(call, {PostOp::Kind::Clamp, 0, 1, -1, 0}, nullptr, &why));
  EXPECT_EQ(why, "clamp is on the result already, with other parameters");
  call.kind = "attention";
  EXPECT_FALSE(can.accepts(call, {PostOp::Kind::Relu, 0, 0, -1, 0}, nullptr, &why));
  EXPECT_EQ(why, "attention takes no work on its result");
}

}  // namespace
}  // namespace strata
