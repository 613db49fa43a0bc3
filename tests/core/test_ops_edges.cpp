// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Corners of rows that PyTorch's operator database found: no dimensions, operands of unlike ranks, types that a rule
// must refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "core/support/error.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A graph whose operands are given as tensors.
struct Corner {
  Graph graph;
  Builder builder{graph};
  std::vector<Tensor> inputs;

  Node* operand(const Tensor& t) {
    inputs.push_back(t);
    std::vector<SymInt> shape(t.shape.begin(), t.shape.end());
    return graph.placeholder("x" + std::to_string(inputs.size()), Type::of(t.dtype, shape));
  }

  std::vector<double> run(const char* op, std::vector<Argument> args) {
    Node* result = builder.call(op, std::move(args));
    graph.output(result);
    const Tensor value = Interpreter(graph).run(inputs).at(0).tensor();
    EXPECT_EQ(std::vector<SymInt>(value.shape.begin(), value.shape.end()), result->tensor().shape);
    return value.values();
  }

  std::string refusal(const char* op, std::vector<Argument> args) {
    try {
      builder.call(op, std::move(args));
    } catch (const Error& e) {
      return e.message();
    }
    return "none";
  }
};

const Tensor kNumber = Tensor::of(DType::F32, {}, std::vector<double>{3});
const Tensor kFirst = Tensor::of(DType::I64, {1}, std::vector<double>{0});

TEST(OpsEdges, WritingAtIndicesOfATensorWithoutDimensions) {
  Corner fill;
  EXPECT_THAT(fill.run("aten.index_fill.int_Scalar", {fill.operand(kNumber), 0, fill.operand(kFirst), 7.0}),
              ElementsAre(7));
  Corner none;
  const Tensor nothing = Tensor::of(DType::I64, {0}, std::vector<double>{});
  EXPECT_THAT(none.run("aten.index_fill.int_Scalar", {none.operand(kNumber), 0, none.operand(nothing), 7.0}),
              ElementsAre(3));
  Corner add;
  Node* self = add.operand(kNumber);
  EXPECT_THAT(add.run("aten.index_add.default", {self, 0, add.operand(kFirst), add.operand(kNumber)}), ElementsAre(6));
}

TEST(OpsEdges, TakeAlongDimBroadcastsTheOtherDimensions) {
  Corner c;
  Node* self = c.operand(Tensor::of(DType::F32, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6}));
  Node* at = c.operand(Tensor::of(DType::I64, {1, 2}, std::vector<double>{2, 0}));
  EXPECT_THAT(c.run("aten.take_along_dim.default", {self, at, 1}), ElementsAre(3, 1, 6, 4));
}

TEST(OpsEdges, ProgressionsOfIntegersLoseTheFractionsFirst) {
  Corner c;
  Node* made = c.builder.call("aten.arange.start_step", {2.1, -2.9, -1.0}, {{"dtype", DType::I8}});
  c.graph.output(made);
  EXPECT_THAT(Interpreter(c.graph).run(c.inputs).at(0).tensor().values(), ElementsAre(2, 1, 0, -1, -2));
}

TEST(OpsEdges, WhatFollowsAnotherArithmeticIsRefused) {
  Corner c;
  Node* whole = c.operand(Tensor::of(DType::I64, {2, 2}, std::vector<double>{1, 2, 3, 4}));
  Node* flags = c.operand(Tensor::of(DType::Bool, {2}, std::vector<double>{1, 0}));
  Node* pixels = c.operand(Tensor::full(DType::U8, {1, 1, 2, 2}, 9));
  EXPECT_THAT(c.refusal("aten.addmm.default", {whole, whole, whole}), HasSubstr("none"));
  const std::vector<std::pair<std::string, Argument>> factors{{"beta", 0.2}, {"alpha", 1}};
  EXPECT_THROW(c.builder.call("aten.addmm.default", {whole, whole, whole}, factors), Error);
  EXPECT_THAT(c.refusal("aten.square.default", {flags}), HasSubstr("bool"));
  EXPECT_THAT(c.refusal("aten.upsample_bilinear2d.default", {pixels, Argument::list({4, 4}), false}),
              HasSubstr("integers"));
}

}  // namespace
}  // namespace strata
