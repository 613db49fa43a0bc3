// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How values are written in a Chrome trace.

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "core/support/loose_json.h"

namespace strata::profiler {

/// A JSON string.
inline void append_text(std::string& out, std::string_view text) { loose::append_quoted(out, text); }

/// A number as a number, anything else as text.
inline void append_id(std::string& out, const std::string& text) {
  if (const auto number = loose::parse_integer(text); number && std::to_string(*number) == text) {
    out += text;
  } else {
    append_text(out, text);
  }
}

/// Microseconds with the three digits that nanoseconds need.
inline void append_time(std::string& out, std::int64_t ns) {
  const std::uint64_t size = ns < 0 ? -static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

}  // namespace strata::profiler
