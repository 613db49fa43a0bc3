// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which node of one graph is which of another: of two stages, two compiles or two traces.

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/records.h"

namespace strata::studio {

/// Thrown by work that was asked to stop.
struct ComparisonStopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

/// A graph with what tells its nodes apart beyond their records.
struct AlignedGraph {
  const std::vector<trace::NodeRecord>* nodes = nullptr;
  std::vector<std::string> lines;  ///< per node the code of its line; empty: not known
};

/// For every node of `a` (index) its partner in `b`, or -1. Each is a partner once.
///
/// Nodes with the same id are partners where `by_id` (stages of one compile). Otherwise inputs and weights go by name,
/// then by order; operators by operator, module, line, arguments and neighbours, in program order first (so a node more
/// in the middle moves nothing), then wherever their operands and users are partners. Takes near-linear time. `stop`
/// is asked now and then: true throws ComparisonStopped.
std::vector<int> align_graphs(const AlignedGraph& a, const AlignedGraph& b, bool by_id,
                              const std::function<bool()>& stop = {});

/// The arguments of a node without the names of its operands, which differ where the operator is the same: `mm, 0.5`
/// gives `·, 0.5`.
std::string arguments_without_names(const trace::NodeRecord& node, const std::vector<std::string_view>& operands);

}  // namespace strata::studio
