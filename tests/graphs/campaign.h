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
  const std::atomic<bool>* cancelled = nullptr;
};

struct Failure {
  uint64_t seed;
  std::string what;
};

struct Outcome {
  std::vector<Failure> failures;  ///< by seed
  Statistics statistics;
};

/// `progress(graphs done, failures)` is called now and then, by one thread at a time.
Outcome run_campaign(const CampaignOptions& options, const std::function<void(size_t, size_t)>& progress = {});

/// The smallest program found that fails as the seed's does, as a file (`to_file`).
std::string reproducer(uint64_t seed, const GeneratorOptions& generator, const std::string& what);

}  // namespace strata::fuzz
