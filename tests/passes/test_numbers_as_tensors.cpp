// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/numbers_as_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/compiler.h"
#include "core/ir/interpreter.h"
#include "core/ir/text.h"
#include "core/ir/verify.h"
#include "core/runtime/plan.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::body_of;
using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;

/// `lines` of a graph that takes x f32[3] and n f32[], and has the element of n as `item`.
Graph graph_with(const std::string& lines) {
  return parse_text(nullptr,
                    "strata graph 1\ngraph 'GraphModule' {\n  input user\n  input user\n"
                    "  %x:1 = placeholder x() : f32[3][1]cpu\n  %n:2 = placeholder n() : f32[][]cpu\n"
                    "  %item:3 = call aten.item.default(%n) : symfloat\n" +
                        lines + "}\n");
}

std::string after(const Graph& graph) {
  EXPECT_TRUE(numbers_as_tensors_may_change(graph, {}));
  const PassResult result = numbers_as_tensors(graph, {});
  verify(result.graph, "numbers_as_tensors");
  return body_of(result.graph);
}

std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs) {
  const Scheduled scheduled = schedule(run_passes(inference_pipeline(), graph, {}, {}), {});
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 1);
  return executor.run(inputs);
}

std::vector<Tensor> inputs(double n) {
  return {Tensor::of(DType::F32, {3}, std::vector<double>{1, -2, 3.5}), Tensor::scalar(DType::F32, n)};
}

TEST(NumbersAsTensors, OperandsKeepTheTypeOfTheOthers) {
  const Graph graph = graph_with(
      "  %y:4 = call aten.mul.Tensor(%x, %item) : f32[3][1]cpu\n"
      "  %z:5 = call aten.add_.Tensor(%y, %item) : f32[3][1]cpu\n"
      "  %o:6 = output output((%z,))\n");
  const std::string text = after(graph);
  EXPECT_THAT(text, HasSubstr("aten.clone.default"));  // read once, whatever is written later
  EXPECT_THAT(text, HasSubstr("aten.mul.Tensor(x, "));
  EXPECT_THAT(text, HasSubstr("aten.add_.Tensor("));
  const std::vector<Tensor> found = run(graph, inputs(0.75));
  EXPECT_EQ(found[0].dtype, DType::F32);
  EXPECT_THAT(found[0].values(), ElementsAre(1.5, -0.75, 3.375));
}

TEST(NumbersAsTensors, ArithmeticIsPythons) {
  const Graph graph = graph_with(
      "  %a:4 = call _operator.truediv(%item, 3) : symfloat\n"
      "  %b:5 = call _operator.mul(%a, %item) : symfloat\n"
      "  %c:6 = call _operator.gt(%b, 0.1) : symbool\n"
      "  %y:7 = call aten.add.Tensor(%x, 1) : f32[3][1]cpu\n"
      "  %o:8 = output output((%y, %b, %c, %item))\n");
  const std::vector<Tensor> found = run(graph, inputs(0.75));
  EXPECT_EQ(found[1].dtype, DType::F64);
  EXPECT_EQ(found[1].at(0), 0.75 / 3 * 0.75);
  EXPECT_EQ(found[2].dtype, DType::Bool);
  EXPECT_EQ(found[2].int_at(0), 1);
  EXPECT_EQ(run(graph, inputs(0.5))[2].int_at(0), 0);
  EXPECT_EQ(found[3].at(0), 0.75);
}

TEST(NumbersAsTensors, AssertionsAreTestedInEveryRun) {
  const Graph graph = graph_with(
      "  %c:4 = call _operator.lt(%item, 2.0) : symbool\n"
      "  %a:5 = call aten._assert_scalar.default(%c, 'n must be below 2') : none\n"
      "  %y:6 = call aten.div.Tensor(%x, %item) : f32[3][1]cpu\n"
      "  %o:7 = output output((%y,))\n");
  EXPECT_THAT(run(graph, inputs(0.5))[0].values(), ElementsAre(2, -4, 7));
  EXPECT_THAT(error_text([&] { run(graph, inputs(2)); }), HasSubstr("n must be below 2"));
}

TEST(NumbersAsTensors, WhatTakesNumbersOnlyIsLeft) {
  const Graph graph = graph_with(
      "  %y:4 = call aten.leaky_relu.default(%x, %item) : f32[3][1]cpu\n"
      "  %o:5 = output output((%y,))\n");
  EXPECT_THAT(after(graph), HasSubstr("aten.leaky_relu.default(x, item)"));
  EXPECT_THAT(error_text([&] { run(graph, inputs(0.5)); }), HasSubstr("found 'item', a number that only a run tells"));
  EXPECT_FALSE(numbers_as_tensors_may_change(
      testing::graph_of("def forward(self, x: \"f32[3]\"):\n    y = torch.ops.aten.neg.default(x)\n    return (y,)"),
      {}));
}

}  // namespace
}  // namespace strata
