// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/channels_last.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/compiler.h"
#include "core/ir/interpreter.h"
#include "passes/fuse.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::IsEmpty;

#define CONV(x, w, stride)                                                      \
  "torch.ops.aten.convolution.default(" x ", " w ", None, [" stride ", " stride \
  "], [1, 1], [1, 1], False, [0, 0], "                                          \
  "1)\n"

std::string program(const std::string& body) {
  return "def forward(self, x: \"f32[2, 4, 8, 8]\", w: \"f32[4, 4, 3, 3]\", v: \"f32[4, 8, 3, 3]\"):\n" + body;
}

/// Names of the values that lie channels-last, in graph order.
std::vector<std::string> chosen(const std::string& body) {
  const Graph graph = graph_of(program(body));
  FuseOptions options;
  options.capabilities = &cpu_library_capabilities();
  const Fused fused = fuse(graph, options);
  std::vector<std::string> names;
  for (const auto& node : graph.nodes()) {
    const auto it = fused.layouts.chosen_strides.find(node.get());
    if (it != fused.layouts.chosen_strides.end() && it->second.size() == 4 && it->second[1] == SymInt(1))
      names.push_back(node->name);
  }
  return names;
}

/// The compiled program gives what the interpreter gives.
void check(const std::string& body) {
  const Graph graph = graph_of(program(body));
  std::vector<Tensor> inputs;
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 4, 8, 8}, {4, 4, 3, 3}, {4, 8, 3, 3}}) {
    inputs.push_back(Tensor::empty(DType::F32, shape));
    for (int64_t i = 0; i < inputs.back().numel(); ++i) inputs.back().set(i, std::sin(0.7 * static_cast<double>(i)));
  }
  const std::vector<RefValue> expected = Interpreter(graph).run(std::span<const Tensor>(inputs));
  const Scheduled scheduled = schedule(graph, {});
  const auto compiler = make_cpu_compiler();
  Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, {}), 1);
  const std::vector<Tensor> found = executor.run(inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t k = 0; k < found.size(); ++k)
    for (int64_t i = 0; i < found[k].numel(); ++i)
      ASSERT_NEAR(found[k].at(i), expected[k].tensor().at(i),
                  1e-5 * std::max(10.0, std::abs(expected[k].tensor().at(i))))
          << k << " " << i;
}

const std::string kUnet =
    "    c = " CONV("x", "w", "1") "    r = torch.ops.aten.relu.default(c)\n"
    "    m = torch.ops.aten.max_pool2d.default(r, [2, 2], [2, 2])\n    d = " CONV("m", "w", "1")
    "    u = torch.ops.aten.upsample_nearest2d.default(d, [8, 8], None, None)\n"
    "    j = torch.ops.aten.cat.default([r, u], 1)\n    y = " CONV("j", "v", "1") "    return (y,)\n";

TEST(ChannelsLast, PoolingResamplingAndConcatenationBetweenConvolutions) {
  EXPECT_THAT(chosen(kUnet), ElementsAre("r", "m", "d", "u", "j"));
  check(kUnet);
}

const std::string kGate =
    "    c = " CONV("x", "w", "1") "    a = torch.ops.aten.sum.dim_IntList(c, [2, 3], True)\n"
    "    g = torch.ops.aten.sigmoid.default(a)\n    s = torch.ops.aten.mul.Tensor(c, g)\n    y = " CONV("s", "w", "1")
    "    return (y,)\n";

TEST(ChannelsLast, WorkByChannelAndMeansOfChannels) {
  EXPECT_THAT(chosen(kGate), ElementsAre("c", "s"));
  check(kGate);
}

TEST(ChannelsLast, WhatSomebodyWantsRowByRowStaysSo) {
  // read by the caller; through a view; by a reduction of channels
  const std::string start =
      "    c = " CONV("x", "w", "1") "    s = torch.ops.aten.sin.default(c)\n    y = " CONV("s", "w", "1");
  EXPECT_THAT(chosen(start + "    return (y,)\n"), ElementsAre("c", "s"));
  EXPECT_THAT(chosen(start + "    return (y, s)\n"), IsEmpty());
  EXPECT_THAT(chosen(start + "    q = torch.ops.aten.view.default(s, [2, 256])\n    z = "
                             "torch.ops.aten.neg.default(q)\n    return (y, z)\n"),
              IsEmpty());
  EXPECT_THAT(chosen(start + "    z = torch.ops.aten.sum.dim_IntList(s, [1])\n    return (y, z)\n"), IsEmpty());
  EXPECT_THAT(chosen("    s = torch.ops.aten.sin.default(x)\n    y = " CONV("s", "w", "1") "    return (y,)\n"),
              IsEmpty());
}

}  // namespace
}  // namespace strata
