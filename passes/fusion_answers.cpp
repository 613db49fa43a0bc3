// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion_answers.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata {
namespace {

using Kind = FusionGroup::Kind;
using Rule = FusionDecision::Rule;

constexpr const char* kTogether = "the same kernel computes both for the sake of other nodes";

class Answers {
 public:
  Answers(const Graph& graph, Fused& fused) : graph_(graph), fused_(fused) {
    for (size_t g = 0; g < fused.groups.size(); ++g)
      for (const Node* node : fused.groups[g].nodes)
        if (!fused.groups[g].computes_again(node)) group_of_[node] = g, group_of_id_[node->id] = g;
    for (size_t i = 0; i < fused.decisions.size(); ++i) {
      const FusionDecision& d = fused.decisions[i];
      decided_[{d.producer, d.consumer}] = i;
      note_pair(d);
    }
  }

  void run() {
    for (const auto& node : graph_.nodes())
      if (group_of_.contains(node.get()))
        for (const Node* operand : node->operands()) direct(*base_of(operand), *node);
    for (const auto& node : graph_.nodes()) siblings(*node);
    correct_refusals();
  }

 private:
  /// The node whose value is read.
  const Node* base_of(const Node* node) const {
    const Node* base = fused_.layouts.base(node);
    while (base->target == "_operator.getitem") base = fused_.layouts.base(base->args.at(0).node());
    return base;
  }

  const FusionGroup& group(const Node& node) const { return fused_.groups[group_of_.at(&node)]; }

  /// Of siblings that met in one kernel after all.
  void correct_refusals() {
    for (FusionDecision& d : fused_.decisions) {
      const auto a = group_of_id_.find(d.producer), b = group_of_id_.find(d.consumer);
      if (d.accepted || a == group_of_id_.end() || b == group_of_id_.end() || a->second != b->second) continue;
      d.accepted = true;
      d.reason = kTogether;
    }
  }

  void note_pair(const FusionDecision& d) {
    const auto a = group_of_id_.find(d.producer), b = group_of_id_.find(d.consumer);
    if (a != group_of_id_.end() && b != group_of_id_.end()) answered_.insert(std::minmax(a->second, b->second));
  }

  void add(const Node& producer, const Node& consumer, bool accepted, std::string reason, Rule rule) {
    const auto [it, fresh] = decided_.emplace(std::make_pair(producer.id, consumer.id), fused_.decisions.size());
    FusionDecision d{producer.id, consumer.id, accepted, std::move(reason), rule};
    if (!fresh) {
      fused_.decisions[it->second] = std::move(d);
      return;
    }
    fused_.decisions.push_back(std::move(d));
    note_pair(fused_.decisions.back());
  }

  // ------------------------------------------------------------------------------------------- producer and consumer

  void direct(const Node& producer, const Node& consumer) {
    if (&producer == &consumer || !group_of_.contains(&producer)) return;
    const bool together = group_of_.at(&producer) == group_of_.at(&consumer);
    const auto it = decided_.find({producer.id, consumer.id});
    if (it != decided_.end() && fused_.decisions[it->second].accepted == together) return;
    if (together)
      add(producer, consumer, true, kTogether, Rule::Producer);
    else
      add(producer, consumer, false, why_apart(producer, consumer), Rule::Producer);
  }

  std::string why_apart(const Node& producer, const Node& consumer) const {
    const FusionGroup &from = group(producer), &to = group(consumer);
    if (to.kind != Kind::Loop) {
      const Node& call = *to.nodes.front();
      const std::string which = &call == &consumer ? "" : "'" + consumer.name + "' is a post-operation of ";
      return which + described(to) + ", which reads its operands from memory";
    }
    return described(from) + ", whose result goes to memory";
  }

  static std::string described(const FusionGroup& g) {
    const Node& first = *g.nodes.front();
    std::string name = "'" + first.name + "' (" + first.target + ")";
    switch (g.kind) {
      case Kind::Library:
        return name + ", a library call";
      case Kind::Native:
        return name + ", a kernel written by hand";
      case Kind::Opaque:
        return name + ", an operator without a kernel";
      case Kind::Control:
        return name + ", a call that runs other graphs";
      case Kind::Loop:
        return name + ", a loop kernel";
    }
    return name;
  }

  // --------------------------------------------------------------------------------------------------------- siblings

  struct Readers {
    std::vector<const Node*> nodes;  ///< one of each kernel
    std::set<size_t> groups;
  };

  void siblings(const Node& value) {
    if (readers_.empty()) index_readers();
    const auto it = readers_.find(&value);
    if (it == readers_.end()) return;
    const std::vector<const Node*>& nodes = it->second.nodes;
    if (nodes.size() > kMaxSiblings) return crowd(value, nodes);
    for (size_t i = 0; i < nodes.size(); ++i)
      for (size_t j = i + 1; j < nodes.size(); ++j)
        if (!answered_.contains(std::minmax(group_of_.at(nodes[i]), group_of_.at(nodes[j]))))
          add(*nodes[i], *nodes[j], false, why_not_siblings(value, group(*nodes[i]), group(*nodes[j])), Rule::Siblings);
  }

  /// Who reads a value from memory, kernel by kernel.
  void index_readers() {
    for (const auto& node : graph_.nodes()) {
      const auto g = group_of_.find(node.get());
      if (g == group_of_.end()) continue;
      for (const Node* operand : node->operands()) {
        const Node* base = fused_.layouts.base(operand);
        const auto own = group_of_.find(base_of(operand));
        if (base == node.get() || !base->type.is_tensor() || (own != group_of_.end() && own->second == g->second))
          continue;
        Readers& readers = readers_[base];
        if (readers.groups.insert(g->second).second) readers.nodes.push_back(node.get());
      }
    }
  }

  void crowd(const Node& value, const std::vector<const Node*>& nodes) {
    const std::string reason = "'" + value.name + "' is read by " + std::to_string(nodes.size()) +
                               " kernels; kernels that read the same value are joined where at most " +
                               std::to_string(kMaxSiblings) + " do";
    for (const Node* node : nodes)  // beside what the value's own kernel was told
      fused_.decisions.push_back({value.id, node->id, false, reason, Rule::Crowd});
  }

  static std::string why_not_siblings(const Node& value, const FusionGroup& a, const FusionGroup& b) {
    const FusionGroup& other = a.kind != Kind::Loop ? a : b;
    return "both read '" + value.name + "', but " + described(other) +
           (other.kind == Kind::Loop ? ", has other loops" : ", shares no loops with others");
  }

  const Graph& graph_;
  Fused& fused_;
  std::unordered_map<const Node*, size_t> group_of_;
  std::unordered_map<NodeId, size_t> group_of_id_;
  std::map<std::pair<NodeId, NodeId>, size_t> decided_;
  std::set<std::pair<size_t, size_t>> answered_;
  std::unordered_map<const Node*, Readers> readers_;
};

}  // namespace

void answer_for_every_pair(const Graph& graph, Fused& fused) { Answers(graph, fused).run(); }

}  // namespace strata
