// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/concat_in_place.h"

#include <gtest/gtest.h>

#include <random>

#include "codegen/compiler.h"
#include "core/ir/interpreter.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

/// A graph as a plan, and what it gives for fresh random inputs.
class Concat {
 public:
  explicit Concat(const char* text) : graph_(testing::graph_of(text)), scheduled_(schedule(graph_, {})) {}

  /// Buffers of the plan that a value of this name has.
  size_t buffers(std::string_view name) const {
    const auto& all = scheduled_.plan->buffers;
    return static_cast<size_t>(
        std::count_if(all.begin(), all.end(), [&](const PlanBuffer& b) { return b.name == name; }));
  }
  /// Bytes that the launch of this name reads and writes.
  std::pair<SymInt, SymInt> traffic(std::string_view name) const {
    for (const Launch& l : scheduled_.plan->launches)
      if (l.name == name) return {l.bytes_read, l.bytes_written};
    throw std::out_of_range(std::string(name));
  }
  std::string reason(std::string_view producer, std::string_view consumer) const {
    for (const FusionDecision& d : scheduled_.decisions)
      if (d.producer == graph_.find(producer)->id && d.consumer == graph_.find(consumer)->id) return d.reason;
    return {};
  }

  void check(const std::vector<std::vector<int64_t>>& shapes) {
    std::mt19937 random(std::random_device{}());
    std::normal_distribution<double> normal;
    std::vector<Tensor> inputs;
    for (const auto& shape : shapes) {
      inputs.push_back(Tensor::empty(DType::F32, shape));
      for (int64_t i = 0; i < inputs.back().numel(); ++i) inputs.back().set(i, normal(random));
    }
    Executor executor(scheduled_.plan, make_cpu_compiler()->compile(*scheduled_.plan, {}), 2);
    for (int call = 0; call < 2; ++call) {
      const std::vector<Tensor> found = executor.run(inputs);
      const std::vector<RefValue> expected = Interpreter(graph_).run(std::span<const Tensor>(inputs));
      ASSERT_EQ(found.size(), expected.size());
      for (size_t k = 0; k < found.size(); ++k) {
        const Tensor& e = expected[k].tensor();
        ASSERT_EQ(found[k].shape, e.shape);
        for (int64_t i = 0; i < e.numel(); ++i)
          ASSERT_NEAR(found[k].at(i), e.at(i), 1e-4 * std::max(1.0, std::abs(e.at(i)))) << "output " << k << ", " << i;
      }
    }
  }

 private:
  Graph graph_;
  Scheduled scheduled_;
};

TEST(ConcatInPlace, ProductsWriteTheirRows) {
  Concat c(R"(
def forward(self, x: "f32[6, 9]", w: "f32[9, 40]", y: "f32[6, 5]"):
    a = torch.ops.aten.mm.default(x, w)
    c = torch.ops.aten.cat.default([a, y], 1)
    t = torch.ops.aten.permute.default(c, [1, 0])
    r = torch.ops.aten.mm.default(c, t)
    return (r,))");
  EXPECT_EQ(c.buffers("a"), 0u);
  EXPECT_EQ(c.buffers("c"), 1u);
  EXPECT_EQ(c.traffic("cat_1"), std::pair(SymInt(6 * 5 * 4), SymInt(6 * 5 * 4)));
  EXPECT_EQ(c.traffic("mm_0").second, SymInt(6 * 40 * 4));
  EXPECT_EQ(c.traffic("mm_2").first, SymInt(6 * 45 * 4));  // who reads the whole reads all of it
  EXPECT_NE(c.reason("a", "c").find("written in its place within 'c'"), std::string::npos) << c.reason("a", "c");
  c.check({{6, 9}, {9, 40}, {6, 5}});
}

TEST(ConcatInPlace, BeginningAndEndAroundWhatIsCopied) {
  Concat c(R"(
def forward(self, x: "f32[3, 6, 9]", w: "f32[3, 9, 4]", y: "f32[3, 2, 4]", z: "f32[3, 1, 4]", v: "f32[3, 6, 4, 70]"):
    a = torch.ops.aten.bmm.default(x, w)
    t = torch.ops.aten.permute.default(y, [0, 2, 1])
    b = torch.ops.aten.bmm.default(y, t)
    s = torch.ops.aten.sum.dim_IntList(v, [-1])
    c = torch.ops.aten.cat.default([a, y, z, s], 1)
    return (c, b))");
  EXPECT_EQ(c.buffers("a"), 0u);
  EXPECT_EQ(c.buffers("s"), 0u);
  c.check({{3, 6, 9}, {3, 9, 4}, {3, 2, 4}, {3, 1, 4}, {3, 6, 4, 70}});
}

TEST(ConcatInPlace, TransposedConvolutionsIntoChannels) {
  for (const char* format : {"", ", memory_format=torch.channels_last"}) {
    const std::string text = R"(
def forward(self, x: "f32[2, 8, 5, 6]", w: "f32[8, 4, 2, 2]", b: "f32[4]", y: "f32[2, 4, 10, 12]", v: "f32[3, 8, 3, 3]"):
    u = torch.ops.aten.clone.default(y)" +
                             std::string(format) +
                             R"()
    t = torch.ops.aten.convolution.default(x, w, b, [2, 2], [0, 0], [1, 1], True, [0, 0], 1)
    r = torch.ops.aten.relu.default(t)
    c = torch.ops.aten.cat.default([r, u], 1)
    o = torch.ops.aten.convolution.default(c, v, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return (o,))";
    Concat c(text.c_str());
    EXPECT_EQ(c.buffers("r"), 0u);
    c.check({{2, 8, 5, 6}, {8, 4, 2, 2}, {4}, {2, 4, 10, 12}, {3, 8, 3, 3}});
  }
}

TEST(ConcatInPlace, SizesThatVary) {
  Concat c(R"(
def forward(self, x: "f32[s0, 9]", y: "f32[s1, 4]", w: "f32[9, 4]", v: "f32[s1, 4, 50]"):
    t = torch.ops.aten.permute.default(y, [1, 0])
    a = torch.ops.aten.mm.default(y, t)
    m = torch.ops.aten.mm.default(x, w)
    s = torch.ops.aten.sum.dim_IntList(v, [-1])
    c = torch.ops.aten.cat.default([y, s, m], 0)
    return (c, a))");
  EXPECT_EQ(c.buffers("m"), 0u);
  EXPECT_EQ(c.buffers("s"), 0u);
  for (int64_t n : {3, 2, 7}) c.check({{n, 9}, {5 + n, 4}, {9, 4}, {5 + n, 4, 50}});
}

/// Read by somebody else, an output, of another type, or without anything left to copy: a buffer of its own.
TEST(ConcatInPlace, WhatKeepsItsOwnBuffer) {
  Concat read(R"(
def forward(self, x: "f32[6, 9]", w: "f32[9, 4]"):
    a = torch.ops.aten.mm.default(x, w)
    c = torch.ops.aten.cat.default([a, a], 1)
    return (c,))");
  EXPECT_EQ(read.buffers("a"), 1u);
  read.check({{6, 9}, {9, 4}});
  Concat output(R"(
def forward(self, x: "f32[6, 9]", w: "f32[9, 4]"):
    a = torch.ops.aten.mm.default(x, w)
    c = torch.ops.aten.cat.default([a, x], 1)
    return (c, a))");
  EXPECT_EQ(output.buffers("a"), 1u);
  output.check({{6, 9}, {9, 4}});
  Concat type(R"(
def forward(self, x: "f32[6, 9]", w: "f32[9, 4]", y: "f64[6, 2]"):
    a = torch.ops.aten.mm.default(x, w)
    c = torch.ops.aten.cat.default([a, y], 1)
    return (c,))");
  EXPECT_EQ(type.buffers("a"), 1u);
  Concat all(R"(
def forward(self, x: "f32[6, 9]", w: "f32[9, 4]"):
    a = torch.ops.aten.mm.default(x, w)
    p = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.mm.default(p, w)
    c = torch.ops.aten.cat.default([a, b], 1)
    return (c,))");
  EXPECT_EQ(all.buffers("a") + all.buffers("b"), 1u);
  all.check({{6, 9}, {9, 4}});
}

}  // namespace
}  // namespace strata
