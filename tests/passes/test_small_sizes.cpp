// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// What a captured graph says of sizes of 2 and more, asked of smaller ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/program.h"
#include "passes/small_sizes.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using ::testing::AllOf;
using testing::error_of;
using testing::graph_of;
using ::testing::HasSubstr;

constexpr const char* kTwoRows = R"(
def forward(self, x: "f32[s0, 4]", y: "f32[3, s1]"):
    a = torch.ops.aten.slice.Tensor(x, 0, 0, 2)
    b = torch.ops.aten.mul.Tensor(a, 2)
    c = torch.ops.aten.sum.dim_IntList(y, [1])
    return (b, c)
)";

SymBindings sizes(Graph& graph, int64_t rows, int64_t columns) {
  SymBindings bindings(graph.env().symbol_count());
  bindings[*graph.env().symbol_id(*graph.env().find("s0"))] = rows;
  bindings[*graph.env().symbol_id(*graph.env().find("s1"))] = columns;
  return bindings;
}

TEST(SmallSizes, OperatorsMustMakeWhatTheGraphSays) {
  Graph graph = graph_of(kTwoRows);
  for (const char* name : {"a", "b"}) graph.find(name)->type = Type::of(DType::F32, {2, 4});  // as an exporter has it
  SmallSizes small(graph);
  const auto error = [&](int64_t rows, int64_t columns) {
    return error_of([&] { small.require(sizes(graph, rows, columns)); });
  };
  EXPECT_EQ(error(2, 2), "no error");
  EXPECT_EQ(error(7, 0), "no error");
  EXPECT_EQ(error(7, 1), "no error");
  for (int turn = 0; turn < 2; ++turn)
    EXPECT_THAT(error(1, 9), AllOf(HasSubstr("captured for sizes of 2 and more: with s0 = 1 'a' (aten.slice.Tensor)"),
                                   HasSubstr("f32[1, 4]")));
  EXPECT_THAT(error(0, 1), HasSubstr("with s0 = 0, s1 = 1 'a' (aten.slice.Tensor)"));
}

TEST(SmallSizes, GraphsThatSayItOfAllSizesFit) {
  Graph graph = graph_of(kTwoRows);
  SmallSizes small(graph);
  for (int64_t rows : {0, 1, 2}) EXPECT_NO_THROW(small.require(sizes(graph, rows, 1)));
}

TEST(SmallSizes, OperatorsRefuseThem) {
  Graph graph = graph_of(R"(
def forward(self, x: "f32[s0, 4]", y: "f32[3, s1]"):
    a = torch.ops.aten.amax.default(x, [0])
    return (a,)
)");
  SmallSizes small(graph);
  EXPECT_NO_THROW(small.require(sizes(graph, 1, 0)));
  EXPECT_THAT(error_of([&] { small.require(sizes(graph, 0, 5)); }), HasSubstr("with s0 = 0 aten.amax.default"));
}

}  // namespace
}  // namespace strata
