// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "passes/simplify.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using testing::graph_of;

struct RuleCase {
  const char* name;
  const char* rule;
  const char* input;   ///< of x: f32[2, 3], n: i64[2, 3], h: bf16[2, 3]
  const char* result;  ///< what is returned in its place; null: the rule must not fire
};

std::string program(const std::string& statements) {
  return "def forward(self, x: \"f32[2, 3]\", n: \"i64[2, 3]\", h: \"bf16[2, 3]\"):\n" + statements;
}

class SimplifyRules : public ::testing::TestWithParam<RuleCase> {};

TEST_P(SimplifyRules, FiresOnlyWhereItMay) {
  const RuleCase& c = GetParam();
  const Graph graph = graph_of(program(c.input));
  const PassResult result = simplify(graph, {});
  bool fired = false;
  for (const Rewrite& r : result.rewrites) fired |= r.rule == c.rule;
  EXPECT_EQ(fired, c.result != nullptr) << testing::rules_of(result.rewrites);
  const std::string text = testing::body_of(result.graph);
  if (c.result)
    EXPECT_NE(text.find("return (" + std::string(c.result) + ",)"), text.npos) << text;
  else
    EXPECT_EQ(text, testing::body_of(graph));
}

const RuleCase kCases[] = {
    {"clone", "copy(x) = x", "  a = torch.ops.aten.clone.default(x)\n  return (a,)", "x"},
    {"cast_to_same", "copy(x) = x", "  a = torch.ops.aten._to_copy.default(x, dtype = torch.float32)\n  return (a,)",
     "x"},
    {"cast_to_other", "copy(x) = x", "  a = torch.ops.aten._to_copy.default(x, dtype = torch.float64)\n  return (a,)",
     nullptr},
    {"times_one", "x * 1 = x", "  a = torch.ops.aten.mul.Tensor(x, 1)\n  return (a,)", "x"},
    {"times_one_promotes", "x * 1 = x", "  a = torch.ops.aten.mul.Tensor(n, 1.0)\n  return (a,)", nullptr},
    {"times_two", "x * 1 = x", "  a = torch.ops.aten.mul.Tensor(x, 2)\n  return (a,)", nullptr},
    {"over_one", "x / 1 = x", "  a = torch.ops.aten.div.Tensor(x, 1)\n  return (a,)", "x"},
    {"integer_over_one", "x / 1 = x", "  a = torch.ops.aten.div.Tensor(n, 1)\n  return (a,)", nullptr},
    {"minus_zero", "x - 0 = x", "  a = torch.ops.aten.sub.Tensor(x, 0.0)\n  return (a,)", "x"},
    // -0.0 - -0.0 is 0.0
    {"minus_negative_zero", "x - 0 = x", "  a = torch.ops.aten.sub.Tensor(x, -0.0)\n  return (a,)", nullptr},
    {"minus_zero_alpha", "x - 0 = x", "  a = torch.ops.aten.sub.Tensor(x, 1, alpha = 0)\n  return (a,)", nullptr},
    {"integer_plus_zero", "integer x + 0 = x", "  a = torch.ops.aten.add.Tensor(n, 0)\n  return (a,)", "n"},
    // -0.0 + 0 is 0.0
    {"float_plus_zero", "integer x + 0 = x", "  a = torch.ops.aten.add.Tensor(x, 0)\n  return (a,)", nullptr},
    {"negate_twice", "-(-x) = x",
     "  a = torch.ops.aten.neg.default(x)\n  b = torch.ops.aten.neg.default(a)\n  return (b,)", "x"},
    {"negate_once", "-(-x) = x", "  a = torch.ops.aten.neg.default(x)\n  return (a,)", nullptr},
    {"relu_twice", "f(f(x)) = f(x)",
     "  a = torch.ops.aten.relu.default(x)\n  b = torch.ops.aten.relu.default(a)\n  return (b,)", "a"},
    {"sin_twice", "f(f(x)) = f(x)",
     "  a = torch.ops.aten.sin.default(x)\n  b = torch.ops.aten.sin.default(a)\n  return (b,)", nullptr},
    {"square", "pow(x, 2) = x * x", "  a = torch.ops.aten.pow.Tensor_Scalar(x, 2)\n  return (a,)", "mul"},
    {"cube", "pow(x, 2) = x * x", "  a = torch.ops.aten.pow.Tensor_Scalar(x, 3.0)\n  return (a,)", "mul_1"},
    {"root", "pow(x, 2) = x * x", "  a = torch.ops.aten.pow.Tensor_Scalar(x, 0.5)\n  return (a,)", "sqrt"},
    {"fourth_power", "pow(x, 2) = x * x", "  a = torch.ops.aten.pow.Tensor_Scalar(x, 4)\n  return (a,)", nullptr},
    {"view_same", "view(x, shape of x) = x", "  a = torch.ops.aten.view.default(x, [2, -1])\n  return (a,)", "x"},
    {"view_other", "view(x, shape of x) = x", "  a = torch.ops.aten.view.default(x, [3, 2])\n  return (a,)", nullptr},
    {"view_of_view", "view(view(x)) = view(x)",
     "  a = torch.ops.aten.view.default(x, [6])\n  b = torch.ops.aten.view.default(a, [3, 2])\n  return (b,)", "view"},
    {"view_of_sin", "view(view(x)) = view(x)",
     "  a = torch.ops.aten.view.default(x, [6])\n  s = torch.ops.aten.sin.default(a)\n  b = "
     "torch.ops.aten.view.default(s, [3, 2])\n"
     "  return (b,)",
     nullptr},
    {"permute_identity", "permute(x, identity) = x", "  a = torch.ops.aten.permute.default(x, [0, -1])\n  return (a,)",
     "x"},
    {"permute_real", "permute(x, identity) = x", "  a = torch.ops.aten.permute.default(x, [1, 0])\n  return (a,)",
     nullptr},
    {"permute_twice", "permute(permute(x)) = permute(x)",
     "  u = torch.ops.aten.unsqueeze.default(x, 0)\n  a = torch.ops.aten.permute.default(u, [2, 0, 1])\n"
     "  b = torch.ops.aten.permute.default(a, [2, 0, 1])\n  return (b,)",
     "permute"},
    {"slice_all", "x[:] = x", "  a = torch.ops.aten.slice.Tensor(x, 1, 0, 9223372036854775807)\n  return (a,)", "x"},
    {"slice_some", "x[:] = x", "  a = torch.ops.aten.slice.Tensor(x, 1, 1)\n  return (a,)", nullptr},
    {"cat_one", "cat([x]) = x", "  a = torch.ops.aten.cat.default([x], 1)\n  return (a,)", "x"},
    {"cat_two", "cat([x]) = x", "  a = torch.ops.aten.cat.default([x, x], 1)\n  return (a,)", nullptr},
    {"widen_narrow", "narrow(widen(x)) = x",
     "  a = torch.ops.aten._to_copy.default(h, dtype = torch.float32)\n  b = torch.ops.aten._to_copy.default(a, dtype "
     "= torch.bfloat16)\n"
     "  return (b,)",
     "h"},
    {"narrow_widen", "narrow(widen(x)) = x",
     "  a = torch.ops.aten._to_copy.default(x, dtype = torch.bfloat16)\n  b = torch.ops.aten._to_copy.default(a, dtype "
     "= torch.float32)\n"
     "  return (b,)",
     nullptr},
    // float16 has digits that bfloat16 lacks
    {"crossing", "narrow(widen(x)) = x",
     "  a = torch.ops.aten._to_copy.default(h, dtype = torch.float16)\n  b = torch.ops.aten._to_copy.default(a, dtype "
     "= torch.bfloat16)\n"
     "  return (b,)",
     nullptr},
};

INSTANTIATE_TEST_SUITE_P(Rules, SimplifyRules, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

/// A rule that nobody tests is not done: one case where it fires, one where it must not.
TEST(Simplify, EveryRuleHasBothCases) {
  std::set<std::string_view> fires, not_fires;
  for (const RuleCase& c : kCases) (c.result ? fires : not_fires).insert(c.rule);
  for (const SimplifyRule& rule : simplify_rules()) {
    EXPECT_TRUE(fires.contains(rule.name)) << rule.name;
    const bool always = rule.name == "permute(permute(x)) = permute(x)";  // no operands that meet it are refused
    EXPECT_TRUE(always || not_fires.contains(rule.name)) << rule.name;
  }
}

TEST(Simplify, SurvivorNamesWhatItReplaces) {
  const Graph graph =
      graph_of(program("  a = torch.ops.aten.sin.default(x)\n  b = torch.ops.aten.clone.default(a)\n  return (b,)"));
  const PassResult result = simplify(graph, {});
  const Node* a = result.graph.find("a");
  ASSERT_EQ(a->meta.origins.size(), 1u);
  EXPECT_EQ(a->meta.origins[0], (Origin{graph.find("b")->id, OriginKind::Replaced, "copy(x) = x", true}));
}

TEST(Simplify, TwoWaysOfSquaringMeet) {
  const std::string by_power = after(simplify, program("  a = torch.ops.aten.pow.Tensor_Scalar(x, 2)\n  return (a,)"));
  EXPECT_EQ(by_power, "mul = aten.mul.Tensor(x, x)\nreturn (mul,)\n");
}

}  // namespace
}  // namespace strata
