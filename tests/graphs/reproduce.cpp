// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/reproduce.h"

#include <algorithm>
#include <chrono>

#include "tests/graphs/shrink.h"

namespace strata::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// The failing seed's program alone, or with all that was compiled with it.
Batch batch_of(const Failure& failure, const GeneratorOptions& generator, bool alone) {
  Batch batch;
  const uint64_t first = alone ? failure.seed : failure.batch_first;
  const uint64_t last = alone ? failure.seed + 1 : failure.batch_last;
  for (uint64_t seed = first; seed < last; ++seed) {
    try {
      batch.programs.push_back(random_program(seed, generator));
    } catch (const std::exception&) {
      continue;  // a difference of its own
    }
    if (seed == failure.seed) batch.at = batch.programs.size() - 1;
    batch.seeds.push_back(seed);
  }
  return batch;
}

std::string difference_of(const Batch& batch) {
  return in_a_process([&] {
    poison_memory();
    return check_together(batch.programs).at(batch.at);
  });
}

std::string stages_of(const Batch& batch) {
  return in_a_process([&] {
    poison_memory();
    return check(batch.programs[batch.at], Depth::Stages);
  });
}

std::string seed_line(const Failure& failure, const GeneratorOptions& generator) {
  return "seed " + std::to_string(failure.seed) + (generator.row ? ", row " + generator.row->name : "") + "\n" +
         failure.what + "\n";
}

std::string command_of(const Failure& failure) {
  const std::string count = std::to_string(failure.batch_last - failure.batch_first);
  return "fuzz_graphs --seed " + std::to_string(failure.batch_first) + " --graphs " + count + " --batch " + count;
}

class Reproduction {
 public:
  Reproduction(const Failure& failure, const ReproduceOptions& options)
      : failure_(failure),
        options_(options),
        kind_(kind_of(failure.what)),
        deadline_(Clock::now() + std::chrono::seconds(options.seconds)) {}

  std::string text() {
    Batch batch = batch_of(failure_, options_.generator, true);
    bool again = is_it(batch) || is_it(batch);
    if (!again && failure_.batch_last - failure_.batch_first > 1) {
      batch = batch_of(failure_, options_.generator, false);
      again = is_it(batch) || is_it(batch);
    }
    if (!again)
      return whole("Run again, alone and with its batch, it does not differ: memory, timing, or what ran before.");
    batch = shrink_batch(std::move(batch), [this](const Batch& b) { return is_it(b); });
    return to_file(batch.programs, seed_line(failure_, options_.generator) + said(batch));
  }

  std::string whole(const std::string& remark) const {
    const Batch batch = batch_of(failure_, options_.generator, true);
    return to_file(batch.programs, seed_line(failure_, options_.generator) + remark +
                                       "\nagain: " + command_of(failure_) + "\n" + batch.programs.at(0).str());
  }

 private:
  bool is_it(const Batch& batch) {
    if (Clock::now() > deadline_ || (options_.cancelled && *options_.cancelled)) return false;
    const std::string found = difference_of(batch);
    if (found.empty() || kind_of(found) != kind_) return false;
    why_ = found;
    return true;
  }

  std::string said(const Batch& batch) const {
    std::string text = "shrunk: " + why_ + "\n";
    if (batch.programs.size() == 1) {
      text += "stage by stage: " + stages_of(batch) + "\n";
    } else {
      text += "only when compiled together: program " + std::to_string(batch.at + 1) + " of those of seeds";
      for (const uint64_t seed : batch.seeds) text += " " + std::to_string(seed);
      text += "\n";
    }
    text += "again: fuzz_graphs --file THIS_FILE\n";
    for (const RandomProgram& p : batch.programs) text += p.str();
    return text;
  }

  const Failure& failure_;
  const ReproduceOptions& options_;
  std::string kind_, why_;
  Clock::time_point deadline_;
};

/// Halves, quarters, ... of what is compiled together go, but for the program that differs.
void drop_others(Batch& batch, const std::function<bool(const Batch&)>& fails) {
  for (size_t length = std::max<size_t>(batch.programs.size() / 2, 1); length > 0; length /= 2)
    for (size_t begin = 0; begin < batch.programs.size() && batch.programs.size() > 1;) {
      const size_t end = std::min(begin + length, batch.programs.size());
      Batch fewer;
      for (size_t i = 0; i < batch.programs.size(); ++i) {
        if (i >= begin && i < end && i != batch.at) continue;
        if (i == batch.at) fewer.at = fewer.programs.size();
        fewer.programs.push_back(batch.programs[i].clone());
        fewer.seeds.push_back(batch.seeds[i]);
      }
      if (fewer.programs.size() < batch.programs.size() && fails(fewer))
        batch = std::move(fewer);
      else
        begin = end;
    }
}

}  // namespace

Batch Batch::clone() const {
  Batch copy;
  for (const RandomProgram& p : programs) copy.programs.push_back(p.clone());
  copy.seeds = seeds;
  copy.at = at;
  return copy;
}

Batch shrink_batch(Batch batch, const std::function<bool(const Batch&)>& fails, size_t budget) {
  drop_others(batch, fails);
  std::vector<size_t> order{batch.at};
  for (size_t i = 0; i < batch.programs.size(); ++i)
    if (i != batch.at) order.push_back(i);
  for (const size_t i : order)
    batch.programs[i] = shrink(
        batch.programs[i],
        [&](const RandomProgram& smaller) {
          Batch candidate = batch.clone();
          candidate.programs[i] = smaller.clone();
          return fails(candidate);
        },
        budget);
  return batch;
}

std::string whole_program(const Failure& failure, const GeneratorOptions& generator) {
  // In a process of its own: shape rules of the table run here.
  const std::string text =
      in_a_process([&] { return Reproduction(failure, {generator}).whole("as it was made, not made smaller yet"); });
  if (text.starts_with("strata fuzz program")) return text;
  return seed_line(failure, generator) + "making the program: " + text + "\nagain: " + command_of(failure) + "\n";
}

std::string reproducer(const Failure& failure, const ReproduceOptions& options) {
  const std::string text =
      in_a_process([&] { return Reproduction(failure, options).text(); }, options.seconds + 120, options.cancelled);
  if (text.starts_with("strata fuzz program")) return text;
  const std::string whole = whole_program(failure, options.generator);
  return whole + (whole.starts_with("strata fuzz program") ? "" : "making it smaller: " + text + "\n");
}

}  // namespace strata::fuzz
