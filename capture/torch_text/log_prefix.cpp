// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/log_prefix.h"

#include <map>
#include <utility>
#include <vector>

#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;
/// Messages that are longer are cut: a line that repeats without end is damage.
constexpr std::size_t kMaxMessage = std::size_t{64} << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes `[words]` from the front.
std::string_view take_brackets(std::string_view& text) {
  if (!text.starts_with('[')) return {};
  const std::size_t close = text.find(']');
  if (close == kNowhere) return {};
  const std::string_view inner = text.substr(1, close - 1);
  text.remove_prefix(close + 1);
  return inner;
}

/// `[rank0]:`, `[default0]:`, also several.
std::int64_t take_rank(std::string_view& text) {
  std::int64_t rank = -1;
  while (text.starts_with('[')) {
    std::string_view rest = text;
    const std::string_view word = take_brackets(rest);
    std::size_t digits = word.size();
    while (digits > 0 && is_digit(word[digits - 1])) --digits;
    if (!rest.starts_with(':') || digits == 0 || digits == word.size() || !(word[0] >= 'a' && word[0] <= 'z')) break;
    if (rank < 0 || word.starts_with("rank")) rank = whole_number(word.substr(digits)).value_or(-1);
    text = rest.substr(1);
    if (text.starts_with(' ') && text.size() > 1 && text[1] != ' ') text.remove_prefix(1);
  }
  return rank;
}

/// Whether `text` begins like `pattern`: 0 is a digit, A a capital.
bool begins_like(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char p = pattern[i], c = text[i];
    const bool fits = p == '0' ? is_digit(c) : p == 'A' ? c >= 'A' && c <= 'Z' : p == c;
    if (!fits) return false;
  }
  return true;
}

/// `!1/2/3_4`, `2/3`: compile ids.
bool parse_compile_id(std::string_view word, LogPrefix& out) {
  LogPrefix found;
  if (word.starts_with('!')) {
    const std::size_t slash = word.find('/');
    const auto id = whole_number(word.substr(1, slash == kNowhere ? kNowhere : slash - 1));
    if (!id) return false;
    found.autograd = *id;
    if (slash == kNowhere) {
      out.autograd = *id;
      out.compile = true;
      return true;
    }
    word.remove_prefix(slash + 1);
  }
  const std::size_t slash = word.find('/'), under = word.find('_');
  if (slash == kNowhere) return false;
  const auto frame = whole_number(word.substr(0, slash));
  const auto number = whole_number(word.substr(slash + 1, under == kNowhere ? kNowhere : under - slash - 1));
  const auto attempt = under == kNowhere ? std::optional<std::int64_t>(0) : whole_number(word.substr(under + 1));
  if (!frame || !number || !attempt || *frame < 0 || *number < 0 || *attempt < 0) return false;
  out.compile = true;
  out.autograd = found.autograd;
  out.frame = *frame;
  out.number = *number;
  out.attempt = *attempt;
  return true;
}

/// `[0/8] [__recompiles] `: what may stand between prefix and text.
void take_context(std::string_view& rest, LogPrefix& out) {
  for (int i = 0; i < 2; ++i) {
    std::string_view after = rest.starts_with(' ') ? rest.substr(1) : rest;
    const std::string_view word = take_brackets(after);
    if (word.empty()) return;
    if (!out.compile && out.artifact.empty() && parse_compile_id(word, out)) {
      rest = after;
    } else if (word.starts_with("__") && out.artifact.empty()) {
      out.artifact = word;
      rest = after;
    } else {
      return;
    }
  }
}

void finish(std::string_view line, std::string_view rest, LogPrefix& out) {
  take_context(rest, out);
  out.key = line.substr(0, static_cast<std::size_t>(rest.data() - line.data()));
  out.text = rest.starts_with(' ') ? rest.substr(1) : rest;
}

std::optional<LogPrefix> parse_new(std::string_view line, std::string_view text, std::int64_t rank) {
  if (!begins_like(text, "A0000 00:00:00.")) return std::nullopt;
  LogPrefix out;
  out.rank = rank;
  out.level = text[0];
  std::size_t at = 15;
  while (at < text.size() && is_digit(text[at])) ++at;
  while (at < text.size() && text[at] == ' ') ++at;
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  const auto pid = whole_number(text.substr(at, end - at));
  const std::size_t close = text.find("] ", end), last = text.find(']', end);
  const std::size_t stop = close != kNowhere ? close : last + 1 == text.size() ? last : kNowhere;
  if (!pid || stop == kNowhere) return std::nullopt;
  if (*pid < (std::int64_t{1} << 32)) out.pid = *pid;
  out.site = trim(text.substr(end, stop - end));
  const std::size_t colon = out.site.rfind(':');
  if (colon == kNowhere || !whole_number(out.site.substr(colon + 1))) return std::nullopt;
  finish(line, text.substr(stop + 1), out);
  return out;
}

/// `[2024-01-29 20:00:12,123] [0/1] torch._dynamo.guards.__recompiles: [DEBUG] text`.
std::optional<LogPrefix> parse_old(std::string_view line, std::string_view text, std::int64_t rank) {
  if (!begins_like(text, "[0000-00-00 00:00:00,000] ")) return std::nullopt;
  LogPrefix out;
  out.rank = rank;
  std::string_view rest = text.substr(26);
  if (rest.starts_with('[')) {
    std::string_view after = rest;
    if (!parse_compile_id(take_brackets(after), out)) return std::nullopt;
    rest = trim(after);
  }
  const std::size_t colon = rest.find(": [");
  if (colon == kNowhere || !rest.starts_with("torch")) return std::nullopt;
  out.site = rest.substr(0, colon);
  if (const std::size_t artifact = out.site.find(".__"); artifact != kNowhere)
    out.artifact = out.site.substr(artifact + 1);
  rest = rest.substr(colon + 2);
  const std::string_view level = take_brackets(rest);
  out.level = level == "DEBUG" ? 'V' : level.empty() ? 'I' : level[0];
  finish(line, rest, out);
  return out;
}

/// Whether the text is an envelope of TORCH_TRACE.
bool is_trace_record(const LogPrefix& prefix) {
  return !prefix.compile && prefix.artifact.empty() && prefix.text.starts_with("{\"");
}

std::string without_colours(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && !(line[i] >= '@' && line[i] <= '~')) ++i;
    } else {
      out += line[i];
    }
  }
  return out;
}

/// Puts the lines of one message together again, also where other processes wrote in between.
class Collector {
 public:
  explicit Collector(const LogVisitor& visitor) : visitor_(visitor) {}

  void line(std::string_view raw, std::int64_t number) {
    std::string clean;
    if (raw.find('\x1b') != kNowhere) raw = clean = without_colours(raw);
    const auto prefix = parse_log_prefix(raw);
    if (!prefix) return output(raw, number);
    if (is_trace_record(*prefix)) {
      close_traceback();
      in_trace_ = true;
      if (visitor_.trace) visitor_.trace();
      return;
    }
    in_trace_ = false;
    add(*prefix, number);
  }

  void finish() {
    close_traceback();
    for (auto& [writer, open] : open_) close(open);
  }

 private:
  struct Open {
    std::string key, site, artifact;
    LogMessage message;
    bool used = false;
  };
  struct Trace {
    std::int64_t rank = -1, line = 0;
    std::string text;
    bool used = false;
  };

  void add(const LogPrefix& prefix, std::int64_t number) {
    Open& open = open_[{prefix.rank, prefix.pid}];
    if (open.used && open.key == prefix.key) {
      if (open.message.text.size() < kMaxMessage) open.message.text.append("\n").append(prefix.text);
      return;
    }
    close(open);
    open.used = true;
    open.key = prefix.key;
    open.site = prefix.site;
    open.artifact = prefix.artifact;
    open.message = {prefix, std::string(prefix.text), number};
  }

  void close(Open& open) {
    if (!open.used) return;
    open.used = false;
    open.message.prefix.key = open.key;
    open.message.prefix.site = open.site;
    open.message.prefix.artifact = open.artifact;
    open.message.prefix.text = open.message.text;
    visitor_.message(open.message);
  }

  void output(std::string_view line, std::int64_t number) {
    if (in_trace_ && line.starts_with('\t')) return;  // payload of a TORCH_TRACE record
    in_trace_ = false;
    std::string_view text = line;
    const std::int64_t rank = take_rank(text);
    if (text.starts_with("Traceback (most recent call last):")) {
      if (trace_.used && !ends_chain_) close_traceback();
      if (!trace_.used) trace_ = {rank, number, {}, true};
      ends_chain_ = false;
      after_type_ = false;
    }
    if (!trace_.used) {
      if (visitor_.output) visitor_.output();
      return;
    }
    trace_line(text);
  }

  /// The traceback ends behind the line `Type: message`, unless another follows that it caused.
  void trace_line(std::string_view text) {
    const bool chain = text.starts_with("The above exception") || text.starts_with("During handling of the above");
    if (after_type_ && !chain && !trim(text).empty() && !text.starts_with(' ')) {
      close_traceback();
      if (visitor_.output) visitor_.output();
      return;
    }
    if (chain) {
      ends_chain_ = true;
      after_type_ = false;
    } else if (!text.empty() && !text.starts_with(' ') && !text.starts_with("Traceback")) {
      after_type_ = true;
    }
    if (trace_.text.size() < kMaxMessage) trace_.text.append(text).append("\n");
  }

  void close_traceback() {
    if (trace_.used && visitor_.traceback) visitor_.traceback(trace_.rank, std::move(trace_.text), trace_.line);
    trace_ = {};
    after_type_ = ends_chain_ = false;
  }

  const LogVisitor& visitor_;
  std::map<std::pair<std::int64_t, std::int64_t>, Open> open_;  ///< by rank and pid
  Trace trace_;
  bool after_type_ = false, ends_chain_ = false, in_trace_ = false;
};

}  // namespace

std::optional<LogPrefix> parse_log_prefix(std::string_view line) {
  if (line.size() < 20) return std::nullopt;
  std::string_view text = line;
  const std::int64_t rank = take_rank(text);
  if (const auto prefix = parse_new(line, text, rank)) return prefix;
  return parse_old(line, text, rank);
}

bool has_torch_logs(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const auto prefix = parse_log_prefix(text.substr(0, end));
    if (prefix && !is_trace_record(*prefix)) return true;
    if (end == kNowhere) return false;
    text.remove_prefix(end + 1);
  }
  return false;
}

void visit_log(std::string_view text, const LogVisitor& visitor) {
  Collector collector(visitor);
  const double whole = static_cast<double>(text.size());
  std::int64_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    collector.line(line, ++number);
    if (visitor.progress && number % 65536 == 0) visitor.progress(1 - static_cast<double>(rest.size()) / whole);
    if (end == kNowhere) break;
    rest.remove_prefix(end + 1);
  }
  collector.finish();
}

}  // namespace strata::capture
