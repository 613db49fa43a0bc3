// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/ir/interpreter.h"
#include "passes/dce.h"
#include "passes/decompose.h"
#include "passes/fold_batch_norm.h"
#include "passes/fold_constants.h"
#include "passes/simplify.h"
#include "tests/graphs/program.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using fuzz::random_tensor;
using testing::body_of;
using testing::graph_of;

/// Everything the pipeline does before the pass, then the pass and what clears up after it.
struct Folded {
  Graph before, after;
  size_t rewrites = 0;
};

Folded fold(const std::string& text, std::map<std::string, Tensor>& state) {
  std::mt19937_64 rng(5);
  const Graph graph = graph_of(text);
  for (const Node* input : graph.placeholders()) {
    if (!input->name.starts_with("p_")) continue;
    std::vector<int64_t> shape;
    for (const SymInt& s : input->tensor().shape) shape.push_back(s.value());
    Tensor value = random_tensor(rng, input->tensor().dtype, shape, false);
    if (input->name == "p_var")
      for (int64_t i = 0; i < value.numel(); ++i) value.set(i, std::abs(value.at(i)) + 0.1);
    state[input->name] = value;
  }
  const PassContext context{&state};
  Folded result{fold_constants(simplify(decompose(graph, {}).graph, {}).graph, context).graph, Graph()};
  PassResult folded = fold_batch_norm(result.before, context);
  result.rewrites = folded.rewrites.size();
  result.after = dce(folded.graph, {}).graph;
  return result;
}

std::vector<double> run(const Graph& graph, const std::map<std::string, Tensor>& state, bool float64) {
  std::mt19937_64 rng(9);
  std::vector<Tensor> inputs;
  for (const Node* input : graph.placeholders()) {
    std::vector<int64_t> shape;
    for (const SymInt& s : input->tensor().shape) shape.push_back(s.value());
    inputs.push_back(state.contains(input->name) ? state.at(input->name)
                                                 : random_tensor(rng, input->tensor().dtype, shape, false));
  }
  InterpreterOptions options;
  options.float64 = float64;
  return Interpreter(graph, options).run(std::span<const Tensor>(inputs)).at(0).tensor().values();
}

void expect_same(const Folded& f, const std::map<std::string, Tensor>& state) {
  const auto a = run(f.before, state, true), b = run(f.after, state, true);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5 * std::max(1.0, std::abs(a[i]))) << i;
}

std::string program(const std::string& weight, const std::string& channels, const std::string& call,
                    const std::string& rest) {
  const std::string c = "\"f32[" + channels + "]\"";
  return "def forward(self, x: \"f32[2, 4, 6, 6]\", p_k: \"f32[" + weight + "]\", p_b: " + c + ", p_w: " + c +
         ", p_t: " + c + ", p_mean: " + c + ", p_var: " + c + "):\n    a = " + call + "\n" + rest;
}

constexpr const char* kNorm =
    "    n = torch.ops.aten.batch_norm.default(a, p_w, p_t, p_mean, p_var, False, 0.1, 1e-05, True)\n    return (n,)";

class FoldBatchNorm : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(FoldBatchNorm, GivesTheSameValues) {
  std::map<std::string, Tensor> state;
  const Folded f = fold(program(GetParam()[1], GetParam()[2], GetParam()[3], kNorm), state);
  EXPECT_EQ(f.rewrites, 1u);
  const std::string text = body_of(f.after);
  EXPECT_NE(text.find("_folded_weight, _folded_bias"), text.npos) << text;
  EXPECT_EQ(text.find("aten.mul"), text.npos) << text;
  expect_same(f, state);
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, FoldBatchNorm,
    ::testing::Values(
        std::vector<std::string>{"plain", "8, 4, 3, 3", "8", "torch.ops.aten.conv2d.default(x, p_k, p_b)"},
        std::vector<std::string>{"without_bias", "8, 4, 3, 3", "8", "torch.ops.aten.conv2d.default(x, p_k)"},
        std::vector<std::string>{"groups", "8, 2, 3, 3", "8",
                                 "torch.ops.aten.conv2d.default(x, p_k, p_b, [1, 1], [0, 0], [1, 1], 2)"},
        std::vector<std::string>{
            "transposed", "4, 6, 3, 3", "6",
            "torch.ops.aten.convolution.default(x, p_k, p_b, [2, 2], [1, 1], [1, 1], True, [0, 0], 1)"},
        std::vector<std::string>{
            "transposed_groups", "4, 3, 3, 3", "6",
            "torch.ops.aten.convolution.default(x, p_k, p_b, [1, 1], [0, 0], [1, 1], True, [0, 0], 2)"}),
    [](const auto& info) { return info.param[0]; });

/// The norm of a narrow convolution is computed in float32. What is rounded then are the weight and the bias, where it
/// was the convolution: of elements near 1, summed over 36 products, neither makes more than a few units.
TEST(FoldBatchNorm, OfNarrowConvolutions) {
  std::string text = program("8, 4, 3, 3", "8", "torch.ops.aten.conv2d.default(x, p_k, p_b)", "");
  for (size_t at = 0; (at = text.find("f32", at)) != text.npos;) text.replace(at, 3, "bf16");
  text += R"(    wide = torch.ops.aten._to_copy.default(a, dtype = torch.float32)
    scaled = torch.ops.aten.mul.Tensor(wide, 0.75)
    moved = torch.ops.aten.add.Tensor(scaled, 0.5)
    back = torch.ops.aten._to_copy.default(moved, dtype = torch.bfloat16)
    after = torch.ops.aten._to_copy.default(back, dtype = torch.float32)
    sine = torch.ops.aten.sin.default(after)
    return (back, sine))";
  std::map<std::string, Tensor> state;
  const Folded f = fold(text, state);
  EXPECT_EQ(f.rewrites, 1u);
  EXPECT_EQ(body_of(f.after).find("aten.mul"), std::string::npos) << body_of(f.after);
  const auto exact = run(f.before, state, true), folded = run(f.after, state, true);
  const auto unfolded = run(f.before, state, false);
  ASSERT_EQ(exact.size(), folded.size());
  double ours = 0, theirs = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    ours = std::max(ours, std::abs(folded[i] - exact[i]));
    theirs = std::max(theirs, std::abs(unfolded[i] - exact[i]));
  }
  EXPECT_GT(ours, 0) << "weights were not rounded";
  EXPECT_LE(ours, 2 * theirs);
}

TEST(FoldBatchNormNot, WhereNothingButCastsFollows) {
  std::map<std::string, Tensor> state;
  const Folded f = fold(R"(
def forward(self, x: "bf16[2, 4, 6, 6]", p_k: "bf16[8, 4, 3, 3]"):
    a = torch.ops.aten.conv2d.default(x, p_k)
    wide = torch.ops.aten._to_copy.default(a, dtype = torch.float32)
    back = torch.ops.aten._to_copy.default(wide, dtype = torch.bfloat16)
    return (back,))",
                        state);
  EXPECT_EQ(f.rewrites, 0u);
}

TEST(FoldBatchNormNot, WhereTheResultStaysWide) {
  std::map<std::string, Tensor> state;
  const Folded f = fold(R"(
def forward(self, x: "bf16[2, 4, 6, 6]", p_k: "bf16[8, 4, 3, 3]"):
    a = torch.ops.aten.conv2d.default(x, p_k)
    wide = torch.ops.aten._to_copy.default(a, dtype = torch.float32)
    scaled = torch.ops.aten.mul.Tensor(wide, 0.75)
    return (scaled,))",
                        state);
  EXPECT_EQ(f.rewrites, 0u);
}

TEST(FoldBatchNormNot, WhereSomebodyElseReadsTheConvolution) {
  std::map<std::string, Tensor> state;
  const Folded f =
      fold(program("8, 4, 3, 3", "8", "torch.ops.aten.conv2d.default(x, p_k, p_b)",
                   "    n = torch.ops.aten.batch_norm.default(a, p_w, p_t, p_mean, p_var, False, 0.1, 1e-05, True)\n"
                   "    return (n, a)"),
           state);
  EXPECT_EQ(f.rewrites, 0u);
}

TEST(FoldBatchNormNot, WhereTheScaleVaries) {
  std::map<std::string, Tensor> state;
  const Folded f = fold(R"(
def forward(self, x: "f32[2, 4, 6, 6]", p_k: "f32[8, 4, 3, 3]", scale: "f32[8, 1, 1]"):
    a = torch.ops.aten.conv2d.default(x, p_k)
    n = torch.ops.aten.mul.Tensor(a, scale)
    return (n,))",
                        state);
  EXPECT_EQ(f.rewrites, 0u);
}

TEST(FoldBatchNormNot, WhereTheScaleIsAlongAnotherDimension) {
  std::map<std::string, Tensor> state;
  const Folded f = fold(R"(
def forward(self, x: "f32[2, 4, 6, 6]", p_k: "f32[8, 4, 3, 3]", p_s: "f32[4, 1]"):
    a = torch.ops.aten.conv2d.default(x, p_k)
    n = torch.ops.aten.mul.Tensor(a, p_s)
    return (n,))",
                        state);
  EXPECT_EQ(f.rewrites, 0u);
}

}  // namespace
}  // namespace strata
