// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From a seed that differs to a small file that says why, and differs again.

#include <atomic>
#include <string>
#include <vector>

#include "tests/graphs/campaign.h"

namespace strata::fuzz {

/// Programs that are compiled together, and which of them differs.
struct Batch {
  std::vector<RandomProgram> programs;
  std::vector<uint64_t> seeds;  ///< one per program
  size_t at = 0;

  Batch clone() const;
};

struct ReproduceOptions {
  GeneratorOptions generator;
  int seconds = 120;                             ///< then the smallest found so far counts
  const std::atomic<bool>* cancelled = nullptr;  ///< the same at once
};

/// The failing program as the generator made it, as a file: at once, before anything is run.
std::string whole_program(const Failure& failure, const GeneratorOptions& generator);

/// The smallest program found that fails as the seed's does, as a file (`to_file`). Where it does so only beside others
/// of its batch, these are in the file as well, as few and as small as will do; where it does not fail again at all,
/// the file says so and has the whole program.
std::string reproducer(const Failure& failure, const ReproduceOptions& options = {});

/// Fewer and smaller programs for which `fails` still holds; `budget` as for `shrink`, for each of them.
Batch shrink_batch(Batch batch, const std::function<bool(const Batch&)>& fails, size_t budget = 1000);

}  // namespace strata::fuzz
