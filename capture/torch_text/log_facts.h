// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What TORCH_LOGS text says, message by message, before any of it is written: messages about one compile are spread
/// over the text, and some repeat others.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/import/context.h"
#include "capture/torch_text/break_reason.h"
#include "capture/torch_text/guard_tree.h"
#include "capture/torch_text/known_records.h"
#include "capture/torch_text/log_prefix.h"
#include "capture/torch_text/recompile_reason.h"
#include "capture/torch_text/shapes.h"

namespace strata::capture {

/// What the log says about one attempt of a compile.
struct LogAttempt {
  std::vector<std::pair<GraphBreakText, std::string>> breaks;  ///< with their text
  std::vector<GraphBreakText> notices;  ///< warnings about breaks, which the breaks themselves may repeat
  std::vector<RecompileText> recompiles;
  std::vector<GuardText> guards;
  std::vector<GuardText> plain_guards;  ///< printed one by one: what there was before the tree
  std::vector<ShapeMessage> symbols;
  std::map<std::string, ShapeMessage> assumptions;  ///< by expression
  double guard_latency_ns = -1;
  std::string function, file;  ///< of the frame
  std::int64_t line = 0;
  bool limit = false;  ///< compiled no more
  bool failed = false;
};

struct LogDiagnostic {
  trace::DiagnosticRecord record;
  CompileKey key;
  std::int64_t attempt = 0;
  std::vector<trace::SourceLocation> stack;
};

/// An attempt of a compile.
using AttemptKey = std::pair<CompileKey, std::int64_t>;

class LogFacts {
 public:
  /// Messages are counted in `input`; unknown ones become raw records of the source `name`. Paths that messages show in
  /// full go to `files`.
  LogFacts(ImportContext& context, KnownFiles& files, trace::Id input, std::string name)
      : context_(context), files_(files), input_(input), name_(std::move(name)) {}

  void message(const LogMessage& m);
  /// A traceback in the program's output.
  void traceback(std::int64_t rank, const std::string& text, std::int64_t line);

  std::int64_t messages = 0;
  trace::Id process = trace::kNone;  ///< of the last message
  std::map<AttemptKey, LogAttempt> attempts;
  std::vector<LogDiagnostic> diagnostics;

 private:
  using Severity = trace::DiagnosticRecord::Severity;

  CompileKey key_of(const LogMessage& m);
  LogAttempt& attempt(const LogMessage& m);
  void breaks(const LogMessage& m);
  void recompiles(const LogMessage& m);
  void guards(const LogMessage& m);
  void limit(const LogMessage& m);
  void error(const LogMessage& m);
  void warning(const LogMessage& m);
  bool shapes(const LogMessage& m);
  static void assume(LogAttempt& to, ShapeMessage shape);
  void raw(const LogMessage& m);
  LogDiagnostic& diagnostic(const LogMessage& m, Severity severity, std::string_view kind, std::string title);
  trace::Id process_of_rank(std::int64_t rank) const;

  ImportContext& context_;
  KnownFiles& files_;
  trace::Id input_;
  std::string name_;
};

}  // namespace strata::capture
