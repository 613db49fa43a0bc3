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
using testing::error_text;
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
  Program program(graph_of(kTwoRows));
  Graph& graph = program.graph;
  for (const char* name : {"a", "b"}) graph.find(name)->type = Type::of(DType::F32, {2, 4});  // as an exporter has it
  SmallSizes small(program);
  const auto error = [&](int64_t rows, int64_t columns) {
    return error_text([&] { small.require(sizes(graph, rows, columns)); });
  };
  EXPECT_EQ(error(2, 2), "");
  EXPECT_EQ(error(7, 0), "");
  EXPECT_EQ(error(7, 1), "");
  for (int turn = 0; turn < 2; ++turn)
    EXPECT_THAT(error(1, 9), AllOf(HasSubstr("captured for sizes of 2 and more: with s0 = 1 'a' (aten.slice.Tensor)"),
                                   HasSubstr("f32[1, 4]")));
  EXPECT_THAT(error(0, 1), HasSubstr("with s0 = 0, s1 = 1 'a' (aten.slice.Tensor)"));
}

TEST(SmallSizes, GraphsThatSayItOfAllSizesFit) {
  Program program(graph_of(kTwoRows));
  Graph& graph = program.graph;
  SmallSizes small(program);
  for (int64_t rows : {0, 1, 2}) EXPECT_NO_THROW(small.require(sizes(graph, rows, 1)));
}

TEST(SmallSizes, OperatorsRefuseThem) {
  Program program(graph_of(R"(
def forward(self, x: "f32[s0, 4]", y: "f32[3, s1]"):
    a = torch.ops.aten.amax.default(x, [0])
    return (a,)
)"));
  Graph& graph = program.graph;
  SmallSizes small(program);
  EXPECT_NO_THROW(small.require(sizes(graph, 1, 0)));
  EXPECT_THAT(error_text([&] { small.require(sizes(graph, 0, 5)); }), HasSubstr("with s0 = 0 aten.amax.default"));
}

/// `Max(1, s0)` is `s0` where s0 was taken to be 2 or more.
TEST(SmallSizes, SizesThatWereSimplifiedMustBeRight) {
  Program program(graph_of(R"(
def forward(self, x: "f32[s0, 4]", y: "f32[3, s1]"):
    a = torch.ops.aten.relu.default(x)
    return (a,)
)"));
  ShapeEnv& env = program.graph.env();
  Symbol& rows = env.info(*env.symbol_id(*env.find("s0")));
  rows.range = {0, 100};
  rows.traced_from_two = true;
  program.graph.find("x")->type.tensor.shape[0] = max(SymInt(1), *env.find("s0"));
  program.stated = std::make_unique<Graph>(program.graph.clone());
  {
    const TracedSizes traced(env);
    program.graph.substitute([](size_t) { return std::optional<SymInt>(); });
  }
  EXPECT_EQ(program.graph.find("x")->type.tensor.shape[0].str(), "s0");
  EXPECT_EQ(program.stated->find("x")->type.tensor.shape[0].str(), "Max(1, s0)");
  EXPECT_EQ(rows.range.min, 0);
  SmallSizes small(program);
  EXPECT_NO_THROW(small.require(sizes(program.graph, 1, 5)));
  EXPECT_THAT(error_text([&] { small.require(sizes(program.graph, 0, 5)); }),
              HasSubstr("with s0 = 0 'x' (x): a size is 1, not 0"));
}

/// Two sizes that nothing says to be equal, or one of them to be 1.
TEST(SmallSizes, BroadcastsMustBeForeseen) {
  Program program(graph_of(R"(
def forward(self, x: "f32[s0, 4]", y: "f32[s1, 4]"):
    a = torch.ops.aten.add.Tensor(x, y)
    return (a,)
)"));
  SmallSizes small(program);
  EXPECT_NO_THROW(small.require(sizes(program.graph, 1, 1)));
  const std::string one = error_text([&] { small.require(sizes(program.graph, 1, 7)); });
  const std::string other = error_text([&] { small.require(sizes(program.graph, 7, 1)); });
  EXPECT_THAT(one + other, HasSubstr(" has 1 of 7 elements"));
}

}  // namespace
}  // namespace strata
