// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/campaign.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <thread>

#include "core/support/error.h"
#include "tests/graphs/shrink.h"

namespace strata::fuzz {
namespace {

constexpr int64_t kAtCompile = -1;

/// Which seed a worker is at: survives its end.
class Mark {
 public:
  Mark()
      : place_(static_cast<int64_t*>(
            mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (place_ == MAP_FAILED) throw_runtime("no shared memory");
  }
  ~Mark() { munmap(place_, sizeof(int64_t)); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  void set(int64_t seed) { *place_ = seed; }
  int64_t get() const { return *place_; }

 private:
  int64_t* place_;
};

/// What a worker says: statistics, then failures with their lengths.
std::string to_text(const Outcome& o) {
  std::ostringstream text;
  const Statistics& s = o.statistics;
  text << s.programs << ' ' << s.refused << ' ' << s.nodes << ' ' << s.kernels << ' ' << s.distinct << ' '
       << s.generate_ns << ' ' << s.elements << ' ' << s.numbers << '\n';
  for (const Failure& f : o.failures) text << f.seed << ' ' << f.what.size() << '\n' << f.what;
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
  for (size_t size = 0; in >> f.seed >> size;) {
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
    for (uint64_t seed = at; seed < std::min<uint64_t>(at + options.batch, last); ++seed) {
      mark.set(static_cast<int64_t>(seed));
      try {
        programs.push_back(random_program(seed, options.generator));
        seeds.push_back(seed);
      } catch (const std::exception& e) {
        outcome.failures.push_back({seed, std::string("generator: throws: ") + e.what()});
      }
    }
    const auto on_start = [&](size_t i) { mark.set(i < seeds.size() ? static_cast<int64_t>(seeds[i]) : kAtCompile); };
    const auto failures = check_together(programs, on_start, &outcome.statistics);
    for (size_t i = 0; i < failures.size(); ++i)
      if (!failures[i].empty()) outcome.failures.push_back({seeds[i], failures[i]});
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

  void range(uint64_t first, uint64_t last, Mark& mark) {
    mark.set(static_cast<int64_t>(first));
    const std::string text = in_a_process([&] { return to_text(check_seeds(options_, first, last, mark)); }, 600);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (from_text(text, outcome_)) {
        done_ += last - first;
        if (progress_) progress_(done_, outcome_.failures.size());
        return;
      }
    }
    if (last - first == 1) {
      const std::lock_guard<std::mutex> lock(mutex_);
      outcome_.failures.push_back({first, text});
      ++done_;
      return;
    }
    // The process ended: its seed alone, what lies before and behind it; or halves where it compiled many together.
    const int64_t at = mark.get();
    if (at < static_cast<int64_t>(first) || at >= static_cast<int64_t>(last)) {
      const uint64_t middle = first + (last - first) / 2;
      range(first, middle, mark);
      range(middle, last, mark);
      return;
    }
    const auto bad = static_cast<uint64_t>(at);
    if (bad > first) range(first, bad, mark);
    range(bad, bad + 1, mark);
    if (bad + 1 < last) range(bad + 1, last, mark);
  }

  const CampaignOptions& options_;
  const std::function<void(size_t, size_t)>& progress_;
  std::mutex mutex_;
  uint64_t next_, end_;
  size_t done_ = 0;
  Outcome outcome_;
};

std::string shrunk_text(uint64_t seed, const GeneratorOptions& generator, const std::string& what) {
  const std::string kind = kind_of(what);
  std::string why = what;
  const RandomProgram program = random_program(seed, generator);
  const auto checked = [](const RandomProgram& p) {
    return in_a_process([&] {
      poison_memory();
      return check(p);
    });
  };
  const RandomProgram small = shrink(program, [&](const RandomProgram& p) {
    const std::string found = checked(p);
    if (found.empty() || kind_of(found) != kind) return false;
    why = found;
    return true;
  });
  const std::string stages = in_a_process([&] {
    poison_memory();
    return check(small, Depth::Stages);
  });
  return to_file(small, "seed " + std::to_string(seed) + (generator.row ? ", row " + generator.row->name : "") + "\n" +
                            what + "\nshrunk: " + why + "\nstage by stage: " + stages +
                            "\nagain: fuzz_graphs --file THIS_FILE\n" + small.str());
}

}  // namespace

Outcome run_campaign(const CampaignOptions& options, const std::function<void(size_t, size_t)>& progress) {
  return Campaign(options, progress).run();
}

std::string reproducer(uint64_t seed, const GeneratorOptions& generator, const std::string& what) {
  // In a process of its own as well: shape rules of the table run here.
  const std::string text = in_a_process([&] { return shrunk_text(seed, generator, what); }, 900);
  if (text.starts_with("strata fuzz program")) return text;
  return "seed " + std::to_string(seed) + ": " + what + "\nmaking it smaller: " + text +
         "\nagain: fuzz_graphs --seed " + std::to_string(seed) + " --graphs 1\n";
}

}  // namespace strata::fuzz
