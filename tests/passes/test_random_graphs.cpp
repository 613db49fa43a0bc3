// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Random programs mean the same at every stage and after compilation.
//
// The yardstick is the interpreter in float64. How far native results may lie from it is measured: the same run is
// repeated with every floating value disturbed by its type's rounding error, and what that does to a result, it may do
// in a kernel too. Where overflow or a comparison of nearly equal values makes native and float64 results differ
// altogether, an element says nothing.

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <cstdlib>

#include "codegen/compiler.h"
#include "core/ir/interpreter.h"
#include "core/ir/text.h"
#include "core/support/error.h"
#include "passes/pass.h"
#include "passes/schedule.h"
#include "tests/passes/random_graph.h"

namespace strata {
namespace {

/// Results of one run: user outputs, then every input as the program left it.
using Results = std::vector<RefValue>;

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 0x1p-52;
    case DType::F16:
      return 0x1p-10;
    case DType::BF16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

void disturb(std::mt19937_64& rng, DType declared, const RefValue& value) {
  const auto* t = std::get_if<Tensor>(&value.value);
  if (!t || !is_floating(t->dtype)) return;
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int64_t i = 0; i < t->numel(); ++i) t->set(i, t->at(i) * (1 + epsilon(declared) * unit(rng)));
}

bool is_fresh(const Node& node) {
  if (node.kind != NodeKind::Call || !node.op || !node.type.is_tensor()) return false;
  return node.op->op_class != OpClass::View && !node.op->schema.returns_alias;
}

Results interpret(const RandomProgram& program, const Graph& graph, bool float64, std::mt19937_64* noise = nullptr) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : program.inputs) inputs.push_back(t.clone());
  InterpreterOptions options;
  options.float64 = float64;
  if (noise) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const DType declared = inputs[i].dtype;
      if (is_floating(declared)) inputs[i] = inputs[i].to(DType::F64);
      disturb(*noise, declared, inputs[i]);
      if (is_floating(declared) && !float64) inputs[i] = inputs[i].to(declared);
    }
    options.observer = [noise](const Node& node, const RefValue& value) {
      if (is_fresh(node)) disturb(*noise, node.tensor().dtype, value);
    };
  }
  Interpreter interpreter(graph, options);
  const std::vector<RefValue> all = interpreter.run(std::span<const Tensor>(inputs), program.symbols);
  Results results, after;
  for (size_t i = 0; i < inputs.size(); ++i) after.push_back(interpreter.input(i));
  const auto placeholders = graph.placeholders();
  for (size_t i = 0; i < all.size(); ++i) {
    const OutputSpec spec = i < graph.output_specs.size() ? graph.output_specs[i] : OutputSpec{};
    if (spec.kind == OutputSpec::Kind::User)
      results.push_back(all[i]);
    else
      for (size_t k = 0; k < placeholders.size(); ++k)
        if (placeholders[k]->name == spec.target) after.at(k) = all[i];
  }
  results.insert(results.end(), after.begin(), after.end());
  return results;
}

double number_of(const RefValue& v) {
  if (const auto* i = std::get_if<int64_t>(&v.value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&v.value)) return *d;
  return std::nan("");
}

std::vector<double> numbers(const RefValue& v) {
  const auto* t = std::get_if<Tensor>(&v.value);
  return t ? t->values() : std::vector<double>{number_of(v)};
}

/// What a program should give, and how certain that is.
class Expectation {
 public:
  explicit Expectation(const RandomProgram& program)
      : program_(program),
        truth_(interpret(program, program.graph, true)),
        native_(interpret(program, program.graph, false)),
        rng_(7) {
    for (const RefValue& v : truth_) spread_.emplace_back(numbers(v).size(), 0.0);
    widen(4);
  }

  /// Empty if `found` is right; else where it is not.
  std::string compare(const Results& found) {
    std::string why = difference(found);
    if (why.empty()) return why;
    widen(40);
    return difference(found);
  }

 private:
  void widen(int runs) {
    for (int run = 0; run < runs; ++run) {
      const Results disturbed = interpret(program_, program_.graph, true, &rng_);
      for (size_t i = 0; i < truth_.size(); ++i) {
        const auto a = numbers(truth_[i]), b = numbers(disturbed[i]);
        for (size_t k = 0; k < a.size(); ++k)
          if (!same(a[k], b[k]))
            spread_[i][k] = std::max(spread_[i][k], std::isfinite(a[k] - b[k]) ? std::abs(a[k] - b[k]) : HUGE_VAL);
      }
    }
  }

  static bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

  std::string difference(const Results& found) const {
    if (found.size() != truth_.size())
      return std::to_string(found.size()) + " results, expected " + std::to_string(truth_.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const auto *a = std::get_if<Tensor>(&found[i].value), *b = std::get_if<Tensor>(&native_[i].value);
      if (a && b && (a->dtype != b->dtype || a->shape != b->shape))
        return "result " + std::to_string(i) + " is " + a->str() + ", expected " + b->str();
      const std::string why = elements(i, numbers(found[i]), b ? epsilon(b->dtype) : 0, b && is_floating(b->dtype));
      if (!why.empty()) return why;
    }
    return {};
  }

  std::string elements(size_t i, const std::vector<double>& found, double eps, bool floating) const {
    const auto truth = numbers(truth_[i]), native = numbers(native_[i]);
    if (found.size() != truth.size())
      return "result " + std::to_string(i) + " has " + std::to_string(found.size()) + " elements";
    double scale = 0;  // operators lose digits of intermediate values of this size
    for (const double t : truth)
      if (std::isfinite(t)) scale = std::max(scale, std::abs(t));
    for (size_t k = 0; k < found.size(); ++k) {
      const double t = truth[k], n = native[k], f = found[k];
      if (same(t, f) || same(n, f) || spread_[i][k] == HUGE_VAL) continue;
      if (std::isfinite(t) != std::isfinite(n) || std::isnan(t) != std::isnan(n)) continue;
      if (!floating && spread_[i][k] > 0) continue;
      const double tolerance =
          floating ? 32 * spread_[i][k] + 16 * eps * std::abs(t) + 2 * std::abs(t - n) + 4 * eps * std::min(scale, 8.0)
                   : 0;
      if (std::abs(f - t) <= tolerance) continue;
      return "result " + std::to_string(i) + " element " + std::to_string(k) + " is " + std::to_string(f) +
             ", expected " + std::to_string(t) + " (native " + std::to_string(n) + ", tolerance " +
             std::to_string(tolerance) + ")";
    }
    return {};
  }

  const RandomProgram& program_;
  Results truth_, native_;
  std::vector<std::vector<double>> spread_;
  std::mt19937_64 rng_;
};

std::string check_text(const Graph& graph) {
  const std::string once = print_text(graph), twice = print_text(parse_text(graph.shared_env(), once));
  return once == twice ? "" : "text form changes:\n" + once + "\n" + twice;
}

Results run_compiled(const RandomProgram& program, const Graph& graph, bool within_operators) {
  const auto state = program.state();
  ScheduleOptions options;
  options.within_operators = within_operators;
  options.state = &state;
  Scheduled scheduled = schedule(graph, options);
  for (const auto& node : graph.nodes())
    if (node->kind != NodeKind::Output && !scheduled.fates.contains(node->id))
      throw_internal("'" + node->name + "' has no fate");
  CompileOptions compile_options;
  compile_options.threads = 2;
  const auto compiler = make_cpu_compiler();
  Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, compile_options), 2);
  const std::vector<Tensor> inputs = program.user_inputs();
  const std::vector<Tensor> outputs = executor.run(inputs);
  Results results(outputs.begin(), outputs.end());
  size_t user = 0;
  for (const InputSpec& spec : program.graph.input_specs)
    results.emplace_back(spec.kind == InputSpec::Kind::User ? inputs[user++] : state.at(spec.target));
  return results;
}

std::string check_pipeline(const RandomProgram& program, Expectation& expected, const std::vector<Pass>& pipeline,
                           bool within_operators) {
  const std::string which = within_operators ? "unfused" : "inference";
  const auto state = program.state();
  PassContext context;
  context.state = &state;
  std::string failure;
  RunnerOptions options;
  options.observer = [&](const PassRun& run, const Graph& graph) {
    if (!failure.empty() || !run.changed) return;
    std::string why = expected.compare(interpret(program, graph, false));
    if (why.empty()) why = check_text(graph);
    if (!why.empty()) failure = which + ", after " + run.pass->name + "#" + std::to_string(run.occurrence) + ": " + why;
  };
  const Graph graph = run_passes(pipeline, program.graph, context, options);
  if (!failure.empty()) return failure;
  const std::string why = expected.compare(run_compiled(program, graph, within_operators));
  return why.empty() ? "" : which + ", compiled: " + why;
}

/// Writes through views that only PyTorch's scatters could undo are refused; through these they must work.
bool is_legal_refusal(const Error& e) {
  const std::string_view text = e.what();
  if (e.kind() != ErrorKind::User || text.find("cannot be written back") == text.npos) return false;
  for (const char* view :
       {"view", "transpose", "permute", "select", "squeeze", "split", "unbind", "chunk", "alias", "detach", "flatten"})
    if (text.find("writes through aten." + std::string(view)) != text.npos) return false;
  return true;
}

/// Empty if the program means the same everywhere.
std::string check(const RandomProgram& program) {
  try {
    Expectation expected(program);
    if (std::string why = check_text(program.graph); !why.empty()) return why;
    std::string why = check_pipeline(program, expected, inference_pipeline(), false);
    if (why.empty()) why = check_pipeline(program, expected, unfused_pipeline(), true);
    return why;
  } catch (const Error& e) {
    return is_legal_refusal(e) ? "" : std::string("throws: ") + e.what();
  } catch (const std::exception& e) {
    return std::string("throws: ") + e.what();
  }
}

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(RandomGraphs, MeanTheSameAtEveryStage) {
#ifdef M_PERTURB
  mallopt(M_PERTURB, 0x5a);  // what nobody writes is not zero
#endif
  const uint64_t count = setting("STRATA_FUZZ_GRAPHS", 300), first = setting("STRATA_FUZZ_SEED", 1);
  size_t failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomProgram program = random_program(seed);
    const std::string why = check(program);
    if (why.empty()) continue;
    ++failures;
    // The small program must fail for the same reason, as far as the first words tell.
    const std::string kind = why.substr(0, why.find(':'));
    const RandomProgram small = shrink(program, [&](const RandomProgram& p) { return check(p).starts_with(kind); });
    ADD_FAILURE() << "seed " << seed << ": " << why << "\nshrunk: " << check(small) << "\n" << small.str();
  }
}

}  // namespace
}  // namespace strata
