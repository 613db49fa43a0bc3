// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graph breaks as PyTorch words them (2.4 to 2.14), in `dynamo_graph_break_reason` records and TORCH_LOGS.
///
///     Graph break in user code at /home/user/app/m.py:12
///     Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):
///
///     Unsupported Tensor.item() call with capture_scalar_outputs=False
///       Explanation: Dynamo does not support ...
///       Hint: Set ...
///
///       Developer debug context: call_method TensorVariable() item () {}
///
///      For more details about this graph break, please visit: https://...
///
///     User code traceback:
///       File "/home/user/app/m.py", line 12, in f
///         n = x.item()

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/records.h"

namespace strata::capture {

struct GraphBreakText {
  std::string file;  ///< where it happened; empty: not said
  std::int64_t line = 0;
  std::string kind;         ///< the class of breaks: `Unsupported Tensor.item() call ...`
  std::string reason;       ///< the reason in one line: `kind` or what older versions say
  std::string preamble;     ///< what was tried: `Encountered graph break when attempting to trace CALL: ...`
  std::string explanation;  ///< may be empty
  std::vector<std::string> hints;
  std::string context;                       ///< the developer's debug context; may be empty
  std::string link;                          ///< a page about it; may be empty
  std::vector<trace::SourceLocation> stack;  ///< user code, outermost first; its last entry is the place
  std::string error;                         ///< the internal traceback behind it; may be empty
};

/// Never fails: text without any known part becomes `reason`.
GraphBreakText parse_graph_break(std::string_view text);

/// The record without id, process, frame, compile, stack and cost. `detail` is `text`.
trace::GraphBreakRecord graph_break_record(const GraphBreakText& parsed, std::string_view text);

}  // namespace strata::capture
