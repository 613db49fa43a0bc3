// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graphs as trace records and back, without loss: `print_fx` of the graph that comes back is `print_fx` of the graph.
///
/// Nodes of child classes stand behind those of their parent, with names `CHILD/NAME` and the member `"graph"` of
/// NodeRecord::extra. How the text of a graph was written (FxOptions::Form::AsRead) is no property of its nodes and
/// is kept in SnapshotRecord::extra: `fx.header`, `fx.expanded`, ... of the graph, `fx.clean_up@NODE` of a node,
/// `CHILD/fx.clean_up@NODE` below a child.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"
#include "core/trace/records.h"

namespace strata::capture {

struct GraphRecords {
  std::vector<trace::NodeRecord> nodes;  ///< ids and inputs are positions in `nodes`, from 1; no stacks
  std::vector<const Node*> from;         ///< parallel to `nodes`
  std::string extra;                     ///< SnapshotRecord::extra
};
GraphRecords records_of(const Graph& graph);

/// The graph of a snapshot. Nodes get the ids, module paths and roles of their records, and in `records` the record
/// that each was made of. Throws a user Error for records that are no graph.
Graph graph_of(const trace::SnapshotRecord& snapshot, std::span<const trace::NodeRecord> nodes,
               std::shared_ptr<ShapeEnv> env,
               std::unordered_map<const Node*, const trace::NodeRecord*>* records = nullptr);

/// What stands before the names of a child's nodes: `CHILD/`, behind that of its parent.
std::string child_path(std::string_view parent, std::string_view child);

/// A JSON object of strings from `key, value, key, value`; empty for none. Bytes that are not UTF-8 must have been
/// replaced before.
std::string json_object(std::span<const std::pair<std::string, std::string>> members);
/// Its members; none for text that is not a JSON object. Values that are not strings are left out.
std::vector<std::pair<std::string, std::string>> json_members(std::string_view object);

}  // namespace strata::capture
