// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How nodes are found for launches. Internal to match_nodes.

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/inductor/graph_view.h"
#include "capture/inductor/match_nodes.h"

namespace strata::capture::detail {

/// The same as match_nodes on a graph that is indexed already.
ProgramMatch match_nodes(const OutputCode& code, const ProvenanceMaps& maps, const GraphView& graph);

inline void sort_unique(std::vector<int>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

inline bool contains(const std::vector<int>& sorted, int value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

/// The operator names that a library call may stand for in a graph.
std::vector<std::string_view> operators_of(std::string_view callee);

/// Goes through the launches in order and follows which node's value each buffer holds.
class Matcher {
 public:
  Matcher(const OutputCode& code, const ProvenanceMaps& maps, const GraphView& graph)
      : code_(code), maps_(maps), graph_(graph) {
    value_.assign(code.buffers.size(), -1);
    final_.assign(code.buffers.size(), -1);
    last_writer_.assign(code.buffers.size(), -1);
    writer_.assign(code.buffers.size(), -1);
    out_.buffer_nodes.assign(code.buffers.size(), -1);
    claimed_library_.assign(static_cast<size_t>(graph.size()), 0);
    claimed_loop_.assign(static_cast<size_t>(graph.size()), 0);
  }

  ProgramMatch run();

 private:
  const CodeBuffer& buffer(int b) const { return code_.buffers[static_cast<size_t>(b)]; }

  void prepare_buffers();
  /// `true_graph_0_arg0_1` is the input `true_graph_0/arg0_1` of a child graph.
  int child_input(std::string_view name) const;
  void index_operators();
  void set_value(int b, int node);
  /// The node whose value a buffer holds now.
  int value(int b) const;
  int base_value(int b) const { return graph_.base(value(b)); }

  /// The type of a buffer's elements; memory that is taken over keeps it.
  std::string_view dtype_of(int b) const;
  /// Whether a buffer could hold a node's value: 1 yes, 0 not known, -1 no.
  int fits(int b, int n) const;
  void launch(int index);
  bool is_user_kernel(const CodeLaunch& l) const;
  std::vector<int> operand_values(const CodeLaunch& l) const;
  /// Of each operand, the launch that wrote it; -1: none, an input.
  std::vector<int> operand_writers(const CodeLaunch& l) const;

  // --- the producer's maps

  bool from_maps(const CodeLaunch& l, LaunchMatch& match);
  int launches_named(std::string_view callee);

  // --- loop kernels

  void loop(const CodeLaunch& l, LaunchMatch& match);
  const CodeKernel& commented(const CodeLaunch& l) const;
  bool comment(const CodeLaunch& l, LaunchMatch& match) const;

  /// The first launch of a kernel.
  struct First {
    int launch;
    std::vector<int> operands;  ///< values when it was launched
    std::vector<int> writers;   ///< launches that had written them
    std::vector<int> results;   ///< values afterwards
  };

  /// What is known of the counterparts of one kernel's nodes in another launch of it.
  struct Repeat {
    const First& first;
    const std::vector<int>& pattern;
    std::vector<int> writers;
    std::unordered_map<int, int> outer;  ///< value that the first launch read -> value that this one reads
    std::unordered_map<int, int> inner;  ///< node of the first launch -> node of this one
    std::set<int> taken;
  };

  /// The nodes that do on this launch's operands what the first launch's nodes did on theirs.
  bool repeat(const CodeLaunch& l, const First& first, LaunchMatch& match);
  /// A node that the writer of an operand computed too (a reduction in two steps, a value computed twice): the
  /// counterpart is what this launch's operand's writer computed.
  int written_before(int t, const Repeat& r) const;
  int counterpart(int t, const Repeat& r, const CodeLaunch& l) const;
  /// The index of a random seed is an argument of the kernel: it differs from launch to launch.
  bool same_seed(int t, int u, const First& first, const CodeLaunch& l) const;
  /// The nodes that the call's comment names: backward graphs keep their nodes' names there.
  bool named(const CodeLaunch& l, const First& first, LaunchMatch& match) const;
  /// How many operands of u are known to be the counterparts of t's; -1: one is not.
  int consistent(int t, int u, const Repeat& r) const;

  // --- loop kernels that say nothing

  /// The calls that can be computed from what the kernel reads without a library call between.
  std::vector<int> reachable(const std::vector<int>& sources) const;
  bool is_library(int n) const { return library_operators_.contains(graph_.op(n)); }

  bool computable(int n, const std::set<int>& known) const;
  /// What is known, and values that no buffer holds: constants, sizes.
  bool free_standing(int n, const std::set<int>& known) const;
  void region(const CodeLaunch& l, LaunchMatch& match) const;
  /// What the program returns is known even where the way to it is not: back to what other kernels compute.
  bool returned(const CodeLaunch& l, LaunchMatch& match) const;
  /// The second half of a reduction: what it writes is a node that the first half is part of.
  bool second_step(const CodeLaunch& l, LaunchMatch& match) const;
  /// The first half of a reduction: it writes no node's value, but something on the way to a node that it is named for.
  bool first_step(const CodeLaunch& l, const std::vector<int>& region, const std::vector<int>& sources,
                  LaunchMatch& match) const;
  /// The node of the region that a written buffer takes.
  int stored_node(int b, const CodeLaunch& l, const std::vector<int>& region, const std::vector<int>& stored) const;
  /// Whether something outside the region uses the node's value.
  bool leaves(int n, const std::vector<int>& region, int depth = 0) const;
  static bool named_in(std::string_view kernel, std::string_view op);
  void add_ancestors(int n, const std::vector<int>& sources, std::vector<int>& out) const;
  /// A kernel that only brings a value into another layout computes no node; what it copies stands for it.
  void layout_copy(const CodeLaunch& l, const std::vector<int>& sources, LaunchMatch& match) const;

  // --- library calls

  void from_operands(const CodeLaunch& l, LaunchMatch& match);
  /// The producer counts views that only the call looks through as part of an operator it does not know itself.
  void add_operand_views(int n, std::vector<int>& nodes) const;
  int best_call(const CodeLaunch& l, const std::vector<std::string_view>& operators) const;
  /// A call of another name: the first node left over that has all its operands and gives what it gives.
  int call_on_same_operands(const CodeLaunch& l) const;
  /// Calls that use a value, also through views.
  void add_users(int v, std::set<int>& out, int depth) const;
  int call_score(const CodeLaunch& l, int n, const std::vector<int>& reads) const;

  // --- what buffers hold afterwards

  void bind(int index, const LaunchMatch& match);
  /// The first store that has the buffer's size, one that a later reader names before others.
  int best_store(int index, int b, const std::vector<int>& stores) const;
  bool comes_from(int b, int source) const;
  static bool reads_node(const CodeKernel& kernel, std::string_view name);
  int first_launch(int kernel) const;
  /// The nodes of a kernel whose values others use, those that the comment names first.
  std::vector<int> stored_nodes(const CodeLaunch& l, const LaunchMatch& match) const;

  const OutputCode& code_;
  const ProvenanceMaps& maps_;
  const GraphView& graph_;
  ProgramMatch out_;
  std::vector<int> value_, final_, last_writer_;
  std::vector<int> writer_;  ///< the launch that wrote a buffer last, so far
  std::vector<char> claimed_library_, claimed_loop_;
  std::vector<char> constant_;  ///< nodes that depend on no tensor
  std::set<int> finished_;      ///< nodes whose value some buffer got
  std::unordered_map<int, First> first_;
  std::unordered_map<int, int> first_launches_;  ///< of each kernel
  std::unordered_map<int, int> repeated_;        ///< buffer and what the launch at hand writes into it
  std::unordered_map<std::string_view, std::vector<int>> by_operator_;
  std::set<std::string_view> library_operators_;
  std::unordered_map<std::string_view, int> counts_;
};

}  // namespace strata::capture::detail
