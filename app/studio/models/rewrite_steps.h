// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The graphs between two stages: what stood after the first, the second, ... rewrite of the pass between them.
///
/// A trace holds the graph before and after a pass, and the rewrites in order. What lies between is rebuilt: a node
/// that went goes with the last rewrite that names it (one that no rewrite names, with its last user), a new one comes
/// with the first rewrite that made it (or with its first user), at the place where it will stand; whoever refers to a
/// node that is gone, or not there yet, refers to the newest version that exists.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trace/reader.h"

namespace strata::studio {

class RewriteSteps {
 public:
  /// Nodes of the two stages in program order, and the rewrites in the order in which they happened. Anything goes:
  /// unknown nodes, none at all, the same node twice.
  RewriteSteps(std::vector<trace::NodeRecord> before, std::vector<trace::NodeRecord> after,
               std::vector<trace::RewriteRecord> rewrites);

  RewriteSteps(const RewriteSteps&) = delete;
  RewriteSteps& operator=(const RewriteSteps&) = delete;

  size_t count() const { return rewrites_.size(); }
  const std::vector<trace::RewriteRecord>& rewrites() const { return rewrites_; }
  const std::vector<trace::NodeRecord>& before() const { return before_; }
  const std::vector<trace::NodeRecord>& after() const { return after_; }

  /// The graph after the first `k` rewrites, in O(nodes + edges). 0: as before the pass; more than count(): as after
  /// it.
  std::vector<trace::NodeRecord> graph(size_t k) const;
  /// What the `k`-th rewrite did (from 1): from graph(k - 1) to graph(k). count() + 1: what the pass did besides.
  trace::SnapshotDiff diff(size_t k) const;
  /// Whether the rewrites say all that the pass did: graph(count()) is the graph after the pass.
  bool complete() const { return complete_; }
  /// Every node that stands at some time, in an order that suits all of them, with all operands it ever has (in operand
  /// lists of their own where they differ): what a layout for all steps is made of.
  std::vector<trace::NodeRecord> together() const;

 private:
  using Step = std::uint32_t;  ///< number of rewrites done
  static constexpr Step kNever = UINT32_MAX;
  struct Entry {
    const trace::NodeRecord* before = nullptr;
    const trace::NodeRecord* after = nullptr;
    Step born = 0, died = kNever;  ///< it stands in graphs k with born <= k < died
    Step changed = 0;              ///< from here on as it is after the pass
    int next = -1, last = -1;      ///< entries that stand in its place when it is gone, or is not there yet
    const trace::NodeRecord& newest() const { return after ? *after : *before; }
    trace::NodeId id() const { return newest().id; }
  };
  /// Numbers of rewrites from 1; 0 none.
  struct Mention {
    Step first_made = 0, last_made = 0, last_matched = 0, last = 0;
  };

  int find(trace::NodeId id) const;
  Mention mention(const Entry& entry) const;
  void add_entries();
  void note_mentions();
  void date_named();
  void follow_slots(std::vector<int>& next, std::vector<int>& last) const;
  void choose_substitutes();
  void date_changes();
  void date_births();
  void date_deaths();
  void order_entries();
  void check_complete();
  bool stands(const Entry& entry, Step k) const { return entry.born <= k && k < entry.died; }
  const trace::NodeRecord& version(const Entry& entry, Step k) const;

  /// Who stands for whom after `k` rewrites; answers are kept, so that all together take linear time.
  class Resolver {
   public:
    Resolver(const RewriteSteps& steps, Step k) : steps_(steps), k_(k), known_(steps.entries_.size(), kUnknown) {}
    /// The node that stands for `id`: itself if it stands or is in neither graph; 0 if there is none.
    trace::NodeId operator()(trace::NodeId id);

   private:
    static constexpr int kUnknown = -2, kNone = -1, kOnTheWay = -3;
    const RewriteSteps& steps_;
    Step k_;
    std::vector<int> known_;
    std::vector<int> path_;
  };
  friend class Resolver;
  trace::NodeRecord record(const Entry& entry, Step k, Resolver& resolve) const;
  bool may_differ(const Entry& entry, Step k, Resolver& old_one, Resolver& new_one) const;

  std::vector<trace::NodeRecord> before_, after_;
  std::vector<trace::RewriteRecord> rewrites_;
  std::vector<Entry> entries_;
  std::unordered_map<trace::NodeId, int> index_;
  std::unordered_map<trace::NodeId, Mention> mentions_;
  std::vector<std::vector<trace::NodeId>> known_before_;  ///< of each rewrite, those that are nodes of the graphs
  std::vector<int> order_;                                ///< entries in the order of every graph between
  bool reordered_ = false, twice_ = false, complete_ = false;
};

/// The text with whole identifiers replaced: `relu_1` in `%relu_1, %relu_12` is one place.
std::string rename_words(const std::string& text, const std::unordered_map<std::string, std::string>& names);

}  // namespace strata::studio
