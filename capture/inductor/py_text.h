// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small readers of generated Python (and C++) text. They never fail: text that is cut off is taken to end where it
/// ends. Views refer to the text that was given.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::capture::py {

std::string_view trim(std::string_view text);
bool is_name_char(char c);
/// Whether the whole text is one identifier.
bool is_name(std::string_view text);
/// `[-]digits`.
std::optional<std::int64_t> integer(std::string_view text);

/// Lines without their ends. `first_line` counts are from 0.
std::vector<std::string_view> lines(std::string_view text);

/// Where the string literal that starts at `at` (a quote) ends: the index after its closing quotes, or the text's end.
size_t skip_string(std::string_view text, size_t at);

/// Index of the bracket that closes the one at `open`, or npos.
size_t closing(std::string_view text, size_t open);

/// How many brackets are open at the end of `text`; comments end it.
int open_brackets(std::string_view text);

/// The parts between `separator`s that stand in no bracket and no string, trimmed; an empty last part is dropped.
std::vector<std::string_view> split(std::string_view text, char separator = ',');

/// The items of a bracketed list: `(a, b, )` gives a and b; text without brackets is one item.
std::vector<std::string_view> items(std::string_view text);

/// Index of the first `=` that assigns (not ==, <=, keyword arguments in brackets), or npos.
size_t assignment(std::string_view text);

/// The text without the comment at its end.
std::string_view without_comment(std::string_view line);

/// What stands after `'key':` in the text of a dict, up to the comma or bracket that ends it.
std::optional<std::string_view> dict_value(std::string_view dict, std::string_view key);
/// The pairs of a dict literal, keys without quotes.
std::vector<std::pair<std::string_view, std::string_view>> dict_items(std::string_view dict);

/// A string literal's content without quotes and prefix, escapes as they stand; other text as it is.
std::string_view unquote(std::string_view text);

/// Calls `visit(name)` for each identifier that is not an attribute (after a dot) and not in a string.
template <typename Visit>
void each_name(std::string_view text, Visit&& visit) {
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = skip_string(text, i);
    } else if (is_name_char(c)) {
      size_t end = i;
      while (end < text.size() && is_name_char(text[end])) ++end;
      const bool attribute = i > 0 && text[i - 1] == '.';
      if (!attribute && (c < '0' || c > '9')) visit(text.substr(i, end - i));
      i = end;
    } else {
      ++i;
    }
  }
}

}  // namespace strata::capture::py
