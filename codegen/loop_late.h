// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/loop_plan.h"

namespace strata::codegen {

/// Sets `late`: where the last pass over a line only writes results past the caches, a point's goes together with the
/// pass before it of the next point, so that memory takes stores and loads while that one computes. Streams are chosen.
void choose_late(KernelPlan& plan);

}  // namespace strata::codegen
