// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The sum of e^(x - the largest x) in the pass that finds the largest, against two passes.

#include "codegen/loop_sum_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/loop_plan.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

constexpr float kInf = std::numeric_limits<float>::infinity(), kLeast = std::numeric_limits<float>::lowest();

/// largest[i] and sum[i] of 3 times row i of x in two nests, as softmax's rules make them.
struct Lines {
  LoopCase c{"lines"};
  SymInt i, length;
  BufferId x, largest, sum;
  AxisId last = 0;

  bool is_sine = false;            ///< of 3 sin(x) instead: the first pass keeps the sines
  bool spares_infinities = false;  ///< nothing is subtracted where the largest is infinite (logsumexp)

  Lines(int64_t points, int64_t elements, bool symbolic = false, bool spares = false, bool sines = false)
      : length(symbolic ? c.size("n", elements, 1) : SymInt(elements)), is_sine(sines), spares_infinities(spares) {
    x = c.input("x", DType::F32, points * length);
    largest = c.output("largest", DType::F32, points);
    sum = c.output("sum", DType::F32, points);
    i = c.outer(points);
    Body& b = c.body;
    b.begin_nest({line()});
    b.reduce({Combine::Max, element(), kNone, kNone, DType::F32, 0});
    b.begin_nest({});
    b.reduced(0, 0);
    b.begin_nest({line()});
    b.reduce({Combine::Sum, b.unary(ScalarOp::Exp, difference()), kNone, kNone, DType::F32, 0});
    b.begin_nest({});
    b.store({largest, i, b.reduced(0, 0)});
    b.store({sum, i, b.reduced(2, 0)});
    c.tolerance = 2e-6;
  }

  /// What passes over one axis have in common may be kept.
  AxisId line() {
    if (!is_sine || c.kernel.nests.empty()) last = c.inner(length);
    return last;
  }
  ScalarId element() {
    Body& b = c.body;
    const ScalarId v = b.load(x, i * length + b.axis_index(last));
    return b.binary(ScalarOp::Mul, is_sine ? b.unary(ScalarOp::Sin, v) : v, b.constant(3, DType::F32));
  }
  ScalarId difference() {
    Body& b = c.body;
    const ScalarId x = element(), m = b.reduced(0, 0);
    if (!spares_infinities) return b.binary(ScalarOp::Sub, x, m);
    return b.binary(ScalarOp::Sub, x, b.select(b.unary(ScalarOp::IsInf, m), b.constant(0, DType::F32), m));
  }

  /// y[i] is e^(x - the largest) over the sum.
  void divide() {
    Body& b = c.body;
    const SymInt all = c.kernel.buffers[x].numel;
    const BufferId y = c.output("y", DType::F32, all);
    b.begin_nest({line()});
    const ScalarId e = b.unary(ScalarOp::Exp, difference());
    b.store({y, i * length + b.axis_index(last), b.binary(ScalarOp::Div, e, b.reduced(2, 0))});
  }
  /// Only `divide` is stored.
  void keep_to_themselves() {
    c.kernel.nests[3].stores.clear();
    c.kernel.buffers[largest].role = c.kernel.buffers[sum].role = BufferRole::Input;
  }
  codegen::KernelPlan plan() const {
    Target target;
    target.avx512 = true;
    target.vector_bits = 512;
    return codegen::plan_kernel(c.kernel, target);
  }

  void fill_with(const std::function<float(size_t)>& value) {
    c.fill = [value](BufferId buffer, Bytes& bytes) {
      for (size_t at = 0; buffer == 0 && at * sizeof(float) < bytes.size(); ++at) {
        const float v = value(at);
        std::memcpy(bytes.data() + at * sizeof(float), &v, sizeof(float));
      }
      return buffer == 0;
    };
  }

  /// Passes over a line that the compiled kernel makes.
  int64_t passes() const {
    const codegen::KernelPlan planned = plan();
    return std::count_if(planned.kernel.nests.begin(), planned.kernel.nests.end(),
                         [](const Nest& nest) { return !nest.axes.empty(); });
  }
};

TEST(LoopSumExp, LinesOfAnyLength) {
  for (const bool symbolic : {false, true})
    for (const int64_t n : {128, 135, 513, 1000, 1024, 4097, 50257}) {
      Lines lines(3, n, symbolic);
      EXPECT_EQ(lines.passes(), 1) << n;
      for (const Target& target : targets()) check(lines.c, Check::Jit, target);
    }
}

TEST(LoopSumExp, NumbersThatGrowAndShrink) {
  for (const float step : {-1.0F, -0.01F, 0.001F, 0.01F, 1.0F, 20.0F, 1e30F}) {
    Lines lines(2, 1500);
    lines.fill_with([&](size_t at) { return step * (static_cast<float>(at) - 700); });
    check(lines.c);
  }
}

// Equal numbers are where adding one after the other loses most.
TEST(LoopSumExp, LongSumsStayPrecise) {
  Lines lines(1, 1 << 20);
  lines.fill_with([](size_t at) { return at == 77 ? 0.7F : 0.0F; });
  lines.c.tolerance = 5e-7;
  for (const Target& target : targets()) check(lines.c, Check::Jit, target);
}

TEST(LoopSumExp, InfinitiesAndNan) {
  const std::function<float(size_t)> fills[] = {
      [](size_t) { return -kInf; },
      [](size_t) { return kLeast / 3; },
      [](size_t at) { return at % 700 == 699 ? 1.5F : -kInf; },
      [](size_t at) { return at % 700 == 0 ? 1.5F : -kInf; },
      [](size_t at) { return at % 700 == 3 ? kLeast / 3 : -kInf; },
      [](size_t at) { return at % 700 == 350 ? kInf : 1; },
      [](size_t at) { return at % 700 > 350 ? kInf : -kInf; },
      [](size_t at) { return at % 700 == 350 ? NAN : 1; },
      [](size_t at) { return at % 700 == 0 ? NAN : kInf; },
      [](size_t at) { return at % 700 == 699 ? NAN : -kInf; },
      // Products that are off by thousands once rounded: no element is larger than the largest.
      [](size_t at) { return at % 2 ? 100000024.0F * 1024 : static_cast<float>(at); },
      [](size_t at) { return -100000016.0F * 1024 * static_cast<float>(1 + at % 3); },
  };
  for (size_t k = 0; k < std::size(fills); ++k) {
    SCOPED_TRACE(k);
    Lines lines(2, 700), spared(2, 700, false, true);
    lines.fill_with(fills[k]);
    spared.fill_with(fills[k]);
    EXPECT_EQ(spared.passes(), 1);
    Lines softmax(2, 700);
    softmax.fill_with(fills[k]);
    softmax.divide();
    softmax.keep_to_themselves();
    EXPECT_EQ(softmax.plan().shares.size(), 1);
    for (const Target& target : targets()) {
      check(lines.c, Check::Jit, target);
      check(spared.c, Check::Jit, target);
      check(softmax.c, Check::Jit, target);
    }
  }
}

// What is subtracted is the largest of four vectors: where others are much larger, the line is gone through again.
TEST(LoopSumExp, GuessesThatAreFarOff) {
  EXPECT_FALSE([] {
    Lines softmax(2, 127);
    softmax.divide();
    softmax.keep_to_themselves();
    return softmax.plan().shares.at(0).guessed;
  }()) << "a short line";
  Lines sines(2, 700, false, false, true);
  sines.divide();
  sines.keep_to_themselves();
  EXPECT_FALSE(sines.plan().shares.at(0).guessed) << "the pass for the largest has something else to do";
  check(sines.c);
  for (const int64_t n : {512, 700})
    for (const int64_t at : {int64_t{3}, int64_t{100}, n - 1})
      for (const float larger : {3.0F, 6.0F, 11.0F, 1e30F, kInf}) {
        SCOPED_TRACE(::testing::Message() << n << " elements, " << larger << " at " << at);
        Lines softmax(2, n), sums(2, n);
        softmax.divide();
        softmax.keep_to_themselves();
        EXPECT_TRUE(softmax.plan().shares.at(0).guessed);
        for (Lines* lines : {&softmax, &sums}) {
          lines->fill_with(
              [&](size_t i) { return static_cast<int64_t>(i) % n == at ? larger : std::sin(static_cast<float>(i)); });
          for (const Target& target : targets()) check(lines->c, Check::Jit, target);
        }
      }
}

// A line with NaN is NaN, whatever the largest of its numbers is, but only where all is divided by the sum.
TEST(LoopSumExp, SharesAreOnlyDivided) {
  Lines softmax(3, 40);
  softmax.divide();
  EXPECT_TRUE(softmax.plan().shares.empty()) << "the largest is stored";
  softmax.keep_to_themselves();
  ASSERT_EQ(softmax.plan().shares.size(), 1);
  EXPECT_EQ(softmax.plan().shares[0].largest, 0);
  Lines spared(3, 40, false, true);
  spared.divide();
  spared.keep_to_themselves();
  EXPECT_TRUE(spared.plan().shares.empty()) << "infinities are not subtracted";
  for (const Target& target : targets()) check(softmax.c, Check::Jit, target);

  Lines others(3, 40);
  others.divide();
  others.keep_to_themselves();
  Body& b = others.c.body;
  const BufferId z = others.c.output("z", DType::F32, 120);
  const ScalarId e = b.unary(ScalarOp::Exp, others.difference());
  b.store({z, others.i * 40 + b.axis_index(others.last), b.binary(ScalarOp::Mul, e, b.constant(2, DType::F32))});
  EXPECT_TRUE(others.plan().shares.empty());
  check(others.c);
}

TEST(LoopSumExp, OnlyWhereNothingElseWantsTheExponentials) {
  EXPECT_EQ(Lines(3, 127).passes(), 2) << "lines too short to be worth it";
  Lines others(3, 1000);
  others.c.kernel.scalars[others.c.kernel.nests[2].body[1]].number = 2;  // not of the numbers whose largest is known
  EXPECT_EQ(others.passes(), 2);

  Lines softmax(3, 1000);
  softmax.divide();
  EXPECT_EQ(softmax.passes(), 3);
  check(softmax.c);

  Lines logarithms(3, 1000);  // wants the largest and the sum, but no exponential
  const BufferId y = logarithms.c.output("y", DType::F32, 3000);
  Body& l = logarithms.c.body;
  l.begin_nest({logarithms.last = logarithms.c.inner(1000)});
  const ScalarId log = l.unary(ScalarOp::Log, l.reduced(2, 0));
  l.store(
      {y, logarithms.i * 1000 + l.axis_index(logarithms.last), l.binary(ScalarOp::Sub, logarithms.difference(), log)});
  EXPECT_EQ(logarithms.passes(), 2);
  check(logarithms.c);
}

// As loop IR says it, in every form that runs.
TEST(LoopSumExp, IsOneReduction) {
  for (const bool columns : {false, true})
    for (const DType dtype : {DType::F32, DType::F64}) {
      LoopCase c("one");
      const BufferId x = c.input("x", dtype, 7 * 900), y = c.output("y", dtype, 7), z = c.output("z", dtype, 7);
      const SymInt i = c.outer(7);
      const AxisId r = c.inner(900);
      Body& b = c.body;
      b.begin_nest({r});
      b.reduce({Combine::SumExp, b.load(x, columns ? b.axis_index(r) * 7 + i : i * 900 + b.axis_index(r)), kNone, kNone,
                dtype, 0});
      b.begin_nest({});
      b.store({y, i, b.reduced(0, 0, 0)});
      b.store({z, i, b.reduced(0, 0, 1)});
      check(c, Check::Both);
      ShapeEnv again;
      EXPECT_EQ(print_loop(parse_loop(again, print_loop(c.kernel))), print_loop(c.kernel));
    }
}

}  // namespace
}  // namespace strata::testing
