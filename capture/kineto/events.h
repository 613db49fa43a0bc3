// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From the text of events to records that lack only what takes the whole file: the ids of run and track, the base of
/// the time. Blocks are independent of each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/kineto/splitter.h"
#include "core/trace/records.h"

namespace strata::capture::kineto {

/// A row as one block knows it.
struct LocalTrack {
  std::string pid, tid;
  std::int64_t device = -1, stream = -1;
  bool on_device = false, on_host = false;
};

/// One end of an arrow.
struct FlowEnd {
  std::string category;
  std::int64_t id = 0;
  std::int64_t time = 0;
  std::int32_t track = 0;
  bool start = false;
};

/// Names of processes and threads (phase M).
struct NameEvent {
  std::string name, pid, tid, value;
};

struct EventCount {
  std::string phase, category;
  std::int64_t number = 0;
};

/// The records of a block. In `events`, `track` is an index into `tracks`, `run` none, `start_ns` without the base.
struct ParsedBlock {
  std::vector<trace::EventRecord> events;
  std::vector<LocalTrack> tracks;
  std::vector<FlowEnd> flows;
  std::vector<std::int64_t> launch_starts, launch_ends;  ///< ids of `ac2g` arrows
  std::vector<NameEvent> names;
  std::vector<EventCount> counts;
  std::vector<Problem> problems;
  double part = 0;
  std::optional<std::int64_t> base;
};

ParsedBlock parse_block(const Block& block);

}  // namespace strata::capture::kineto
