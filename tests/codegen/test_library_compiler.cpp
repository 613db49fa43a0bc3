// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Plans of library calls through the kernel compiler and the executor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "codegen/compiler.h"
#include "core/ir/op.h"
#include "core/runtime/plan.h"
#include "core/support/error.h"

namespace strata {
namespace {

using Kind = PlanBuffer::Kind;
using testing::HasSubstr;

Tensor random_tensor(std::vector<int64_t> shape) {
  static std::mt19937 random(3);
  Tensor t = Tensor::empty(DType::F32, std::move(shape));
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, normal(random));
  return t;
}

struct Plans {
  std::shared_ptr<Plan> plan = std::make_shared<Plan>();

  Plans() { plan->env = std::make_shared<ShapeEnv>(); }

  int buffer(Kind kind, const std::vector<SymInt>& shape, int first = 0, int last = 0) {
    PlanBuffer b;
    b.kind = kind;
    b.name = "b" + std::to_string(plan->buffers.size());
    b.shape = shape;
    b.strides = contiguous_strides(b.shape);
    b.numel = Type::of(DType::F32, b.shape).tensor.numel();
    b.first_launch = first;
    b.last_launch = last;
    if (kind == Kind::Constant) {
      std::vector<int64_t> sizes;
      for (const SymInt& s : shape) sizes.push_back(s.value());
      b.constant = random_tensor(sizes);
    }
    if (kind == Kind::Input) {
      b.input = static_cast<int>(plan->inputs.size());
      plan->inputs.push_back(Type::of(DType::F32, shape));
    }
    if (kind == Kind::Output)
      plan->outputs.push_back({static_cast<int>(plan->buffers.size()), DType::F32, b.shape, b.strides, 0, 0});
    plan->buffers.push_back(std::move(b));
    return static_cast<int>(plan->buffers.size()) - 1;
  }

  void launch(LibraryCall call, const std::vector<int>& operands, int result) {
    Launch l;
    l.name = call.name = call.kind + std::to_string(plan->launches.size());
    const auto operand = [&](int index) {
      const PlanBuffer& b = plan->buffers[index];
      LibraryOperand o;
      o.buffer = static_cast<int>(l.buffers.size());
      o.shape = b.shape;
      o.strides = b.strides;
      o.constant = b.kind == Kind::Constant;
      l.buffers.push_back(index);
      return o;
    };
    for (int b : operands) call.operands.push_back(operand(b));
    call.result = operand(result);
    l.work = std::move(call);
    plan->launches.push_back(std::move(l));
  }
};

LibraryCall conv(std::vector<PostOp> post) {
  LibraryCall c;
  c.kind = "convolution";
  c.stride = c.padding = c.dilation = {1, 1};
  c.post_ops = std::move(post);
  return c;
}

/// 3x3, padding 1, [n, c, h, w] and [c, c, 3, 3], naive.
std::vector<double> convolve(const std::vector<double>& x, const std::vector<double>& w, int64_t n, int64_t c,
                             int64_t size) {
  std::vector<double> y(x.size());
  for (int64_t b = 0; b < n; ++b)
    for (int64_t o = 0; o < c; ++o)
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < c; ++k)
            for (int64_t p = 0; p < 9; ++p) {
              const int64_t r = i + p / 3 - 1, q = j + p % 3 - 1;
              if (r >= 0 && r < size && q >= 0 && q < size)
                sum += x[((b * c + k) * size + r) * size + q] * w[(o * c + k) * 9 + p];
            }
          y[((b * c + o) * size + i) * size + j] = sum;
        }
  return y;
}

void expect_near(const Tensor& found, const std::vector<double>& expected, double tolerance) {
  double scale = 0, worst = 0;
  for (double e : expected) scale = std::max(scale, std::abs(e));
  for (size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(found.at(static_cast<int64_t>(i)) - expected[i]));
  EXPECT_LE(worst, tolerance * scale);
}

/// x -> conv relu -> conv add(x) relu -> conv add(previous) -> out, with the batch size as a symbol if asked.
struct ResidualChain : Plans {
  int w[3], t0, t1;
  int64_t size;
  explicit ResidualChain(const SymInt& n = 2, int64_t height = 7) : size(height) {
    const std::vector<SymInt> shape{n, 16, size, size};
    const int x = buffer(Kind::Input, shape);
    for (int& i : w) i = buffer(Kind::Constant, {16, 16, 3, 3});
    t0 = buffer(Kind::Temporary, shape, 0, 1);
    t1 = buffer(Kind::Temporary, shape, 1, 2);
    launch(conv({{PostOp::Kind::Relu, 0, 0, -1, 0}}), {x, w[0]}, t0);
    launch(conv({{PostOp::Kind::Add, 0, 0, 2, 0}, {PostOp::Kind::Relu, 0, 0, -1, 0}}), {t0, w[1], x}, t1);
    launch(conv({{PostOp::Kind::Add, 0, 0, 2, 0}}), {t1, w[2], t0}, buffer(Kind::Output, shape, 2, 2));
  }

  std::vector<std::vector<double>> expected(const Tensor& input) const {
    const auto weight = [&](int i) { return plan->buffers[w[i]].constant.values(); };
    const int64_t n = input.shape[0];
    const std::vector<double> x = input.values();
    std::vector<double> a = convolve(x, weight(0), n, 16, size);
    for (double& v : a) v = std::max(v, 0.0);
    std::vector<double> b = convolve(a, weight(1), n, 16, size);
    for (size_t i = 0; i < b.size(); ++i) b[i] = std::max(b[i] + x[i], 0.0);
    std::vector<double> y = convolve(b, weight(2), n, 16, size);
    for (size_t i = 0; i < y.size(); ++i) y[i] += a[i];
    return {a, b, y};
  }
};

TEST(CpuCompiler, ChainsOfConvolutionsStayChannelsLast) {
  ResidualChain c;
  CompileOptions options;
  options.threads = 2;
  options.keep_artifacts = true;
  auto compiler = make_cpu_compiler();
  Executor e(c.plan, compiler->compile(*c.plan, options), 2);
  const Tensor x = random_tensor({2, 16, 7, 7});
  const auto expected = c.expected(x);
  expect_near(e.run({x})[0], expected[2], 3e-6);
  ASSERT_EQ(compiler->artifacts(1).size(), 1u);
  EXPECT_EQ(compiler->artifacts(1)[0].kind, "library");
  const std::string text = compiler->artifacts(1)[0].text;
  EXPECT_THAT(text, HasSubstr("result f32[2, 16, 7, 7](784, 1, 112, 16)"));
  EXPECT_THAT(text, HasSubstr("input f32[2, 16, 7, 7](784, 1, 112, 16)"));
  EXPECT_THAT(text, HasSubstr("packed"));
  EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')),
            compiler->artifacts(1)[0].line_nodes.size());
}

TEST(CpuCompiler, ObserverSeesLogicalValuesOfMovedBuffers) {
  ResidualChain c;
  Executor e(c.plan, make_cpu_compiler()->compile(*c.plan, {}), 2);
  const Tensor x = random_tensor({2, 16, 7, 7});
  const auto expected = c.expected(x);
  size_t seen = 0;
  e.set_observer([&](size_t launch, int, const Tensor& value) {
    expect_near(value, expected[launch], 3e-6);
    ++seen;
  });
  e.run({x});
  EXPECT_EQ(seen, 3u);
}

TEST(CpuCompiler, DynamicBatchOfConvolutions) {
  Plans p;
  const SymInt n = p.plan->env->symbol({"s0", {0, 64}, {}, {}, ""});
  struct Dynamic : ResidualChain {
    explicit Dynamic(std::shared_ptr<ShapeEnv> env, const SymInt& n) : ResidualChain(n) { plan->env = std::move(env); }
  } c(p.plan->env, n);
  Executor e(c.plan, make_cpu_compiler()->compile(*c.plan, {}), 2);
  for (int64_t size : {1, 3, 0, 2, 1, 3}) {
    const Tensor x = random_tensor({size, 16, 7, 7});
    const Tensor y = e.run({x})[0];
    EXPECT_EQ(y.shape, x.shape);
    expect_near(y, c.expected(x)[2], 3e-6);
  }
}

TEST(CpuCompiler, NanInADynamicBatch) {
  Plans p;
  const SymInt n = p.plan->env->symbol({"s0", {0, 64}, {}, {}, ""});
  ResidualChain c(n);
  c.plan->env = p.plan->env;
  Executor e(c.plan, make_cpu_compiler()->compile(*c.plan, {}), 2);
  for (int64_t size : {2, 3, 3, 2, 1, 2}) {
    const Tensor x = random_tensor({size, 16, 7, 7});
    x.set((size - 1) * 16 * 49 + 3, size == 2 ? 1 : NAN);
    const std::vector<double> expected = c.expected(x)[2], found = e.run({x})[0].values();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << i;
  }
}

TEST(CpuCompiler, BuffersThatOthersReadKeepTheirLayout) {
  ResidualChain c;
  // The first temporary is also handed out: it must stay as planned.
  const PlanBuffer& b = c.plan->buffers[c.t0];
  c.plan->outputs.push_back({c.t0, DType::F32, b.shape, b.strides, 0, 0});
  c.plan->buffers[c.t0].last_launch = 3;
  Executor e(c.plan, make_cpu_compiler()->compile(*c.plan, {}), 2);
  const Tensor x = random_tensor({2, 16, 7, 7});
  const auto expected = c.expected(x);
  const std::vector<Tensor> r = e.run({x});
  expect_near(r[0], expected[2], 3e-6);
  expect_near(r[1], expected[0], 3e-6);
}

TEST(CpuCompiler, ResultInThePlaceOfAnOperand) {
  Plans p;
  const int x = p.buffer(Kind::Input, {9, 9}), w = p.buffer(Kind::Constant, {9, 9});
  const int t0 = p.buffer(Kind::Temporary, {9, 9}, 0, 1), t1 = p.buffer(Kind::Temporary, {9, 9}, 1, 2);
  p.plan->buffers[t1].reuse_of = t0;
  LibraryCall call;
  call.kind = "matmul";
  p.launch(call, {x, w}, t0);
  call.post_ops = {{PostOp::Kind::Add, 0, 0, 2, 0}};
  p.launch(call, {t0, w, t0}, t1);
  call.post_ops.clear();
  p.launch(call, {t1, w}, p.buffer(Kind::Output, {9, 9}, 2, 2));
  Executor e(p.plan, make_cpu_compiler()->compile(*p.plan, {}), 2);
  const Tensor in = random_tensor({9, 9});
  const auto times = [&](const std::vector<double>& a) {
    std::vector<double> r(81);
    for (int i = 0; i < 81; ++i)
      for (int k = 0; k < 9; ++k) r[i] += a[i / 9 * 9 + k] * p.plan->buffers[w].constant.at(k * 9 + i % 9);
    return r;
  };
  std::vector<double> a = times(in.values()), b = times(a);
  for (int i = 0; i < 81; ++i) b[i] += a[i];
  expect_near(e.run({in})[0], times(b), 3e-6);
  EXPECT_EQ(e.arena_offsets()[t0], e.arena_offsets()[t1]);
}

TEST(CpuCompiler, MutatedWeightsAreNotPacked) {
  Plans p;
  const int x = p.buffer(Kind::Input, {4, 4}), w = p.buffer(Kind::Constant, {4, 4});
  LibraryCall call;
  call.kind = "matmul";
  p.launch(call, {x, w}, p.buffer(Kind::Output, {4, 4}));
  p.plan->outputs.push_back(p.plan->outputs[0]);
  p.plan->mutations.push_back({0, {OutputSpec::Kind::BufferMutation, "w"}, w});
  Executor e(p.plan, make_cpu_compiler()->compile(*p.plan, {}), 2);
  const Tensor two =
      Tensor::of(DType::F32, {4, 4}, std::vector<double>{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2});
  const double first = p.plan->buffers[w].constant.at(5);
  EXPECT_FLOAT_EQ(e.run({two})[0].at(5), 2 * first);
  EXPECT_FLOAT_EQ(e.run({two})[0].at(5), 4 * first);
}

/// Weights whose packed copies are all that is read lose their memory; what needs one after all (a NaN among the
/// inputs, another number of threads) gets its elements back.
TEST(CpuCompiler, PackedWeightsAreReleased) {
  for (int threads : {2, 1}) {
    ResidualChain c(2, 3);  // of larger images small weights are kept, turned after Winograd
    std::weak_ptr<Storage> memory[3];
    for (int i = 0; i < 3; ++i) memory[i] = c.plan->buffers[c.w[i]].constant.storage;
    std::vector<Tensor> inputs(3);
    for (Tensor& x : inputs) x = random_tensor({2, 16, 3, 3});
    inputs[1].set(3, NAN);
    std::vector<std::vector<double>> expected;
    for (const Tensor& x : inputs) expected.push_back(c.expected(x)[2]);
    CompileOptions options;
    options.threads = 2;
    const auto compiler = make_cpu_compiler();
    auto kernels = compiler->compile(*c.plan, options);
    EXPECT_EQ(release_packed_constants(*c.plan, kernels, {memory[2].lock().get()}).size(), 2u);
    EXPECT_TRUE(memory[0].expired() && memory[1].expired() && !memory[2].expired());
    Executor e(c.plan, std::move(kernels), threads);
    for (size_t n = 0; n < inputs.size(); ++n) {
      const std::vector<double> found = e.run({inputs[n]})[0].values();
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(std::isnan(found[i]), std::isnan(expected[n][i])) << n << " " << i;
        if (std::isnan(found[i])) continue;
        ASSERT_NEAR(found[i], expected[n][i], 1e-3 * (1 + std::abs(expected[n][i])));
      }
    }
  }
}

/// With sizes that are not known the packed copy of the example's sizes is all that stays, until sizes come that read
/// another: one row, a NaN before what drops it.
TEST(CpuCompiler, PackedWeightsOfAllSizesAreReleased) {
  for (int64_t example : {40, 2}) {
    Plans p;
    const SymInt s = p.plan->env->symbol({"s0", {0, 1000}, {}, example, ""});
    const int x = p.buffer(Kind::Input, {s, 3, 96}), w = p.buffer(Kind::Constant, {96, 130});
    p.plan->buffers[w].strides = {1, 96};
    LibraryCall call;
    call.kind = "matmul";
    call.post_ops = {{PostOp::Kind::Relu}};
    p.launch(call, {x, w}, p.buffer(Kind::Output, {s, 3, 130}));
    const Tensor weight = p.plan->buffers[w].constant.clone();
    const std::weak_ptr<Storage> memory = p.plan->buffers[w].constant.storage;
    const auto compiler = make_cpu_compiler();
    auto kernels = compiler->compile(*p.plan, {});
    EXPECT_EQ(release_packed_constants(*p.plan, kernels, {}).size(), 1u);
    EXPECT_TRUE(memory.expired());
    Executor e(p.plan, std::move(kernels), 2);
    for (int64_t n : {40, 41, 80, 2, 0, 40, 1, 40}) {
      for (double first : {1.5, static_cast<double>(NAN)}) {
        const Tensor in = random_tensor({n, 3, 96});
        if (n > 0) in.set(0, first);
        const std::vector<double> found = e.run({in})[0].values();
        ASSERT_EQ(found.size(), static_cast<size_t>(n * 390));
        for (int64_t i = 0; i < n * 390; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < 96; ++k) sum += in.at(i / 130 * 96 + k) * weight.at(i % 130 * 96 + k);
          ASSERT_EQ(std::isnan(found[i]), std::isnan(sum)) << n << " " << i;
          if (std::isnan(sum)) continue;
          ASSERT_NEAR(found[i], std::max(0.0, sum), 3e-5) << n << " " << i;
        }
      }
    }
  }
}

/// A second copy of a weight that the first-level cache holds is not worth its memory.
TEST(CpuCompiler, LittleWeightsAreNotPacked) {
  for (int64_t width : {64, 96}) {
    Plans p;
    const int x = p.buffer(Kind::Input, {64, 96}), w = p.buffer(Kind::Constant, {96, width});
    LibraryCall call;
    call.kind = "matmul";
    p.launch(call, {x, w}, p.buffer(Kind::Output, {64, width}));
    const Tensor weight = p.plan->buffers[w].constant.clone();
    const auto compiler = make_cpu_compiler();
    auto kernels = compiler->compile(*p.plan, {});
    EXPECT_EQ(release_packed_constants(*p.plan, kernels, {}).size(), width == 64 ? 0u : 1u);
    Executor e(p.plan, std::move(kernels), 2);
    const Tensor in = random_tensor({64, 96});
    const std::vector<double> found = e.run({in})[0].values();
    for (int64_t i = 0; i < 64 * width; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < 96; ++k) sum += in.at(i / width * 96 + k) * weight.at(k * width + i % width);
      ASSERT_NEAR(found[static_cast<size_t>(i)], sum, 3e-5) << width << " " << i;
    }
  }
}

/// Weights that are results as well, or that something else reads, stay.
TEST(CpuCompiler, NeededWeightsAreNotReleased) {
  Plans p;
  const int x = p.buffer(Kind::Input, {96, 96}), w = p.buffer(Kind::Constant, {96, 96});
  const int v = p.buffer(Kind::Constant, {96, 96}), t = p.buffer(Kind::Temporary, {96, 96}, 0, 1);
  LibraryCall call;
  call.kind = "matmul";
  p.launch(call, {x, w}, t);
  p.launch(call, {v, v}, p.buffer(Kind::Output, {96, 96}, 1, 1));
  p.plan->outputs.push_back({w, DType::F32, p.plan->buffers[w].shape, p.plan->buffers[w].strides, 0, 0});
  const auto compiler = make_cpu_compiler();
  const auto kernels = compiler->compile(*p.plan, {});
  EXPECT_TRUE(release_packed_constants(*p.plan, kernels, {}).empty());
  EXPECT_NE(p.plan->buffers[w].constant.data(), nullptr);
}

TEST(CpuCompiler, DynamicMatmulUsesOnePackedWeight) {
  Plans p;
  const SymInt s = p.plan->env->symbol({"s0", {0, 1000}, {}, {}, ""});
  const int x = p.buffer(Kind::Input, {s, 3, 20}), w = p.buffer(Kind::Constant, {20, 11});
  LibraryCall call;
  call.kind = "matmul";
  p.launch(call, {x, w}, p.buffer(Kind::Output, {s, 3, 11}));
  Executor e(p.plan, make_cpu_compiler()->compile(*p.plan, {}), 2);
  for (int64_t n = 40; n >= 0; --n) {
    const Tensor in = random_tensor({n, 3, 20});
    std::vector<double> expected(static_cast<size_t>(n * 33));
    for (int64_t i = 0; i < n * 33; ++i)
      for (int64_t k = 0; k < 20; ++k)
        expected[i] += in.at(i / 11 * 20 + k) * p.plan->buffers[w].constant.at(k * 11 + i % 11);
    expect_near(e.run({in})[0], expected, 3e-6);
  }
}

TEST(CpuCompiler, OpaqueCallsRunTheInterpreter) {
  Plans p;
  const SymInt n = p.plan->env->symbol({"s0", {0, 64}, {}, {}, ""});
  auto graph = std::make_shared<Graph>(p.plan->env);
  Node* x = graph->placeholder("x", Type::of(DType::F32, {n, 3}));
  Node* y = graph->add(NodeKind::Call, "aten.relu.default", {x}, x->type);
  y->op = find_op(y->target);
  ASSERT_NE(y->op, nullptr);
  graph->output(Argument::list({y}));
  Launch l;
  l.name = "opaque_relu";
  l.work = OpaqueCall{"aten.relu.default", graph, {}};
  l.buffers = {p.buffer(Kind::Input, {n, 3}), p.buffer(Kind::Output, {n, 3})};
  p.plan->launches.push_back(std::move(l));
  Executor e(p.plan, make_cpu_compiler()->compile(*p.plan, {}), 1);
  for (int64_t size : {4, 0, 1}) {
    const Tensor in = random_tensor({size, 3});
    const Tensor out = e.run({in})[0];
    for (int64_t i = 0; i < in.numel(); ++i) EXPECT_EQ(out.at(i), std::max(0.0, in.at(i)));
  }
}

/// What calls tell each other about magnitudes must neither hide a NaN nor outlive a run.
TEST(CpuCompiler, NanGoesThroughChainsOfConvolutions) {
  ResidualChain c;
  Executor e(c.plan, make_cpu_compiler()->compile(*c.plan, {}), 2);
  for (int64_t at : {-1, 3, -1, 16 * 49 + 24, -1}) {
    const Tensor x = random_tensor({2, 16, 7, 7});
    if (at >= 0) x.set(at, NAN);
    const std::vector<double> expected = c.expected(x)[2], found = e.run({x})[0].values();
    size_t nans = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << at << " " << i;
      nans += std::isnan(expected[i]);
      if (std::isnan(expected[i])) continue;
      EXPECT_NEAR(found[i], expected[i], 1e-3 * (1 + std::abs(expected[i])));
    }
    EXPECT_EQ(nans > 0, at >= 0);
  }
}

/// 1 -> 1e20 -> 1e40, which is infinite, times 0: no operand holds anything but small finite numbers.
TEST(CpuCompiler, NanMadeInsideOfAChain) {
  for (double scale : {1.0, 1e20}) {
    Plans p;
    int before = p.buffer(Kind::Input, {4, 4});
    LibraryCall call;
    call.kind = "matmul";
    call.post_ops = {{PostOp::Kind::Relu, 0, 0, -1, 0}};
    for (int i = 0; i < 2; ++i) {
      const int w = p.buffer(Kind::Constant, {4, 4});
      for (int k = 0; k < 16; ++k) p.plan->buffers[w].constant.set(k, k % 5 == 0 ? scale : 0);
      const int after = p.buffer(Kind::Temporary, {4, 4}, i, i + 1);
      p.launch(call, {before, w}, after);
      before = after;
    }
    const int w = p.buffer(Kind::Constant, {4, 4});
    for (int k = 0; k < 16; ++k) p.plan->buffers[w].constant.set(k, 0);
    p.launch(call, {before, w}, p.buffer(Kind::Output, {4, 4}, 2, 2));
    Executor e(p.plan, make_cpu_compiler()->compile(*p.plan, {}), 2);
    const std::vector<double> found = e.run({Tensor::full(DType::F32, {4, 4}, 1)})[0].values();
    for (double f : found) EXPECT_EQ(std::isnan(f), scale > 1);
  }
}

TEST(CpuCompiler, UnknownBuffersAreOurBug) {
  ResidualChain c;
  c.plan->launches[1].buffers[0] = 77;
  EXPECT_THROW(make_cpu_compiler()->compile(*c.plan, {}), Error);
  ResidualChain d;
  std::get<LibraryCall>(d.plan->launches[1].work).operands[0].buffer = 9;
  EXPECT_THROW(make_cpu_compiler()->compile(*d.plan, {}), Error);
}

}  // namespace
}  // namespace strata
