// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/device_time.h"

#include <algorithm>

#include "profiler/profile.h"

namespace strata::profiler {

DeviceIdle device_idle(std::vector<Interval> activity, std::size_t most_gaps) {
  DeviceIdle result;
  if (activity.empty()) return result;
  std::sort(activity.begin(), activity.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::int64_t end = activity.front().start;
  for (const Interval& a : activity) {
    if (a.start > end) {
      ++result.gaps;
      result.idle += a.start - end;
      result.longest.push_back({end, a.start - end});
    }
    end = std::max(end, a.start + std::max<std::int64_t>(a.duration, 0));
  }
  result.span = end - activity.front().start;
  result.busy = result.span - result.idle;
  std::stable_sort(result.longest.begin(), result.longest.end(),
                   [](const Interval& a, const Interval& b) { return a.duration > b.duration; });
  if (result.longest.size() > most_gaps) result.longest.resize(most_gaps);
  return result;
}

LaunchOverhead launch_overhead(const std::vector<LaunchTimes>& launches) {
  LaunchOverhead result;
  std::vector<double> delays;
  for (const LaunchTimes& l : launches) {
    ++result.launches;
    result.call_total += static_cast<double>(std::max<std::int64_t>(l.call.duration, 0));
    if (l.device_start >= 0)
      delays.push_back(static_cast<double>(std::max<std::int64_t>(l.device_start - l.call.start, 0)));
  }
  if (result.launches > 0) result.call_mean = result.call_total / static_cast<double>(result.launches);
  const Statistics s = statistics(std::move(delays));
  result.delay_median = s.median;
  result.delay_min = s.min;
  return result;
}

}  // namespace strata::profiler
