// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of a body that take the steps of their functions in turn (loop_weave.cpp), with AVX2 and AVX-512.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "codegen/loop_plan.h"
#include "core/support/error.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

/// This machine and what it has of AVX2; none if it has not even that.
std::vector<Target> weaving() {
  std::vector<Target> found = targets();
  std::erase_if(found, [](const Target& target) { return !target.has("avx2"); });
  return found;
}

int copies(const Target& target) { return target.avx512 ? 2 : 4; }

/// Pieces of assembly through which steps of all copies go.
size_t steps(const LoopCase& c, const Target& target) { return occurrences(llvm_of(c, target), "asm \"\""); }

/// y[i, j] = op(x[i, j] + bias[j]) * x[i, j]
void activation(LoopCase& c, ScalarOp op, SymInt rows, SymInt columns) {
  BufferId x = c.input("x", DType::F32, rows * columns), bias = c.input("bias", DType::F32, columns);
  BufferId y = c.output("y", DType::F32, rows * columns);
  SymInt i = c.outer(rows), j = c.outer(columns);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId v = b.load(x, i * columns + j);
  b.store({y, i * columns + j, b.binary(ScalarOp::Mul, b.unary(op, b.binary(ScalarOp::Add, v, b.load(bias, j))), v)});
}

/// Rows of whole groups of copies, of vectors left over, of lanes left over; results through the caches and past them,
/// where only rows whose first vector is aligned may go.
TEST(LoopWeave, Activations) {
  for (const ScalarOp op : {ScalarOp::Exp, ScalarOp::Erf, ScalarOp::Tanh, ScalarOp::Sigmoid}) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1024}, {5, 96}, {3, 1000}, {3, 1001}, {7, 33}}) {
      for (const Target& usual : weaving()) {
        for (const Target& target : {usual, without_cache(usual)}) {
          LoopCase c("activation");
          activation(c, op, rows, columns);
          const codegen::KernelPlan plan = codegen::plan_kernel(c.kernel, target);
          EXPECT_TRUE(plan.woven) << to_string(op);
          if (columns != 33) {
            EXPECT_EQ(plan.unroll, copies(target)) << to_string(op) << " " << columns;
            EXPECT_GT(steps(c, target), 3U) << to_string(op) << " " << columns;
          }
          check(c, testing::Check::Jit, target);
        }
      }
    }
  }
}

TEST(LoopWeave, SizesThatAreNotKnown) {
  for (const Target& target : weaving()) {
    for (const int64_t columns : {1, 7, 64, 257}) {
      LoopCase c("activation");
      activation(c, ScalarOp::Erf, c.size("rows", 5), c.size("columns", columns));
      EXPECT_GT(steps(c, target), 3U);
      check(c, testing::Check::Jit, target);
    }
  }
}

TEST(LoopWeave, CopiesHaveTheirOwnSums) {
  for (const int64_t columns : {64, 200, 1000, 1029}) {
    LoopCase c("sum");
    constexpr int64_t rows = 5;
    BufferId x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows);
    SymInt i = c.outer(rows);
    AxisId r = c.inner(columns);
    Body& b = c.body;
    const size_t nest = b.begin_nest({r});
    const ScalarId v = b.load(x, i * columns + b.axis_index(r));
    b.reduce({Combine::Sum, b.unary(ScalarOp::Tanh, v), kNone, kNone, DType::F32, 0});
    b.begin_nest({});
    b.store({y, i, b.reduced(nest, 0)});
    c.tolerance = 1e-4;
    for (const Target& target : weaving()) {
      EXPECT_GT(steps(c, target), 3U) << columns;
      check(c, testing::Check::Jit, target);
    }
  }
}

/// What violates a check is kept in one place for all copies: whichever finds it, it is told.
TEST(LoopWeave, ChecksAreNotLost) {
  LoopCase c("divisors");
  constexpr int64_t n = 128;
  BufferId x = c.input("x", DType::F32, n), by = c.input("by", DType::I32, n), y = c.output("y", DType::F32, n);
  SymInt i = c.outer(n);
  Body& b = c.body;
  b.begin_nest({});
  const ScalarId divisor = b.load(by, i), holds = b.binary(ScalarOp::Ne, divisor, b.integer(0, DType::I32));
  loop::Check zero;
  zero.kind = loop::Check::Kind::Divisor;
  const ScalarId checked = b.check(divisor, holds, b.integer(1, DType::I32), zero);
  const ScalarId v = b.binary(ScalarOp::Mul, b.load(x, i), b.cast(checked, DType::F32));
  b.store({y, i, b.unary(ScalarOp::Exp, v)});
  for (const Target& target : weaving()) {
    const Kernel* kernels[] = {&c.kernel};
    const auto compiled = codegen::LoopJit(target).compile(kernels);
    std::vector<float> in(n, 0.5F), out(n, -1);
    for (int64_t at = -1; at < n; ++at) {
      std::vector<int32_t> divisors(n, 3);
      if (at >= 0) divisors[static_cast<size_t>(at)] = 0;
      std::byte* buffers[] = {reinterpret_cast<std::byte*>(in.data()), reinterpret_cast<std::byte*>(divisors.data()),
                              reinterpret_cast<std::byte*>(out.data())};
      const auto run = [&] { compiled[0]->run({buffers, c.symbols, 1}); };
      if (at < 0)
        EXPECT_NO_THROW(run());
      else
        EXPECT_THROW(run(), Error) << at;
      for (int64_t k = 0; k < n; ++k)
        ASSERT_NEAR(out[static_cast<size_t>(k)], std::exp(k == at ? 0.5 : 1.5), 1e-5) << k << " with " << at;
    }
  }
}

/// Sines branch where numbers are far, and copies with a branch go one after the other.
TEST(LoopWeave, NotAcrossBranches) {
  LoopCase c("branches");
  constexpr int64_t n = 1000;
  BufferId x = c.input("x", DType::F32, n), y = c.output("y", DType::F32, n);
  SymInt i = c.outer(n);
  Body& b = c.body;
  b.begin_nest({});
  const ScalarId v = b.load(x, i);
  b.store({y, i, b.binary(ScalarOp::Add, b.unary(ScalarOp::Exp, v), b.unary(ScalarOp::Sin, v))});
  for (const Target& target : weaving()) {
    EXPECT_EQ(steps(c, target), 0U);
    check(c, testing::Check::Jit, target);
  }
}

/// y[i] += exp(x[i]), and the same place from several i: in order.
TEST(LoopWeave, ResultsThatAreAddedTo) {
  for (const int64_t places : {1000, 8}) {
    LoopCase c("added");
    constexpr int64_t n = 1000;
    BufferId x = c.input("x", DType::F32, n), y = c.inout("y", DType::F32, places);
    SymInt i = c.outer(n);
    Body& b = c.body;
    b.begin_nest({});
    Store store{y, places == n ? i : mod(i, places), b.unary(ScalarOp::Exp, b.load(x, i))};
    store.accumulate = true;
    b.store(store);
    c.tolerance = 1e-4;
    for (const Target& target : weaving()) check(c, testing::Check::Jit, target);
  }
}

/// Other machines, and numbers of other types, have nothing to weave.
TEST(LoopWeave, OnlyWhereStepsWait) {
  for (const Target& target : targets()) {
    LoopCase c("activation"), plain("plain");
    activation(c, ScalarOp::Erf, 4, 1024);
    activation(plain, ScalarOp::Abs, 4, 1024);
    EXPECT_EQ(codegen::plan_kernel(c.kernel, target).woven, target.has("avx2"));
    EXPECT_FALSE(codegen::plan_kernel(plain.kernel, target).woven);
    EXPECT_EQ(steps(plain, target), 0U);
  }
}

}  // namespace
}  // namespace strata::testing
