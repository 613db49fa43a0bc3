// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which launch of which compiled program an event of an imported profile is.
///
/// Compiled code is found on the host's rows: by the annotation that names the program's key, else by the compile's
/// address, else by the names of its kernels. Inside, operators and launches stand in the order of the program's calls;
/// both sequences are aligned by name, so that a name that occurs several times goes to the right one. Device events
/// belong to the call that launched them. What cannot be assigned is counted by name with the reason.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/reader.h"
#include "core/trace/writer.h"

namespace strata::profiler {

/// Where measured time ended.
enum class TimePart : int {
  Matched = 0,   ///< a launch of a program
  Unmatched,     ///< under compiled code, but no launch could be found for it
  Autotuning,    ///< a kernel of a program, run to choose its configuration
  Optimizer,     ///< under `Optimizer.step` or `zero_grad`
  DataMovement,  ///< copies and fills outside of compiled code
  Eager,         ///< anything else: not compiled
  Compiling      ///< the compiler itself, while the program ran for the first time
};
inline constexpr int kTimeParts = 7;
/// `matched`, `not matched`, `autotuning`, `optimizer`, `data movement`, `eager`, `compiling`.
std::string_view time_part_text(TimePart part);

struct PartTotal {
  std::int64_t count = 0, ns = 0;
};

/// Events of one name that are in no launch.
struct UnassignedEvents {
  TimePart part = TimePart::Unmatched;
  std::string name;
  std::string why;  ///< empty where the part says it all
  std::int64_t count = 0, ns = 0;
};

/// What a profile measured of one program.
struct ProgramMeasured {
  trace::Id compile = trace::kNone, program = trace::kNone;
  std::string address;                ///< `0/0 forward`
  std::int64_t calls = 0;             ///< times it ran
  std::int64_t launches = 0;          ///< launches with measured time, all calls
  PartTotal exact, inferred;          ///< matched time
  PartTotal unmatched;                ///< time under it that is in no launch
  std::int64_t kernels = 0;           ///< its kernels
  std::int64_t kernels_measured = 0;  ///< those with time
  std::string not_measured;           ///< why (some) kernels have no time; empty when all have
};

struct RunCorrelation {
  trace::Id run = trace::kNone;
  bool device = false;  ///< the parts are device time; otherwise the profile has none and they are host operator time
  PartTotal parts[kTimeParts];
  PartTotal without_nodes;                   ///< of the matched: launches of which no graph node is known
  std::vector<UnassignedEvents> unassigned;  ///< greatest time first
  std::vector<ProgramMeasured> programs;     ///< those that ran

  const PartTotal& operator[](TimePart part) const { return parts[static_cast<int>(part)]; }
  std::int64_t total() const;
  /// Of the time under compiled code, the percentage that is matched to graph nodes; -1 when there is none.
  double matched_percent() const;
};

struct CorrelationReport {
  std::vector<RunCorrelation> runs;           ///< one per profile
  std::vector<ProgramMeasured> not_measured;  ///< programs with kernels that no profile shows
};

/// Assigns the events of all profiles in the trace (runs labelled `profile`), and writes for each run an artifact
/// (kind `correlation`, what `read_correlation` reads) and diagnostics of that kind. Everything must have been
/// committed: `reader` reads the file that `writer` writes. `progress` gets 0 to 1 and may throw to cancel.
CorrelationReport correlate(trace::Reader& reader, trace::Writer& writer,
                            const std::function<void(double, std::string_view)>& progress = {});

/// The same without writing, for one run.
RunCorrelation correlate_run(trace::Reader& reader, trace::Id run);

/// The artifact that `correlate` writes of a run, and the reading of one; nothing of artifacts of other kinds.
trace::ArtifactRecord correlation_artifact(const RunCorrelation& correlation);
std::optional<RunCorrelation> correlation_of(const trace::ArtifactRecord& artifact);

/// What `correlate` wrote of a run; nothing when it did not.
std::optional<RunCorrelation> read_correlation(trace::Reader& reader, trace::Id run);

}  // namespace strata::profiler
