// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "capture/torch_trace/gunzip.h"
#include "capture/torch_trace/ordered_work.h"
#include "capture/torch_trace/workers.h"
#include "core/support/error.h"

namespace strata::capture {
namespace detail {
namespace {

// Results ahead of the writer, and the payload bytes they came from.
constexpr std::size_t kWindow = 4096;
constexpr std::size_t kBudget = std::size_t{256} << 20;
constexpr std::size_t kProgressStep = 256;
// Graphs of so many bytes of text take some milliseconds to destroy.
constexpr std::size_t kLargeGraphs = std::size_t{1} << 20;

std::string first_line(std::string_view text) {
  while (!text.empty() && (text.front() == '\n' || text.front() == ' ')) text.remove_prefix(1);
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

LogImport::LogImport(ImportContext& context, LogFile file, const std::filesystem::path& name, std::int64_t file_time_ns,
                     const TorchTraceOptions& options)
    : context_(context), file_(std::move(file)), name_(name), file_time_ns_(file_time_ns), options_(options) {}

trace::Id LogImport::run() {
  trace::InputRecord input;
  input.path = name_.string();
  input.kind = "torch-trace";
  input.bytes = static_cast<std::int64_t>(file_.bytes());
  input_ = context_.add_input(input);
  structure_ = structure_of(file_);
  find_clock();
  add_processes();
  add_compiles();
  const auto& records = file_.records();
  const int threads = worker_count(options_.threads);
  OrderedWork<PreparedRecord> work(
      records.size(), threads > 1 ? threads : 0, kWindow, kBudget,
      [&](std::size_t i) { return records[i].payload.size() + records[i].head.json.size(); },
      [&](std::size_t i) { return prepare(file_, records[i], structure_.places[i].what); });
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i % kProgressStep == 0)
      context_.progress(static_cast<double>(i) / static_cast<double>(records.size()), name_.filename().string());
    PreparedRecord prepared = work.take(i);
    take(i, prepared);
  }
  finish();
  return input_;
}

// A record that says what time it is: the first event of the timeline, else the end of a compile.
void LogImport::find_clock() {
  clock_ = LogClock::before(file_time_ns_);
  for (std::size_t i = 0; i < file_.records().size(); ++i) {
    const LogRecord& r = record(i);
    std::int64_t now = -1;
    if (place(i).what.kind == RecordKind::Event) {
      const EventText event = parse_event(file_.payload(r));
      if (event.valid && event.phase == "B") now = event.start_ns;
    } else if (r.key == "compilation_metrics") {
      const MetricsText m = parse_metrics(r.metadata);
      if (m.start_ns >= 0) now = m.start_ns + std::max<std::int64_t>(m.duration_ns, 0);
    }
    if (now < 0) continue;
    clock_ = LogClock(r.head.time, now);
    return;
  }
}

void LogImport::add_processes() {
  for (const std::int64_t ident : file_.idents()) {
    const std::int64_t pid = pid_of(ident);
    if (processes_.contains(pid)) continue;
    ranks_[pid] = file_.rank(ident);
    processes_[pid].id = context_.process(pid, ranks_[pid]);
  }
  for (const LogRecord& r : file_.records()) {
    const auto known = std::find_if(context_.processes().begin(), context_.processes().end(),
                                    [&](const auto& p) { return p.id == process_of(r.head.ident).id; });
    if (known == context_.processes().end() || known->start_ns >= 0) break;
    trace::ProcessRecord process = *known;
    process.start_ns = clock_.ns(r.head.time);
    if (process.start_ns >= 0) context_.update(process);
    break;
  }
}

LogImport::ProcessState& LogImport::process_of(std::int64_t ident) {
  ProcessState& process = processes_[pid_of(ident)];
  // Beyond the idents that are listed when a damaged file has very many.
  if (process.id == trace::kNone) process.id = context_.process(pid_of(ident), file_.rank(ident));
  return process;
}

// Function, file and line of the code that is compiled: the last frame of the first start, else what metrics say.
trace::Id LogImport::frame_of(CompileState& state, const LogCompile& compile) {
  if (!compile.frame) return trace::kNone;
  const std::tuple key{state.process, *compile.frame, compile.round};
  const auto known = frames_.find(key);
  if (known != frames_.end()) {
    state.function = known->second.name;
    return known->second.id;
  }
  trace::FrameRecord frame;
  frame.process = state.process;
  frame.number = *compile.frame;
  for (const LogAttempt& attempt : compile.attempts) {
    for (const std::size_t i : attempt.records) {
      if (!frame.name.empty()) break;
      if (place(i).what.kind == RecordKind::Start) {
        const auto stack = frames_of(i, record(i).metadata.find("stack"));
        if (!stack.empty())
          frame.name = stack.back().function, frame.file = stack.back().file, frame.line = stack.back().line;
      } else if (place(i).what.kind == RecordKind::Metrics) {
        const MetricsText m = parse_metrics(record(i).metadata);
        frame.name = m.function, frame.file = m.file, frame.line = m.first_line;
      }
    }
  }
  for (const LogAttempt& attempt : compile.attempts)
    if (const AdoptedCompile* same = adopted(attempt); same && frame.id == trace::kNone) frame.id = same->record.frame;
  if (frame.id == trace::kNone) frame.id = writer().add(frame);
  state.function = frame.name;
  frames_.emplace(key, frame);
  return frame.id;
}

std::string LogImport::address_prefix(const LogCompile& compile) const {
  std::string prefix;
  const auto rank = ranks_.find(compile.pid);
  if (options_.rank_prefix && rank != ranks_.end() && rank->second >= 0) prefix = fmt::format("r{}:", rank->second);
  if (compile.round > 0) prefix += fmt::format("s{}:", compile.round + 1);
  return compile.autograd.empty() || !compile.frame ? prefix : fmt::format("{}!{}/", prefix, compile.autograd);
}

// A recorder that takes part in a compile leaves a record that says which compile of the trace it is.
const AdoptedCompile* LogImport::adopted(const LogAttempt& attempt) const {
  if (context_.adopted().empty()) return nullptr;
  for (const std::size_t i : attempt.records) {
    if (record(i).key != "artifact" || place(i).what.name != "strata_compile") continue;
    const std::string id = file_.payload(record(i));
    for (const AdoptedCompile& c : context_.adopted())
      if (std::to_string(c.record.id) == id) return &c;
  }
  return nullptr;
}

void LogImport::add_compiles() {
  std::set<std::string> taken;
  std::set<trace::Id> joined;
  for (const LogCompile& compile : structure_.compiles)
    for (const LogAttempt& attempt : compile.attempts)
      if (const AdoptedCompile* same = adopted(attempt)) joined.insert(same->record.id);
  for (const ImportedCompile& c : context_.compiles()) taken.insert(c.record.address);
  for (const AdoptedCompile& c : context_.adopted())
    if (!joined.contains(c.record.id)) taken.insert(c.record.address);
  compiles_.resize(structure_.compiles.size());
  for (std::size_t c = 0; c < compiles_.size(); ++c) {
    const LogCompile& compile = structure_.compiles[c];
    CompileState& state = compiles_[c];
    state.process = process_of(compile.pid).id;
    state.frame = frame_of(state, compile);
    std::string prefix = address_prefix(compile);
    for (const LogAttempt& attempt : compile.attempts) {
      AttemptState& a = state.attempts.emplace_back();
      a.left = attempt.records.size();
      a.adopted = adopted(attempt);
      if (a.adopted) a.record = a.adopted->record, a.captured = a.adopted->captured;
      a.record.process = state.process;
      a.record.frame = state.frame;
      a.record.frame_number = compile.frame.value_or(0);
      a.record.compile_number = compile.compile.value_or(0);
      a.record.attempt = attempt.number;
      if (a.record.name.empty() || a.record.name == "graph") a.record.name = state.function;
      const std::string number =
          compile.frame ? fmt::format("{}/{}", a.record.frame_number, a.record.compile_number) : compile.id;
      const std::string again = attempt.number > 0 ? fmt::format("_{}", attempt.number) : "";
      a.record.address = prefix + number + again;
      // Two processes without ranks may have compiles of the same number.
      if (taken.contains(a.record.address) && !prefix.starts_with('p')) {
        prefix = fmt::format("p{}:{}", compile.pid, prefix);
        a.record.address = prefix + number + again;
      }
      taken.insert(a.record.address);
      a.record.prefix = prefix;
      if (!a.adopted) a.record.id = writer().add(a.record);
      a.graphs = std::make_unique<GraphImporter>(context_, a.record.id, input_, a.adopted ? kTorchNodes : 1);
    }
  }
}

CompileState* LogImport::compile_of(std::size_t i) {
  return place(i).compile < 0 ? nullptr : &compiles_[static_cast<std::size_t>(place(i).compile)];
}

AttemptState* LogImport::attempt_of(std::size_t i) {
  CompileState* compile = compile_of(i);
  return compile ? &compile->attempts[static_cast<std::size_t>(place(i).attempt)] : nullptr;
}

trace::Id LogImport::compile_id_of(std::size_t i) {
  const AttemptState* attempt = attempt_of(i);
  return attempt ? attempt->record.id : trace::kNone;
}

trace::Owner LogImport::owner_of(std::size_t i) {
  const trace::Id compile = compile_id_of(i);
  if (compile != trace::kNone) return {trace::OwnerKind::Compile, compile, compile};
  return {trace::OwnerKind::Process, process_of(record(i).head.ident).id, trace::kNone};
}

void LogImport::artifact(const trace::Owner& owner, std::string_view kind, std::string_view name,
                         const trace::PackedContent& content) {
  trace::ArtifactRecord a;
  a.owner = owner;
  a.kind = kind;
  a.name = name;
  writer().add(a, content);
}

void LogImport::take(std::size_t i, PreparedRecord& prepared) {
  ++counts_[place(i).what.count];
  switch (place(i).what.kind) {
    case RecordKind::String:
      if (const auto pair = record(i).metadata.items(); !pair.empty()) files_.add(pair[0].string());
      break;
    case RecordKind::Start:
      take_start(i);
      break;
    case RecordKind::Graph:
      take_graph(i, prepared);
      break;
    case RecordKind::OutputCode:
      take_code(i, prepared);
      break;
    case RecordKind::GuardTree:
      take_guards(i, prepared);
      break;
    case RecordKind::GuardList:
      take_guard_list(i, prepared);
      break;
    case RecordKind::Metrics:
      take_metrics(i, prepared);
      break;
    case RecordKind::Event:
      take_event(i, prepared);
      break;
    case RecordKind::Break:
      take_break(i, prepared);
      break;
    case RecordKind::Recompile:
      take_recompile(i, prepared);
      break;
    case RecordKind::Error:
      take_error(i, prepared);
      break;
    case RecordKind::Cache:
      take_cache(i, prepared);
      break;
    case RecordKind::Storage:
    case RecordKind::Tensor:
    case RecordKind::Source:
      if (AttemptState* a = attempt_of(i)) {
        a->tensors.push_back(i);
        if (place(i).what.kind == RecordKind::Source) a->sources.push_back(record(i).metadata.find("source").words());
      } else {
        keep(i, prepared);
      }
      break;
    case RecordKind::Symbol:
    case RecordKind::UnbackedSymbol:
      take_symbol(i);
      break;
    case RecordKind::GuardAdded:
    case RecordKind::Specialization:
    case RecordKind::RealTensors:
      take_assumption(i);
      break;
    case RecordKind::Expression:
      take_expression(i);
      break;
    case RecordKind::DataDependent:
    case RecordKind::FakeKernel:
    case RecordKind::Link:
      take_note(i);
      break;
    case RecordKind::NodeMappings:
    case RecordKind::KernelStacks:
    case RecordKind::PostNodes:
    case RecordKind::PreNodes:
    case RecordKind::TritonInfo:
      take_program_text(i, prepared);
      break;
    case RecordKind::Version:
    case RecordKind::Runnable:
      take_version(i, prepared);
      keep(i, prepared);
      break;
    case RecordKind::Other:
      keep(i, prepared);
      break;
    case RecordKind::Unknown:
      take_unknown(i, prepared);
      break;
  }
  for (const auto& [key, value] : record(i).others) {
    trace::RawRecord raw;
    raw.source = name_.string();
    raw.ordinal = record(i).line;
    raw.kind = "extra:" + key;
    raw.content = value.text;
    writer().add(raw);
  }
  AttemptState* attempt = attempt_of(i);
  if (attempt && --attempt->left == 0) finish_attempt(*attempt);
}

void LogImport::finish_attempt(AttemptState& attempt) {
  write_program(attempt);
  write_tensors(attempt);
  write_expressions(attempt);
  attempt.graphs->finish();
  if (attempt.graph_bytes > kLargeGraphs) discard(std::shared_ptr<GraphImporter>(std::move(attempt.graphs)));
  attempt.graphs.reset();
}

void LogImport::discard(std::shared_ptr<void> what) {
  if (options_.threads == 1) return;
  discarded_.push_back(std::async(std::launch::async, [what = std::move(what)]() mutable { what.reset(); }));
}

std::int64_t LogImport::total_ns(const CompileState& state) const {
  std::int64_t total = state.metrics ? state.metrics->duration_ns : -1;
  if (total < 0) total = state.span.duration_ns;
  if (total < 0) {
    for (const AttemptState& a : state.attempts) {
      if (a.record.duration_ns >= 0) total = std::max<std::int64_t>(total, 0) + a.record.duration_ns;
    }
  }
  return total;
}

// Attempts begin where the timeline says, else where they were logged. The last one ends with the compile.
void LogImport::finish_times(const LogCompile& compile, CompileState& state) {
  const auto logged_start = [&](std::size_t attempt) -> std::int64_t {
    for (const std::size_t i : compile.attempts[attempt].records) {
      if (place(i).what.kind == RecordKind::Start) return clock_.ns(record(i).head.time);
    }
    const auto& records = compile.attempts[attempt].records;
    return records.empty() ? -1 : clock_.ns(record(records[0]).head.time);
  };
  const std::int64_t start =
      state.metrics && state.metrics->start_ns >= 0 ? state.metrics->start_ns : state.span.start_ns;
  const std::int64_t total =
      state.metrics && state.metrics->duration_ns >= 0 ? state.metrics->duration_ns : state.span.duration_ns;
  for (std::size_t a = 0; a < state.attempts.size(); ++a) {
    trace::CompileRecord& r = state.attempts[a].record;
    r.start_ns = state.attempts[a].span.start_ns;
    if (a == 0 && start >= 0) r.start_ns = start;
    if (r.start_ns < 0) r.start_ns = logged_start(a);
  }
  for (std::size_t a = 0; a < state.attempts.size(); ++a) {
    trace::CompileRecord& r = state.attempts[a].record;
    const bool last = a + 1 == state.attempts.size();
    if (last && start >= 0 && total >= 0) {
      r.duration_ns = std::max<std::int64_t>(start + total - r.start_ns, 0);
    } else if (!last && r.start_ns >= 0 && state.attempts[a + 1].record.start_ns >= r.start_ns) {
      r.duration_ns = state.attempts[a + 1].record.start_ns - r.start_ns;
    } else {
      r.duration_ns = state.attempts[a].span.duration_ns;
    }
  }
}

void LogImport::finish_outcome(std::size_t index, CompileState& state) {
  for (std::size_t a = 0; a + 1 < state.attempts.size(); ++a) state.attempts[a].record.outcome = "restarted";
  trace::CompileRecord& last = state.attempts.back().record;
  const std::string before = last.outcome;  // of another producer
  const LogCompile& compile = structure_.compiles[index];
  const auto& records = compile.attempts.back().records;
  const std::int64_t end = records.empty() ? 0 : static_cast<std::int64_t>(records.back());
  if (state.metrics && !state.metrics->fail_type.empty()) {
    last.outcome = "failed";
    last.error =
        state.metrics->fail_type + (state.metrics->fail_reason.empty() ? "" : ": ") + state.metrics->fail_reason;
  } else if (state.metrics) {
    last.outcome = state.metrics->guarded_code == false ? "skipped" : "ok";
  } else if (!state.error.empty()) {
    last.outcome = "failed";
    last.error = state.error;
  } else if (!state.started) {
    last.outcome = state.has_graph ? "ok" : "";
  } else if (last_start_ > end) {
    // Others were compiled after it, and it never ended: what ended it was not logged.
    last.outcome = "failed";
    last.error = "the log does not say how it ended";
  }
  if (last.outcome == "ok" && !before.empty()) last.outcome = before;
}

void LogImport::finish_compiles() {
  for (std::size_t c = 0; c < compiles_.size(); ++c) {
    CompileState& state = compiles_[c];
    finish_times(structure_.compiles[c], state);
    finish_outcome(c, state);
  }
  for (const RecompileState& r : recompiles_) {
    if (r.compile < 0) continue;
    for (AttemptState& a : compiles_[static_cast<std::size_t>(r.compile)].attempts) {
      if (a.record.cause.empty()) a.record.cause = first_line(r.text.detail);
    }
  }
  for (CompileState& state : compiles_) {
    for (AttemptState& a : state.attempts) {
      if (a.record.cause.empty() && state.metrics) a.record.cause = first_line(state.metrics->recompile_reason);
      writer().update(a.record);
      context_.compiles().push_back({a.record, input_});
    }
  }
}

std::string LogImport::producer() const {
  if (const auto version = versions_.find("torch"); version != versions_.end()) return "torch " + version->second;
  const auto has = [&](const char* kind) { return counts_.contains(kind); };
  if (has("artifact:inductor_post_grad_graph")) return "torch, later than 2.9";
  if (has("artifact:after_post_grad_graph")) return "torch, about 2.9";
  if (has("artifact:before_pre_grad_graph")) return "torch, 2.8 or later";
  if (has("artifact:aotautograd_cache_miss") || has("inductor_pre_grad_graph")) return "torch, 2.7 or later";
  if (has("artifact:aotautograd_cache_hash")) return "torch, about 2.6";
  if (has("artifact:fx_graph_cache_hash") || has("dynamo_guards")) return "torch, about 2.4";
  return "torch";
}

void LogImport::finish() {
  finish_events();
  finish_compiles();
  finish_breaks();
  finish_recompiles();
  finish_restarts();
  for (const auto& [name, version] : versions_) writer().set_property(name, version);
  for (const auto& [kind, number] : counts_) context_.count(input_, kind, number);
  if (file_.repaired() > 0) context_.count(input_, "repaired", file_.repaired());
  for (const auto& [kind, problems] : file_.problems()) {
    for (const LogProblems::Place& p : problems.places) context_.problem(input_, kind, p.line, p.message);
    const std::int64_t more = problems.count - static_cast<std::int64_t>(problems.places.size());
    if (more > 0) context_.count(input_, "problem." + kind, more);
  }
  const trace::Id process = file_.idents().empty() ? trace::kNone : process_of(file_.idents().front()).id;
  context_.finish_input(input_, process, producer());
}

trace::Id import_file(ImportContext& context, LogFile file, const std::filesystem::path& name,
                      std::int64_t file_time_ns, const TorchTraceOptions& options) {
  if (file.records().empty()) {
    std::string why = file.bytes() == 0 ? ": it is empty" : "";
    if (const auto gzip = file.problems().find("gzip"); gzip != file.problems().end())
      why = ": " + gzip->second.places.front().message;
    throw_user(fmt::format("{} has no record of a TORCH_TRACE log{}", name.string(), why),
               "give a file that torch wrote into the folder TORCH_TRACE names");
  }
  return LogImport(context, std::move(file), name, file_time_ns, options).run();
}

}  // namespace detail

trace::Id import_torch_trace(ImportContext& context, const std::filesystem::path& path,
                             const TorchTraceOptions& options) {
  std::error_code error;
  const auto modified = std::filesystem::last_write_time(path, error);
  std::int64_t file_time = 0;
  if (!error) {
    const auto system = std::chrono::file_clock::to_sys(modified).time_since_epoch();
    file_time = std::chrono::duration_cast<std::chrono::nanoseconds>(system).count();
  }
  return detail::import_file(context, LogFile::open(path, {}, options.threads), path, file_time, options);
}

trace::Id import_torch_trace(ImportContext& context, Bytes bytes, const std::filesystem::path& name,
                             const TorchTraceOptions& options) {
  LogFile file = LogFile::read(std::move(bytes), name.filename().string(), {}, options.threads);
  return detail::import_file(context, std::move(file), name, 0, options);
}

// A rank in the head lines of a piece of a log. The last records tell: once it is known, it is in all of them.
static std::int64_t rank_in(std::string_view text) {
  constexpr std::string_view kMark = "\"rank\": ";
  for (std::size_t at = text.rfind(kMark); at != std::string_view::npos && at > 0; at = text.rfind(kMark, at - 1)) {
    const std::size_t start = text.rfind('\n', at) + 1;
    const auto head = parse_log_head(text.substr(start, text.find('\n', at) - start));
    const JsonSlice rank = head ? parse_slice(head->json).find("rank") : JsonSlice{};
    if (const auto number = rank.integer(); number && *number >= 0) return *number;
  }
  return -1;
}

std::vector<std::int64_t> ranks_of_torch_traces(std::span<const std::filesystem::path> paths) {
  constexpr std::size_t kLook = std::size_t{4} << 20;
  std::set<std::int64_t> ranks;
  for (const std::filesystem::path& path : paths) {
    std::int64_t rank = rank_of_file_name(path.filename().string());
    try {
      if (rank < 0) {
        Bytes bytes = map_file(path);
        if (is_gzip(bytes.text())) bytes = gunzip(bytes.text(), std::size_t{1} << 30).bytes;
        const std::string_view text = bytes.text();
        rank = rank_in(text.substr(text.size() - std::min(text.size(), kLook)));
      }
    } catch (const Error&) {
    }
    if (rank >= 0) ranks.insert(rank);
  }
  return {ranks.begin(), ranks.end()};
}

}  // namespace strata::capture
