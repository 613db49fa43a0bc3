// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writes what an Inductor program says into a trace.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/import/context.h"
#include "capture/inductor/output_code.h"
#include "capture/inductor/provenance.h"

namespace strata::capture {

/// The graph that a program computes (after post-grad passes), as it is in the trace already.
struct ProgramGraph {
  trace::Id snapshot = trace::kNone;
  std::span<const trace::NodeRecord> nodes;  ///< in program order, as written to the trace; may be empty: unknown
};

struct AddedProgram {
  trace::ProgramRecord program;
  trace::Id scheduled = trace::kNone;  ///< the snapshot `scheduled:ROLE`
  std::vector<trace::Id> kernels;      ///< all kernels of the program
  std::vector<trace::Id> launches;     ///< in order
  std::int64_t loop_launches = 0, loop_without_nodes = 0;
  std::int64_t library_launches = 0, library_without_nodes = 0;
  std::vector<std::string> without_nodes;  ///< callee and line of each launch without nodes
};

/// Writes the program, its kernels, launches, buffers and code, and the snapshots `scheduled:ROLE` (the graph's nodes
/// with `group` set), `code:ROLE` and `plan:ROLE` (texts).
///
/// `program.compile` must be set; `program.role` is taken from the code where it is empty. A program without id is
/// added and listed in `context.programs()`, one with an id is updated. `key` and `path` are kept as given.
///
/// Kernels. One record per library call (`name` and `library` are the callee). A loop kernel is one record, unless
/// launches of the same name compute other nodes (the producer compiles equal code once): then it is one record per
/// launch, same name, and `LaunchRecord::kernel` says which. `exact` is true only where the producer's provenance maps
/// name the nodes. Kernels own their code and, where the producer says it, `stack` (text); the first record of a name
/// owns `meta` and, where known, `autotune` (JSON).
/// Launches without nodes are counted in the result and, when `input` is given, as `launch_without_nodes` problems.
AddedProgram add_output_code(ImportContext& context, trace::ProgramRecord program, std::string_view text,
                             const OutputCode& code, const ProvenanceMaps& maps, const ProgramGraph& graph,
                             trace::Id input = trace::kNone);

}  // namespace strata::capture
