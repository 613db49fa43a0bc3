// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion_groups.h"

#include <algorithm>
#include <utility>

#include "core/support/error.h"

namespace strata {
namespace {

template <class F>
void for_each_edge(const std::unordered_map<const Node*, std::vector<const Node*>>& edges, const Node* node,
                   F&& visit) {
  if (const auto it = edges.find(node); it != edges.end())
    for (const Node* other : it->second) visit(other);
}

}  // namespace

bool computes(const Node& node) {
  if (node.kind != NodeKind::Call || node.type.kind == Type::Kind::SymInt) return false;
  if (node.op && (node.op->op_class == OpClass::Symbolic || node.op->op_class == OpClass::Assertion)) return false;
  return !is_view(node) && node.target != "_operator.getitem";
}

FusionGroups::FusionGroups(const Graph& graph, const Layouts& layouts) : graph_(graph), layouts_(layouts) {
  int position = 0;
  for (const auto& node : graph.nodes()) {
    position_[node.get()] = position++;
    if (computes(*node)) add(node.get());
  }
  for (const Argument& leaf : graph.flat_outputs())
    if (const Node* n = leaf.node()) outputs_.insert(n);
  const DataSizes sizes(graph);
  for (const Node* reader : sizes.readers()) outputs_.insert(reader->args.at(0).node());  // read from memory
  index();
  collect_waits(sizes);
}

void FusionGroups::index() {
  readers_.clear();
  for (const auto& node : graph_.nodes()) {
    if (!group_of_.contains(node.get()) && node->target != "_operator.getitem") continue;
    for (const Node* operand : node->operands()) {
      const Node* base = base_of(operand);
      if (base != node.get()) readers_[base].push_back(node.get());
    }
  }
  output_bases_.clear();
  for (const Node* n : outputs_) output_bases_.insert(base_of(n));
}

void FusionGroups::wait(const Node* later, const Node* earlier) {
  waits_for_[later].push_back(earlier);
  waiting_[earlier].push_back(later);
}

/// What needs a size comes after the kernel that computes it, and what draws random numbers after the draw before.
void FusionGroups::collect_waits(const DataSizes& sizes) {
  const Node* drawn = nullptr;
  for (const auto& node : graph_.nodes()) {
    if (!group_of_.contains(node.get()) || !node->op || !node->op->has(trait::Random)) continue;
    if (drawn) wait(node.get(), drawn);
    drawn = node.get();
  }
  if (sizes.readers().empty()) return;
  for (const auto& node : graph_.nodes()) {
    if (!group_of_.contains(node.get()) && !is_view(*node)) continue;  // views may be copied out later
    for (const Node* reader : sizes.needed_by(*node)) {
      const Node* giver = base_of(reader->args.at(0).node());
      if (giver != node.get()) wait(node.get(), giver);
    }
  }
}

// -------------------------------------------------------------------------------------------------------------- groups

size_t FusionGroups::of(const Node* node) const {
  const auto it = group_of_.find(node);
  return it == group_of_.end() ? kNone : it->second;
}

void FusionGroups::add(const Node* view) {
  group_of_[view] = groups_.size();
  groups_.push_back({view});
}

void FusionGroups::merge(size_t from, size_t into) {
  for (const Node* n : groups_[from]) group_of_[n] = into;
  groups_[into] = united(groups_[from], groups_[into]);
  groups_[from].clear();
}

FusionGroups::Group FusionGroups::united(const Group& a, const Group& b) const {
  Group merged = a;
  merged.insert(merged.end(), b.begin(), b.end());
  std::sort(merged.begin(), merged.end(),
            [&](const Node* x, const Node* y) { return position_.at(x) < position_.at(y); });
  return merged;
}

const Node* FusionGroups::base_of(const Node* node) const {
  const Node* base = layouts_.base(node);
  while (base->target == "_operator.getitem") base = layouts_.base(base->args.at(0).node());
  return base;
}

const std::vector<const Node*>& FusionGroups::readers(const Node* base) const {
  static const std::vector<const Node*> none;
  const auto it = readers_.find(base);
  return it == readers_.end() ? none : it->second;
}

// --------------------------------------------------------------------------------------------------------------- order

bool FusionGroups::depends_on(const Node* node, const Node* target) const {
  std::vector<const Node*> stack{node};
  NodeSet seen;
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    if (n == target) return true;
    if (position_.at(n) < position_.at(target) || !seen.insert(n).second) continue;
    const size_t group = of(n);
    const Group alone{n};
    for (const Node* member : group == kNone ? alone : groups_[group]) {
      for (const Node* operand : member->operands()) stack.push_back(base_of(operand));
      if (group != kNone) for_each_edge(waits_for_, member, [&](const Node* giver) { stack.push_back(giver); });
    }
  }
  return false;
}

bool FusionGroups::closes_cycle(const Group& from, const Group& to) const {
  const size_t a = group_of_.at(from.front()), b = group_of_.at(to.front());
  std::vector<size_t> stack;
  std::unordered_set<size_t> seen;
  const auto push_readers = [&](const Group& group, bool first) {
    for (const Node* node : group) {
      for_each_edge(waiting_, node, [&](const Node* later) {  // never in the kernel itself
        const size_t g = of(later);
        if (g != kNone && g != a && seen.insert(g).second) stack.push_back(g);
      });
      for (const Node* reader : readers(node)) {
        const size_t g = of(base_of(reader));
        if (g == kNone || g == a || (first && g == b)) continue;
        if (seen.insert(g).second) stack.push_back(g);
      }
    }
  };
  push_readers(from, true);
  while (!stack.empty()) {
    const size_t g = stack.back();
    stack.pop_back();
    if (g == b) return true;
    push_readers(groups_[g], false);
  }
  return false;
}

std::vector<size_t> FusionGroups::sorted() const {
  std::vector<std::set<size_t>> needs(groups_.size());
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto need = [&](const Node* other) {
      const size_t giver = of(other);
      if (giver != kNone && giver != g && !computes_again(g, other)) needs[g].insert(giver);
    };
    const auto need_operands = [&](const Node* node) {
      for (const Node* operand : node->operands()) need(base_of(operand));
      for_each_edge(waits_for_, node, need);
    };
    for (const Node* node : groups_[g]) need_operands(node);
    for (const Node* node : again(g)) need_operands(node);
  }
  std::vector<size_t> by_position;
  for (size_t g = 0; g < groups_.size(); ++g)
    if (!groups_[g].empty()) by_position.push_back(g);
  std::sort(by_position.begin(), by_position.end(),
            [&](size_t a, size_t b) { return position_.at(groups_[a].back()) < position_.at(groups_[b].back()); });
  enum class Visit : char { Not, Begun, Done };
  std::vector<Visit> visits(groups_.size(), Visit::Not);
  std::vector<size_t> order;
  const auto cycle = [&](size_t g) {
    throw_internal("fuse: groups form a cycle at '" + groups_[g].front()->name + "'");
  };
  // Explicit stack: graphs are deep.
  for (size_t root : by_position) {
    std::vector<std::pair<size_t, bool>> stack{{root, false}};
    while (!stack.empty()) {
      const auto [g, done] = stack.back();
      stack.pop_back();
      if (done) {
        order.push_back(g);
        visits[g] = Visit::Done;
        continue;
      }
      if (visits[g] == Visit::Done) continue;
      if (visits[g] == Visit::Begun) cycle(g);
      visits[g] = Visit::Begun;
      stack.emplace_back(g, true);
      for (size_t n : needs[g])
        if (visits[n] == Visit::Not)
          stack.emplace_back(n, false);
        else if (visits[n] == Visit::Begun)
          cycle(n);
    }
  }
  return order;
}

// ------------------------------------------------------------------------------------------------- what is in memory

const FusionGroups::NodeSet& FusionGroups::again(size_t group) const {
  static const NodeSet none;
  const auto it = again_.find(group);
  return it == again_.end() ? none : it->second;
}

bool FusionGroups::computes_again(size_t group, const Node* node) const { return again(group).contains(node); }

void FusionGroups::compute_again(size_t group, const NodeSet& nodes) {
  again_[group].insert(nodes.begin(), nodes.end());
}

FusionGroups::Group FusionGroups::all_of(size_t group) const {
  const NodeSet& more = again(group);
  return united(groups_[group], {more.begin(), more.end()});
}

void FusionGroups::move(const NodeSet& nodes, size_t from, size_t to) {
  std::erase_if(groups_[from], [&](const Node* n) { return nodes.contains(n); });
  for (const Node* n : nodes) {
    group_of_[n] = to;
    if (const auto it = again_.find(to); it != again_.end()) it->second.erase(n);
  }
  groups_[to] = united(groups_[to], {nodes.begin(), nodes.end()});
}

void FusionGroups::restore(State state) {
  again_ = std::move(state.again);
  groups_[state.a] = std::move(state.members_a);
  groups_[state.b] = std::move(state.members_b);
  for (const size_t g : {state.a, state.b})
    for (const Node* n : groups_[g]) group_of_[n] = g;
}

std::set<size_t> FusionGroups::readers_outside(const Node* value, const std::set<const Node*>& members) const {
  std::set<size_t> found;
  for (const Node* reader : readers(value)) {
    const size_t g = of(reader);
    if (g == kNone)
      found.insert(kNone);
    else if (!members.contains(reader) && !computes_again(g, value))
      found.insert(g);
    for (const auto& [other, nodes] : again_)
      if (nodes.contains(reader) && !nodes.contains(value) && group_of_.at(value) != other) found.insert(other);
  }
  return found;
}

std::set<size_t> FusionGroups::readers_outside(const Node* value) const {
  const Group& group = group_of(*value);
  return readers_outside(value, {group.begin(), group.end()});
}

FusionGroups::Group FusionGroups::stored_of(const Group& group) const {
  const std::set<const Node*> members(group.begin(), group.end());
  Group stored;
  for (const Node* node : group)
    if (is_kept(node) || !readers_outside(node, members).empty()) stored.push_back(node);
  if (stored.empty() && !group.empty()) stored.push_back(group.back());
  return stored;
}

}  // namespace strata
