// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/op.h"
#include "core/ir/verify.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

const Type kType = Type::of(DType::F32, {4});

/// x -> relu -> output, correct.
struct Verify : ::testing::Test {
  Graph g;
  Node* x = g.placeholder("x", kType);
  Node* relu = call("aten.relu.default", {x});
  Node* out = g.output(ListArg{ListArg::Kind::Tuple, {relu}});

  Node* call(const char* target, std::vector<Argument> args) {
    Node* n = g.add(NodeKind::Call, target, std::move(args), kType, "n");
    n->op = find_op(target);
    return n;
  }
  std::string error(VerifyOptions options = {}) const {
    return testing::error_text([&] { verify(g, "cse", options); });
  }
};

TEST_F(Verify, GoodGraphPasses) {
  ASSERT_NE(relu->op, nullptr);
  EXPECT_EQ(error(), "");
}

TEST_F(Verify, OperandsStandBeforeTheirUsers) {
  Node* sin = call("aten.sin.default", {x});
  relu->args[0] = sin;
  EXPECT_EQ(error(),
            "internal: after cse: graph 'GraphModule', node 'n' (id 2, aten.relu.default): expected operands before "
            "their users, "
            "found 'n_1' after");
}

TEST_F(Verify, OperandsBelongToTheGraph) {
  Graph other;
  relu->args[0] = other.placeholder("y", kType);
  EXPECT_THAT(error(), HasSubstr("expected operands of the same graph"));
  relu->args[0] = static_cast<Node*>(nullptr);
  EXPECT_THAT(error(), HasSubstr("expected an operand, found null"));
}

TEST_F(Verify, NamesAndIdsAreUnique) {
  relu->id = x->id;
  EXPECT_THAT(error(), HasSubstr("expected an id used once"));
  relu->id = 77;
  relu->name = "x";
  EXPECT_THAT(error(), HasSubstr("expected a name used once"));
  relu->name = "not legal";
  EXPECT_THAT(error(), HasSubstr("expected a name of letters, digits, '_' and '.', found 'not legal'"));
}

TEST_F(Verify, OneOutputStandsLast) {
  Graph empty;
  empty.placeholder("x", kType);
  EXPECT_THROW(verify(empty, "reading"), Error);
  out->args.clear();
  EXPECT_THAT(error(), HasSubstr("expected one argument of the output, found 0"));
}

TEST_F(Verify, TableOperatorsHaveTypes) {
  relu->type = Type();
  EXPECT_THAT(error(), HasSubstr("expected a type, found none"));
  EXPECT_EQ(error({.compiled = false}), "");
}

TEST_F(Verify, ArgumentsFitTheSchema) {
  relu->args.push_back(3);
  EXPECT_THAT(error(), HasSubstr("(id 2, aten.relu.default)"));
  relu->args.clear();
  EXPECT_THAT(error(), HasSubstr("(id 2, aten.relu.default)"));
  EXPECT_EQ(error({.compiled = false}), "");
}

TEST_F(Verify, OperatorIsTheOneOfTheTarget) {
  relu->op = find_op("aten.sin.default");
  EXPECT_THAT(error(), HasSubstr("expected the operator of the target, found aten.sin.default"));
}

TEST_F(Verify, GetitemStaysInsideItsTuple) {
  Node* pair = g.add(NodeKind::Call, "my.pair", {x}, Type::tuple({kType, Type::of(DType::I64, {4})}), "pair");
  Node* item = g.add(NodeKind::Call, "_operator.getitem", {pair, 1}, Type::of(DType::I64, {4}), "item");
  item->op = find_op("_operator.getitem");
  EXPECT_EQ(error(), "");
  item->args[1] = 2;
  EXPECT_THAT(error(), HasSubstr("expected an index inside the tuple, found 2 of 2 parts"));
  item->args[1] = 0;
  EXPECT_THAT(error(), HasSubstr("expected the type of the part, f32[4][1]cpu, found i64[4][1]cpu"));
  relu->args[0] = pair;
  g.reorder({x, pair, item, relu, out});
  item->args[1] = 1;
  EXPECT_THAT(error(), HasSubstr("expected one tensor as operand, found the tuple 'pair'"));
}

TEST_F(Verify, SubgraphsExistAndAreChecked) {
  Node* hop = g.add(NodeKind::Call, "higher_order.wrap", {GraphArg{"body"}, x}, kType, "hop");
  EXPECT_THAT(error(), HasSubstr("expected a subgraph of this graph, found 'body'"));
  auto body = std::make_unique<Graph>(g.shared_env(), g.ids());
  Node* y = body->placeholder("y", kType);
  g.subgraphs["body"] = std::move(body);
  EXPECT_THAT(error(), HasSubstr("(subgraph body): expected one output node, found 0"));
  g.subgraphs["body"]->output(y);
  EXPECT_EQ(error(), "");
  y->id = hop->id;
  EXPECT_THAT(error(), HasSubstr("expected an id used once"));
}

TEST_F(Verify, SpecsAreParallel) {
  g.input_specs.resize(2);
  EXPECT_THAT(error(), HasSubstr("expected an input spec per placeholder, 1, found 2"));
  g.input_specs.clear();
  g.output_specs.resize(3);
  EXPECT_THAT(error(), HasSubstr("expected an output spec per output, 1, found 3"));
}

TEST_F(Verify, SizesAreOfTheGraphsEnvironment) {
  ShapeEnv other;
  relu->type.tensor.shape[0] = parse_sym(other, "s0");
  EXPECT_THAT(error(), HasSubstr("expected sizes of the graph's shape environment, found s0 of another"));
  relu->type = kType;
  relu->type.tensor.strides->push_back(1);
  EXPECT_THAT(error(), HasSubstr("expected as many strides as dimensions"));
}

TEST_F(Verify, AttributesExist) {
  g.add(NodeKind::GetAttr, "weight", {}, kType, "w");
  EXPECT_THAT(error(), HasSubstr("expected an attribute or subgraph of this graph, found 'weight'"));
  g.attributes["weight"] = Tensor::full(DType::F32, {4}, 2);
  EXPECT_EQ(error(), "");
}

}  // namespace
}  // namespace strata
