// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What happened at lines of source, and Python's bytecode of a compile.

#include <QString>
#include <map>
#include <string>
#include <vector>

#include "app/studio/models/overview.h"
#include "app/studio/models/step.h"

namespace strata::studio {

/// One thing that happened at a line.
struct MarkNote {
  QChar sign;      ///< E error, B break, R compiled again, ! other problem, S specialised or symbolic size, G guard
  QString title;   ///< what happened
  QString detail;  ///< why
  QString hint;    ///< way out
  trace::Id compile = trace::kNone, guard = trace::kNone;
  std::int64_t count = 1;
};

struct SourceMark {
  std::vector<MarkNote> notes;  ///< gravest first
  bool grave = false;
  QString sign() const;  ///< letters, gravest first, with their number: `BG4`
  QString text() const;  ///< what a person is to read
  QString html() const;  ///< the same with links `compile:ID` and `guard:ID`
};

/// By line of the file. `compile` null: only what is of no compile.
std::map<int, SourceMark> source_marks(const TraceData& data, const CompileData* compile, const std::string& file);

/// Python's bytecode of a compile as text, before and after it was compiled, as far as the trace has it. `lines` says
/// of each line of the text (from 1) which line of `file` it belongs to (0: none).
struct Bytecode {
  QString text;
  std::string file;
  std::vector<int> lines;
};
Bytecode load_bytecode(trace::Reader& reader, const trace::CompileRecord& compile);

/// Lines of source that the lines of a disassembly belong to: what stands in front of the first instruction of each.
std::vector<int> bytecode_lines(const QString& text);

}  // namespace strata::studio
