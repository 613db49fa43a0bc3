// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/ir/fx_printer.h"

namespace strata::fx {

namespace {

template <class Visit>
void each_node(const Argument& a, const Visit& visit) {
  if (const Node* node = a.node()) {
    visit(node);
  } else if (const auto* list = a.as<ListArg>()) {
    for (const Argument& item : list->items) each_node(item, visit);
  } else if (const auto* slice = a.as<SliceArg>()) {
    for (const Argument& item : slice->parts) each_node(item, visit);
  } else if (const auto* dict = a.as<DictArg>()) {
    for (const auto& [key, value] : dict->items) {
      each_node(key, visit);
      each_node(value, visit);
    }
  }
}

/// Positions of nodes in their graph: by id where ids lie close together.
class Positions {
 public:
  explicit Positions(const Graph& graph) {
    const auto& nodes = graph.nodes();
    if (nodes.empty()) return;
    NodeId last = 0;
    least_ = nodes.front()->id;
    for (const auto& n : nodes) {
      least_ = std::min(least_, n->id);
      last = std::max(last, n->id);
    }
    dense_ = last - least_ < 4 * nodes.size() + 64;
    if (dense_) by_id_.resize(last - least_ + 1, SIZE_MAX);
    for (size_t i = 0; i < nodes.size(); ++i) (dense_ ? by_id_[nodes[i]->id - least_] : others_[nodes[i].get()]) = i;
  }
  /// SIZE_MAX for a node of another graph.
  size_t of(const Node* node) const {
    if (!dense_) {
      const auto found = others_.find(node);
      return found == others_.end() ? SIZE_MAX : found->second;
    }
    return node->id - least_ < by_id_.size() ? by_id_[node->id - least_] : SIZE_MAX;
  }

 private:
  NodeId least_ = 0;
  bool dense_ = false;
  std::vector<size_t> by_id_;
  std::unordered_map<const Node*, size_t> others_;
};

}  // namespace

LastUses last_uses(const Graph& graph) {
  const auto& nodes = graph.nodes();
  const Positions positions(graph);
  std::vector<size_t> last(nodes.size()), told(nodes.size(), SIZE_MAX);
  const auto operands = [&](const Node& n, const auto& visit) {
    const auto each = [&](const Node* operand) {
      if (const size_t at = positions.of(operand); at != SIZE_MAX) visit(at);
    };
    for (const Argument& a : n.args) each_node(a, each);
    for (const auto& [key, a] : n.kwargs) each_node(a, each);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    last[i] = i;
    operands(*nodes[i], [&](size_t at) { last[at] = i; });
  }
  LastUses uses;
  uses.first.reserve(nodes.size() + 1);
  uses.nodes.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    uses.first.push_back(uses.nodes.size());
    if (nodes[i]->kind == NodeKind::Placeholder || nodes[i]->kind == NodeKind::Output) continue;
    operands(*nodes[i], [&](size_t at) {
      if (last[at] != i || told[at] == i) return;
      told[at] = i;
      uses.nodes.push_back(nodes[at].get());
    });
    if (last[i] == i && told[i] != i) uses.nodes.push_back(nodes[i].get());
  }
  uses.first.push_back(uses.nodes.size());
  return uses;
}

}  // namespace strata::fx
