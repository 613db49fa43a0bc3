// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/device_time.h"

#include <gtest/gtest.h>

namespace strata::profiler {
namespace {

TEST(DeviceTime, OverlapOfStreamsIsCountedOnce) {
  // 10..20 and 15..30 overlap, 30..31 touches, then nothing until 41.
  const DeviceIdle idle = device_idle({{41, 4}, {15, 15}, {10, 10}, {30, 1}, {12, 2}});
  EXPECT_EQ(idle.span, 35);
  EXPECT_EQ(idle.busy, 25);
  EXPECT_EQ(idle.idle, 10);
  EXPECT_EQ(idle.gaps, 1u);
  ASSERT_EQ(idle.longest.size(), 1u);
  EXPECT_EQ(idle.longest[0].start, 31);
  EXPECT_EQ(idle.longest[0].duration, 10);
}

TEST(DeviceTime, LongestGapsFirstAndBounded) {
  const DeviceIdle idle = device_idle({{0, 1}, {3, 1}, {14, 1}, {20, -5}}, 2);
  EXPECT_EQ(idle.gaps, 3u);
  EXPECT_EQ(idle.idle, 2 + 10 + 5);
  EXPECT_EQ(idle.busy + idle.idle, idle.span);
  ASSERT_EQ(idle.longest.size(), 2u);
  EXPECT_EQ(idle.longest[0].duration, 10);
  EXPECT_EQ(idle.longest[1].duration, 5);
  EXPECT_EQ(device_idle({}).span, 0);
}

TEST(DeviceTime, LaunchOverhead) {
  const LaunchOverhead overhead =
      launch_overhead({{{100, 10}, 120}, {{200, 20}, 190}, {{300, 30}, -1}, {{400, 4}, 410}});
  EXPECT_EQ(overhead.launches, 4u);
  EXPECT_DOUBLE_EQ(overhead.call_total, 64);
  EXPECT_DOUBLE_EQ(overhead.call_mean, 16);
  EXPECT_DOUBLE_EQ(overhead.delay_median, 10);
  EXPECT_DOUBLE_EQ(overhead.delay_min, 0);
  EXPECT_DOUBLE_EQ(launch_overhead({}).call_mean, -1);
  EXPECT_DOUBLE_EQ(launch_overhead({}).delay_median, -1);
}

}  // namespace
}  // namespace strata::profiler
