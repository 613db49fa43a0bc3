// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/library.h"
#include "core/runtime/target.h"
#include "passes/strided_view.h"

namespace strata {

/// A library call with the nodes behind its buffers.
struct LoweredLibrary {
  LibraryCall call;
  std::vector<const Node*> buffers;  ///< operands by their `buffer` index, then the result
  std::vector<NodeId> nodes;         ///< everything computed, views on the way included
};

bool is_library(const Node& node);

/// Physical strides the call should give its result (attention writes heads side by side, as its consumer wants them);
/// row-major for others.
std::vector<SymInt> library_result_strides(const Node& node);

/// Operands that are views without strides over a buffer: they must be materialized before the call can be lowered.
std::vector<const Node*> operands_to_materialize(const Node& node, const Layouts& layouts);

/// What `node` adds after a call whose result so far is `chain` (a node, seen through views that keep all elements in
/// order): a post-operation and the other tensor it reads, or nothing, with `why_not` set.
struct PostOpMatch {
  PostOp op;
  const Node* other = nullptr;
};
std::optional<PostOpMatch> match_post_op(const Node& node, const Node* chain, std::string& why_not);

/// Lowers `nodes[0]` (a library operator) with `nodes[1..]` as post-operations. Nothing, with `why_not` set, if the
/// library refuses one of them or an operand has no strides.
std::optional<LoweredLibrary> lower_to_library(const std::vector<const Node*>& nodes, const Layouts& layouts,
                                               const std::unordered_set<const Node*>& constants,
                                               const LibraryCapabilities& capabilities, std::string& why_not);

}  // namespace strata
