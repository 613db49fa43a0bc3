// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Turns what a compile and its runs do into trace records, as they happen.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ir/program.h"
#include "core/runtime/plan.h"
#include "core/trace/writer.h"
#include "passes/pass.h"
#include "passes/schedule.h"

namespace strata {

/// Writes one compile after the other into a trace. Everything is durable when the method that recorded it returns.
class Recorder {
 public:
  /// Creates the file; see trace::Writer for errors. `command` is the command line.
  Recorder(const std::string& path, const std::string& command);
  ~Recorder();

  /// Starts a compile (its address is given out: `0/0`, `1/0`, ...) and records the program's sources and its
  /// `captured` graph.
  void begin_compile(const Program& program, const std::string& backend);
  void pass_done(const PassRun& run, const Graph& graph);
  /// The `scheduled` snapshot: groups, kernels, fusion decisions, buffers, launches; then `loops` as text.
  void scheduled(const Graph& graph, const Scheduled& scheduled);
  /// Code of launch `i`, in order; after the last one the stages `code` and `plan`.
  void code(size_t launch, const std::vector<CodeArtifact>& artifacts);
  void end_compile(const std::string& outcome, const std::string& error, int64_t duration_ns);
  void metric(const std::string& key, double value, const std::string& unit);

  /// One timed run of the present compile.
  void run(const std::string& label, int64_t repeat, int64_t start_ns, int64_t duration_ns,
           const std::vector<LaunchTime>& times);
  /// Arena offsets and sizes once a run has fixed the symbols.
  void memory(const Executor& executor);

  /// Closes the file cleanly.
  void close();
  /// Removes it: for a compile that failed.
  void discard();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata
