// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/decompose.h"

#include <set>

#include "core/ir/ops/randoms.h"
#include "core/support/error.h"

namespace strata {
namespace {

constexpr int kMaxRounds = 16;

bool decomposes(const Node& node) {
  if (node.kind != NodeKind::Call || !node.op || !node.op->decompose) return false;
  return node.op->op_class != OpClass::Library || ops::draws_within(node);
}

/// Integer operands as expressions: sizes need no nodes from here on.
Argument with_expressions(Argument argument) {
  if (Node* node = argument.node(); node && node->type.kind == Type::Kind::SymInt) {
    const SymInt e = node->type.sym;
    return e.is_const() ? Argument(e.value()) : Argument(e);
  }
  if (const auto* list = argument.as<ListArg>()) {
    ListArg copy{list->kind, {}};
    for (const Argument& item : list->items) copy.items.push_back(with_expressions(item));
    return copy;
  }
  return argument;
}

/// The call on operands of the new graph; it belongs to no graph.
Node detached(const GraphRewriter& rewriter, const Node& node) {
  Node call = node;
  for (Argument& a : call.args) a = with_expressions(rewriter.mapped(a));
  for (auto& [key, a] : call.kwargs) a = with_expressions(rewriter.mapped(a));
  return call;
}

void copy_with_expressions(GraphRewriter& rewriter, const Node& node) {
  Node* copied = rewriter.copy(node);
  if (copied->kind != NodeKind::Call || copied->type.kind == Type::Kind::SymInt) return;
  for (Argument& a : copied->args) a = with_expressions(a);
  for (auto& [key, a] : copied->kwargs) a = with_expressions(a);
}

bool one_round(const Graph& from, Graph& to, std::vector<Rewrite>& rewrites) {
  GraphRewriter rewriter(from, "decompose");
  for (const auto& node : from.nodes()) {
    if (!decomposes(*node)) {
      copy_with_expressions(rewriter, *node);
      continue;
    }
    const std::string rule = "decompose " + node->target;
    Builder& builder = rewriter.at(*node, rule, OriginKind::Decomposed);
    const Node call = detached(rewriter, *node);
    std::vector<Node*> results = node->op->decompose(builder, Call(call));
    if (results.empty()) {  // it is a primitive for these operands
      copy_with_expressions(rewriter, *node);
      continue;
    }
    if (node->type.kind == Type::Kind::Tuple)
      rewriter.replace_parts(*node, std::move(results), rule);
    else
      rewriter.replace(*node, results.at(0), rule);
  }
  const bool changed = rewriter.changed();
  to = rewriter.finish();
  for (Rewrite& r : rewriter.take_rewrites()) rewrites.push_back(std::move(r));
  return changed;
}

/// Nodes that no snapshot shows (made in one round, replaced in a later one) vanish from origins and from the rewrites.
void collapse(Graph& graph, std::vector<Rewrite>& rewrites, const Graph& original) {
  std::set<NodeId> visible;
  for (const auto& node : original.nodes()) visible.insert(node->id);
  std::unordered_map<NodeId, NodeId> root;        // intermediate -> the captured node it came from
  std::unordered_map<NodeId, size_t> rewrite_of;  // captured node -> its rewrite
  std::vector<Rewrite> kept;
  for (Rewrite& r : rewrites) {
    const NodeId before = r.before.at(0);
    const NodeId source = visible.contains(before) ? before : root.contains(before) ? root[before] : before;
    for (NodeId id : r.after)
      if (!visible.contains(id)) root.try_emplace(id, source);
    if (visible.contains(before)) {
      rewrite_of[before] = kept.size();
      kept.push_back(std::move(r));
    } else if (const auto it = rewrite_of.find(source); it != rewrite_of.end()) {
      auto& after = kept[it->second].after;
      std::erase(after, before);
      after.insert(after.end(), r.after.begin(), r.after.end());
    }
  }
  for (const auto& node : graph.nodes())
    for (Origin& origin : node->meta.origins)
      if (const auto it = root.find(origin.node); it != root.end()) origin.node = it->second;
  rewrites = std::move(kept);
}

}  // namespace

PassResult decompose(const Graph& graph, const PassContext&) {
  PassResult result{Graph(graph.shared_env(), graph.ids()), {}};
  Graph current = graph.clone();
  for (int round = 0;; ++round) {
    if (round == kMaxRounds)
      throw_internal("decompositions do not end after " + std::to_string(kMaxRounds) + " rounds");
    Graph next(graph.shared_env(), graph.ids());
    const bool changed = one_round(current, next, result.rewrites);
    current = std::move(next);
    if (!changed) break;
  }
  collapse(current, result.rewrites, graph);
  result.graph = std::move(current);
  return result;
}

}  // namespace strata
