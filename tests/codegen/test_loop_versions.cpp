// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels with code of their own for the sizes of the example.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/loop_fingerprint.h"
#include "codegen/loop_versions.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// y[i, j] = exp(x[i, j]) / sum of the row's exponentials
void shares(LoopCase& c, SymInt rows, SymInt columns) {
  BufferId x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows * columns);
  SymInt i = c.outer(rows);
  Body& b = c.body;
  AxisId r0 = c.inner(columns), r1 = c.inner(columns);
  const auto exponent = [&](AxisId r) { return b.unary(ScalarOp::Exp, b.load(x, i * columns + b.axis_index(r))); };
  b.begin_nest({r0});
  b.reduce({Combine::Sum, exponent(r0), kNone, kNone, DType::F32, 0});
  b.begin_nest({r1});
  b.store({y, i * columns + b.axis_index(r1), b.binary(ScalarOp::Div, exponent(r1), b.reduced(0, 0))});
}

/// y[i, j] = x[table[j], i] with all three sizes symbolic
void taken(LoopCase& c, SymInt n, SymInt m, SymInt rows) {
  BufferId x = c.input("x", DType::F32, rows * n), table = c.input("table", DType::I64, m),
           y = c.output("y", DType::F32, n * m);
  SymInt i = c.outer(n), j = c.outer(m);
  Body& b = c.body;
  b.begin_nest({});
  const SymInt at = b.indirect(b.load(table, j), {0, kSymMax}, rows - 1);
  b.store({y, i * m + j, b.load(x, at * n + i)});
}

TEST(LoopVersions, AreForTheLengthsOfRowsAndNotForTheirNumber) {
  LoopCase c("shares");
  const SymInt rows = c.size("s0", 6), columns = c.size("s1", 40);
  shares(c, rows, columns);
  const auto version = codegen::version_for_hints(c.kernel);
  ASSERT_TRUE(version);
  const size_t s0 = c.kernel.symbols[0], s1 = c.kernel.symbols[1];
  EXPECT_THAT(version->sizes, ElementsAre(std::pair(s1, int64_t{40})));
  EXPECT_THAT(version->kernel.symbols, ElementsAre(s0));
  EXPECT_THAT(version->reason, HasSubstr("s1 = 40"));
  EXPECT_THAT(version->reason, ::testing::Not(HasSubstr("s0")));
  for (const Nest& nest : version->kernel.nests)
    for (const AxisId a : nest.axes) EXPECT_EQ(version->kernel.axes[a].extent, SymInt(40));
}

/// y[i] = sum of row i / (columns - less)
void means(LoopCase& c, SymInt rows, SymInt columns, int64_t less) {
  BufferId x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows);
  SymInt i = c.outer(rows);
  Body& b = c.body;
  AxisId r = c.inner(columns);
  b.begin_nest({r});
  b.reduce({Combine::Sum, b.load(x, i * columns + b.axis_index(r)), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  const ScalarId count = b.cast(b.index(columns - less), DType::F32);
  b.store({y, i, b.binary(ScalarOp::Div, b.reduced(0, 0), count)});
}

// A mean and an unbiased variance differ in nothing but a number that the version makes of a size.
TEST(LoopVersions, ShareNoCodeWhereNumbersMadeOfSizesDiffer) {
  LoopCase all("means"), fewer("means");
  means(all, 3, all.size("s0", 5), 0);
  means(fewer, 3, fewer.size("s0", 5), 1);
  const auto a = codegen::version_for_hints(all.kernel), b = codegen::version_for_hints(fewer.kernel);
  ASSERT_TRUE(a && b);
  EXPECT_NE(codegen::fingerprint(a->kernel), codegen::fingerprint(b->kernel));
}

TEST(LoopVersions, AreNotMadeWhereTheyWouldNotPay) {
  LoopCase batch("shares"), longest("shares"), flat("flat"), unknown("shares");
  shares(batch, batch.size("s0", 6), 40);
  EXPECT_FALSE(codegen::version_for_hints(batch.kernel));
  shares(longest, 3, longest.size("s0", 100'000));
  EXPECT_FALSE(codegen::version_for_hints(longest.kernel));
  const SymInt n = flat.size("s0", 50);
  const BufferId x = flat.input("x", DType::F32, n), y = flat.output("y", DType::F32, n);
  const SymInt i = flat.outer(n);
  flat.body.begin_nest({});
  flat.body.store({y, i, flat.body.unary(ScalarOp::Neg, flat.body.load(x, i))});
  EXPECT_FALSE(codegen::version_for_hints(flat.kernel));
  const SymInt u = unknown.size("u0", 9);
  unknown.env.info(unknown.kernel.symbols[0]).hint.reset();
  shares(unknown, 6, u);
  EXPECT_FALSE(codegen::version_for_hints(unknown.kernel));
}

/// The lengths of the example, shorter and longer ones, and other numbers of rows through the same code.
TEST(LoopVersions, EveryCallTakesTheOneThatFits) {
  for (const Target& target : targets()) {
    for (const auto& [rows, columns] :
         {std::pair<int64_t, int64_t>{6, 40}, {2, 40}, {6, 39}, {1, 1}, {7, 200}, {0, 40}}) {
      LoopCase c("shares");
      const SymInt s0 = c.size("s0", 6), s1 = c.size("s1", 40);
      shares(c, s0, s1);
      c.symbols[c.kernel.symbols[0]] = rows;
      c.symbols[c.kernel.symbols[1]] = columns;
      check(c, Check::Jit, target);
    }
  }
}

TEST(LoopVersions, OfIndirectReadsAndTransposes) {
  for (const int64_t m : {24, 25}) {
    LoopCase c("taken");
    const SymInt n = c.size("s0", 10), columns = c.size("s1", 24);
    const SymInt taken_rows = c.size("s2", 5);
    taken(c, n, columns, taken_rows);
    ASSERT_TRUE(codegen::version_for_hints(c.kernel));
    c.symbols[c.kernel.symbols[1]] = m;
    c.fill = [](BufferId b, Bytes& data) {
      for (size_t k = 0; b == 1 && k < data.size() / sizeof(int64_t); ++k) {
        const auto row = static_cast<int64_t>(k * 3 % 5);
        std::memcpy(&data[k * sizeof(row)], &row, sizeof(row));
      }
      return b == 1;
    };
    check(c);
  }
}

/// Both stand in the texts, and why.
TEST(LoopVersions, AreShown) {
  LoopCase c("shares");
  const SymInt rows = c.size("s0", 6), columns = c.size("s1", 40);
  shares(c, rows, columns);
  codegen::LoopJit jit;
  const Kernel* kernels[] = {&c.kernel};
  const auto compiled = jit.compile(kernels, {1, true, false, true});
  EXPECT_EQ(jit.statistics().versions, 1u);
  EXPECT_EQ(jit.statistics().distinct, 2u);
  EXPECT_THAT(jit.version(0), HasSubstr("s1 = 40"));
  for (const CodeArtifact& a : jit.artifacts(0)) {
    if (a.kind == "cpp") continue;  // of the kernel for all sizes
    EXPECT_THAT(a.text, HasSubstr("shares_s1_40")) << a.kind;
  }
}

}  // namespace
}  // namespace strata::testing
