// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/campaign.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <thread>

#include "core/support/error.h"

namespace strata::fuzz {
namespace {

constexpr int64_t kAtCompile = -1;

/// Where a worker is: survives its end.
struct Place {
  int64_t seed = 0;  ///< or kAtCompile
  uint64_t batch_first = 0;
};

class Mark {
 public:
  Mark()
      : place_(static_cast<Place*>(
            mmap(nullptr, sizeof(Place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (place_ == MAP_FAILED) throw_runtime("no shared memory");
  }
  ~Mark() { munmap(place_, sizeof(Place)); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  void set(int64_t seed) { place_->seed = seed; }
  void begin_batch(uint64_t first) { *place_ = {static_cast<int64_t>(first), first}; }
  Place get() const { return *place_; }

 private:
  Place* place_;
};

/// What a worker says: statistics, then failures with their lengths.
std::string to_text(const Outcome& o) {
  std::ostringstream text;
  const Statistics& s = o.statistics;
  text << s.programs << ' ' << s.refused << ' ' << s.nodes << ' ' << s.kernels << ' ' << s.distinct << ' '
       << s.generate_ns << ' ' << s.elements << ' ' << s.numbers << '\n';
  for (const Failure& f : o.failures)
    text << f.seed << ' ' << f.batch_first << ' ' << f.batch_last << ' ' << f.what.size() << '\n' << f.what;
  return text.str();
}

bool from_text(const std::string& text, Outcome& o) {
  std::istringstream in(text);
  Statistics s;
  if (!(in >> s.programs >> s.refused >> s.nodes >> s.kernels >> s.distinct >> s.generate_ns >> s.elements >>
        s.numbers))
    return false;
  o.statistics.programs += s.programs;
  o.statistics.refused += s.refused;
  o.statistics.nodes += s.nodes;
  o.statistics.kernels += s.kernels;
  o.statistics.distinct += s.distinct;
  o.statistics.generate_ns += s.generate_ns;
  o.statistics.elements += s.elements;
  o.statistics.numbers += s.numbers;
  Failure f;
  for (size_t size = 0; in >> f.seed >> f.batch_first >> f.batch_last >> size;) {
    in.get();
    f.what.resize(size);
    in.read(f.what.data(), static_cast<std::streamsize>(size));
    o.failures.push_back(f);
  }
  return true;
}

/// The seeds [first, last) of one worker.
Outcome check_seeds(const CampaignOptions& options, uint64_t first, uint64_t last, Mark& mark) {
  poison_memory();
  Outcome outcome;
  for (uint64_t at = first; at < last; at += options.batch) {
    std::vector<RandomProgram> programs;
    std::vector<uint64_t> seeds;
    const uint64_t end = std::min<uint64_t>(at + options.batch, last);
    mark.begin_batch(at);
    for (uint64_t seed = at; seed < end; ++seed) {
      mark.set(static_cast<int64_t>(seed));
      try {
        programs.push_back(random_program(seed, options.generator));
        seeds.push_back(seed);
      } catch (const std::exception& e) {
        outcome.failures.push_back({seed, std::string("generator: throws: ") + e.what(), seed, seed + 1});
      }
    }
    const auto on_start = [&](size_t i) { mark.set(i < seeds.size() ? static_cast<int64_t>(seeds[i]) : kAtCompile); };
    const auto failures = check_together(programs, on_start, &outcome.statistics);
    for (size_t i = 0; i < failures.size(); ++i)
      if (!failures[i].empty()) outcome.failures.push_back({seeds[i], failures[i], at, end});
  }
  return outcome;
}

/// One after the other takes a range of seeds, in a process of its own.
class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::function<void(size_t, size_t)>& progress)
      : options_(options), progress_(progress), next_(options.first), end_(options.first + options.graphs) {}

  Outcome run() {
    std::vector<std::thread> lanes;
    for (int i = 0; i < options_.jobs; ++i) lanes.emplace_back([this] { lane(); });
    for (std::thread& t : lanes) t.join();
    std::sort(outcome_.failures.begin(), outcome_.failures.end(),
              [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
    return std::move(outcome_);
  }

 private:
  void lane() {
    Mark mark;
    while (true) {
      uint64_t first = 0, last = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        const bool stop = options_.cancelled && *options_.cancelled;
        if (stop || next_ >= end_ || outcome_.failures.size() >= options_.most_failures) return;
        first = next_;
        last = next_ = std::min<uint64_t>(end_, first + options_.batch * options_.batches);
      }
      range(first, last, mark);
    }
  }

  /// How many failures it found.
  size_t range(uint64_t first, uint64_t last, Mark& mark) {
    mark.begin_batch(first);
    const int seconds = 60 + static_cast<int>(last - first);
    const std::string text =
        in_a_process([&] { return to_text(check_seeds(options_, first, last, mark)); }, seconds, options_.cancelled);
    if (options_.cancelled && *options_.cancelled) return 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const size_t before = outcome_.failures.size();
      if (from_text(text, outcome_)) {
        done_ += last - first;
        if (progress_) progress_(done_, outcome_.failures.size());
        return outcome_.failures.size() - before;
      }
    }
    if (last - first == 1) {
      add({first, text, first, last});
      return 1;
    }
    // The process ended: its seed alone, what lies before and behind it; or halves where it compiled many together.
    const Place at = mark.get();
    const bool at_seed = at.seed >= static_cast<int64_t>(first) && at.seed < static_cast<int64_t>(last);
    const uint64_t bad = at_seed ? static_cast<uint64_t>(at.seed) : first + (last - first) / 2;
    size_t found = bad > first ? range(first, bad, mark) : 0;
    if (at_seed) found += range(bad, bad + 1, mark);
    const uint64_t rest = at_seed ? bad + 1 : bad;
    if (rest < last) found += range(rest, last, mark);
    if (found > 0) return found;
    // None of the parts: it takes what was compiled together.
    add({at_seed ? bad : at.batch_first, text, at.batch_first,
         std::min<uint64_t>(at.batch_first + options_.batch, last)});
    return 1;
  }

  void add(Failure failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure.batch_last - failure.batch_first == 1) ++done_;
    outcome_.failures.push_back(std::move(failure));
  }

  const CampaignOptions& options_;
  const std::function<void(size_t, size_t)>& progress_;
  std::mutex mutex_;
  uint64_t next_, end_;
  size_t done_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome run_campaign(const CampaignOptions& options, const std::function<void(size_t, size_t)>& progress) {
  return Campaign(options, progress).run();
}

}  // namespace strata::fuzz
