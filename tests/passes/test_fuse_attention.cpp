// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/ir/interpreter.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/decompose.h"
#include "passes/fold_constants.h"
#include "passes/fuse_attention.h"
#include "passes/simplify.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::body_of;
using testing::graph_of;

/// The graph as fuse_attention gets it.
Graph prepared(std::string_view text) {
  Graph graph = graph_of(text);
  for (auto pass : {decompose, dce, simplify, cse, fold_constants, dce}) {
    PassResult result = pass(graph, {});
    if (!result.rewrites.empty()) graph = std::move(result.graph);
  }
  return graph;
}

size_t calls_of(const Graph& graph, std::string_view target) {
  size_t count = 0;
  for (const auto& node : graph.nodes()) count += node->is(target);
  return count;
}

std::vector<Tensor> random_inputs(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Tensor> inputs;
  for (const Node* p : graph.placeholders()) {
    std::vector<int64_t> shape;
    for (const SymInt& s : p->tensor().shape) shape.push_back(s.value());
    Tensor t = Tensor::empty(p->tensor().dtype, shape);
    for (int64_t i = 0; i < t.numel(); ++i) {
      const double x = normal(random);
      t.set(i, t.dtype == DType::Bool ? (x > -0.5 ? 1.0 : 0.0) : x);
    }
    inputs.push_back(t);
  }
  return inputs;
}

/// Largest difference, relative to the largest value; infinity where one is NaN and the other is not.
double difference(const Tensor& a, const Tensor& b) {
  double worst = 0, size = 1e-30;
  for (int64_t i = 0; i < a.numel(); ++i) {
    if (std::isnan(a.at(i)) != std::isnan(b.at(i))) return INFINITY;
    if (std::isnan(a.at(i)) || a.at(i) == b.at(i)) continue;
    worst = std::max(worst, std::abs(a.at(i) - b.at(i)));
    size = std::max(size, std::abs(b.at(i)));
  }
  return worst / size;
}

struct SpelledOut {
  const char* name;
  const char* inputs;
  const char* body;
  const char* refused = nullptr;  ///< words of the reason; null: it is rewritten
};

std::string text_of(const SpelledOut& p) { return "def forward(self, " + std::string(p.inputs) + "):\n" + p.body; }

constexpr const char* kHeads = "q: \"f32[2, 4, 6, 8]\", k: \"f32[2, 4, 10, 8]\", v: \"f32[2, 4, 10, 5]\"";
#define HEADS "q: \"f32[2, 4, 6, 8]\", k: \"f32[2, 4, 10, 8]\", v: \"f32[2, 4, 10, 5]\""
#define SCORES                                      \
  "  t = torch.ops.aten.transpose.int(k, -1, -2)\n" \
  "  s = torch.ops.aten.matmul.default(q, t)\n"
#define WEIGH(x)                        \
  "  w = torch.ops.aten.softmax.int(" x \
  ", -1)\n"                             \
  "  y = torch.ops.aten.matmul.default(w, v)\n  return (y,)"

#define WEIGH_SAFELY(x)                           \
  "  w = torch.ops.aten._safe_softmax.default(" x \
  ", -1)\n"                                       \
  "  y = torch.ops.aten.matmul.default(w, v)\n  return (y,)"

const SpelledOut kPrograms[] = {
    {"safe", kHeads, SCORES "  d = torch.ops.aten.div.Tensor(s, 2.5)\n" WEIGH_SAFELY("d")},
    {"safe_bool_mask", HEADS ", m: \"b8[6, 10]\"",
     SCORES "  a = torch.ops.aten.where.ScalarOther(m, s, -inf)\n" WEIGH_SAFELY("a")},
    {"safe_inverted_mask", HEADS ", m: \"b8[2, 1, 6, 10]\"",
     SCORES "  a = torch.ops.aten.masked_fill.Scalar(s, m, -inf)\n" WEIGH_SAFELY("a")},
    {"safe_additive_mask", HEADS ", m: \"f32[4, 1, 10]\"",
     SCORES "  d = torch.ops.aten.div.Tensor(s, 2.5)\n  a = torch.ops.aten.add.Tensor(d, m)\n" WEIGH_SAFELY("a")},
    {"safe_grouped_heads", "q: \"f32[2, 4, 6, 8]\", g: \"f32[2, 2, 10, 8]\", h: \"f32[2, 2, 10, 5]\"",
     "  u = torch.ops.aten.unsqueeze.default(g, 2)\n  e = torch.ops.aten.expand.default(u, [2, 2, 2, 10, 8])\n"
     "  k = torch.ops.aten.view.default(e, [2, 4, 10, 8])\n  uh = torch.ops.aten.unsqueeze.default(h, 2)\n"
     "  eh = torch.ops.aten.expand.default(uh, [2, 2, 2, 10, 5])\n"
     "  v = torch.ops.aten.view.default(eh, [2, 4, 10, 5])\n" SCORES WEIGH_SAFELY("s")},
    {"safe_finite_fill", HEADS ", m: \"b8[6, 10]\"",
     SCORES "  a = torch.ops.aten.masked_fill.Scalar(s, m, -10000.0)\n" WEIGH_SAFELY("a")},
    {"plain", kHeads, SCORES "  d = torch.ops.aten.div.Tensor(s, 2.5)\n" WEIGH("d")},
    {"scaled_query", kHeads,
     "  a = torch.ops.aten.mul.Tensor(q, 0.3)\n  t = torch.ops.aten.transpose.int(k, -1, -2)\n"
     "  s = torch.ops.aten.matmul.default(a, t)\n" WEIGH("s")},
    {"scaled_twice", kHeads,
     SCORES "  a = torch.ops.aten.mul.Tensor(s, 0.5)\n  b = torch.ops.aten.div.Tensor(a, 3)\n" WEIGH("b")},
    {"additive_mask", HEADS ", m: \"f32[2, 1, 1, 10]\"",
     SCORES "  d = torch.ops.aten.div.Tensor(s, 2.5)\n  a = torch.ops.aten.add.Tensor(d, m)\n" WEIGH("a")},
    {"mask_on_the_left", HEADS ", m: \"f32[4, 6, 10]\"", SCORES "  a = torch.ops.aten.add.Tensor(m, s)\n" WEIGH("a")},
    {"masked_fill", HEADS ", m: \"b8[6, 10]\"",
     SCORES "  a = torch.ops.aten.masked_fill.Scalar(s, m, -inf)\n" WEIGH("a")},
    {"masked_fill_finite", HEADS ", m: \"b8[2, 1, 6, 10]\"",
     SCORES "  a = torch.ops.aten.masked_fill.Scalar(s, m, -10000.0)\n" WEIGH("a")},
    {"where", HEADS ", m: \"b8[1, 1, 6, 10]\"",
     SCORES "  f = torch.ops.aten.full.default([], -3.4028234663852886e+38)\n"
            "  a = torch.ops.aten.where.self(m, s, f)\n" WEIGH("a")},
    {"where_inverted", HEADS ", m: \"b8[10]\"",
     SCORES "  a = torch.ops.aten.where.ScalarSelf(m, -1.5, s)\n" WEIGH("a")},
    {"dropout_in_evaluation", kHeads,
     SCORES "  w = torch.ops.aten.softmax.int(s, -1)\n  p = torch.ops.aten.dropout.default(w, 0.5, False)\n"
            "  y = torch.ops.aten.matmul.default(p, v)\n  return (y,)"},
    {"bfloat16_widened", "q: \"bf16[2, 4, 6, 8]\", k: \"bf16[2, 4, 10, 8]\", v: \"bf16[2, 4, 10, 5]\"",
     "  a = torch.ops.aten._to_copy.default(q, dtype = torch.float32)\n"
     "  b = torch.ops.aten._to_copy.default(k, dtype = torch.float32)\n"
     "  t = torch.ops.aten.transpose.int(b, -1, -2)\n  s = torch.ops.aten.matmul.default(a, t)\n"
     "  w = torch.ops.aten.softmax.int(s, -1)\n  c = torch.ops.aten._to_copy.default(w, dtype = torch.bfloat16)\n"
     "  y = torch.ops.aten.matmul.default(c, v)\n  return (y,)"},
    {"half_widened", "q: \"f32[2, 4, 6, 8]\", k: \"bf16[2, 4, 10, 8]\", v: \"bf16[2, 4, 10, 5]\"",
     "  b = torch.ops.aten._to_copy.default(k, dtype = torch.float32)\n"
     "  t = torch.ops.aten.transpose.int(b, -1, -2)\n  s = torch.ops.aten.matmul.default(q, t)\n"
     "  w = torch.ops.aten.softmax.int(s, -1)\n  c = torch.ops.aten._to_copy.default(w, dtype = torch.bfloat16)\n"
     "  y = torch.ops.aten.matmul.default(c, v)\n  return (y,)",
     "of another type"},
    {"bfloat16_with_float32_softmax", "q: \"bf16[2, 4, 6, 8]\", k: \"bf16[2, 4, 10, 8]\", v: \"bf16[2, 4, 10, 5]\"",
     SCORES "  w = torch.ops.aten.softmax.int(s, -1, dtype = torch.float32)\n"
            "  c = torch.ops.aten._to_copy.default(w, dtype = torch.bfloat16)\n"
            "  y = torch.ops.aten.matmul.default(c, v)\n  return (y,)"},
    {"grouped_heads", "q: \"f32[2, 6, 5, 8]\", k: \"f32[2, 2, 7, 8]\", v: \"f32[2, 2, 7, 8]\"",
     "  ku = torch.ops.aten.unsqueeze.default(k, 2)\n  ke = torch.ops.aten.expand.default(ku, [2, 2, 3, 7, 8])\n"
     "  kr = torch.ops.aten.reshape.default(ke, [2, 6, 7, 8])\n"
     "  vu = torch.ops.aten.unsqueeze.default(v, 2)\n  ve = torch.ops.aten.expand.default(vu, [2, 2, 3, 7, 8])\n"
     "  vr = torch.ops.aten.reshape.default(ve, [2, 6, 7, 8])\n"
     "  t = torch.ops.aten.transpose.int(kr, 2, 3)\n  s = torch.ops.aten.matmul.default(q, t)\n"
     "  w = torch.ops.aten.softmax.int(s, -1)\n  y = torch.ops.aten.matmul.default(w, vr)\n  return (y,)"},
    {"batched_products", "q: \"f32[6, 5, 8]\", k: \"f32[6, 7, 8]\", v: \"f32[6, 7, 8]\", m: \"f32[2, 1, 5, 7]\"",
     "  t = torch.ops.aten.transpose.int(k, 1, 2)\n  s = torch.ops.aten.bmm.default(q, t)\n"
     "  a = torch.ops.aten.view.default(s, [2, 3, 5, 7])\n  b = torch.ops.aten.add.Tensor(a, m)\n"
     "  c = torch.ops.aten.view.default(b, [6, 5, 7])\n  w = torch.ops.aten._softmax.default(c, -1, False)\n"
     "  y = torch.ops.aten.bmm.default(w, v)\n  return (y,)"},
    {"product_with_mask", "q: \"f32[6, 5, 8]\", k: \"f32[6, 7, 8]\", v: \"f32[6, 7, 8]\", m: \"f32[6, 1, 7]\"",
     "  t = torch.ops.aten.transpose.int(k, 1, 2)\n"
     "  s = torch.ops.aten.baddbmm.default(m, q, t, beta = 1, alpha = 0.25)\n"
     "  w = torch.ops.aten._softmax.default(s, -1, False)\n  y = torch.ops.aten.bmm.default(w, v)\n  return (y,)"},
    {"one_matrix", "q: \"f32[5, 8]\", k: \"f32[7, 8]\", v: \"f32[7, 3]\"",
     "  t = torch.ops.aten.transpose.int(k, 0, 1)\n  s = torch.ops.aten.mm.default(q, t)\n"
     "  w = torch.ops.aten.softmax.int(s, 1)\n  y = torch.ops.aten.mm.default(w, v)\n  return (y,)"},
    // What must stay.
    {"weights_are_returned", kHeads,
     SCORES "  w = torch.ops.aten.softmax.int(s, -1)\n  y = torch.ops.aten.matmul.default(w, v)\n  return (y, w)",
     "read by the caller"},
    {"scores_are_read", kHeads,
     SCORES "  w = torch.ops.aten.softmax.int(s, -1)\n  y = torch.ops.aten.matmul.default(w, v)\n"
            "  r = torch.ops.aten.relu.default(s)\n  return (y, r)",
     "also read by"},
    {"scaled_after_the_mask", HEADS ", m: \"f32[6, 10]\"",
     SCORES "  a = torch.ops.aten.add.Tensor(s, m)\n  b = torch.ops.aten.mul.Tensor(a, 0.5)\n" WEIGH("b"),
     "scaled after"},
    {"two_masks", HEADS ", m: \"f32[6, 10]\", o: \"b8[6, 10]\"",
     SCORES "  a = torch.ops.aten.add.Tensor(s, m)\n  b = torch.ops.aten.masked_fill.Scalar(a, o, -inf)\n" WEIGH("b"),
     "two masks"},
    {"scores_are_capped", kHeads, SCORES "  a = torch.ops.aten.tanh.default(s)\n" WEIGH("a"), "nothing that attention"},
    {"unknown_scale", HEADS ", c: \"f32[1]\"", SCORES "  a = torch.ops.aten.mul.Tensor(s, c)\n" WEIGH("a"),
     "no known number"},
    {"float64_softmax", kHeads,
     SCORES "  w = torch.ops.aten.softmax.int(s, -1, dtype = torch.float64)\n"
            "  c = torch.ops.aten._to_copy.default(w, dtype = torch.float32)\n"
            "  y = torch.ops.aten.matmul.default(c, v)\n  return (y,)",
     "computes in"},
    {"softmax_over_queries", kHeads,
     SCORES "  w = torch.ops.aten.softmax.int(s, 2)\n  y = torch.ops.aten.matmul.default(w, v)\n  return (y,)", ""},
};

class FuseAttention : public ::testing::TestWithParam<SpelledOut> {};

TEST_P(FuseAttention, RewritesWhatMeansTheSame) {
  const SpelledOut& p = GetParam();
  const Graph graph = prepared(text_of(p));
  const PassResult result = fuse_attention(graph, {});
  if (p.refused) {
    EXPECT_TRUE(result.rewrites.empty()) << body_of(result.graph);
    ASSERT_EQ(result.refusals.size(), *p.refused ? 1u : 0u);
    if (*p.refused) {
      EXPECT_NE(result.refusals[0].reason.find(p.refused), std::string::npos) << result.refusals[0].reason;
    }
    return;
  }
  ASSERT_EQ(calls_of(result.graph, "strata.attention.default"), 1u)
      << body_of(graph) << (result.refusals.empty() ? "" : result.refusals[0].reason);
  EXPECT_EQ(calls_of(result.graph, "aten.bmm.default") + calls_of(result.graph, "aten.mm.default"), 0u);
  EXPECT_TRUE(result.refusals.empty());
  const bool is_short = graph.placeholders()[0]->tensor().dtype == DType::BF16;
  for (unsigned seed = 1; seed < 4; ++seed) {
    std::vector<Tensor> inputs = random_inputs(graph, seed);
    // Where NaN and infinities come in, they must come out as before.
    if (seed == 2) inputs[0].set(9, NAN), inputs[1].set(4, INFINITY);
    if (seed == 3)
      inputs[2].set(7, -INFINITY), inputs.back().set(3, inputs.back().dtype == DType::Bool ? 1 : -INFINITY);
    const Tensor expected = Interpreter(graph).run(inputs)[0].tensor();
    const Tensor found = Interpreter(result.graph).run(inputs)[0].tensor();
    EXPECT_LE(difference(found, expected), is_short ? 2e-2 : 2e-6) << "seed " << seed << "\n" << body_of(result.graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, FuseAttention, ::testing::ValuesIn(kPrograms),
                         [](const auto& info) { return info.param.name; });

TEST(FuseAttention, RowsThatTheMaskEmptiesStayNan) {
  const Graph graph = prepared("def forward(self, " HEADS ", m: \"b8[6, 10]\"):\n" SCORES
                               "  a = torch.ops.aten.masked_fill.Scalar(s, m, -inf)\n" WEIGH("a"));
  const PassResult result = fuse_attention(graph, {});
  std::vector<Tensor> inputs = random_inputs(graph, 5);
  for (int64_t j = 0; j < 10; ++j) inputs[3].set(20 + j, 1);
  const Tensor expected = Interpreter(graph).run(inputs)[0].tensor();
  const Tensor found = Interpreter(result.graph).run(inputs)[0].tensor();
  EXPECT_LE(difference(found, expected), 2e-6);
  for (int64_t i = 0; i < found.numel(); ++i) EXPECT_EQ(std::isnan(found.at(i)), i / 5 % 6 == 2);
}

TEST(FuseAttention, RowsThatTheMaskEmptiesStayZero) {
  for (const char* mask : {"where.ScalarOther(m, s, -inf)", "add.Tensor(s, f)"}) {
    const Graph graph =
        prepared("def forward(self, " HEADS ", m: \"b8[6, 10]\", f: \"f32[6, 10]\"):\n" SCORES "  a = torch.ops.aten." +
                 std::string(mask) + "\n" WEIGH_SAFELY("a"));
    const PassResult result = fuse_attention(graph, {});
    ASSERT_FALSE(result.rewrites.empty());
    std::vector<Tensor> inputs = random_inputs(graph, 5);
    for (int64_t j = 0; j < 10; ++j) inputs[3].set(20 + j, 0), inputs[4].set(20 + j, -INFINITY);
    const Tensor expected = Interpreter(graph).run(inputs)[0].tensor();
    const Tensor found = Interpreter(result.graph).run(inputs)[0].tensor();
    EXPECT_LE(difference(found, expected), 2e-6);
    for (int64_t i = 0; i < found.numel(); ++i) EXPECT_EQ(found.at(i) == 0, i / 5 % 6 == 2);
  }
}

/// Operands are taken as they lay before batch dimensions were merged and heads repeated.
TEST(FuseAttention, TakesOperandsWithTheDimensionsOfTheMask) {
  for (const SpelledOut& p : kPrograms) {
    if (p.name != std::string("grouped_heads") && p.name != std::string("additive_mask")) continue;
    const PassResult result = fuse_attention(prepared(text_of(p)), {});
    for (const auto& node : result.graph.nodes()) {
      if (!node->is("strata.attention.default")) continue;
      EXPECT_EQ(node->args[0].node()->name, "q");
      for (size_t i : {1, 2}) {
        const Node* operand = node->args[i].node();
        EXPECT_EQ(operand->tensor().shape[1], SymInt(p.name == std::string("grouped_heads") ? 2 : 4));
      }
    }
  }
}

TEST(FuseAttention, EveryRemovedNodeIsAnOrigin) {
  const Graph graph = prepared(text_of(kPrograms[0]));
  const PassResult result = fuse_attention(graph, {});
  std::set<NodeId> gone, origins;
  for (const auto& node : graph.nodes()) gone.insert(node->id);
  for (const auto& node : result.graph.nodes()) {
    gone.erase(node->id);
    if (node->is("strata.attention.default"))
      for (const Origin& o : node->meta.origins) origins.insert(o.node);
  }
  EXPECT_EQ(gone, origins);
}

}  // namespace
}  // namespace strata
