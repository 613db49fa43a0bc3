// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_line.h"

#include <charconv>

namespace strata::capture {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// `#` stands for a digit.
bool matches(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '#' ? !digit(text[i]) : text[i] != pattern[i]) return false;
  }
  return true;
}

int two(std::string_view text, std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); }

// Digits after the point, to six places.
int micros_of(std::string_view digits) {
  int value = 0;
  for (std::size_t i = 0; i < 6; ++i) value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return value;
}

std::size_t digits_end(std::string_view line, std::size_t at) {
  while (at < line.size() && digit(line[at])) ++at;
  return at;
}

// Reads up to the path; gives where it begins, or 0.
std::size_t read_prefix(std::string_view line, LogHead& head) {
  if (line.empty() || line[0] < 'A' || line[0] > 'Z' || !matches(line.substr(1), "#### ##:##:##.#")) return 0;
  const std::size_t fraction = digits_end(line, 15);
  if (fraction >= line.size() || line[fraction] != ' ') return 0;
  const std::size_t ident = digits_end(line, fraction + 1);
  if (ident == fraction + 1 || ident >= line.size() || line[ident] != ' ') return 0;
  const auto number = std::from_chars(line.data() + fraction + 1, line.data() + ident, head.ident);
  if (number.ec != std::errc()) return 0;
  head.level = line[0];
  head.time = {two(line, 1), two(line, 3),  two(line, 6),
               two(line, 9), two(line, 12), micros_of(line.substr(15, fraction - 15))};
  return ident + 1;
}

}  // namespace

bool looks_like_log_line(std::string_view line) {
  LogHead head;
  return read_prefix(line, head) > 0;
}

std::optional<LogHead> parse_log_head(std::string_view line, int skip) {
  LogHead head;
  const std::size_t path = read_prefix(line, head);
  if (path == 0) return std::nullopt;
  for (std::size_t at = path;; ++at) {
    at = line.find("] {", at);
    if (at == std::string_view::npos) return std::nullopt;
    std::size_t number = at;
    while (number > path && digit(line[number - 1])) --number;
    if (number == at || number == path || line[number - 1] != ':') continue;
    if (skip-- > 0) continue;
    head.path = line.substr(path, number - 1 - path);
    if (std::from_chars(line.data() + number, line.data() + at, head.source_line).ec != std::errc())
      head.source_line = 0;
    head.json = line.substr(at + 2);
    return head;
  }
}

}  // namespace strata::capture
