// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The import of one log: takes the prepared records in order and writes them. Internal; see torch_trace.h.

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/inductor/program.h"
#include "capture/torch_text/known_files.h"
#include "capture/torch_text/recompile_reason.h"
#include "capture/torch_trace/log_clock.h"
#include "capture/torch_trace/log_prepared.h"
#include "capture/torch_trace/torch_trace.h"

namespace strata::capture::detail {

struct TimeSpan {
  std::int64_t start_ns = -1, duration_ns = -1;
};

/// Output code whose program is written once everything that belongs to it has been read.
struct PendingProgram {
  trace::ProgramRecord program;
  std::string text, hash;
  std::unique_ptr<OutputCode> code;
  trace::Id graph = trace::kNone;  ///< the graph that it computes
  std::string mappings, stacks, post_nodes, pre_nodes, triton;
};

/// What is known of an attempt while its records are read.
struct AttemptState {
  trace::CompileRecord record;
  const AdoptedCompile* adopted = nullptr;  ///< the same compile, as the trace has it from another producer
  trace::Id captured = trace::kNone;        ///< the snapshot of Dynamo's graph that the trace has already
  std::unique_ptr<GraphImporter> graphs;
  std::vector<std::string> sources;            ///< of described tensors
  std::map<std::int64_t, trace::Id> programs;  ///< by the record of their output code
  std::map<std::int64_t, trace::Id> program_graphs;
  std::unique_ptr<PendingProgram> pending;
  std::vector<trace::GuardRecord> guards;
  std::vector<ObservedValue> values;
  std::vector<std::size_t> tensors;  ///< records that describe the inputs
  std::string expressions;           ///< `expression_created` records, as the items of a JSON list
  TimeSpan span;                     ///< from the timeline
  std::size_t left = 0;              ///< records that have not been read
  std::size_t graph_bytes = 0;       ///< of the texts of its graphs
};

struct CompileState {
  trace::Id process = trace::kNone, frame = trace::kNone;
  std::string function;
  std::vector<AttemptState> attempts;
  std::unique_ptr<MetricsText> metrics;  ///< of the (forward) compile
  TimeSpan span;                         ///< from the timeline
  std::int64_t backward_ns = -1;
  std::string error;
  bool started = false, has_graph = false;
};

struct BreakState {
  trace::GraphBreakRecord record;
  std::string file;
  std::int64_t line = 0;
  std::vector<trace::SourceLocation> stack;
  int compile = kNoIndex, attempt = kNoIndex;

  /// Whether the line is that of the break or of a call that led to it.
  bool is_at(std::int64_t number) const {
    if (line == number) return true;
    return std::any_of(stack.begin(), stack.end(), [&](const auto& l) { return l.line == number; });
  }
};

struct RecompileState {
  RecompileText text;
  int compile = kNoIndex, attempt = kNoIndex;
};

class LogImport {
 public:
  LogImport(ImportContext& context, LogFile file, const std::filesystem::path& name, std::int64_t file_time_ns,
            const TorchTraceOptions& options);
  trace::Id run();

 private:
  struct OpenSpan {
    std::size_t record = 0;
    std::unique_ptr<EventText> event;
  };
  struct ProcessState {
    trace::Id id = trace::kNone, track = trace::kNone, worker_track = trace::kNone;
    std::map<int, std::vector<OpenSpan>> open;  ///< by compile
  };

  // log_import.cpp: what the log is about, the loop, the end.
  void find_clock();
  void add_processes();
  void add_compiles();
  const AdoptedCompile* adopted(const LogAttempt& attempt) const;
  trace::Id frame_of(CompileState& state, const LogCompile& compile);
  std::string address_prefix(const LogCompile& compile) const;
  void take(std::size_t i, PreparedRecord& prepared);
  void finish_attempt(AttemptState& attempt);
  void finish_compiles();
  void finish_times(const LogCompile& compile, CompileState& state);
  void finish_outcome(std::size_t index, CompileState& state);
  void finish();
  std::string producer() const;

  // log_import_text.cpp: records that are text and numbers.
  void take_start(std::size_t i);
  void take_break(std::size_t i, const PreparedRecord& prepared);
  void take_recompile(std::size_t i, const PreparedRecord& prepared);
  void take_guards(std::size_t i, const PreparedRecord& prepared);
  void take_guard_list(std::size_t i, const PreparedRecord& prepared);
  void take_metrics(std::size_t i, PreparedRecord& prepared);
  void take_error(std::size_t i, const PreparedRecord& prepared);
  void take_cache(std::size_t i, const PreparedRecord& prepared);
  void take_symbol(std::size_t i);
  void take_assumption(std::size_t i);
  void take_expression(std::size_t i);
  void take_note(std::size_t i);
  void take_version(std::size_t i, const PreparedRecord& prepared);
  void take_unknown(std::size_t i, const PreparedRecord& prepared);
  void keep(std::size_t i, const PreparedRecord& prepared);
  void write_tensors(AttemptState& attempt);
  void write_expressions(AttemptState& attempt);
  void finish_breaks();
  std::vector<std::string> restart_reasons(std::size_t compile) const;
  void finish_recompiles();
  void finish_restarts();

  // log_import_graphs.cpp
  void take_graph(std::size_t i, PreparedRecord& prepared);
  void take_code(std::size_t i, PreparedRecord& prepared);
  void take_program_text(std::size_t i, const PreparedRecord& prepared);
  void write_program(AttemptState& attempt);
  trace::Id program_of(AttemptState& attempt, const LogPlace& place);

  // log_import_events.cpp
  void take_event(std::size_t i, PreparedRecord& prepared);
  void end_span(ProcessState& process, std::size_t i, std::unique_ptr<EventText> event);
  void add_event(ProcessState& process, std::size_t record, EventText& event, std::string_view phase,
                 std::int64_t duration_ns);
  void note_span(std::size_t record, const EventText& event, std::int64_t duration_ns);
  trace::Id track_of(ProcessState& process, std::size_t record);
  void flush_events();
  void finish_events();

  // Common.
  const LogRecord& record(std::size_t i) const { return file_.records()[i]; }
  const LogPlace& place(std::size_t i) const { return structure_.places[i]; }
  CompileState* compile_of(std::size_t i);
  AttemptState* attempt_of(std::size_t i);
  const AttemptState& attempt_of(int compile, int attempt) const {
    return compiles_[static_cast<std::size_t>(compile)].attempts[static_cast<std::size_t>(attempt)];
  }
  trace::Id compile_id_of(std::size_t i);
  ProcessState& process_of(std::int64_t ident);
  trace::Owner owner_of(std::size_t i);
  std::vector<trace::SourceLocation> frames_of(std::size_t i, JsonSlice list);
  /// The user's stack of a record's metadata, else the whole one.
  trace::Id stack_of(std::size_t i);
  trace::Id stack(const std::vector<trace::SourceLocation>& locations);
  std::int64_t total_ns(const CompileState& state) const;
  void artifact(const trace::Owner& owner, std::string_view kind, std::string_view name,
                const trace::PackedContent& content);
  trace::DiagnosticRecord diagnostic(std::size_t i, trace::DiagnosticRecord::Severity severity, std::string_view kind,
                                     std::string title);
  /// Destroys what is large away from this thread.
  void discard(std::shared_ptr<void> what);
  trace::Writer& writer() { return context_.writer(); }

  ImportContext& context_;
  LogFile file_;
  std::filesystem::path name_;
  std::int64_t file_time_ns_;
  TorchTraceOptions options_;
  LogStructure structure_;
  LogClock clock_;
  trace::Id input_ = trace::kNone;
  KnownFiles files_;
  std::map<std::int64_t, ProcessState> processes_;                                 ///< by pid
  std::map<std::int64_t, std::int64_t> ranks_;                                     ///< by pid
  std::map<std::tuple<trace::Id, std::int64_t, int>, trace::FrameRecord> frames_;  ///< process, number, round
  std::vector<CompileState> compiles_;                                             ///< as in structure_
  std::vector<BreakState> breaks_;
  std::vector<RecompileState> recompiles_;
  std::map<std::string, std::string> versions_;
  std::map<std::string, std::int64_t> counts_;
  std::int64_t last_start_ = -1;  ///< record of the last dynamo_start
  trace::RunRecord run_;
  std::int64_t run_end_ns_ = -1;
  std::vector<std::future<void>> discarded_;
  std::vector<trace::EventRecord> events_;
  std::vector<std::pair<std::size_t, std::unique_ptr<trace::PackedContent>>> event_args_;  ///< index into events_
};

}  // namespace strata::capture::detail
