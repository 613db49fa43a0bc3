// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Long sums keep float32's precision: of equal numbers, too, which is where adding one after the other loses most.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "codegen/compiler.h"
#include "core/ir/builder.h"
#include "core/runtime/plan.h"
#include "passes/schedule.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

/// y[i] is the sum of row (or, with `by_column`, column) i of x; reduced dimensions are `shape`.
struct Sums {
  LoopCase c{"sums"};
  int64_t points, elements = 1;
  bool by_column, odd_only;
  DType stored;

  Sums(int64_t points, const std::vector<int64_t>& shape, bool by_column = false, bool odd_only = false,
       bool symbolic = false, DType stored = DType::F32)
      : points(points), by_column(by_column), odd_only(odd_only), stored(stored) {
    for (int64_t n : shape) elements *= n;
    BufferId x = c.input("x", stored, points * elements), y = c.output("y", DType::F32, points);
    SymInt i = c.outer(points), place = 0;
    std::vector<AxisId> axes;
    for (int64_t n : shape) {
      const SymInt extent = symbolic ? c.size("s" + std::to_string(axes.size()), n) : SymInt(n);
      axes.push_back(c.inner(extent));
      place = place * extent + c.body.axis_index(axes.back());
    }
    Body& b = c.body;
    size_t nest = b.begin_nest(axes);
    ScalarId mask =
        odd_only ? b.binary(ScalarOp::Eq, b.binary(ScalarOp::And, b.index(place), b.integer(1)), b.integer(1)) : kNone;
    b.reduce(
        {Combine::Sum, b.load(x, by_column ? place * points + i : i * elements + place), kNone, mask, DType::F32, 0});
    b.begin_nest({});
    b.store({y, i, b.reduced(nest, 0)});
  }

  void expect_precise(const Target& target) {
    for (const bool equal : {true, false}) {
      std::vector<float> x(static_cast<size_t>(points * elements)), y(static_cast<size_t>(points), NAN);
      std::uniform_real_distribution<float> some(0, 1);
      for (float& v : x) v = equal ? 0.1F : some(random_engine());
      std::vector<uint16_t> halves(x.size());  // the upper ones: bfloat16
      for (size_t k = 0; stored == DType::BF16 && k < x.size(); ++k) {
        halves[k] = static_cast<uint16_t>(std::bit_cast<uint32_t>(x[k]) >> 16);
        x[k] = std::bit_cast<float>(uint32_t{halves[k]} << 16);
      }
      codegen::LoopJit jit(target);
      const Kernel* kernels[] = {&c.kernel};
      auto compiled = jit.compile(kernels);
      std::byte* from =
          stored == DType::BF16 ? reinterpret_cast<std::byte*>(halves.data()) : reinterpret_cast<std::byte*>(x.data());
      std::byte* places[] = {from, reinterpret_cast<std::byte*>(y.data())};
      compiled[0]->run({places, c.symbols, 2});
      for (int64_t p = 0; p < points; ++p) {
        double sum = 0;
        for (int64_t e = odd_only ? 1 : 0; e < elements; e += odd_only ? 2 : 1)
          sum += static_cast<double>(x[static_cast<size_t>(by_column ? e * points + p : p * elements + e)]);
        ASSERT_NEAR(y[static_cast<size_t>(p)], sum, 1e-6 * sum) << points << " times " << elements << ", " << equal;
      }
    }
  }
};

TEST(LoopSums, RowsOfAnyLength) {
  for (const Target& target : targets())
    for (int64_t n : {33, 500, 1024, 4099, 65536, 70001, 1000003}) Sums(2, {n}).expect_precise(target);
}

TEST(LoopSums, ManyRows) {
  for (const Target& target : targets()) Sums(40, {9001}).expect_precise(target);
}

TEST(LoopSums, Columns) {
  for (const Target& target : targets())
    for (int64_t n : {33, 500, 20011, 20012})
      for (int64_t points : {3, 17, 100, 300}) Sums(points, {n}, true).expect_precise(target);
}

/// float32 holds sums of so many numbers of 8 bits.
TEST(LoopSums, ColumnsOfSixteenBits) {
  for (const Target& target : targets())
    for (int64_t n : {1000, 20011, 100000}) Sums(100, {n}, true, false, false, DType::BF16).expect_precise(target);
}

TEST(LoopSums, SeveralDimensions) {
  for (const Target& target : targets()) {
    Sums(3, {100, 7, 16}, true).expect_precise(target);
    Sums(37, {70, 5, 5}, true).expect_precise(target);
    Sums(5, {3, 2000}).expect_precise(target);
    Sums(5, {2000, 3}, true).expect_precise(target);
  }
}

TEST(LoopSums, SizesThatAreNotKnown) {
  for (const Target& target : targets()) {
    Sums(3, {20000}, false, false, true).expect_precise(target);
    Sums(70, {3000}, true, false, true).expect_precise(target);
    Sums(9, {30, 80}, true, false, true).expect_precise(target);
  }
}

TEST(LoopSums, PartOfTheElements) {
  for (const Target& target : targets()) {
    Sums(3, {9001}, false, true).expect_precise(target);
    Sums(70, {3001}, true, true).expect_precise(target);
  }
}

/// What is in blocks keeps infinities and NaN.
TEST(LoopSums, InfinitiesAndNan) {
  for (const float odd : {INFINITY, -INFINITY, NAN}) {
    Sums s(3, {5000});
    std::vector<float> x(15000, 1.0F), y(3, 0.0F);
    x[4321] = odd;
    codegen::LoopJit jit(host_target());
    const Kernel* kernels[] = {&s.c.kernel};
    auto compiled = jit.compile(kernels);
    std::byte* places[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
    compiled[0]->run({places, s.c.symbols, 1});
    EXPECT_TRUE(std::isnan(odd) ? std::isnan(y[0]) : y[0] == odd);
    EXPECT_EQ(y[1], 5000.0F);
    EXPECT_EQ(y[2], 5000.0F);
  }
}

/// Running sums are all read, so that each is one more rounding if they are not wider than what is added.
TEST(LoopSums, RunningOnes) {
  for (const auto& [rows, columns, dim] : {std::tuple{4, 100000, 1}, {100000, 3, 0}, {40000, 40, 0}}) {
    Graph graph;
    TensorType type;
    type.dtype = DType::F32;
    type.shape = {rows, columns};
    type.strides = std::vector<SymInt>{columns, 1};
    type.device = "cpu";
    Node* x = graph.placeholder("x", Type::of(std::move(type)));
    Builder b(graph);
    graph.output(Argument::list({b.call("aten.cumsum.default", {x, dim})}));
    const Scheduled scheduled = schedule(graph, {});
    auto compiler = make_cpu_compiler();
    Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, {}), 2);
    const Tensor equal = Tensor::full(DType::F32, {rows, columns}, 0.1);
    const Tensor sums = executor.run({equal})[0];
    const double each = equal.at(0);
    const int64_t step = dim == 1 ? 1 : columns, length = dim == 1 ? columns : rows;
    for (int64_t i = 0; i < length; ++i) {
      const double expected = each * static_cast<double>(i + 1);
      ASSERT_NEAR(sums.at(i * step), expected, 1e-7 * expected) << i;
    }
  }
}

}  // namespace
}  // namespace strata::testing
