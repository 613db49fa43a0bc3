// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Guards as PyTorch prints them: the tree of `dynamo_cpp_guards_str` records and of TORCH_LOGS=guards, and single
/// conditions (`dynamo_guards` records, recompile reasons).
///
///     TREE_GUARD_MANAGER:
///     +- RootGuardManager
///     | +- GuardManager: source=L['n'], accessed_by=FrameLocalsGuardAccessor(key='n', ...), type=<class 'int'>
///     | | +- EQUALS_MATCH: L['n'] == 2          # y = x * n  # ome/user/app/m.py:7 in f
///     Guard latency = 12.34 us
///
/// Managers are interior nodes, leaves are the guards. Malformed text is never an error: what is no leaf is skipped.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/torch_text/known_files.h"
#include "core/trace/records.h"

namespace strata::capture {

/// One condition.
struct GuardText {
  std::string kind;       ///< `EQUALS_MATCH`; guessed from the code where the text does not say it, else empty
  std::string code;       ///< `L['n'] == 2`, without comments; may have several lines
  std::string source;     ///< what it looks at: `L['n']`; empty: the global state
  std::string type;       ///< `<class 'int'>`: what `source` was when it was guarded; may be empty
  std::string line_text;  ///< the code of the line that made the assumption; may be empty
  std::string file;       ///< its file, as printed (cut at the front); may be empty
  std::int64_t line = 0;
  std::string function;
  std::string hint;            ///< `type int`, from `(HINT: type int)`
  std::string note;            ///< other words after the place, e.g. about 0/1 specialisation
  std::string path;            ///< managers above it, outermost first, joined by ` > `
  std::string detail;          ///< the text as it stands, without the tree's lines
  std::int64_t text_line = 0;  ///< line in the parsed text, from 1
  bool repeated = false;       ///< a guard over several values (`NO_TENSOR_ALIASING`), listed again without its code
};

struct GuardTree {
  std::vector<GuardText> guards;  ///< the leaves, in order
  std::int64_t managers = 0;
  double latency_ns = -1;  ///< of one evaluation of all of them; -1 unknown
};

/// Parses a tree. Text around it is skipped. Leaves that are listed again (`repeated`) get the code of the first.
GuardTree parse_guard_tree(std::string_view text);

/// One condition with its comments: `L['n'] == 2   # y = x * n  # m.py:7 in f (HINT: type int)`.
GuardText parse_guard_code(std::string_view text);

/// `TENSOR_MATCH` for `check_tensor(...)` and so on; empty when the code does not tell.
std::string guess_guard_kind(std::string_view code);

/// The first value that a condition looks at: `L['x'].size()[0]` in `2 <= L['x'].size()[0]`. May be empty.
std::string guarded_source(std::string_view code);

/// The line that made the assumption; empty file: unknown. The path is completed from `files`.
trace::SourceLocation guard_location(const GuardText& guard, const KnownFiles& files);

/// The record without id, compile and stack.
trace::GuardRecord guard_record(const GuardText& guard);

}  // namespace strata::capture
