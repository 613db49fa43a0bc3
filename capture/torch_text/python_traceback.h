// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Python's tracebacks and stacks as text:
///
///       File "/home/user/app/m.py", line 7, in f
///         return g(x)
///                ^^^^
///
/// Text that is not of this form is skipped; nothing throws.

#include <string>
#include <string_view>
#include <vector>

#include "core/trace/records.h"

namespace strata::capture {

/// The frames of a stack text, in the order they stand (outermost first in a traceback). `used`, if given, gets the
/// number of characters up to the end of the last frame that follows without other text in between: 0 when the text
/// has no frame. Only frames of the first traceback are taken.
std::vector<trace::SourceLocation> parse_python_stack(std::string_view text, std::size_t* used = nullptr);

/// What an exception's text says.
struct PythonError {
  std::string type;                          ///< `torch._dynamo.exc.BackendCompilerFailed`; empty: none found
  std::string message;                       ///< may have several lines; ends before torch's own advice
  std::string advice;                        ///< `Set TORCHDYNAMO_VERBOSE=1 ...`; may be empty
  std::vector<trace::SourceLocation> stack;  ///< where it was raised, outermost first
  std::vector<trace::SourceLocation>
      user_stack;  ///< after `from user code:` or `User stack:`, outermost first; may be empty
};

/// The last exception of a text with one or more chained tracebacks (that is the one that was seen outside).
PythonError parse_python_error(std::string_view text);

}  // namespace strata::capture
