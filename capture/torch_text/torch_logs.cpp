// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/torch_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "capture/torch_text/break_reason.h"
#include "capture/torch_text/guard_tree.h"
#include "capture/torch_text/known_records.h"
#include "capture/torch_text/log_prefix.h"
#include "capture/torch_text/python_traceback.h"
#include "capture/torch_text/recompile_reason.h"
#include "capture/torch_text/shapes.h"
#include "capture/torch_text/text_scan.h"
#include "capture/torch_trace/gunzip.h"
#include "core/support/file.h"

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;
constexpr std::size_t kMaxUnzipped = std::size_t{8} << 30;
using Severity = trace::DiagnosticRecord::Severity;
using Stack = std::vector<trace::SourceLocation>;

/// What the log says about one attempt of a compile.
struct Attempt {
  std::vector<std::pair<GraphBreakText, std::string>> breaks;  ///< with their text
  std::vector<GraphBreakText> notices;  ///< warnings about breaks, which the breaks themselves may repeat
  std::vector<RecompileText> recompiles;
  std::vector<GuardText> guards;
  std::vector<GuardText> plain_guards;  ///< printed one by one: what there was before the tree
  std::vector<ShapeMessage> symbols;
  std::map<std::string, ShapeMessage> assumptions;  ///< by expression
  double guard_latency_ns = -1;
  std::string function, file;  ///< of the frame
  std::int64_t line = 0;
  bool limit = false;  ///< compiled no more
  bool failed = false;
};

struct Diagnostic {
  trace::DiagnosticRecord record;
  CompileKey key;
  std::int64_t attempt = 0;
  Stack stack;
};

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
void parse_function(std::string_view text, Attempt& out) {
  const std::size_t in = text.find(" in "), colon = text.rfind(':');
  if (in == kNowhere || colon == kNowhere || colon < in) return;
  const auto line = whole_number(trim(text.substr(colon + 1)));
  if (!line) return;
  out.function = trim(text.substr(0, in));
  out.file = text.substr(in + 4, colon - in - 4);
  out.line = *line;
}

class Importer {
 public:
  Importer(ImportContext& context, std::string_view name, std::int64_t bytes)
      : context_(context), known_(context), name_(name) {
    trace::InputRecord input;
    input.path = name;
    input.kind = "torch-logs";
    input.bytes = bytes;
    input_ = context_.add_input(input);
  }

  TorchLogsSummary run(std::string_view text) {
    LogVisitor visitor;
    visitor.message = [&](const LogMessage& m) { message(m); };
    visitor.traceback = [&](std::int64_t rank, std::string t, std::int64_t line) { traceback(rank, t, line); };
    visitor.output = [&] { context_.count(input_, "output"); };
    visitor.trace = [&] { context_.count(input_, "trace-record"); };
    visitor.progress = [&](double part) { context_.progress(part, name_); };
    visit_log(text, visitor);
    write();
    if (messages_ == 0) context_.problem(input_, "no_messages", 0, "no log messages of torch in this text");
    context_.finish_input(input_, process_);
    return {input_, messages_};
  }

 private:
  using AttemptKey = std::pair<CompileKey, std::int64_t>;

  // ---- reading ------------------------------------------------------------------------------------------------

  void message(const LogMessage& m) {
    ++messages_;
    process_ = context_.process(m.prefix.pid, m.prefix.rank);
    ranks_.insert(m.prefix.rank);
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
      diagnostics_.back().stack = parse_python_stack(text);
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

  CompileKey key_of(const LogMessage& m) {
    CompileKey key{context_.process(m.prefix.pid, m.prefix.rank), m.prefix.autograd, m.prefix.frame, m.prefix.number};
    return key;
  }

  Attempt& attempt(const LogMessage& m) {
    const AttemptKey key{key_of(m), m.prefix.attempt};
    auto [at, fresh] = attempts_.try_emplace(key);
    if (fresh) order_.push_back(key);
    return at->second;
  }

  void breaks(const LogMessage& m) {
    Attempt& to = attempt(m);
    for (const std::string& part : split_at(m.prefix.text, {"Graph break in user code", "Graph break (user stack"})) {
      GraphBreakText parsed = parse_graph_break(part);
      if (parsed.stack.empty() && !parsed.file.empty())
        parsed.stack.push_back({parsed.file, parsed.line, std::string(), std::string()});
      for (const trace::SourceLocation& place : parsed.stack) known_.files.add(place.file, place.line, place.text);
      to.breaks.emplace_back(std::move(parsed), part);
    }
  }

  void recompiles(const LogMessage& m) {
    constexpr std::string_view kStart = "Recompiling function ";
    Attempt& to = attempt(m);
    for (const std::string& part : split_at(m.prefix.text, {kStart})) {
      if (part.starts_with(kStart)) parse_function(first_line(std::string_view(part).substr(kStart.size())), to);
      known_.files.add(to.file);
      for (RecompileText& reason : recompile_items(part)) {
        for (const trace::SourceLocation& place : reason.stack) known_.files.add(place.file, place.line, place.text);
        to.recompiles.push_back(std::move(reason));
      }
    }
  }

  void guards(const LogMessage& m) {
    const std::string_view text = trim(m.prefix.text);
    if (text == "GUARDS:" || text.empty()) return;
    Attempt& to = attempt(m);
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

  void limit(const LogMessage& m) {
    Attempt& to = attempt(m);
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

  void error(const LogMessage& m) {
    if (m.prefix.text.starts_with("Created at:") && !diagnostics_.empty() && diagnostics_.back().key == key_of(m)) {
      diagnostics_.back().record.detail += "\n" + m.text;  // the second half of an error of a guard
      return;
    }
    const PythonError parsed = parse_python_error(m.prefix.text);
    attempt(m).failed = true;
    Diagnostic& d = diagnostic(m, Severity::Error, "error", first_line(m.prefix.text));
    if (parsed.type.empty()) return;
    d.record.title = fmt::format("{}: {}", parsed.type, first_line(parsed.message));
    d.record.hint = parsed.advice;
    d.stack = parsed.user_stack.empty() ? parsed.stack : parsed.user_stack;
  }

  void warning(const LogMessage& m) { diagnostic(m, Severity::Warning, "warning", first_line(m.prefix.text)); }

  bool shapes(const LogMessage& m) {
    bool any = false;
    for (const std::string_view line : text_lines(m.prefix.text)) {
      ShapeMessage shape = parse_shape_message(line);
      using Kind = ShapeMessage::Kind;
      if (shape.kind == Kind::Other) continue;
      any = true;
      if (shape.kind == Kind::Progress) continue;
      if (shape.kind == Kind::Marked || shape.kind == Kind::Assumed) {
        const bool marked = shape.kind == Kind::Marked;
        Diagnostic& d = diagnostic(m, Severity::Info, marked ? "dynamic" : "data-dependent",
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
  static void assume(Attempt& to, ShapeMessage shape) {
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

  void raw(const LogMessage& m) {
    trace::RawRecord record;
    record.source = name_;
    record.ordinal = m.line;
    record.kind = m.prefix.artifact.empty() ? std::string(m.prefix.site.substr(0, m.prefix.site.rfind(':')))
                                            : std::string(m.prefix.artifact);
    record.content = fmt::format("{}{}", m.prefix.key, m.prefix.key.empty() ? "" : " ") + m.text;
    context_.writer().add(record);
  }

  Diagnostic& diagnostic(const LogMessage& m, Severity severity, std::string_view kind, std::string title) {
    Diagnostic d;
    d.record.severity = severity;
    d.record.kind = kind;
    d.record.title = std::move(title);
    d.record.detail = m.text;
    d.record.line = m.line;
    d.key = key_of(m);
    d.attempt = m.prefix.attempt;
    diagnostics_.push_back(std::move(d));
    if (m.prefix.compile) attempt(m);
    return diagnostics_.back();
  }

  void traceback(std::int64_t rank, const std::string& text, std::int64_t line) {
    context_.count(input_, "traceback");
    const PythonError parsed = parse_python_error(text);
    if (parsed.type.empty()) return;
    Diagnostic d;
    d.record.severity = Severity::Error;
    d.record.kind = "error";
    d.record.title = fmt::format("{}: {}", parsed.type, first_line(parsed.message));
    d.record.detail = text;
    d.record.hint = parsed.advice;
    d.record.line = line;
    d.stack = parsed.user_stack.empty() ? parsed.stack : parsed.user_stack;
    d.key.process = process_of_rank(rank);
    diagnostics_.push_back(std::move(d));
  }

  trace::Id process_of_rank(std::int64_t rank) const {
    for (const trace::ProcessRecord& p : context_.processes())
      if (p.rank == rank) return p.id;
    return rank < 0 && context_.processes().size() == 1 ? context_.processes().front().id : trace::kNone;
  }

  // ---- writing ------------------------------------------------------------------------------------------------

  void write() {
    std::sort(order_.begin(), order_.end());
    for (const AttemptKey& key : order_)
      if (key.first.number >= 0) compile_of(key);
    // guards first: what made a guard fail may be told by a later compile's guards
    for (const AttemptKey& key : order_) write_guards(key);
    for (const AttemptKey& key : order_) {
      write_breaks(key);
      write_recompiles(key);
      write_shapes(key);
    }
    for (Diagnostic& d : diagnostics_) write_diagnostic(d);
  }

  void known() { context_.count(input_, "log:known"); }

  /// The compile in the trace: this attempt, else the last; none without a compile id.
  const ImportedCompile* find(const AttemptKey& key) const {
    const ImportedCompile* best = nullptr;
    for (const ImportedCompile& c : context_.compiles()) {
      if (compile_key(c.record) != key.first) continue;
      if (c.record.attempt == key.second) return &c;
      if (c.input != input_ && (!best || c.record.attempt > best->record.attempt)) best = &c;
    }
    return best;
  }

  trace::Id compile_of(const AttemptKey& key) {
    if (key.first.number < 0) return trace::kNone;
    if (const auto seen = compile_ids_.find(key); seen != compile_ids_.end()) return seen->second;
    const ImportedCompile* found = find(key);
    return compile_ids_[key] = found ? found->record.id : add_compile(key);
  }

  trace::Id add_compile(const AttemptKey& key) {
    const Attempt& said = attempts_.at(key);
    trace::CompileRecord record;
    record.process = key.first.process;
    record.frame = frame_of(key);
    record.frame_number = key.first.frame;
    record.compile_number = key.first.number;
    record.attempt = key.second;
    record.prefix = prefix_of(key.first);
    record.address = fmt::format("{}{}/{}", record.prefix, key.first.frame, key.first.number);
    if (key.second > 0) record.address += fmt::format("_{}", key.second);
    record.name = function_of(key).function;
    record.outcome = outcome_of(key, said);
    if (!said.recompiles.empty()) record.cause = said.recompiles.front().expression;
    record.id = context_.writer().add(record);
    context_.compiles().push_back({record, input_});
    return record.id;
  }

  std::string prefix_of(const CompileKey& key) const {
    std::string prefix;
    if (context_.processes().size() > 1)
      for (const trace::ProcessRecord& p : context_.processes())
        if (p.id == key.process && p.rank >= 0) prefix = fmt::format("r{}:", p.rank);
    if (key.autograd >= 0) prefix += fmt::format("!{}/", key.autograd);
    return prefix;
  }

  std::string outcome_of(const AttemptKey& key, const Attempt& said) const {
    if (attempts_.contains({key.first, key.second + 1})) return "restarted";
    if (said.limit) return "skipped";
    if (!said.guards.empty() || !said.plain_guards.empty() || said.guard_latency_ns >= 0) return "ok";
    return said.failed ? "failed" : "";
  }

  /// The function of a frame, as far as any of its compiles says.
  trace::SourceLocation function_of(const AttemptKey& key) const {
    trace::SourceLocation found;
    for (const auto& [other, said] : attempts_) {
      if (other.first.process != key.first.process || other.first.frame != key.first.frame) continue;
      if (!said.function.empty()) return {said.file, said.line, said.function, {}};
      if (found.function.empty() && !said.notices.empty() && !said.notices.front().stack.empty())
        found = said.notices.front().stack.back();
      if (found.function.empty() && !said.breaks.empty() && !said.breaks.front().first.stack.empty())
        found = said.breaks.front().first.stack.back();
    }
    found.line = 0;
    return found;
  }

  trace::Id frame_of(const AttemptKey& key) {
    const CompileKey& compile = key.first;
    if (const trace::Id id = known_.frame(compile.process, compile.frame)) return id;
    const trace::SourceLocation function = function_of(key);
    trace::FrameRecord record;
    record.process = compile.process;
    record.number = compile.frame;
    record.name = function.function;
    record.file = function.file;
    record.line = function.line;
    const trace::Id id = context_.writer().add(record);
    known_.add_frame(compile.process, compile.frame, id);
    return id;
  }

  /// Interns a stack; its lines become source lines.
  trace::Id stack_of(const Stack& stack) {
    for (const trace::SourceLocation& place : stack) context_.source_line(place.file, place.line, place.text);
    return context_.writer().stack(stack);
  }

  void write_guards(const AttemptKey& key) {
    Attempt& said = attempts_.at(key);
    if (said.guards.empty()) said.guards = std::move(said.plain_guards);
    if (said.guards.empty()) return;
    if (!known_.add_guards(key.first)) return known();
    const trace::Id compile = compile_of(key);
    for (const GuardText& guard : said.guards) {
      trace::GuardRecord record = guard_record(guard);
      record.compile = compile;
      const trace::SourceLocation place = guard_location(guard, known_.files);
      if (!place.file.empty()) record.stack = stack_of({place});
      record.id = context_.writer().add(record);
      known_.guard_records[compile].push_back(record);
    }
    if (said.guard_latency_ns < 0) return;
    trace::MetricRecord latency;
    latency.owner = {trace::OwnerKind::Compile, compile, compile};
    latency.key = "guard_latency";
    latency.value = said.guard_latency_ns;
    latency.unit = "ns";
    context_.writer().add(latency);
  }

  void write_breaks(const AttemptKey& key) {
    const Attempt& said = attempts_.at(key);
    for (const auto& [parsed, text] : said.breaks)
      if (known_.add_break(key.first, parsed.file, parsed.line, parsed.reason)) {
        add_break(key, parsed, text);
      } else {
        known();
      }
    for (const GraphBreakText& notice : said.notices) {
      // the warning names the frame it is in, the break the whole user stack: the place tells that they are one
      if (known_.has_break(key.first, notice.file, notice.line)) {
        known();
      } else if (known_.add_break(key.first, notice.file, notice.line, notice.reason)) {
        add_break(key, notice, notice.reason);
      }
    }
  }

  void add_break(const AttemptKey& key, const GraphBreakText& parsed, std::string_view text) {
    trace::GraphBreakRecord record = graph_break_record(parsed, text);
    record.process = key.first.process;
    record.compile = compile_of(key);
    if (record.compile != trace::kNone) record.frame = frame_of(key);
    record.stack = stack_of(parsed.stack);
    context_.writer().add(record);
  }

  void write_recompiles(const AttemptKey& key) {
    const trace::Id compile = compile_of(key);
    for (RecompileText reason : attempts_.at(key).recompiles) {
      if (!known_.add_recompile(key.first, reason.of, reason.expression)) {
        known();
        continue;
      }
      const trace::Id of = earlier(key.first, reason.of);
      derive_actual(reason, known_.guard_records[compile], values_of(key));
      trace::RecompileRecord record = recompile_record(reason);
      record.compile = compile;
      record.of = of;
      if (const trace::GuardRecord* guard = find_guard(reason, known_.guard_records[of])) {
        record.guard = guard->id;
        record.stack = guard->stack;
      }
      if (const Stack stack = recompile_stack(reason, known_.files); !stack.empty()) record.stack = stack_of(stack);
      context_.writer().add(record);
    }
  }

  std::vector<ObservedValue> values_of(const AttemptKey& key) const {
    std::vector<ObservedValue> values;
    for (const auto& [other, said] : attempts_)
      if (other.first == key.first)
        for (const ShapeMessage& symbol : said.symbols) values.push_back({symbol.source, symbol.value});
    return values;
  }

  /// The compile that `0/1` names; without a name the only one before `key`.
  trace::Id earlier(const CompileKey& key, std::string_view address) const {
    trace::Id found = trace::kNone;
    std::int64_t number = key.number == 1 ? 0 : -1;
    if (const std::size_t slash = address.rfind('/'); slash != kNowhere)
      number = whole_number(address.substr(slash + 1, address.find('_', slash) - slash - 1)).value_or(-1);
    for (const ImportedCompile& c : context_.compiles()) {
      CompileKey other = compile_key(c.record);
      if (other.process == key.process && other.frame == key.frame && other.number == number) found = c.record.id;
    }
    return found;
  }

  void write_shapes(const AttemptKey& key) {
    const Attempt& said = attempts_.at(key);
    const trace::Id compile = compile_of(key);
    for (const ShapeMessage& symbol : said.symbols) {
      if (!known_.add_symbol(key.first, symbol.symbol)) {
        known();
        continue;
      }
      trace::SymbolRecord record;
      record.compile = compile;
      record.name = symbol.symbol;
      record.hint = parse_hint(symbol.value);
      const RangeText range = parse_range(symbol.range);
      record.min = range.min;
      record.max = range.max;
      record.origin = symbol.source;
      record.stack = stack_of(place_of(symbol));
      context_.writer().add(record);
    }
    for (const auto& [expression, said_so] : said.assumptions) {
      if (!known_.add_assumption(key.first, expression)) {
        known();
        continue;
      }
      trace::AssumptionRecord record;
      record.compile = compile;
      record.expression = expression;
      record.kind = assumption_kind(said_so);
      record.reason = said_so.reason;
      record.stack = stack_of(place_of(said_so));
      context_.writer().add(record);
    }
  }

  static std::string assumption_kind(const ShapeMessage& shape) {
    if (shape.kind == ShapeMessage::Kind::Range) return "range";
    const bool number = !shape.value.empty() && shape.value.find_first_not_of("0123456789.+-e") == std::string::npos;
    return shape.kind == ShapeMessage::Kind::Replacement && number ? "specialized" : "relation";
  }

  Stack place_of(const ShapeMessage& shape) const {
    if (shape.place.file.empty()) return {};
    trace::SourceLocation place = shape.place;
    place.file = known_.files.resolve(place.file, place.line, place.text);
    return {place};
  }

  void write_diagnostic(Diagnostic& d) {
    if (!known_.add_diagnostic(d.key, d.record.kind, d.record.title)) return known();
    d.record.compile = d.key.number >= 0 ? compile_of({d.key, d.attempt}) : trace::kNone;
    d.record.process = d.key.process;
    d.record.input = input_;
    for (trace::SourceLocation& place : d.stack) place.file = known_.files.resolve(place.file, place.line, place.text);
    d.record.stack = stack_of(d.stack);
    if (trim(d.record.detail) == d.record.title) d.record.detail.clear();
    context_.writer().add(d.record);
  }

  ImportContext& context_;
  KnownRecords known_;
  std::string name_;
  trace::Id input_ = trace::kNone, process_ = trace::kNone;
  std::int64_t messages_ = 0;
  std::set<std::int64_t> ranks_;
  std::map<AttemptKey, Attempt> attempts_;
  std::map<AttemptKey, trace::Id> compile_ids_;
  std::vector<AttemptKey> order_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

TorchLogsSummary import_torch_logs(ImportContext& context, std::string_view text, std::string_view name) {
  return Importer(context, name, static_cast<std::int64_t>(text.size())).run(text);
}

TorchLogsSummary import_torch_logs(ImportContext& context, const std::filesystem::path& path) {
  const Bytes file = map_file(path);
  if (!is_gzip(file.text())) return import_torch_logs(context, file.text(), path.string());
  const Gunzipped unzipped = gunzip(file.text(), kMaxUnzipped);
  const TorchLogsSummary summary = import_torch_logs(context, unzipped.bytes.text(), path.string());
  if (!unzipped.problem.empty()) {
    context.problem(summary.input, "truncated", 0, unzipped.problem);
    context.finish_input(summary.input);
  }
  return summary;
}

}  // namespace strata::capture
