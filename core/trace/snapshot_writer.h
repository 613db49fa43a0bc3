// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the writer turns whole graphs into what is new about them.
///
/// For each compile it remembers, per node, a hash of the last stored version and where the node stood in the last
/// snapshot. A snapshot then costs: a row for each node whose hash differs, and an order blob (codec.h) that copies
/// runs of the last order and names the rest. A full order is stored every so often, and whenever a delta would not
/// pay, so that a reader never follows a long chain.

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/trace/codec.h"
#include "core/trace/records.h"

namespace strata::trace {

/// 128 bits over every field of a node: equal nodes are taken for the same, so a collision must not happen.
struct NodeHash {
  std::uint64_t low = 0, high = 0;
  bool operator==(const NodeHash&) const = default;
};
NodeHash hash_node(const NodeRecord& node);

struct SnapshotPlan {
  std::vector<std::pair<const NodeRecord*, Id>> rows;  ///< versions to store, pointing into the caller's nodes
  std::string order;                                   ///< not compressed
  Id base = kNone;
  Id previous = kNone;  ///< the graph snapshot before
  std::int64_t node_count = 0, added = 0, removed = 0, changed = 0;
  std::vector<NodeId> ended;    ///< in the last snapshot, not in this one
  std::vector<NodeId> revived;  ///< ended earlier, here again
};

class CompileNodes {
 public:
  /// Plans the next snapshot and takes it as the last one. `order` null: the order of `nodes`. `last_version` is
  /// advanced for each new row. Internal error, and nothing changed, when ids are not positive, repeat or are unknown.
  SnapshotPlan advance(Id snapshot, std::span<const NodeRecord> nodes, const std::span<const NodeId>* order,
                       Id& last_version, int keyframe_interval);

  /// `stage`, or `stage#2`, `stage#3`, ... when that was there before.
  std::string unique_stage(const std::string& stage);
  std::int64_t next_ordinal() { return snapshots_++; }

 private:
  struct State {
    Id version = kNone;
    NodeHash hash;
    std::int64_t seen = -1;  ///< number of the last graph snapshot with the node
    std::int64_t position = 0;
    std::uint64_t stamp = 0;  ///< of the check that met it last
  };
  struct Entry {
    State* state;  ///< stable: unordered_map does not move its values
    NodeId id;
    const NodeRecord* record;  ///< null: as it was
  };
  std::vector<Entry> check(std::span<const NodeRecord> nodes, const std::span<const NodeId>* order);

  std::unordered_map<NodeId, State> states_;
  std::vector<NodeId> last_order_;
  std::unordered_set<std::string> stages_;
  Id last_snapshot_ = kNone;
  std::int64_t graphs_ = 0, snapshots_ = 0;
  int since_keyframe_ = 0;
  std::uint64_t stamp_ = 0;
};

}  // namespace strata::trace
