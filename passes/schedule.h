// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/plan.h"
#include "passes/fuse.h"

namespace strata {

struct ScheduleOptions {
  bool within_operators = false;                         ///< see FuseOptions
  const LibraryCapabilities* capabilities = nullptr;     ///< null: the CPU's
  OutputStrides output_strides;                          ///< see FuseOptions
  const std::map<std::string, Tensor>* state = nullptr;  ///< values of parameters, buffers and constants
};

/// Where a node of the scheduled graph ended.
struct NodeFate {
  enum class Kind : uint8_t { Launch, OutputView, Constant, Input, Size, Unused };
  Kind kind = Kind::Unused;
  std::vector<int> launches;  ///< Launch: all that compute it (a view or a cheap node may be computed in several)
};
std::string_view to_string(NodeFate::Kind kind);

/// A plan and how it came about.
struct Scheduled {
  std::shared_ptr<Plan> plan;
  std::vector<FusionGroup> groups;  ///< parallel to the plan's launches
  std::vector<FusionDecision> decisions;
  std::unordered_map<NodeId, NodeFate> fates;
};

/// From a decomposed (and simplified) graph to a launch plan: groups, loop kernels and library calls, buffers with
/// lifetimes and reuse. The graph must outlive the result's `groups`. Throws a user Error for weights that are missing.
Scheduled schedule(const Graph& graph, const ScheduleOptions& options);

}  // namespace strata
