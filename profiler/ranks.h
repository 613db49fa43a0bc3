// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the ranks of a distributed program did not do the same.
///
/// Ranks are compared frame by frame (`file:line:name`; frame numbers differ between processes) and compile by compile.
/// What most ranks did is taken as the rule (with as many on both sides: what the lowest rank did), and each finding
/// names those that did something else.

#include <vector>

#include "core/trace/reader.h"
#include "core/trace/writer.h"

namespace strata::profiler {

/// Findings as diagnostics of kind `rank`, most serious first: title, detail, hint, and the process (and compile) that
/// differs. Found are
/// - two processes that say they are the same rank; ranks that are missing;
/// - frames compiled on some ranks only, compiled more often, to other graphs, with other guards, symbols, graph
/// breaks;
/// - cache hits on some ranks and misses on others; ranks that compile much longer;
/// - collectives in another order or number, compiled and in profiles; ranks that the others wait for.
/// Empty for a trace of one process that misses nobody.
std::vector<trace::DiagnosticRecord> find_rank_differences(trace::Reader& reader);

/// The same, added to the trace that `reader` reads. Returns how many.
std::size_t diagnose_ranks(trace::Reader& reader, trace::Writer& writer);

}  // namespace strata::profiler
