// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What can stand on one side of a comparison: a run, a compile, a stage or a rank of a trace.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/reader.h"

namespace strata::studio {

/// A run to compare: an imported profile, all runs of one of our programs, or a single one of them.
struct RunChoice {
  std::string title;
  std::vector<trace::Id> runs;
  std::string label;                 ///< `eager`, `compiled`, or the label of the runs
  bool profile = false;              ///< imported
  bool compiled = false;             ///< of profiles: they show compiled code
  trace::Id compile = trace::kNone;  ///< of our own runs
  bool whole = false;                ///< of our own: all runs of that compile
  bool single = false;               ///< of our own: one of several
  std::int64_t rank = -1;
};

struct CompileChoice {
  trace::CompileRecord record;
  std::string title;                          ///< `0/1 forward, recompiled`
  std::string frame;                          ///< what compiles of one frame share: process, file, line, name
  std::vector<trace::SnapshotRecord> graphs;  ///< stages with nodes
};

struct SideChoices {
  std::vector<RunChoice> runs;
  std::vector<CompileChoice> compiles;  ///< attempts that were started over are left out
  std::vector<std::int64_t> ranks;      ///< ascending, each once
};
SideChoices load_choices(trace::Reader& reader);

/// Which entries of its choices a side shows; -1 none.
struct SideIndex {
  int run = -1, compile = -1, stage = -1, rank = -1;
  bool operator==(const SideIndex&) const = default;
};

/// Pairs that are worth comparing. Of one trace (`same`): its eager and its compiled profile, else its first two
/// groups of runs; compiles of one frame one after the other, `shown` among them if it is one of several, else first
/// and last stage of one compile; the two lowest ranks. Of two traces: what goes by the same name.
std::pair<SideIndex, SideIndex> suggest_sides(const SideChoices& a, const SideChoices& b, bool same, trace::Id shown);
/// The stages that two compiles (indices into choices) are best compared at.
std::pair<int, int> suggest_stages(const SideChoices& a, int compile_a, const SideChoices& b, int compile_b, bool same);

/// Whether one trace has both an eager and a compiled profile.
bool has_eager_and_compiled(trace::Reader& reader);

/// Everything needed to read one side.
struct CompareSide {
  std::shared_ptr<trace::Reader> reader;
  std::optional<RunChoice> run;
  std::optional<CompileChoice> compile;
  trace::Id snapshot = trace::kNone;
  std::string stage;
  std::int64_t rank = -1;
};

/// Where something of a trace is to be found.
struct ComparePlace {
  trace::Id compile = trace::kNone, kernel = trace::kNone;
  trace::NodeId node = 0;
  std::string file;
  std::int64_t line = 0;
  bool any() const { return kernel != trace::kNone || node != 0 || compile != trace::kNone || line > 0; }
};

}  // namespace strata::studio
