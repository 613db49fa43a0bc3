// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/python_traceback.h"

#include <algorithm>

#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";

/// `  File "x", line 7, in f`. The function is missing in syntax errors.
bool parse_frame(std::string_view line, trace::SourceLocation& frame) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  std::string_view text = trim(line);
  if (!text.starts_with(kFile)) return false;
  const std::size_t end = text.find(kLine, kFile.size());
  if (end == std::string_view::npos) return false;
  frame.file = text.substr(kFile.size(), end - kFile.size());
  text.remove_prefix(end + kLine.size());
  const std::size_t comma = text.find(',');
  const auto number = whole_number(trim(text.substr(0, comma)));
  if (!number) return false;
  frame.line = *number;
  const std::size_t in = text.find(" in ");
  frame.function = in == std::string_view::npos ? "" : std::string(trim(text.substr(in + 4)));
  return true;
}

std::size_t indent(std::string_view line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? line.size() : at;
}

/// `^^^^`, `~~~~^^^`: where in the line above the call stands.
bool is_marker(std::string_view line) {
  const std::string_view text = trim(line);
  return !text.empty() && text.find_first_not_of("^~ ") == std::string_view::npos;
}

/// Reads frames from `lines[at]` on; `at` ends behind the last line that belongs to one.
std::vector<trace::SourceLocation> read_frames(const std::vector<std::string_view>& lines, std::size_t& at) {
  std::vector<trace::SourceLocation> stack;
  trace::SourceLocation frame;
  while (at < lines.size() && parse_frame(lines[at], frame)) {
    const std::size_t depth = indent(lines[at]);
    frame.text.clear();
    ++at;
    while (at < lines.size() && indent(lines[at]) > depth && !trim(lines[at]).empty()) {
      trace::SourceLocation next;
      if (parse_frame(lines[at], next)) break;
      if (frame.text.empty() && !is_marker(lines[at])) frame.text = trim(lines[at]);
      ++at;
    }
    if (at < lines.size() && trim(lines[at]).starts_with("[Previous line repeated")) ++at;
    stack.push_back(frame);
  }
  return stack;
}

/// `module.Name: message`, `Name`: the line that ends a traceback.
std::size_t type_length(std::string_view line) {
  std::size_t end = 0;
  const auto is_name = [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  };
  while (end < line.size() && is_name(line[end])) ++end;
  if (end == 0 || (line[0] >= '0' && line[0] <= '9')) return 0;
  return end == line.size() || line.substr(end, 1) == ":" ? end : 0;
}

bool ends_message(std::string_view line) {
  return line.starts_with("The above exception was the direct cause") ||
         line.starts_with("During handling of the above exception") || line.starts_with(kTraceback);
}

bool is_advice(std::string_view line) {
  return line.starts_with("Set TORCHDYNAMO_VERBOSE=1") || line.starts_with("Set TORCH_LOGS=") ||
         line.starts_with("You can suppress this exception");
}

std::string join(const std::vector<std::string_view>& lines, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text.append(i == first ? "" : "\n").append(lines[i]);
  return std::string(trim(text));
}

/// Reads the exception whose `Type: message` stands in `lines[at]`.
void read_message(const std::vector<std::string_view>& lines, std::size_t at, PythonError& error) {
  const std::size_t type = type_length(lines[at]);
  std::size_t end = at + 1, message_end = 0, advice_at = 0;
  while (end < lines.size() && !ends_message(lines[end])) {
    const bool from_user = trim(lines[end]) == "from user code:" || trim(lines[end]) == "User stack:";
    if (from_user || is_advice(lines[end])) {
      if (message_end == 0) message_end = end;
      if (!from_user && advice_at == 0) advice_at = end;
      if (from_user) {
        std::size_t frames = end + 1;
        error.user_stack = read_frames(lines, frames);
      }
    }
    ++end;
  }
  error.type = lines[at].substr(0, type);
  error.message = trim(lines[at].substr(std::min(type + 1, lines[at].size())));
  const std::string more = join(lines, at + 1, message_end ? message_end : end);
  if (!more.empty()) error.message += (error.message.empty() ? "" : "\n") + more;
  if (advice_at) error.advice = join(lines, advice_at, end);
}

}  // namespace

std::vector<trace::SourceLocation> parse_python_stack(std::string_view text, std::size_t* used) {
  const std::vector<std::string_view> lines = text_lines(text);
  trace::SourceLocation frame;
  std::size_t at = 0;
  while (at < lines.size() && !parse_frame(lines[at], frame)) ++at;
  std::vector<trace::SourceLocation> stack = read_frames(lines, at);
  if (used) {
    *used = 0;
    if (!stack.empty())
      *used = at < lines.size() ? static_cast<std::size_t>(lines[at].data() - text.data()) : text.size();
  }
  return stack;
}

PythonError parse_python_error(std::string_view text) {
  const std::vector<std::string_view> lines = text_lines(text);
  PythonError error;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (!trim(lines[at]).starts_with(kTraceback)) continue;
    std::size_t next = at + 1;
    std::vector<trace::SourceLocation> stack = read_frames(lines, next);
    if (next >= lines.size() || type_length(trim(lines[next])) == 0) continue;
    error = {};
    error.stack = std::move(stack);
    read_message(lines, next, error);
  }
  if (error.type.empty() && !lines.empty() && type_length(lines[0]) > 0 && lines[0].find(": ") != std::string::npos)
    read_message(lines, 0, error);
  return error;
}

}  // namespace strata::capture
