// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// How many threads launches run on: the limit of `parallel_for`, and the choice that runs lead to.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime/parallel.h"
#include "core/runtime/thread_choice.h"

namespace strata {
namespace {

struct Seen {
  std::set<std::pair<int64_t, int64_t>> chunks;
  std::set<std::thread::id> threads;
};

Seen run(int64_t total, int64_t grain, int threads) {
  Seen seen;
  std::mutex mutex;
  parallel_for_raw(total, grain, threads, [&](int64_t begin, int64_t end) {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(seen.chunks.emplace(begin, end).second);
    seen.threads.insert(std::this_thread::get_id());
  });
  return seen;
}

TEST(ThreadLimit, LeavesTheChunksAsTheyAre) {
  for (const int threads : {2, 3, 4, 7})
    for (const int64_t total : {1, 5, 8, 1000, 1001}) {
      const Seen all = run(total, 1, threads);
      for (int most = 1; most <= threads; ++most) {
        const ThreadLimit limit(most);
        const Seen fewer = run(total, 1, threads);
        EXPECT_EQ(fewer.chunks, all.chunks) << total << " for " << threads << ", at most " << most;
        EXPECT_LE(fewer.threads.size(), static_cast<size_t>(most));
      }
    }
}

TEST(ThreadLimit, EndsWithItsObjectAndIsNeverRaised) {
  const auto used = [] {
    take_threads_used();
    run(64, 1, 4);
    return take_threads_used();
  };
  EXPECT_EQ(used(), 4);
  {
    ThreadLimit two(2);
    EXPECT_EQ(used(), 2);
    {
      const ThreadLimit three(3);
      EXPECT_EQ(used(), 2);
    }
    two.set(1);
    EXPECT_EQ(used(), 1);
    two.set(3);
    EXPECT_EQ(used(), 2);
    std::thread([&] { EXPECT_EQ(used(), 4); }).join();  // of this thread alone
  }
  EXPECT_EQ(used(), 4);
}

/// libgomp ends the threads that a smaller team does not need and makes new ones for the next large one, which takes
/// longer than most regions do.
TEST(ThreadLimit, RegionsOfAnySizeHaveTheSameThreads) {
  std::set<int> threads;  // of the system, which does not give a number again soon
  std::mutex mutex;
  const auto collect = [&](int64_t, int64_t) {
    std::lock_guard lock(mutex);
    threads.insert(static_cast<int>(::gettid()));
  };
  ThreadLimit limit(4);
  for (int round = 0; round < 50; ++round)
    for (const int most : {4, 2, 3}) {
      limit.set(most);
      for (const int64_t total : {2, 4, 3, 64}) parallel_for_raw(total, 1, round % 2 ? 4 : 3, collect);
    }
  EXPECT_LE(threads.size(), 4U);
}

TEST(ThreadLimit, GivesWhatAFunctionThrows) {
  set_thread_count(4);
  const ThreadLimit one(1);
  int calls = 0;
  EXPECT_THROW(parallel_for(400, 1,
                            [&](int64_t begin, int64_t) {
                              ++calls;
                              if (begin == 100) throw std::runtime_error("no");
                            }),
               std::runtime_error);
  EXPECT_EQ(calls, 4);
}

// -------------------------------------------------------------------------------------------------------- choice

/// Nanoseconds of a launch, given how many threads all launches have.
using Cost = std::function<int64_t(size_t launch, const std::vector<int>& threads)>;

/// Runs until the choice has settled.
int learn(ThreadChoice& choice, size_t launches, const Cost& cost, int most = 200) {
  int runs = 0;
  for (; runs < most && !choice.settled(); ++runs) {
    std::vector<int64_t> each;
    for (size_t i = 0; i < launches; ++i) each.push_back(cost(i, choice.limits()));
    const int64_t total = std::accumulate(each.begin(), each.end(), int64_t{0});
    choice.finished(total, choice.wants_launches() ? each : std::vector<int64_t>{});
  }
  EXPECT_TRUE(choice.settled());
  return runs;
}

TEST(ThreadChoice, HasAllThreadsWhereTheyPay) {
  ThreadChoice choice(3, 8);
  EXPECT_EQ(choice.limits(), (std::vector<int>{8, 8, 8}));
  const int runs = learn(choice, 3, [](size_t i, const std::vector<int>& t) { return 800'000 / t[i]; });
  EXPECT_EQ(choice.limits(), (std::vector<int>{8, 8, 8}));
  EXPECT_LE(runs, 20) << "fewer threads are hopeless from the second way on";
}

TEST(ThreadChoice, LeavesWhatIsHopelessAtOnce) {
  ThreadChoice choice(2, 4);
  int fewer = 0;
  const int runs = learn(choice, 2, [&](size_t i, const std::vector<int>& t) {
    fewer += i == 0 && t[0] < 4;
    return 24'000'000 / t[i];
  });
  EXPECT_EQ(choice.limits(), (std::vector<int>{4, 4}));
  EXPECT_EQ(fewer, 2) << "of runs that take long one moves the data and one is timed";
  EXPECT_EQ(runs, 9);
}

TEST(ThreadChoice, KeepsAWayThatSomeLaunchNeeds) {
  ThreadChoice choice(2, 2);
  learn(choice, 2, [](size_t i, const std::vector<int>& t) { return i == 0 ? 8'000'000 / t[i] : 500'000 * t[i]; });
  EXPECT_EQ(choice.limits(), (std::vector<int>{2, 1})) << "one thread is 1.7 times as slow as a whole";
}

TEST(ThreadChoice, HasOneThreadWhereOthersCost) {
  ThreadChoice choice(2, 4);
  learn(choice, 2, [](size_t i, const std::vector<int>& t) { return 10'000 + 20'000 * (t[i] - 1); });
  EXPECT_EQ(choice.limits(), (std::vector<int>{1, 1}));
}

TEST(ThreadChoice, FindsANumberInBetween) {
  ThreadChoice choice(2, 8);
  learn(choice, 2, [](size_t i, const std::vector<int>& t) { return 300'000 / t[i] + 50'000 * (t[i] - 1); });
  EXPECT_EQ(choice.limits(), (std::vector<int>{2, 2}));
}

TEST(ThreadChoice, MixesWhereEachLaunchGoesItsOwnWay) {
  ThreadChoice choice(3, 2);
  learn(choice, 3, [](size_t i, const std::vector<int>& t) { return i == 1 ? 5'000 * t[i] * t[i] : 200'000 / t[i]; });
  EXPECT_EQ(choice.limits(), (std::vector<int>{2, 1, 2}));
}

TEST(ThreadChoice, DoesNotMixWhatDependsOnTheOthers) {
  ThreadChoice choice(3, 2);
  // Launch 1 is fast on one thread only where those before and after it are.
  learn(choice, 3, [](size_t i, const std::vector<int>& t) {
    if (i != 1) return 200'000 / t[i];
    return t[0] == t[1] && t[1] == t[2] ? 20'000 * t[i] : 90'000;
  });
  EXPECT_EQ(choice.limits(), (std::vector<int>{2, 2, 2}));
}

TEST(ThreadChoice, KeepsThreadsForTies) {
  ThreadChoice choice(2, 4);
  learn(choice, 2, [](size_t, const std::vector<int>&) { return 50'000; });
  EXPECT_EQ(choice.limits(), (std::vector<int>{4, 4}));
}

TEST(ThreadChoice, DoesNotTryLongRunsOnFewerThreads) {
  ThreadChoice choice(2, 4);
  int fewer = 0;
  learn(choice, 2, [&](size_t i, const std::vector<int>& t) {
    fewer += t[i] < 4;
    return ThreadChoice::kLongest;
  });
  EXPECT_EQ(fewer, 0);
  EXPECT_EQ(choice.limits(), (std::vector<int>{4, 4}));
}

TEST(ThreadChoice, IgnoresSlowFirstRunsAndOutliers) {
  ThreadChoice choice(1, 2);
  int run = 0;
  learn(choice, 1, [&](size_t, const std::vector<int>& t) -> int64_t {
    ++run;
    return (run <= 3 || run % 3 == 0 ? 5'000'000 : 0) + (t[0] == 2 ? 60'000 : 90'000);
  });
  EXPECT_EQ(choice.limits(), std::vector<int>{2});
}

TEST(ThreadChoice, LooksAgainWhenTimesChange) {
  ThreadChoice choice(1, 2);
  bool far = false;  // the cores are
  const Cost cost = [&](size_t i, const std::vector<int>& t) { return t[i] == 1 ? 90'000 : far ? 150'000 : 50'000; };
  learn(choice, 1, cost);
  EXPECT_EQ(choice.limits(), std::vector<int>{2});
  far = true;
  for (int i = 0; i < 300; ++i) choice.finished(cost(0, choice.limits()), std::vector{cost(0, choice.limits())});
  EXPECT_TRUE(choice.settled());
  EXPECT_EQ(choice.limits(), std::vector<int>{1});
  // One thread takes as long as before: found out when all is looked into again.
  far = false;
  for (int i = 0; i < 2 * ThreadChoice::kLooksAgain; ++i)
    choice.finished(cost(0, choice.limits()), std::vector{cost(0, choice.limits())});
  EXPECT_EQ(choice.limits(), std::vector<int>{2});
}

TEST(ThreadChoice, ADisturbedChoiceDoesNotLast) {
  ThreadChoice choice(1, 2);
  // Two threads are twice as fast, but something else had the second core when they were timed.
  bool busy = true;
  const Cost cost = [&](size_t i, const std::vector<int>& t) { return t[i] == 1 ? 100'000 : busy ? 400'000 : 50'000; };
  learn(choice, 1, cost);
  EXPECT_EQ(choice.limits(), std::vector<int>{1});
  busy = false;
  const auto runs_until = [&](auto done) {
    int runs = 0;
    for (; runs < 2 * ThreadChoice::kLooksAgain && !done(); ++runs)
      choice.finished(cost(0, choice.limits()), std::vector{cost(0, choice.limits())});
    return runs;
  };
  const auto settles = [&] { return choice.settled(); };
  const auto looks = [&] { return !choice.settled(); };
  EXPECT_EQ(runs_until(looks), ThreadChoice::kLooksFirst);
  runs_until(settles);
  EXPECT_EQ(choice.limits(), std::vector<int>{2});
  // What stays as it was is asked less and less often.
  for (int lasts = ThreadChoice::kLooksFirst; lasts <= ThreadChoice::kLooksAgain; lasts *= 2) {
    EXPECT_EQ(runs_until(looks), lasts);
    EXPECT_LE(runs_until(settles), 20);
  }
  EXPECT_EQ(runs_until(looks), ThreadChoice::kLooksAgain);
}

TEST(ThreadChoice, HasNothingToChooseFrom) {
  for (ThreadChoice choice : {ThreadChoice(3, 1), ThreadChoice(0, 4), ThreadChoice(3, 4, false)}) {
    EXPECT_TRUE(choice.settled());
    EXPECT_FALSE(choice.wants_runs());
    EXPECT_FALSE(choice.wants_launches());
    const std::vector<int> before = choice.limits();
    choice.finished(1'000, {});
    EXPECT_EQ(choice.limits(), before);
  }
}

}  // namespace
}  // namespace strata
