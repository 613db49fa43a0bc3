// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/recording.h"

#include <pthread.h>
#include <pybind11/stl.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

/// The recording under way. Never destroyed: calls may come while the interpreter ends.
struct Recording {
  std::mutex mutex;
  std::shared_ptr<Recorder> recorder;
  std::uint64_t count = 0;               ///< recordings so far
  std::atomic<std::uint64_t> active{0};  ///< the number of the one under way; 0: none
  std::string failure;                   ///< what ended it before its time
};

void lock_for_fork();
void unlock_after_fork();
void leave_to_parent();

Recording& recording() {
  static Recording* one = [] {
    ::pthread_atfork(&lock_for_fork, &unlock_after_fork, &leave_to_parent);
    return new Recording;
  }();
  return *one;
}

void lock_for_fork() { recording().mutex.lock(); }
void unlock_after_fork() { recording().mutex.unlock(); }

/// In the child: the file is the parent's, and its connection must not even be closed.
void leave_to_parent() {
  Recording& r = recording();
  r.active = 0;
  if (r.recorder) new std::shared_ptr<Recorder>(std::move(r.recorder));
  r.recorder.reset();
  r.mutex.unlock();
}

std::pair<std::shared_ptr<Recorder>, std::uint64_t> current() {
  Recording& r = recording();
  const std::lock_guard lock(r.mutex);
  return {r.recorder, r.active};
}

void fail(const std::string& what) {
  Recording& r = recording();
  const std::lock_guard lock(r.mutex);
  r.active = 0;
  if (r.failure.empty()) r.failure = what;
}

/// What Python said of the compile that this thread is about to make.
CompileOrigin& present_origin() {
  static thread_local CompileOrigin origin;
  return origin;
}

template <class T>
void read(const py::dict& from, const char* key, T& to) {
  if (from.contains(key)) to = from[key].cast<T>();
}

void set_origin(const py::dict& from) {
  CompileOrigin origin;
  origin.addressed = from.contains("frame");
  read(from, "frame", origin.frame);
  read(from, "compile", origin.compile);
  read(from, "attempt", origin.attempt);
  read(from, "autograd", origin.autograd);
  read(from, "function", origin.function);
  read(from, "file", origin.file);
  read(from, "line", origin.line);
  read(from, "graph", origin.graph);
  read(from, "sizes", origin.sizes);
  read(from, "sources", origin.sources);
  read(from, "backend", origin.backend);
  present_origin() = std::move(origin);
}

/// The node of Dynamo's graph that PyTorch says a traced one comes from.
std::string source_name(const py::handle node) {
  const py::object meta = node.attr("meta");
  if (!meta.contains("from_node")) return {};
  const py::object chain = meta["from_node"];
  if (!py::isinstance<py::sequence>(chain) || py::len(chain) == 0) return {};
  const py::object last = chain[py::int_(-1)];
  // A pair of name and target until PyTorch 2.5.
  const py::object name = py::hasattr(last, "name") ? py::object(last.attr("name")) : py::object(last[py::int_(0)]);
  return py::str(name);
}

std::vector<std::pair<std::string, std::string>> made_from(const py::object& module) {
  std::vector<std::pair<std::string, std::string>> names;
  try {
    for (const py::handle node : py::list(module.attr("graph").attr("nodes")))
      if (std::string source = source_name(node); !source.empty())
        names.emplace_back(py::str(node.attr("name")), std::move(source));
  } catch (const py::error_already_set&) {  // a PyTorch that says it otherwise: no edges
    names.clear();
  }
  return names;
}

void start(const std::string& path, const std::string& command) {
  Recording& r = recording();
  const std::lock_guard lock(r.mutex);
  if (r.recorder) throw_user("a recording is under way already", "end it first");
  r.recorder = std::make_shared<Recorder>(path, command);
  r.failure.clear();
  r.active = ++r.count;
}

/// Returns what went wrong on the way; empty: nothing.
std::string stop(const std::vector<std::string>& paths) {
  std::shared_ptr<Recorder> recorder;
  std::string failure;
  {
    Recording& r = recording();
    const std::lock_guard lock(r.mutex);
    r.active = 0;
    recorder.swap(r.recorder);
    failure.swap(r.failure);
  }
  if (!recorder) return failure;
  const py::gil_scoped_release unlocked;
  if (!paths.empty()) recorder->import({paths.begin(), paths.end()});
  recorder->close();
  return failure;
}

trace::Id left(const std::string& name, const std::string& reason) {
  const auto recorder = current().first;
  CompileOrigin& origin = present_origin();
  if (recorder) recorder->left(name, reason, origin);
  return origin.recorded;
}

}  // namespace

bool is_recording() { return recording().active.load(std::memory_order_relaxed) != 0; }

ModelRecording::ModelRecording() : origin_(present_origin()) {}

void ModelRecording::attach(CompileRequest& request, const py::object& module) {
  if (origin_.addressed && module) origin_.made_from = made_from(module);
  if (!is_recording()) return;
  std::tie(recorder_, recording_) = current();
  request.recorder = recorder_.get();
  request.origin = module ? &origin_ : nullptr;
}

void ModelRecording::compiled(const Compiled& compiled) {
  compile_ = compiled.recorded;
  present_origin().recorded = compile_;
  recorder_.reset();
}

void ModelRecording::run(const Program& program, const Compiled& compiled, const std::string& backend, int64_t start_ns,
                         int64_t duration_ns) {
  const auto [recorder, number] = current();
  if (!recorder || number == 0) return;
  try {
    if (number != recording_) {
      compile_ = recorder->compiled_before(program, backend, compiled.plan(), origin_);
      recording_ = number;
      runs_ = 0;
    }
    recorder->run(compile_, backend, runs_++, start_ns, duration_ns, compiled.times());
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

void bind_recording(py::module_& m) {
  m.def("start_recording", &start, "Begins a trace at a path; `command` says what is recorded.");
  m.def("stop_recording", &stop, "Reads what PyTorch left at these paths into the trace, and closes it.");
  m.def("is_recording", &is_recording);
  m.def("set_origin", &set_origin, "What is known of the compile that this thread makes next; a dictionary.");
  m.def("recorded_compile", [] { return present_origin().recorded; }, "What the last compile became; 0: nothing.");
  m.def("record_left", &left, "Records that PyTorch runs the graph of the present origin, and why.");
}

}  // namespace strata
