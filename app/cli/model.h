// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `run` and `compile` share: their options, and the compile itself.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "app/cli/progress.h"
#include "app/driver/compile.h"
#include "core/ir/program.h"

namespace strata::cli {

struct ModelOptions {
  std::string model;
  CompileRequest request;
  std::vector<std::string> disabled;
  std::string trace;
  bool json = false;
  int64_t read_ns = 0;  ///< set by `load_model`: how long reading took
};
void add_model_options(CLI::App& command, ModelOptions& options);

/// A program, compiled. Members stand in the order in which they may be destroyed (backwards).
struct CompiledModel {
  std::unique_ptr<Program> program;
  std::unique_ptr<Recorder> recorder;  ///< null without a trace
  std::unique_ptr<Compiled> compiled;
  int64_t read_ns = 0;
};

/// Checks words that need no file (backend, mode, passes), so that a mistake there is told before a large model is
/// read.
void check_model_options(const ModelOptions& options);
std::unique_ptr<Program> load_model(ModelOptions& options, Progress& progress);
/// A compile that fails leaves no trace behind; one that is interrupted does.
CompiledModel compile_model(std::unique_ptr<Program> program, ModelOptions& options, const Invocation& invocation,
                            Progress& progress);
/// For what fails after the compile: removes the trace, or closes it if the reason is Ctrl-C.
void abandon_trace(Recorder* recorder);

/// Compile times for people and for scripts.
std::string compile_line(const CompiledModel& model, const std::string& backend);
Json compile_json(const CompiledModel& model);

}  // namespace strata::cli
