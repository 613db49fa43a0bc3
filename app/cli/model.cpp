// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/model.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "app/cli/interrupt.h"
#include "app/cli/table.h"
#include "capture/pt2.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::cli {

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("MODEL", options.model, "exported program (.pt2) of PyTorch 2.9 or later")->required();
  command.add_option("--target", options.request.target, "cpu (default) or cuda")->type_name("T");
  command
      .add_option("--backend", options.request.backend, "strata (default), unfused, interpret; see `strata backends`")
      ->type_name("NAME");
  command.add_option("--mode", options.request.mode, "default, reduce-overhead or max-autotune")->type_name("M");
  command
      .add_option("--threads", options.request.threads,
                  "threads of a kernel (default: OMP_NUM_THREADS, else all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  command.add_option("--disable-pass", options.disabled, "leave out a pass; may be repeated; see `strata passes`")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  command.add_flag("--json", options.json, "results as JSON");
}

void check_model_options(const ModelOptions& options) {
  std::vector<std::string> backend_names, pass_names;
  for (const BackendInfo& b : backends()) backend_names.push_back(b.name);
  for (const Pass& p : inference_pipeline()) pass_names.push_back(p.name);
  check_word("backend", options.request.backend, backend_names);
  check_word("target", options.request.target, {"cpu", "cuda"});
  check_word("mode", options.request.mode, {"default", "reduce-overhead", "max-autotune"});
  for (const std::string& name : options.disabled) check_word("pass", name, pass_names);
}

std::unique_ptr<Program> load_model(ModelOptions& options, Progress& progress) {
  progress.say("reading " + options.model);
  const auto start = std::chrono::steady_clock::now();
  auto program = std::make_unique<Program>(load_pt2(options.model));
  options.read_ns = (std::chrono::steady_clock::now() - start) / std::chrono::nanoseconds(1);
  require_supported_operators(program->graph);
  // torch.export.save calls every model so: the file says more.
  if (program->name == "model") program->name = std::filesystem::path(options.model).stem().string();
  return program;
}

void abandon_trace(Recorder* recorder) {
  if (!recorder) return;
  try {
    if (interrupted())
      recorder->close();
    else
      recorder->discard();
  } catch (const std::exception& e) {
    note(fmt::format("the trace could not be {}: {}", interrupted() ? "closed" : "removed", e.what()));
  }
}

CompiledModel compile_model(std::unique_ptr<Program> program, ModelOptions& options, const Invocation& invocation,
                            Progress& progress) {
  CompiledModel model;
  model.program = std::move(program);
  model.read_ns = options.read_ns;
  if (!options.trace.empty()) model.recorder = std::make_unique<Recorder>(options.trace, invocation.command_line());
  options.request.recorder = model.recorder.get();
  options.request.disabled_passes = {options.disabled.begin(), options.disabled.end()};
  options.request.progress = [&progress](std::string_view stage) { progress.say(fmt::format("compiling: {}", stage)); };
  options.request.cancelled = [] { return interrupted(); };
  try {
    model.compiled = compile_program(*model.program, options.request);
  } catch (...) {
    abandon_trace(model.recorder.get());
    throw;
  }
  return model;
}

namespace {

/// Where the code of the kernels came from.
std::string codegen_line(const CodegenStatistics& s) {
  const auto ms = [](int64_t ns) { return time_text(static_cast<double>(ns)); };
  std::string text = fmt::format("kernels  {} loops, {} different", s.loops, s.distinct);
  if (s.loops > 0) {
    text += s.cache_off.empty() ? fmt::format(": {} from the cache ({})", s.from_cache, ms(s.cache_ns))
                                : fmt::format(", no cache: {}", s.cache_off);
    if (s.generated > 0) text += fmt::format(", {} generated ({})", s.generated, ms(s.generate_ns));
  }
  if (s.tuned > 0) text += fmt::format("; {} tuned, {} of them measured now ({})", s.tuned, s.measured, ms(s.tune_ns));
  return text + fmt::format("; libraries {}\n", ms(s.library_ns));
}

Json codegen_json(const CodegenStatistics& s) {
  return Json{JsonObject{{"loops", json(s.loops)},
                         {"distinct", json(s.distinct)},
                         {"from_cache", json(s.from_cache)},
                         {"generated", json(s.generated)},
                         {"cache_off", json(s.cache_off)},
                         {"tuned", json(s.tuned)},
                         {"measured", json(s.measured)},
                         {"plan_ns", json(s.plan_ns)},
                         {"cache_ns", json(s.cache_ns)},
                         {"generate_ns", json(s.generate_ns)},
                         {"load_ns", json(s.load_ns)},
                         {"library_ns", json(s.library_ns)},
                         {"tune_ns", json(s.tune_ns)}}};
}

}  // namespace

std::string compile_line(const CompiledModel& model, const std::string& backend) {
  const CompileTimes& t = model.compiled->compile_times;
  std::string text = fmt::format("{}: backend {}, {} thread{}", model.program->name, backend, thread_count(),
                                 thread_count() == 1 ? "" : "s");
  if (const Plan* plan = model.compiled->plan()) {
    text += fmt::format(", {} launches\ncompile  {} (passes {}, schedule {}, code {}", plan->launches.size(),
                        time_text(static_cast<double>(t.total)), time_text(static_cast<double>(t.passes)),
                        time_text(static_cast<double>(t.schedule)), time_text(static_cast<double>(t.codegen)));
    if (t.record > 0) text += fmt::format(", recording {}", time_text(static_cast<double>(t.record)));
    text += ")\n" + codegen_line(model.compiled->codegen);
    text.pop_back();
  }
  return text + "\n";
}

Json compile_json(const CompiledModel& model) {
  const CompileTimes& t = model.compiled->compile_times;
  JsonObject o{{"read_ns", json(model.read_ns)}, {"passes_ns", json(t.passes)}, {"schedule_ns", json(t.schedule)},
               {"codegen_ns", json(t.codegen)},  {"record_ns", json(t.record)}, {"total_ns", json(t.total)}};
  if (const Plan* plan = model.compiled->plan()) {
    o.emplace_back("launches", json(plan->launches.size()));
    o.emplace_back("code", codegen_json(model.compiled->codegen));
  }
  return Json{std::move(o)};
}

}  // namespace strata::cli
