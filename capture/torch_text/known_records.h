// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a trace that is being written holds already, for an importer whose input may tell the same again.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "capture/import/context.h"
#include "capture/torch_text/known_files.h"
#include "core/trace/records.h"

namespace strata::capture {

/// The compiles of a run without their attempts: process, compiled autograd, frame, compile.
struct CompileKey {
  trace::Id process = trace::kNone;
  std::int64_t autograd = -1, frame = -1, number = -1;
  auto operator<=>(const CompileKey&) const = default;
};

CompileKey compile_key(const trace::CompileRecord& compile);

class KnownRecords {
 public:
  /// Commits the writer and reads what it wrote. Cheap when nothing was imported yet.
  explicit KnownRecords(ImportContext& context);

  KnownFiles files;

  /// True when it was not there; it is from now on. Breaks are told apart by compile, place and kind.
  bool add_break(const CompileKey& compile, std::string_view file, std::int64_t line, std::string_view kind);
  /// Whether any break of the compile is at this place.
  bool has_break(const CompileKey& compile, std::string_view file, std::int64_t line) const;
  bool add_recompile(const CompileKey& compile, std::string_view of, std::string_view expression);
  /// Guards come all together: true for the first set of a compile.
  bool add_guards(const CompileKey& compile) { return guards_.insert(compile).second; }
  bool add_symbol(const CompileKey& compile, std::string_view name);
  bool add_assumption(const CompileKey& compile, std::string_view expression);
  bool add_diagnostic(const CompileKey& compile, std::string_view kind, std::string_view title);

  trace::Id frame(trace::Id process, std::int64_t number) const;
  void add_frame(trace::Id process, std::int64_t number, trace::Id id) { frames_[{process, number}] = id; }

  /// Guards of compiles, as read or as added later.
  std::map<trace::Id, std::vector<trace::GuardRecord>> guard_records;

 private:
  using Text = std::pair<CompileKey, std::string>;
  std::map<std::pair<trace::Id, std::int64_t>, trace::Id> frames_;
  std::set<std::tuple<CompileKey, std::string, std::int64_t, std::string>> breaks_;
  std::set<std::tuple<CompileKey, std::string, std::string>> recompiles_;
  std::set<CompileKey> guards_;
  std::set<Text> symbols_, assumptions_, diagnostics_;
};

}  // namespace strata::capture
