// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Axes whose index is taken apart by a number: merged heads, flattened images, windows.

#include "codegen/loop_digits.h"

#include <gtest/gtest.h>

#include "codegen/loop_plan.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

/// y[i, j] = x at `place(i, j)` + z[i, j], for j < columns.
struct Gathered {
  LoopCase c{"digits"};
  SymInt i, j;

  Gathered(int64_t rows, int64_t columns, int64_t elements,
           const std::function<SymInt(const SymInt&, const SymInt&)>& place) {
    const BufferId x = c.input("x", DType::F32, elements), z = c.input("z", DType::F32, rows * columns);
    const BufferId y = c.output("y", DType::F32, rows * columns);
    i = c.outer(rows);
    j = c.outer(columns);
    Body& b = c.body;
    b.begin_nest({});
    b.store({y, i * columns + j, b.binary(ScalarOp::Add, b.load(x, place(i, j)), b.load(z, i * columns + j))});
  }
  /// Extent of the axis that the lanes lie along.
  int64_t row() const {
    Target target;
    target.avx512 = true;
    target.vector_bits = 512;
    const Kernel k = codegen::plan_kernel(c.kernel, target).kernel;
    return k.axes[k.outer.back()].extent.value();
  }
  void check_everywhere() {
    for (const Target& target : targets()) check(c, Check::Jit, target);
  }
};

TEST(LoopDigits, MergedHeads) {
  constexpr int64_t kHeads = 3, kRows = 10, kSize = 64;
  Gathered g(kRows, kHeads * kSize, kHeads * kRows * kSize, [](const SymInt& i, const SymInt& j) {
    return floordiv(j, kSize) * (kRows * kSize) + i * kSize + mod(j, kSize);
  });
  EXPECT_EQ(g.row(), kSize);
  g.check_everywhere();
}

TEST(LoopDigits, WindowsOfAFlattenedImage) {
  // Of 16 by 28 pixels, every second row.
  Gathered g(3, 8 * 28, 3 * 16 * 28,
             [](const SymInt& i, const SymInt& j) { return i * (16 * 28) + floordiv(j, 28) * 56 + mod(j, 28); });
  EXPECT_EQ(g.row(), 28);
  g.check_everywhere();
}

TEST(LoopDigits, FactorsOfSeveralSizes) {
  // By 16, then the rest by 4: the rest is the same for all lanes.
  Gathered g(5, 128, 5 * 128, [](const SymInt& i, const SymInt& j) {
    return i * 128 + mod(j, 16) + mod(floordiv(j, 16), 4) * 32 + floordiv(j, 64) * 16;
  });
  EXPECT_EQ(g.row(), 16);
  g.check_everywhere();
}

TEST(LoopDigits, NotWhereRowsAreShortOrDoNotDivide) {
  Gathered quads(5, 64, 5 * 64,
                 [](const SymInt& i, const SymInt& j) { return i * 64 + mod(j, 4) * 16 + floordiv(j, 4); });
  EXPECT_EQ(quads.row(), 64);
  quads.check_everywhere();
  Gathered uneven(5, 100, 5 * 256,
                  [](const SymInt& i, const SymInt& j) { return i * 256 + mod(j, 32) + floordiv(j, 32) * 64; });
  EXPECT_EQ(uneven.row(), 100);
  uneven.check_everywhere();
  // What is divided is not the index itself.
  Gathered moved(5, 96, 5 * 128, [](const SymInt& i, const SymInt& j) { return i * 128 + mod(j + 7, 32); });
  EXPECT_EQ(moved.row(), 96);
  moved.check_everywhere();
}

}  // namespace
}  // namespace strata::testing
