// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion_recompute.h"

#include <algorithm>
#include <optional>
#include <set>

#include "passes/lower_to_loops.h"

namespace strata {
namespace {

constexpr size_t kMost = 8;             ///< operators that are computed again
constexpr int64_t kSmallest = 1 << 15;  ///< bytes; what is smaller stays in the nearest cache

class Recomputer {
 public:
  explicit Recomputer(const Recomputation& question) : q_(question) {}

  void run() {
    for (const auto& node : q_.graph.nodes())
      if (const auto g = q_.group_of.find(node.get()); g != q_.group_of.end()) consider(*node, g->second);
  }

 private:
  using Group = Recomputation::Group;

  /// A value, what of its group it needs, and what that reads from memory.
  struct Cone {
    std::unordered_set<const Node*> nodes;
    std::set<const Node*> leaves;
  };

  void consider(const Node& value, size_t home) {
    const std::optional<int64_t> bytes = bytes_of(value);
    if (!bytes || *bytes < kSmallest || is_narrow_float(value.tensor().dtype) || q_.kept(&value)) return;
    if (!q_.is_loop(q_.groups[home])) return;
    const std::vector<size_t> others = reading_groups(value);
    if (others.empty()) return;
    const std::optional<Cone> cone = cone_of(value, home);
    if (!cone || !saves(*cone, others, *bytes)) return;
    if (!try_again(*cone, home, others)) return;
    for (const size_t g : others) explain(value, *cone, g, *bytes);
  }

  /// False, and nothing is changed, where one of the kernels would be none then.
  bool try_again(const Cone& cone, size_t home, const std::vector<size_t>& others) {
    const auto again = q_.again;
    const Group own = q_.groups[home], first = q_.groups[others.front()];
    for (const size_t g : others) q_.again[g].insert(cone.nodes.begin(), cone.nodes.end());
    leave_what_is_needed(home, others.front());
    const auto fits = [&](size_t g) { return q_.groups[g].empty() || q_.fits(members(g), q_.stored_of(g)); };
    if (fits(home) && std::all_of(others.begin(), others.end(), fits)) return true;
    q_.again = again;
    q_.groups[home] = own;
    q_.groups[others.front()] = first;
    for (const Node* n : own) q_.group_of[n] = home;
    return false;
  }

  /// Nodes that only what is computed elsewhere now asked for belong to `other` from now on.
  void leave_what_is_needed(size_t home, size_t other) {
    Group& group = q_.groups[home];
    const std::set<const Node*> inside(group.begin(), group.end());
    std::set<const Node*> needed;
    std::vector<const Node*> stack;
    for (const Node* n : group)
      if (q_.kept(n) || !q_.readers_outside(n).empty()) stack.push_back(n);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!inside.contains(node) || !needed.insert(node).second) continue;
      for (const Node* operand : node->operands()) stack.push_back(q_.base_of(operand));
    }
    std::unordered_set<const Node*> moved;
    for (const Node* n : group)
      if (!needed.contains(n)) moved.insert(n);
    if (moved.empty()) return;
    std::erase_if(group, [&](const Node* n) { return moved.contains(n); });
    for (const Node* n : moved) {
      q_.group_of[n] = other;
      q_.again[other].erase(n);
    }
    q_.groups[other] = with(q_.groups[other], moved);
  }

  static bool is_narrow_float(DType dtype) { return is_floating(dtype) && dtype_size(dtype) < 4; }

  static std::optional<int64_t> bytes_of(const Node& node) {
    if (!node.type.is_tensor()) return {};
    const auto numel = hint(node.tensor().numel());
    if (!numel) return {};
    return *numel * static_cast<int64_t>(dtype_size(node.tensor().dtype));
  }

  bool computes_again(size_t group, const Node* node) const {
    const auto it = q_.again.find(group);
    return it != q_.again.end() && it->second.contains(node);
  }

  Group members(size_t group) const {
    const auto it = q_.again.find(group);
    return it == q_.again.end() ? q_.groups[group] : with(q_.groups[group], it->second);
  }

  /// In graph order.
  Group with(const Group& group, const std::unordered_set<const Node*>& more) const {
    std::unordered_set<const Node*> all(group.begin(), group.end());
    all.insert(more.begin(), more.end());
    Group merged;
    for (const auto& node : q_.graph.nodes())
      if (all.contains(node.get())) merged.push_back(node.get());
    return merged;
  }

  /// Groups that read the value from memory; none if one of them has to, or would compute it many times.
  std::vector<size_t> reading_groups(const Node& value) const {
    const std::set<size_t> found = q_.readers_outside(&value);
    const bool all_loops = std::all_of(found.begin(), found.end(),
                                       [&](size_t g) { return g < q_.groups.size() && q_.is_loop(q_.groups[g]); });
    if (found.empty() || !all_loops) return {};
    for (const Node* reader : q_.readers.at(&value)) {
      const bool repeats =
          is_window(*reader) || is_scan(*reader) || std::holds_alternative<IndexedBody>(reader->op->lowering);
      if (repeats && q_.group_of.at(reader) != q_.group_of.at(&value)) return {};
    }
    return {found.begin(), found.end()};
  }

  bool in_memory(const Node* node) const {
    const auto g = q_.group_of.find(node);
    if (g == q_.group_of.end() || q_.kept(node)) return true;
    if (!q_.is_loop(q_.groups[g->second])) return true;
    const Group stored = q_.stored_of(g->second);
    return std::find(stored.begin(), stored.end(), node) != stored.end();
  }

  std::optional<Cone> cone_of(const Node& value, size_t home) const {
    Cone cone;
    std::vector<const Node*> stack{&value};
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!cone.nodes.insert(node).second) continue;
      if (cone.nodes.size() > kMost || !q_.cheap(*node)) return {};
      for (const Node* operand : node->operands()) {
        if (!operand->type.is_tensor()) continue;
        const Node* base = q_.base_of(operand);
        const auto g = q_.group_of.find(base);
        if (g != q_.group_of.end() && g->second == home && !q_.kept(base)) {
          stack.push_back(base);
        } else {
          if (!in_memory(base)) return {};
          cone.leaves.insert(base);
        }
      }
    }
    return cone;
  }

  bool reads(size_t group, const Node* leaf) const {
    for (const Node* node : members(group)) {
      const auto operands = node->operands();
      if (std::any_of(operands.begin(), operands.end(),
                      [&](const Node* n) { return n->type.is_tensor() && q_.base_of(n) == leaf; }))
        return true;
    }
    return false;
  }

  /// Clearly less is moved, and nothing lives on that is larger than what is gone.
  bool saves(const Cone& cone, const std::vector<size_t>& others, int64_t bytes) const {
    int64_t moved = 0, lives_on = 0;
    for (const Node* leaf : cone.leaves) {
      const std::optional<int64_t> size = bytes_of(*leaf);
      if (!size) return false;
      if (q_.group_of.contains(leaf) && !q_.kept(leaf)) lives_on += *size;
      for (const size_t g : others)
        if (!reads(g, leaf)) moved += *size;
    }
    const auto now = bytes * static_cast<int64_t>(1 + others.size());
    return moved <= now / 4 * 3 && lives_on <= bytes;
  }

  void explain(const Node& value, const Cone& cone, size_t group, int64_t bytes) const {
    const std::string why = "computed again: cheaper than " + std::to_string(bytes) + " bytes through memory";
    const auto it = q_.readers.find(&value);
    for (const Node* reader : it->second) {
      if (q_.group_of.at(reader) != group && !computes_again(group, reader)) continue;
      q_.decide(value, *reader, why);
      for (const Node* leaf : cone.leaves)
        if (q_.group_of.contains(leaf)) q_.decide(*leaf, *reader, "'" + value.name + "' is computed again from it");
    }
  }

  const Recomputation& q_;
};

}  // namespace

void compute_again(const Recomputation& question) { Recomputer(question).run(); }

}  // namespace strata
