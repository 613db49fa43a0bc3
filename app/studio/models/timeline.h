// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything that was timed in a trace, as rows of slices for painting: threads, device streams, compile timelines.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/reader.h"

namespace strata::studio {

/// One timed event. Times are nanoseconds since `Timeline::origin`.
struct Slice {
  std::int64_t start = 0, duration = 0;
  trace::Id event = trace::kNone;
  trace::Id kernel = trace::kNone;
  std::int64_t correlation = 0;
  std::uint32_t name = 0;      ///< index into `Timeline::names`
  std::uint32_t category = 0;  ///< index into `Timeline::names`
  std::int64_t end() const { return start + duration; }
};

/// A row of slices that do not overlap, ascending by start.
using Lane = std::vector<Slice>;

/// A thread or a stream. `lanes[0]` are the outermost slices, `lanes[1]` what ran inside them, and so on; slices that
/// overlap without being nested (streams of several devices written as one) are put one lower.
struct TimelineTrack {
  std::string title;
  bool device = false;
  trace::Id process = trace::kNone;
  std::vector<Lane> lanes;
};

struct Timeline {
  std::int64_t origin = 0;    ///< nanoseconds in the clock of the events
  std::int64_t duration = 0;  ///< from `origin` to the last end
  std::vector<std::string> names;
  std::vector<TimelineTrack> tracks;
  std::size_t slices = 0;

  const std::string& name(const Slice& slice) const { return names[slice.name]; }
  const std::string& category(const Slice& slice) const { return names[slice.category]; }
};
using TimelinePtr = std::shared_ptr<const Timeline>;

/// The runs that can be shown: those with events of one clock, `compile` runs last.
struct TimelineRun {
  trace::RunRecord run;
  std::string title;  ///< `profile of rank 0`, `strata, 30 runs`
  std::vector<trace::Id> runs;
};
std::vector<TimelineRun> timeline_runs(trace::Reader& reader);

/// Reads the events of these runs. `cancelled` is asked now and then; true gives an empty timeline.
TimelinePtr load_timeline(trace::Reader& reader, const std::vector<trace::Id>& runs,
                          const std::function<bool()>& cancelled = {});

/// First slice of the lane that ends after `time`.
std::size_t first_ending_after(const Lane& lane, std::int64_t time);

/// Slices to paint between two times with `per_pixel` nanoseconds to a pixel: those narrower than a pixel that touch
/// are merged into one box (`slice` is the widest of them, `merged` how many).
struct Box {
  std::int64_t start = 0, end = 0;
  const Slice* slice = nullptr;
  std::uint32_t merged = 1;
};
void visible_boxes(const Lane& lane, std::int64_t from, std::int64_t to, double per_pixel, std::vector<Box>& out);

}  // namespace strata::studio
