// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// FX graph payloads of PyTorch's compiler -> graph snapshots of a trace, with origin edges between the graphs of a
/// compile.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/import/context.h"

namespace strata::capture {

namespace graphs {
struct ImportedGraph;
}

/// A payload that was read. Needs no writer and no lock: payloads may be parsed on many threads.
struct ParsedGraph {
  std::shared_ptr<graphs::ImportedGraph> graph;  ///< null: `error` says why
  std::string error;                             ///< with line and column; empty when there is a graph
  bool exact = false;  ///< the graph in the trace will print as the payload, up to white space
  std::string extra;   ///< SnapshotRecord::extra: what the text says beyond its nodes
};

/// Reads a payload as it stands in a log or a file: CR, terminal colours, metadata blocks in `"""` and text behind the
/// classes (` # graph id: 7`) are taken in or skipped. Never throws for what the text holds.
ParsedGraph parse_graph_payload(std::string_view text);

/// `fx_node_name: [other, names]`.
using NameMap = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Puts the graphs of one compile attempt into the trace. Graphs must be added in the order of the log: captured,
/// functional (pre-grad), joint, forward and backward or inference, simplified.
///
/// A node that is in two consecutive graphs with the same name, target, arguments and type keeps its id. Any other
/// gets a new id and an edge to what it was made from; edges that no identity, name kept by the producer or map of the
/// producer stands for are `exact = false`. Edges are written by `finish`.
/// One thread at a time.
class GraphImporter {
 public:
  /// Problems are counted at `input`. Nodes are numbered from `first` on: another producer may have nodes in the
  /// compile.
  GraphImporter(ImportContext& context, trace::Id compile, trace::Id input = trace::kNone, trace::NodeId first = 1);
  ~GraphImporter();
  GraphImporter(GraphImporter&&) noexcept;
  GraphImporter& operator=(GraphImporter&&) noexcept;

  /// Sizes of values that the text may lack (`dynamo_output_graph.sizes`): node name, `[8, s77]`. Before `captured`.
  void set_sizes(std::vector<std::pair<std::string, std::string>> sizes);
  /// What the compile's inputs are in Python: `L['self']._modules['fc']._parameters['weight']`. Before `captured`.
  void set_sources(std::vector<std::string> sources);

  /// Adds a graph and returns its snapshot. `role`: `forward`, `backward`, `inference` or empty, of the program it is a
  /// stage of; what it was made from is found by stage and role. A graph that could not be read becomes a text snapshot
  /// with the artifact `fx`, and a `graph_parse_error` problem at `line` of the input. `raw_text` is kept as artifact
  /// `fx` too where the graph in the trace would not print it again. `written`: the snapshot that holds this graph
  /// already, put there by another importer of the same compile with the same `first`; then nothing is written.
  trace::Id add(std::string_view stage, trace::Id program, ParsedGraph parsed, std::string_view raw_text,
                std::string_view role, std::int64_t line = 0, trace::Id written = trace::kNone);

  /// The producer's map for one post-grad snapshot: node there -> nodes of the graph before gradients. Exact edges;
  /// what was inferred about these nodes gives way. Before `finish`.
  void link(trace::Id post_grad_snapshot, const NameMap& post_to_pre);
  /// The artifact `inductor_post_to_pre_grad_nodes` (JSON), in logs that have no `postToPre`.
  void link_json(trace::Id post_grad_snapshot, std::string_view post_to_pre_grad_nodes);

  /// Writes the edges. Nothing may be added after it.
  void finish();

  /// The node of that name, 0 if there is none. Child nodes are `CHILD/NAME`.
  trace::NodeId find(trace::Id snapshot, std::string_view node_name) const;
  /// As written; empty if the snapshot is text or not of this importer.
  std::span<const trace::NodeRecord> nodes(trace::Id snapshot) const;
  /// Node of the last graph before gradients (`functional:*`, else `captured`), 0 if there is none.
  trace::NodeId pre_grad_node(std::string_view node_name) const;
  /// The last snapshot of that stage, whatever its `#N`; kNone if there is none.
  trace::Id snapshot(std::string_view stage) const;
  /// The graph that the kernels of a role compute: `simplified:ROLE.after`, else the last graph of that role.
  trace::Id program_graph(std::string_view role) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::capture
