// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/dce.h"

#include <unordered_set>

namespace strata {
namespace {

bool has_effect(const Node& node) {
  if (node.kind == NodeKind::Output || node.kind == NodeKind::Placeholder) return true;
  if (node.kind == NodeKind::CallMethod || node.kind == NodeKind::CallModule) return true;
  if (node.kind == NodeKind::GetAttr || node.target == "_operator.getitem") return false;
  return !node.op || node.op->has(trait::SideEffect) || node.op->op_class == OpClass::Mutation;
}

std::unordered_set<const Node*> live_nodes(const Graph& graph) {
  std::unordered_set<const Node*> live;
  const auto& nodes = graph.nodes();
  live.reserve(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!has_effect(*nodes[i]) && !live.contains(nodes[i].get())) continue;
    live.insert(nodes[i].get());
    nodes[i]->for_each_operand([&](Node*& operand) { live.insert(operand); });
  }
  return live;
}

}  // namespace

bool dce_may_change(const Graph& graph, const PassContext&) { return live_nodes(graph).size() != graph.size(); }

PassResult dce(const Graph& graph, const PassContext&) {
  const std::unordered_set<const Node*> live = live_nodes(graph);
  const auto& nodes = graph.nodes();
  GraphRewriter rewriter(graph, "dce");
  for (const auto& node : nodes) {
    if (live.contains(node.get()))
      rewriter.copy(*node);
    else
      rewriter.erase(
          *node, "unused",
          node->type.kind == Type::Kind::SymInt ? "sizes are symbolic expressions" : "no output depends on it");
  }
  Graph result = rewriter.finish();
  return {std::move(result), rewriter.take_rewrites()};
}

}  // namespace strata
