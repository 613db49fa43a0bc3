// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The sample models under the interpreter, as captured, functional and decomposed, against the outputs that PyTorch
// gave.

#include <gtest/gtest.h>

#include <filesystem>

#include "capture/pt2.h"
#include "core/ir/interpreter.h"
#include "core/runtime/npy.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"
#include "tests/core/recorded_calls.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

struct Model {
  const char* name;
  const char* file;
  size_t cases;  ///< recorded sets of inputs
};

class InterpretModels : public ::testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    const fs::path folder = fs::path(STRATA_BINARY_DIR) / "models" / GetParam().name;
    program_ = std::make_unique<Program>(load_pt2(folder / GetParam().file));
    if (fs::exists(folder / "input_0.npy")) cases_.push_back(folder);
    for (const auto& entry : fs::directory_iterator(folder))
      if (fs::exists(entry.path() / "input_0.npy")) cases_.push_back(entry.path());
    ASSERT_EQ(cases_.size(), GetParam().cases);
  }

  static std::vector<Tensor> arrays(const fs::path& folder, const std::string& stem) {
    std::vector<Tensor> result;
    while (fs::exists(folder / (stem + std::to_string(result.size()) + ".npy")))
      result.push_back(read_npy(folder / (stem + std::to_string(result.size()) + ".npy")));
    return result;
  }

  /// User outputs for user inputs.
  std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs, bool float64) const {
    std::vector<RefValue> values;
    size_t user = 0;
    for (const InputSpec& spec : graph.input_specs) {
      if (spec.kind == InputSpec::Kind::User)
        values.emplace_back(inputs.at(user++));
      else
        values.emplace_back(program_->state.at(spec.target));
    }
    Interpreter interpreter(graph, {.float64 = float64, .observer = {}, .progress = {}});
    const std::vector<RefValue> all =
        interpreter.run(std::span<const RefValue>(values), bind_symbols(program_->graph, inputs));
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < all.size(); ++i)
      if (graph.is_user_output(i)) outputs.push_back(all[i].tensor());
    return outputs;
  }

  /// |a - b| <= 1e-4 |b| + 1e-5 max |b|
  void expect_outputs(const Graph& graph) const {
    for (const fs::path& folder : cases_) {
      const std::vector<Tensor> found = run(graph, arrays(folder, "input_"), false),
                                expected = arrays(folder, "output_");
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(recorded::difference(found[i], expected[i], 1e-5), "") << folder;
    }
  }

  std::unique_ptr<Program> program_;
  std::vector<fs::path> cases_;
};

TEST_P(InterpretModels, CapturedGivesPyTorchsOutputs) { expect_outputs(program_->graph); }
TEST_P(InterpretModels, FunctionalGivesPyTorchsOutputs) { expect_outputs(functionalize(program_->graph, {}).graph); }
TEST_P(InterpretModels, DecomposedGivesPyTorchsOutputs) {
  expect_outputs(decompose(functionalize(program_->graph, {}).graph, {}).graph);
}

/// What PyTorch's outputs lack to ours in float64 is PyTorch's own error, as it was measured when they were recorded.
TEST_P(InterpretModels, Float64IsTheTruth) {
  for (const fs::path& folder : cases_) {
    const std::string path = (folder / "outputs.json").string();
    const Json recorded = parse_json(recorded::read_text(path), path);
    const std::vector<Tensor> found = run(program_->graph, arrays(folder, "input_"), true),
                              expected = arrays(folder, "output_");
    for (size_t i = 0; i < found.size(); ++i) {
      const std::vector<double> x = found[i].values(), y = expected[i].values();
      double error = 0;
      for (size_t k = 0; k < x.size(); ++k) error = std::max(error, std::abs(x[k] - y[k]));
      const double measured = recorded.array().at(i).at("pytorch_max_error_against_float64").number();
      EXPECT_NEAR(error, measured, 0.02 * measured) << folder << " output " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, InterpretModels,
                         ::testing::Values(Model{"cnn_fmnist", "cnn_fmnist.pt2", 2},
                                           Model{"cnn_fmnist_dynamic", "cnn_fmnist.pt2", 3},
                                           Model{"bert", "bert.pt2", 2}, Model{"bert_dynamic", "bert.pt2", 3}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace strata
