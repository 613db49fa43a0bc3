// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "passes/fold_constants.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using testing::graph_of;

constexpr const char* kScaled = R"(
def forward(self, p_w: "f32[3]", x: "f32[2, 3]"):
    a = torch.ops.aten.exp.default(p_w)
    b = torch.ops.aten.mul.Tensor(a, 2)
    y = torch.ops.aten.mul.Tensor(x, b)
    return (y,))";

std::map<std::string, Tensor> weights() {
  return {{"p_w", Tensor::of(DType::F32, {3}, std::vector<double>{0, 1, -1})}};
}

TEST(FoldConstants, ChainsOfWeightsAreEvaluatedThrough) {
  const auto state = weights();
  const Graph graph = graph_of(kScaled);
  const PassResult result = fold_constants(graph, {&state});
  EXPECT_EQ(testing::body_of(result.graph),
            "a = aten.exp.default(p_w)\n"  // only constants read it: left for dce
            "_folded_b = self._folded_b\n"
            "y = aten.mul.Tensor(x, _folded_b)\n"
            "return (y,)\n");
  const Tensor& value = result.graph.attributes.at("_folded_b");
  EXPECT_FLOAT_EQ(static_cast<float>(value.at(1)), 2 * std::exp(1.0F));
  EXPECT_EQ(value.at(0), 2);
  // Origins name the node itself and all that is computed inside.
  std::set<NodeId> named;
  for (const Origin& o : result.graph.find("_folded_b")->meta.origins) named.insert(o.node);
  EXPECT_EQ(named, (std::set<NodeId>{graph.find("b")->id, graph.find("a")->id, graph.find("p_w")->id}));
}

TEST(FoldConstants, NothingWithoutValues) { EXPECT_TRUE(fold_constants(graph_of(kScaled), {}).rewrites.empty()); }

TEST(FoldConstants, WhatTheProgramWritesIsNotConstant) {
  const auto state = weights();
  Graph graph = graph_of(kScaled);
  graph.output_specs = {{OutputSpec::Kind::ParameterMutation, "p_w"}};
  EXPECT_TRUE(fold_constants(graph, {&state}).rewrites.empty());
}

TEST(FoldConstants, ViewsOfConstantsStayViews) {
  const auto state = weights();
  EXPECT_TRUE(fold_constants(graph_of(R"(
def forward(self, p_w: "f32[3]", x: "f32[2, 3]"):
    a = torch.ops.aten.unsqueeze.default(p_w, 0)
    y = torch.ops.aten.mul.Tensor(x, a)
    return (y,))"),
                             {&state})
                  .rewrites.empty());
}

TEST(FoldConstants, CreationsOfKnownSizeOnly) {
  const char* text = R"(
def forward(self, x: "f32[s0, 3]"):
    a = torch.ops.aten.arange.default(3, dtype = torch.float32)
    n = torch.ops.aten.sym_size.int(x, 0)
    b = torch.ops.aten.full.default([n, 1], 2.0)
    y = torch.ops.aten.mul.Tensor(x, a)
    z = torch.ops.aten.mul.Tensor(y, b)
    return (z,))";
  EXPECT_EQ(after(fold_constants, text),
            "_folded_a = self._folded_a\n"
            "n = aten.sym_size.int(x, 0)\n"
            "b = aten.full.default([n, 1], 2.0)\n"
            "y = aten.mul.Tensor(x, _folded_a)\n"
            "z = aten.mul.Tensor(y, b)\n"
            "return (z,)\n");
}

TEST(FoldConstants, LimitOfSize) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[100]"):
    a = torch.ops.aten.full.default([100], 2.0)
    y = torch.ops.aten.mul.Tensor(x, a)
    return (y,))");
  EXPECT_TRUE(fold_constants(graph, {nullptr, 399}).rewrites.empty());
  EXPECT_EQ(fold_constants(graph, {nullptr, 400}).rewrites.size(), 1u);
}

TEST(FoldConstants, RandomNumbersAreDrawnAtEveryRun) {
  EXPECT_TRUE(fold_constants(graph_of(R"(
def forward(self, x: "f32[3]"):
    a = torch.ops.aten.rand.default([3])
    y = torch.ops.aten.mul.Tensor(x, a)
    return (y,))"),
                             {})
                  .rewrites.empty());
}

}  // namespace
}  // namespace strata
