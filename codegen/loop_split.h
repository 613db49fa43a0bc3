// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A kernel with few outer points and a long reduction would keep few cores busy, and one of columns would walk through
/// memory in short pieces. It is cut in two: a kernel whose
/// outer points are chunks of the reduction, and one that combines their results and goes on. Both are ordinary loop
/// kernels.

#include <optional>
#include <vector>

#include "codegen/loop_plan.h"

namespace strata::codegen {

struct SplitReduction {
  loop::Kernel partial;  ///< the kernel's buffers, then one per partial result
  loop::Kernel combine;  ///< the same buffers
  /// Bytes of each partial buffer.
  std::vector<size_t> scratch;
};

/// Nothing if the kernel has many outer points and reads along its reduction, its reduction is short or of unknown
/// length, or cannot be combined from parts.
std::optional<SplitReduction> split_reduction(const loop::Kernel& kernel, const Target& target);

}  // namespace strata::codegen
