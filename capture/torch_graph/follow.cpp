// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_graph/follow.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "capture/torch_graph/align.h"

namespace strata::capture::graphs {
namespace {

/// Ancestors of one node are that many at most: a graph that was rewritten as a whole says nothing about one node.
constexpr size_t kMaxAncestors = 16;

class Follower {
 public:
  Follower(const ImportedGraph& base, const ImportedGraph& next, const std::vector<int>& same)
      : base_(base), next_(next), same_(same), gone_(base.nodes.size(), true), out_(next.nodes.size()) {
    for (const int b : same_)
      if (b >= 0) gone_[at(b)] = false;
  }

  std::vector<std::vector<Ancestor>> run() {
    regions();
    for (const auto& [root, members] : members_) replace(members);
    fall_back();
    for (int i = 0; i < next_.size() && next_.role != "backward"; ++i)
      if (same_[at(i)] >= 0) stand_ins(i);
    return std::move(out_);
  }

 private:
  bool is_new(int i) const { return same_[at(i)] < 0 && next_.nodes[at(i)].op.starts_with("call"); }

  /// New nodes that feed each other were made together.
  void regions() {
    std::vector<int> parent(next_.nodes.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int i) {
      while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
      return i;
    };
    for (int i = 0; i < next_.size(); ++i) {
      if (!is_new(i)) continue;
      for (const int o : next_.operands[at(i)])
        if (is_new(o) && (next_.users[at(o)].size() == 1 || next_.places[at(o)] == next_.places[at(i)]))
          parent[at(root(i))] = root(o);
    }
    for (int i = 0; i < next_.size(); ++i)
      if (is_new(i)) members_[root(i)].push_back(i);
  }

  /// The nodes that are gone and whose place the members of a region took.
  void replace(const std::vector<int>& members) {
    std::vector<int> removed;
    const auto remove = [&](int b) {
      if (gone_[at(b)] && base_.nodes[at(b)].op.starts_with("call") &&
          std::find(removed.begin(), removed.end(), b) == removed.end())
        removed.push_back(b);
    };
    for (const int i : members)
      for (const int user : next_.users[at(i)]) taken_over(user, i, remove);
    if (removed.empty()) {
      for (const int i : members)
        for (const int o : next_.operands[at(i)])
          if (same_[at(o)] >= 0 && base_.users[at(same_[at(o)])].size() <= 4)
            for (const int user : base_.users[at(same_[at(o)])]) remove(user);
    }
    for (size_t k = 0; k < removed.size() && removed.size() < 64; ++k)
      for (const int o : std::vector<int>(base_.operands[at(removed[k])])) remove(o);
    for (const int i : members) choose(i, removed);
  }

  /// `user` reads the new node `operand` where it read another before.
  template <class Remove>
  void taken_over(int user, int operand, const Remove& remove) {
    const int before = same_[at(user)];
    if (before < 0) return;
    const auto &now = next_.operands[at(user)], &then = base_.operands[at(before)];
    if (now.size() != then.size()) {
      for (const int o : then) remove(o);
      return;
    }
    for (size_t k = 0; k < now.size(); ++k)
      if (now[k] == operand) remove(then[k]);
  }

  /// Operands that were there before and now are read in place of a copy of theirs that is gone.
  void stand_ins(int user) {
    const auto &now = next_.operands[at(user)], &then = base_.operands[at(same_[at(user)])];
    if (now.size() != then.size()) return;
    for (size_t k = 0; k < now.size(); ++k) {
      const int before = same_[at(now[k])];
      if (before < 0 || before == then[k] || !gone_[at(then[k])]) continue;
      const auto& copied = base_.operands[at(then[k])];
      if (copied.size() != 1 || copied[0] != before) continue;
      if (base_.nodes[at(then[k])].type != next_.nodes[at(now[k])].type) continue;
      auto& known = out_[at(now[k])];
      const auto again = [&](const Ancestor& a) { return a.node == then[k]; };
      if (known.size() < kMaxAncestors && std::none_of(known.begin(), known.end(), again))
        known.push_back({then[k], "replaced", "took the place"});
    }
  }

  /// Of what is gone: the nodes of the same line, if the line is known to both; of these, of the same operator.
  void choose(int i, const std::vector<int>& removed) {
    const int place = next_.places[at(i)];
    std::vector<int> fitting;
    for (const int b : removed)
      if (place != 0 && base_.places[at(b)] == place) fitting.push_back(b);
    if (fitting.empty() && place == 0) fitting = removed;
    std::vector<int> same_op;
    for (const int b : fitting)
      if (operator_stem(base_.nodes[at(b)]) == operator_stem(next_.nodes[at(i)])) same_op.push_back(b);
    if (fitting.size() > 1 && !same_op.empty()) fitting = same_op;
    if (fitting.size() > kMaxAncestors) fitting.resize(kMaxAncestors);
    const char* kind = fitting.size() > 1 ? "fused" : "replaced";
    for (const int b : fitting) out_[at(i)].push_back({b, kind, "took the place"});
  }

  // Nodes without a known ancestor: from the back for what users say, then from the front for what operands say.
  void fall_back() {
    for (int i = next_.size(); i-- > 0;) {
      if (same_[at(i)] >= 0 || !out_[at(i)].empty()) continue;
      by_line(i);
      for (const int user : next_.users[at(i)])
        if (out_[at(i)].empty()) inherit(i, user, "feeds");
    }
    for (int i = 0; i < next_.size(); ++i) {
      if (same_[at(i)] >= 0 || !out_[at(i)].empty()) continue;
      for (const int o : next_.operands[at(i)])
        if (out_[at(i)].empty()) inherit(i, o, "reads");
    }
  }

  void by_line(int i) {
    const int place = next_.places[at(i)];
    if (place == 0) return;
    if (lines_.empty())
      for (int b = 0; b < base_.size(); ++b)
        if (base_.nodes[at(b)].op.starts_with("call")) lines_[base_.places[at(b)]].push_back(b);
    const auto found = lines_.find(place);
    if (found == lines_.end()) return;
    const std::string_view stem = operator_stem(next_.nodes[at(i)]);
    int chosen = -1;
    for (const int b : found->second) {
      if (operator_stem(base_.nodes[at(b)]) != stem && !may_compute(operator_stem(base_.nodes[at(b)]), stem)) continue;
      if (chosen < 0 || (gone_[at(b)] && !gone_[at(chosen)])) chosen = b;
    }
    if (chosen >= 0) out_[at(i)].push_back({chosen, "replaced", "same line"});
  }

  void inherit(int i, int neighbour, const char* rule) {
    if (next_.is(neighbour, "placeholder") || next_.is(neighbour, "output")) return;
    if (same_[at(neighbour)] >= 0) {
      out_[at(i)].push_back({same_[at(neighbour)], "replaced", rule});
    } else {
      for (const Ancestor& a : out_[at(neighbour)]) out_[at(i)].push_back({a.node, a.kind, rule});
    }
  }

  const ImportedGraph &base_, &next_;
  const std::vector<int>& same_;
  std::vector<bool> gone_;
  std::vector<std::vector<Ancestor>> out_;
  std::unordered_map<int, std::vector<int>> members_;
  std::unordered_map<int, std::vector<int>> lines_;
};

}  // namespace

std::vector<int> same_names(const ImportedGraph& base, const ImportedGraph& next) {
  std::vector<int> same(next.nodes.size(), -1);
  for (int i = 0; i < next.size(); ++i) {
    const int b = base.find(next.nodes[at(i)].name);
    if (b < 0) continue;
    const trace::NodeRecord &before = base.nodes[at(b)], &now = next.nodes[at(i)];
    const bool other_line =
        base.places[at(b)] != 0 && next.places[at(i)] != 0 && base.places[at(b)] != next.places[at(i)];
    const bool calls = before.op.starts_with("call") && now.op.starts_with("call");
    if (calls && other_line && operator_stem(before) != operator_stem(now)) continue;
    same[at(i)] = b;
  }
  return same;
}

std::vector<std::vector<Ancestor>> replaced_by(const ImportedGraph& base, const ImportedGraph& next,
                                               const std::vector<int>& same) {
  if (base.size() == next.size() && std::find(same.begin(), same.end(), -1) == same.end())
    return std::vector<std::vector<Ancestor>>(next.nodes.size());
  return Follower(base, next, same).run();
}

}  // namespace strata::capture::graphs
