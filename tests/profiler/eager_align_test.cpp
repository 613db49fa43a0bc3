// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/align.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/op_names.h"

namespace strata::profiler {
namespace {

using ::testing::ElementsAre;

std::vector<AlignItem> items(const std::vector<std::string>& names) {
  std::vector<AlignItem> list;
  for (const auto& n : names) list.push_back({n, {}});
  return list;
}

TEST(EagerAlign, InOrderWithGapsOnBothSides) {
  EXPECT_THAT(align(items({"conv2d", "relu", "dropout", "linear"}), items({"conv2d", "to", "relu", "linear", "sum"})),
              ElementsAre(0, -1, 1, 3, -1));
}

TEST(EagerAlign, ShapesDecideAmongEqualNames) {
  const std::vector<AlignItem> calls{{"linear", {"[8, 4]"}}, {"linear", {"[8, 5]"}}, {"linear", {"[8, 6]"}}};
  EXPECT_THAT(align(calls, {{"linear", {"[8, 5]"}}}), ElementsAre(1));
  EXPECT_THAT(align({{"linear", {"[s0, 4]"}}}, {{"linear", {"[8, 5]"}}}), ElementsAre(0));
}

TEST(EagerAlign, NothingToAlign) {
  EXPECT_TRUE(align(items({"relu"}), {}).empty());
  EXPECT_THAT(align({}, items({"relu", "add"})), ElementsAre(-1, -1));
}

TEST(EagerAlign, LongSequencesAreAlignedInPieces) {
  std::vector<AlignItem> calls, operators;
  for (int i = 0; i < 9000; ++i) {
    const AlignItem item{i % 3 == 0 ? "linear" : "add", {"[" + std::to_string(i % 997) + "]"}};
    calls.push_back(item);
    if (i % 10 != 0) operators.push_back(item);
  }
  const auto found = align(calls, operators);
  size_t at = 0, right = 0;
  for (int i = 0; i < 9000; ++i)
    if (i % 10 != 0) right += found[at++] == i;
  EXPECT_EQ(right, operators.size());
}

TEST(OperatorNames, BasesAreComparable) {
  EXPECT_EQ(operator_base("aten::relu_"), "relu");
  EXPECT_EQ(operator_base("torch.nn.functional.relu"), "relu");
  EXPECT_EQ(operator_base("aten.convolution.default"), "convolution");
  EXPECT_EQ(operator_base("torch.ops.aten.convolution_backward.default"), "convolution_backward");
  EXPECT_EQ(operator_base("extern_kernels.mm"), "mm");
  EXPECT_EQ(operator_base("_operator.iadd"), "add");
  EXPECT_EQ(operator_base("__eq__"), "eq");
  EXPECT_EQ(operator_base("aten::__and__"), "bitwise_and");
  EXPECT_EQ(operator_base("float"), "to");
  EXPECT_EQ(operator_base(""), "");
  EXPECT_EQ(operator_base("::"), "");
}

TEST(OperatorNames, WhatGoesTogether) {
  EXPECT_EQ(name_match("relu", "relu"), 4);
  EXPECT_GT(name_match("linear", "addmm"), 0);
  EXPECT_GT(name_match("getitem", "slice"), 0);
  EXPECT_GT(name_match("scaled_dot_product_attention", "_efficient_attention_forward"), 0);
  EXPECT_EQ(name_match("relu", "gelu"), 0);
  EXPECT_EQ(name_match("convolution", "convolution_backward"), 0);
}

TEST(OperatorNames, InputsOfAnEvent) {
  const auto in = operator_inputs(
      R"({"Input Dims":[[8,4],[],[[2,3],[4]],[5]],"Input type":["float","Scalar","TensorList","c10::Half"]})");
  EXPECT_TRUE(in.known);
  EXPECT_THAT(in.shapes, ElementsAre("[8, 4]", "[2, 3]", "[4]", "[5]"));
  EXPECT_EQ(in.bytes, 8 * 4 * 4 + 2 * 3 * 4 + 4 * 4 + 5 * 2);
  EXPECT_EQ(in.largest, 128);
  EXPECT_FALSE(operator_inputs("").known);
  EXPECT_FALSE(operator_inputs(R"({"Input Dims": [[8,)").known);
  EXPECT_FALSE(operator_inputs(R"({"Input Dims": 7})").known);
  EXPECT_GT(
      operator_inputs(R"({"Input Dims":[[9223372036854775807,9223372036854775807]],"Input type":["float"]})").bytes, 0);
}

TEST(OperatorNames, BytesOfMatrixProducts) {
  const auto args = [](const std::string& dims) {
    return operator_inputs(R"({"Input Dims":)" + dims + R"(,"Input type":["float","float","float","float"]})");
  };
  EXPECT_EQ(written_bytes("mm", args("[[8,4],[4,5]]")), 8 * 5 * 4);
  EXPECT_EQ(written_bytes("bmm", args("[[2,8,4],[2,4,5]]")), 2 * 8 * 5 * 4);
  EXPECT_EQ(written_bytes("addmm", args("[[5],[8,4],[4,5]]")), 8 * 5 * 4);
  EXPECT_EQ(written_bytes("mm", args("[[8,4],[4,5],[8,5]]")), 0);
  EXPECT_EQ(written_bytes("relu", args("[[8,4]]")), 8 * 4 * 4);
}

TEST(OperatorNames, BytesOfTypes) {
  EXPECT_EQ(tensor_bytes("f32[8, 4][4, 1]cuda:0"), 128);
  EXPECT_EQ(tensor_bytes("bf16[3]"), 6);
  EXPECT_EQ(tensor_bytes("f32[s0, 4]"), -1);
  EXPECT_EQ(tensor_bytes("Sym(s0)"), -1);
  EXPECT_EQ(tensor_bytes(""), -1);
}

}  // namespace
}  // namespace strata::profiler
