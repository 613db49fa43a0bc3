// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The nodes of a graph that compute, in groups of one kernel each, while fusion goes on: who reads what through
/// memory, what has to wait for what, and in which order the groups can run.

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/data_sizes.h"
#include "passes/strided_view.h"

namespace strata {

class FusionGroups {
 public:
  using Group = std::vector<const Node*>;  ///< in graph order
  using NodeSet = std::unordered_set<const Node*>;
  static constexpr size_t kNone = SIZE_MAX;

  /// Every node that computes by itself. Graph and layouts must outlive the groups; `index` follows a change of
  /// layouts.
  FusionGroups(const Graph& graph, const Layouts& layouts);
  void index();

  /// Number of the node's group; kNone for views, inputs, parts of tuples.
  size_t of(const Node* node) const;
  const Group& members(size_t group) const { return groups_[group]; }
  const Group& group_of(const Node& node) const { return groups_[group_of_.at(&node)]; }
  size_t size() const { return groups_.size(); }
  int position(const Node* node) const { return position_.at(node); }  ///< in the graph

  /// A view becomes a group: it is copied out.
  void add(const Node* view);
  void merge(size_t from, size_t into);
  Group united(const Group& a, const Group& b) const;

  /// The node with the buffer; parts of a tuple belong to the tuple.
  const Node* base_of(const Node* node) const;
  /// Who reads the buffer of a node, through views that have none; parts of tuples are among them.
  const std::vector<const Node*>& readers(const Node* base) const;
  const std::unordered_map<const Node*, std::vector<const Node*>>& all_readers() const { return readers_; }
  /// Results of the program, and tensors that sizes are read from.
  const NodeSet& outputs() const { return outputs_; }
  /// A result has the node's buffer: it is in memory whoever reads it.
  bool is_kept(const Node* base) const { return output_bases_.contains(base); }

  /// Whether `node` may run only after a kernel that it reads nothing of: one that gives a size, or the draw before.
  bool waits(const Node& node) const { return waits_for_.contains(&node); }
  /// Is `target` among what `node` needs?
  bool depends_on(const Node* node, const Node* target) const;
  /// A path from a member of `from` through a third group into `to`.
  bool closes_cycle(const Group& from, const Group& to) const;
  /// Groups without those that were merged away, each after what it needs; ties by the last member's position.
  std::vector<size_t> sorted() const;

  // Nodes that a group computes although they belong to another.
  bool computes_again(size_t group, const Node* node) const;
  const NodeSet& again(size_t group) const;
  void compute_again(size_t group, const NodeSet& nodes);
  /// The members and what the group computes again.
  Group all_of(size_t group) const;
  /// `nodes` of `from` are members of `to` from now on.
  void move(const NodeSet& nodes, size_t from, size_t to);

  /// Groups but that of `members` that read a value from memory; kNone for parts of tuples.
  std::set<size_t> readers_outside(const Node* value, const std::set<const Node*>& members) const;
  std::set<size_t> readers_outside(const Node* value) const;
  /// What of the members has to be in memory.
  Group stored_of(const Group& members) const;

  /// What two groups are, to be given to `restore` if an attempt fails.
  struct State {
    size_t a, b;
    Group members_a, members_b;
    std::unordered_map<size_t, NodeSet> again;
  };
  State state(size_t a, size_t b) const { return {a, b, groups_[a], groups_[b], again_}; }
  void restore(State state);

 private:
  void wait(const Node* later, const Node* earlier);
  void collect_waits(const DataSizes& sizes);

  const Graph& graph_;
  const Layouts& layouts_;
  std::vector<Group> groups_;
  std::unordered_map<const Node*, size_t> group_of_;
  std::unordered_map<const Node*, int> position_;
  std::unordered_map<size_t, NodeSet> again_;
  NodeSet outputs_, output_bases_;
  std::unordered_map<const Node*, std::vector<const Node*>> readers_, waits_for_, waiting_;
};

/// Whether the node is a kernel's work: no view, no size, no assertion.
bool computes(const Node& node);

}  // namespace strata
