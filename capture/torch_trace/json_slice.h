// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// JSON text that is checked once, quickly, and then taken apart in place: most of a log's JSON is only looked at in a
/// few fields and kept as it stands.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::capture {

/// Whether the text is one JSON value as Python writes it: `NaN`, `Infinity`, large integers, lone surrogates, invalid
/// UTF-8 and duplicate keys are accepted, nesting deeper than 512 is not. Any thread.
bool valid_json(std::string_view text);

/// A value of a text that `valid_json` accepted. Everything here expects such text and gives "nothing" where the value
/// is of another kind.
struct JsonSlice {
  std::string_view text;  ///< without white space around it; empty: no such value

  explicit operator bool() const { return !text.empty(); }
  bool is_null() const { return text == "null"; }
  bool is_string() const { return !text.empty() && text[0] == '"'; }
  bool is_object() const { return !text.empty() && text[0] == '{'; }
  bool is_array() const { return !text.empty() && text[0] == '['; }

  std::vector<std::pair<std::string, JsonSlice>> members() const;  ///< in the order written, duplicates included
  std::vector<JsonSlice> items() const;
  JsonSlice find(std::string_view key) const;  ///< the last member of that name
  std::string string() const;                  ///< decoded; empty when it is no string
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;
  /// A string decoded, any other value as written, null and nothing as empty text.
  std::string words() const;
};

/// The value of a whole text, or nothing when it is not valid.
JsonSlice parse_slice(std::string_view text);

/// Quotes and escapes; bytes above 0x7f pass through.
void append_json_string(std::string& out, std::string_view text);

}  // namespace strata::capture
