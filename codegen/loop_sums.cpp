// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_sums.h"

#include <algorithm>

#include "codegen/loop_cost.h"
#include "codegen/loop_moments.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr int64_t kBlock = 32;  // numbers that one lane adds up in its own type

/// Iterations of the loop over an axis, at most; more than a block where nothing is known.
int64_t iterations(const KernelPlan& plan, const Nest& nest, const NestPlan& p, size_t position) {
  const int64_t most = range(plan.kernel.axes[nest.axes[position]].extent).max;
  const bool in_lanes = !plan.lanes_are_points && position + 1 == nest.axes.size();
  const int64_t each = in_lanes ? int64_t{p.lanes} * p.unroll : 1;
  return (std::clamp<int64_t>(most, 1, 2 * kBlock * each) + each - 1) / each;
}

}  // namespace

bool adds_floats(const Reduction& reduction) {
  return reduction.combine == Combine::Sum && is_floating(reduction.dtype);
}

void choose_blocks(KernelPlan& plan) {
  for (size_t n = 0; n < plan.kernel.nests.size(); ++n) {
    const Nest& nest = plan.kernel.nests[n];
    NestPlan& p = plan.nests[n];
    const bool adds = std::any_of(nest.reductions.begin(), nest.reductions.end(), [&](const Reduction& r) {
      return adds_floats(r) || r.combine == Combine::SumExp || takes_moments(plan, n, r);
    });
    if (!adds || nest.scan || !p.turned.empty()) continue;
    int64_t inside = 1;  // iterations of the loops inside the one at `position`
    for (size_t position = nest.axes.size(); position-- > 0 && p.block == 0;) {
      const int64_t all = inside * iterations(plan, nest, p, position);
      if (all > kBlock) {
        p.block = std::max<int64_t>(1, kBlock / inside);
        p.block_axis = position;
      }
      inside = all;
    }
  }
}

}  // namespace strata::codegen
