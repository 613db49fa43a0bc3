// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which nodes become one kernel, as `kind(stored): members`, and why others do not.

#include <gtest/gtest.h>

#include "passes/decompose.h"
#include "passes/fuse.h"
#include "passes/schedule.h"
#include "passes/simplify.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::graph_of;

std::string names(const std::vector<const Node*>& nodes) {
  std::string text;
  for (const Node* n : nodes) text += " " + n->name;
  return text.substr(text.empty() ? 0 : 1);
}

class Groups {
 public:
  explicit Groups(const char* text, bool within_operators = false, bool lower = true)
      : graph_(lower ? simplify(decompose(graph_of(text), {}).graph, {}).graph : graph_of(text)) {
    FuseOptions options;
    options.within_operators = within_operators;
    options.capabilities = &cpu_library_capabilities();
    for (const Node* input : graph_.placeholders())
      if (input->name.starts_with("p_")) options.constants.insert(input);
    fused_ = fuse(graph_, options);
  }

  /// One line per group.
  std::string str() const {
    std::string text;
    for (const FusionGroup& g : fused_.groups) {
      text += g.kind == FusionGroup::Kind::Loop ? "loop" : g.kind == FusionGroup::Kind::Library ? "library" : "opaque";
      text += "(" + names(g.stored) + "): " + names(g.nodes) + "\n";
    }
    return text;
  }

  /// What was decided between two nodes: `yes: reason`, `no: reason`, or `not asked`.
  std::string decision(std::string_view producer, std::string_view consumer) const {
    for (const FusionDecision& d : fused_.decisions)
      if (d.producer == graph_.find(producer)->id && d.consumer == graph_.find(consumer)->id)
        return (d.accepted ? "yes: " : "no: ") + d.reason;
    return "not asked";
  }

  size_t size() const { return fused_.groups.size(); }

 private:
  Graph graph_;
  Fused fused_;
};

TEST(Fuse, PointwiseChain) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.mul.Tensor(a, a)
    c = torch.ops.aten.neg.default(b)
    return (c,))");
  EXPECT_EQ(g.str(), "loop(c): a b c\n");
  EXPECT_EQ(g.decision("a", "b"), "yes: same loops");
}

TEST(Fuse, ValuesThatAreNeededOutsideAreStoredToo) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.neg.default(a)
    return (a, b))");
  EXPECT_EQ(g.str(), "loop(a b): a b\n");
  EXPECT_EQ(g.decision("a", "b"), "yes: same loops; both values are needed");
}

TEST(Fuse, PointwiseIntoReduction) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]"):
    a = torch.ops.aten.sin.default(x)
    s = torch.ops.aten.sum.dim_IntList(a, [1])
    return (s,))");
  EXPECT_EQ(g.str(), "loop(s): a s\n");
}

TEST(Fuse, SoftmaxIsOneKernel) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]"):
    y = torch.ops.aten.softmax.int(x, -1)
    return (y,))");
  EXPECT_EQ(g.size(), 1u) << g.str();
}

TEST(Fuse, LayerNormIsOneKernel) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]", r: "f32[8, 16]", p_w: "f32[16]", p_b: "f32[16]"):
    a = torch.ops.aten.add.Tensor(x, r)
    y = torch.ops.aten.layer_norm.default(a, [16], p_w, p_b)
    return (y,))");
  EXPECT_EQ(g.size(), 1u) << g.str();
}

TEST(Fuse, ReductionsOfDifferentLoopsStayApart) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]"):
    a = torch.ops.aten.sum.dim_IntList(x, [1])
    b = torch.ops.aten.sum.dim_IntList(a, [0])
    return (b,))");
  EXPECT_EQ(g.str(), "loop(a): a\nloop(b): b\n");
  EXPECT_EQ(g.decision("a", "b"), "no: 'a' reduces [8, 16] over dimensions 1, 'b' reduces [8] over dimensions 0");
}

TEST(Fuse, EpiloguesGoIntoLibraryCalls) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]", p_w: "f32[32, 16]", p_b: "f32[32]", r: "f32[8, 32]"):
    l = torch.ops.aten.linear.default(x, p_w, p_b)
    g = torch.ops.aten.gelu.default(l)
    y = torch.ops.aten.add.Tensor(r, g)
    return (y,))");
  EXPECT_EQ(g.str(), "library(y): addmm g y\n");
  EXPECT_EQ(g.decision("addmm", "g"), "yes: post-operation of the library call");
}

TEST(Fuse, ConvolutionWithReluAndResidual) {
  const Groups g(R"(
def forward(self, x: "f32[1, 4, 8, 8]", p_w: "f32[4, 4, 3, 3]", p_b: "f32[4]"):
    c = torch.ops.aten.convolution.default(x, p_w, p_b, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    s = torch.ops.aten.add.Tensor(c, x)
    y = torch.ops.aten.relu.default(s)
    return (y,))");
  EXPECT_EQ(g.str(), "library(y): c s y\n");
}

TEST(Fuse, ResultWithTwoReadersKeepsItsEpilogueOutside) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]", y: "f32[16, 8]"):
    m = torch.ops.aten.mm.default(x, y)
    a = torch.ops.aten.relu.default(m)
    b = torch.ops.aten.neg.default(m)
    return (a, b))");
  EXPECT_EQ(g.str().substr(0, 14), "library(m): m\n");
  EXPECT_EQ(g.decision("m", "a"), "no: the call's result has 2 readers");
}

TEST(Fuse, WhatNoLibraryDoesIsRefusedByName) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]", y: "f32[16, 8]"):
    m = torch.ops.aten.mm.default(x, y)
    a = torch.ops.aten.sin.default(m)
    return (a,))");
  EXPECT_EQ(g.str(), "library(m): m\nloop(a): a\n");
  EXPECT_EQ(g.decision("m", "a"), "no: aten.sin.default is no post-operation of the library");
}

/// a feeds b directly and through the product: one kernel of a and b would have to run before and after it.
TEST(Fuse, CyclesAreRefused) {
  const Groups g(R"(
def forward(self, x: "f32[16, 16]"):
    a = torch.ops.aten.sin.default(x)
    m = torch.ops.aten.mm.default(a, a)
    s = torch.ops.aten.tan.default(m)
    b = torch.ops.aten.sub.Tensor(s, a)
    return (b,))");
  EXPECT_EQ(g.str(), "loop(a): a\nlibrary(m): m\nloop(b): s b\n");
  EXPECT_EQ(g.decision("a", "b"), "no: another kernel has to run in between");
}

TEST(Fuse, ExpensiveWorkIsNotRepeated) {
  const Groups g(R"(
def forward(self, x: "f32[16]", y: "f32[64, 16]"):
    e = torch.ops.aten.exp.default(x)
    m = torch.ops.aten.mul.Tensor(y, e)
    return (m,))");
  EXPECT_EQ(g.str(), "loop(e): e\nloop(m): m\n");
  EXPECT_EQ(g.decision("e", "m"), "no: each element of 'e' would be computed 64 times");
}

TEST(Fuse, CheapWorkIsRepeated) {
  const Groups g(R"(
def forward(self, x: "f32[16]", y: "f32[64, 16]"):
    e = torch.ops.aten.neg.default(x)
    m = torch.ops.aten.mul.Tensor(y, e)
    return (m,))");
  EXPECT_EQ(g.str(), "loop(m): e m\n");
}

/// What eager mode does: every operator of the program for itself, but an operator's own parts together.
TEST(Fuse, WithinOperators) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.softmax.int(a, -1)
    c = torch.ops.aten.neg.default(b)
    return (c,))",
                 true);
  EXPECT_EQ(g.size(), 3u) << g.str();
  EXPECT_EQ(g.decision("a", "amax"), "no: different operators of the program");
}

TEST(Fuse, OperatorsWithoutKernelsStandAlone) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]"):
    a = torch.ops.aten.sin.default(x)
    p = torch.ops.aten.sort.default(a)
    v = p[0]
    b = torch.ops.aten.neg.default(v)
    return (b,))",
                 false, false);
  EXPECT_EQ(g.str(), "loop(a): a\nopaque(p): p\nloop(b): b\n");
}

// --------------------------------------------------------------------------------------------------------- siblings

TEST(Fuse, SiblingsReadTheirOperandOnce) {
  const Groups g(R"(
def forward(self, x: "f32[8, 16]", y: "f32[8, 16]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.mul.Tensor(x, y)
    return (a, b))");
  EXPECT_EQ(g.str(), "loop(a b): a b\n");
  EXPECT_EQ(g.decision("a", "b"), "yes: both read 'x' in the same loops");
}

TEST(Fuse, ReductionsOfOneOperandAreSiblings) {
  const Groups g(R"(
def forward(self, x: "f32[64, 16]", y: "f32[64, 16]"):
    a = torch.ops.aten.sum.dim_IntList(x, [0])
    p = torch.ops.aten.mul.Tensor(x, y)
    b = torch.ops.aten.sum.dim_IntList(p, [0])
    return (a, b))");
  EXPECT_EQ(g.str(), "loop(a b): a p b\n");
}

TEST(Fuse, SiblingsThatReadInDifferentOrdersStayApart) {
  const Groups g(R"(
def forward(self, x: "f32[16, 16]", y: "f32[16, 16]"):
    a = torch.ops.aten.sin.default(x)
    t = torch.ops.aten.permute.default(x, [1, 0])
    b = torch.ops.aten.mul.Tensor(t, y)
    return (a, b))");
  EXPECT_EQ(g.str(), "loop(a): a\nloop(b): b\n");
  EXPECT_EQ(g.decision("a", "b"), "no: both read 'x', but they read it in different orders");
}

TEST(Fuse, SiblingsOfDifferentSizesStayApart) {
  const Groups g(R"(
def forward(self, x: "f32[16, 16]", y: "f32[4, 16, 16]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.mul.Tensor(x, y)
    return (a, b))");
  EXPECT_EQ(g.decision("a", "b"), "no: both read 'x', but one runs over 256 elements, the other over 1024");
}

TEST(Fuse, SiblingsOfWhichOneNeedsTheOtherStayApart) {
  const Groups g(R"(
def forward(self, x: "f32[16, 16]"):
    a = torch.ops.aten.sin.default(x)
    m = torch.ops.aten.mm.default(a, a)
    s = torch.ops.aten.tan.default(m)
    b = torch.ops.aten.sub.Tensor(s, x)
    return (b,))");
  EXPECT_EQ(g.size(), 3u) << g.str();
  EXPECT_EQ(g.decision("a", "b"), "no: both read 'x', but one of them needs what follows from the other");
}

/// Written column by column, the pointwise result would go to memory in short pieces.
TEST(Fuse, SiblingsOfColumnReductionsKeepTheirLines) {
  const Groups g(R"(
def forward(self, x: "f32[64, 64]"):
    a = torch.ops.aten.sum.dim_IntList(x, [0])
    b = torch.ops.aten.relu.default(x)
    return (a, b))");
  EXPECT_EQ(g.decision("a", "b"),
            "no: both read 'x', but one of them reduces columns, along which the other would write");
}

TEST(Fuse, SiblingsOfATotalKeepTheirCores) {
  const Groups g(R"(
def forward(self, x: "f32[512, 512]"):
    a = torch.ops.aten.sum.dim_IntList(x, [0, 1])
    b = torch.ops.aten.relu.default(x)
    return (a, b))");
  EXPECT_EQ(g.decision("a", "b"),
            "no: both read 'x', but one of them reduces everything: the loops of the other would run on one core");
}

TEST(Fuse, CallsAnswerForTheirOperandsAndSiblings) {
  const Groups g(R"(
def forward(self, x: "f32[16, 16]"):
    a = torch.ops.aten.sin.default(x)
    m = torch.ops.aten.mm.default(a, x)
    return (m,))");
  EXPECT_EQ(g.decision("a", "m"), "no: 'm' (aten.mm.default), a library call, which reads its operands from memory");
  const Groups h(R"(
def forward(self, x: "f32[16, 16]", y: "f32[16, 16]"):
    a = torch.ops.aten.sin.default(x)
    m = torch.ops.aten.mm.default(x, y)
    return (a, m))");
  EXPECT_EQ(h.decision("a", "m"),
            "no: both read 'x', but 'm' (aten.mm.default), a library call, shares no loops with others");
}

/// The likelihood reads one element of each row, beside the row's own sum: nothing of the operand's size is written.
TEST(Fuse, CrossEntropyReadsItsRowsInOneKernel) {
  const Groups g(R"(
def forward(self, x: "f32[32, 100]", t: "i64[32]"):
    y = torch.ops.aten.cross_entropy_loss.default(x, t, None, 1, -100, 0.0)
    return (y,))");
  EXPECT_LE(g.size(), 2u) << g.str();
}

}  // namespace
}  // namespace strata
