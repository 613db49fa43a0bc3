// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a whole trace says, before anything is selected: what ran, what was compiled and why again, where time went,
/// and what is most worth mending.

#include <QString>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/studio/models/table_model.h"
#include "core/trace/reader.h"

namespace strata::studio {

/// Something to look at, with where it is.
struct Finding {
  enum class Kind { Break, Recompile, Error, Cache, CudaGraph, Rank, Kernel, Opaque, Other };
  Kind kind = Kind::Other;
  std::string title;       ///< one line: what happened
  std::string detail;      ///< why
  std::string hint;        ///< way out
  std::int64_t count = 1;  ///< how often
  double cost_ns = -1;     ///< compile or run time that it cost; -1 unknown
  trace::Id compile = trace::kNone;
  trace::Id kernel = trace::kNone;
  std::string file;  ///< the user's line, empty if unknown
  std::int64_t line = 0;
  std::string code;  ///< its text
};

struct TraceData {
  std::map<std::string, std::string> properties;
  std::vector<trace::ProcessRecord> processes;
  std::vector<trace::FrameRecord> frames;
  std::vector<trace::CompileRecord> compiles;
  std::vector<trace::GraphBreakRecord> breaks;
  std::vector<trace::RecompileRecord> recompiles;
  std::vector<trace::DiagnosticRecord> diagnostics;
  std::vector<trace::InputRecord> inputs;
  std::vector<trace::RunRecord> runs;
  bool eager_and_compiled = false;            ///< profiles of both are there
  std::vector<std::string> source_paths;      ///< of files and excerpts in the trace, and of places that records name
  std::map<trace::Id, std::int64_t> guards;   ///< number per compile
  std::map<trace::Id, std::int64_t> kernels;  ///< number per compile
  std::map<trace::Id, trace::SourceLocation> places;  ///< the user's line of each stack that a record above has
  std::vector<Finding> findings;  ///< costliest first; those without a known cost after, errors before others

  /// Compiles that are there because guards of earlier ones failed.
  std::size_t recompiled() const;
  const trace::CompileRecord* compile(trace::Id id) const;
  /// Name and place of the frame a compile belongs to.
  std::string frame_title(const trace::CompileRecord& compile) const;
};
using TraceDataPtr = std::shared_ptr<const TraceData>;

TraceDataPtr load_trace_data(trace::Reader& reader);

/// The innermost line of a stack that is the user's own and not inside PyTorch; the innermost if all are; nothing for
/// an empty stack.
std::optional<trace::SourceLocation> user_line(const std::vector<trace::SourceLocation>& stack);

/// The page. Links are `compile:ID`, `kernel:COMPILE:ID`, `line:LINE:FILE` and `view:NAME`.
QString overview_html(const TraceData& data, bool dark);

/// All findings as rows: What, Times, Cost, Where, Reason, Way out.
QStringList finding_headers();
std::vector<TableRow> finding_rows(const TraceData& data);

/// Guards of one compile: Kind, Condition, Looks at, Line, Checks, Failures, Cost, What to change (where one failed).
QStringList guard_headers();
std::vector<TableRow> guard_rows(const std::vector<trace::GuardRecord>& guards,
                                 const std::map<trace::Id, trace::SourceLocation>& places,
                                 const std::vector<trace::RecompileRecord>& recompiles);

/// The compiles of the frame that a compile belongs to, first to last, with what failed before each: Compile, Outcome,
/// Time, Guard that failed, Expected, Found, Line, What to change.
QStringList chain_headers();
std::vector<TableRow> chain_rows(const TraceData& data, const trace::CompileRecord& compile);

}  // namespace strata::studio
