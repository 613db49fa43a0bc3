// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/thread_choice.h"

#include <algorithm>

namespace strata {
namespace {

/// The first run in another way moves data between the cores; the others are what it will be like.
constexpr int kRunsOfWay = 4;
/// Rounds of all ways, and of the mixed one beside what it is made from.
constexpr int kRounds = 2;
/// Runs before anything is measured: the first ones make what launches need, and touch memory for the first time.
constexpr int kFirstRuns = 3;
/// Settled runs whose least time is compared with what is expected, and runs that a choice lasts in any case.
constexpr int kLately = 16, kLasts = 4 * kLately;

/// What fewer threads must gain, as a share of the time: more threads are better company for large sizes.
constexpr double kWorthFewer = 0.97;
constexpr double kWorthMixing = 0.98;
/// A launch leaves the others for this share of its time, and for so many nanoseconds.
constexpr double kWorthLeaving = 0.9;
constexpr int64_t kWorthLeavingNs = 500;
/// A way that is so much slower than another is not followed further down.
constexpr double kFarSlower = 1.5;
/// One that is so much slower, none of whose launches would be missed, is left: of runs of so many nanoseconds, which
/// are hardly disturbed and long to wait for, when it has been timed once.
constexpr double kHopeless = 1.2;
constexpr int64_t kSaysAtOnceNs = 1'000'000;
/// A change of the time that makes it look again.
constexpr double kSlower = 1.25, kFaster = 0.8;

double of(int64_t ns) { return static_cast<double>(ns); }

}  // namespace

ThreadChoice::ThreadChoice(size_t launches, int threads, bool measures)
    : launches_(launches), threads_(std::max(1, threads)) {
  set_limits(std::vector<int>(launches_, threads_));
  settled_ = for_good_ = !measures || threads_ == 1 || launches_ == 0;
  if (for_good_) return;
  start();
  run_ = -kFirstRuns;
}

void ThreadChoice::start() {
  settled_ = mixing_ = false;
  ways_.clear();
  for (int t = threads_; t >= 1; t /= 2) add_way(std::vector<int>(launches_, t));
  round_ = 0;
  use(0);
}

void ThreadChoice::add_way(std::vector<int> limits) {
  ways_.push_back({std::move(limits), INT64_MAX, std::vector<int64_t>(launches_, INT64_MAX)});
}

void ThreadChoice::set_limits(std::vector<int> limits) {
  limits_ = std::move(limits);
  most_ = limits_.empty() ? threads_ : std::ranges::max(limits_);
}

void ThreadChoice::use(size_t way) {
  way_ = way;
  run_ = 0;
  set_limits(ways_[way].limits);
}

void ThreadChoice::finished(int64_t ns, std::span<const int64_t> launches) {
  if (for_good_) return;
  if (settled_) return settled_run(ns);
  if (run_ > 0) {
    Way& way = ways_[way_];
    way.ns = std::min(way.ns, ns);
    for (size_t i = 0; i < std::min(launches.size(), launches_); ++i)
      way.launches[i] = std::min(way.launches[i], launches[i]);
  }
  ++run_;
  const bool left = run_ > 1 && ns >= kSaysAtOnceNs && is_hopeless();
  if (left || run_ >= kRunsOfWay) next_way();
}

void ThreadChoice::next_way() {
  if (mixing_) {
    if (way_ != base_) return use(base_);
    if (++round_ < kRounds) return use(ways_.size() - 1);
    const bool better = of(ways_.back().ns) < kWorthMixing * of(ways_[base_].ns);
    return settle(better ? ways_.size() - 1 : base_);
  }
  if (ways_.front().ns > kLongest) return settle(0);
  if (round_ == 0) {
    const int64_t best = ways_[best_of_equal()].ns;
    if (is_hopeless())
      ways_.resize(way_);
    else if (of(ways_[way_].ns) > kFarSlower * of(best))
      ways_.resize(way_ + 1);
    if (ways_.size() == 1) return settle(0);
  }
  if (way_ + 1 < ways_.size()) return use(way_ + 1);
  if (++round_ < kRounds) return use(0);
  compare_mixed();
}

/// Of the ways with one number of threads everywhere.
size_t ThreadChoice::best_of_equal() const {
  size_t best = 0;
  for (size_t w = 1; w < ways_.size(); ++w)
    if (of(ways_[w].ns) < kWorthFewer * of(ways_[best].ns)) best = w;
  return best;
}

/// Whether this way will not be chosen, nor what it does with some of the launches: in the first round, after one that
/// is better.
bool ThreadChoice::is_hopeless() const {
  if (mixing_ || round_ > 0) return false;
  const Way& way = ways_[way_];
  const Way& best = ways_[best_of_equal()];
  if (of(way.ns) <= kHopeless * of(best.ns)) return false;
  double both = 0, all = 0;
  for (size_t i = 0; i < launches_; ++i) {
    both += of(std::min(way.launches[i], best.launches[i]));
    all += of(best.launches[i]);
  }
  return both > kWorthMixing * all;
}

void ThreadChoice::compare_mixed() {
  base_ = best_of_equal();
  std::vector<int> limits = mixed(ways_[base_]);
  if (limits == ways_[base_].limits) return settle(base_);
  mixing_ = true;
  round_ = 0;
  add_way(std::move(limits));
  use(ways_.size() - 1);
}

/// The limits of `base`, but for launches that another number of threads suits much better.
std::vector<int> ThreadChoice::mixed(const Way& base) const {
  std::vector<int> limits = base.limits;
  for (size_t i = 0; i < launches_; ++i) {
    const Way* best = &base;
    for (const Way& w : ways_)
      if (w.launches[i] < best->launches[i]) best = &w;
    if (of(best->launches[i]) < kWorthLeaving * of(base.launches[i]) &&
        base.launches[i] - best->launches[i] >= kWorthLeavingNs)
      limits[i] = best->limits[i];
  }
  return limits;
}

void ThreadChoice::settle(size_t way) {
  set_limits(std::move(ways_[way].limits));
  expected_ = ways_[way].ns;
  ways_.clear();
  lasts_ = limits_ == found_ ? std::min(2 * lasts_, kLooksAgain) : kLooksFirst;
  found_ = limits_;
  settled_ = true;
  least_ = INT64_MAX;
  since_ = 0;
}

void ThreadChoice::settled_run(int64_t ns) {
  least_ = std::min(least_, ns);
  if (++since_ >= lasts_) return start();
  if (since_ % kLately != 0) return;
  const bool changed = of(least_) > kSlower * of(expected_) || of(least_) < kFaster * of(expected_);
  if (changed && since_ >= kLasts) return start();
  least_ = INT64_MAX;
}

}  // namespace strata
