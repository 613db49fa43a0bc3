// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One compile on its way into a trace, and what its runs refer to. Internal to Recorder: one thread at a time, nothing
/// is committed here.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/driver/graph_records.h"
#include "core/ir/program.h"
#include "core/runtime/plan.h"
#include "core/trace/writer.h"
#include "passes/pass.h"
#include "passes/schedule.h"

namespace strata {

class CompileRecording {
 public:
  CompileRecording(trace::Writer& writer, GraphRecords& graphs, trace::CompileRecord compile)
      : writer_(writer), graphs_(graphs), compile_(std::move(compile)) {}

  trace::CompileRecord& compile() { return compile_; }

  /// The graph that the compile begins with, and its symbols.
  void begin(const Program& program, const std::string& stage);
  /// Edges from the graph that was begun with to `from`, by name; inputs to inputs by position.
  void link(const Graph& graph, const std::vector<trace::NodeRecord>& from,
            const std::vector<std::pair<std::string, std::string>>& made_from);
  void pass_done(const PassRun& run, const Graph& graph);
  void scheduled(const Graph& graph, const Scheduled& scheduled);
  /// Returns whether that was the last launch.
  bool code(size_t launch, const std::vector<CodeArtifact>& artifacts);
  /// Kernels, buffers and launches of a plan alone.
  void plan(const Plan& plan);
  void metric(const std::string& key, double value, const std::string& unit);
  void codegen(const CodegenStatistics& statistics);
  void candidates(size_t launch, const std::vector<TuningCandidate>& candidates);
  void memory(const Executor& executor);
  /// Lets go of what only compiling needs.
  void ended();

  std::vector<trace::EventRecord> events(trace::Id run, const std::vector<LaunchTime>& times) const;

 private:
  std::vector<trace::NodeRecord> records_of(const Graph& graph);
  trace::Id snapshot(const std::string& stage, const Graph& graph, trace::Id pass);
  trace::Id text_snapshot(const std::string& stage, const std::string& kind, const std::string& name, std::string text,
                          std::vector<trace::LineMapEntry> lines);
  void origin(NodeId node, NodeId from, std::string_view kind, const std::string& rule, bool exact);
  void origins_of(const Graph& graph);
  void rewrites(const PassRun& run, trace::Id pass, const Graph& graph);
  void refusals(const PassRun& run, trace::Id pass);
  void artifact(trace::OwnerKind kind, trace::Id owner, const CodeArtifact& code, const std::string& name);
  void kernel(size_t i, const Launch& launch);
  void metric_of_kernel(size_t launch, const std::string& key, double value, const std::string& unit);
  void plan_buffers(const Plan& plan);
  void plan_launches(const Plan& plan);
  void loops_stage(const Plan& plan);
  struct LoopsText {
    std::string text;
    std::vector<trace::LineMapEntry> lines;
    int64_t line = 1;  ///< the next
  };
  void add_loops(const Plan& plan, LoopsText& out) const;
  void plan_stage(const Plan& plan);

  trace::Writer& writer_;
  GraphRecords& graphs_;
  trace::CompileRecord compile_;
  trace::Id scheduled_snapshot_ = trace::kNone;
  std::vector<trace::Id> kernels_, launches_, buffers_;
  std::unordered_map<std::string, trace::Id> makers_;
  int64_t passes_ = 0;
  std::shared_ptr<const Plan> plan_;
  std::string code_text_;
  std::vector<trace::LineMapEntry> code_lines_;
  std::shared_ptr<ShapeEnv> env_;
};

}  // namespace strata
