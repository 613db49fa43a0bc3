// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finds the events that arrows of a profile begin and end at.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/records.h"

namespace strata::capture::kineto {

/// An event that arrows may belong to.
struct Slice {
  std::int32_t track = 0;
  std::int64_t start = 0, duration = 0;
  trace::Id event = trace::kNone;
};

struct Arrow {
  std::string category;
  std::int64_t id = 0;
  std::int64_t time = 0;
  std::int32_t track = 0;
  bool start = false;
};

struct FlowCounts {
  std::int64_t matched = 0, lonely_starts = 0, lonely_ends = 0;
  std::int64_t unmatched = 0;  ///< both ends are there, an event is not
};

class FlowMatcher {
 public:
  void add(const Slice& slice) { slices_.push_back(slice); }
  void add(Arrow arrow) { arrows_.push_back(std::move(arrow)); }

  /// The flows in the order of their starts in the file: the n-th start of a (category, id) goes with its n-th end. An
  /// end is at the shortest slice of its row that begins at its time, else at the innermost one that contains it.
  std::vector<trace::FlowRecord> match();
  /// By category, after `match`.
  const std::map<std::string, FlowCounts>& counts() const { return counts_; }

 private:
  trace::Id event_at(const Arrow& arrow) const;

  std::vector<Slice> slices_;
  std::vector<Arrow> arrows_;
  std::map<std::string, FlowCounts> counts_;
};

}  // namespace strata::capture::kineto
