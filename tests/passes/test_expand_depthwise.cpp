// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand_depthwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/ir/interpreter.h"
#include "passes/decompose.h"
#include "tests/graphs/program.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using fuzz::random_tensor;
using testing::body_of;
using testing::graph_of;

std::string program(const std::string& dtype, const std::string& weight, const std::string& call) {
  return "def forward(self, x: \"" + dtype + "[2, 6, 11]\", w: \"" + dtype + "[" + weight + "]\", b: \"" + dtype +
         "[6]\"):\n    y = torch.ops.aten.convolution.default(" + call + ")\n    return (y,)";
}

struct Expanded {
  Graph before, after;
  size_t rewrites = 0;
};

Expanded expand(const std::string& text) {
  Expanded e;
  e.before = graph_of(text);
  EXPECT_EQ(expand_depthwise_may_change(e.before, {}), !expand_depthwise(e.before, {}).rewrites.empty());
  PassResult result = expand_depthwise(e.before, {});
  e.rewrites = result.rewrites.size();
  e.after = decompose(result.graph, {}).graph;
  return e;
}

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::mt19937_64 rng(4);
  std::vector<Tensor> inputs;
  for (const Node* input : graph.placeholders()) {
    std::vector<int64_t> shape;
    for (const SymInt& s : input->tensor().shape) shape.push_back(s.value());
    inputs.push_back(random_tensor(rng, input->tensor().dtype, shape, false));
  }
  return inputs;
}

std::vector<double> run(const Graph& graph, const std::vector<Tensor>& inputs) {
  return Interpreter(graph, {}).run(std::span<const Tensor>(inputs)).at(0).tensor().values();
}

class ExpandDepthwise : public ::testing::TestWithParam<const char*> {};

TEST_P(ExpandDepthwise, GivesTheSameValues) {
  for (const std::string dtype : {"f32", "f64", "bf16"}) {
    const Expanded e = expand(program(dtype, "6, 1, 4", GetParam()));
    EXPECT_EQ(e.rewrites, 1u);
    EXPECT_EQ(body_of(e.after).find("aten.convolution"), std::string::npos) << body_of(e.after);
    const std::vector<Tensor> inputs = inputs_of(e.before);
    const auto a = run(e.before, inputs), b = run(e.after, inputs);
    ASSERT_EQ(a.size(), b.size());
    const double tolerance = dtype == "bf16" ? 2e-2 : dtype == "f32" ? 2e-6 : 1e-14;
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(a[i]))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, ExpandDepthwise,
                         ::testing::Values("x, w, b, [1], [3], [1], False, [0], 6",
                                           "x, w, None, [1], [0], [1], False, [0], 6",
                                           "x, w, b, [2], [3], [1], False, [0], 6",
                                           "x, w, b, [3], [1], [2], False, [0], 6",
                                           "x, w, b, [1], [9], [3], False, [0], 6"));

/// What lies outside of the input is no zero that an infinite weight makes NaN of: so do PyTorch's own kernels for it.
TEST(ExpandDepthwiseTo, PositionsOutsideAddNothing) {
  const Expanded e = expand(program("f32", "6, 1, 4", "x, w, b, [1], [3], [1], False, [0], 6"));
  std::vector<Tensor> inputs = inputs_of(e.before);
  inputs[1].set(0, std::numeric_limits<double>::infinity());
  const auto found = run(e.after, inputs);
  for (size_t i = 0; i < 14; ++i) EXPECT_EQ(std::isfinite(found[i]), i < 3) << i << " " << found[i];
}

TEST(ExpandDepthwiseNot, OtherConvolutions) {
  EXPECT_EQ(expand(program("f32", "6, 1, 0", "x, w, b, [1], [0], [1], False, [0], 6")).rewrites, 0u);  // no taps
  EXPECT_EQ(expand(program("f32", "6, 1, 9", "x, w, b, [1], [3], [1], False, [0], 6")).rewrites, 0u);  // many taps
  EXPECT_EQ(expand(program("f32", "6, 2, 3", "x, w, b, [1], [3], [1], False, [0], 3")).rewrites, 0u);  // groups of two
  EXPECT_EQ(expand(program("f32", "6, 1, 3", "x, w, b, [1], [1], [1], True, [0], 6")).rewrites, 0u);   // transposed
}

}  // namespace
}  // namespace strata
