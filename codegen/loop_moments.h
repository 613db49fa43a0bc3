// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "codegen/loop_plan.h"

namespace strata::codegen {

/// The sum of a line in one nest and that of the squared distances from its mean in the next become one reduction
/// (`Combine::Welford`), so that a norm reads a line twice and not three times. It is faster where the lanes, of which
/// there are `lanes`, are elements of the line. Nothing if there are no such nests.
std::optional<loop::Kernel> with_moments_at_once(const loop::Kernel& kernel, int lanes);

/// Whether a reduction of a nest is added up as differences from a number near the mean, and as their squares. Lanes
/// are chosen.
bool takes_moments(const KernelPlan& plan, size_t nest, const loop::Reduction& reduction);

}  // namespace strata::codegen
