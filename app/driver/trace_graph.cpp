// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/trace_graph.h"

#include <fmt/format.h>

#include <unordered_map>

#include "capture/torch_graph/records.h"
#include "core/support/error.h"

namespace strata {
namespace {

void add_symbols(trace::Reader& reader, trace::Id compile, ShapeEnv& env) {
  for (const trace::SymbolRecord& r : reader.symbols(compile)) {
    Symbol s;
    s.name = r.name;
    s.range = {r.min.value_or(kSymMin), r.max.value_or(kSymMax)};
    s.hint = r.hint;
    s.origin = r.origin;
    env.symbol(s);
  }
}

OriginKind kind_of(const std::string& word) {
  for (int k = 0; k <= static_cast<int>(OriginKind::Replaced); ++k)
    if (to_string(static_cast<OriginKind>(k)) == word) return static_cast<OriginKind>(k);
  return OriginKind::Replaced;
}

/// What is told apart by ids of the trace.
class Annotator {
 public:
  Annotator(trace::Reader& reader, trace::Id compile) : reader_(reader) {
    for (const trace::OriginRecord& e : reader.edges(compile))
      origins_[e.node].push_back({static_cast<NodeId>(e.from), kind_of(e.kind), e.rule, e.exact});
    for (const trace::PassRecord& p : reader.passes(compile)) makers_[p.id] = p.name;
  }

  void annotate(Node& node, const trace::NodeRecord& r) {
    node.meta.source = stack(r.stack);
    if (const auto it = makers_.find(r.maker); it != makers_.end()) node.meta.maker = it->second;
    if (const auto it = origins_.find(r.id); it != origins_.end()) node.meta.origins = it->second;
  }

 private:
  SourceStack stack(trace::Id id) {
    if (id == trace::kNone) return nullptr;
    SourceStack& known = stacks_[id];
    if (known) return known;
    auto entries = std::make_shared<std::vector<SourceLocation>>();
    for (const trace::SourceLocation& l : reader_.stack(id))
      entries->push_back({l.file, static_cast<int>(l.line), l.function, l.text});
    return known = entries;
  }

  trace::Reader& reader_;
  std::unordered_map<trace::NodeId, std::vector<Origin>> origins_;
  std::unordered_map<trace::Id, std::string> makers_;
  std::unordered_map<trace::Id, SourceStack> stacks_;
};

void annotate(Graph& graph, Annotator& annotator,
              const std::unordered_map<const Node*, const trace::NodeRecord*>& records) {
  for (const auto& node : graph.nodes()) annotator.annotate(*node, *records.at(node.get()));
  for (const auto& [name, child] : graph.subgraphs) annotate(*child, annotator, records);
}

}  // namespace

Graph graph_from_trace(trace::Reader& reader, const trace::SnapshotRecord& snapshot) {
  if (snapshot.kind != trace::SnapshotKind::Graph)
    throw_user(fmt::format("stage '{}' is text, not a graph", snapshot.stage));
  const auto nodes = reader.nodes(snapshot.id);
  auto env = std::make_shared<ShapeEnv>();
  add_symbols(reader, snapshot.compile, *env);
  std::unordered_map<const Node*, const trace::NodeRecord*> records;
  Graph graph = capture::graph_of(snapshot, nodes, env, &records);
  Annotator annotator(reader, snapshot.compile);
  annotate(graph, annotator, records);
  return graph;
}

}  // namespace strata
