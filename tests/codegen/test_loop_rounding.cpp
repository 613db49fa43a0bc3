// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What an optimiser may be tempted to do to floating-point programs, and must not.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "codegen/compiler.h"
#include "core/ir/builder.h"
#include "passes/decompose.h"
#include "passes/schedule.h"

namespace strata {
namespace {

std::vector<Tensor> compiled(const Graph& graph, const std::vector<Tensor>& inputs) {
  const PassResult decomposed = decompose(graph, {});
  const Scheduled scheduled = schedule(decomposed.rewrites.empty() ? graph : decomposed.graph, {});
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 1);
  return executor.run(inputs);
}

Tensor random_floats(const std::vector<int64_t>& shape, uint32_t seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  Tensor t = Tensor::empty(DType::F32, shape);
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, normal(rng));
  return t;
}

double converted_to(DType type, double value) {
  const Tensor t = Tensor::empty(type, {});
  t.set(0, value);
  return t.at(0);
}

/// What is compared with 16-bit numbers is rounded to these first, tensor or number, as PyTorch does it.
TEST(LoopRounding, ComparisonsWithNumbersOf16Bits) {
  for (const DType type : {DType::F16, DType::BF16}) {
    const double even = type == DType::F16 ? 2048 : 256;  // the next integer is no number of the type
    Graph graph;
    Builder b(graph);
    Node* x = graph.placeholder("x", Type::of(type, {3}));
    Node* y = graph.placeholder("y", Type::of(DType::I64, {3}));
    Node* less = b.call("aten.lt.Tensor", {x, y});
    Node* equal = b.call("aten.eq.Tensor", {y, x});
    Node* number = b.call("aten.ge.Scalar", {x, Argument(even + 1)});
    graph.output(Argument(ListArg{ListArg::Kind::Tuple, {less, equal, number}}));
    Tensor narrow = Tensor::empty(type, {3}), whole = Tensor::empty(DType::I64, {3});
    for (int64_t i = 0; i < 3; ++i) {
      narrow.set(i, i == 2 ? even - 2 : even);
      whole.set(i, i == 1 ? even + 4 : even + 1);
    }
    const std::vector<Tensor> results = compiled(graph, {narrow, whole});
    EXPECT_EQ(results.at(0).values(), (std::vector<double>{0, 1, 1})) << dtype_name(type);
    EXPECT_EQ(results.at(1).values(), (std::vector<double>{1, 0, 0})) << dtype_name(type);
    EXPECT_EQ(results.at(2).values(), (std::vector<double>{1, 1, 0})) << dtype_name(type);
  }
}

/// Numbers and tensors without dimensions are rounded too, but as the second operand of products and quotients: what
/// PyTorch 2.13 gives on the CPU.
TEST(LoopRounding, NumbersBesideNumbersOf16Bits) {
  for (const DType type : {DType::F16, DType::BF16}) {
    const double even = type == DType::F16 ? 2048 : 256;  // the next integer is no number of the type
    for (const DType other : {DType::I64, DType::F32, DType::F64}) {
      Graph graph;
      Builder b(graph);
      Node* x = graph.placeholder("x", Type::of(type, {2}));
      Node* y = graph.placeholder("y", Type::of(other, {}));
      const Argument number = even + 1;
      graph.output(Argument(ListArg{ListArg::Kind::Tuple,
                                    {b.call("aten.sub.Tensor", {x, y}), b.call("aten.sub.Tensor", {x, number}),
                                     b.call("aten.fmod.Tensor", {x, y}), b.call("aten.fmod.Scalar", {x, number}),
                                     b.call("aten.mul.Tensor", {x, y}), b.call("aten.mul.Tensor", {x, number}),
                                     b.call("aten.mul.Tensor", {y, x}), b.call("aten.div.Tensor", {x, y})}}));
      Tensor narrow = Tensor::empty(type, {2}), one = Tensor::empty(other, {});
      narrow.set(0, even);
      narrow.set(1, 3);
      one.set(0, even + 1);
      const std::vector<Tensor> results = compiled(graph, {narrow, one});
      const std::vector<std::vector<double>> expected = {{0, 3 - even},
                                                         {0, 3 - even},
                                                         {0, 3},
                                                         {0, 3},
                                                         {even * even, 3 * even + 4},
                                                         {even * even, 3 * even + 4},
                                                         {even * even, 3 * even},
                                                         {even / (even + 1), 3 / (even + 1)}};
      for (size_t i = 0; i < expected.size(); ++i)
        for (int64_t k = 0; k < 2; ++k) {
          const double want = converted_to(type, expected[i][static_cast<size_t>(k)]);
          EXPECT_EQ(results.at(i).at(k), want) << dtype_name(type) << ' ' << dtype_name(other) << ' ' << i << ' ' << k;
        }
    }
  }
}

/// LLVM 19 makes `x > 0` of `|x| is NaN, or |x| > 0`.
TEST(LoopRounding, ExtremaOfAbsoluteValues) {
  Graph graph;
  Builder b(graph);
  Node* x = graph.placeholder("x", Type::of(DType::F32, {101}));
  Node* a = b.call("aten.abs.default", {x});
  Node* least = b.call("aten.clamp.default", {b.call("aten.neg.default", {a}), Argument(), 0.0});
  graph.output(Argument::list({b.call("aten.relu.default", {a}), least}));
  Tensor in = random_floats({101}, 5);
  in.set(3, NAN);
  const std::vector<Tensor> out = compiled(graph, {in});
  for (int64_t i = 0; i < 101; ++i) {
    if (i == 3) {
      EXPECT_TRUE(std::isnan(out[0].at(i)) && std::isnan(out[1].at(i)));
      continue;
    }
    EXPECT_EQ(out[0].at(i), std::fabs(in.at(i)));
    EXPECT_EQ(out[1].at(i), -std::fabs(in.at(i)));
  }
}

/// LLVM 19 takes `|x| <= 0 ? 0 : x` for a number that is not negative, and drops what follows for negative ones.
TEST(LoopRounding, ChoicesByAbsoluteValues) {
  for (const DType dtype : {DType::F32, DType::F64}) {
    Graph graph;
    Builder b(graph);
    Node* x = graph.placeholder("x", Type::of(dtype, {101}));
    Node* shrunk = b.call("aten.hardshrink.default", {x, 0.0});
    graph.output(Argument::list({b.call("aten.elu.default", {shrunk}), b.call("aten.relu.default", {shrunk})}));
    const Tensor in = random_floats({101}, 8).to(dtype);
    const std::vector<Tensor> out = compiled(graph, {in});
    for (int64_t i = 0; i < 101; ++i) {
      const double v = in.at(i);
      EXPECT_NEAR(out[0].at(i), v < 0 ? std::expm1(v) : v, 1e-6) << v;
      EXPECT_EQ(out[1].at(i), v < 0 ? 0 : v);
    }
  }
}

/// A product that goes into a difference is rounded first: p - p is 0, not what rounding p has lost.
TEST(LoopRounding, ProductsAreRounded) {
  Graph graph;
  Builder b(graph);
  Node* x = graph.placeholder("x", Type::of(DType::F32, {64, 33}));
  Node* y = graph.placeholder("y", Type::of(DType::F32, {64, 33}));
  Node* p = graph.placeholder("p", Type::of(DType::F32, {64, 33}));
  graph.output(Argument::list({b.call("aten.sub.Tensor", {b.call("aten.mul.Tensor", {x, y}), p})}));
  const Tensor a = random_floats({64, 33}, 6), c = random_floats({64, 33}, 7);
  Tensor rounded = Tensor::empty(DType::F32, {64, 33});
  for (int64_t i = 0; i < rounded.numel(); ++i) {
    volatile const float product = static_cast<float>(a.at(i)) * static_cast<float>(c.at(i));
    rounded.set(i, product);
  }
  const Tensor out = compiled(graph, {a, c, rounded})[0];
  for (int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(out.at(i), 0.0) << i;
}

}  // namespace
}  // namespace strata
