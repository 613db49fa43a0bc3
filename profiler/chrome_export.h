// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writes the events of a trace as a Chrome trace: a JSON object as Kineto writes it, which Perfetto, chrome://tracing
/// and the TensorBoard profiler plugin load, and `strata import` too.
///
/// Members: the metadata of the (first) imported profile, `displayTimeUnit`, `baseTimeNanoseconds`, `traceEvents`.
///  - Events of imported profiles stand in their rows, with what the profiler said of them in `args`. Imported again
///    they give the same events. What they were matched to is added as `strata.graph`, `strata.kernel`, `strata.match`.
///  - Events of our own runs stand in rows of their process and thread; passes of our own compiles in a row per graph.
///  - Arrows: `ac2g` from a call to what it launched (equal correlation), others from the flow records.
///
/// Times count from `baseTimeNanoseconds`. Runs on another clock than Unix begin there too; when there are no others,
/// their times stay as they are and `clockDomain` says `steady` instead of a base.

#include <filesystem>
#include <functional>
#include <ostream>

#include "core/trace/reader.h"

namespace strata::profiler {

struct ChromeExportOptions {
  trace::Id run = trace::kNone;  ///< only the events of this run; none: everything
  /// Called with the part that is done, 0 to 1; returns false to stop.
  std::function<bool(double)> progress;
};

struct ChromeExportResult {
  std::int64_t events = 0;  ///< slices, instants, counters
  std::int64_t flows = 0;   ///< arrows
  bool complete = true;     ///< false: `progress` stopped it
};

/// Memory does not grow with the number of events but for 16 bytes per launch. Throws Runtime when the stream fails.
ChromeExportResult write_chrome_trace(trace::Reader& reader, std::ostream& out,
                                      const ChromeExportOptions& options = {});

/// The same into a file, which appears only when it is complete. Throws User when it cannot be written.
ChromeExportResult write_chrome_trace(trace::Reader& reader, const std::filesystem::path& path,
                                      const ChromeExportOptions& options = {});

}  // namespace strata::profiler
