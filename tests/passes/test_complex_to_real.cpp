// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/complex_to_real.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/ir/complex_parts.h"
#include "core/ir/interpreter.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using testing::error_of;
using testing::graph_of;

TEST(ComplexToReal, InputsAreThePairsThatTheyLieIn) {
  EXPECT_EQ(after(complex_to_real, R"(
def forward(self, x: "c64[2, 3]", y: "f32[3]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    angle = torch.ops.aten.angle.default(mul)
    return (angle,)
)"),
            "select = aten.select.int(x, -1, 0)\n"
            "select_1 = aten.select.int(x, -1, 1)\n"
            "full = aten.full.default([], 0.0, dtype = torch.float32)\n"
            "mul_1 = aten.mul.Tensor(select, y)\n"
            "mul_2 = aten.mul.Tensor(select_1, full)\n"
            "sub = aten.sub.Tensor(mul_1, mul_2)\n"
            "mul_3 = aten.mul.Tensor(select, full)\n"
            "mul_4 = aten.mul.Tensor(select_1, y)\n"
            "add = aten.add.Tensor(mul_3, mul_4)\n"
            "atan2 = aten.atan2.default(add, sub)\n"
            "return (atan2,)\n");
}

TEST(ComplexToReal, ResultsAreViewsOfPairs) {
  EXPECT_EQ(after(complex_to_real, R"(
def forward(self, x: "f64[4, 2]"):
    view_as_complex = torch.ops.aten.view_as_complex.default(x)
    conj = torch.ops.aten._conj.default(view_as_complex)
    return (conj,)
)"),
            "select = aten.select.int(x, -1, 0)\n"
            "select_1 = aten.select.int(x, -1, 1)\n"
            "neg = aten.neg.default(select_1)\n"
            "unsqueeze = aten.unsqueeze.default(select, -1)\n"
            "unsqueeze_1 = aten.unsqueeze.default(neg, -1)\n"
            "cat = aten.cat.default([unsqueeze, unsqueeze_1], -1)\n"
            "view_as_complex_1 = aten.view_as_complex.default(cat)\n"
            "return (view_as_complex_1,)\n");
}

TEST(ComplexToReal, TypesOfInputsAndTheirSpecs) {
  const Graph graph = graph_of(R"(
def forward(self, b_turn: "c128[5]", x: "c64[s0, 3][3, 1]"):
    sum_1 = torch.ops.aten.sum.dim_IntList(x, [1])
    return (sum_1,)
)");
  const Graph real = complex_to_real(graph, {}).graph;
  const auto inputs = real.placeholders();
  EXPECT_EQ(to_string(inputs[1]->type), "f32[s0, 3, 2][6, 2, 1]cpu");
  ASSERT_EQ(real.input_specs.size(), 2u);
  EXPECT_TRUE(real.input_specs[0].complex);
  EXPECT_TRUE(real.input_specs[1].complex);
  EXPECT_EQ(inputs[0]->tensor().dtype, DType::F64);
  const Scheduled scheduled = [&] {
    const std::map<std::string, Tensor> state{{"b_turn", Tensor::empty(DType::C128, {5})}};
    ScheduleOptions options;
    options.state = &state;
    return schedule(real, options);
  }();
  EXPECT_EQ(scheduled.plan->complex_inputs, std::vector<size_t>{0});
  ASSERT_EQ(scheduled.plan->outputs.size(), 1u);
  EXPECT_EQ(scheduled.plan->outputs[0].dtype, DType::C64);
  EXPECT_EQ(scheduled.plan->outputs[0].shape.size(), 1u);
}

TEST(ComplexToReal, WhatIsWrittenStaysPairs) {
  const Graph graph = graph_of(R"(
def forward(self, x: "c64[3]"):
    mul_ = torch.ops.aten.mul_.Tensor(x, 2)
    real = torch.ops.aten.real.default(mul_)
    return (real,)
)");
  const Graph functional = functionalize(graph, {}).graph;
  const Graph real = complex_to_real(functional, {}).graph;
  ASSERT_EQ(real.output_specs.size(), 2u);
  EXPECT_EQ(real.output_specs[0].kind, OutputSpec::Kind::UserInputMutation);
  EXPECT_EQ(real.flat_outputs()[0].node()->tensor().dtype, DType::F32);
  EXPECT_EQ(real.flat_outputs()[0].node()->tensor().shape.size(), 2u);
}

/// Writes through views of another type reach what is viewed.
TEST(ComplexToReal, WritesThroughPartsAndPairs) {
  const Graph graph = graph_of(R"(
def forward(self, x: "c64[3]"):
    clone = torch.ops.aten.clone.default(x)
    real = torch.ops.aten.real.default(clone)
    add_ = torch.ops.aten.add_.Tensor(real, 1)
    view_as_real = torch.ops.aten.view_as_real.default(clone)
    select = torch.ops.aten.select.int(view_as_real, 0, 1)
    mul_ = torch.ops.aten.mul_.Tensor(select, 3)
    conj = torch.ops.aten._conj.default(clone)
    view_as_real_1 = torch.ops.aten.view_as_real.default(conj)
    return (view_as_real_1,)
)");
  Tensor x = Tensor::empty(DType::C64, {3});
  for (int64_t i = 0; i < 6; ++i) as_pairs(x).set(i, static_cast<double>(i));
  const auto value = [&](const Graph& g) {
    return Interpreter(g, {}).run(std::span<const Tensor>(std::vector{x})).at(0).tensor().values();
  };
  const std::vector<double> want{1, -1, 9, -9, 5, -5};
  EXPECT_EQ(value(functionalize(graph, {}).graph), want);
}

TEST(ComplexToReal, WhatHasNoRuleIsNamed) {
  const char* text = R"(
def forward(self, x: "c64[3]"):
    y = torch.ops.aten.erf.default(x)
    return (y,)
)";
  EXPECT_NE(
      error_of([&] { decompose(graph_of(text), {}); }).find("(aten.erf.default) on complex numbers is not supported"),
      std::string::npos);
}

TEST(ComplexToReal, RealGraphsAreLeftAlone) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[3]"):
    y = torch.ops.aten.real.default(x)
    return (y,)
)");
  EXPECT_FALSE(complex_to_real_may_change(graph, {}));
}

/// What a table of names says must be rows, and rows that decompose must be able to.
TEST(ComplexToReal, EveryRowSaysWhatItDoes) {
  size_t parts = 0, decomposed = 0;
  for (const OpDef* op : all_ops()) {
    const ComplexSupport support = complex_support(*op);
    parts += support == ComplexSupport::Parts;
    decomposed += support == ComplexSupport::Decomposes;
    if (support == ComplexSupport::Decomposes && op->op_class != OpClass::Mutation) {
      EXPECT_NE(op->decompose, nullptr) << op->name;
    }
  }
  const auto has_row = [](std::string_view name) {
    const auto known = all_ops();
    return std::any_of(known.begin(), known.end(), [&](const OpDef* op) {
      return op->name == name || op->name.starts_with(std::string(name) + ".");
    });
  };
  for (const std::string_view name : names_with_complex_rules()) EXPECT_TRUE(has_row(name)) << name;
  EXPECT_GT(parts, 120u);
  EXPECT_GT(decomposed, 150u);
}

}  // namespace
}  // namespace strata
