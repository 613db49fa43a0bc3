// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "passes/cse.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using testing::graph_of;

TEST(Cse, TwinsOfTwinsMeet) {
  EXPECT_EQ(after(cse, R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.sin.default(x)
    c = torch.ops.aten.neg.default(a)
    d = torch.ops.aten.neg.default(b)
    e = torch.ops.aten.add.Tensor(c, d)
    return (e,))"),
            "a = aten.sin.default(x)\n"
            "c = aten.neg.default(a)\n"
            "e = aten.add.Tensor(c, c)\n"
            "return (e,)\n");
}

TEST(Cse, SurvivorNamesItsTwin) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.sin.default(x)
    return (a, b))");
  const PassResult result = cse(graph, {});
  const Node* a = result.graph.find("a");
  ASSERT_EQ(a->meta.origins.size(), 1u);
  EXPECT_EQ(a->meta.origins[0].node, graph.find("b")->id);
  ASSERT_EQ(result.rewrites.size(), 1u);
  EXPECT_EQ(result.rewrites[0].reason, "same as 'a'");
}

/// Calls that differ in what the text between the brackets says.
class CseKeeps : public ::testing::TestWithParam<const char*> {};

TEST_P(CseKeeps, Apart) {
  const std::string text =
      "def forward(self, x: \"f32[2, 3]\", y: \"f32[2, 3]\"):\n" + std::string(GetParam()) + "    return (a, b)";
  EXPECT_TRUE(cse(graph_of(text), {}).rewrites.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Calls, CseKeeps,
    ::testing::Values(
        "    a = torch.ops.aten.sin.default(x)\n    b = torch.ops.aten.sin.default(y)\n",
        "    a = torch.ops.aten.sub.Tensor(x, y)\n    b = torch.ops.aten.sub.Tensor(y, x)\n",
        "    a = torch.ops.aten.add.Tensor(x, 0.0)\n    b = torch.ops.aten.add.Tensor(x, -0.0)\n",
        "    a = torch.ops.aten.mul.Tensor(x, 1)\n    b = torch.ops.aten.mul.Tensor(x, True)\n",
        "    a = torch.ops.aten.sum.dim_IntList(x, [1])\n    b = torch.ops.aten.sum.dim_IntList(x, [1], True)\n",
        "    a = torch.ops.aten._to_copy.default(x, dtype = torch.float64)\n"
        "    b = torch.ops.aten._to_copy.default(x, dtype = torch.float16)\n",
        "    a = torch.ops.aten.native_dropout.default(x, 0.5, True)\n"
        "    b = torch.ops.aten.native_dropout.default(x, 0.5, True)\n"));

TEST(Cse, EqualConstantsBecomeOne) {
  Graph graph;
  Node* a = graph.add(NodeKind::GetAttr, "a", {}, Type::of(DType::F32, {2}));
  Node* b = graph.add(NodeKind::GetAttr, "b", {}, Type::of(DType::F32, {2}));
  Node* c = graph.add(NodeKind::GetAttr, "c", {}, Type::of(DType::F32, {2}));
  graph.attributes["a"] = Tensor::of(DType::F32, {2}, std::vector<double>{1, 0.0});
  graph.attributes["b"] = Tensor::of(DType::F32, {2}, std::vector<double>{1, 0.0});
  graph.attributes["c"] = Tensor::of(DType::F32, {2}, std::vector<double>{1, -0.0});
  graph.output(Argument::list({Argument(a), Argument(b), Argument(c)}));
  const PassResult result = cse(graph, {});
  EXPECT_EQ(result.rewrites.size(), 1u);
  const auto leaves = result.graph.flat_outputs();
  EXPECT_EQ(leaves[0].node(), leaves[1].node());
  EXPECT_NE(leaves[0].node(), leaves[2].node());  // the sign of zero is a difference
}

TEST(Cse, EqualConstantsOfFilesBecomeOneAndParametersStay) {
  Graph graph = graph_of(R"(
def forward(self, p: "f32[2]", q: "f32[2]", c: "f32[2]", d: "f32[2]", x: "f32[2]"):
    a = torch.ops.aten.mul.Tensor(x, c)
    b = torch.ops.aten.mul.Tensor(x, d)
    e = torch.ops.aten.mul.Tensor(x, p)
    f = torch.ops.aten.mul.Tensor(x, q)
    return (a, b, e, f))");
  std::map<std::string, Tensor> state;
  graph.input_specs.clear();
  for (const char* name : {"p", "q", "c", "d"}) {
    InputSpec& spec = graph.input_specs.emplace_back();
    spec.kind = *name < 'p' ? InputSpec::Kind::TensorConstant : InputSpec::Kind::Parameter;
    spec.target = name;
    state[name] = Tensor::of(DType::F32, {2}, std::vector<double>{1, 3});
  }
  graph.input_specs.emplace_back();
  PassResult result = cse(graph, {&state});
  EXPECT_EQ(result.rewrites.size(), 2u);  // d, and with it b
  const auto leaves = result.graph.flat_outputs();
  EXPECT_EQ(leaves[0].node(), leaves[1].node());
  EXPECT_NE(leaves[2].node(), leaves[3].node());
  EXPECT_EQ(result.graph.placeholders().size(), 5u);
  EXPECT_EQ(result.graph.input_specs.size(), 5u);
  EXPECT_FALSE(cse_may_change(result.graph, {&state}));
  state["d"] = Tensor::of(DType::F32, {2}, std::vector<double>{1, 2});
  EXPECT_FALSE(cse_may_change(graph, {&state}));
}

}  // namespace
}  // namespace strata
