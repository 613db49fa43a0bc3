// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When devices had nothing to do, and why: what the host did meanwhile. Times are nanoseconds since the timeline's
/// origin.

#include <QStringList>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/studio/models/table_model.h"
#include "app/studio/models/timeline.h"

namespace strata::studio {

enum class GapReason : int {
  Unknown = 0,  ///< what ended it has no launch in the profile
  Queue,        ///< the next work was launched before: the device was between two pieces of work
  Sync,         ///< the host waited for the device, and launched only then
  Copy,         ///< the host was copying data, or a copy comes next
  Launch,       ///< the host was in operators and launch calls all the time: launching is slower than the work
  Host          ///< the host was busy with something else
};
/// `launch bound`, and one sentence.
const char* reason_name(GapReason reason);
const char* reason_text(GapReason reason);

/// A stretch in which nothing ran on a device.
struct Gap {
  std::int64_t start = 0, duration = 0;
  std::uint32_t device = 0;  ///< index into `GapData::devices`
  SlicePlace next;           ///< the work that ended it
  bool launched = false;     ///< `launch` is known
  SlicePlace launch;         ///< the call that launched that work
  GapReason reason = GapReason::Unknown;
  std::int64_t end() const { return start + duration; }
};

/// Activity of one device between its first and its last work. `busy` counts a moment once, however many streams work.
struct DeviceGaps {
  std::string title;
  std::int64_t span = 0, busy = 0, idle = 0;  ///< span = busy + idle
  std::vector<std::uint32_t> tracks;
  std::vector<Gap> gaps;  ///< by start
};

using Span = std::pair<std::int64_t, std::int64_t>;  ///< begin and end

struct GapData {
  std::vector<DeviceGaps> devices;
  std::vector<const Gap*> by_start, longest;  ///< all of them
  int host_track = -1;                        ///< the thread that launches most
  std::vector<Span> host_idle;                ///< when that thread recorded nothing while a device waited, by start

  std::int64_t idle() const;
  std::int64_t span() const;
  /// `device idle 38 %, largest gap 1.2 ms (launch bound)`; empty without devices.
  std::string summary() const;
  /// Gap of a device's track at this time; null: none.
  const Gap* at(std::uint32_t track, std::int64_t time) const;
};
using GapPtr = std::shared_ptr<const GapData>;

GapPtr find_gaps(const Timeline& timeline);

/// What the host did during a span: slices with the time of their own in it, greatest first.
struct Meanwhile {
  SlicePlace place;
  std::int64_t time = 0;
};
std::vector<Meanwhile> host_meanwhile(const Timeline& timeline, std::int64_t from, std::int64_t to,
                                      std::size_t most = 20);

/// At, length, reason, what ended it, device, host meanwhile: the largest gaps first.
QStringList gap_headers();
std::vector<TableRow> gap_rows(const Timeline& timeline, const GapData& gaps, std::size_t most = 200);
/// Name, category, count, own time, total, longest.
QStringList range_headers();
std::vector<TableRow> range_rows(const Timeline& timeline, const std::vector<RangeSum>& sums);

}  // namespace strata::studio
