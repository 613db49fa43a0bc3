// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels whose last pass over a line goes along with the next line's: softmax and norms that no cache holds.

#include <gtest/gtest.h>

#include "codegen/loop_plan.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

/// A machine with so small a cache that every result is written past it.
Target small(Target target) {
  target.cache_bytes = 1;
  return target;
}

bool is_late(const LoopCase& c, const Target& target = small(host_target())) {
  return codegen::plan_kernel(c.kernel, target).late;
}

/// y[i, r] = exp(x[i, r] - largest of the line), divided by their sum; line i begins at element start + i * (columns +
/// gap).
void softmax(LoopCase& c, std::initializer_list<SymInt> rows, SymInt columns, DType dtype = DType::F32,
             int64_t start = 0, int64_t gap = 0) {
  SymInt count = 1, i = 0;
  for (const SymInt& n : rows) count = count * n;
  const BufferId x = c.input("x", dtype, count * columns);
  const BufferId y = c.output("y", dtype, count * (columns + gap) + start);
  for (const SymInt& n : rows) i = i * n + c.outer(n);
  const AxisId r = c.inner(columns);
  Body& b = c.body;
  const auto element = [&] { return b.cast(b.load(x, i * columns + b.axis_index(r)), DType::F32); };
  const size_t first = b.begin_nest({r});
  b.reduce({Combine::Max, element(), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  const ScalarId largest = b.reduced(first, 0);
  const auto exponential = [&] { return b.unary(ScalarOp::Exp, b.binary(ScalarOp::Sub, element(), largest)); };
  const size_t second = b.begin_nest({r});
  b.reduce({Combine::Sum, exponential(), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  const ScalarId sum = b.reduced(second, 0);
  b.begin_nest({r});
  b.store(
      {y, i * (columns + gap) + b.axis_index(r) + start, b.cast(b.binary(ScalarOp::Div, exponential(), sum), dtype)});
}

// Whole vectors go past the caches where a line begins at a multiple of their size: all lines, none, or every second
// one.
TEST(LoopLate, LinesThatBeginAnywhere) {
  for (const Target& target : targets())
    for (const DType dtype : {DType::F32, DType::BF16})
      for (const int64_t start : {0, 1, 8, 16})
        for (const int64_t gap : {0, 8, 16}) {
          LoopCase c("softmax");
          softmax(c, {5}, 512, dtype, start, gap);
          EXPECT_TRUE(is_late(c));
          check(c, Check::Jit, small(target));
        }
}

TEST(LoopLate, SoftmaxOfAnySize) {
  for (const Target& target : targets())
    for (const int64_t rows : {1, 2, 3, 40})
      for (const int64_t columns : {16, 17, 64, 100, 700}) {
        LoopCase c("softmax");
        softmax(c, {rows}, columns);
        EXPECT_TRUE(is_late(c) || columns < 64) << rows << " rows of " << columns;
        c.threads = rows == 40 ? 2 : 1;
        check(c, Check::Jit, small(target));
      }
}

TEST(LoopLate, SoftmaxOfTwoOuterAxesAndSymbolicSizes) {
  for (const int64_t inner : {1, 5}) {
    LoopCase c("softmax");
    softmax(c, {3, c.size("s0", inner)}, c.size("s1", 133));
    EXPECT_TRUE(is_late(c, small(host_target())));
    check(c, Check::Jit, small(host_target()));
  }
}

TEST(LoopLate, SoftmaxOfSixteenBits) {
  LoopCase c("softmax");
  c.tolerance = 1e-2;
  softmax(c, {9}, 200, DType::BF16);
  EXPECT_TRUE(is_late(c));
  check(c, Check::Jit, small(host_target()));
}

/// What is divided by may be NaN, infinite or very large: lines of infinities, and sums of numbers that are no shares.
TEST(LoopLate, SoftmaxOfInfinitiesAndNaN) {
  LoopCase c("softmax");
  softmax(c, {6}, 48);
  c.fill = [](BufferId buffer, Bytes& bytes) {
    if (buffer != 0) return false;
    auto* x = reinterpret_cast<float*>(bytes.data());
    for (int64_t k = 0; k < 6 * 48; ++k) x[k] = static_cast<float>(k % 7) - 3;
    x[3] = INFINITY;
    for (int64_t k = 48; k < 96; ++k) x[k] = -INFINITY;
    x[2 * 48 + 47] = NAN;
    x[3 * 48] = -INFINITY;
    x[4 * 48 + 5] = 3e38F;
    return true;
  };
  check(c, Check::Jit, small(host_target()));
}

/// exp(x) over the sum of them, without the largest taken off: sums are small, large or infinite.
TEST(LoopLate, SharesOfSumsOfAnySize) {
  LoopCase c("shares");
  constexpr int64_t rows = 8, columns = 40;
  const BufferId x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows * columns);
  const SymInt i = c.outer(rows);
  const AxisId r = c.inner(columns);
  Body& b = c.body;
  const auto exponential = [&] { return b.unary(ScalarOp::Exp, b.load(x, i * columns + b.axis_index(r))); };
  const size_t nest = b.begin_nest({r});
  b.reduce({Combine::Sum, exponential(), kNone, kNone, DType::F32, 0});
  b.begin_nest({r});
  b.store({y, i * columns + b.axis_index(r), b.binary(ScalarOp::Div, exponential(), b.reduced(nest, 0))});
  c.fill = [](BufferId buffer, Bytes& bytes) {
    if (buffer != 0) return false;
    auto* values = reinterpret_cast<float*>(bytes.data());
    constexpr float kAround[rows] = {0, -60, -85, -110, 40, 80, 95, -4};
    for (int64_t k = 0; k < rows * columns; ++k) values[k] = kAround[k / columns] + static_cast<float>(k % 5) / 2;
    return true;
  };
  EXPECT_TRUE(is_late(c));
  check(c, Check::Jit, small(host_target()));
}

/// y = (x - mean) * w, and the mean of each line.
TEST(LoopLate, NormsWithAResultOfEachLine) {
  for (const Target& target : targets())
    for (const int64_t columns : {33, 256}) {
      LoopCase c("norm");
      constexpr int64_t rows = 7;
      const BufferId x = c.input("x", DType::F32, rows * columns), w = c.input("w", DType::F32, columns);
      const BufferId y = c.output("y", DType::F32, rows * columns), m = c.output("m", DType::F32, rows);
      const SymInt i = c.outer(rows);
      const AxisId r = c.inner(columns);
      Body& b = c.body;
      const auto element = [&] { return b.load(x, i * columns + b.axis_index(r)); };
      const size_t nest = b.begin_nest({r});
      b.reduce({Combine::Sum, element(), kNone, kNone, DType::F32, 0});
      b.begin_nest({});
      const ScalarId mean =
          b.binary(ScalarOp::Mul, b.reduced(nest, 0), b.constant(1.0 / static_cast<double>(columns), DType::F32));
      b.store({m, i, mean});
      b.begin_nest({r});
      const ScalarId centred = b.binary(ScalarOp::Sub, element(), mean);
      b.store({y, i * columns + b.axis_index(r), b.binary(ScalarOp::Mul, centred, b.load(w, b.axis_index(r)))});
      EXPECT_TRUE(is_late(c));
      check(c, Check::Jit, small(target));
    }
}

/// The last pass stores what another nest computed, and nothing of its own.
TEST(LoopLate, ResultsOfALineForEachElementOfIt) {
  LoopCase c("spread");
  constexpr int64_t rows = 6, columns = 80;
  const BufferId x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows * columns);
  const SymInt i = c.outer(rows);
  const AxisId r = c.inner(columns);
  Body& b = c.body;
  const size_t nest = b.begin_nest({r});
  b.reduce({Combine::Sum, b.load(x, i * columns + b.axis_index(r)), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  const ScalarId sum = b.unary(ScalarOp::Neg, b.reduced(nest, 0));
  b.begin_nest({r});
  b.store({y, i * columns + b.axis_index(r), sum});
  EXPECT_TRUE(is_late(c));
  check(c, Check::Jit, small(host_target()));
}

/// Exponentials put into scratch by the first pass, which the next point's would write over before the last has read
/// them.
TEST(LoopLate, NotWhereScratchWouldBeOverwritten) {
  LoopCase c("overwritten");
  constexpr int64_t rows = 5, columns = 64;
  const BufferId x = c.input("x", DType::F32, rows * columns), z = c.input("z", DType::F32, rows * columns);
  const BufferId y = c.output("y", DType::F32, rows * columns);
  const SymInt i = c.outer(rows);
  const AxisId r = c.inner(columns);
  Body& b = c.body;
  const auto at = [&] { return i * columns + b.axis_index(r); };
  const auto exponential = [&] { return b.unary(ScalarOp::Exp, b.load(x, at())); };
  const size_t first = b.begin_nest({r});
  b.reduce({Combine::Sum, exponential(), kNone, kNone, DType::F32, 0});
  const size_t second = b.begin_nest({r});
  b.reduce({Combine::Max, b.load(z, at()), kNone, kNone, DType::F32, 0});
  b.begin_nest({r});
  const ScalarId share = b.binary(ScalarOp::Div, exponential(), b.reduced(first, 0));
  b.store({y, at(), b.binary(ScalarOp::Add, share, b.reduced(second, 0))});
  EXPECT_FALSE(is_late(c));
  check(c, Check::Jit, small(host_target()));
}

/// Where caches hold the results there is nothing to gain.
TEST(LoopLate, OnlyPastTheCaches) {
  LoopCase c("softmax");
  softmax(c, {40}, 64);
  EXPECT_TRUE(is_late(c));
  Target usual = small(host_target());
  usual.cache_bytes = 1 << 20;
  EXPECT_FALSE(is_late(c, usual));
}

}  // namespace
}  // namespace strata::testing
