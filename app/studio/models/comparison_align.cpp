// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison_align.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "app/studio/models/comparison_sequence.h"

namespace strata::studio {

using trace::NodeId;
using trace::NodeRecord;

namespace {

using Label = std::uint64_t;

Label hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

Label mix(Label a, Label b) {
  a ^= b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2);
  a ^= a >> 31;
  return a * 0xbf58476d1ce4e5b9ULL;
}

bool is_input(const NodeRecord& n) { return n.op == "placeholder" || n.op == "get_attr" || n.op == "constant"; }
bool is_output(const NodeRecord& n) { return n.op == "output"; }

/// One graph as indices.
struct Side {
  const std::vector<NodeRecord>& nodes;
  const std::vector<std::string>& lines;
  std::vector<std::vector<int>> inputs, users;

  Side(const AlignedGraph& graph, const std::function<void()>& tick)
      : nodes(*graph.nodes), lines(graph.lines), inputs(nodes.size()), users(nodes.size()) {
    std::unordered_map<NodeId, int> index;
    index.reserve(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i].id, static_cast<int>(i));
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (i % 4096 == 0) tick();
      for (const auto& operand : nodes[i].inputs)
        for (const NodeId id : operand) {
          const auto at = index.find(id);
          if (at == index.end()) continue;
          inputs[i].push_back(at->second);
          users[static_cast<size_t>(at->second)].push_back(static_cast<int>(i));
        }
    }
  }

  /// What a node is, the coarsest first: operator; with module and line; with arguments and type.
  std::array<std::vector<Label>, 3> labels() const {
    std::array<std::vector<Label>, 3> all;
    for (auto& list : all) list.reserve(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeRecord& n = nodes[i];
      Label label = mix(hash_of(n.op), hash_of(n.target));
      all[0].push_back(label);
      label = mix(label, hash_of(n.module));
      if (i < lines.size()) label = mix(label, hash_of(lines[i]));
      all[1].push_back(label);
      all[2].push_back(mix(mix(label, hash_of(arguments_without_names(n, operand_names(i)))), hash_of(n.type)));
    }
    return all;
  }

  std::vector<std::string_view> operand_names(size_t i) const {
    std::vector<std::string_view> names;
    for (const int j : inputs[i]) names.push_back(nodes[static_cast<size_t>(j)].name);
    return names;
  }

  /// Labels together with those of operands (in order) and users (in any order).
  std::vector<Label> with_neighbours(const std::vector<Label>& labels) const {
    std::vector<Label> out(labels.size());
    for (size_t i = 0; i < labels.size(); ++i) {
      Label in = 17, used = 0;
      for (const int j : inputs[i]) in = mix(in, labels[static_cast<size_t>(j)]);
      for (const int j : users[i]) used += mix(labels[static_cast<size_t>(j)], 29);
      out[i] = mix(mix(labels[i], in), used);
    }
    return out;
  }
};

class Aligner {
 public:
  Aligner(const AlignedGraph& a, const AlignedGraph& b, const std::function<bool()>& stop)
      : stop_(stop),
        a_(a, [this] { tick(); }),
        b_(b, [this] { tick(); }),
        b_of_a_(a_.nodes.size(), -1),
        a_of_b_(b_.nodes.size(), -1) {}

  std::vector<int> by_id() {
    std::unordered_map<NodeId, int> index;
    for (size_t i = 0; i < b_.nodes.size(); ++i) index.emplace(b_.nodes[i].id, static_cast<int>(i));
    for (size_t i = 0; i < a_.nodes.size(); ++i)
      if (const auto at = index.find(a_.nodes[i].id); at != index.end()) pair(static_cast<int>(i), at->second);
    return b_of_a_;
  }
  bool any() const {
    return std::any_of(b_of_a_.begin(), b_of_a_.end(), [](int b) { return b >= 0; });
  }

  std::vector<int> by_meaning() {
    match_inputs();
    match_sequences();
    for (int round = 0; round < 2; ++round) {
      match_where([&](const Side& s, const std::vector<int>& partner, size_t i) {
        return neighbours_key(s, s.inputs, partner, i, hash_of(s.nodes[i].target));
      });
      match_where([&](const Side& s, const std::vector<int>& partner, size_t i) {
        return neighbours_key(s, s.users, partner, i, hash_of(s.nodes[i].target));
      });
    }
    match_where([](const Side& s, const std::vector<int>&, size_t i) {
      return mix(hash_of(s.nodes[i].name), hash_of(s.nodes[i].target));
    });
    // Another operator in the same place.
    match_where([&](const Side& s, const std::vector<int>& partner, size_t i) {
      const Label in = neighbours_key(s, s.inputs, partner, i, 1);
      return in == 0 ? 0 : neighbours_key(s, s.users, partner, i, in);
    });
    return b_of_a_;
  }

 private:
  void tick() const {
    if (stop_ && stop_()) throw ComparisonStopped();
  }

  void pair(int a, int b) {
    b_of_a_[static_cast<size_t>(a)] = b;
    a_of_b_[static_cast<size_t>(b)] = a;
  }

  /// Inputs by name; those left over in order, of one kind and type. The output is the output.
  void match_inputs() {
    const auto key = [](const NodeRecord& n) { return n.op + '\n' + n.name + '\n' + n.target; };
    std::unordered_map<std::string, int> names;
    for (size_t i = 0; i < b_.nodes.size(); ++i)
      if (is_input(b_.nodes[i])) names.emplace(key(b_.nodes[i]), static_cast<int>(i));
    for (size_t i = 0; i < a_.nodes.size(); ++i)
      if (is_input(a_.nodes[i]))
        if (const auto at = names.find(key(a_.nodes[i]));
            at != names.end() && a_of_b_[static_cast<size_t>(at->second)] < 0)
          pair(static_cast<int>(i), at->second);
    in_order([](const NodeRecord& n) { return is_input(n) ? n.op + '\n' + n.type : std::string(); });
    in_order([](const NodeRecord& n) { return is_output(n) ? n.op : std::string(); });
  }

  /// Pairs nodes that are left over and have the same key, first with first. Nodes with an empty key are left out.
  template <typename Key>
  void in_order(const Key& key) {
    std::unordered_map<std::string, std::vector<int>> open;
    for (size_t i = b_.nodes.size(); i-- > 0;)
      if (a_of_b_[i] < 0)
        if (std::string k = key(b_.nodes[i]); !k.empty()) open[std::move(k)].push_back(static_cast<int>(i));
    for (size_t i = 0; i < a_.nodes.size(); ++i) {
      if (b_of_a_[i] >= 0) continue;
      const auto at = open.find(key(a_.nodes[i]));
      if (at == open.end() || at->second.empty()) continue;
      pair(static_cast<int>(i), at->second.back());
      at->second.pop_back();
    }
  }

  static std::vector<int> left_over(const std::vector<int>& partner, const std::vector<NodeRecord>& nodes) {
    std::vector<int> list;
    for (size_t i = 0; i < partner.size(); ++i)
      if (partner[i] < 0 && !is_input(nodes[i])) list.push_back(static_cast<int>(i));
    return list;
  }

  void match_sequences() {
    tick();
    const auto la = a_.labels(), lb = b_.labels();
    const auto near_a = a_.with_neighbours(la[2]), near_b = b_.with_neighbours(lb[2]);
    const auto wide_a = a_.with_neighbours(la[1]), wide_b = b_.with_neighbours(lb[1]);
    tick();
    SequenceAligner sequence(left_over(b_of_a_, a_.nodes), left_over(a_of_b_, b_.nodes), [this] { tick(); });
    sequence.refine(near_a, near_b);
    sequence.refine(wide_a, wide_b);
    for (size_t level = 3; level-- > 0;) sequence.refine(la[level], lb[level]);
    for (const auto& [a, b] : sequence.pairs()) pair(a, b);
  }

  /// A number that says which pairs the neighbours of a node belong to; 0 if it has none, or one that is left over.
  /// `partner`: of the nodes of this side. Pairs go by their index in `b`.
  Label neighbours_key(const Side& s, const std::vector<std::vector<int>>& neighbours, const std::vector<int>& partner,
                       size_t i, Label seed) const {
    if (neighbours[i].empty()) return 0;
    const bool ordered = &neighbours == &s.inputs;
    Label key = seed, sum = 0;
    for (const int j : neighbours[i]) {
      const int other = partner[static_cast<size_t>(j)];
      if (other < 0) return 0;
      const auto of_b = static_cast<Label>(&s == &a_ ? other : j) + 1;
      if (ordered)
        key = mix(key, of_b);
      else
        sum += mix(of_b, 41);
    }
    return mix(key, sum) | 1;
  }

  /// Pairs nodes that are left over whose key nobody else on their side has. Key 0: none.
  template <typename Key>
  void match_where(const Key& key) {
    tick();
    struct Found {
      int a = -1, b = -1;
      bool unique = true;
    };
    std::unordered_map<Label, Found> found;
    const auto collect = [&](const Side& s, const std::vector<int>& partner, int Found::* which) {
      for (size_t i = 0; i < partner.size(); ++i) {
        if (partner[i] >= 0 || is_input(s.nodes[i])) continue;
        const Label k = key(s, partner, i);
        if (k == 0) continue;
        Found& f = found[k];
        f.unique &= f.*which < 0;
        f.*which = static_cast<int>(i);
      }
    };
    collect(a_, b_of_a_, &Found::a);
    collect(b_, a_of_b_, &Found::b);
    for (const auto& [k, f] : found)
      if (f.unique && f.a >= 0 && f.b >= 0) pair(f.a, f.b);
  }

  const std::function<bool()>& stop_;
  Side a_, b_;
  std::vector<int> b_of_a_, a_of_b_;
};

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

std::string arguments_without_names(const NodeRecord& node, const std::vector<std::string_view>& operands) {
  constexpr size_t few = 8;
  std::unordered_set<std::string_view> many;
  if (operands.size() > few) many.insert(operands.begin(), operands.end());
  const auto is_operand = [&](std::string_view text) {
    if (operands.size() > few) return many.contains(text);
    return std::find(operands.begin(), operands.end(), text) != operands.end();
  };
  std::string out;
  const std::string_view text = node.args;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && word(text[end])) ++end;
    if (end == i) {
      if (text[i] != '%') out += text[i];
      ++i;
      continue;
    }
    const std::string_view token = text.substr(i, end - i);
    out += is_operand(token) ? std::string_view("·") : token;
    i = end;
  }
  return out;
}

std::vector<int> align_graphs(const AlignedGraph& a, const AlignedGraph& b, bool by_id,
                              const std::function<bool()>& stop) {
  Aligner aligner(a, b, stop);
  if (by_id) {
    auto pairs = aligner.by_id();
    if (aligner.any()) return pairs;
  }
  return aligner.by_meaning();
}

}  // namespace strata::studio
