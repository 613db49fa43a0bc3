// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which records of a log belong to which compile, attempt and program.
///
/// Records are grouped by what they say, never by where they stand: nested compiles and several processes interleave.
/// A record without attempt belongs to the last attempt of its compile.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/torch_trace/log_file.h"
#include "capture/torch_trace/log_kinds.h"

namespace strata::capture {

inline constexpr int kNoIndex = -1;

struct LogAttempt {
  std::int64_t number = 0;
  std::vector<std::size_t> records;  ///< in order of the file
};

struct LogCompile {
  std::int64_t pid = 0;  ///< 0: not known (logs that name threads)
  std::string id;        ///< `0/1`, `!2/0/1`
  std::optional<std::int64_t> frame, compile;
  std::string autograd;
  int round = 0;                     ///< how often PyTorch had begun to count anew: torch._dynamo.reset()
  std::vector<LogAttempt> attempts;  ///< ascending
};

/// What is known of a record beside the record.
struct LogPlace {
  RecordClass what;
  int compile = kNoIndex, attempt = kNoIndex;  ///< indices
  std::string role;                            ///< of graphs and output code
  std::int64_t code = kNoIndex;                ///< of graphs: the record of the output code they became
};

struct LogStructure {
  std::vector<LogPlace> places;      ///< one per record
  std::vector<LogCompile> compiles;  ///< in order of appearance
};

LogStructure structure_of(const LogFile& file);

/// The process that a line's number names; 0 when it is a thread's.
std::int64_t pid_of(std::int64_t ident);

}  // namespace strata::capture
