// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many seeds, in processes of their own: a crash or a hang is a difference like any other.

#include <atomic>
#include <string>
#include <vector>

#include "tests/graphs/check.h"
#include "tests/graphs/generator.h"

namespace strata::fuzz {

struct CampaignOptions {
  uint64_t first = 1;  ///< seed
  size_t graphs = 1000;
  size_t batch = 128;         ///< graphs that are compiled together
  size_t batches = 2;         ///< per process
  int jobs = 1;               ///< processes at a time
  size_t most_failures = 20;  ///< then it ends
  GeneratorOptions generator;
  const std::atomic<bool>* cancelled = nullptr;  ///< ends it at once: what is being looked at then counts as not seen
};

struct Failure {
  uint64_t seed = 0;
  std::string what;
  uint64_t batch_first = 0, batch_last = 0;  ///< the seeds that were compiled with it: the first, the one past the last
};

struct Outcome {
  std::vector<Failure> failures;  ///< by seed
  Statistics statistics;
};

/// `progress(graphs done, failures)` is called now and then, by one thread at a time.
Outcome run_campaign(const CampaignOptions& options, const std::function<void(size_t, size_t)>& progress = {});

}  // namespace strata::fuzz
