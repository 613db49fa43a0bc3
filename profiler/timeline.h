// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An imported profile as a tree: operators as they called each other on the host, what they launched on devices, and
/// the iterations in it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/reader.h"

namespace strata::profiler {

/// An event of a thread. `parent` is the event around it on the same thread.
struct HostEvent {
  enum class Kind : int { Operator = 0, Annotation, Runtime, Python, Other };
  trace::Id id = trace::kNone;
  std::string name;
  Kind kind = Kind::Other;
  std::int64_t start = 0, duration = 0;
  std::int64_t self = 0;  ///< without operators and annotations inside, never negative
  trace::Id track = trace::kNone;
  int parent = -1;
  std::int64_t correlation = 0, external = 0, sequence = -1;
  trace::Id compile = trace::kNone, program = trace::kNone, kernel = trace::kNone;
  trace::Match match = trace::Match::None;
  std::string args;  ///< of operators, JSON; of Python functions where they say the line that called

  std::int64_t end() const { return start + duration; }
};

/// A kernel, copy or fill on a device.
struct DeviceEvent {
  trace::Id id = trace::kNone;
  std::string name, category;
  std::int64_t start = 0, duration = 0;
  trace::Id track = trace::kNone;
  std::int64_t device = -1;
  int launcher = -1;  ///< the call that launched it, or the innermost event with its external number; -1 unknown
  trace::Id compile = trace::kNone, program = trace::kNone, kernel = trace::kNone;
  trace::Match match = trace::Match::None;
  std::string args;

  std::int64_t end() const { return start + duration; }
};

/// One iteration of the program that was profiled.
struct Iteration {
  std::int64_t start = 0, end = 0;  ///< host events that start here belong to it
  std::int64_t duration = 0;        ///< until the host has left it and the devices finished what it launched
};

struct Timeline {
  std::vector<HostEvent> host;      ///< by track, then start, then longest first: parents before children
  std::vector<DeviceEvent> device;  ///< by start
  std::vector<trace::TrackRecord> tracks;
  trace::Id main_track = trace::kNone;  ///< the thread that runs the program, not the autograd thread
  std::vector<Iteration> iterations;    ///< by start; empty: none could be told apart
  std::string iteration_source;         ///< what they were found by: `ProfilerStep`, `annotation 'step'`, ...

  /// The nearest event of this kind at or around `index`; -1 none.
  int enclosing(int index, HostEvent::Kind kind) const;
  /// `index` and everything around it, innermost first.
  std::vector<int> ancestors(int index) const;
  /// The iteration that a time of the main thread falls into; -1 none.
  int iteration_at(std::int64_t time) const;
};

/// Whether the trace holds an imported profile.
bool has_profile(trace::Reader& reader);
/// The runs of a trace that are profiles.
std::vector<trace::RunRecord> profiles_in(trace::Reader& reader);
/// Everything of these runs of one process.
Timeline read_timeline(trace::Reader& reader, const std::vector<trace::RunRecord>& runs);

/// Which profiles of a trace to compare. With several, those that show compiled code (or those that show none) if there
/// are any; then those of the lowest rank. `note` says what was left out; empty when nothing was.
struct ChosenRuns {
  std::vector<trace::RunRecord> runs;
  std::string note;
};
ChosenRuns choose_runs(trace::Reader& reader, bool compiled);

/// Whether a runtime call puts work on a device: launches, copies, fills, graph launches.
bool is_launch_call(std::string_view name);
bool starts_with(std::string_view text, std::string_view prefix);

}  // namespace strata::profiler
