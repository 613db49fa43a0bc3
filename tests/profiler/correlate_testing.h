// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Profiles and compiles written by hand.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/reader.h"
#include "core/trace/writer.h"
#include "profiler/correlate.h"

namespace strata::profiler {

class CorrelateTest : public ::testing::Test {
 protected:
  struct Call {
    std::string name;
    bool library = false;
  };
  struct Made {
    trace::Id compile = 0, program = 0;
    std::vector<trace::Id> kernels, launches;
  };

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "strata-correlate-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    writer_ = std::make_unique<trace::Writer>(folder_ / "t.strata");
    process_ = writer_->add(trace::ProcessRecord{0, 77, -1, "", -1});
    run_ = add_run();
  }
  void TearDown() override {
    reader_.reset();
    writer_.reset();
    std::filesystem::remove_all(folder_);
  }

  trace::Id add_run() {
    trace::RunRecord run;
    run.process = process_;
    run.label = "profile";
    return writer_->add(run);
  }

  trace::Id add_compile(const std::string& address, std::int64_t frame, std::int64_t number) {
    trace::CompileRecord c;
    c.process = process_;
    c.address = address;
    c.frame_number = frame;
    c.compile_number = number;
    c.outcome = "ok";
    return writer_->add(c);
  }

  /// One kernel per call.
  Made add_program(trace::Id compile, const std::string& role, const std::string& key, const std::vector<Call>& calls,
                   const std::string& device = "cuda:0") {
    Made made;
    made.compile = compile;
    trace::ProgramRecord p;
    p.compile = compile;
    p.role = role;
    p.key = key;
    made.program = writer_->add(p);
    for (const Call& call : calls) {
      trace::KernelRecord k;
      k.compile = compile;
      k.program = made.program;
      k.name = call.name;
      k.device = device;
      k.kind = call.library ? trace::KernelKind::Library : trace::KernelKind::Loop;
      k.library = call.library ? call.name : "";
      k.language = call.library ? "" : device == "cpu" ? "cpp" : "triton";
      k.nodes = {static_cast<trace::NodeId>(made.kernels.size() + 1)};
      made.kernels.push_back(writer_->add(k));
      trace::LaunchRecord l;
      l.compile = compile;
      l.program = made.program;
      l.ordinal = static_cast<std::int64_t>(made.launches.size());
      l.kernel = made.kernels.back();
      made.launches.push_back(writer_->add(l));
    }
    return made;
  }

  trace::Id add(const std::string& category, const std::string& name, std::int64_t start, std::int64_t duration,
                trace::Id track = 1) {
    trace::EventRecord e;
    e.run = run_;
    e.category = category;
    e.name = name;
    e.start_ns = start;
    e.duration_ns = duration;
    e.track = track;
    e.external = external_;
    e.sequence = sequence_;
    return writer_->add(e);
  }
  /// A launch call and what it runs.
  std::vector<trace::Id> launch(std::int64_t start, const std::vector<std::pair<std::string, std::int64_t>>& kernels,
                                trace::Id track = 1, const std::string& call = "cudaLaunchKernel") {
    trace::EventRecord e;
    e.run = run_;
    e.category = "cuda_runtime";
    e.name = call;
    e.start_ns = start;
    e.duration_ns = 2;
    e.track = track;
    e.correlation = ++correlation_;
    writer_->add(e);
    std::vector<trace::Id> ids;
    std::int64_t at = start + 1000;
    for (const auto& [name, duration] : kernels) {
      e.category = name.starts_with("Memcpy") ? "gpu_memcpy" : name.starts_with("Memset") ? "gpu_memset" : "kernel";
      e.name = name;
      e.stream = 7;
      e.track = 50;
      e.start_ns = at;
      e.duration_ns = duration;
      at += duration;
      ids.push_back(writer_->add(e));
    }
    return ids;
  }
  /// An operator of 10 ns with one launch per group of kernels inside.
  std::vector<trace::Id> op(const std::string& name, std::int64_t start,
                            const std::vector<std::pair<std::string, std::int64_t>>& kernels, trace::Id track = 1) {
    add("cpu_op", name, start, 10, track);
    std::vector<trace::Id> ids;
    std::int64_t at = start + 1;
    for (const auto& kernel : kernels) {
      ids.push_back(launch(at, {kernel}, track).at(0));
      at += 2;
    }
    return ids;
  }
  std::string call_of(const std::string& key) { return "## Call CompiledFxGraph " + key + " ##"; }

  const RunCorrelation& correlate_all() {
    writer_->commit();
    reader_ = std::make_unique<trace::Reader>(folder_ / "t.strata");
    report_ = correlate(*reader_, *writer_);
    for (const trace::RunRecord& r : reader_->runs())
      for (trace::EventRecord& e : reader_->events(r.id)) events_[e.id] = e;
    return report_.runs.at(0);
  }
  trace::Id launch_of(trace::Id event) { return events_.at(event).launch; }
  trace::Match match_of(trace::Id event) { return events_.at(event).match; }

  std::filesystem::path folder_;
  std::unique_ptr<trace::Writer> writer_;
  std::unique_ptr<trace::Reader> reader_;
  trace::Id process_ = 0, run_ = 0;
  std::int64_t correlation_ = 0, external_ = 0, sequence_ = -1;
  CorrelationReport report_;
  std::map<trace::Id, trace::EventRecord> events_;
};

}  // namespace strata::profiler
