// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/text_scan.h"

#include <charconv>

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;

/// The position after the string literal that begins at `at`, or `at` + 1 when it does not close.
std::size_t after_string(std::string_view code, std::size_t at) {
  const char quote = code[at];
  for (std::size_t i = at + 1; i < code.size(); ++i) {
    if (code[i] == '\\') {
      ++i;
    } else if (code[i] == quote) {
      return i + 1;
    }
  }
  return at + 1;
}

/// Quotes that may stay open in a text before they are all taken as plain characters: looking for each one's end would
/// take quadratic time.
constexpr int kMaxOpenQuotes = 64;
/// Longer paths are not paths.
constexpr std::size_t kMaxPath = 4096;

std::size_t find_code(std::string_view code, std::string_view needle, std::size_t from, bool brackets) {
  int depth = 0, open_quotes = 0;
  for (std::size_t i = from; i < code.size();) {
    if (depth == 0 && code.substr(i, needle.size()) == needle) return i;
    const char c = code[i];
    if ((c == '"' || c == '\'') && open_quotes < kMaxOpenQuotes) {
      const std::size_t end = after_string(code, i);
      if (end == i + 1) ++open_quotes;
      i = end;
      continue;
    }
    if (brackets && (c == '(' || c == '[' || c == '{')) ++depth;
    if (brackets && depth > 0 && (c == ')' || c == ']' || c == '}')) --depth;
    ++i;
  }
  return kNowhere;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

}  // namespace

std::vector<std::string_view> text_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    if (end == kNowhere) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string_view trim_right(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return trim_right(text);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t find_outside_quotes(std::string_view code, std::string_view needle, std::size_t from) {
  return find_code(code, needle, from, true);
}

std::size_t find_outside_strings(std::string_view code, std::string_view needle, std::size_t from) {
  return find_code(code, needle, from, false);
}

std::optional<PlaceText> leading_place(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon < kMaxPath; colon = text.find(':', colon + 1)) {
    std::size_t end = colon + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const auto line = whole_number(text.substr(colon + 1, end - colon - 1));
    if (!line || colon == 0 || text.substr(end, 4) != " in ") continue;
    const std::size_t name = end + 4;
    std::size_t stop = name;
    while (stop < text.size() && !is_space(text[stop])) ++stop;
    if (stop == name) continue;
    return PlaceText{std::string(text.substr(0, colon)), *line, std::string(text.substr(name, stop - name)), stop};
  }
  return std::nullopt;
}

}  // namespace strata::capture
