// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When a device worked and when it waited, and what launching cost. Times are nanoseconds.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::profiler {

struct Interval {
  std::int64_t start = 0, duration = 0;
};

/// Activity of one device between its first and its last event. `busy` counts a moment once, however many streams work.
struct DeviceIdle {
  std::int64_t span = 0, busy = 0, idle = 0;  ///< span = busy + idle
  std::size_t gaps = 0;                       ///< stretches with nothing running
  std::vector<Interval> longest;              ///< the longest gaps, longest first
};
/// `most_gaps` bounds `longest`. Negative durations count as 0.
DeviceIdle device_idle(std::vector<Interval> activity, std::size_t most_gaps = 10);

/// A launch call on the host and the start of what it launched.
struct LaunchTimes {
  Interval call;
  std::int64_t device_start = -1;  ///< -1: not seen
};

struct LaunchOverhead {
  std::size_t launches = 0;
  double call_total = 0;  ///< time inside launch calls
  double call_mean = -1;  ///< -1: no launches
  /// From the begin of the call to the start on the device, over launches whose start was seen; -1 without any. Clocks
  /// of host and device differ a little: a start before the call counts as 0.
  double delay_median = -1, delay_min = -1;
};
LaunchOverhead launch_overhead(const std::vector<LaunchTimes>& launches);

}  // namespace strata::profiler
