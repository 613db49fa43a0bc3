// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata run` and `strata compile`.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/cli/interrupt.h"
#include "app/cli/model.h"
#include "app/cli/table.h"
#include "app/driver/compare.h"
#include "app/driver/inputs.h"
#include "core/ir/fx_printer.h"
#include "core/runtime/generator.h"
#include "core/support/error.h"
#include "passes/small_sizes.h"

namespace strata::cli {
namespace {

struct RunOptions : ModelOptions {
  std::vector<std::string> inputs, expected;
  bool use_sample_inputs = false, verbose = false;
  std::optional<uint64_t> seed;
  Tolerance tolerance;
  std::string output, dtype;
  int repeat = 0;
};

/// What happened, for both forms of the report.
struct RunResult {
  std::string input_source;
  std::vector<Tensor> outputs;
  std::vector<Comparison> comparisons;  ///< empty when nothing was expected
  std::vector<std::string> problems;    ///< parallel to `comparisons`
  int64_t first_ns = 0;
  std::vector<int64_t> times_ns;                ///< of the repeated runs
  std::vector<std::vector<int64_t>> launch_ns;  ///< per launch, of the repeated runs
  std::vector<LaunchTime> last;                 ///< launches of the last run
  std::vector<std::filesystem::path> files;

  bool passed() const {
    return std::all_of(comparisons.begin(), comparisons.end(), [](const Comparison& c) { return c.passed; });
  }
};

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

int64_t median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void add_run_options(CLI::App& command, RunOptions& o) {
  add_model_options(command, o);
  command.add_option("--input", o.inputs, "input as F.npy (in order), NAME=F.npy, or F.safetensors")
      ->type_name("F")
      ->expected(1, 100000);
  command.add_flag("--use-sample-inputs", o.use_sample_inputs,
                   "the inputs that are stored in the model (default, if it has some)");
  command
      .add_option("--seed", o.seed,
                  "of the random numbers that the model draws (default PyTorch's), and of random inputs, if no others "
                  "are given (default 0, if the model stores none)")
      ->type_name("N");
  command.add_option("--expect", o.expected, "outputs to compare with, like --input; exit code 1 if they differ")
      ->type_name("F")
      ->expected(1, 100000);
  command
      .add_option("--rtol", o.tolerance.rtol,
                  "relative tolerance (default 1e-4; 2e-2 for 16-bit floats; 0 for integers)")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--atol", o.tolerance.atol,
                  "absolute tolerance (default 1e-5, or 2e-2, times the largest expected value)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--output", o.output, "folder for output_0.npy, output_1.npy, ...")->type_name("DIR");
  command.add_option("--repeat", o.repeat, "time this many further runs")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000000));
  command.add_option("--trace", o.trace, "record everything into this trace")->type_name("OUT.strata");
  command.add_option("--dtype", o.dtype, "type that .npy files hold as bits: bfloat16 as uint16")->type_name("NAME");
  command.add_flag("--verbose", o.verbose, "also the time of every launch");
}

std::optional<DType> bits_type(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto dtype = parse_dtype_name(name);
  std::vector<std::string> names;
  for (int i = 0; i < kDTypeCount; ++i) names.emplace_back(dtype_name(static_cast<DType>(i)));
  if (!dtype) throw_user(fmt::format("there is no dtype '{}'", name), suggest(name, names));
  return dtype;
}

std::vector<Tensor> choose_inputs(const Program& program, const RunOptions& o, std::string& source) {
  if (!o.inputs.empty() && o.use_sample_inputs)
    throw_user("--input and --use-sample-inputs exclude each other", "give one of them");
  if (!o.inputs.empty()) {
    source = "from files";
    return load_inputs(program, o.inputs, bits_type(o.dtype));
  }
  if (o.use_sample_inputs || (!o.seed && !program.sample_inputs.empty())) {
    source = "samples of the model";
    return sample_inputs(program);
  }
  source = fmt::format("random, seed {}", o.seed.value_or(0));
  return random_inputs(program, o.seed.value_or(0));
}

/// The first run gives the results: programs may write their own buffers, so that a second run computes something else.
void execute(CompiledModel& model, const RunOptions& o, const std::vector<Tensor>& inputs, RunResult& result,
             Progress& progress) {
  Compiled& compiled = *model.compiled;
  if (o.seed) set_generator_seed(*o.seed);
  progress.say("running");
  const bool only_one = o.repeat == 0 && (!model.recorder || !compiled.plan());
  int64_t start = now_ns();
  result.outputs = compiled.run(inputs);
  result.first_ns = now_ns() - start;
  if (model.recorder && only_one) model.recorder->run(o.request.backend, 0, start, result.first_ns, {});
  if (model.recorder && compiled.executor()) model.recorder->memory(*compiled.executor());
  if (only_one) return;
  compiled.set_timing(model.recorder || o.verbose);
  std::vector<Tensor> again;
  for (int i = 0; i < std::max(1, o.repeat) && !interrupted(); ++i) {
    start = now_ns();
    compiled.run_into(inputs, again);
    result.times_ns.push_back(now_ns() - start);
    result.last = compiled.times();
    const auto& times = result.last;
    result.launch_ns.resize(times.size());
    if (o.verbose)
      for (size_t l = 0; l < times.size(); ++l) result.launch_ns[l].push_back(times[l].end - times[l].start);
    if (model.recorder) model.recorder->run(o.request.backend, i, start, result.times_ns.back(), times);
    progress.say(fmt::format("running: {} of {}", i + 1, o.repeat));
  }
  if (interrupted()) throw_user("interrupted");
}

void compare_outputs(const std::vector<Tensor>& expected, const RunOptions& o, RunResult& result) {
  for (size_t i = 0; i < expected.size(); ++i) {
    result.problems.emplace_back();
    result.comparisons.push_back(compare(result.outputs.at(i), expected[i], o.tolerance, &result.problems.back()));
  }
}

// ----------------------------------------------------------------------------------------------------------------
// report

std::string value_range(const Tensor& t) {
  double low = INFINITY, high = -INFINITY;
  int64_t strange = 0;
  if (is_complex(t.dtype)) return "";
  for (int64_t i = 0, n = t.numel(); i < n; ++i) {
    const double v = t.at(i);
    if (!std::isfinite(v))
      ++strange;
    else
      low = std::min(low, v), high = std::max(high, v);
  }
  std::string text = low <= high ? fmt::format("from {:.6g} to {:.6g}", low, high) : "";
  if (strange > 0) text += fmt::format("{}{} not finite", text.empty() ? "" : ", ", strange);
  return text;
}

std::string comparison_text(const Comparison& c, const std::string& problem) {
  if (!problem.empty()) return problem + ": FAIL";
  std::string text = fmt::format("max abs error {:.3g}, max rel error {:.3g}, tolerance {:.3g} + {:.3g}*|b|: {}",
                                 c.max_abs, c.max_rel, c.atol, c.rtol, c.passed ? "pass" : "FAIL");
  if (!c.passed)
    text += fmt::format(" ({} of {} elements; worst at {}: {:.9g}, expected {:.9g})", c.failures, c.elements, c.worst,
                        c.worst_actual, c.worst_expected);
  return text;
}

std::string run_line(const RunResult& r) {
  std::string text = fmt::format("run      first {}", time_text(static_cast<double>(r.first_ns)));
  if (!r.times_ns.empty())
    text += fmt::format(", then median {}, min {} of {}", time_text(static_cast<double>(median(r.times_ns))),
                        time_text(static_cast<double>(*std::min_element(r.times_ns.begin(), r.times_ns.end()))),
                        r.times_ns.size());
  return text + fmt::format("; inputs: {}\n", r.input_source);
}

std::string launch_table(const CompiledModel& model, const RunResult& r) {
  if (r.launch_ns.empty() || r.launch_ns.front().empty()) return "";
  int64_t total = 0;
  for (const auto& times : r.launch_ns) total += median(times);
  Table table({">#", "launch", ">threads", ">median", ">min", ">share"});
  for (size_t l = 0; l < r.launch_ns.size(); ++l) {
    const int64_t m = median(r.launch_ns[l]);
    table.row({std::to_string(l), model.compiled->plan()->launches[l].name, std::to_string(r.last[l].threads),
               time_text(static_cast<double>(m)),
               time_text(static_cast<double>(*std::min_element(r.launch_ns[l].begin(), r.launch_ns[l].end()))),
               percent_text(static_cast<double>(m) / static_cast<double>(std::max<int64_t>(total, 1)))});
  }
  return table.text();
}

std::string report_text(const CompiledModel& model, const RunOptions& o, const RunResult& r) {
  std::string text = compile_line(model, o.request.backend) + run_line(r) + launch_table(model, r);
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    const std::string name = i < model.program->user_output_names.size() ? model.program->user_output_names[i] : "";
    const std::string what =
        r.comparisons.empty() ? value_range(r.outputs[i]) : comparison_text(r.comparisons[i], r.problems[i]);
    text += fmt::format("output {} ({}) {}{}{}\n", i, name, r.outputs[i].str(), what.empty() ? "" : ": ", what);
  }
  for (const ConstantOutput& c : model.program->constant_outputs)
    text += fmt::format("output {} is {}\n", c.name, print_fx(c.value));
  for (const auto& file : r.files) text += fmt::format("wrote {}\n", file.string());
  if (!o.trace.empty()) text += fmt::format("trace {}\n", o.trace);
  return text;
}

Json comparison_json(const Comparison& c, const std::string& problem) {
  JsonObject o{{"passed", json(c.passed)},     {"max_abs", json(c.max_abs)},  {"max_rel", json(c.max_rel)},
               {"scale", json(c.scale)},       {"rtol", json(c.rtol)},        {"atol", json(c.atol)},
               {"elements", json(c.elements)}, {"failures", json(c.failures)}};
  if (!problem.empty()) o.emplace_back("problem", json(problem));
  return Json{std::move(o)};
}

Json report_json(const CompiledModel& model, const RunOptions& o, const RunResult& r) {
  JsonArray outputs, constants, launches, files;
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    JsonObject out{
        {"name", json(i < model.program->user_output_names.size() ? model.program->user_output_names[i] : "")},
        {"dtype", json(dtype_name(r.outputs[i].dtype))},
        {"shape", json_list(r.outputs[i].shape)}};
    if (!r.comparisons.empty()) out.emplace_back("comparison", comparison_json(r.comparisons[i], r.problems[i]));
    outputs.push_back(Json{std::move(out)});
  }
  for (const ConstantOutput& c : model.program->constant_outputs)
    constants.push_back(Json{JsonObject{{"name", json(c.name)}, {"value", json(print_fx(c.value))}}});
  for (size_t l = 0; l < r.launch_ns.size() && !r.launch_ns[l].empty(); ++l)
    launches.push_back(Json{JsonObject{{"name", json(model.compiled->plan()->launches[l].name)},
                                       {"threads", json(int64_t{r.last[l].threads})},
                                       {"median_ns", json(median(r.launch_ns[l]))}}});
  for (const auto& f : r.files) files.push_back(json(f.string()));
  JsonObject run{{"first_ns", json(r.first_ns)}, {"repeat", json(r.times_ns.size())}};
  if (!r.times_ns.empty()) {
    run.emplace_back("median_ns", json(median(r.times_ns)));
    run.emplace_back("min_ns", json(*std::min_element(r.times_ns.begin(), r.times_ns.end())));
  }
  JsonObject all{{"model", json(model.program->name)},
                 {"backend", json(o.request.backend)},
                 {"inputs", json(r.input_source)},
                 {"compile", compile_json(model)},
                 {"run", Json{std::move(run)}},
                 {"outputs", Json{std::move(outputs)}},
                 {"constants", Json{std::move(constants)}},
                 {"passed", r.comparisons.empty() ? Json{} : json(r.passed())},
                 {"files", Json{std::move(files)}}};
  if (!launches.empty()) all.emplace_back("launches", Json{std::move(launches)});
  if (!o.trace.empty()) all.emplace_back("trace", json(o.trace));
  return Json{std::move(all)};
}

int run(RunOptions& o, const Invocation& invocation) {
  Progress progress;
  check_model_options(o);
  (void)bits_type(o.dtype);
  if ((o.tolerance.rtol || o.tolerance.atol) && o.expected.empty())
    throw_user("--rtol and --atol need something to compare with", "add --expect");
  auto program = load_model(o, progress);
  RunResult result;
  const std::vector<Tensor> inputs = choose_inputs(*program, o, result.input_source);
  SmallSizes(*program).require(check_inputs(*program, inputs));
  std::vector<Tensor> expected;
  if (!o.expected.empty()) expected = load_expected(*program, o.expected, bits_type(o.dtype));
  CompiledModel model = compile_model(std::move(program), o, invocation, progress);
  try {
    execute(model, o, inputs, result, progress);
    if (!o.output.empty()) result.files = save_outputs(o.output, result.outputs);
    compare_outputs(expected, o, result);
    if (model.recorder) model.recorder->close();
  } catch (...) {
    abandon_trace(model.recorder.get());
    throw;
  }
  progress.clear();
  print(o.json ? to_text(report_json(model, o, result)) : report_text(model, o, result));
  return result.passed() ? 0 : 1;
}

int compile(ModelOptions& o, const Invocation& invocation) {
  Progress progress;
  check_model_options(o);
  CompiledModel model = compile_model(load_model(o, progress), o, invocation, progress);
  if (model.recorder) model.recorder->close();
  progress.clear();
  JsonObject all{{"model", json(model.program->name)},
                 {"backend", json(o.request.backend)},
                 {"compile", compile_json(model)},
                 {"trace", json(o.trace)}};
  print(o.json ? to_text(Json{std::move(all)})
               : compile_line(model, o.request.backend) + fmt::format("trace {}\n", o.trace));
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("run", "compile an exported program, run it, compare its outputs");
  auto options = std::make_shared<RunOptions>();
  add_run_options(*command, *options);
  command->callback([options, &invocation] { invocation.exit_code = run(*options, invocation); });
}

void add_compile(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("compile", "compile an exported program into a trace, without running it");
  auto options = std::make_shared<ModelOptions>();
  add_model_options(*command, *options);
  command->add_option("-o,--output", options->trace, "the trace to write")->type_name("OUT.strata")->required();
  command->callback([options, &invocation] { invocation.exit_code = compile(*options, invocation); });
}

}  // namespace strata::cli
