// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// One compile, all sizes; every stage means the same; errors against float64 stay near PyTorch's own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "app/driver/compare.h"
#include "app/driver/compile.h"
#include "app/driver/inputs.h"
#include "capture/pt2.h"
#include "core/ir/interpreter.h"
#include "core/ir/text.h"
#include "tests/app/cases.h"

namespace strata::testing {
namespace {

/// All placeholders of a graph of this program: user inputs and state.
std::vector<RefValue> arguments(const Program& program, const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<RefValue> values;
  size_t user = 0;
  const auto placeholders = graph.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const bool state = i < graph.input_specs.size() && graph.input_specs[i].kind != InputSpec::Kind::User;
    values.push_back(RefValue{state ? program.state.at(graph.input_specs[i].target) : inputs.at(user++)});
  }
  return values;
}

std::vector<Tensor> interpret(const Program& program, const Graph& graph, const std::vector<Tensor>& inputs,
                              bool float64) {
  InterpreterOptions options;
  options.float64 = float64;
  Interpreter interpreter(graph, options);
  std::vector<Tensor> outputs;
  for (const RefValue& v : interpreter.run(arguments(program, graph, inputs), check_inputs(program, inputs)))
    outputs.push_back(std::get<Tensor>(v.value));
  return outputs;
}

double max_error(const Tensor& a, const Tensor& b) {
  double worst = 0;
  EXPECT_EQ(a.shape, b.shape);
  for (int64_t i = 0; i < std::min(a.numel(), b.numel()); ++i) {
    const double e = std::abs(a.at(i) - b.at(i));
    worst = std::isnan(e) ? INFINITY : std::max(worst, e);
  }
  return worst;
}

double scale_of(const Tensor& t) {
  double scale = 0;
  for (double v : t.values()) scale = std::max(scale, std::abs(v));
  return scale;
}

/// The same sizes with other values: integers from the range of the given ones.
std::vector<Tensor> fresh_inputs(const std::vector<Tensor>& like, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Tensor> fresh;
  for (const Tensor& t : like) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; is_integral(t.dtype) && i < t.numel(); ++i)
      low = std::min(low, t.int_at(i)), high = std::max(high, t.int_at(i));
    Tensor f = Tensor::empty(t.dtype, t.shape);
    for (int64_t i = 0; i < f.numel(); ++i)
      is_integral(t.dtype) ? f.set_int(i, std::uniform_int_distribution<int64_t>(low, high)(random))
                           : f.set(i, normal(random));
    fresh.push_back(std::move(f));
  }
  return fresh;
}

class AllSizes : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(AllSizes, OneCompileServesThem) {
  const auto& [model, backend] = GetParam();
  const Program program = load_pt2(model_file(model));
  CompileRequest request;
  request.backend = backend;
  const auto compiled = compile_program(program, request);
  for (const Case& c : cases_of(model)) {
    const auto inputs = c.tensors("input_"), expected = c.tensors("output_");
    const auto outputs = compiled->run(inputs), exact = interpret(program, program.graph, inputs, true);
    const auto allowed = c.pytorch_errors();
    ASSERT_EQ(outputs.size(), expected.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Comparison cmp = compare(outputs[i], expected[i], {});
      EXPECT_TRUE(cmp.passed) << c.folder << " output " << i << " max abs " << cmp.max_abs;
      EXPECT_LE(max_error(outputs[i], exact[i]), 2 * allowed[i] + 1e-6 * scale_of(exact[i]))
          << c.folder << " output " << i;
    }
    // Fresh values against float64: nothing may depend on the values that came with the model.
    const auto fresh = fresh_inputs(inputs, std::random_device{}());
    const auto fresh_outputs = compiled->run(fresh), fresh_exact = interpret(program, program.graph, fresh, true);
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_LE(max_error(fresh_outputs[i], fresh_exact[i]), 1e-5 * scale_of(fresh_exact[i]))
          << c.folder << " output " << i << ", fresh inputs";
  }
}

std::vector<std::pair<std::string, std::string>> all_pairs() {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& m : models())
    for (const char* b : {"strata", "unfused", "interpret"}) pairs.emplace_back(m, b);
  return pairs;
}
INSTANTIATE_TEST_SUITE_P(Models, AllSizes, ::testing::ValuesIn(all_pairs()),
                         [](const auto& info) { return info.param.first + "_" + info.param.second; });

class EveryStage : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryStage, MeansTheSameAndItsTextReadsBack) {
  const Program program = load_pt2(model_file(GetParam()));
  const Case c = smallest_case(GetParam());
  const auto inputs = fresh_inputs(c.tensors("input_"), std::random_device{}());
  const auto expected = interpret(program, program.graph, inputs, true);
  int stages = 0;
  const auto check = [&](const std::string& stage, const Graph& graph) {
    ++stages;
    const std::string text = print_text(graph);
    EXPECT_EQ(print_text(parse_text(std::make_shared<ShapeEnv>(), text)), text) << stage;
    auto outputs = interpret(program, graph, inputs, true);
    ASSERT_GE(outputs.size(), expected.size()) << stage;
    // Functional graphs return what they write before the program's own outputs.
    outputs.erase(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(outputs.size() - expected.size()));
    // Folded constants are computed in the program's own types: they keep float32's error in a float64 run.
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_LE(max_error(outputs[i], expected[i]), 3e-6 * scale_of(expected[i])) << stage << " output " << i;
  };
  check("captured", program.graph);
  PassContext context;
  context.state = &program.state;
  RunnerOptions options;
  options.observer = [&](const PassRun& run, const Graph& graph) {
    if (run.changed || run.pass->required) check(run.pass->name + "#" + std::to_string(run.occurrence), graph);
  };
  run_passes(inference_pipeline(), program.graph, context, options);
  EXPECT_GE(stages, 3);  // captured, functional, decomposed at least
}

INSTANTIATE_TEST_SUITE_P(Models, EveryStage, ::testing::ValuesIn(models()),
                         [](const auto& info) { return info.param; });

// --------------------------------------------------------------------------------------------------------- inputs,
// compare

TEST(Compare, ToleranceIsRelativeToEachElementAndTheLargest) {
  const Tensor b = Tensor::of(DType::F32, {4}, std::vector<double>{100, 1, -100, 0});
  // atol is 1e-5 * 100, rtol 1e-4.
  EXPECT_TRUE(compare(Tensor::of(DType::F32, {4}, std::vector<double>{100.01, 1.001, -100.01, 0.0009}), b, {}).passed);
  const Comparison c = compare(Tensor::of(DType::F32, {4}, std::vector<double>{100, 1.0012, -100, 0}), b, {});
  EXPECT_FALSE(c.passed);
  EXPECT_EQ(c.failures, 1);
  EXPECT_EQ(c.worst, 1);
  EXPECT_NEAR(c.max_abs, 0.0012, 1e-6);
  EXPECT_NEAR(c.max_rel, 0.0012, 1e-6);
  EXPECT_DOUBLE_EQ(c.scale, 100);
}

TEST(Compare, SpecialValuesShapesAndIntegers) {
  const auto tensor = [](DType d, std::vector<double> v) { return Tensor::of(d, {static_cast<int64_t>(v.size())}, v); };
  EXPECT_TRUE(compare(tensor(DType::F32, {NAN, INFINITY}), tensor(DType::F32, {NAN, INFINITY}), {}).passed);
  EXPECT_FALSE(compare(tensor(DType::F32, {NAN, 1}), tensor(DType::F32, {0, 1}), {}).passed);
  EXPECT_FALSE(compare(tensor(DType::F32, {0, 1}), tensor(DType::F32, {NAN, 1}), {}).passed);
  EXPECT_FALSE(compare(tensor(DType::F32, {-INFINITY}), tensor(DType::F32, {INFINITY}), {}).passed);
  EXPECT_FALSE(compare(tensor(DType::F32, {1e30}), tensor(DType::F32, {INFINITY}), {}).passed);
  EXPECT_FALSE(compare(tensor(DType::I64, {1000001}), tensor(DType::I64, {1000000}), {}).passed);
  std::string problem;
  EXPECT_FALSE(compare(tensor(DType::F32, {1, 2}), tensor(DType::F32, {1}), {}, &problem).passed);
  EXPECT_EQ(problem, "expected float32[1], found float32[2]");
  EXPECT_TRUE(compare(tensor(DType::BF16, {1.01}), tensor(DType::BF16, {1}), {}).passed);
  EXPECT_TRUE(compare(tensor(DType::F32, {}), tensor(DType::F32, {}), {}).passed);
}

TEST(Inputs, RandomOnesFitTheProgram) {
  for (const std::string& model : models()) {
    const Program program = load_pt2(model_file(model));
    const auto a = random_inputs(program, 3), b = random_inputs(program, 3), c = random_inputs(program, 4);
    EXPECT_NO_THROW(check_inputs(program, a));
    EXPECT_EQ(a[0].values(), b[0].values());
    EXPECT_NE(a[0].values(), c[0].values());
  }
}

TEST(Inputs, IntegersStayInTheRangeOfTheSample) {
  Program program = load_pt2(model_file("bert"));
  ASSERT_FALSE(program.sample_inputs.empty());
  program.sample_inputs[0] = Tensor::full(DType::I64, program.sample_inputs[0].shape, 6);
  for (double v : random_inputs(program, 1)[0].values()) EXPECT_EQ(v, 6);
}

TEST(Inputs, BfloatBitsComeBack) {
  Graph graph;
  Node* x = graph.placeholder("x", Type::of(DType::BF16, {3}));
  graph.output(Argument::list({x}));
  Program program(std::move(graph));
  program.user_input_names = {"x"};
  program.user_output_names = {"out"};
  TemporaryFolder folder;
  const Tensor value = Tensor::of(DType::BF16, {3}, std::vector<double>{1.5, -2, 0.25});
  save_outputs(folder.path(), std::vector<Tensor>{value});
  const auto loaded = load_inputs(program, std::vector<std::string>{folder.file("output_0.npy")}, DType::BF16);
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded[0].dtype, DType::BF16);
  EXPECT_EQ(loaded[0].values(), value.values());
  EXPECT_EQ(load_inputs(program, std::vector<std::string>{folder.file("output_0.npy")})[0].dtype, DType::U16);
}

TEST(Inputs, FailedSaveLeavesNothing) {
  TemporaryFolder folder;
  const Tensor value = Tensor::full(DType::F32, {3}, 1.5);
  fs::create_directory(folder.file("output_1.npy"));  // cannot be replaced by a file
  fs::create_directory(folder.file("output_1.npy") + "/x");
  EXPECT_ANY_THROW(save_outputs(folder.path(), std::vector<Tensor>{value, value}));
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("output_1.npy"));
}

}  // namespace
}  // namespace strata::testing
