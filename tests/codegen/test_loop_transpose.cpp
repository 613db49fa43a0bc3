// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Transposes: tiles of squares, and tiles that are put together to runs of whole cache lines.

#include <gtest/gtest.h>

#include "codegen/loop_plan.h"
#include "codegen/loop_tile.h"
#include "core/runtime/parallel.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

/// y[i, j] = x[j, i] + z[i, j] + bias[j]
void transpose_add(LoopCase& c, SymInt n, SymInt m, DType dtype) {
  BufferId x = c.input("x", dtype, n * m), z = c.input("z", dtype, n * m), bias = c.input("bias", dtype, m);
  BufferId y = c.output("y", dtype, n * m);
  SymInt i = c.outer(n), j = c.outer(m);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId v = b.binary(ScalarOp::Add, b.load(x, j * n + i), b.load(z, i * m + j));
  v = b.binary(ScalarOp::Add, v, b.load(bias, j));
  b.store({y, i * m + j, v});
}

bool tiles(const LoopCase& c, const Target& target) {
  const codegen::KernelPlan plan = codegen::plan_kernel(c.kernel, target);
  return !plan.nests[0].turned.empty();
}

TEST(LoopTranspose, TransposesInTiles) {
  for (const Target& target : targets()) {
    for (const auto& [n, m] : {std::pair{16, 16}, {17, 33}, {64, 48}, {40, 19}, {1100, 20}, {16, 131}}) {
      for (DType dtype : {DType::F32, DType::BF16}) {
        LoopCase c("transpose");
        transpose_add(c, n, m, dtype);
        EXPECT_TRUE(tiles(c, target)) << n << " " << m;
        check(c, Check::Jit, target);
        LoopCase s("transpose");
        transpose_add(s, s.size("s0", n), s.size("s1", m), dtype);
        EXPECT_TRUE(tiles(s, target)) << n << " " << m;
        check(s, Check::Jit, without_cache(target));
      }
    }
  }
}

/// Tiles of what comes from memory are two squares wide where lines are short: whole ones, single squares, and what is
/// left of one.
TEST(LoopTranspose, ShortTransposesFromMemory) {
  const auto run = [](int64_t n, int64_t m, DType dtype, const Target& target) {
    LoopCase c("transpose"), s("transpose");
    transpose_add(c, n, m, dtype);
    const codegen::NestPlan plan = codegen::plan_kernel(c.kernel, without_cache(target)).nests[0];
    EXPECT_EQ(plan.squares, 2) << n << " " << m;
    EXPECT_EQ(plan.run, 0) << n << " " << m;
    EXPECT_EQ(codegen::plan_kernel(c.kernel, target).nests[0].squares, 1);
    check(c, Check::Jit, without_cache(target));
    transpose_add(s, s.size("s0", n), s.size("s1", m), dtype);
    check(s, Check::Jit, without_cache(target));
  };
  for (const Target& target : targets()) {
    run(300, 117, DType::F32, target);
    run(33, 149, DType::F32, target);
    run(33, 131, DType::BF16, target);
  }
  run(16, 128, DType::I8, host_target());
  run(300, 65, DType::F64, host_target());
  run(70, 97, DType::F32, host_target());
}

/// y[start + i, j] = x[j, i] * 2, z[i, j] = x[j, i] as `other`
void transpose_twice(LoopCase& c, SymInt n, SymInt m, int64_t start, DType dtype, DType other) {
  BufferId x = c.input("x", dtype, n * m), y = c.output("y", dtype, n * m + start), z = c.output("z", other, n * m);
  SymInt i = c.outer(n), j = c.outer(m);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId v = b.load(x, j * n + i);
  b.store({y, start + i * m + j, b.binary(ScalarOp::Mul, v, b.integer(2, b.dtype(v)))});
  b.store({z, i * m + j, b.cast(v, compute_dtype(other))});
}

/// From memory to memory, results are put together in scratch and stored in runs: lines that begin with a cache line,
/// or all in other places; lengths that end with a run, a cache line, anywhere; sizes that are known and not.
TEST(LoopTranspose, TransposesInRuns) {
  const auto run = [](int64_t n, int64_t m, DType dtype, const Target& target) {
    SCOPED_TRACE(std::to_string(n) + " by " + std::to_string(m));
    LoopCase c("transpose"), s("transpose");
    transpose_add(c, n, m, dtype);
    transpose_add(s, s.size("s0", n), s.size("s1", m), dtype);
    EXPECT_EQ(codegen::plan_kernel(c.kernel, target).nests[0].run, 0);
    // Processors that foresee rows need no runs where all lines begin with cache lines.
    const bool whole = m * static_cast<int64_t>(dtype_size(dtype)) % 64 == 0;
    for (const bool foresees : {false, true}) {
      Target from_memory = without_cache(target);
      from_memory.amx = foresees;
      EXPECT_EQ(codegen::plan_kernel(c.kernel, from_memory).nests[0].run > 0, !foresees || !whole);
      EXPECT_TRUE(streams(c, from_memory, 3));
      check(c, Check::Jit, from_memory);
      check(s, Check::Jit, from_memory);
    }
  };
  for (const Target& target : targets()) {
    for (const int64_t m : {145, 149, 160, 255, 256, 271, 272, 400, 401}) run(150, m, DType::F32, target);
    for (const int64_t n : {64, 128, 137, 301}) run(n, 150, DType::F32, target);
    run(131, 333, DType::BF16, target);
  }
  run(130, 1300, DType::I8, host_target());
  run(130, 577, DType::F16, host_target());
  run(70, 203, DType::F64, host_target());
}

TEST(LoopTranspose, RunsOfTwoResults) {
  for (const Target& target : targets()) {
    for (const int64_t start : {0, 1, 5, 8, 15, 16}) {
      for (const auto& [dtype, other] : {std::pair{DType::F32, DType::F32},
                                         {DType::F32, DType::BF16},
                                         {DType::F64, DType::F32},
                                         {DType::I8, DType::I64}}) {
        LoopCase c("transpose");
        transpose_twice(c, 133, 700, start, dtype, other);
        Target from_memory = without_cache(target);
        from_memory.amx = false;
        const bool few_lanes = target.vector_bits < 256 && std::max(dtype_size(dtype), dtype_size(other)) == 8;
        EXPECT_EQ(codegen::plan_kernel(c.kernel, from_memory).nests[0].run > 0, !few_lanes);
        check(c, Check::Jit, from_memory);
      }
    }
  }
}

/// y[i, j] = x[j, i] + y[i, j]: what is read is not put off.
TEST(LoopTranspose, NoRunsOfWhatIsRead) {
  LoopCase c("transpose");
  const int64_t n = 150, m = 300;
  BufferId x = c.input("x", DType::F32, n * m), y = c.output("y", DType::F32, n * m);
  SymInt i = c.outer(n), j = c.outer(m);
  Body& b = c.body;
  b.begin_nest({});
  b.store({y, i * m + j, b.binary(ScalarOp::Add, b.load(x, j * n + i), b.load(y, i * m + j))});
  EXPECT_EQ(codegen::plan_kernel(c.kernel, without_cache(host_target())).nests[0].run, 0);
}

/// The machine does not foresee where the next square lies.
TEST(LoopTranspose, SquaresOfLargeTransposesAreFetchedAhead) {
  const Target& target = host_target();
  LoopCase c("transpose"), wide("transpose");
  transpose_add(c, 64, 48, DType::F32);
  const codegen::KernelPlan plan = codegen::plan_kernel(c.kernel, without_cache(target));
  const auto lanes = static_cast<size_t>(plan.nests[0].lanes), squares = static_cast<size_t>(plan.nests[0].squares);
  EXPECT_EQ(fetches(llvm_of(c, target)), 0U);
  EXPECT_EQ(fetches(llvm_of(c, without_cache(target))), lanes * squares);  // of x, none of z, read line by line
  // Lines too short for a run: tiles of two go on in the same rows, which Intel's processors foresee. For AMD's,
  // squares of 4 * lanes * lanes bytes fetch as many of the next tile, each of the two.
  transpose_add(wide, 512, 64, DType::F32);
  Target intel = without_cache(target), amd = intel;
  intel.amx = true;
  amd.amx = amd.avx512 = false;  // with AVX-512 shorter lines are long enough
  EXPECT_TRUE(codegen::plan_kernel(wide.kernel, intel).ahead.empty());
  EXPECT_EQ(codegen::plan_kernel(wide.kernel, amd).ahead.size(), 1U);
  // (and once more for results that are not aligned).
  const auto narrow = static_cast<size_t>(codegen::plan_kernel(wide.kernel, amd).nests[0].lanes);
  EXPECT_EQ(fetches(llvm_of(wide, amd)), 2 * 2 * std::max<size_t>(narrow * narrow * 4 / 64, 1));
}

/// Nor how the rows of the next tile lie: each line that is stored has its share of them, and of what begins anywhere
/// the end of a row.
TEST(LoopTranspose, TilesOfRunsAreFetchedAhead) {
  LoopCase c("transpose");
  transpose_add(c, 512, 1001, DType::F32);
  for (const bool amx : {false, true}) {
    Target target = without_cache(host_target());
    target.amx = amx;
    EXPECT_EQ(codegen::plan_kernel(c.kernel, target).ahead.size(), 1U);
    EXPECT_EQ(fetches(llvm_of(c, target)), 512 / 64 + 1);
  }
}

/// With AVX-512 lines that begin with cache lines are stored strip by strip: tiles of less than a strip, of some, of a
/// part of the last one, two of them next to each other. Squares fetch as much of the next strip, or page, as they
/// read.
TEST(LoopTranspose, TransposesInStrips) {
  Target target = without_cache(host_target());
  if (!target.avx512) GTEST_SKIP() << "no AVX-512";
  target.amx = false;
  const auto run = [&](DType dtype, int64_t strip, int64_t page, int64_t n, int64_t m) {
    SCOPED_TRACE(std::to_string(n) + " by " + std::to_string(m));
    LoopCase c("transpose"), s("transpose");
    transpose_add(c, n, m, dtype);
    transpose_add(s, s.size("s0", n), s.size("s1", m), dtype);
    EXPECT_EQ(codegen::plan_kernel(c.kernel, target).nests[0].strip, strip);
    EXPECT_EQ(codegen::plan_kernel(c.kernel, target).nests[0].page, page);
    c.threads = s.threads = 2;
    check(c, Check::Jit, target);
    check(s, Check::Jit, target);
  };
  run(DType::F32, 16, 512, 65, 336);
  run(DType::F32, 16, 512, 200, 416);
  run(DType::F32, 16, 768, 21 * 256 - 7, 144);  // a row is seven pages, or nearly
  run(DType::F32, 16, 1024, 8192, 64);
  run(DType::F64, 8, 256, 200, 104);
  run(DType::F64, 8, 320, 128 * 32 + 40, 72);
  run(DType::BF16, 64, 0, 200, 384);
  run(DType::BF16, 64, 0, 128 * 64 + 81, 192);
  run(DType::I8, 64, 0, 130, 704);
  LoopCase c("transpose"), odd("transpose");
  transpose_add(c, 512, 1024, DType::F32);
  transpose_add(odd, 512, 1001, DType::F32);
  // Between stores, and where there is nothing to be stored yet.
  EXPECT_EQ(fetches(llvm_of(c, target)), 2 * 16 * 16 * 4 / 64);
  EXPECT_EQ(codegen::plan_kernel(odd.kernel, target).nests[0].strip, 0);
}

/// Of strips, too, lines may begin anywhere: where results do not begin with a cache line, and where sizes are others
/// than those that the kernel was made for.
TEST(LoopTranspose, StripsThatBeginAnywhere) {
  Target target = without_cache(host_target());
  if (!target.avx512) GTEST_SKIP() << "no AVX-512";
  target.amx = false;
  for (const int64_t start : {0, 1, 15, 16}) {
    LoopCase c("transpose");
    transpose_twice(c, 200, 448, start, DType::F32, start == 15 ? DType::BF16 : DType::F32);
    EXPECT_GT(codegen::plan_kernel(c.kernel, target).nests[0].strip, 0);
    check(c, Check::Jit, target);
  }
  for (const int64_t m : {63, 80, 97, 400, 401, 449}) {
    LoopCase c("transpose");
    const SymInt columns = c.size("s1", 448);
    transpose_add(c, 150, columns, DType::F32);
    EXPECT_GT(codegen::plan_kernel(c.kernel, target).nests[0].strip, 0);
    c.symbols[*c.env.symbol_id(columns)] = m;
    check(c, Check::Jit, target);
  }
}

/// From 8 MiB on, which no second cache holds, whatever the last one does.
TEST(LoopTranspose, RunsBeginWhereTheSecondCacheEnds) {
  Target target = host_target();
  target.cache_bytes = int64_t{1} << 40;
  target.amx = false;
  for (const bool large : {false, true}) {
    LoopCase c("transpose");
    transpose_add(c, large ? 1501 : 1300, 1500, DType::F32);
    EXPECT_EQ(codegen::plan_kernel(c.kernel, target).nests[0].run > 0, large);
    EXPECT_EQ(streams(c, target, 3), large);
  }
}

TEST(LoopTranspose, TransposesOfAllTypes) {
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64, DType::F16, DType::F64}) {
    LoopCase c("transpose");
    transpose_add(c, 37, 50, dtype);
    check(c);
  }
}

/// Along what is read, but where lines of the result want the same places in the caches, or begin anywhere and those of
/// the operand do not want the same places.
TEST(LoopTranspose, SquaresGoAlongWhatIsWrittenWhereLinesCrowd) {
  for (const Target& target : targets()) {
    const auto goes_along_written = [&](int64_t n, int64_t m, DType dtype) {
      SCOPED_TRACE(std::to_string(n) + " by " + std::to_string(m));
      LoopCase c("transpose");
      transpose_add(c, n, m, dtype);
      check(c, Check::Jit, target);
      const codegen::KernelPlan plan = codegen::plan_kernel(c.kernel, target);
      const SymInt rows = plan.kernel.axes[plan.kernel.nests[0].axes[0]].extent;
      return range(rows).max * static_cast<int64_t>(dtype_size(dtype)) <= 64;
    };
    EXPECT_TRUE(goes_along_written(48, 256, DType::F32));
    EXPECT_TRUE(goes_along_written(256, 256, DType::F32));
    EXPECT_TRUE(goes_along_written(70, 512, DType::BF16));
    EXPECT_FALSE(goes_along_written(256, 512 + 32, DType::F32));
    EXPECT_TRUE(goes_along_written(100, 150, DType::F32));
    EXPECT_FALSE(goes_along_written(256, 150, DType::F32));
  }
}

/// A compile for other sizes than those of the call: the hint makes tiles, the call has none that is whole.
TEST(LoopTranspose, TilesOfSizesBelowTheHint) {
  for (const Target& target : targets()) {
    for (const auto& [n, m] : {std::pair{1, 1}, {3, 20}, {20, 3}, {0, 20}}) {
      LoopCase c("transpose");
      SymInt rows = c.size("s0", 64), columns = c.size("s1", 64);
      transpose_add(c, rows, columns, DType::F32);
      ASSERT_TRUE(tiles(c, target));
      c.symbols[*c.env.symbol_id(rows)] = n;
      c.symbols[*c.env.symbol_id(columns)] = m;
      check(c, Check::Jit, target);
    }
  }
}

/// Channels last to channels first, with a batch: three axes of which two change places.
TEST(LoopTranspose, BatchedTransposeInParallel) {
  LoopCase c("batched");
  constexpr int64_t batch = 3, channels = 40, pixels = 2500;
  BufferId x = c.input("x", DType::F32, batch * channels * pixels),
           y = c.output("y", DType::F32, batch * channels * pixels);
  SymInt n = c.outer(batch), k = c.outer(channels), p = c.outer(pixels);
  Body& b = c.body;
  b.begin_nest({});
  b.store({y, (n * channels + k) * pixels + p, b.load(x, (n * pixels + p) * channels + k)});
  EXPECT_TRUE(tiles(c, host_target()));
  c.threads = thread_count();
  check(c);
}

TEST(LoopTranspose, NoTilesWhereNothingIsTransposed) {
  LoopCase small("transpose"), straight("shifted");
  transpose_add(small, 3, 50, DType::F32);
  EXPECT_FALSE(tiles(small, host_target()));
  BufferId x = straight.input("x", DType::F32, 1000), y = straight.output("y", DType::F32, 1000);
  SymInt i = straight.outer(1000);
  straight.body.begin_nest({});
  straight.body.store({y, i, straight.body.load(x, i)});
  EXPECT_FALSE(tiles(straight, host_target()));
}

}  // namespace
}  // namespace strata::testing
