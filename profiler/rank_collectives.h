// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Collectives in the profiles of several ranks: who arrives last, and who waits for how long.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/reader.h"
#include "profiler/rank_view.h"

namespace strata::profiler {

/// A collective as one rank took part in it.
struct CollectiveCall {
  std::string group, name;  ///< process group, `allreduce`
  std::int64_t sequence = -1;
  std::int64_t start = 0, end = 0;  ///< nanoseconds, of the device where it shows it, else of the host
};

/// By rank, in order of start. Sending and receiving between two ranks are left out.
using CollectiveCalls = std::map<std::int64_t, std::vector<CollectiveCall>>;
CollectiveCalls collective_calls(trace::Reader& reader, const std::vector<RankView>& ranks);

/// What ranks lost by waiting. Clocks are aligned first: a collective ends on all ranks at (nearly) the same time.
struct CollectiveWaits {
  std::size_t compared = 0;                         ///< collectives that at least two ranks took part in
  std::map<std::int64_t, std::int64_t> waited;      ///< nanoseconds by rank
  std::map<std::int64_t, std::size_t> last;         ///< how often a rank was the last to arrive
  std::map<std::int64_t, std::int64_t> caused;      ///< nanoseconds that all others waited for it
  std::int64_t span = 0;                            ///< from the first to the last collective
  std::string longest_name;                         ///< the collective with the longest wait
  std::int64_t longest_wait = 0, longest_for = -1;  ///< that wait, and the rank that was waited for
};
CollectiveWaits collective_waits(const CollectiveCalls& calls);

}  // namespace strata::profiler
