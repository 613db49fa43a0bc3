// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/break_reason.h"

#include <algorithm>

#include "capture/torch_text/python_traceback.h"
#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;

/// If `line` begins with one of `starts`, the rest of it.
bool take(std::string_view line, std::initializer_list<std::string_view> starts, std::string_view& rest) {
  for (const std::string_view start : starts) {
    if (!line.starts_with(start)) continue;
    rest = trim(line.substr(start.size()));
    return true;
  }
  return false;
}

/// `/home/u/m.py:12`.
void parse_place(std::string_view text, GraphBreakText& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == kNowhere) return;
  const auto line = whole_number(text.substr(colon + 1));
  if (!line) return;
  out.file = text.substr(0, colon);
  out.line = *line;
}

/// What was tried when it happened, before the reason: it ends in a colon.
bool is_preamble(std::string_view line) { return line.ends_with(':'); }

/// Reads the parts of the message line by line.
class Parser {
 public:
  explicit Parser(GraphBreakText& out) : out_(out) {}

  /// False when the message is over.
  bool line(std::string_view full) {
    const std::string_view line = trim(full);
    std::string_view rest;
    if (line.starts_with("Traceback (most recent call last):") || line == "NoneType: None") return false;
    if (take(line,
             {"Graph break in user code at ", "Graph break: from user code at:",
              "Graph break (user stack suppressed due to duplicate graph break) in user code at "},
             rest)) {
      parse_place(rest, out_);
    } else if (take(line, {"Graph Break Reason:", "Graph break:", "Reason:", "reason:"}, rest)) {
      reason(rest);
    } else if (take(line, {"Explanation:"}, rest)) {
      open(out_.explanation, rest);
    } else if (take(line, {"Hint:"}, rest)) {
      out_.hints.emplace_back();
      open(out_.hints.back(), rest);
    } else if (take(line, {"Developer debug context:"}, rest)) {
      open(out_.context, rest);
    } else if (const std::size_t visit = line.find("please visit: ");
               line.starts_with("For more details") && visit != kNowhere) {
      out_.link = trim(line.substr(visit + 14));
      current_ = nullptr;
    } else if (line.empty()) {
      after_blank_ = true;
      return true;
    } else {
      text(full);
    }
    after_blank_ = false;
    return true;
  }

 private:
  void reason(std::string_view rest) {
    current_ = nullptr;
    wants_kind_ = true;
    if (is_preamble(rest)) {
      out_.preamble = rest;
    } else if (!rest.empty()) {
      kind(rest);
    }
  }

  void kind(std::string_view line) {
    std::string_view rest = line;
    for (const std::string_view prefix : {"torch._dynamo.exc.", "Unsupported: "})
      if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
    out_.kind = rest;
    wants_kind_ = false;
    open(out_.kind, rest);
  }

  void open(std::string& part, std::string_view text) {
    part = text;
    current_ = &part;
  }

  /// A line without a label. After an empty line only what is indented deeper than the labels goes on with a part.
  void text(std::string_view full) {
    const std::string_view line = trim(full);
    if (after_blank_ && !full.starts_with("    ")) current_ = nullptr;
    if (wants_kind_) {
      kind(line);
    } else if (current_) {
      current_->append(current_->empty() ? "" : "\n").append(line);
    }
  }

  GraphBreakText& out_;
  std::string* current_ = nullptr;  ///< the part that a line without a label continues
  bool wants_kind_ = false;
  bool after_blank_ = false;
};

/// `User code traceback:` or, in older versions, frames right after the reason.
void parse_stack(std::string_view text, GraphBreakText& out) {
  std::size_t at = text.find("User code traceback:");
  if (at == kNowhere) at = text.find("from user code");
  const std::size_t error = text.find("Traceback (most recent call last):", at == kNowhere ? 0 : at);
  if (at != kNowhere) {
    const std::string_view part = text.substr(at, error == kNowhere ? kNowhere : error - at);
    out.stack = parse_python_stack(part);
  }
  if (error != kNowhere) out.error = trim(text.substr(error));
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

GraphBreakText parse_graph_break(std::string_view text) {
  GraphBreakText out;
  Parser parser(out);
  const std::size_t stack = std::min(text.find("User code traceback:"), text.size());
  for (const std::string_view line : text_lines(text.substr(0, stack))) {
    if (trim(line).starts_with("File \"")) break;
    if (!parser.line(line)) break;
  }
  parse_stack(text, out);
  if (out.file.empty() && !out.stack.empty()) {
    out.file = out.stack.back().file;
    out.line = out.stack.back().line;
  }
  out.reason = first_line(out.kind.empty() ? trim(text) : std::string_view(out.kind));
  return out;
}

trace::GraphBreakRecord graph_break_record(const GraphBreakText& parsed, std::string_view text) {
  trace::GraphBreakRecord record;
  record.reason = parsed.reason;
  record.explanation = parsed.explanation;
  for (const std::string& hint : parsed.hints) record.hint += (record.hint.empty() ? "" : "\n") + hint;
  record.kind = parsed.kind;
  record.link = parsed.link;
  record.detail = text;
  return record;
}

}  // namespace strata::capture
