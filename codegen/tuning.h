// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What measuring candidates takes, whatever they are: memory with made-up values, a clock that is fair to all, and
/// results that stay on disk.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/object_cache.h"
#include "core/runtime/plan.h"

namespace strata::codegen {

/// Memory for the buffers of a launch: floats between 0.5 and 1, integers and flags 0, so that they are valid as
/// indices.
class MadeUpBuffers {
 public:
  /// Throws a runtime Error when memory does not suffice.
  void add(DType dtype, int64_t elements);
  /// The next buffer of the launch is one that exists.
  void add(std::byte* data) { pointers_.push_back(data); }
  std::byte* const* pointers() const { return pointers_.data(); }

 private:
  std::vector<Tensor> owned_;
  std::vector<std::byte*> pointers_;
};

/// A launch that needs more than this for its buffers is not measured.
constexpr int64_t kMostMeasuredBytes = int64_t{1} << 30;

/// The least time of a call of each, in tenths of nanoseconds; those that are far behind are given up early. They
/// take turns, so that what disturbs the machine meets all of them. Throws a user Error when `options.cancelled` says
/// so.
std::vector<double> measure(std::span<const std::function<void()>> calls, const CompileOptions& options);

/// The one to take: the fastest, but the first where no other is clearly faster.
size_t best_of(std::span<const double> times);

/// What was measured, as numbers that mean something to who measured, and for people.
struct TuningRecord {
  std::vector<int64_t> choice;
  std::vector<TuningCandidate> candidates;
};

/// For the same key, machine and version; nothing if it was not measured, or is not readable any more.
std::optional<TuningRecord> load_tuning(const ObjectCache& cache, const std::string& key, const Target& target);
void store_tuning(const ObjectCache& cache, const std::string& key, const Target& target, const TuningRecord& record);

/// The candidates as lines, fastest first, with the one that was taken marked.
std::string tuning_text(const std::vector<TuningCandidate>& candidates);

}  // namespace strata::codegen
