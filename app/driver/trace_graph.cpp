// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/trace_graph.h"

#include <fmt/format.h>

#include <unordered_map>

#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/support/error.h"

// A trace keeps arguments as FX text. So the nodes are written down as an FX function, the reader of FX text makes the
// graph, and what FX text has no place for is then set from the records.

namespace strata {
namespace {

std::string annotation(const trace::NodeRecord& n) { return n.type.empty() ? "" : fmt::format(": \"{}\"", n.type); }

std::string expression(const trace::NodeRecord& n) {
  if (n.op == "get_attr") return "self." + n.target;
  if (n.op == "call_module") return fmt::format("self.{}({})", n.target, n.args);
  if (n.op == "call_method") {
    const size_t comma = n.args.find(", ");
    const std::string self = n.args.substr(0, comma);
    return fmt::format("{}.{}({})", self, n.target, comma == std::string::npos ? "" : n.args.substr(comma + 2));
  }
  return fmt::format("{}{}({})", fx::has_ops_prefix(n.target) ? "torch.ops." : "", n.target, n.args);
}

std::string function_text(const std::vector<trace::NodeRecord>& nodes) {
  std::string inputs, body, aliases;
  for (const trace::NodeRecord& n : nodes) {
    if (n.op == "placeholder") {
      inputs += fmt::format(", {}{}", n.target, annotation(n));
      if (n.target != n.name) aliases += fmt::format("        {} = {}\n", n.name, n.target);
    } else if (n.op == "output") {
      body += fmt::format("        return {}\n", n.args.empty() ? "None" : n.args);
    } else {
      body += fmt::format("        {}{} = {}\n", n.name, annotation(n), expression(n));
    }
  }
  return fmt::format("class GraphModule(torch.nn.Module):\n    def forward(self{}):\n{}{}", inputs, aliases, body);
}

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

Role role_of(const std::string& word) {
  return word == "backward" ? Role::Backward : word == "recomputed" ? Role::Recomputed : Role::Forward;
}

OriginKind kind_of(const std::string& word) {
  for (int k = 0; k <= static_cast<int>(OriginKind::Replaced); ++k)
    if (to_string(static_cast<OriginKind>(k)) == word) return static_cast<OriginKind>(k);
  return OriginKind::Replaced;
}

/// What the records say beyond FX text.
class Annotator {
 public:
  Annotator(trace::Reader& reader, trace::Id compile) : reader_(reader) {
    for (const trace::OriginRecord& e : reader.edges(compile))
      origins_[e.node].push_back({static_cast<NodeId>(e.from), kind_of(e.kind), e.rule, e.exact});
    for (const trace::PassRecord& p : reader.passes(compile)) makers_[p.id] = p.name;
  }

  void annotate(Node& node, const trace::NodeRecord& r) {
    node.id = static_cast<NodeId>(r.id);
    // How the text was written that the records were made into is no property of the graph.
    node.meta.extra.erase("fx.comment");
    node.meta.extra.erase("fx.clean_up");
    node.meta.module_path = r.module;
    node.meta.role = role_of(r.role);
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

}  // namespace

Graph graph_from_trace(trace::Reader& reader, const trace::SnapshotRecord& snapshot) {
  if (snapshot.kind != trace::SnapshotKind::Graph)
    throw_user(fmt::format("stage '{}' is text, not a graph", snapshot.stage));
  const auto nodes = reader.nodes(snapshot.id);
  auto env = std::make_shared<ShapeEnv>();
  add_symbols(reader, snapshot.compile, *env);
  Graph graph = parse_fx(function_text(nodes), env);
  if (graph.size() != nodes.size())
    throw_user(fmt::format("stage '{}' cannot be read as a graph: {} nodes gave {}", snapshot.stage, nodes.size(),
                           graph.size()));
  Annotator annotator(reader, snapshot.compile);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (graph.nodes()[i]->name != nodes[i].name)
      throw_user(fmt::format("stage '{}' cannot be read as a graph: node '{}' stands out of order", snapshot.stage,
                             nodes[i].name));
    annotator.annotate(*graph.nodes()[i], nodes[i]);
    graph.ids()->next = std::max(graph.ids()->next, graph.nodes()[i]->id + 1);
  }
  return graph;
}

}  // namespace strata
