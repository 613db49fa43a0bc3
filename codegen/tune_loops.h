// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Schedules of loop kernels by measuring: the axis of the lanes, their number, unrolling, and whether a second thread
/// pays, one after the other, each with the best of those before.

#include <span>
#include <vector>

#include "codegen/tuning.h"
#include "core/ir/loop.h"

namespace strata::codegen {

struct TunedLoop {
  loop::Schedule schedule;
  /// Empty: its sizes are not known, it needs too much memory, or it divides by integers that cannot be made up.
  std::vector<TuningCandidate> candidates;
  bool measured = false;  ///< now, not in an earlier process
};

/// One per kernel, in order. Kernels of one structure and size are measured once. Throws a user Error when cancelled.
std::vector<TunedLoop> tune_loops(std::span<const loop::Kernel* const> kernels, const Target& target,
                                  const CompileOptions& options, const ObjectCache& cache);

}  // namespace strata::codegen
