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
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/strided_view.h"

namespace strata {

/// What kernels are made of so far. All references must outlive the call, which changes `groups`, `group_of`, `again`.
struct Recomputation {
  using Group = std::vector<const Node*>;
  const Graph& graph;
  std::vector<Group>& groups;
  std::unordered_map<const Node*, size_t>& group_of;
  /// Of a group, nodes that it computes although they belong to another.
  std::unordered_map<size_t, std::unordered_set<const Node*>>& again;
  const std::unordered_map<const Node*, std::vector<const Node*>>& readers;  ///< of values with a buffer
  std::function<const Node*(const Node*)> base_of;                           ///< the value with the buffer
  std::function<bool(const Node*)> kept;                                     ///< a result: in memory whoever reads it
  std::function<bool(const Node&)> cheap;                                    ///< may be computed several times
  std::function<bool(const Group&)> is_loop;
  std::function<Group(size_t)> stored_of;                        ///< what others need of a group
  std::function<std::set<size_t>(const Node*)> readers_outside;  ///< groups that read a value of another from memory
  std::function<bool(const Group&, const Group&)> fits;  ///< nodes and what of them is stored: can be one kernel
  /// `value` is computed again where `reader` is.
  std::function<void(const Node& value, const Node& reader, const std::string& reason)> decide;
};

void compute_again(const Recomputation& question);

}  // namespace strata
