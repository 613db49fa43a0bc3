// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/torch_logs.h"

#include <fmt/format.h>

#include <map>

#include "capture/torch_text/known_records.h"
#include "capture/torch_text/log_facts.h"
#include "capture/torch_text/text_scan.h"
#include "capture/torch_trace/gunzip.h"
#include "core/support/file.h"

namespace strata::capture {
namespace {

constexpr auto kNowhere = std::string_view::npos;
constexpr std::size_t kMaxUnzipped = std::size_t{8} << 30;
using Stack = std::vector<trace::SourceLocation>;

trace::Id new_input(ImportContext& context, std::string_view name, std::int64_t bytes) {
  trace::InputRecord input;
  input.path = name;
  input.kind = "torch-logs";
  input.bytes = bytes;
  return context.add_input(input);
}

class Importer {
 public:
  Importer(ImportContext& context, std::string_view name, std::int64_t bytes)
      : context_(context),
        known_(context),
        name_(name),
        input_(new_input(context, name, bytes)),
        facts_(context, known_.files, input_, name_) {}

  TorchLogsSummary run(std::string_view text) {
    LogVisitor visitor;
    visitor.message = [&](const LogMessage& m) { facts_.message(m); };
    visitor.traceback = [&](std::int64_t rank, std::string t, std::int64_t line) { facts_.traceback(rank, t, line); };
    visitor.output = [&] { context_.count(input_, "output"); };
    visitor.trace = [&] { context_.count(input_, "trace-record"); };
    visitor.progress = [&](double part) { context_.progress(part, name_); };
    visit_log(text, visitor);
    write();
    if (facts_.messages == 0) context_.problem(input_, "no_messages", 0, "no log messages of torch in this text");
    context_.finish_input(input_, facts_.process);
    return {input_, facts_.messages};
  }

 private:
  void write() {
    for (const auto& [key, said] : facts_.attempts)
      if (key.first.number >= 0) compile_of(key);
    // guards first: what made a guard fail may be told by a later compile's guards
    for (const auto& [key, said] : facts_.attempts) write_guards(key);
    for (const auto& [key, said] : facts_.attempts) {
      write_breaks(key);
      write_recompiles(key);
      write_shapes(key);
    }
    for (LogDiagnostic& d : facts_.diagnostics) write_diagnostic(d);
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
    const LogAttempt& said = facts_.attempts.at(key);
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

  std::string outcome_of(const AttemptKey& key, const LogAttempt& said) const {
    if (facts_.attempts.contains({key.first, key.second + 1})) return "restarted";
    if (said.limit) return "skipped";
    if (!said.guards.empty() || !said.plain_guards.empty() || said.guard_latency_ns >= 0) return "ok";
    return said.failed ? "failed" : "";
  }

  /// The function of a frame, as far as any of its compiles says.
  trace::SourceLocation function_of(const AttemptKey& key) const {
    trace::SourceLocation found;
    for (const auto& [other, said] : facts_.attempts) {
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
    LogAttempt& said = facts_.attempts.at(key);
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
    const LogAttempt& said = facts_.attempts.at(key);
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
    for (RecompileText reason : facts_.attempts.at(key).recompiles) {
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
    for (const auto& [other, said] : facts_.attempts)
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
    const LogAttempt& said = facts_.attempts.at(key);
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

  void write_diagnostic(LogDiagnostic& d) {
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
  trace::Id input_;
  LogFacts facts_;
  std::map<AttemptKey, trace::Id> compile_ids_;
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
