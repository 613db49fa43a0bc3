// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Turns what a compile and its runs do into trace records, as they happen.

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/driver/compile_origin.h"
#include "core/ir/program.h"
#include "core/runtime/plan.h"
#include "core/trace/writer.h"
#include "passes/pass.h"
#include "passes/schedule.h"

namespace strata {

/// Writes compiles and their runs into a trace. Everything is durable when the method that recorded it returns.
///
/// Any thread may call. What is said of "the present compile" is the one that the calling thread began last. After
/// close(), and in a process forked from the one that created it, nothing is recorded any more, silently.
class Recorder {
 public:
  /// Creates the file; see trace::Writer for errors. `command` is the command line.
  Recorder(const std::string& path, const std::string& command);
  ~Recorder();

  /// Starts a compile and records the program's sources and its graph. Without origin its address is given out (`0/0`,
  /// `1/0`, ...) and the graph is `captured`; with one, it has PyTorch's address (`live:0/0` if the origin has none),
  /// Dynamo's graph is `captured` (where the origin has it), and the program's `captured:aten`, with edges between the
  /// two. Sets `origin->recorded`.
  trace::Id begin_compile(const Program& program, const std::string& backend, CompileOrigin* origin = nullptr);
  void pass_done(const PassRun& run, const Graph& graph);
  /// The `scheduled` snapshot: groups, kernels, fusion decisions, buffers, launches; then `loops` as text.
  void scheduled(const Graph& graph, const Scheduled& scheduled);
  /// Code of launch `i`, in order; after the last one the stages `code` and `plan`.
  void code(size_t launch, const std::vector<CodeArtifact>& artifacts);
  /// What code generation did; after the code of all launches.
  void codegen(const CodegenStatistics& statistics);
  void candidates(size_t launch, const std::vector<TuningCandidate>& candidates);
  void end_compile(const std::string& outcome, const std::string& error, int64_t duration_ns);
  void metric(const std::string& key, double value, const std::string& unit);

  /// A graph that the compiler left to PyTorch as a whole: outcome `left` and a diagnostic of that kind. Continues the
  /// compile of the origin if it was begun.
  void left(const std::string& name, const std::string& reason, CompileOrigin& origin);
  /// A program that was compiled before the recording began: its graph and plan, without passes and code.
  trace::Id compiled_before(const Program& program, const std::string& backend, const Plan* plan, CompileOrigin origin);

  /// One timed run of the present compile.
  void run(const std::string& label, int64_t repeat, int64_t start_ns, int64_t duration_ns,
           const std::vector<LaunchTime>& times);
  /// One timed run of a compile that this recorder began; others are ignored.
  void run(trace::Id compile, const std::string& label, int64_t repeat, int64_t start_ns, int64_t duration_ns,
           const std::vector<LaunchTime>& times);
  /// Arena offsets and sizes once a run has fixed the symbols.
  void memory(const Executor& executor);

  /// Adds what PyTorch wrote about the same process: logs of TORCH_TRACE, profiles of torch.profiler. Compiles that
  /// both know become one. What cannot be read is a diagnostic of kind `import`.
  void import(const std::vector<std::filesystem::path>& paths);

  /// Closes the file cleanly.
  void close();
  /// Removes it: for a compile that failed.
  void discard();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata
