// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a planned loop kernel meets memory that no cache holds: which results go past the caches, and what is fetched
/// before its turn.

#include "codegen/loop_plan.h"

namespace strata::codegen {

/// Whether some result goes past the caches.
bool streams(const KernelPlan& plan);

/// Whether loads and stores of some lanes of a vector are an instruction for all that the kernel reads and writes. AVX2
/// has it for numbers of 4 and 8 bytes.
bool has_masks(const loop::Kernel& kernel, const Target& target);

/// Sets `streamed`. Lanes are chosen.
void choose_streams(KernelPlan& plan, const Target& target);

/// Sets `ahead`, `ahead_points`, `ahead_bytes` and `ahead_near`. Lanes, tiles, streams, `late` and guesses are chosen.
void choose_ahead(KernelPlan& plan, const Target& target);

}  // namespace strata::codegen
