// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_graph/importer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "capture/torch_graph/align.h"
#include "capture/torch_graph/follow.h"
#include "capture/torch_graph/imported_graph.h"
#include "capture/torch_graph/modules.h"
#include "core/support/error.h"

namespace strata::capture {

using graphs::Alignment;
using graphs::at;
using graphs::Edge;
using graphs::ImportedGraph;
using graphs::Level;
using trace::NodeId;

namespace {

constexpr std::string_view kInferredModule = R"("module": "inferred")";

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

/// Adds a member to a JSON object, which may be empty.
void add_member(std::string& object, std::string_view member) {
  if (object.empty()) {
    object = fmt::format("{{{}}}", member);
  } else {
    object.insert(object.size() - 1, fmt::format(", {}", member));
  }
}

struct Module {
  std::string path;
  bool inferred = false;
};

}  // namespace

struct GraphImporter::Impl {
  ImportContext& context;
  trace::Id compile, input;
  const NodeId first;
  NodeId next;
  std::deque<ImportedGraph> graphs;
  std::vector<std::pair<std::string, trace::Id>> stages;  // as asked for, in order
  std::vector<const trace::NodeRecord*> last;             // by id: as it was written last
  struct Place {
    int number = 0;
    trace::Id stack = trace::kNone;
  };
  std::unordered_map<std::string, Place> places;              // by content
  std::unordered_map<const void*, const Place*> stack_place;  // by SourceStack
  std::vector<Edge> edges;
  std::vector<NodeId> cause;                               // by id: the node before gradients; 0: unknown
  std::unordered_map<NodeId, Module> modules;              // of nodes before gradients
  std::unordered_map<NodeId, std::vector<NodeId>> mapped;  // by the producer's maps
  std::vector<std::pair<std::string, std::string>> sizes;
  std::vector<std::string> python_sources;
  bool finished = false;

  Impl(ImportContext& c, trace::Id compile_id, trace::Id input_id, NodeId first_node)
      : context(c), compile(compile_id), input(input_id), first(first_node), next(first_node) {}

  /// Index of a node in what is kept by id.
  size_t slot(NodeId id) const { return static_cast<size_t>(id - first); }

  // ------------------------------------------------------------------------------------------------------------- texts

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

  const Place* place_of(const SourceStack& source) {
    if (!source || source->empty()) return nullptr;
    const auto found = stack_place.find(source.get());
    if (found != stack_place.end()) return found->second;
    std::string key;
    for (const SourceLocation& l : *source) key += fmt::format("{}\n{}\n{}\n{}\n", l.file, l.line, l.function, l.code);
    Place& place = places[key];
    if (place.number == 0) {
      place.number = static_cast<int>(places.size());
      std::vector<trace::SourceLocation> entries;
      for (const SourceLocation& l : *source) {
        entries.push_back({l.file, l.line, l.function, l.code});
        context.source_line(l.file, l.line, l.code);
      }
      place.stack = context.writer().stack(entries);
    }
    return stack_place[source.get()] = &place;
  }

  void locate(ImportedGraph& g) {
    g.places.assign(g.nodes.size(), 0);
    const Place* place = nullptr;
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      if (i == 0 || g.sources[i] != g.sources[i - 1]) place = place_of(g.sources[i]);
      if (!place) continue;
      g.places[i] = place->number;
      g.nodes[i].stack = place->stack;
    }
  }

  void fill_sizes(ImportedGraph& g) {
    for (const auto& [name, shape] : sizes)
      if (const int i = g.find(name); i >= 0 && g.nodes[at(i)].shape.empty()) g.nodes[at(i)].shape = shape;
  }

  // ----------------------------------------------------------------------------------------------------------- lineage

  template <class Fits>
  const ImportedGraph* last_where(const Fits& fits) const {
    for (auto it = graphs.rbegin(); it != graphs.rend(); ++it)
      if (fits(*it)) return &*it;
    return nullptr;
  }
  const ImportedGraph* last_at(Level level) const {
    return last_where([&](const ImportedGraph& o) { return o.level == level; });
  }
  /// The last graph before gradients.
  const ImportedGraph* pre_grad() const {
    return last_where([](const ImportedGraph& o) { return o.level <= Level::Functional; });
  }

  /// Of the graphs that fit, the one that shares most names; the latest of several.
  template <class Fits>
  const ImportedGraph* nearest(const ImportedGraph& g, const Fits& fits) const {
    const ImportedGraph* best = nullptr;
    size_t best_shared = 0;
    for (const ImportedGraph& o : graphs) {
      if (!fits(o)) continue;
      size_t shared = 0;
      for (const auto& n : g.nodes) shared += o.names.contains(n.name);
      if (!best || shared >= best_shared) best = &o, best_shared = shared;
    }
    return best;
  }

  /// The graph of the same program, or of the step before, whose names this one keeps.
  const ImportedGraph* base_of(const ImportedGraph& g) const {
    if (g.level == Level::Functional)
      return nearest(g, [](const ImportedGraph& o) { return o.level <= Level::Functional; });
    const ImportedGraph* base = nullptr;
    if (g.level == Level::Simplified)
      base = nearest(
          g, [&](const ImportedGraph& o) { return o.level >= Level::Split && (g.role.empty() || o.role == g.role); });
    if (!base && g.level >= Level::Split) base = last_at(Level::Joint);
    return base;
  }

  // --------------------------------------------------------------------------------------------------------------- ids

  void add_edge(const Edge& edge) {
    if (edge.node != edge.from && edge.from != 0) edges.push_back(edge);
  }

  void set_cause(ImportedGraph& g, int i, NodeId id, NodeId of) {
    g.cause[at(i)] = of;
    if (of == 0) return;
    if (cause.size() <= slot(id)) cause.resize(slot(id) + 1);
    cause[slot(id)] = of;
  }

  /// Inputs are positions until now.
  static void renumber(ImportedGraph& g, const std::vector<NodeId>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
      g.nodes[i].id = ids[i];
      for (auto& argument : g.nodes[i].inputs)
        for (NodeId& id : argument) id = ids[static_cast<size_t>(id) - 1];
    }
  }

  std::vector<NodeId> new_ids(const ImportedGraph& g) {
    std::vector<NodeId> ids(g.nodes.size());
    for (NodeId& id : ids) id = next++;
    return ids;
  }

  void add_captured(ImportedGraph& g) {
    renumber(g, new_ids(g));
    for (int i = 0; i < g.size(); ++i) set_cause(g, i, g.nodes[at(i)].id, g.nodes[at(i)].id);
    find_modules(g);
  }

  void find_modules(ImportedGraph& g) {
    graphs::ModulePaths found = graphs::module_paths(g, python_sources);
    for (int i = 0; i < g.size(); ++i)
      if (!found.path[at(i)].empty())
        modules[g.nodes[at(i)].id] = {std::move(found.path[at(i)]), found.inferred[at(i)]};
  }

  /// A graph that keeps names of `base`: same nodes keep their ids.
  void add_following(ImportedGraph& g, const ImportedGraph& base) {
    const std::vector<int> same = graphs::same_names(base, g);
    const auto replaced = graphs::replaced_by(base, g, same);
    const bool pre = g.level == Level::Functional;
    const bool split = g.level == Level::Split;
    const std::unordered_set<NodeId> forward =
        split && g.role == "backward" ? forward_ids() : std::unordered_set<NodeId>();
    std::vector<NodeId> ids(g.nodes.size());
    for (int i = 0; i < g.size(); ++i) {
      const int b = same[at(i)];
      if (b < 0) {
        ids[at(i)] = next++;
        for (const graphs::Ancestor& a : replaced[at(i)])
          add_edge({ids[at(i)], base.nodes[at(a.node)].id, a.kind, a.rule, false});
        if (!replaced[at(i)].empty()) set_cause(g, i, ids[at(i)], base.cause[at(replaced[at(i)].front().node)]);
        continue;
      }
      const trace::NodeRecord &before = base.nodes[at(b)], &now = g.nodes[at(i)];
      const bool recomputed = forward.contains(before.id);
      const bool keeps = graphs::same_node(before, now) && !recomputed;
      ids[at(i)] = keeps ? before.id : next++;
      if (!keeps) add_edge(renamed(ids[at(i)], before, now, recomputed, split));
      for (const graphs::Ancestor& a : replaced[at(i)])
        add_edge({ids[at(i)], base.nodes[at(a.node)].id, a.kind, a.rule, false});
      set_cause(g, i, ids[at(i)], base.cause[at(b)]);
      g.nodes[at(i)].role = recomputed && now.op.starts_with("call") ? "recomputed" : before.role;
    }
    renumber(g, ids);
    for (int i = 0; pre && i < g.size(); ++i) set_cause(g, i, ids[at(i)], ids[at(i)]);
    for (trace::NodeRecord& n : g.nodes)
      if (!pre && !(n.role == "recomputed") && g.role != "inference" && !g.role.empty()) n.role = g.role;
    if (pre) find_modules(g);
  }

  /// The edge of a node that kept its name but is another one.
  static Edge renamed(NodeId id, const trace::NodeRecord& before, const trace::NodeRecord& now, bool recomputed,
                      bool split) {
    const bool saved = now.op == "placeholder";
    if (split && (saved || recomputed)) return {id, before.id, "copied", saved ? "saved" : "recomputed", true};
    if (now.op == "output") return {id, before.id, "copied", "output", true};
    const bool same_work = before.target == now.target && before.args == now.args;
    return {id, before.id, same_work ? "copied" : "replaced", "same name", false};
  }

  /// Nodes of the forward graph that belongs to the last joint graph.
  std::unordered_set<NodeId> forward_ids() const {
    std::unordered_set<NodeId> ids;
    const ImportedGraph* g =
        last_where([](const ImportedGraph& o) { return o.level == Level::Split && o.role == "forward"; });
    if (g)
      for (const trace::NodeRecord& n : g->nodes) ids.insert(n.id);
    return ids;
  }

  /// A graph that was traced from the calls of `calls`: nothing keeps its name.
  void add_traced(ImportedGraph& g, const ImportedGraph& calls) {
    const std::vector<NodeId> ids = new_ids(g);
    renumber(g, ids);
    const std::vector<int> known = saved_inputs(g, calls);
    const Alignment found = graphs::align(calls, g, known);
    std::vector<int> members(calls.nodes.size(), 0);
    for (int i = 0; i < g.size(); ++i)
      if (found.origin[at(i)] >= 0 && !found.gradient[at(i)]) ++members[at(found.origin[at(i)])];
    set_roles(g, found);
    for (int i = 0; i < g.size(); ++i) {
      int c = found.origin[at(i)];
      if (c < 0) c = beside(g, i, found.origin);
      if (c < 0) continue;
      set_cause(g, i, ids[at(i)], calls.cause[at(c)]);
      if (!known.empty() && known[at(i)] >= 0) continue;  // has an edge to the forward
      const bool input = g.is(i, "placeholder") || g.is(i, "output");
      const char* kind = found.gradient[at(i)] ? "gradient"
                         : input               ? "copied"
                         : members[at(c)] > 1  ? "decomposed"
                                               : "lowered";
      add_edge({ids[at(i)], calls.nodes[at(c)].id, kind, input ? "" : "aligned", found.exact[at(i)]});
    }
    for (const auto& [node, call] : found.passed)
      add_edge({ids[at(node)], calls.nodes[at(call)].id, "lowered", "passed through", false});
  }

  /// Attributes come from where they are read, and so do inputs of child classes; outputs of these from what they give.
  static int beside(const ImportedGraph& g, int i, const std::vector<int>& origin) {
    const bool in_child = g.nodes[at(i)].name.find('/') != std::string::npos;
    if (g.is(i, "placeholder") && !in_child) return -1;
    for (const int user : g.users[at(i)])
      if (origin[at(user)] >= 0) return origin[at(user)];
    for (const int operand : g.operands[at(i)])
      if (origin[at(operand)] >= 0) return origin[at(operand)];
    return -1;
  }

  /// Inputs of a backward graph without joint graph: values that the forward saved, by name. Positions in `calls`.
  std::vector<int> saved_inputs(ImportedGraph& g, const ImportedGraph& calls) {
    if (g.role != "backward" || g.level != Level::Split) return {};
    const ImportedGraph* forward =
        last_where([](const ImportedGraph& o) { return o.level == Level::Split && o.role == "forward"; });
    if (!forward) return {};
    std::unordered_map<NodeId, int> position;
    for (int c = 0; c < calls.size(); ++c) position.emplace(calls.nodes[at(c)].id, c);
    std::vector<int> known(g.nodes.size(), -1);
    for (const int i : g.placeholders) {
      const int f = forward->find(g.nodes[at(i)].name);
      if (f < 0) continue;
      add_edge({g.nodes[at(i)].id, forward->nodes[at(f)].id, "copied", "saved", true});
      const auto found = position.find(forward->cause[at(f)]);
      if (found != position.end()) known[at(i)] = found->second;
    }
    return known;
  }

  /// Forward is what user outputs need; where outputs are not described, what needs no gradient.
  static void set_roles(ImportedGraph& g, const Alignment& found) {
    if (g.level == Level::Split) {
      for (trace::NodeRecord& n : g.nodes)
        if (g.role != "inference") n.role = g.role;
      return;
    }
    std::vector<bool> forward(g.nodes.size()), needs(g.nodes.size());
    for (int i = 0; i < g.size(); ++i) {
      needs[at(i)] = g.is(i, "placeholder") && found.gradient[at(i)];
      for (const int o : g.operands[at(i)]) needs[at(i)] = needs[at(i)] || needs[at(o)];
      // `aten.copy_`: a running mean, say
      const std::string& target = g.nodes[at(i)].target;
      const bool writes = g.is(i, "call_function") && target.find("_.") != std::string::npos;
      forward[at(i)] = writes && !needs[at(i)];
    }
    for (size_t i = 0; i < g.outputs.size(); ++i)
      if (g.outputs[i] >= 0 && !g.output_descs.empty() && !g.output_descs[i].starts_with("Grad"))
        forward[at(g.outputs[i])] = true;
    for (int i = g.size(); i-- > 0;) {
      if (g.output_descs.empty()) forward[at(i)] = !found.gradient[at(i)];
      if (!forward[at(i)]) continue;
      for (const int o : g.operands[at(i)]) forward[at(o)] = true;
    }
    for (int i = 0; i < g.size(); ++i) {
      const bool fixed = g.is(i, "output") || (g.is(i, "placeholder") && !found.gradient[at(i)]);
      g.nodes[at(i)].role = fixed || forward[at(i)] ? "forward" : "backward";
    }
  }

  void place(ImportedGraph& g) {
    g.cause.assign(g.nodes.size(), 0);
    if (g.level == Level::Captured) return add_captured(g);
    if (const ImportedGraph* base = base_of(g)) return add_following(g, *base);
    if (const ImportedGraph* calls = pre_grad(); calls && g.level != Level::Functional) return add_traced(g, *calls);
    add_captured(g);
  }

  void set_modules(ImportedGraph& g) {
    for (int i = 0; i < g.size(); ++i) {
      trace::NodeRecord& n = g.nodes[at(i)];
      if (!n.op.starts_with("call")) continue;
      const auto found = modules.find(g.cause[at(i)]);
      if (found == modules.end()) continue;
      n.module = found->second.path;
      if (found->second.inferred || g.cause[at(i)] != n.id) add_member(n.extra, kInferredModule);
    }
  }

  /// `written`: the snapshot that holds the graph already.
  trace::Id write(ImportedGraph& g, const trace::SnapshotRecord& record, trace::Id written) {
    std::vector<NodeId> order;
    std::vector<int> fresh;
    order.reserve(g.nodes.size());
    last.resize(slot(next), nullptr);
    for (int i = 0; i < g.size(); ++i) {
      const trace::NodeRecord& n = g.nodes[at(i)];
      order.push_back(n.id);
      const trace::NodeRecord*& before = last[slot(n.id)];
      if (!before || !(*before == n)) fresh.push_back(i);
      before = &n;
    }
    if (written != trace::kNone) return written;
    if (2 * fresh.size() > g.nodes.size()) return context.writer().add(record, g.nodes);
    std::vector<trace::NodeRecord> changed;
    changed.reserve(fresh.size());
    for (const int i : fresh) changed.push_back(g.nodes[at(i)]);
    return context.writer().add_delta(record, changed, order);
  }

  /// What the producer's map says about a node replaces what was inferred about it.
  bool contradicted(const Edge& e) const {
    if (e.exact) return false;
    const auto map = mapped.find(e.node);
    if (map == mapped.end()) return false;
    const size_t from = slot(e.from);
    const NodeId end = from < cause.size() && cause[from] != 0 ? cause[from] : e.from;
    return std::find(map->second.begin(), map->second.end(), end) == map->second.end();
  }
};

GraphImporter::GraphImporter(ImportContext& context, trace::Id compile, trace::Id input, NodeId first)
    : impl_(std::make_unique<Impl>(context, compile, input, first)) {}
GraphImporter::~GraphImporter() = default;
GraphImporter::GraphImporter(GraphImporter&&) noexcept = default;
GraphImporter& GraphImporter::operator=(GraphImporter&&) noexcept = default;

void GraphImporter::set_sizes(std::vector<std::pair<std::string, std::string>> sizes) {
  impl_->sizes = std::move(sizes);
}
void GraphImporter::set_sources(std::vector<std::string> sources) { impl_->python_sources = std::move(sources); }

trace::Id GraphImporter::add(std::string_view stage, trace::Id program, ParsedGraph parsed, std::string_view raw_text,
                             std::string_view role, std::int64_t line, trace::Id written) {
  Impl& m = *impl_;
  if (m.finished) throw_internal("a graph is added behind finish()");
  if (!parsed.graph) {
    const trace::Id id = written != trace::kNone ? written : m.text_snapshot(stage, program, parsed, raw_text, line);
    m.stages.emplace_back(stage, id);
    return id;
  }
  const bool exact = parsed.exact;
  trace::SnapshotRecord record;
  record.compile = m.compile;
  record.stage = stage;
  record.program = program;
  record.extra = parsed.extra;
  ImportedGraph g = std::move(*parsed.graph);
  g.stage = stage;
  g.role = role;
  g.level = level_of(stage);
  m.locate(g);
  if (g.level <= Level::Functional) m.fill_sizes(g);
  m.place(g);
  m.set_modules(g);
  ImportedGraph& kept = m.graphs.emplace_back(std::move(g));
  kept.snapshot = m.write(kept, record, written);
  if (!exact && written == trace::kNone) m.keep_text(kept.snapshot, stage, raw_text);
  m.stages.emplace_back(stage, kept.snapshot);
  return kept.snapshot;
}

void GraphImporter::link(trace::Id post_grad_snapshot, const NameMap& post_to_pre) {
  Impl& m = *impl_;
  for (const auto& [name, from] : post_to_pre) {
    const NodeId node = find(post_grad_snapshot, name);
    if (node == 0) continue;
    for (const std::string& pre : from) {
      const NodeId origin = pre_grad_node(pre);
      if (origin == 0) continue;
      m.mapped[node].push_back(origin);
      m.add_edge({node, origin, from.size() > 1 ? "fused" : "decomposed", "producer's map", true});
    }
  }
}

void GraphImporter::link_json(trace::Id post_grad_snapshot, std::string_view post_to_pre_grad_nodes) {
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  if (parser.parse(simdjson::padded_string(post_to_pre_grad_nodes)).get(root) != simdjson::SUCCESS) return;
  NameMap map;
  // Each node: `[{name, from_node: [{name, from_node: ...}]}]`; the innermost names are nodes before gradients.
  const auto collect = [&](const auto& self, std::vector<std::string>& names, simdjson::dom::element from,
                           int depth) -> void {
    simdjson::dom::array items;
    if (depth > 64 || from.get(items) != simdjson::SUCCESS) return;
    for (const simdjson::dom::element item : items) {
      std::string_view name;
      if (item["name"].get(name) == simdjson::SUCCESS && pre_grad_node(name) != 0 &&
          std::find(names.begin(), names.end(), name) == names.end())
        names.emplace_back(name);
      simdjson::dom::element deeper;
      if (item["from_node"].get(deeper) == simdjson::SUCCESS) self(self, names, deeper, depth + 1);
    }
  };
  for (const auto& [name, from] : root) collect(collect, map[std::string(name)], from, 0);
  link(post_grad_snapshot, map);
}

void GraphImporter::finish() {
  Impl& m = *impl_;
  if (std::exchange(m.finished, true)) return;
  std::stable_sort(m.edges.begin(), m.edges.end(), [](const Edge& a, const Edge& b) { return a.exact > b.exact; });
  std::vector<trace::OriginRecord> records;
  records.reserve(m.edges.size());
  for (const Edge& e : m.edges)
    if (!m.contradicted(e)) records.push_back({m.compile, e.node, e.from, e.kind, e.rule, e.exact});
  m.context.writer().add(records);
}

NodeId GraphImporter::find(trace::Id snapshot, std::string_view node_name) const {
  for (const ImportedGraph& g : impl_->graphs) {
    if (g.snapshot != snapshot) continue;
    const int i = g.find(node_name);
    return i < 0 ? 0 : g.nodes[at(i)].id;
  }
  return 0;
}

std::span<const trace::NodeRecord> GraphImporter::nodes(trace::Id snapshot) const {
  for (const ImportedGraph& g : impl_->graphs)
    if (g.snapshot == snapshot) return g.nodes;
  return {};
}

NodeId GraphImporter::pre_grad_node(std::string_view node_name) const {
  for (auto g = impl_->graphs.rbegin(); g != impl_->graphs.rend(); ++g) {
    if (g->level > Level::Functional) continue;
    if (const int i = g->find(node_name); i >= 0) return g->nodes[at(i)].id;
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
