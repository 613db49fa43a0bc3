// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/loop_plan.h"

namespace strata::codegen {

/// Whether a reduction adds floating numbers, so that its rounding error grows with their number.
bool adds_floats(const loop::Reduction& reduction);

/// Cuts long sums into blocks (`NestPlan::block`): added one after the other in float32, n numbers are off by up to
/// n / 2 units in the last place, and in the worst case, equal numbers, by nearly that. A block has 32.
void choose_blocks(KernelPlan& plan);

}  // namespace strata::codegen
