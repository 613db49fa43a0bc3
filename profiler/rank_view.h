// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What each rank did, under names that are the same on all.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/trace/reader.h"

namespace strata::profiler {

/// One rank. Of several processes that claim it, the one that began last.
struct RankView {
  std::int64_t rank = -1;
  trace::Id process = trace::kNone;
  std::vector<trace::ProcessRecord> claimants;  ///< all, by start
  /// Last attempts, by frame (`model.py:12:forward`, `#2` for a second frame of that name), in order of compile number.
  std::map<std::string, std::vector<trace::CompileRecord>> frames;
  std::int64_t compile_ns = 0;  ///< all compiles
};

/// By rank. Processes without a rank are left out.
std::vector<RankView> rank_views(trace::Reader& reader);

/// Ranks by what they have in common, the rule first.
template <class Value>
struct Groups {
  std::vector<std::pair<Value, std::vector<std::int64_t>>> list;
  bool differ() const { return list.size() > 1; }
};
/// Groups ranks by value; the largest first, among equals that with the lowest rank.
template <class Value>
Groups<Value> grouped(const std::map<std::int64_t, Value>& of_rank) {
  std::map<Value, std::vector<std::int64_t>> by;
  for (const auto& [rank, value] : of_rank) by[value].push_back(rank);
  Groups<Value> groups;
  for (auto& [value, ranks] : by) groups.list.emplace_back(value, std::move(ranks));
  std::stable_sort(groups.list.begin(), groups.list.end(), [](const auto& a, const auto& b) {
    return a.second.size() != b.second.size() ? a.second.size() > b.second.size() : a.second < b.second;
  });
  return groups;
}

/// `rank 1`, `ranks 1 and 3`, `ranks 0-6 and 9`.
std::string ranks_text(const std::vector<std::int64_t>& ranks);

/// A graph without what may differ between ranks that do the same: one line per node, names replaced by places, device
/// numbers left out.
std::vector<std::string> graph_lines(const std::vector<trace::NodeRecord>& nodes);
/// Guards, breaks and the like as text to compare: addresses, object ids and device numbers left out.
std::string comparable(std::string_view text);

}  // namespace strata::profiler
