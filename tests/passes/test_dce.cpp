// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "passes/dce.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using testing::graph_of;

TEST(Dce, DropsChainsThatEndNowhere) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[s0, 3]", unused: "f32[2]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.neg.default(a)
    n = torch.ops.aten.sym_size.int(x, 0)
    c = torch.ops.aten.cos.default(x)
    return (c,))");
  const PassResult result = dce(graph, {});
  EXPECT_EQ(testing::body_of(result.graph), "c = aten.cos.default(x)\nreturn (c,)\n");
  EXPECT_EQ(result.graph.placeholders().size(), 2u);  // the interface stays
  ASSERT_EQ(result.rewrites.size(), 3u);
  EXPECT_EQ(result.rewrites[0].reason, "no output depends on it");
  EXPECT_EQ(result.rewrites[2].reason, "sizes are symbolic expressions");
}

TEST(Dce, KeepsWhatWrites) {
  EXPECT_EQ(after(dce, R"(
def forward(self, x: "f32[2, 3]", y: "f32[2, 3]"):
    s = torch.ops.aten.sin.default(y)
    a = torch.ops.aten.add_.Tensor(x, s)
    return (y,))"),
            "s = aten.sin.default(y)\n"
            "a = aten.add_.Tensor(x, s)\n"
            "return (y,)\n");
}

TEST(Dce, KeepsOperatorsNobodyKnows) {
  EXPECT_EQ(after(dce, R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.my.print_it.default(x)
    return (x,))"),
            "a = my.print_it.default(x)\n"
            "return (x,)\n");
}

TEST(Dce, ChangesNothingWhereAllIsNeeded) {
  EXPECT_TRUE(dce(graph_of(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    return (a,))"),
                  {})
                  .rewrites.empty());
}

}  // namespace
}  // namespace strata
