// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/py_text.h"

#include <charconv>
#include <cstdint>

namespace strata::capture::py {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    if (!is_name_char(c)) return false;
  }
  return true;
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    out.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

size_t skip_string(std::string_view text, size_t at) {
  const char quote = text[at];
  const bool triple = text.size() >= at + 3 && text[at + 1] == quote && text[at + 2] == quote;
  for (size_t i = at + (triple ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '\n' && !triple) {
      return i;
    } else if (text[i] == quote) {
      if (!triple) return i + 1;
      if (i + 2 < text.size() && text[i + 1] == quote && text[i + 2] == quote) return i + 3;
    }
  }
  return text.size();
}

size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size();) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = skip_string(text, i);
      continue;
    }
    if (opens(c)) ++depth;
    if (closes(c) && --depth <= 0) return i;
    ++i;
  }
  return std::string_view::npos;
}

int open_brackets(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '#') break;
    if (c == '\'' || c == '"') {
      i = skip_string(text, i);
      continue;
    }
    if (opens(c)) ++depth;
    if (closes(c)) --depth;
    ++i;
  }
  return depth;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = skip_string(text, i);
      continue;
    }
    if (opens(c)) ++depth;
    if (closes(c)) --depth;
    if (c == separator && depth <= 0) {
      out.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
    ++i;
  }
  if (const std::string_view last = trim(text.substr(std::min(start, text.size()))); !last.empty()) out.push_back(last);
  return out;
}

std::vector<std::string_view> items(std::string_view text) {
  text = trim(text);
  if (text.empty()) return {};
  if (!opens(text[0])) return {text};
  const size_t end = closing(text, 0);
  return split(text.substr(1, (end == std::string_view::npos ? text.size() : end) - 1));
}

size_t assignment(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = skip_string(text, i);
      continue;
    }
    if (c == '#') break;
    if (opens(c)) ++depth;
    if (closes(c)) --depth;
    if (c == '=' && depth == 0) {
      const char next = i + 1 < text.size() ? text[i + 1] : ' ';
      const char last = i > 0 ? text[i - 1] : ' ';
      if (next == '=') {
        i += 2;
        continue;
      }
      if (last != '<' && last != '>' && last != '!') return i;
    }
    ++i;
  }
  return std::string_view::npos;
}

std::string_view without_comment(std::string_view line) {
  for (size_t i = 0; i < line.size();) {
    if (line[i] == '\'' || line[i] == '"') {
      i = skip_string(line, i);
      continue;
    }
    if (line[i] == '#') return trim(line.substr(0, i));
    ++i;
  }
  return trim(line);
}

/// The text up to the comma or bracket that ends a value.
static std::string_view value_at(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = skip_string(text, i);
      continue;
    }
    if (opens(c)) ++depth;
    if ((closes(c) && --depth < 0) || (c == ',' && depth == 0)) return trim(text.substr(0, i));
    ++i;
  }
  return trim(text);
}

std::optional<std::string_view> dict_value(std::string_view dict, std::string_view key) {
  for (size_t at = dict.find(key); at != std::string_view::npos; at = dict.find(key, at + 1)) {
    const size_t end = at + key.size();
    if (at == 0 || end + 1 >= dict.size() || (dict[at - 1] != '\'' && dict[at - 1] != '"')) continue;
    if (dict[end] == dict[at - 1] && dict[end + 1] == ':') return value_at(dict.substr(end + 2));
  }
  return std::nullopt;
}

std::vector<std::pair<std::string_view, std::string_view>> dict_items(std::string_view dict) {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  for (const std::string_view item : items(dict)) {
    const std::vector<std::string_view> parts = split(item, ':');
    if (parts.size() >= 2) {
      const size_t value = static_cast<size_t>(parts[1].data() - item.data());
      out.emplace_back(unquote(parts[0]), trim(item.substr(value)));
    }
  }
  return out;
}

std::string_view unquote(std::string_view text) {
  text = trim(text);
  std::string_view body = text;
  while (!body.empty() && (body[0] == 'r' || body[0] == 'b' || body[0] == 'f' || body[0] == 'u')) body.remove_prefix(1);
  if (body.size() < 2 || (body[0] != '\'' && body[0] != '"')) return text;
  const size_t quotes = body.size() >= 6 && body[1] == body[0] && body[2] == body[0] ? 3 : 1;
  const size_t end = skip_string(body, 0);
  if (end < 2 * quotes) return text;
  return body.substr(quotes, end - 2 * quotes);
}

}  // namespace strata::capture::py
