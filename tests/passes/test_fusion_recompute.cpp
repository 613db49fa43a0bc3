// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Cheap values are computed in several kernels where that moves fewer bytes than memory would: kernels as
// `stored: members`, with what is computed again in brackets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/decompose.h"
#include "passes/fuse.h"
#include "passes/simplify.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

struct Kernels {
  explicit Kernels(const std::string& text)
      : graph(simplify(decompose(testing::graph_of(text.c_str()), {}).graph, {}).graph) {
    FuseOptions options;
    options.capabilities = &cpu_library_capabilities();
    fused = fuse(graph, options);
  }

  std::string str() const {
    std::string out;
    for (const FusionGroup& g : fused.groups) {
      for (const Node* n : g.stored) out += n->name + " ";
      out.back() = ':';
      for (const Node* n : g.nodes) out += g.computes_again(n) ? " [" + n->name + "]" : " " + n->name;
      out += "\n";
    }
    return out;
  }

  std::string decision(std::string_view producer, std::string_view consumer) const {
    for (const FusionDecision& d : fused.decisions)
      if (d.producer == graph.find(producer)->id && d.consumer == graph.find(consumer)->id) return d.reason;
    return "";
  }

  Graph graph;
  Fused fused;
};

/// Two kernels, since one sums along rows and the other along columns, that both need `value`, made of x and y.
Kernels two_sums(const std::string& x, const std::string& value, const std::string& outputs = "a, b") {
  return Kernels("\ndef forward(self, x: \"" + x + "\", y: \"f32[128, 256]\"):\n" + value +
                 "    p = torch.ops.aten.mul.Tensor(v, v)\n"
                 "    s = torch.ops.aten.sum.dim_IntList(p, [1])\n"
                 "    a = torch.ops.aten.exp.default(s)\n"
                 "    t = torch.ops.aten.sum.dim_IntList(v, [0])\n"
                 "    b = torch.ops.aten.exp.default(t)\n"
                 "    return (" +
                 outputs + ",)");
}

TEST(Recompute, ConversionsAreDoneWhereTheyAreRead) {
  const Kernels k = two_sums("i8[128, 256]", R"(    v = torch.ops.aten._to_copy.default(x, dtype=torch.float32)
)");
  EXPECT_EQ(k.str(), "a: v p s a\nb: [v] t b\n");
  EXPECT_THAT(k.decision("v", "t"), HasSubstr("computed again: cheaper than 131072 bytes through memory"));
}

TEST(Recompute, SeveralOperatorsInARow) {
  const Kernels k = two_sums("f32[128, 256]", R"(    r = torch.ops.aten.relu.default(x)
    u = torch.ops.aten.add.Tensor(r, 2)
    v = torch.ops.aten.neg.default(u)
)");
  EXPECT_EQ(k.str(), "a: r u v p s a\nb: [r] [u] [v] t b\n");
}

TEST(Recompute, WhatIsReturnedIsInMemoryAnyway) {
  const Kernels k = two_sums("f32[128, 256]", R"(    v = torch.ops.aten.relu.default(x)
)",
                             "a, b, v");
  EXPECT_THAT(k.str(), HasSubstr("b: t b\n"));
}

TEST(Recompute, AWholeTensorMoreToReadIsNoGain) {
  // Through memory: written once and read once. Again: two tensors of that size more.
  const Kernels k = two_sums("f32[128, 256]", R"(    v = torch.ops.aten.add.Tensor(x, y)
)");
  EXPECT_THAT(k.str(), HasSubstr("b: t b\n"));
}

TEST(Recompute, ExpensiveWorkIsDoneOnce) {
  for (const char* op : {"exp", "sqrt", "tanh", "reciprocal"}) {
    const Kernels k = two_sums("f32[128, 256]", std::string("    v = torch.ops.aten.") + op + ".default(x)\n");
    EXPECT_THAT(k.str(), HasSubstr("b: t b\n")) << op;
  }
}

TEST(Recompute, SmallValuesStayInTheCache) {
  const Kernels k(R"(
def forward(self, x: "f32[16, 32]"):
    v = torch.ops.aten.relu.default(x)
    p = torch.ops.aten.mul.Tensor(v, v)
    s = torch.ops.aten.sum.dim_IntList(p, [1])
    t = torch.ops.aten.sum.dim_IntList(v, [0])
    return (s, t))");
  EXPECT_THAT(k.str(), HasSubstr("t: t\n"));
}

TEST(Recompute, ValuesThatAKernelWouldNotRoundStayInMemory) {
  const Kernels k(R"(
def forward(self, x: "bf16[128, 512]"):
    v = torch.ops.aten.add.Tensor(x, 3.1)
    m = torch.ops.aten.amax.default(v, [1])
    t = torch.ops.aten.amax.default(v, [0])
    return (m, t))");
  EXPECT_THAT(k.str(), HasSubstr("t: t\n"));
}

TEST(Recompute, LibraryCallsReadMemory) {
  const Kernels k(R"(
def forward(self, x: "f32[128, 256]", w: "f32[256, 64]"):
    v = torch.ops.aten.relu.default(x)
    s = torch.ops.aten.sum.dim_IntList(v, [1])
    y = torch.ops.aten.mm.default(v, w)
    t = torch.ops.aten.sum.dim_IntList(v, [0])
    return (s, y, t))");
  EXPECT_THAT(k.str(), ::testing::Not(HasSubstr("[")));
}

TEST(Recompute, WhatIsComputedAgainMayNeedWhatIsComputedAgain) {
  // u and v are both asked for by the second kernel and the third.
  const Kernels k(R"(
def forward(self, x: "f32[128, 256]"):
    u = torch.ops.aten.relu.default(x)
    s = torch.ops.aten.sum.dim_IntList(u, [1])
    v = torch.ops.aten.neg.default(u)
    t = torch.ops.aten.sum.dim_IntList(v, [0])
    q = torch.ops.aten.sum.default(v)
    r = torch.ops.aten.sum.default(u)
    return (s, t, q, r))");
  for (const FusionGroup& g : k.fused.groups)
    for (const Node* n : g.stored) EXPECT_TRUE(n->name != "u" && n->name != "v") << k.str();
}

TEST(Recompute, MasksAreMadeOfIndicesEverywhere) {
  const Kernels k(R"(
def forward(self, x: "f32[256, 256]"):
    i = torch.ops.aten.arange.default(256, dtype=torch.int64, device=device(type='cpu'))
    j = torch.ops.aten.unsqueeze.default(i, 1)
    m = torch.ops.aten.le.Tensor(i, j)
    z = torch.ops.aten.full.default([], 0.0, dtype=torch.float32)
    a = torch.ops.aten.where.self(m, x, z)
    b = torch.ops.aten.mm.default(a, a)
    c = torch.ops.aten.where.self(m, b, z)
    return (c,))");
  EXPECT_THAT(k.str(), HasSubstr("a: i m a\n"));
  EXPECT_THAT(k.str(), HasSubstr("c: [i] [m] c\n"));
}

TEST(Recompute, ReadersThroughViews) {
  const Kernels k(R"(
def forward(self, x: "i8[128, 256]", y: "f32[256, 128]"):
    v = torch.ops.aten._to_copy.default(x, dtype=torch.float32)
    s = torch.ops.aten.sum.dim_IntList(v, [0])
    t = torch.ops.aten.permute.default(v, [1, 0])
    w = torch.ops.aten.add.Tensor(t, y)
    return (s, w))");
  EXPECT_EQ(k.str(), "s: v s\nw: [v] w\n");
}

}  // namespace
}  // namespace strata
