// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_graph/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "capture/torch_graph/imported_graph.h"
#include "core/support/error.h"

namespace strata::capture {

using graphs::Edge;
using graphs::ImportedGraph;
using graphs::Level;

namespace {

Level level_of(std::string_view stage) {
  if (stage == "captured" || stage.starts_with("captured#")) return Level::Captured;
  if (stage.starts_with("functional")) return Level::Functional;
  if (stage.starts_with("joint")) return Level::Joint;
  for (const std::string_view role : {"forward", "backward", "inference"})
    if (stage.starts_with(role)) return Level::Split;
  return Level::Simplified;
}

/// `joint` of `joint#2`.
std::string_view without_number(std::string_view stage) { return stage.substr(0, stage.rfind('#')); }

}  // namespace

struct GraphImporter::Impl {
  ImportContext& context;
  trace::Id compile, input;
  trace::NodeId next = 1;
  std::deque<ImportedGraph> graphs;
  std::vector<std::pair<std::string, trace::Id>> stages;  // as asked for, in order
  std::unordered_map<trace::NodeId, const trace::NodeRecord*> last;
  std::unordered_map<const void*, trace::Id> stacks;
  std::vector<Edge> edges;
  std::vector<std::pair<std::string, std::string>> sizes;
  std::vector<std::string> python_sources;
  bool finished = false;

  trace::Id text_snapshot(std::string_view stage, trace::Id program, const ParsedGraph& parsed, std::string_view raw,
                          std::int64_t line) {
    trace::SnapshotRecord s;
    s.compile = compile;
    s.stage = stage;
    s.kind = trace::SnapshotKind::Text;
    s.program = program;
    const trace::Id id = context.writer().add(s);
    keep_text(id, stage, raw);
    if (input != trace::kNone)
      context.problem(input, "graph_parse_error", line, fmt::format("graph '{}': {}", stage, parsed.error));
    return id;
  }

  void keep_text(trace::Id snapshot, std::string_view stage, std::string_view raw) {
    trace::ArtifactRecord a;
    a.owner = {trace::OwnerKind::Snapshot, snapshot, compile};
    a.kind = "fx";
    a.name = stage;
    a.content = raw;
    context.writer().add(a);
  }

  trace::Id stack_of(const SourceStack& source) {
    if (!source || source->empty()) return trace::kNone;
    const auto found = stacks.find(source.get());
    if (found != stacks.end()) return found->second;
    std::vector<trace::SourceLocation> entries;
    for (const SourceLocation& l : *source) {
      entries.push_back({l.file, l.line, l.function, l.code});
      context.source_line(l.file, l.line, l.code);
    }
    return stacks[source.get()] = context.writer().stack(entries);
  }

  const ImportedGraph* base_of(const ImportedGraph& g) const {
    const auto last_where = [&](const auto& fits) -> const ImportedGraph* {
      for (auto it = graphs.rbegin(); it != graphs.rend(); ++it)
        if (fits(*it)) return &*it;
      return nullptr;
    };
    const auto at = [&](Level level) { return last_where([&](const ImportedGraph& o) { return o.level == level; }); };
    const ImportedGraph* base = nullptr;
    if (g.level == Level::Simplified && !g.role.empty())
      base = last_where([&](const ImportedGraph& o) { return o.role == g.role && o.level >= Level::Split; });
    if (!base && g.level >= Level::Split) base = at(Level::Joint);
    if (!base && g.level >= Level::Joint) base = at(Level::Functional);
    if (!base && g.level == Level::Functional) base = at(Level::Functional);
    if (!base) base = at(Level::Captured);
    return base;
  }

  /// Ids: a node that the base has too keeps its id, others get new ones; inputs follow.
  void number(ImportedGraph& g, const ImportedGraph* base) {
    std::vector<trace::NodeId> ids(g.nodes.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      const int same = base ? base->find(g.nodes[i].name) : -1;
      const trace::NodeRecord* before = same < 0 ? nullptr : &base->nodes[static_cast<size_t>(same)];
      ids[i] = before && graphs::same_node(*before, g.nodes[i]) ? before->id : next++;
      if (before && ids[i] != before->id) edges.push_back({ids[i], before->id, "replaced", "same name", false});
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      g.nodes[i].id = ids[i];
      for (auto& argument : g.nodes[i].inputs)
        for (trace::NodeId& id : argument) id = ids[static_cast<size_t>(id) - 1];
    }
  }

  trace::Id write(ImportedGraph& g, const trace::SnapshotRecord& record) {
    std::vector<trace::NodeId> order;
    std::vector<trace::NodeRecord> fresh;
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      trace::NodeRecord& n = g.nodes[i];
      n.stack = stack_of(g.sources[i]);
      order.push_back(n.id);
      const trace::NodeRecord*& before = last[n.id];
      if (!before || !(*before == n)) fresh.push_back(n);
      before = &n;
    }
    return context.writer().add_delta(record, fresh, order);
  }
};

GraphImporter::GraphImporter(ImportContext& context, trace::Id compile, trace::Id input)
    : impl_(new Impl{context, compile, input, 1, {}, {}, {}, {}, {}, {}, {}, false}) {}
GraphImporter::~GraphImporter() = default;
GraphImporter::GraphImporter(GraphImporter&&) noexcept = default;
GraphImporter& GraphImporter::operator=(GraphImporter&&) noexcept = default;

void GraphImporter::set_sizes(std::vector<std::pair<std::string, std::string>> sizes) {
  impl_->sizes = std::move(sizes);
}
void GraphImporter::set_sources(std::vector<std::string> sources) { impl_->python_sources = std::move(sources); }

trace::Id GraphImporter::add(std::string_view stage, trace::Id program, ParsedGraph parsed, std::string_view raw_text,
                             std::string_view role, std::int64_t line) {
  Impl& m = *impl_;
  if (m.finished) throw_internal("a graph is added behind finish()");
  if (!parsed.graph) {
    const trace::Id id = m.text_snapshot(stage, program, parsed, raw_text, line);
    m.stages.emplace_back(stage, id);
    return id;
  }
  const bool exact = parsed.exact;
  trace::SnapshotRecord record;
  record.compile = m.compile;
  record.stage = stage;
  record.program = program;
  record.extra = parsed.extra;
  ImportedGraph g = graphs::imported(std::move(parsed));
  g.stage = stage;
  g.role = role;
  g.level = level_of(stage);
  m.number(g, m.base_of(g));
  m.graphs.push_back(std::move(g));
  ImportedGraph& kept = m.graphs.back();
  kept.snapshot = m.write(kept, record);
  if (!exact) m.keep_text(kept.snapshot, stage, raw_text);
  m.stages.emplace_back(stage, kept.snapshot);
  return kept.snapshot;
}

void GraphImporter::link(trace::Id post_grad_snapshot, const NameMap& post_to_pre) {
  for (const auto& [name, from] : post_to_pre) {
    const trace::NodeId node = find(post_grad_snapshot, name);
    for (const std::string& pre : from) {
      const trace::NodeId origin = pre_grad_node(pre);
      if (node && origin && node != origin) impl_->edges.push_back({node, origin, "decomposed", "", true});
    }
  }
}

void GraphImporter::link_json(trace::Id, std::string_view) {}

void GraphImporter::finish() {
  Impl& m = *impl_;
  if (std::exchange(m.finished, true)) return;
  std::stable_sort(m.edges.begin(), m.edges.end(), [](const Edge& a, const Edge& b) { return a.exact > b.exact; });
  std::vector<trace::OriginRecord> records;
  records.reserve(m.edges.size());
  for (const Edge& e : m.edges) records.push_back({m.compile, e.node, e.from, e.kind, e.rule, e.exact});
  m.context.writer().add(records);
}

trace::NodeId GraphImporter::find(trace::Id snapshot, std::string_view node_name) const {
  for (const ImportedGraph& g : impl_->graphs) {
    if (g.snapshot != snapshot) continue;
    const int at = g.find(node_name);
    return at < 0 ? 0 : g.nodes[static_cast<size_t>(at)].id;
  }
  return 0;
}

std::span<const trace::NodeRecord> GraphImporter::nodes(trace::Id snapshot) const {
  for (const ImportedGraph& g : impl_->graphs)
    if (g.snapshot == snapshot) return g.nodes;
  return {};
}

trace::NodeId GraphImporter::pre_grad_node(std::string_view node_name) const {
  for (auto g = impl_->graphs.rbegin(); g != impl_->graphs.rend(); ++g) {
    if (g->level > Level::Functional) continue;
    if (const int at = g->find(node_name); at >= 0) return g->nodes[static_cast<size_t>(at)].id;
  }
  return 0;
}

trace::Id GraphImporter::snapshot(std::string_view stage) const {
  for (auto it = impl_->stages.rbegin(); it != impl_->stages.rend(); ++it)
    if (it->first == stage || without_number(it->first) == stage) return it->second;
  return trace::kNone;
}

trace::Id GraphImporter::program_graph(std::string_view role) const {
  const trace::Id after = snapshot(fmt::format("simplified:{}.after", role));
  if (after != trace::kNone) return after;
  for (auto g = impl_->graphs.rbegin(); g != impl_->graphs.rend(); ++g)
    if (g->role == role) return g->snapshot;
  return trace::kNone;
}

}  // namespace strata::capture
