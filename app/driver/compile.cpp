// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/compile.h"

#include <algorithm>
#include <chrono>

#include "codegen/compiler.h"
#include "core/ir/interpreter.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"
#include "passes/functionalize.h"
#include "passes/numbers_as_tensors.h"

namespace strata {
namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

/// Outputs of kind User that are arrays; mutations come first in functional graphs and stay inside.
std::vector<bool> user_outputs(const Graph& graph) {
  const std::vector<Argument> outputs = graph.flat_outputs();
  std::vector<bool> keep;
  for (size_t i = 0; i < outputs.size(); ++i) keep.push_back(graph.is_user_output(i) && is_array_output(outputs[i]));
  return keep;
}

// -------------------------------------------------------------------------------------------------------------
// interpret

class Interpreted : public Compiled {
 public:
  Interpreted(const Program& program, const std::function<bool()>& cancelled)
      : program_(program),
        functional_(functional_form(program.graph)),
        interpreter_(functional_ ? *functional_ : program.graph, options(cancelled)) {}

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    std::vector<Tensor> values;
    size_t user = 0;
    const auto placeholders = program_.graph.placeholders();
    for (size_t i = 0; i < placeholders.size(); ++i) {
      const InputSpec spec = i < program_.graph.input_specs.size() ? program_.graph.input_specs[i] : InputSpec{};
      if (spec.kind == InputSpec::Kind::User)
        values.push_back(inputs.at(user++));
      else
        values.push_back(state(spec));
    }
    const std::vector<RefValue> results = interpreter_.run(values);
    const Graph& graph = functional_ ? *functional_ : program_.graph;
    write_back(graph, results, inputs);
    const auto keep = user_outputs(graph);
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < results.size(); ++i)
      if (keep[i]) outputs.push_back(as_tensor(results[i]));
    return outputs;
  }

 private:
  /// A run may take minutes: it can be ended between nodes.
  static InterpreterOptions options(const std::function<bool()>& cancelled) {
    InterpreterOptions options;
    if (cancelled) options.progress = [cancelled](size_t, size_t) { return !cancelled(); };
    return options;
  }

  /// The interpreter works on copies of its inputs; what a program writes into them is a result of its functional form.
  static std::unique_ptr<Graph> functional_form(const Graph& graph) {
    const auto writes = [](const auto& node) { return node->op && node->op->op_class == OpClass::Mutation; };
    if (std::none_of(graph.nodes().begin(), graph.nodes().end(), writes)) return nullptr;
    return std::make_unique<Graph>(functionalize(numbers_as_tensors(graph, {}).graph, {}).graph);
  }

  static void write_back(const Graph& graph, const std::vector<RefValue>& results, const std::vector<Tensor>& inputs) {
    const std::vector<Node*> names = user_placeholders(graph);
    for (size_t i = 0; i < results.size() && i < graph.output_specs.size(); ++i) {
      const OutputSpec& spec = graph.output_specs[i];
      if (spec.kind != OutputSpec::Kind::UserInputMutation) continue;
      for (size_t k = 0; k < names.size(); ++k)
        if (names[k]->name == spec.target) copy_elements(as_tensor(results[i]), inputs.at(k));
    }
  }

  Tensor state(const InputSpec& spec) const {
    const auto it = program_.state.find(spec.target);
    if (it == program_.state.end())
      throw_user("the program has no value for '" + spec.target + "'", "export it again together with its weights");
    return it->second;
  }

  static Tensor as_tensor(const RefValue& value) {
    if (const auto* t = std::get_if<Tensor>(&value.value)) return *t;
    if (const auto* v = std::get_if<int64_t>(&value.value)) {
      Tensor t = Tensor::empty(DType::I64, {});
      t.set_int(0, *v);
      return t;
    }
    if (const auto* v = std::get_if<double>(&value.value)) return Tensor::scalar(DType::F64, *v);
    if (const auto* v = std::get_if<bool>(&value.value)) return Tensor::full(DType::Bool, {}, *v);
    throw_user("an output of the program is neither a tensor nor a number");
  }

  const Program& program_;
  std::unique_ptr<Graph> functional_;  ///< null: the program writes nothing
  Interpreter interpreter_;
};

// --------------------------------------------------------------------------------------------------------------
// compiled

class Planned : public Compiled {
 public:
  Planned(Graph graph, Scheduled scheduled, std::unique_ptr<KernelCompiler> compiler,
          std::vector<std::unique_ptr<CompiledKernel>> kernels, int threads, bool prepared)
      : graph_(std::move(graph)),
        scheduled_(std::move(scheduled)),
        compiler_(std::move(compiler)),
        executor_(scheduled_.plan, std::move(kernels), threads) {
    executor_.set_prepared(prepared);
  }

  /// The executor writes mutations back itself and returns the rest.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return executor_.run(inputs); }
  void run_into(const std::vector<Tensor>& inputs, std::vector<Tensor>& results) override {
    executor_.run_into(inputs, results);
  }
  void set_timing(bool on) override { executor_.set_timing(on); }
  std::vector<LaunchTime> times() const override { return executor_.times(); }
  const Plan* plan() const override { return scheduled_.plan.get(); }
  const Executor* executor() const override { return &executor_; }

 private:
  Graph graph_;
  Scheduled scheduled_;
  std::unique_ptr<KernelCompiler> compiler_;  ///< owns code that the kernels may share
  Executor executor_;
};

class Compilation {
 public:
  Compilation(const Program& program, const CompileRequest& request) : program_(program), request_(request) {}

  std::unique_ptr<Compiled> run() {
    const int64_t start = now_ns();
    const bool fused = request_.backend == "strata";
    PassContext context;
    context.state = &program_.state;
    report("passes");
    Graph graph =
        run_passes(fused ? inference_pipeline() : unfused_pipeline(), program_.graph, context, runner_options());
    times_.passes = now_ns() - start - times_.record;

    report("schedule");
    const int64_t schedule_start = now_ns();
    ScheduleOptions schedule_options;
    schedule_options.within_operators = !fused;
    schedule_options.output_strides = output_strides(program_.graph);
    schedule_options.state = &program_.state;
    Scheduled scheduled = schedule(graph, schedule_options);
    times_.schedule = now_ns() - schedule_start;
    record([&](Recorder& r) { r.scheduled(graph, scheduled); });

    report("code");
    const int64_t codegen_start = now_ns();
    CompileOptions options;
    options.threads = request_.threads;
    options.mode = request_.mode;
    options.keep_artifacts = request_.keep_artifacts || request_.recorder;
    options.prepack = fused;  // eager mode packs weights in every call
    options.progress = request_.progress;
    options.cancelled = request_.cancelled;
    auto compiler = make_cpu_compiler();
    auto kernels = compiler->compile(*scheduled.plan, options);
    times_.codegen = now_ns() - codegen_start;
    CodegenStatistics statistics = compiler->statistics();
    record([&](Recorder& r) {
      for (size_t i = 0; i < kernels.size(); ++i) r.code(i, compiler->artifacts(i));
      record_codegen(r, *compiler, kernels.size());
    });
    release_constants(graph, *scheduled.plan, kernels);
    times_.total = now_ns() - start;
    auto result = std::make_unique<Planned>(std::move(graph), std::move(scheduled), std::move(compiler),
                                            std::move(kernels), request_.threads, request_.mode == "reduce-overhead");
    result->compile_times = times_;
    result->codegen = std::move(statistics);
    return result;
  }

 private:
  void report(std::string_view stage) {
    if (request_.cancelled && request_.cancelled()) throw_user("cancelled before " + std::string(stage));
    if (request_.progress) request_.progress(stage);
  }

  /// Recording is not compiling: its time is kept apart.
  template <class F>
  void record(F&& f) {
    if (!request_.recorder) return;
    const int64_t start = now_ns();
    f(*request_.recorder);
    times_.record += now_ns() - start;
  }

  /// What passes have made, such as weights with a batch norm folded in, is not needed beside its packed copy.
  void release_constants(Graph& graph, Plan& plan, std::span<const std::unique_ptr<CompiledKernel>> kernels) const {
    std::set<const Storage*> kept;
    for (const auto* tensors : {&program_.state, &program_.graph.attributes})
      for (const auto& [name, tensor] : *tensors) kept.insert(tensor.storage.get());
    const std::set<const Storage*> released = release_packed_constants(plan, kernels, kept);
    for (auto& [name, tensor] : graph.attributes)
      if (released.contains(tensor.storage.get())) tensor.storage = std::make_shared<Storage>();
  }

  void record_codegen(Recorder& r, const KernelCompiler& compiler, size_t launches) {
    r.metric("time:passes", static_cast<double>(times_.passes), "ns");
    r.metric("time:schedule", static_cast<double>(times_.schedule), "ns");
    r.codegen(compiler.statistics());
    for (size_t i = 0; i < launches; ++i) r.candidates(i, compiler.candidates(i));
  }

  RunnerOptions runner_options() {
    RunnerOptions options;
    options.disabled = request_.disabled_passes;
    options.stop_after = request_.stop_after;
    options.verify = request_.verify;
    options.cancelled = request_.cancelled;
    options.observer = [this](const PassRun& run, const Graph& graph) {
      record([&](Recorder& r) { r.pass_done(run, graph); });
    };
    return options;
  }

  const Program& program_;
  const CompileRequest& request_;
  CompileTimes times_;
};

void check_word(const std::string& what, const std::string& word, const std::vector<std::string>& valid) {
  if (std::find(valid.begin(), valid.end(), word) == valid.end())
    throw_user("there is no " + what + " '" + word + "'", suggest(word, valid));
}

}  // namespace

void check_request(const CompileRequest& request) {
  std::vector<std::string> names;
  for (const BackendInfo& b : backends()) names.push_back(b.name);
  check_word("backend", request.backend, names);
  check_word("mode", request.mode, {"default", "reduce-overhead", "max-autotune"});
  check_word("target", request.target, {"cpu", "cuda"});
  if (request.target == "cuda") throw_user("target 'cuda' has no code generator in this version", "use --target cpu");
  if (request.backend == "interpret") return;
  check_disabled(request.backend == "unfused" ? unfused_pipeline() : inference_pipeline(), request.disabled_passes);
}

std::vector<BackendInfo> backends() {
  return {{"strata", "the whole compiler: simplified, fused, vectorised", true, {}},
          {"unfused", "one kernel per operator in program order: what eager mode does", true, {}},
          {"interpret", "reference interpreter, for comparison", true, {}}};
}

std::unique_ptr<Compiled> compile_program(const Program& program, const CompileRequest& request) {
  check_request(request);
  require_supported_operators(program.graph);
  if (request.threads > 0) set_thread_count(request.threads);
  const int64_t start = now_ns();
  trace::Id recorded = trace::kNone;
  if (request.recorder) recorded = request.recorder->begin_compile(program, request.backend, request.origin);
  try {
    std::unique_ptr<Compiled> result;
    if (request.backend == "interpret")
      result = std::make_unique<Interpreted>(program, request.cancelled);
    else
      result = Compilation(program, request).run();
    if (request.recorder) request.recorder->end_compile("ok", {}, now_ns() - start);
    result->recorded = recorded;
    return result;
  } catch (const std::exception& e) {
    if (request.recorder) request.recorder->end_compile("failed", e.what(), now_ns() - start);
    throw;
  }
}

}  // namespace strata
