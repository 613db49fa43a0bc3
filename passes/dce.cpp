// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/dce.h"

#include <set>

namespace strata {
namespace {

bool has_effect(const Node& node) {
  if (node.kind == NodeKind::Output || node.kind == NodeKind::Placeholder) return true;
  if (node.kind == NodeKind::CallMethod || node.kind == NodeKind::CallModule) return true;
  if (node.kind == NodeKind::GetAttr || node.target == "_operator.getitem") return false;
  return !node.op || node.op->has(trait::SideEffect) || node.op->op_class == OpClass::Mutation;
}

}  // namespace

PassResult dce(const Graph& graph, const PassContext&) {
  std::set<const Node*> live;
  const auto& nodes = graph.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!has_effect(*nodes[i]) && !live.contains(nodes[i].get())) continue;
    live.insert(nodes[i].get());
    for (Node* operand : nodes[i]->operands()) live.insert(operand);
  }
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
