// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/output_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/compiler.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::graph_of;

/// The strides in which a program's outputs come, when asked for `wanted` (empty: nothing is asked).
std::vector<std::vector<int64_t>> strides_of_outputs(const char* text, const std::vector<std::vector<int64_t>>& wanted,
                                                     const std::vector<Tensor>& inputs) {
  const Graph graph = graph_of(text);
  ScheduleOptions options;
  for (const auto& w : wanted) {
    if (w.empty())
      options.output_strides.emplace_back();
    else
      options.output_strides.emplace_back(std::vector<SymInt>(w.begin(), w.end()));
  }
  const Scheduled scheduled = schedule(graph, options);
  const auto compiler = make_cpu_compiler();
  Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, {}), 1);
  std::vector<std::vector<int64_t>> result;
  for (const Tensor& t : executor.run(inputs)) result.push_back(t.strides);
  return result;
}

Tensor counted(std::vector<int64_t> shape) {
  Tensor t = Tensor::empty(DType::F32, std::move(shape));
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, static_cast<double>(i) - 7);
  return t;
}

constexpr const char* kRelu = R"(
def forward(self, x: "f32[4, 6]"):
    y = torch.ops.aten.relu.default(x)
    return (y,)
)";

TEST(OutputLayout, AKernelWritesAsTheCallerWants) {
  EXPECT_THAT(strides_of_outputs(kRelu, {{1, 4}}, {counted({4, 6})}), ElementsAre(ElementsAre(1, 4)));
}

TEST(OutputLayout, NothingWantedOrGapsWantedIsRowByRow) {
  EXPECT_THAT(strides_of_outputs(kRelu, {}, {counted({4, 6})}), ElementsAre(ElementsAre(6, 1)));
  EXPECT_THAT(strides_of_outputs(kRelu, {{}}, {counted({4, 6})}), ElementsAre(ElementsAre(6, 1)));
  EXPECT_THAT(strides_of_outputs(kRelu, {{12, 2}}, {counted({4, 6})}), ElementsAre(ElementsAre(6, 1)));
  EXPECT_THAT(strides_of_outputs(kRelu, {{0, 1}}, {counted({4, 6})}), ElementsAre(ElementsAre(6, 1)));
}

TEST(OutputLayout, ATransposedOutputLiesRowByRow) {
  EXPECT_THAT(strides_of_outputs(R"(
def forward(self, x: "f32[4, 6]"):
    y = torch.ops.aten.relu.default(x)
    t = torch.ops.aten.permute.default(y, [1, 0])
    return (t,)
)",
                                 {{4, 1}}, {counted({4, 6})}),
              ElementsAre(ElementsAre(4, 1)));
}

TEST(OutputLayout, TheFirstOfTwoOutputsOverOneBufferHasItsWay) {
  constexpr const char* kBoth = R"(
def forward(self, x: "f32[4, 6]"):
    y = torch.ops.aten.relu.default(x)
    t = torch.ops.aten.permute.default(y, [1, 0])
    return (y, t)
)";
  EXPECT_THAT(strides_of_outputs(kBoth, {{1, 4}, {1, 6}}, {counted({4, 6})}),
              ElementsAre(ElementsAre(1, 4), ElementsAre(4, 1)));
}

TEST(OutputLayout, ValuesAreTheSame) {
  const Graph graph = graph_of(kRelu);
  ScheduleOptions options;
  options.output_strides = {std::vector<SymInt>{1, 4}};
  const Scheduled scheduled = schedule(graph, options);
  const auto compiler = make_cpu_compiler();
  Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, {}), 1);
  const Tensor x = counted({4, 6});
  const Tensor y = executor.run({x}).at(0);
  for (int64_t i = 0; i < 24; ++i) EXPECT_EQ(y.at(i), std::max(0.0, x.at(i))) << i;
}

TEST(OutputLayout, AConvolutionWritesChannelsLast) {
  const Tensor x = counted({1, 3, 5, 4}), w = counted({2, 3, 1, 1});
  EXPECT_THAT(strides_of_outputs(R"(
def forward(self, x: "f32[1, 3, 5, 4]", w: "f32[2, 3, 1, 1]"):
    y = torch.ops.aten.convolution.default(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    return (y,)
)",
                                 {{40, 1, 8, 2}}, {x, w}),
              ElementsAre(ElementsAre(40, 1, 8, 2)));
}

/// An output that only views an input is a copy: one kernel in the layout that the caller wants, and none for a little.
TEST(OutputLayout, AViewOfAnInputIsCopiedByAKernel) {
  const auto transposed = [](int64_t rows, int64_t columns, std::vector<int64_t> wanted) {
    const std::string n = std::to_string(rows), m = std::to_string(columns);
    const std::string text = "def forward(self, x: \"f32[" + n + ", " + m + "]\"):\n" +
                             "    t = torch.ops.aten.permute.default(x, [1, 0])\n    return (t,)\n";
    const Graph graph = graph_of(text.c_str());
    ScheduleOptions options;
    options.output_strides = {std::vector<SymInt>(wanted.begin(), wanted.end())};
    const Scheduled scheduled = schedule(graph, options);
    const auto compiler = make_cpu_compiler();
    Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, {}), 1);
    const Tensor x = counted({rows, columns});
    const Tensor y = executor.run({x}).at(0);
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t j = 0; j < rows; ++j) EXPECT_EQ(y.at(i * rows + j), x.at(j * columns + i)) << i << " " << j;
    return std::pair(scheduled.plan->launches.size(), y.strides);
  };
  EXPECT_EQ(transposed(40, 70, {40, 1}), std::pair(size_t{1}, std::vector<int64_t>{40, 1}));
  EXPECT_EQ(transposed(40, 70, {1, 70}), std::pair(size_t{1}, std::vector<int64_t>{1, 70}));
  EXPECT_EQ(transposed(4, 7, {4, 1}), std::pair(size_t{0}, std::vector<int64_t>{4, 1}));
}

}  // namespace
}  // namespace strata
