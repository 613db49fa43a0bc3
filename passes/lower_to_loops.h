// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "core/ir/loop.h"
#include "core/ir/op.h"
#include "passes/strided_view.h"

namespace strata {

/// Nodes that are to become one loop kernel.
struct LoopGroup {
  std::vector<const Node*> nodes;   ///< compute nodes in graph order; a view only if it is materialized
  std::vector<const Node*> stored;  ///< those whose value is needed outside, in graph order
};

/// A loop kernel, or why the nodes cannot be one.
struct LoweredLoops {
  bool ok = false;
  std::string refusal;  ///< for people: `'sum_1' reduces [32, 10] over 1, 'amax' reduces [4, 80] over 1`
  loop::Kernel kernel;
  std::vector<const Node*> buffers;  ///< the node behind each kernel buffer; outputs are `stored`
  std::vector<NodeId> nodes;         ///< everything computed, views on the way included
};

struct LowerOptions {
  const Layouts* layouts = nullptr;  ///< of buffers outside the group
  std::string name;
  bool finish = true;  ///< also merge axes and count flops; false for trials
};

/// Whether a node's elements can be computed one by one inside a kernel of others.
bool is_inlinable(const Node& node);
bool is_reduction(const Node& node);
bool is_window(const Node& node);
bool is_scan(const Node& node);

/// Lowers a group. Never throws for groups that merely do not fit together.
LoweredLoops lower_to_loops(const Graph& graph, const LoopGroup& group, const LowerOptions& options);

}  // namespace strata
