// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What selections ask of one compile again and again, read once and kept: texts, and origin edges.

#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/trace/reader.h"

namespace strata::studio {

using ArtifactPtr = std::shared_ptr<const trace::ArtifactRecord>;

/// Every method may be called from any thread, always with the reader of the same trace.
class CompileIndex {
 public:
  explicit CompileIndex(trace::Id compile) : compile_(compile) {}

  /// With content and lines; the same pointer again while it is kept. Null: not in the trace.
  ArtifactPtr artifact(trace::Reader& reader, trace::Id id);
  /// Artifacts of snapshots and kernels, without content and lines.
  const std::vector<trace::ArtifactRecord>& artifacts(trace::Reader& reader);
  /// The nodes and everything that was made of them, at most `limit` of them.
  std::unordered_set<trace::NodeId> descendants(trace::Reader& reader, const std::vector<trace::NodeId>& nodes,
                                                size_t limit);

 private:
  trace::Id compile_;
  std::mutex mutex_;
  std::unordered_map<trace::Id, ArtifactPtr> texts_;
  size_t bytes_ = 0;
  bool listed_ = false, walked_ = false;
  std::vector<trace::ArtifactRecord> list_;
  std::unordered_multimap<trace::NodeId, trace::NodeId> made_;  ///< from a node to what was made of it
};

}  // namespace strata::studio
