// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph of a compile as the importer works on it. Internal to torch_graph.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/torch_graph/importer.h"
#include "core/ir/fx_names.h"
#include "core/ir/graph.h"

namespace strata::capture::graphs {

/// Which step of the compiler a graph stands behind.
enum class Level { Captured, Functional, Joint, Split, Simplified };

/// Edge to where a node came from.
struct Edge {
  trace::NodeId node = 0, from = 0;
  const char* kind = "replaced";
  const char* rule = "";
  bool exact = false;
};

size_t constexpr at(int position) { return static_cast<size_t>(position); }

struct ImportedGraph {
  trace::Id snapshot = trace::kNone;
  std::string stage, role;
  Level level = Level::Simplified;
  std::vector<trace::NodeRecord> nodes;  ///< as written: with the ids of the compile
  std::vector<SourceStack> sources;
  std::vector<int> places;  ///< per node: number of its source line in the compile; 0: unknown
  /// By position in `nodes`: distinct operands in order of use, and users in program order.
  std::vector<std::vector<int>> operands, users;
  std::unordered_map<std::string_view, int> names;
  std::vector<int> placeholders;          ///< positions, of the outermost class
  std::vector<std::string> input_descs;   ///< parallel to `placeholders`: `PlainAOTInput(idx=0)`
  std::vector<int> outputs;               ///< leaves of what is returned; -1: no node
  std::vector<std::string> output_descs;  ///< parallel to `outputs`, or empty
  /// Per node: the node before gradients that it computes or is the gradient of; 0: unknown.
  std::vector<trace::NodeId> cause;
  int size() const { return static_cast<int>(nodes.size()); }
  int find(std::string_view name) const {
    const auto found = names.find(name);
    return found == names.end() ? -1 : found->second;
  }
  bool is(int node, std::string_view op) const { return nodes[static_cast<size_t>(node)].op == op; }
};

/// The graph as records with positions as ids. `extra` gets SnapshotRecord::extra.
ImportedGraph imported(const Graph& graph, std::string& extra);

/// Whether two nodes are one that went from graph to graph untouched.
bool same_node(const trace::NodeRecord& a, const trace::NodeRecord& b);

}  // namespace strata::capture::graphs
