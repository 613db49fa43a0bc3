// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything that was timed in a trace, as rows of slices for painting: threads, device streams, compile timelines.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/support/clamped.h"
#include "core/trace/reader.h"

namespace strata::studio {

/// One timed event. Times are nanoseconds since `Timeline::origin`.
struct Slice {
  std::int64_t start = 0, duration = 0;
  trace::Id event = trace::kNone;  ///< negative: no event but the pass of this number
  trace::Id kernel = trace::kNone, launch = trace::kNone;
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
  std::int64_t device_number = -1;
  trace::Id process = trace::kNone;
  std::vector<Lane> lanes;
};

/// Where a slice stands.
struct SlicePlace {
  std::uint32_t track = 0, lane = 0, index = 0;
  bool operator==(const SlicePlace&) const = default;
};

/// `to` followed from `from`: device work from the call that launched it, or a backward operator from its forward one.
struct TimelineFlow {
  SlicePlace from, to;
  std::int64_t start = 0, end = 0;  ///< begins of the two, the earlier first
  bool backward = false;            ///< from forward to backward
};

/// The begin of an iteration (`ProfilerStep#3`) or of a run.
struct TimelineMarker {
  std::int64_t time = 0;
  std::string name;
};

struct TimelineKernel {
  trace::Id compile = trace::kNone;
  std::string name, module;  ///< module of its first node that has one
};

struct Timeline {
  std::int64_t origin = 0;    ///< nanoseconds in the clock of the events
  std::int64_t duration = 0;  ///< from `origin` to the last end
  std::vector<std::string> names;
  std::vector<std::size_t> name_counts;  ///< slices of each name
  std::vector<TimelineTrack> tracks;
  std::size_t slices = 0;
  std::vector<TimelineFlow> flows;  ///< by start
  std::vector<TimelineMarker> markers;
  std::unordered_map<trace::Id, TimelineKernel> kernels;
  std::vector<std::pair<trace::Id, SlicePlace>> by_event;           ///< sorted
  std::vector<std::pair<std::int64_t, SlicePlace>> by_correlation;  ///< sorted; slices that have one
  std::vector<std::pair<trace::Id, SlicePlace>> by_kernel;          ///< sorted; slices that have one

  const std::string& name(const Slice& slice) const { return names[slice.name]; }
  const std::string& category(const Slice& slice) const { return names[slice.category]; }
  const Slice& at(const SlicePlace& place) const { return tracks[place.track].lanes[place.lane][place.index]; }
  /// Null if there is none.
  const SlicePlace* find(trace::Id event) const;
  /// Flows that begin or end at this slice.
  std::vector<TimelineFlow> flows_of(const SlicePlace& place) const;
  /// The slices of a kernel; with a launch only those of that launch (all where none says its launch).
  std::vector<SlicePlace> slices_of(trace::Id kernel, trace::Id launch = trace::kNone) const;
};
using TimelinePtr = std::shared_ptr<const Timeline>;

/// The runs that can be shown: those with events of one clock, `compile` runs last, then the passes of compiles.
struct TimelineRun {
  trace::RunRecord run;
  std::string title;  ///< `profile of rank 0`, `strata, 30 runs`
  std::vector<trace::Id> runs;
  trace::Id passes_of = trace::kNone;  ///< a compile whose passes are shown; `runs` is empty
};
std::vector<TimelineRun> timeline_runs(trace::Reader& reader);

/// Reads the events of these runs. `cancelled` is asked now and then; true gives an empty timeline.
TimelinePtr load_timeline(trace::Reader& reader, const std::vector<trace::Id>& runs,
                          const std::function<bool()>& cancelled = {});
/// The passes of a compile, one after the other; where they say when they began, then.
TimelinePtr load_passes(trace::Reader& reader, trace::Id compile);
/// Either of the two.
TimelinePtr load_run(trace::Reader& reader, const TimelineRun& run, const std::function<bool()>& cancelled = {});

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

/// Time by name between two times: of the slices that touch the span, what lies in it.
struct RangeSum {
  std::uint32_t name = 0, category = 0;
  bool device = false;
  std::size_t count = 0;
  std::int64_t total = 0, longest = 0;  ///< within the span
  std::int64_t self = 0;                ///< of `total`, what no slice inside them covers
  trace::Id event = trace::kNone;       ///< the longest
};
/// Greatest time of its own first.
std::vector<RangeSum> sum_range(const Timeline& timeline, std::int64_t from, std::int64_t to);

}  // namespace strata::studio
