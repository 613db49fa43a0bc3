// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the importers of one `strata import` share: the trace that is written, the processes, source lines and compiles
/// found so far, what could not be used, progress and cancellation.
///
/// One thread at a time: an importer may parse on many threads, but talks to the context from one.

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/writer.h"

namespace strata::capture {

/// Thrown by `ImportContext::progress` when the user asked to stop.
struct ImportCancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

/// A compile in the trace, as later inputs find it again.
struct ImportedCompile {
  trace::CompileRecord record;
  trace::Id input = trace::kNone;
};

/// A program in the trace with what a profile or another input can recognise it by.
struct ImportedProgram {
  trace::ProgramRecord record;
  std::string aot_id;     ///< `0_forward`, from the first line of the output code
  std::string code_hash;  ///< MD5 of the output code, 32 hex digits; empty without code
};

/// A compile that the trace had before the import, as its recorder left it.
struct AdoptedCompile {
  trace::CompileRecord record;
  trace::Id captured = trace::kNone;  ///< the snapshot that holds Dynamo's graph, its nodes numbered from kTorchNodes
};

/// Where numbers of nodes of PyTorch's graphs begin in compiles that have nodes of another producer too.
inline constexpr trace::NodeId kTorchNodes = trace::NodeId{1} << 32;

class ImportContext {
 public:
  /// Called with the part of the current work that is done, 0 to 1, and what it is; returns false to cancel.
  using Progress = std::function<bool(double part, std::string_view what)>;

  explicit ImportContext(trace::Writer& writer, Progress progress = {});

  trace::Writer& writer() { return writer_; }

  /// The process with this pid and rank, added when it is new. A rank of -1 is not known (yet): it matches a process
  /// with the same pid and any rank. When a rank becomes known later the record is updated. pid 0: unknown; such
  /// processes are told apart by rank alone.
  trace::Id process(std::int64_t pid, std::int64_t rank);
  const std::vector<trace::ProcessRecord>& processes() const { return processes_; }
  void update(const trace::ProcessRecord& process);

  /// What is in the trace already. Before anything is imported.
  void adopt(const trace::ProcessRecord& process) { processes_.push_back(process); }
  void adopt(AdoptedCompile compile) { adopted_.push_back(std::move(compile)); }
  const std::vector<AdoptedCompile>& adopted() const { return adopted_; }

  /// Adds an input; `counts` is filled in by `finish_input`.
  trace::Id add_input(const trace::InputRecord& input);
  /// Counts records of a kind that were read.
  void count(trace::Id input, std::string_view kind, std::int64_t number = 1);
  /// Something in the input that could not be used: counted as `problem.KIND`; the first hundred of a kind and input
  /// are kept as diagnostics with their line (from 1; 0 unknown).
  void problem(trace::Id input, std::string_view kind, std::int64_t line, std::string_view message);
  /// Writes the counts. `process` and `producer` replace those of the record where they are not empty.
  void finish_input(trace::Id input, trace::Id process = trace::kNone, std::string_view producer = {});
  const std::vector<trace::InputRecord>& inputs() const { return inputs_; }
  std::int64_t counted(trace::Id input, std::string_view kind) const;

  /// A line of source that some record shows. Written by `finish` as excerpts.
  void source_line(std::string_view file, std::int64_t line, std::string_view text);

  /// Reports progress. Throws ImportCancelled when the user asked to stop.
  void progress(double part, std::string_view what);

  std::vector<ImportedCompile>& compiles() { return compiles_; }
  std::vector<ImportedProgram>& programs() { return programs_; }

  /// Writes what was collected (source excerpts, counts of inputs not finished). Call once, after all inputs.
  void finish();

 private:
  trace::Writer& writer_;
  Progress progress_;
  std::vector<trace::ProcessRecord> processes_;
  std::vector<trace::InputRecord> inputs_;
  std::map<trace::Id, std::map<std::string, std::int64_t, std::less<>>> counts_;
  std::map<std::string, std::map<std::int64_t, std::string>, std::less<>> source_lines_;
  std::vector<AdoptedCompile> adopted_;
  std::vector<ImportedCompile> compiles_;
  std::vector<ImportedProgram> programs_;
};

}  // namespace strata::capture
