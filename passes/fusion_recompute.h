// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A cheap value that several loop kernels need is computed in each of them again, instead of going through memory,
/// where the kernels then move clearly fewer bytes: a conversion of something smaller, a mask made of indices, a sum of
/// what both kernels read anyway.
///
/// Each kernel gets the same bits: products are rounded before they are summed (docs/loops.md), and values of 16-bit
/// types, which are not rounded inside of a kernel, are left in memory.

#include <functional>
#include <string>

#include "passes/fusion_groups.h"

namespace strata {

/// What the rules for kernels say. All references must outlive the call, which changes the groups.
struct Recomputation {
  using Group = FusionGroups::Group;
  const Graph& graph;
  FusionGroups& groups;
  std::function<bool(const Node&)> cheap;  ///< may be computed several times
  std::function<bool(const Group&)> is_loop;
  std::function<bool(const Group& nodes, const Group& stored)> fits;  ///< can be one kernel
  /// `value` is computed again where `reader` is.
  std::function<void(const Node& value, const Node& reader, const std::string& reason)> decide;
};

void compute_again(const Recomputation& question);

}  // namespace strata
