// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "passes/lower_to_library.h"
#include "passes/lower_to_loops.h"
#include "passes/output_layout.h"

namespace strata {

/// Nodes that become one launch.
struct FusionGroup {
  enum class Kind : uint8_t { Loop, Library, Native, Opaque, Control };
  Kind kind = Kind::Loop;
  std::string name;                 ///< `fused_add_relu_3`, `convolution_relu_1`
  std::vector<const Node*> nodes;   ///< in graph order; Library: the call, then its post-operations
  std::vector<const Node*> stored;  ///< what others need, in graph order
  std::vector<const Node*> again;   ///< of `nodes`, what belongs to another group and is computed here as well

  bool computes_again(const Node* node) const { return std::find(again.begin(), again.end(), node) != again.end(); }
};

/// Why two nodes that share data are, or are not, in one kernel. Every pair of kernels that share data has at least
/// one: where one reads what the other makes, every such pair of nodes; where both read a value, a pair of its readers,
/// or, of a value with many readers, each reader with the value.
struct FusionDecision {
  enum class Rule : uint8_t {
    Producer,  ///< the consumer reads the producer's value
    Siblings,  ///< both read the same value
    Crowd      ///< the consumer is one of more than `kMaxSiblings` kernels that read the producer's value
  };
  NodeId producer = 0, consumer = 0;
  bool accepted = false;
  std::string reason;  ///< for people
  Rule rule = Rule::Producer;
};
std::string_view to_string(FusionDecision::Rule rule);

/// Kernels that read one value are looked at in pairs up to this number.
inline constexpr size_t kMaxSiblings = 16;

struct FuseOptions {
  /// Join only what comes from one operator of the captured program: what eager mode does.
  bool within_operators = false;
  const LibraryCapabilities* capabilities = nullptr;
  /// Nodes whose value never changes (weights).
  std::unordered_set<const Node*> constants;
  OutputStrides output_strides;  ///< how the caller wants outputs to lie; kept where a kernel can write so
};

struct Fused {
  std::vector<FusionGroup> groups;  ///< in an order in which they can run
  std::vector<FusionDecision> decisions;
  Layouts layouts;
};

/// Puts every computing node of a decomposed graph into a group. Views belong to whoever reads through them.
Fused fuse(const Graph& graph, const FuseOptions& options);

/// The node of the captured program that a node comes from first (itself if it is one).
NodeId captured_origin(const Node& node);

}  // namespace strata
