// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one place that joins capture, passes, code generation and runtime into "compile this". The command line and the
/// Python package call it.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/driver/recorder.h"
#include "core/ir/program.h"
#include "core/runtime/plan.h"
#include "passes/pass.h"
#include "passes/schedule.h"

namespace strata {

struct CompileRequest {
  std::string backend = "strata";  ///< a name of `backends()`
  std::string mode = "default";
  std::string target = "cpu";
  int threads = 0;  ///< 0: all cores
  std::set<std::string> disabled_passes;
  int stop_after = -1;  ///< see RunnerOptions
  bool verify = true;
  bool keep_artifacts = false;                           ///< code of every kernel as text; on by itself when recording
  Recorder* recorder = nullptr;                          ///< null: nothing is recorded
  CompileOrigin* origin = nullptr;                       ///< for the recorder; null: not known
  std::function<void(std::string_view stage)> progress;  ///< also what `max-autotune` measures
  std::function<bool()> cancelled;
};

/// How long each part of a compile took, nanoseconds.
struct CompileTimes {
  int64_t passes = 0, schedule = 0, codegen = 0, record = 0, total = 0;
};

/// A program ready to run. Owns everything it needs but the Program's weights (which must outlive it, as mapped files
/// do).
class Compiled {
 public:
  virtual ~Compiled() = default;
  /// Results in the order of the program's outputs of kind User. Inputs as in Program::user_input_names; they must have
  /// been checked.
  virtual std::vector<Tensor> run(const std::vector<Tensor>& inputs) = 0;
  /// The same into `results`, whose vectors are used again.
  virtual void run_into(const std::vector<Tensor>& inputs, std::vector<Tensor>& results) { results = run(inputs); }
  /// Times of launches of the next runs; empty for backends without launches.
  virtual void set_timing(bool) {}
  virtual std::vector<LaunchTime> times() const { return {}; }
  /// Null for backends without a plan.
  virtual const Plan* plan() const { return nullptr; }
  virtual const Executor* executor() const { return nullptr; }
  CompileTimes compile_times;
  CodegenStatistics codegen;          ///< empty for backends without kernels
  trace::Id recorded = trace::kNone;  ///< as the recorder knows it
};

/// Throws a user Error for an unknown backend, mode, target or pass.
void check_request(const CompileRequest& request);

/// Compiles a program for a backend. Unknown backends, modes, targets and passes, and operators without a row, are user
/// Errors.
std::unique_ptr<Compiled> compile_program(const Program& program, const CompileRequest& request);

struct BackendInfo {
  std::string name, doc;
  bool available = true;
  std::string why_not;
};
std::vector<BackendInfo> backends();

}  // namespace strata
