// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines of PyTorch's own log (TORCH_LOGS, and the warnings that show without it):
///
///     [rank0]:V1121 09:27:05.589000 440 torch/_dynamo/guards.py:1743] [0/8] [__recompiles] Recompiling function f ...
///     [2024-01-29 20:00:12,123] [0/1] torch._dynamo.guards.__recompiles: [DEBUG] Recompiling function f ...
///
/// The second form is that of 2.1 and 2.2. A message of several lines repeats its prefix on each.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace strata::capture {

struct LogPrefix {
  char level = 'I';  ///< `V`, `D`, `I`, `W`, `E`, `C`
  std::int64_t rank = -1;
  std::int64_t pid = 0;        ///< 0: not said (a thread number of old versions does not count)
  std::string_view site;       ///< `torch/_dynamo/guards.py:1743`, or the logger's name
  std::string_view artifact;   ///< `__recompiles`; may be empty
  bool compile = false;        ///< the line has a compile id
  std::int64_t autograd = -1;  ///< of compiled autograd; -1 none
  std::int64_t frame = -1, number = -1, attempt = 0;
  std::string_view key;   ///< all of the prefix: equal for the lines of one message
  std::string_view text;  ///< what follows
};

/// The prefix of a line; none when it is not a log line.
std::optional<LogPrefix> parse_log_prefix(std::string_view line);

/// Whether a text looks like a program's output with log lines of PyTorch in it. Records of TORCH_TRACE do not count.
bool has_torch_logs(std::string_view text);

/// A message: the first line's prefix and the text of all its lines.
struct LogMessage {
  LogPrefix prefix;
  std::string text;
  std::int64_t line = 0;  ///< of its first line, from 1
};

/// What a log is made of, in order of first lines.
struct LogVisitor {
  std::function<void(const LogMessage&)> message;
  /// A traceback in the program's output, with the line that follows it.
  std::function<void(std::int64_t rank, std::string text, std::int64_t line)> traceback;
  std::function<void()> output;  ///< another line of the program's output
  std::function<void()> trace;   ///< a record of TORCH_TRACE in between
  std::function<void(double part)> progress;
};

void visit_log(std::string_view text, const LogVisitor& visitor);

}  // namespace strata::capture
