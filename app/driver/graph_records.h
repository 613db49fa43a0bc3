// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graphs as records of a trace.

#include <string>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"
#include "core/trace/writer.h"

namespace strata {

/// `[8, s0]`
std::string shape_text(const std::vector<SymInt>& shape);

/// Writes what graphs refer to (source stacks) into a trace, each once. The writer must live longer.
class GraphRecords {
 public:
  explicit GraphRecords(trace::Writer& writer) : writer_(writer) {}

  /// One per node of `all_nodes`, in order, as capture/torch_graph/records.h has it; `maker` and `group` are left to
  /// the caller.
  std::vector<trace::NodeRecord> nodes(const Graph& graph);
  /// SnapshotRecord::extra: which graphs are in it.
  static std::string form(const Graph& graph);
  /// Adds the symbols that shapes of the graph are made of.
  void symbols(const Graph& graph, trace::Id compile);
  /// Adds what the graph relies on.
  void assumptions(const Graph& graph, trace::Id compile);

 private:
  trace::Id stack_of(const SourceStack& stack);
  trace::NodeRecord record_of(const Node& node, const std::string& path);
  void add(const Graph& graph, const std::string& path, std::vector<trace::NodeRecord>& nodes);

  trace::Writer& writer_;
  std::unordered_map<const void*, trace::Id> stacks_;
  std::vector<SourceStack> kept_stacks_;  ///< so that pointers in `stacks_` stay unique
};

}  // namespace strata
