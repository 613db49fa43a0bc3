// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/concat_in_place.h"

#include <algorithm>

#include "passes/data_sizes.h"

namespace strata {
namespace {

class Placement {
 public:
  Placement(const Graph& graph, Fused& fused, const std::unordered_set<const Node*>& outputs)
      : fused_(fused), outputs_(outputs) {
    for (const FusionGroup& group : fused.groups)
      for (const Node* node : group.stored) maker_[node] = &group;
    for (const auto& node : graph.nodes())
      node->for_each_operand([&](Node*& operand) { ++reads_[fused.layouts.base(operand)]; });
  }

  ConcatInPlace run() {
    for (const FusionGroup& group : fused_.groups) {
      const Node& last = *group.nodes.back();
      const bool alone = group.kind == FusionGroup::Kind::Loop && group.stored.size() == 1 && group.stored[0] == &last;
      if (alone && last.is("aten.cat.default")) place(last);
    }
    explain();
    return std::move(found_);
  }

 private:
  void place(const Node& whole) {
    const Call call(whole);
    const std::vector<Node*> operands = call.tensors(0);
    const size_t rank = whole.tensor().shape.size(), dim = call.dim(1, rank);
    const auto same_rank = [&](const Node* n) { return n->tensor().shape.size() == rank; };
    if (found_.parts.contains(&whole) || !std::all_of(operands.begin(), operands.end(), same_rank)) return;
    std::vector<bool> fits;
    for (const Node* operand : operands) fits.push_back(can_place(*operand, whole));
    // What is left to copy must be neighbours, and something: a concatenation stays a kernel.
    size_t first = 0, end = operands.size();
    while (first + 1 < end && fits[first]) ++first;
    while (end > first + 1 && fits[end - 1]) --end;
    if (end - first == operands.size()) return;
    const std::vector<SymInt> strides = fused_.layouts.strides(&whole);
    SymInt start = 0;
    ConcatInPlace::Rest rest;
    rest.shape = whole.tensor().shape;
    rest.shape[dim] = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      const SymInt offset = start * strides[dim], size = operands[k]->tensor().shape[dim];
      start = start + size;
      if (k < first || k >= end) {
        found_.parts[operands[k]] = {&whole, offset};
        fused_.layouts.chosen_strides[operands[k]] = strides;
        continue;
      }
      if (k == first) rest.offset = offset;
      rest.shape[dim] = rest.shape[dim] + size;
      rest.operands.push_back(operands[k]);
    }
    found_.rests[&whole] = std::move(rest);
  }

  bool can_place(const Node& part, const Node& whole) const {
    const auto maker = maker_.find(&part);
    if (maker == maker_.end() || outputs_.contains(&part) || found_.rests.contains(&part)) return false;
    if (part.tensor().dtype != whole.tensor().dtype || reads_.at(&part) != 1) return false;
    const FusionGroup& group = *maker->second;
    const std::vector<SymInt> own = fused_.layouts.strides(&part), strides = fused_.layouts.strides(&whole);
    if (group.kind == FusionGroup::Kind::Loop) return same_order(part, own, strides);
    return group.kind == FusionGroup::Kind::Library && call_writes(group, own, strides);
  }

  /// Whether memory is gone through as before: the dimension that lies dense is the same, and so is the order of all.
  static bool same_order(const Node& part, const std::vector<SymInt>& a, const std::vector<SymInt>& b) {
    const auto& shape = part.tensor().shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == SymInt(1)) continue;
      if ((a[i] == SymInt(1)) != (b[i] == SymInt(1))) return false;
      for (size_t j = 0; j < i; ++j) {
        if (shape[j] == SymInt(1)) continue;
        if (!(known_lt(a[i], a[j]) && known_lt(b[i], b[j])) && !(known_lt(a[j], a[i]) && known_lt(b[j], b[i])))
          return false;
      }
    }
    return true;
  }

  /// Products write rows at any distance, transposed convolutions line by line; others need their own layout.
  static bool call_writes(const FusionGroup& group, const std::vector<SymInt>& own,
                          const std::vector<SymInt>& strides) {
    const Node &root = *group.nodes.front(), &part = *group.nodes.back();
    const auto& shape = part.tensor().shape;
    if (group.stored.size() != 1 || root.tensor().shape != shape) return false;
    const Call call(root);
    if (root.is("aten.convolution.default") && call.boolean(6)) return call.constant(8) == 1;
    if (std::get<LibraryRule>(root.op->lowering).name == "matmul") return strides.back() == SymInt(1);
    return same_places(shape, own, strides);
  }

  void explain() {
    std::unordered_map<NodeId, const Node*> wholes;
    for (const auto& [part, placed] : found_.parts) wholes[part->id] = placed.whole;
    for (FusionDecision& d : fused_.decisions)
      if (const auto it = wholes.find(d.producer); it != wholes.end() && it->second->id == d.consumer && !d.accepted)
        d.reason += "; it is written in its place within '" + it->second->name + "', which copies the rest";
  }

  Fused& fused_;
  const std::unordered_set<const Node*>& outputs_;
  std::unordered_map<const Node*, const FusionGroup*> maker_;
  std::unordered_map<const Node*, int> reads_;
  ConcatInPlace found_;
};

}  // namespace

ConcatInPlace concat_in_place(const Graph& graph, Fused& fused, const std::unordered_set<const Node*>& outputs) {
  if (!DataSizes(graph).readers().empty()) return {};
  return Placement(graph, fused, outputs).run();
}

}  // namespace strata
