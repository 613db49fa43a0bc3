// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/recorder.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "app/driver/compile_recording.h"
#include "app/driver/graph_records.h"
#include "app/driver/import_into.h"
#include "core/support/error.h"

namespace strata {
namespace {

int64_t unix_now() { return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

std::string prefix_of(const CompileOrigin& origin) {
  return origin.autograd.empty() ? "" : "!" + origin.autograd + "/";
}

}  // namespace

std::string address_of(const CompileOrigin& origin) {
  return fmt::format("{}{}/{}{}", prefix_of(origin), origin.frame, origin.compile,
                     origin.attempt > 0 ? fmt::format("_{}", origin.attempt) : "");
}

struct Recorder::Impl {
  explicit Impl(const std::string& path) : writer(path), graphs(writer) {}

  trace::Writer writer;
  GraphRecords graphs;
  trace::ProcessRecord process;
  std::mutex mutex;  ///< guards what follows
  bool open = true;
  std::map<trace::Id, CompileRecording> compiles;
  std::map<std::thread::id, trace::Id> present;
  std::map<trace::Id, trace::Id> torch_graphs;  ///< compile -> snapshot of Dynamo's graph
  std::set<std::string> addresses;
  std::map<std::pair<std::string, std::int64_t>, trace::FrameRecord> frames;  ///< by prefix and number
  std::map<std::string, std::map<int, std::string>> lines;                    ///< of sources, by file
  int64_t numbers = 0;
  int acknowledge_fd = -1;
  int64_t acknowledged = 0;

  /// SQLite's connection must not be touched in a forked process.
  bool recording() const { return open && process.pid == getpid(); }

  /// Commits; a reader on the acknowledge pipe learns how many commits are durable.
  void commit() {
    writer.commit();
    if (acknowledge_fd < 0) return;
    const std::string line = std::to_string(++acknowledged) + "\n";
    if (::write(acknowledge_fd, line.data(), line.size()) < 0) acknowledge_fd = -1;
  }

  /// The compile that this thread began last; null if there is none, or nothing is recorded.
  CompileRecording* current() {
    if (!recording()) return nullptr;
    const auto id = present.find(std::this_thread::get_id());
    const auto found = id == present.end() ? compiles.end() : compiles.find(id->second);
    return found == compiles.end() ? nullptr : &found->second;
  }

  /// Excerpts are written anew with every line that is known: readers look at the last one of a file.
  void sources(const Program& program) {
    for (const auto& [file, known] : program.source_lines) {
      std::map<int, std::string>& all = lines[file];
      const size_t before = all.size();
      all.insert(known.begin(), known.end());
      if (all.size() == before) continue;
      trace::SourceFileRecord r;
      r.path = file;
      r.excerpt = true;
      for (const auto& [number, text] : all) r.lines.push_back({number, text});
      writer.add(r);
    }
  }

  /// `when`: put in front of the address; empty but for what was compiled before the recording.
  void place(trace::CompileRecord& compile, const CompileOrigin* origin, const std::string& when) {
    if (origin && origin->addressed) {
      compile.prefix = when + prefix_of(*origin);
      compile.frame_number = origin->frame;
      compile.compile_number = origin->compile;
      compile.attempt = origin->attempt;
      compile.address = when + address_of(*origin);
      // torch._dynamo.reset() makes the numbers start again.
      for (int again = 2; addresses.contains(compile.address); ++again) {
        compile.prefix = fmt::format("s{}:{}{}", again, when, prefix_of(*origin));
        compile.address = fmt::format("s{}:{}{}", again, when, address_of(*origin));
      }
    } else {
      // What PyTorch compiles later has numbers of its own.
      compile.prefix = origin && when.empty() ? "live:" : when;
      do compile.address = fmt::format("{}{}/0", compile.prefix, compile.frame_number = numbers++);
      while (addresses.contains(compile.address));
    }
    addresses.insert(compile.address);
  }

  trace::Id frame_of(const trace::CompileRecord& compile, const Program* program, const CompileOrigin* origin) {
    const auto [known, fresh] = frames.try_emplace({compile.prefix, compile.frame_number});
    trace::FrameRecord& frame = known->second;
    if (!fresh) return frame.id;
    frame.process = process.id;
    frame.number = compile.frame_number;
    frame.name = compile.name;
    if (origin && !origin->function.empty()) {
      frame.name = origin->function;
      frame.file = origin->file;
      frame.line = origin->line;
    } else if (program) {
      frame.file = program->path;
    }
    return frame.id = writer.add(frame);
  }

  CompileRecording& add_compile(const std::string& name, const Program* program, const std::string& backend,
                                CompileOrigin* origin, const std::string& when = {}) {
    trace::CompileRecord compile;
    compile.process = process.id;
    compile.name = name;
    place(compile, origin, when);
    compile.frame = frame_of(compile, program, origin);
    compile.start_ns = unix_now();
    compile.id = writer.add(compile);
    add_backend(writer, compile.id, backend);
    writer.set_property("backend", backend);
    present[std::this_thread::get_id()] = compile.id;
    if (origin) origin->recorded = compile.id;
    return compiles.try_emplace(compile.id, writer, graphs, compile).first->second;
  }

  /// The graphs that a compile begins with.
  void begin_graphs(CompileRecording& compile, const Program& program, const CompileOrigin* origin) {
    sources(program);
    if (!origin || origin->graph.empty()) return compile.begin(program, "captured");
    const TorchGraph torch = add_torch_graph(writer, compile.compile().id, *origin);
    torch_graphs[compile.compile().id] = torch.snapshot;
    compile.begin(program, "captured:aten");
    compile.link(program.graph, torch.nodes, origin->made_from);
  }
};

Recorder::Recorder(const std::string& path, const std::string& command) : impl_(std::make_unique<Impl>(path)) {
  impl_->writer.set_property("producer", "strata");
  impl_->writer.set_property("command", command);
  impl_->writer.set_property("cpu", host_target().cpu);
  impl_->writer.set_property("cpu_features", host_target().features);
  struct utsname system{};
  if (uname(&system) == 0) impl_->writer.set_property("system", std::string(system.sysname) + " " + system.machine);
  if (const char* fd = std::getenv("STRATA_ACKNOWLEDGE_FD")) impl_->acknowledge_fd = std::atoi(fd);
  impl_->process.pid = getpid();
  impl_->process.command = command;
  impl_->process.start_ns = unix_now();
  impl_->process.id = impl_->writer.add(impl_->process);
  impl_->commit();
}

// In a forked process the connection stays as it is: closing it would touch the parent's file.
Recorder::~Recorder() {
  if (impl_->process.pid != getpid()) static_cast<void>(impl_.release());
}

trace::Id Recorder::begin_compile(const Program& program, const std::string& backend, CompileOrigin* origin) {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->recording()) return trace::kNone;
  const std::string& name = origin && !origin->backend.empty() ? origin->backend : backend;
  CompileRecording& compile = impl_->add_compile(program.name, &program, name, origin);
  impl_->begin_graphs(compile, program, origin);
  impl_->commit();
  return compile.compile().id;
}

void Recorder::pass_done(const PassRun& run, const Graph& graph) {
  const std::lock_guard lock(impl_->mutex);
  CompileRecording* compile = impl_->current();
  if (!compile) return;
  compile->pass_done(run, graph);
  impl_->commit();
}

void Recorder::scheduled(const Graph& graph, const Scheduled& scheduled) {
  const std::lock_guard lock(impl_->mutex);
  CompileRecording* compile = impl_->current();
  if (!compile) return;
  compile->scheduled(graph, scheduled);
  impl_->commit();
}

void Recorder::code(size_t launch, const std::vector<CodeArtifact>& artifacts) {
  const std::lock_guard lock(impl_->mutex);
  CompileRecording* compile = impl_->current();
  if (compile && compile->code(launch, artifacts)) impl_->commit();
}

void Recorder::codegen(const CodegenStatistics& statistics) {
  const std::lock_guard lock(impl_->mutex);
  if (CompileRecording* compile = impl_->current()) compile->codegen(statistics);
}

void Recorder::candidates(size_t launch, const std::vector<TuningCandidate>& candidates) {
  const std::lock_guard lock(impl_->mutex);
  CompileRecording* compile = candidates.empty() ? nullptr : impl_->current();
  if (compile) compile->candidates(launch, candidates);
}

void Recorder::end_compile(const std::string& outcome, const std::string& error, int64_t duration_ns) {
  const std::lock_guard lock(impl_->mutex);
  CompileRecording* compile = impl_->current();
  if (!compile) return;
  compile->compile().outcome = outcome;
  compile->compile().error = error;
  compile->compile().duration_ns = duration_ns;
  impl_->writer.update(compile->compile());
  compile->ended();
  impl_->commit();
}

void Recorder::metric(const std::string& key, double value, const std::string& unit) {
  const std::lock_guard lock(impl_->mutex);
  if (CompileRecording* compile = impl_->current()) compile->metric(key, value, unit);
}

void Recorder::left(const std::string& name, const std::string& reason, CompileOrigin& origin) {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->recording()) return;
  const auto begun = impl_->compiles.find(origin.recorded);
  const bool fresh = begun == impl_->compiles.end();
  CompileRecording& recording = fresh ? impl_->add_compile(name, nullptr, origin.backend, &origin) : begun->second;
  trace::CompileRecord& compile = recording.compile();
  if (fresh && !origin.graph.empty())
    impl_->torch_graphs[compile.id] = add_torch_graph(impl_->writer, compile.id, origin).snapshot;
  compile.outcome = "left";
  compile.error.clear();
  impl_->writer.update(compile);
  trace::DiagnosticRecord d;
  d.severity = trace::DiagnosticRecord::Severity::Warning;
  d.kind = "left";
  d.title = reason;
  d.compile = compile.id;
  d.process = impl_->process.id;
  if (!origin.file.empty()) {
    const trace::SourceLocation at{origin.file, origin.line, origin.function, ""};
    d.stack = impl_->writer.stack({&at, 1});
  }
  impl_->writer.add(d);
  impl_->commit();
}

trace::Id Recorder::compiled_before(const Program& program, const std::string& backend, const Plan* plan,
                                    CompileOrigin origin) {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->recording()) return trace::kNone;
  const std::string& name = origin.backend.empty() ? backend : origin.backend;
  CompileRecording& compile = impl_->add_compile(program.name, &program, name, &origin, "before:");
  impl_->begin_graphs(compile, program, &origin);
  if (plan) compile.plan(*plan);
  compile.compile().outcome = "ok";
  compile.compile().start_ns = -1;
  impl_->writer.update(compile.compile());
  compile.ended();
  trace::DiagnosticRecord d;
  d.kind = "compiled-before";
  d.title = "compiled before the recording began: passes, code, guards and breaks are not in the trace";
  d.hint = "call strata.reset() inside the recording, before the model, to have it compiled again";
  d.compile = compile.compile().id;
  d.process = impl_->process.id;
  impl_->writer.add(d);
  impl_->commit();
  return compile.compile().id;
}

void Recorder::run(const std::string& label, int64_t repeat, int64_t start_ns, int64_t duration_ns,
                   const std::vector<LaunchTime>& times) {
  trace::Id compile = trace::kNone;
  {
    const std::lock_guard lock(impl_->mutex);
    if (CompileRecording* present = impl_->current()) compile = present->compile().id;
  }
  run(compile, label, repeat, start_ns, duration_ns, times);
}

void Recorder::run(trace::Id compile, const std::string& label, int64_t repeat, int64_t start_ns, int64_t duration_ns,
                   const std::vector<LaunchTime>& times) {
  const std::lock_guard lock(impl_->mutex);
  const auto known = impl_->compiles.find(compile);
  if (!impl_->recording() || known == impl_->compiles.end()) return;
  trace::RunRecord run;
  run.process = impl_->process.id;
  run.compile = compile;
  run.label = label;
  run.repeat = repeat;
  run.clock = "steady";
  run.start_ns = start_ns;
  run.duration_ns = duration_ns;
  impl_->writer.add(known->second.events(impl_->writer.add(run), times));
  impl_->commit();
}

void Recorder::memory(const Executor& executor) {
  const std::lock_guard lock(impl_->mutex);
  if (CompileRecording* compile = impl_->current()) compile->memory(executor);
}

void Recorder::import(const std::vector<std::filesystem::path>& paths) {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->recording()) return;
  KnownBefore known;
  known.process = impl_->process;
  known.lines = impl_->lines;
  for (auto& [id, compile] : impl_->compiles) known.compiles.push_back({compile.compile(), impl_->torch_graphs[id]});
  import_into(impl_->writer, paths, known);
  impl_->commit();
}

void Recorder::close() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->recording()) return;
  impl_->open = false;
  impl_->writer.close();
}

void Recorder::discard() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->recording()) return;
  impl_->open = false;
  impl_->writer.discard();
}

}  // namespace strata
