// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Profiles and compiles made by hand for the comparison of eager and compiled runs.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/writer.h"

namespace strata::profiler::test {

using trace::Id;
using trace::NodeId;

/// A file of this process alone (tests of one suite run at the same time, each in a process of its own), removed when
/// it ends.
inline std::filesystem::path temporary(const std::string& name) {
  struct Files {
    std::vector<std::filesystem::path> paths;
    ~Files() {
      std::error_code ignored;
      for (const auto& path : paths) std::filesystem::remove(path, ignored);
    }
  };
  static Files files;
  files.paths.push_back(std::filesystem::path(::testing::TempDir()) /
                        (name + "_" + std::to_string(::getpid()) + ".strata"));
  return files.paths.back();
}

/// Writes events of one process: host calls nest as the functions given do, and time goes on with every call.
class ProfileMaker {
 public:
  explicit ProfileMaker(trace::Writer& writer, Id process) : w_(writer) {
    trace::RunRecord run;
    run.process = process;
    run.label = "profile";
    run.clock = "unix";
    run_ = w_.add(run);
    main_ = track(process, "100", -1);
    engine_ = track(process, "200", -1);
    device_ = track(process, "7", 0);
    thread_ = main_;
  }

  using Body = std::function<void()>;

  void annotation(const std::string& name, const Body& body) { host(name, "user_annotation", -1, "", body); }
  void op(const std::string& name, const std::string& dims, const Body& body = {}, std::int64_t sequence = -1) {
    host(name, "cpu_op", sequence, dims, body);
  }
  /// A Python function or module, as profiles with stacks name them.
  void python(const std::string& name, const Body& body, const std::string& args = "") {
    next_args_ = args;
    host(name, "python_function", -1, "", body);
  }
  /// Further arguments of the next operator or Python function, a JSON object.
  void next_args(const std::string& args) { next_args_ = args; }
  /// A backward node of the autograd engine, on its own thread.
  void backward(const std::string& node, std::int64_t sequence, const Body& body) {
    thread_ = engine_;
    host("autograd::engine::evaluate_function: " + node, "cpu_op", sequence, "",
         [&] { host(node, "cpu_op", sequence, "", body); });
    thread_ = main_;
  }
  /// A launch call and the event it causes, `duration` nanoseconds long.
  void launch(const std::string& name, std::int64_t duration, const std::string& category = "kernel", Id kernel = 0) {
    ++correlation_;
    trace::EventRecord d;
    d.run = run_;
    d.name = name;
    d.category = category;
    d.track = device_;
    d.stream = 7;
    d.start_ns = device_time_ = std::max(device_time_, now_) + 10;
    d.duration_ns = duration;
    d.correlation = correlation_;
    d.external = external_;
    d.kernel = kernel;
    device_time_ += duration;
    pending_.push_back(d);
    const std::string call = category == "gpu_memcpy" ? "cudaMemcpyAsync" : "cudaLaunchKernel";
    const std::int64_t correlation = correlation_;
    host(call, "cuda_runtime", -1, "", {}, correlation);
  }
  /// Writes the events of devices.
  void finish() {
    for (const auto& e : pending_) w_.add(e);
  }
  /// Sum of all device events so far.
  std::int64_t device_total() const {
    std::int64_t sum = 0;
    for (const auto& e : pending_) sum += e.duration_ns;
    return sum;
  }

 private:
  Id track(Id process, const std::string& tid, std::int64_t device) {
    trace::TrackRecord t;
    t.process = process;
    t.pid = device < 0 ? "42" : "0";
    t.tid = tid;
    t.device = device;
    t.stream = device < 0 ? -1 : 7;
    return w_.add(t);
  }
  void host(const std::string& name, const std::string& category, std::int64_t sequence, const std::string& dims,
            const Body& body, std::int64_t correlation = 0) {
    trace::EventRecord e;
    e.run = run_;
    e.name = name;
    e.category = category;
    e.track = thread_;
    e.start_ns = now_ += 5;
    e.sequence = sequence;
    e.correlation = correlation;
    if (category != "cuda_runtime") e.external = external_ = ++externals_;
    if (!dims.empty()) {
      std::string types;  // all are float
      for (size_t at = dims.find("[", 1); at != std::string::npos; at = dims.find("[", at + 1))
        types += std::string(types.empty() ? "" : ",") + R"("float")";
      e.args = R"({"Input Dims":)" + dims + R"(,"Input type":[)" + types + "]}";
    }
    if (!next_args_.empty()) e.args = std::exchange(next_args_, "");
    if (body) body();
    now_ += 5;
    e.duration_ns = now_ - e.start_ns;
    w_.add(e);
  }

  trace::Writer& w_;
  Id run_, main_, engine_, device_, thread_;
  std::int64_t now_ = 1'000'000, device_time_ = 0, correlation_ = 0, external_ = 0, externals_ = 0;
  std::vector<trace::EventRecord> pending_;
  std::string next_args_;
};

/// A node of a graph made by hand; `inputs` are ids of nodes before it.
inline trace::NodeRecord node(NodeId id, const std::string& name, const std::string& target, std::vector<NodeId> inputs,
                              const std::string& shape, Id stack = 0, const std::string& module = "") {
  trace::NodeRecord n;
  n.id = id;
  n.name = name;
  n.op = target.empty() ? "placeholder" : "call_function";
  n.target = target;
  for (const NodeId i : inputs) n.inputs.push_back({i});
  n.shape = shape;
  n.type = "f32" + shape;
  n.stack = stack;
  n.module = module;
  return n;
}

}  // namespace strata::profiler::test
