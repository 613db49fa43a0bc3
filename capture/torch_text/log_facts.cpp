// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/log_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/torch_text/python_traceback.h"
#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;
using Severity = trace::DiagnosticRecord::Severity;

std::string first_line(std::string_view text) { return std::string(trim(text.substr(0, text.find('\n')))); }

/// `text` cut before each line that begins with one of `starts`.
std::vector<std::string> split_at(std::string_view text, std::initializer_list<std::string_view> starts) {
  std::vector<std::string> parts;
  for (const std::string_view line : text_lines(text)) {
    const bool begins =
        std::any_of(starts.begin(), starts.end(), [&](std::string_view s) { return line.starts_with(s); });
    if (parts.empty() || begins) {
      parts.emplace_back(line);
    } else {
      parts.back().append("\n").append(line);
    }
  }
  return parts;
}

/// The reasons of a `Recompiling function` message: each line of a reason has `- ` in front.
std::vector<RecompileText> recompile_items(std::string_view text) {
  std::vector<std::string> items;
  bool addressed = false;
  for (const std::string_view line : text_lines(text)) {
    std::string_view body = trim(line);
    if (!body.starts_with("- ") && body != "-") continue;
    body.remove_prefix(1);
    if (body.starts_with(' ')) body.remove_prefix(1);
    const bool address = !body.empty() && (body[0] == '!' || (body[0] >= '0' && body[0] <= '9')) &&
                         body.substr(0, body.find(' ')).find('/') != kNowhere;
    const bool more = body.starts_with(' ') || body.starts_with("User stack trace:") || (addressed && !address);
    addressed = addressed || address;
    if (!items.empty() && more) {
      items.back().append("\n").append(body);
    } else {
      items.emplace_back(body);
    }
  }
  std::vector<RecompileText> reasons;
  for (const std::string& item : items) reasons.push_back(parse_recompile_reason(item));
  return reasons;
}

/// `f in /home/u/m.py:13` -> function, file, line.
void parse_function(std::string_view text, LogAttempt& out) {
  const std::size_t in = text.find(" in "), colon = text.rfind(':');
  if (in == kNowhere || colon == kNowhere || colon < in) return;
  const auto line = whole_number(trim(text.substr(colon + 1)));
  if (!line) return;
  out.function = trim(text.substr(0, in));
  out.file = text.substr(in + 4, colon - in - 4);
  out.line = *line;
}

}  // namespace

void LogFacts::message(const LogMessage& m) {
  ++messages;
  process = context_.process(m.prefix.pid, m.prefix.rank);
  const std::string_view artifact = m.prefix.artifact, text = m.prefix.text;
  std::string_view kind;
  if (artifact == "__graph_breaks") {
    kind = "graph_break";
    breaks(m);
  } else if (artifact == "__recompiles" || artifact == "__recompiles_verbose") {
    kind = "recompile";
    recompiles(m);
  } else if (artifact == "__guards") {
    kind = "guards";
    guards(m);
  } else if (artifact == "__perf_hints") {
    kind = "perf_hint";
    diagnostic(m, Severity::Info, "perf-hint", first_line(text));
  } else if (text.find("skipping cudagraphs") != kNowhere || text.find("skipping cudagraph") != kNowhere) {
    kind = "cudagraph_skip";
    // `... due to mutated inputs (5 instances). Found from :` and the stack of one
    const std::string title = first_line(text);
    diagnostic(m, Severity::Warning, "cudagraph-skip", title.substr(0, title.find(". Found from")));
    diagnostics.back().stack = parse_python_stack(text);
  } else if (text.starts_with("torch._dynamo hit config.")) {
    kind = "recompile_limit";
    limit(m);
  } else if (text.starts_with("Graph break from ") || text.starts_with("Graph break: ")) {
    kind = "graph_break_notice";
    attempt(m).notices.push_back(parse_graph_break(text));
  } else if (m.prefix.level == 'E' || m.prefix.level == 'C') {
    kind = "error";
    error(m);
  } else if (m.prefix.level == 'W' && m.prefix.site.find("torch") != kNowhere) {
    kind = "warning";
    warning(m);
  } else if (shapes(m)) {
    kind = "dynamic";
  } else {
    kind = "other";
    raw(m);
  }
  context_.count(input_, fmt::format("log:{}", kind));
}

CompileKey LogFacts::key_of(const LogMessage& m) {
  CompileKey key{context_.process(m.prefix.pid, m.prefix.rank), m.prefix.autograd, m.prefix.frame, m.prefix.number};
  return key;
}

LogAttempt& LogFacts::attempt(const LogMessage& m) {
  const AttemptKey key{key_of(m), m.prefix.attempt};
  return attempts[key];
}

void LogFacts::breaks(const LogMessage& m) {
  LogAttempt& to = attempt(m);
  for (const std::string& part : split_at(m.prefix.text, {"Graph break in user code", "Graph break (user stack"})) {
    GraphBreakText parsed = parse_graph_break(part);
    if (parsed.stack.empty() && !parsed.file.empty())
      parsed.stack.push_back({parsed.file, parsed.line, std::string(), std::string()});
    for (const trace::SourceLocation& place : parsed.stack) files_.add(place.file, place.line, place.text);
    to.breaks.emplace_back(std::move(parsed), part);
  }
}

void LogFacts::recompiles(const LogMessage& m) {
  constexpr std::string_view kStart = "Recompiling function ";
  LogAttempt& to = attempt(m);
  for (const std::string& part : split_at(m.prefix.text, {kStart})) {
    if (part.starts_with(kStart)) parse_function(first_line(std::string_view(part).substr(kStart.size())), to);
    files_.add(to.file);
    for (RecompileText& reason : recompile_items(part)) {
      for (const trace::SourceLocation& place : reason.stack) files_.add(place.file, place.line, place.text);
      to.recompiles.push_back(std::move(reason));
    }
  }
}

void LogFacts::guards(const LogMessage& m) {
  const std::string_view text = trim(m.prefix.text);
  if (text == "GUARDS:" || text.empty()) return;
  LogAttempt& to = attempt(m);
  GuardTree tree = parse_guard_tree(text);
  if (tree.latency_ns >= 0) to.guard_latency_ns = tree.latency_ns;
  if (!tree.guards.empty()) {
    if (to.guards.empty()) to.guards = std::move(tree.guards);
    return;
  }
  // generated code of guards is no list of them
  if (tree.latency_ns >= 0 || text.starts_with("def ") || text.find("TREE_GUARD_MANAGER") != kNowhere) return;
  for (const std::string_view line : text_lines(text))
    if (!trim(line).empty() && trim(line) != "GUARDS:") to.plain_guards.push_back(parse_guard_code(line));
}

void LogFacts::limit(const LogMessage& m) {
  LogAttempt& to = attempt(m);
  to.limit = true;
  for (const std::string_view line : text_lines(m.prefix.text)) {
    const std::string_view text = trim(line);
    constexpr std::string_view kFunction = "function: '";
    const std::size_t end = text.rfind("' (");
    if (!text.starts_with(kFunction) || end == kNowhere || end < kFunction.size() || !text.ends_with(')')) continue;
    parse_function(fmt::format("{} in {}", text.substr(kFunction.size(), end - kFunction.size()),
                               text.substr(end + 3, text.size() - end - 4)),
                   to);
  }
  diagnostic(m, Severity::Warning, "recompile-limit", first_line(m.prefix.text));
}

void LogFacts::error(const LogMessage& m) {
  if (m.prefix.text.starts_with("Created at:") && !diagnostics.empty() && diagnostics.back().key == key_of(m)) {
    diagnostics.back().record.detail += "\n" + m.text;  // the second half of an error of a guard
    return;
  }
  const PythonError parsed = parse_python_error(m.prefix.text);
  attempt(m).failed = true;
  LogDiagnostic& d = diagnostic(m, Severity::Error, "error", first_line(m.prefix.text));
  if (parsed.type.empty()) return;
  d.record.title = fmt::format("{}: {}", parsed.type, first_line(parsed.message));
  d.record.hint = parsed.advice;
  d.stack = parsed.user_stack.empty() ? parsed.stack : parsed.user_stack;
}

void LogFacts::warning(const LogMessage& m) { diagnostic(m, Severity::Warning, "warning", first_line(m.prefix.text)); }

bool LogFacts::shapes(const LogMessage& m) {
  bool any = false;
  for (const std::string_view line : text_lines(m.prefix.text)) {
    ShapeMessage shape = parse_shape_message(line);
    using Kind = ShapeMessage::Kind;
    if (shape.kind == Kind::Other) continue;
    any = true;
    if (shape.kind == Kind::Progress) continue;
    if (shape.kind == Kind::Marked || shape.kind == Kind::Assumed) {
      const bool marked = shape.kind == Kind::Marked;
      LogDiagnostic& d = diagnostic(m, Severity::Info, marked ? "dynamic" : "data-dependent",
                                    marked ? fmt::format("{} is dynamic from here on ({})", shape.source, shape.reason)
                                           : fmt::format("could not decide {}; {}", shape.expression, shape.reason));
      if (!shape.place.file.empty()) d.stack = {shape.place};
    } else if (shape.kind == Kind::Symbol || shape.kind == Kind::Unbacked) {
      attempt(m).symbols.push_back(std::move(shape));
    } else {
      assume(attempt(m), std::move(shape));
    }
  }
  return any;
}

/// `Eq(s77, 21)` may be there as a guard when the replacement says that it fixes the symbol.
void LogFacts::assume(LogAttempt& to, ShapeMessage shape) {
  using Kind = ShapeMessage::Kind;
  if (shape.kind == Kind::Replacement) shape.expression = fmt::format("Eq({}, {})", shape.symbol, shape.value);
  if (shape.kind == Kind::Range) shape.expression = fmt::format("{} in {}", shape.symbol, shape.range);
  const auto [at, fresh] = to.assumptions.try_emplace(shape.expression, shape);
  if (fresh || shape.kind != Kind::Replacement) return;
  at->second.kind = shape.kind;
  at->second.symbol = shape.symbol;
  at->second.value = shape.value;
  at->second.reason = shape.reason;
}

void LogFacts::raw(const LogMessage& m) {
  trace::RawRecord record;
  record.source = name_;
  record.ordinal = m.line;
  record.kind = m.prefix.artifact.empty() ? std::string(m.prefix.site.substr(0, m.prefix.site.rfind(':')))
                                          : std::string(m.prefix.artifact);
  record.content = fmt::format("{}{}", m.prefix.key, m.prefix.key.empty() ? "" : " ") + m.text;
  context_.writer().add(record);
}

LogDiagnostic& LogFacts::diagnostic(const LogMessage& m, Severity severity, std::string_view kind, std::string title) {
  LogDiagnostic d;
  d.record.severity = severity;
  d.record.kind = kind;
  d.record.title = std::move(title);
  d.record.detail = m.text;
  d.record.line = m.line;
  d.key = key_of(m);
  d.attempt = m.prefix.attempt;
  diagnostics.push_back(std::move(d));
  if (m.prefix.compile) attempt(m);
  return diagnostics.back();
}

void LogFacts::traceback(std::int64_t rank, const std::string& text, std::int64_t line) {
  context_.count(input_, "traceback");
  const PythonError parsed = parse_python_error(text);
  if (parsed.type.empty()) return;
  LogDiagnostic d;
  d.record.severity = Severity::Error;
  d.record.kind = "error";
  d.record.title = fmt::format("{}: {}", parsed.type, first_line(parsed.message));
  d.record.detail = text;
  d.record.hint = parsed.advice;
  d.record.line = line;
  d.stack = parsed.user_stack.empty() ? parsed.stack : parsed.user_stack;
  d.key.process = process_of_rank(rank);
  diagnostics.push_back(std::move(d));
}

trace::Id LogFacts::process_of_rank(std::int64_t rank) const {
  for (const trace::ProcessRecord& p : context_.processes())
    if (p.rank == rank) return p.id;
  return rank < 0 && context_.processes().size() == 1 ? context_.processes().front().id : trace::kNone;
}

}  // namespace strata::capture
