// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_layouts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "codegen/compiler.h"
#include "codegen/library_layout.h"
#include "core/ir/interpreter.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::graph_of;

Tensor random_tensor(const std::vector<SymInt>& shape, std::mt19937_64& engine) {
  std::vector<int64_t> sizes;
  for (const SymInt& s : shape) sizes.push_back(s.value());
  Tensor t = Tensor::empty(DType::F32, sizes);
  std::normal_distribution<double> values;
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, values(engine));
  return t;
}

/// A scheduled program whose outputs are wanted row by row, as PyTorch would have them.
struct Case {
  explicit Case(const char* text) : graph(graph_of(text)) {
    ScheduleOptions options;
    options.output_strides = output_strides(graph);
    scheduled = schedule(graph, options);
  }

  bool is_channels_last(std::string_view buffer) const {
    for (const PlanBuffer& b : scheduled.plan->buffers)
      if (b.name == buffer) return b.strides == channels_last_strides(b.shape);
    ADD_FAILURE() << "there is no buffer " << buffer;
    return false;
  }

  /// Runs it on random inputs and compares with the interpreter.
  void check_values() {
    std::mt19937_64 engine(7);
    std::vector<Tensor> inputs;
    for (const Node* p : graph.placeholders()) inputs.push_back(random_tensor(p->tensor().shape, engine));
    const auto expected = Interpreter(graph).run(inputs);
    const auto compiler = make_cpu_compiler();
    Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, {}), 2);
    const std::vector<Tensor> results = executor.run(inputs);
    ASSERT_EQ(results.size(), expected.size());
    for (size_t k = 0; k < results.size(); ++k) {
      const auto& wanted = std::get<Tensor>(expected[k].value);
      ASSERT_EQ(results[k].shape, wanted.shape);
      double largest = 1;
      for (int64_t i = 0; i < wanted.numel(); ++i) largest = std::max(largest, std::abs(wanted.at(i)));
      for (int64_t i = 0; i < wanted.numel(); ++i)
        ASSERT_NEAR(results[k].at(i), wanted.at(i), 1e-5 * largest) << k << ", " << i;
    }
  }

  Graph graph;
  Scheduled scheduled;
};

/// Convolutions and what is added to them, and nothing else: no loop asks for an order, so that the links of the chain
/// have their own. Of one image the residual has no stride along the batch.
TEST(ChannelLayouts, ChainsOfConvolutionsHaveTheirOwn) {
  for (const char* batch : {"1", "2"}) {
    const std::string text = fmt::format(R"(
def forward(self, x: "f32[{0}, 8, 9, 7]", w: "f32[16, 8, 3, 3]", v: "f32[16, 16, 1, 1]", u: "f32[16, 16, 1, 1]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    b = torch.ops.aten.convolution.default(a, v, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    s = torch.ops.aten.add.Tensor(b, a)
    r = torch.ops.aten.relu.default(s)
    y = torch.ops.aten.convolution.default(r, u, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    return (y,)
)",
                                         batch);
    Case c(text.c_str());
    const std::vector<LibraryCall> calls = library::lay_out_channels_last(*c.scheduled.plan);
    ASSERT_EQ(calls.size(), 3u);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(calls[i].result.strides, channels_last_strides(calls[i].result.shape)) << i << " of " << batch;
    EXPECT_EQ(calls[2].result.strides, contiguous_strides(calls[2].result.shape));
    c.check_values();
  }
}

/// Down, up again, and beside each other: what a U-Net is made of.
TEST(ChannelLayouts, FlowThroughPoolingUpsamplingAndConcatenation) {
  Case c(R"(
def forward(self, x: "f32[2, 3, 12, 8]", w: "f32[16, 3, 3, 3]", v: "f32[16, 16, 3, 3]", u: "f32[16, 32, 3, 3]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    r = torch.ops.aten.relu.default(a)
    p = torch.ops.aten.max_pool2d.default(r, [2, 2], [2, 2])
    b = torch.ops.aten.convolution.default(p, v, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    n = torch.ops.aten.upsample_nearest2d.default(b, [12, 8], None, None)
    k = torch.ops.aten.cat.default([r, n], 1)
    y = torch.ops.aten.convolution.default(k, u, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return (y,)
)");
  for (const char* name : {"r", "p", "b", "k"}) EXPECT_TRUE(c.is_channels_last(name)) << name;
  EXPECT_FALSE(c.is_channels_last("y"));
  c.check_values();
}

/// Squeeze and excitation: means of channels, and work by channel.
TEST(ChannelLayouts, FlowPastMeansOfChannels) {
  Case c(R"(
def forward(self, x: "f32[2, 4, 8, 8]", w: "f32[8, 4, 3, 3]", v: "f32[8, 8, 3, 3]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    m = torch.ops.aten.mean.dim(a, [2, 3], True)
    g = torch.ops.aten.sigmoid.default(m)
    s = torch.ops.aten.mul.Tensor(a, g)
    y = torch.ops.aten.convolution.default(s, v, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return (y,)
)");
  EXPECT_TRUE(c.is_channels_last("a"));
  EXPECT_TRUE(c.is_channels_last("s"));
  c.check_values();
}

/// A result that the caller wants row by row is not turned twice.
TEST(ChannelLayouts, OutputsAndWhatIsMadeOfInputsAloneStay) {
  Case c(R"(
def forward(self, x: "f32[2, 8, 6, 5]", w: "f32[8, 8, 3, 3]"):
    s = torch.ops.aten.sin.default(x)
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    y = torch.ops.aten.cat.default([a, s], 1)
    return (y, s)
)");
  for (const char* name : {"a", "y", "s"}) EXPECT_FALSE(c.is_channels_last(name)) << name;
  c.check_values();
}

/// What a product of another shape adds to its result lies as the product does: rows of [C, H * W].
TEST(ChannelLayouts, AnImageThatAProductLeavesBehindStays) {
  Case c(R"(
def forward(self, x: "f32[1, 8, 6, 4]", w: "f32[8, 8, 3, 3]", m: "f32[1, 8, 8]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    p = torch.ops.aten.permute.default(a, [0, 2, 3, 1])
    e = torch.ops.aten.amax.default(p, [3], True)
    n = torch.ops.aten.sub.Tensor(p, e)
    q = torch.ops.aten.permute.default(n, [0, 3, 1, 2])
    f = torch.ops.aten.view.default(q, [1, 8, 24])
    b = torch.ops.aten.bmm.default(m, f)
    v = torch.ops.aten.view.default(b, [1, 8, 6, 4])
    s = torch.ops.aten.add.Tensor(a, v)
    y = torch.ops.aten.convolution.default(s, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return (y,)
)");
  EXPECT_FALSE(c.is_channels_last("s"));
  c.check_values();
}

/// The same where the product's rows are not there in channels-last data, so that it could not add the image.
TEST(ChannelLayouts, AnImageThatAProductAddsKeepsItsRows) {
  Case c(R"(
def forward(self, x: "f32[2, 8, 6, 4]", w: "f32[8, 8, 3, 3]", m: "f32[192, 192]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    r = torch.ops.aten.relu.default(a)
    p = torch.ops.aten.max_pool2d.default(r, [3, 3], [1, 1], [1, 1])
    b = torch.ops.aten.convolution.default(p, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    z = torch.ops.aten.view.default(x, [2, 192])
    t = torch.ops.aten.mm.default(z, m)
    v = torch.ops.aten.view.default(t, [2, 8, 6, 4])
    s = torch.ops.aten.add.Tensor(b, v)
    y = torch.ops.aten.convolution.default(s, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return (y,)
)");
  c.check_values();
}

/// The rows of [N, C * H * W] cannot be found in channels-last data: the product would need a copy.
TEST(ChannelLayouts, AFlattenedImageStaysRowByRow) {
  Case c(R"(
def forward(self, x: "f32[2, 8, 6, 4]", w: "f32[8, 8, 3, 3]", m: "f32[48, 10]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    b = torch.ops.aten.convolution.default(a, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    p = torch.ops.aten.max_pool2d.default(b, [2, 2], [2, 2])
    f = torch.ops.aten.view.default(p, [2, 48])
    y = torch.ops.aten.mm.default(f, m)
    return (y,)
)");
  EXPECT_FALSE(c.is_channels_last("p"));
  c.check_values();
}

/// Tokens of an image: [N, C, H, W] to [N, H * W, C] is a change of name only where channels are last.
TEST(ChannelLayouts, TokensAreReadAsRows) {
  Case c(R"(
def forward(self, x: "f32[2, 3, 8, 8]", w: "f32[16, 3, 2, 2]", bias: "f32[16]"):
    a = torch.ops.aten.convolution.default(x, w, None, [2, 2], [0, 0], [1, 1], False, [0, 0], 1)
    f = torch.ops.aten.view.default(a, [2, 16, 16])
    t = torch.ops.aten.permute.default(f, [0, 2, 1])
    e = torch.ops.aten.add.Tensor(t, bias)
    s = torch.ops.aten.sum.dim_IntList(e, [2])
    y = torch.ops.aten.sin.default(e)
    return (y, s)
)");
  EXPECT_TRUE(c.is_channels_last("a"));
  c.check_values();
}

/// Halves of the channels: one goes on through a convolution, the other waits for it (cross stage partial networks).
TEST(ChannelLayouts, PartsOfTheChannelsLieAsTheWhole) {
  Case c(R"(
def forward(self, x: "f32[1, 8, 12, 8]", w: "f32[32, 8, 1, 1]", v: "f32[16, 16, 3, 3]", u: "f32[8, 32, 1, 1]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    s = torch.ops.aten.silu.default(a)
    p = torch.ops.aten.slice.Tensor(s, 1, 0, 16)
    q = torch.ops.aten.slice.Tensor(s, 1, 16, 32)
    b = torch.ops.aten.convolution.default(p, v, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    t = torch.ops.aten.add.Tensor(b, p)
    k = torch.ops.aten.cat.default([q, t], 1)
    y = torch.ops.aten.convolution.default(k, u, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    return (y,)
)");
  for (const char* name : {"s", "t", "k"}) EXPECT_TRUE(c.is_channels_last(name)) << name;
  c.check_values();
}

/// A norm of all channels, whose order is nothing to it, pools and convolutions.
TEST(ChannelLayouts, FlowPastNormsOfOneGroup) {
  Case c(R"(
def forward(self, x: "f32[2, 8, 12, 8]", w: "f32[16, 8, 1, 1]", v: "f32[16, 16, 1, 1]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    m = torch.ops.aten.mean.dim(a, [1, 2, 3], True)
    c = torch.ops.aten.sub.Tensor(a, m)
    s = torch.ops.aten.mul.Tensor(c, c)
    e = torch.ops.aten.mean.dim(s, [1, 2, 3], True)
    r = torch.ops.aten.rsqrt.default(e)
    n = torch.ops.aten.mul.Tensor(c, r)
    p = torch.ops.aten.avg_pool2d.default(n, [3, 3], [1, 1], [1, 1], False, False)
    d = torch.ops.aten.sub.Tensor(p, n)
    t = torch.ops.aten.add.Tensor(a, d)
    y = torch.ops.aten.convolution.default(t, v, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    return (y,)
)");
  for (const char* name : {"a", "t"}) EXPECT_TRUE(c.is_channels_last(name)) << name;
  c.check_values();
}

/// Groups of channels are rows of a view, and a norm goes through them twice.
TEST(ChannelLayouts, NormsOfGroupsKeepTheirRows) {
  Case c(R"(
def forward(self, x: "f32[2, 3, 8, 8]", w: "f32[16, 3, 3, 3]"):
    a = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    g = torch.ops.aten.view.default(a, [2, 4, 256])
    m = torch.ops.aten.mean.dim(g, [2], True)
    d = torch.ops.aten.sub.Tensor(g, m)
    y = torch.ops.aten.view.default(d, [2, 16, 8, 8])
    return (y,)
)");
  EXPECT_FALSE(c.is_channels_last("a"));
  c.check_values();
}

}  // namespace
}  // namespace strata
