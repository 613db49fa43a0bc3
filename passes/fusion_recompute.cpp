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
  explicit Recomputer(const Recomputation& question) : q_(question), groups_(question.groups) {}

  void run() {
    for (const auto& node : q_.graph.nodes())
      if (const size_t home = groups_.of(node.get()); home != FusionGroups::kNone) consider(*node, home);
  }

 private:
  using Group = Recomputation::Group;

  /// A value, what of its group it needs, and what that reads from memory.
  struct Cone {
    FusionGroups::NodeSet nodes;
    std::set<const Node*> leaves;
  };

  void consider(const Node& value, size_t home) {
    const std::optional<int64_t> bytes = bytes_of(value);
    if (!bytes || *bytes < kSmallest || is_narrow_float(value.tensor().dtype) || groups_.is_kept(&value)) return;
    if (!q_.is_loop(groups_.members(home))) return;
    const std::vector<size_t> others = reading_groups(value);
    if (others.empty()) return;
    const std::optional<Cone> cone = cone_of(value, home);
    if (!cone || !saves(*cone, others, *bytes)) return;
    if (!try_again(*cone, home, others)) return;
    for (const size_t g : others) explain(value, *cone, g, *bytes);
  }

  /// False, and nothing is changed, where one of the kernels would be none then.
  bool try_again(const Cone& cone, size_t home, const std::vector<size_t>& others) {
    FusionGroups::State before = groups_.state(home, others.front());
    for (const size_t g : others) groups_.compute_again(g, cone.nodes);
    leave_what_is_needed(home, others.front());
    const auto fits = [&](size_t g) {
      const Group& members = groups_.members(g);
      return members.empty() || q_.fits(groups_.all_of(g), groups_.stored_of(members));
    };
    if (fits(home) && std::all_of(others.begin(), others.end(), fits)) return true;
    groups_.restore(std::move(before));
    return false;
  }

  /// Nodes that only what is computed elsewhere now asked for belong to `other` from now on.
  void leave_what_is_needed(size_t home, size_t other) {
    const Group& group = groups_.members(home);
    const std::set<const Node*> inside(group.begin(), group.end());
    std::set<const Node*> needed;
    std::vector<const Node*> stack;
    for (const Node* n : group)
      if (groups_.is_kept(n) || !groups_.readers_outside(n).empty()) stack.push_back(n);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!inside.contains(node) || !needed.insert(node).second) continue;
      for (const Node* operand : node->operands()) stack.push_back(groups_.base_of(operand));
    }
    FusionGroups::NodeSet moved;
    for (const Node* n : group)
      if (!needed.contains(n)) moved.insert(n);
    if (!moved.empty()) groups_.move(moved, home, other);
  }

  static bool is_narrow_float(DType dtype) { return is_floating(dtype) && dtype_size(dtype) < 4; }

  static std::optional<int64_t> bytes_of(const Node& node) {
    if (!node.type.is_tensor()) return {};
    const auto numel = hint(node.tensor().numel());
    if (!numel) return {};
    return *numel * static_cast<int64_t>(dtype_size(node.tensor().dtype));
  }

  /// Groups that read the value from memory; none if one of them has to, or would compute it many times.
  std::vector<size_t> reading_groups(const Node& value) const {
    const std::set<size_t> found = groups_.readers_outside(&value);
    const bool all_loops = std::all_of(found.begin(), found.end(),
                                       [&](size_t g) { return g < groups_.size() && q_.is_loop(groups_.members(g)); });
    if (found.empty() || !all_loops) return {};
    for (const Node* reader : groups_.readers(&value)) {
      const bool repeats =
          is_window(*reader) || is_scan(*reader) || std::holds_alternative<IndexedBody>(reader->op->lowering);
      if (repeats && groups_.of(reader) != groups_.of(&value)) return {};
    }
    return {found.begin(), found.end()};
  }

  bool in_memory(const Node* node) const {
    const size_t group = groups_.of(node);
    if (group == FusionGroups::kNone || groups_.is_kept(node)) return true;
    const Group& members = groups_.members(group);
    if (!q_.is_loop(members)) return true;
    const Group stored = groups_.stored_of(members);
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
        const Node* base = groups_.base_of(operand);
        if (groups_.of(base) == home && !groups_.is_kept(base)) {
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
    for (const Node* node : groups_.all_of(group)) {
      const auto operands = node->operands();
      if (std::any_of(operands.begin(), operands.end(),
                      [&](const Node* n) { return n->type.is_tensor() && groups_.base_of(n) == leaf; }))
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
      if (is_made(leaf) && !groups_.is_kept(leaf)) lives_on += *size;
      for (const size_t g : others)
        if (!reads(g, leaf)) moved += *size;
    }
    const auto now = bytes * static_cast<int64_t>(1 + others.size());
    return moved <= now / 4 * 3 && lives_on <= bytes;
  }

  void explain(const Node& value, const Cone& cone, size_t group, int64_t bytes) const {
    const std::string why = "computed again: cheaper than " + std::to_string(bytes) + " bytes through memory";
    for (const Node* reader : groups_.readers(&value)) {
      if (groups_.of(reader) != group && !groups_.computes_again(group, reader)) continue;
      q_.decide(value, *reader, why);
      for (const Node* leaf : cone.leaves)
        if (is_made(leaf)) q_.decide(*leaf, *reader, "'" + value.name + "' is computed again from it");
    }
  }

  bool is_made(const Node* node) const { return groups_.of(node) != FusionGroups::kNone; }

  const Recomputation& q_;
  FusionGroups& groups_;
};

}  // namespace

void compute_again(const Recomputation& question) { Recomputer(question).run(); }

}  // namespace strata
