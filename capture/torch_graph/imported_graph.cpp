// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_graph/imported_graph.h"

#include <algorithm>

#include "capture/torch_graph/records.h"

namespace strata::capture::graphs {
namespace {

/// `# PlainAOTInput(idx=0)` without the mark.
std::string_view without_mark(std::string_view comment) {
  while (comment.starts_with("#") || comment.starts_with(" ")) comment.remove_prefix(1);
  return comment;
}

std::string desc_of(const Node& node) {
  const auto found = node.meta.extra.find("fx.desc");
  return found == node.meta.extra.end() ? std::string() : std::string(without_mark(found->second));
}

void leaves(const Argument& a, std::vector<const Node*>& out) {
  if (const auto* list = a.as<ListArg>()) {
    for (const Argument& item : list->items) leaves(item, out);
  } else if (const auto* dict = a.as<DictArg>()) {
    for (const auto& [key, value] : dict->items) leaves(value, out);
  } else {
    out.push_back(a.node());
  }
}

void take_outputs(ImportedGraph& g, const Graph& graph) {
  const Node* output = graph.output_node();
  if (!output || output->args.empty()) return;
  std::vector<const Node*> items;
  leaves(output->args[0], items);
  for (const Node* item : items) g.outputs.push_back(item ? g.find(item->name) : -1);
  const std::string all = [&] {
    const auto found = output->meta.extra.find("fx.desc");
    return found == output->meta.extra.end() ? std::string() : found->second;
  }();
  if (all.empty()) return;
  for (size_t start = 0; start <= all.size();) {
    const size_t end = std::min(all.find('\n', start), all.size());
    g.output_descs.emplace_back(without_mark(std::string_view(all).substr(start, end - start)));
    start = end + 1;
  }
  if (g.output_descs.size() != g.outputs.size()) g.output_descs.clear();
}

void connect(ImportedGraph& g) {
  g.operands.resize(g.nodes.size());
  g.users.resize(g.nodes.size());
  for (int i = 0; i < g.size(); ++i) {
    std::vector<int>& operands = g.operands[static_cast<size_t>(i)];
    for (const auto& argument : g.nodes[static_cast<size_t>(i)].inputs) {
      for (const trace::NodeId id : argument) {
        const int operand = static_cast<int>(id) - 1;
        if (std::find(operands.begin(), operands.end(), operand) == operands.end()) operands.push_back(operand);
      }
    }
    for (const int operand : operands) g.users[static_cast<size_t>(operand)].push_back(i);
  }
}

}  // namespace

ImportedGraph imported(const Graph& graph, std::string& extra) {
  ImportedGraph g;
  GraphRecords records = records_of(graph);
  g.nodes = std::move(records.nodes);
  extra = std::move(records.extra);
  g.sources.reserve(records.from.size());
  for (const Node* node : records.from) g.sources.push_back(node->meta.source);
  g.names.reserve(g.nodes.size());
  for (int i = 0; i < g.size(); ++i) g.names.emplace(g.nodes[at(i)].name, i);
  for (const auto& node : graph.nodes()) {
    if (node->kind != NodeKind::Placeholder) continue;
    g.placeholders.push_back(g.find(node->name));
    g.input_descs.push_back(desc_of(*node));
  }
  take_outputs(g, graph);
  connect(g);
  return g;
}

bool same_node(const trace::NodeRecord& a, const trace::NodeRecord& b) {
  return a.name == b.name && a.target == b.target && a.op == b.op && a.type == b.type && a.args == b.args;
}

}  // namespace strata::capture::graphs
