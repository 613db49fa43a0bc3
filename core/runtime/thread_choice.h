// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// On how many threads each launch of a stage runs, found by running it in several ways.
///
/// Cores that share no cache hand over data at a tenth of the pace at which each reads its own, and which cores a
/// virtual machine runs on changes while it runs: whether a second thread is worth its while cannot be told from what
/// a launch computes. So the first runs go through all numbers of threads, halving, twice; a few of them are timed
/// launch by launch. A number that makes the whole much slower and no launch faster is left at once. What follows is
/// the best number for all launches, or, where that is faster still, the best for each. It is looked into again when
/// runs take longer or shorter than they did, and after some time: soon at first, for what was disturbed while it was
/// timed (all least times can be those of a neighbour's work), then less and less often while the same is found.
///
/// Results do not depend on it (see ThreadLimit).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata {

class ThreadChoice {
 public:
  /// For so many launches that may have so many threads. Where there is one thread, or `measures` is false, there is
  /// nothing to choose.
  ThreadChoice(size_t launches, int threads, bool measures = true);

  /// The most threads of each launch in the next run.
  const std::vector<int>& limits() const { return limits_; }
  /// The largest of them.
  int most() const { return most_; }
  /// Whether `finished` is to have the time of each launch of the next run, and whether it is called at all.
  bool wants_launches() const { return !settled_ && run_ > 0; }
  bool wants_runs() const { return !for_good_; }
  /// A run with these limits has ended: nanoseconds in all, and, where wanted, of each launch.
  void finished(int64_t ns, std::span<const int64_t> launches);

  /// Whether the limits are those that were found, until they are looked into again.
  bool settled() const { return settled_; }
  /// Runs of more nanoseconds than this are not tried on fewer threads.
  static constexpr int64_t kLongest = 20'000'000;
  /// Settled runs after which all is looked into again: the first time, or once something else was found, and the most
  /// that it comes to, doubling.
  static constexpr int kLooksFirst = 100, kLooksAgain = 1600;

 private:
  /// A way to run all launches, and the least times that it has taken.
  struct Way {
    std::vector<int> limits;
    int64_t ns = INT64_MAX;
    std::vector<int64_t> launches;
  };

  void start();
  void add_way(std::vector<int> limits);
  void set_limits(std::vector<int> limits);
  void use(size_t way);
  void next_way();
  void compare_mixed();
  void settle(size_t way);
  void settled_run(int64_t ns);
  size_t best_of_equal() const;
  bool is_hopeless() const;
  std::vector<int> mixed(const Way& base) const;

  size_t launches_;
  int threads_, most_;
  std::vector<int> limits_;
  std::vector<Way> ways_;  ///< being tried: as many threads everywhere, falling, and at the end one that mixes them
  size_t way_ = 0, base_ = 0;
  int run_ = 0;    ///< with this way in this round
  int round_ = 0;  ///< of all ways; then of the mixed one and what it is made from
  bool mixing_ = false, settled_ = false, for_good_ = false;
  int64_t expected_ = 0, least_ = INT64_MAX;  ///< of settled runs: as found, and of late
  int since_ = 0, lasts_ = kLooksFirst;       ///< settled runs, and how many there are to be
  std::vector<int> found_;                    ///< the limits of the settled runs before these
};

}  // namespace strata
