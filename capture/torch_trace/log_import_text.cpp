// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Records that are text and numbers: breaks, recompiles, guards, shapes, caches, metrics, inputs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/torch_text/break_reason.h"
#include "capture/torch_text/python_traceback.h"
#include "capture/torch_text/shapes.h"
#include "capture/torch_trace/log_import.h"

namespace strata::capture::detail {
namespace {

using Severity = trace::DiagnosticRecord::Severity;

// Larger lists of expressions are kept in several artifacts.
constexpr std::size_t kExpressionChunk = std::size_t{16} << 20;

std::string first_line(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start);
  return std::string(text.substr(0, text.find('\n')));
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Before the names of metrics, so that those of the forward compile keep the log's own.
std::string_view metric_prefix(std::string_view key) {
  if (key == "compilation_metrics") return "";
  if (key == "compilation_metrics_runtime") return "runtime.";
  if (key == "bwd_compilation_metrics_runtime") return "bwd_runtime.";
  return "bwd.";
}

std::string_view artifact_kind(const LogPlace& place, const LogRecord& record) {
  if (place.what.kind == RecordKind::Runnable || record.key == "dump_file") return "python";
  if (record.key == "graph_dump") return "cpp";
  if (record.key != "artifact") return record.has_payload_lines ? "text" : "json";
  return record.metadata.find("encoding").words() == "json" ? "json" : "text";
}

// `fx_graph_cache_miss` -> `FX graph cache miss`
std::string cache_title(std::string_view name, const CacheText& cache) {
  std::string title(name);
  std::replace(title.begin(), title.end(), '_', ' ');
  if (title.starts_with("fx graph")) title.replace(0, 2, "FX");
  if (title.starts_with("aotautograd")) title.replace(0, 11, "AOTAutograd");
  if (!cache.reason.empty()) title += ": " + first_line(cache.reason);
  return title;
}

// The function and line in `torch_dynamo_resume_in_f_at_12`.
std::optional<std::pair<std::string, std::int64_t>> resumed_at(std::string_view name) {
  constexpr std::string_view kStart = "torch_dynamo_resume_in_";
  const std::size_t at = name.rfind("_at_");
  if (!name.starts_with(kStart) || at == std::string_view::npos || at < kStart.size()) return std::nullopt;
  std::int64_t line = 0;
  for (const char c : name.substr(at + 4)) {
    if (c < '0' || c > '9' || line > 100'000'000) return std::nullopt;
    line = line * 10 + (c - '0');
  }
  return std::pair{std::string(name.substr(kStart.size(), at - kStart.size())), line};
}

}  // namespace

std::vector<trace::SourceLocation> LogImport::frames_of(std::size_t i, JsonSlice list) {
  std::vector<trace::SourceLocation> out;
  for (const JsonSlice frame : list.items()) {
    trace::SourceLocation location;
    std::optional<std::int64_t> file;
    for (const auto& [key, value] : frame.members()) {
      if (key == "line") location.line = std::max<std::int64_t>(value.integer().value_or(0), 0);
      if (key == "name") location.function = value.words();
      if (key == "filename") file = value.integer();
      if (key == "uninterned_filename") location.file = value.words();
      if (key == "loc") location.text = value.words();
    }
    if (file) location.file = file_.file_name(record(i), *file);
    if (!location.text.empty()) {
      context_.source_line(location.file, location.line, location.text);
      files_.add(location.file, location.line, location.text);
    }
    out.push_back(std::move(location));
  }
  return out;
}

trace::Id LogImport::stack(const std::vector<trace::SourceLocation>& locations) { return writer().stack(locations); }

trace::Id LogImport::stack_of(std::size_t i) {
  const JsonSlice metadata = record(i).metadata;
  auto locations = frames_of(i, metadata.find("user_stack"));
  if (locations.empty()) locations = frames_of(i, metadata.find("stack"));
  return stack(locations);
}

trace::DiagnosticRecord LogImport::diagnostic(std::size_t i, Severity severity, std::string_view kind,
                                              std::string title) {
  trace::DiagnosticRecord d;
  d.severity = severity;
  d.kind = kind;
  d.title = std::move(title);
  d.compile = compile_id_of(i);
  d.process = process_of(record(i).head.ident).id;
  d.input = input_;
  d.line = record(i).line;
  return d;
}

// The start itself is in the CompileRecord; its stack, where the call came from, is kept as an artifact.
void LogImport::take_start(std::size_t i) {
  last_start_ = static_cast<std::int64_t>(i);
  const auto locations = frames_of(i, record(i).metadata.find("stack"));
  if (CompileState* compile = compile_of(i)) compile->started = true;
  std::string text;
  for (const trace::SourceLocation& l : locations) {
    text += fmt::format("  File \"{}\", line {}, in {}\n", l.file, l.line, l.function);
    if (!l.text.empty()) text += "    " + l.text + "\n";
  }
  artifact(owner_of(i), "text", "dynamo_start", trace::pack_content(text));
}

void LogImport::take_break(std::size_t i, const PreparedRecord& prepared) {
  GraphBreakText text = parse_graph_break(prepared.text);
  for (const trace::SourceLocation& l : text.stack) {
    context_.source_line(l.file, l.line, l.text);
    files_.add(l.file, l.line, l.text);
  }
  BreakState state;
  state.record = graph_break_record(text, prepared.text);
  state.record.process = process_of(record(i).head.ident).id;
  if (const CompileState* compile = compile_of(i)) state.record.frame = compile->frame;
  state.record.compile = compile_id_of(i);
  state.record.stack = stack(text.stack);
  state.file = text.file;
  state.line = text.line;
  state.stack = std::move(text.stack);
  state.compile = place(i).compile;
  state.attempt = place(i).attempt;
  state.record.id = writer().add(state.record);
  breaks_.push_back(std::move(state));
}

// A break costs the attempt that it ended, if that was started over, and the first compile of each function that
// resumes behind it (a branch has two): `torch_dynamo_resume_in_f_at_12` for a break in `f`, or in what resumes `f`, at
// line 12. Such a compile is put down to the last break before it that fits.
void LogImport::finish_breaks() {
  std::vector<std::int64_t> costs(breaks_.size(), -1);
  const auto add = [&](std::size_t b, std::int64_t ns) {
    if (ns >= 0) costs[b] = std::max<std::int64_t>(costs[b], 0) + ns;
  };
  std::map<std::pair<trace::Id, std::string>, std::vector<std::size_t>> of_function;
  for (std::size_t b = 0; b < breaks_.size(); ++b) {
    if (breaks_[b].compile < 0) continue;
    const trace::CompileRecord& attempt = attempt_of(breaks_[b].compile, breaks_[b].attempt).record;
    if (attempt.outcome == "restarted") add(b, attempt.duration_ns);
    const CompileState& broken = compiles_[static_cast<std::size_t>(breaks_[b].compile)];
    const auto outer = resumed_at(broken.function);
    of_function[{broken.process, outer ? outer->first : broken.function}].push_back(b);
  }
  for (std::size_t c = 0; c < compiles_.size(); ++c) {
    const auto at = resumed_at(compiles_[c].function);
    if (!at || structure_.compiles[c].compile.value_or(0) != 0) continue;
    const auto breaks = of_function.find({compiles_[c].process, at->first});
    if (breaks == of_function.end()) continue;
    const auto cause = std::find_if(breaks->second.rbegin(), breaks->second.rend(), [&](std::size_t b) {
      return static_cast<std::size_t>(breaks_[b].compile) < c && breaks_[b].is_at(at->second);
    });
    if (cause != breaks->second.rend()) add(*cause, total_ns(compiles_[c]));
  }
  for (std::size_t b = 0; b < breaks_.size(); ++b) {
    if (costs[b] < 0) continue;
    breaks_[b].record.cost_ns = costs[b];
    writer().update(breaks_[b].record);
  }
}

void LogImport::take_recompile(std::size_t i, const PreparedRecord& prepared) {
  for (RecompileText& reason : parse_recompile_reasons(prepared.text)) {
    for (const trace::SourceLocation& l : reason.stack) {
      context_.source_line(l.file, l.line, l.text);
      files_.add(l.file, l.line, l.text);
    }
    recompiles_.push_back({std::move(reason), place(i).compile, place(i).attempt});
  }
}

// Written at the end: the guard that failed belongs to an earlier compile, the value it met shows in the later one.
void LogImport::finish_recompiles() {
  std::map<std::tuple<trace::Id, int, std::string>, std::size_t> by_id;
  for (std::size_t c = 0; c < compiles_.size(); ++c)
    by_id[{compiles_[c].process, structure_.compiles[c].round, structure_.compiles[c].id}] = c;
  for (RecompileState& r : recompiles_) {
    trace::RecompileRecord out;
    if (r.compile >= 0) {
      const CompileState& state = compiles_[static_cast<std::size_t>(r.compile)];
      const AttemptState& last = state.attempts.back();
      derive_actual(r.text, last.guards, last.values);
      out = recompile_record(r.text);
      out.compile = state.attempts[static_cast<std::size_t>(r.attempt)].record.id;
      const int round = structure_.compiles[static_cast<std::size_t>(r.compile)].round;
      const auto of = by_id.find({state.process, round, r.text.of});
      if (of != by_id.end()) {
        const AttemptState& earlier = compiles_[of->second].attempts.back();
        out.of = earlier.record.id;
        if (const trace::GuardRecord* guard = find_guard(r.text, earlier.guards)) {
          out.guard = guard->id;
          out.stack = guard->stack;
        }
      }
      out.cost_ns = total_ns(state);
      if (state.backward_ns > 0) out.cost_ns = std::max<std::int64_t>(out.cost_ns, 0) + state.backward_ns;
    } else {
      out = recompile_record(r.text);
    }
    if (const auto locations = recompile_stack(r.text, files_); !locations.empty()) out.stack = stack(locations);
    writer().add(out);
  }
}

// Why each attempt of a compile but the last was given up. The log lists the reasons in no order: those that a graph
// break of an attempt has in its own words are its reason, the others are taken one by one.
std::vector<std::string> LogImport::restart_reasons(std::size_t c) const {
  const CompileState& state = compiles_[c];
  std::vector<std::string> reasons(state.attempts.size()), rest;
  if (state.metrics) rest = state.metrics->restarts;
  for (const BreakState& b : breaks_) {
    if (b.compile != static_cast<int>(c)) continue;
    const auto own = std::find_if(rest.begin(), rest.end(), [&](const std::string& r) {
      return !b.record.reason.empty() && first_line(r).starts_with(b.record.reason);
    });
    std::string& reason = reasons[static_cast<std::size_t>(b.attempt)];
    if (!reason.empty()) continue;
    reason = own == rest.end() ? b.record.reason : *own;
    if (own != rest.end()) rest.erase(own);
  }
  auto next = rest.begin();
  for (std::size_t a = 0; a + 1 < reasons.size(); ++a) {
    if (reasons[a].empty() && next != rest.end()) reasons[a] = *next++;
  }
  return reasons;
}

void LogImport::finish_restarts() {
  for (std::size_t c = 0; c < compiles_.size(); ++c) {
    const CompileState& state = compiles_[c];
    if (state.attempts.size() < 2) continue;
    const std::vector<std::string> reasons = restart_reasons(c);
    for (std::size_t a = 0; a + 1 < state.attempts.size(); ++a) {
      const trace::CompileRecord& attempt = state.attempts[a].record;
      const auto& next = structure_.compiles[c].attempts[a + 1].records;
      trace::DiagnosticRecord d;
      d.severity = Severity::Warning;
      d.kind = "restart";
      d.title = reasons[a].empty() ? "the analysis was started over" : first_line(reasons[a]);
      d.detail = reasons[a];
      d.compile = attempt.id;
      d.process = state.process;
      d.input = input_;
      d.line = next.empty() ? 0 : record(next.front()).line;
      d.cost_ns = attempt.duration_ns;
      writer().add(d);
    }
  }
}

void LogImport::take_guards(std::size_t i, const PreparedRecord& prepared) {
  AttemptState* attempt = attempt_of(i);
  const trace::Id compile = compile_id_of(i);
  std::pair<std::string, std::int64_t> last;
  trace::Id last_stack = trace::kNone;
  for (const GuardText& guard : prepared.guards->guards) {
    trace::GuardRecord r = guard_record(guard);
    r.compile = compile;
    // Neighbours mostly come from the same line.
    if (std::pair place{guard.file, guard.line}; place != last) {
      const trace::SourceLocation location = guard_location(guard, files_);
      context_.source_line(location.file, location.line, location.text);
      last_stack = location.file.empty() ? trace::kNone : stack({location});
      last = std::move(place);
    }
    r.stack = last_stack;
    r.id = writer().add(r);
    if (attempt) attempt->guards.push_back(std::move(r));
  }
  trace::MetricRecord m;
  m.owner = owner_of(i);
  m.key = "guards";
  m.value = static_cast<double>(prepared.guards->guards.size());
  m.unit = "1";
  writer().add(m);
  if (prepared.guards->latency_ns < 0) return;
  m.key = "guard_latency";
  m.value = prepared.guards->latency_ns;
  m.unit = "ns";
  writer().add(m);
}

// Old logs list the conditions, each with the stack that made it. Where there is a tree too, it has them all.
void LogImport::take_guard_list(std::size_t i, const PreparedRecord& prepared) {
  keep(i, prepared);
  AttemptState* attempt = attempt_of(i);
  if (!attempt) return;
  const LogCompile& compile = structure_.compiles[static_cast<std::size_t>(place(i).compile)];
  for (const std::size_t other : compile.attempts[static_cast<std::size_t>(place(i).attempt)].records) {
    if (place(other).what.kind == RecordKind::GuardTree) return;
  }
  for (const JsonSlice item : parse_slice(prepared.text).items()) {
    trace::GuardRecord r = guard_record(parse_guard_code(item.find("code").words()));
    r.compile = attempt->record.id;
    auto locations = frames_of(i, item.find("user_stack"));
    if (locations.empty()) locations = frames_of(i, item.find("stack"));
    r.stack = stack(locations);
    r.id = writer().add(r);
    attempt->guards.push_back(std::move(r));
  }
}

void LogImport::take_metrics(std::size_t i, PreparedRecord& prepared) {
  MetricsText& m = *prepared.metrics;
  const std::string_view prefix = metric_prefix(record(i).key);
  trace::MetricRecord metric;
  metric.owner = owner_of(i);
  for (const MetricsText::Number& n : m.numbers) {
    metric.key = fmt::format("{}{}", prefix, n.key);
    metric.value = n.value;
    metric.unit = n.unit;
    writer().add(metric);
  }
  if (prepared.packed) artifact(metric.owner, "json", record(i).key, *prepared.packed);
  for (const auto& [name, version] : m.versions) versions_.try_emplace(name, version);
  if (!m.cudagraph_skip.empty()) {
    auto d = diagnostic(i, Severity::Warning, "cudagraph-skip", first_line(m.cudagraph_skip));
    d.detail = m.cudagraph_skip;
    writer().add(d);
  }
  CompileState* compile = compile_of(i);
  if (!compile) return;
  if (prefix == "bwd." && m.duration_ns > 0)
    compile->backward_ns = std::max<std::int64_t>(compile->backward_ns, 0) + m.duration_ns;
  if (prefix.empty()) compile->metrics = std::move(prepared.metrics);
}

void LogImport::take_error(std::size_t i, const PreparedRecord& prepared) {
  keep(i, prepared);
  const PythonError error = parse_python_error(prepared.text);
  for (const trace::SourceLocation& l : error.user_stack) context_.source_line(l.file, l.line, l.text);
  const std::string message =
      error.type.empty() ? first_line(prepared.text) : fmt::format("{}: {}", error.type, first_line(error.message));
  auto d = diagnostic(i, Severity::Error, "error", message);
  d.detail = prepared.text;
  d.hint = error.advice;
  d.stack = stack(error.user_stack.empty() ? error.stack : error.user_stack);
  writer().add(d);
  if (CompileState* compile = compile_of(i)) compile->error = message;
}

void LogImport::take_cache(std::size_t i, const PreparedRecord& prepared) {
  keep(i, prepared);
  const std::string& name = place(i).what.name;
  const CacheText& cache = *prepared.cache;
  const bool hit = contains(name, "_hit"), miss = contains(name, "_miss");
  auto d = diagnostic(i, hit || miss ? Severity::Info : Severity::Warning,
                      hit    ? "cache-hit"
                      : miss ? "cache-miss"
                             : "cache-bypass",
                      cache_title(name, cache));
  if (!cache.key.empty()) d.detail = "key " + cache.key;
  for (const std::string* part : {&cache.exception, &cache.reason}) {
    if (!part->empty()) d.detail += (d.detail.empty() ? "" : "\n") + *part;
  }
  d.cost_ns = hit ? -1 : cache.time_ns;
  writer().add(d);
  AttemptState* attempt = attempt_of(i);
  const bool of_program = name.starts_with("fx_graph_cache") || name.starts_with("fx_graph_bundled");
  if (attempt && attempt->pending && of_program && !cache.key.empty()) attempt->pending->program.key = cache.key;
}

void LogImport::take_symbol(std::size_t i) {
  const JsonSlice m = record(i).metadata;
  trace::SymbolRecord s;
  s.compile = compile_id_of(i);
  s.name = m.find("symbol").words();
  s.origin = m.find("source").words();
  const std::string value = m.find("val").words();
  if (place(i).what.kind == RecordKind::Symbol) s.hint = parse_hint(value);
  const RangeText range = parse_range(m.find("vr").words());
  s.min = range.min;
  s.max = range.max;
  s.stack = stack_of(i);
  writer().add(s);
  if (AttemptState* attempt = attempt_of(i); attempt && !value.empty() && !s.origin.empty())
    attempt->values.push_back({s.origin, value});
}

void LogImport::take_assumption(std::size_t i) {
  const JsonSlice m = record(i).metadata;
  trace::AssumptionRecord a;
  a.compile = compile_id_of(i);
  a.stack = stack_of(i);
  if (place(i).what.kind == RecordKind::Specialization) {
    a.kind = "specialized";
    a.expression = fmt::format("Eq({}, {})", m.find("symbol").words(), m.find("value").words());
    a.reason = m.find("reason").words();
    for (const JsonSlice source : m.find("sources").items())
      a.reason += (a.reason.empty() ? "" : "; ") + source.words();
  } else if (place(i).what.kind == RecordKind::RealTensors) {
    a.kind = "real-tensors";
    a.expression = m.find("expr").words();
    a.reason = "assumed " + m.find("result").words();
  } else {
    a.kind = "relation";
    a.expression = m.find("expr").words();
    a.reason = m.find("prefix").words();
  }
  writer().add(a);
}

void LogImport::take_expression(std::size_t i) {
  AttemptState* attempt = attempt_of(i);
  if (!attempt) {
    artifact(owner_of(i), "json", record(i).key, trace::pack_content(record(i).metadata.text));
    return;
  }
  attempt->expressions += attempt->expressions.empty() ? "[\n" : ",\n";
  attempt->expressions += record(i).metadata.text;
  if (attempt->expressions.size() > kExpressionChunk) write_expressions(*attempt);
}

void LogImport::write_expressions(AttemptState& attempt) {
  if (attempt.expressions.empty()) return;
  attempt.expressions += "\n]";
  artifact({trace::OwnerKind::Compile, attempt.record.id, attempt.record.id}, "json", "expression_created",
           trace::pack_content(attempt.expressions, 1));
  attempt.expressions.clear();
}

void LogImport::take_note(std::size_t i) {
  const JsonSlice m = record(i).metadata;
  trace::DiagnosticRecord d;
  switch (place(i).what.kind) {
    case RecordKind::DataDependent:
      d = diagnostic(i, Severity::Error, "data-dependent",
                     fmt::format("the value of {} depends on data", m.find("expr").words()));
      d.detail = m.find("unhinted_expr").words();
      d.stack = stack_of(i);
      break;
    case RecordKind::FakeKernel:
      d = diagnostic(i, Severity::Warning, "fake-kernel",
                     fmt::format("{} {} fake kernel", m.find("op").words(),
                                 record(i).key == "missing_fake_kernel" ? "has no" : "has a wrong"));
      d.detail = m.find("reason").words();
      break;
    default:
      d = diagnostic(i, Severity::Info, "link", m.find("name").words());
      d.detail = m.find("url").words();
      break;
  }
  writer().add(d);
}

// `torch_version` says it all; the script that reproduces a graph has comments.
void LogImport::take_version(std::size_t i, const PreparedRecord& prepared) {
  if (place(i).what.kind == RecordKind::Version) {
    const JsonSlice json = parse_slice(prepared.text);
    if (const std::string version = json.find("pytorch_version").words(); !version.empty())
      versions_["torch"] = version;
    if (const std::string commit = json.find("commit").words(); !commit.empty()) versions_["torch.git"] = commit;
    return;
  }
  const std::string_view text = prepared.text;
  for (const auto& [mark, name] : {std::pair{"# torch version: ", "torch"},
                                   {"# torch cuda version: ", "cuda"},
                                   {"# torch git version: ", "torch.git"}}) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view version = text.substr(at + std::string_view(mark).size());
    version = version.substr(0, version.find_first_of("\r\n"));
    if (!version.empty() && version != "Unknown" && version != "None") versions_.try_emplace(name, version);
  }
}

void LogImport::take_unknown(std::size_t i, const PreparedRecord& prepared) {
  const LogRecord& r = record(i);
  context_.problem(input_, "unknown_record", r.line,
                   fmt::format("records of kind '{}' are not known", place(i).what.name));
  trace::RawRecord raw;
  raw.source = name_.string();
  raw.ordinal = r.line;
  raw.kind = place(i).what.name;
  raw.content = std::string(r.head.json);
  if (r.has_payload_lines) raw.content += "\n" + prepared.text;
  if (raw.content.size() <= kMaxKept) writer().add(raw);
}

void LogImport::keep(std::size_t i, const PreparedRecord& prepared) {
  std::string name = place(i).what.name;
  const AttemptState* attempt = attempt_of(i);
  if (attempt && attempt->adopted && (name == "backend" || name == "strata_compile")) return;  // the trace has it
  if (const std::string sub = record(i).key == "artifact" ? "" : record(i).metadata.find("name").words(); !sub.empty())
    name += "." + sub;
  if (prepared.packed) {
    artifact(owner_of(i), artifact_kind(place(i), record(i)), name, *prepared.packed);
  } else if (std::max(record(i).payload.size(), record(i).metadata.text.size()) > kMaxKept) {
    context_.problem(input_, "too_large", record(i).line, fmt::format("'{}' is too large to be kept", name));
  } else {
    artifact(owner_of(i), "json", name, trace::pack_content(record(i).metadata.text));
  }
}

// What the log says of the compile's inputs: one entry per tensor, with its storage and what it is called in Python.
// Ids are unique within a describer; storages and tensors are numbered apart.
void LogImport::write_tensors(AttemptState& attempt) {
  if (attempt.tensors.empty()) return;
  using Key = std::pair<std::int64_t, std::int64_t>;
  std::map<Key, std::vector<JsonSlice>> sources;
  std::map<Key, JsonSlice> storages;
  const auto key_of = [](JsonSlice m, const char* id) {
    return Key{m.find("describer_id").integer().value_or(-1), m.find(id).integer().value_or(-1)};
  };
  for (const std::size_t i : attempt.tensors) {
    const JsonSlice m = record(i).metadata;
    if (place(i).what.kind == RecordKind::Storage) storages[key_of(m, "id")] = m;
    if (place(i).what.kind == RecordKind::Source) sources[key_of(m, "id")].push_back(m.find("source"));
  }
  std::string out = "[";
  std::map<Key, bool> used;
  const auto entry = [&](const std::vector<JsonSlice>* names, JsonSlice tensor, JsonSlice storage) {
    out += out.size() > 1 ? ",\n{\"sources\": [" : "\n{\"sources\": [";
    for (std::size_t k = 0; names && k < names->size(); ++k) {
      if (k > 0) out += ", ";
      out += (*names)[k] ? (*names)[k].text : "null";
    }
    out += ']';
    if (tensor) out.append(", \"tensor\": ").append(tensor.text);
    if (storage) out.append(", \"storage\": ").append(storage.text);
    out += '}';
  };
  for (const std::size_t i : attempt.tensors) {
    if (place(i).what.kind != RecordKind::Tensor) continue;
    const JsonSlice m = record(i).metadata;
    const auto named = sources.find(key_of(m, "id"));
    const auto storage = storages.find(key_of(m, "storage"));
    if (named != sources.end()) used[named->first] = true;
    entry(named == sources.end() ? nullptr : &named->second, m,
          storage == storages.end() ? JsonSlice{} : storage->second);
  }
  // Names of tensors whose description was lost, and storages that nothing refers to.
  for (const auto& [key, names] : sources) {
    if (!used.contains(key)) entry(&names, {}, {});
  }
  out += "\n]";
  if (out.size() <= kMaxKept) {
    artifact({trace::OwnerKind::Compile, attempt.record.id, attempt.record.id}, "json", "tensors",
             trace::pack_content(out, 1));
  } else {
    context_.problem(input_, "too_large", 0, "what is said of the inputs is too large to be kept");
  }
  attempt.tensors.clear();
}

}  // namespace strata::capture::detail
