// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The head line of a TORCH_TRACE record: what logging wrote before the JSON object.

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::capture {

/// Local time without a year, as the line says it.
struct LogTime {
  int month = 0, day = 0, hour = 0, minute = 0, second = 0;
  int micros = 0;
};

struct LogHead {
  char level = 0;
  LogTime time;
  std::int64_t ident = 0;  ///< process id; in old logs the id of a thread, larger than 2^32
  std::string_view path;
  std::int64_t source_line = 0;
  std::string_view json;  ///< from `{` to the end of the line
};

/// Whether the line begins `V1121 09:31:15.242000 18173 `.
bool looks_like_log_line(std::string_view line);

/// Splits a head line (without its line end) at the first `:digits] ` that `{` follows, after skipping `skip` such
/// places: a path or the JSON may hold one too, only parsing tells. nullopt when there is none.
std::optional<LogHead> parse_log_head(std::string_view line, int skip = 0);

}  // namespace strata::capture
