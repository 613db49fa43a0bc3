// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How kernels go through memory: stores past the caches, tiles of transposes, columns reduced in chunks of rows.

#include <gtest/gtest.h>

#include "codegen/loop_plan.h"
#include "codegen/loop_split.h"
#include "codegen/loop_tile.h"
#include "core/runtime/parallel.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

// ------------------------------------------------------------------------------------------------ stores past the
// caches

/// y[start + i] = x[i] * 2
void shifted(LoopCase& c, SymInt n, int64_t start, DType dtype) {
  BufferId x = c.input("x", dtype, n), y = c.output("y", dtype, n + start);
  SymInt i = c.outer(n);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId v = b.load(x, i);
  b.store({y, start + i, b.binary(ScalarOp::Mul, v, b.integer(2, b.dtype(v)))});
}

/// Vectors that are points, one by one along an axis of theirs: where they lie changes with it.
TEST(LoopMemory, StreamedAlongAnInnerAxis) {
  constexpr int64_t rows = 3, columns = 5;
  for (const Target& target : targets()) {
    for (const int64_t inner : {32, 33}) {
      LoopCase c("inner");
      BufferId x = c.input("x", DType::F32, rows * columns * inner),
               y = c.output("y", DType::F32, columns * rows * inner);
      SymInt i = c.outer(rows), j = c.outer(inner);
      AxisId r = c.inner(columns);
      Body& b = c.body;
      const size_t nest = b.begin_nest({r});
      const SymInt at = (i * columns + b.axis_index(r)) * inner + j;
      b.reduce({Combine::Max, b.load(x, at), kNone, kNone, DType::F32, 0});
      b.begin_nest({r});
      const SymInt again = (i * columns + b.axis_index(r)) * inner + j;
      const ScalarId less = b.binary(ScalarOp::Sub, b.load(x, again), b.reduced(nest, 0));
      b.store({y, again, b.unary(ScalarOp::Exp, less)});
      ASSERT_TRUE(streams(c, without_cache(target), y));
      check(c, Check::Jit, without_cache(target));
    }
  }
}

/// Starts at every place of a vector, lengths with and without a rest, all sizes of elements.
TEST(LoopMemory, StreamedStoresAtAnyAlignment) {
  for (const Target& target : targets()) {
    for (DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I8}) {
      for (int64_t start : {0, 1, 3, 8, 15, 16, 17}) {
        for (int64_t n : {1, 16, 64, 333}) {
          LoopCase c("shifted");
          shifted(c, n, start, dtype);
          ASSERT_TRUE(streams(c, without_cache(target), 1));
          check(c, Check::Jit, without_cache(target));
        }
      }
    }
  }
}

TEST(LoopMemory, StreamedStoresAreFenced) {
  LoopCase c("shifted");
  shifted(c, 1024, 0, DType::F32);
  const std::string past = llvm_of(c, without_cache(host_target()));
  EXPECT_NE(past.find("!nontemporal"), std::string::npos) << past;
  EXPECT_NE(past.find("fence seq_cst"), std::string::npos) << past;
  const std::string usual = llvm_of(c, host_target());
  EXPECT_EQ(usual.find("!nontemporal"), std::string::npos) << usual;
  EXPECT_EQ(usual.find("fence"), std::string::npos) << usual;
}

/// A result that the same kernel reads again must stay in the cache; one it only writes need not.
TEST(LoopMemory, WhatTheKernelReadsAgainIsNotStreamed) {
  LoopCase c("again");
  constexpr int64_t rows = 5, columns = 70;
  BufferId x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows * columns);
  BufferId z = c.output("z", DType::F32, rows * columns);
  SymInt i = c.outer(rows);
  AxisId r0 = c.inner(columns), r1 = c.inner(columns);
  Body& b = c.body;
  const auto at = [&](AxisId r) { return i * columns + b.axis_index(r); };
  b.begin_nest({r0});
  b.store({y, at(r0), b.unary(ScalarOp::Exp, b.load(x, at(r0)))});
  b.begin_nest({r1});
  b.store({z, at(r1), b.binary(ScalarOp::Add, b.load(y, at(r1)), b.load(x, at(r1)))});
  const Target target = without_cache(host_target());
  EXPECT_FALSE(streams(c, target, y));
  EXPECT_TRUE(streams(c, target, z));
  check(c, Check::Jit, target);
}

TEST(LoopMemory, AccumulatedAndUpdatedBuffersAreNotStreamed) {
  LoopCase c("update");
  BufferId x = c.input("x", DType::F32, 100), y = c.output("y", DType::F32, 100), z = c.inout("z", DType::F32, 100);
  SymInt i = c.outer(100);
  Body& b = c.body;
  b.begin_nest({});
  Store add;
  add.buffer = y;
  add.index = i;
  add.value = b.load(x, i);
  add.accumulate = true;
  b.store(add);
  b.store({z, i, b.load(x, i)});
  const Target target = without_cache(host_target());
  EXPECT_FALSE(streams(c, target, y));
  EXPECT_FALSE(streams(c, target, z));
}

/// Only what does not fit the cache, and sizes known only by their hint count with it.
TEST(LoopMemory, OnlyLargeResultsAreStreamed) {
  Target target = host_target();
  target.cache_bytes = 4096;
  for (const auto& [n, expected] : {std::pair{1023, false}, {1024, true}}) {
    LoopCase fixed("shifted"), dynamic("shifted");
    shifted(fixed, n, 0, DType::F32);
    shifted(dynamic, dynamic.size("s0", n), 0, DType::F32);
    EXPECT_EQ(streams(fixed, target, 1), expected) << n;
    EXPECT_EQ(streams(dynamic, target, 1), expected) << n;
  }
}

TEST(LoopMemory, StreamedInParallelAndReversed) {
  LoopCase c("reversed");
  SymInt n = c.size("s0", 200003);
  BufferId x = c.input("x", DType::F32, n), y = c.output("y", DType::F32, n);
  SymInt i = c.outer(n);
  Body& b = c.body;
  b.begin_nest({});
  b.store({y, n - 1 - i, b.unary(ScalarOp::Neg, b.load(x, i))});
  c.threads = thread_count();
  check(c, Check::Jit, without_cache(host_target()));
}

/// y[i, j] = f(x[at[i, j], j]): where the next vector's elements are is not known before its turn.
TEST(LoopMemory, PlacesThatDataTellAreNotFetchedAhead) {
  LoopCase c("places");
  constexpr int64_t rows = 6, columns = 200;
  const BufferId x = c.input("x", DType::F32, rows * columns), at = c.input("at", DType::I64, rows * columns);
  const BufferId y = c.output("y", DType::F32, rows * columns);
  const SymInt i = c.outer(rows), j = c.outer(columns);
  Body& b = c.body;
  b.begin_nest({});
  const SymInt row = b.indirect(b.load(at, i * columns + j), {0, rows - 1});
  ScalarId v = b.load(x, row * columns + j);
  for (int k = 0; k < 20; ++k) v = b.binary(k % 2 ? ScalarOp::Mul : ScalarOp::Add, v, b.constant(1.0625, DType::F32));
  b.store({y, i * columns + j, v});
  c.fill = [](BufferId buffer, Bytes& bytes) {
    if (buffer != 1) return false;
    auto* places = reinterpret_cast<int64_t*>(bytes.data());
    for (int64_t k = 0; k < rows * columns; ++k) places[k] = k % rows;
    return true;
  };
  check(c, Check::Jit, without_cache(host_target()));
}

/// A body so long that it usually gets one loop with a masked end: whole vectors still go past the caches.
TEST(LoopMemory, LongBodiesAreStreamed) {
  if (!host_target().avx512) GTEST_SKIP() << "no masks without AVX-512";
  const auto logarithms = [](LoopCase& c, SymInt rows, int64_t columns) {
    BufferId x = c.input("x", DType::F32, rows * columns), bias = c.input("bias", DType::F32, columns),
             y = c.output("y", DType::F32, rows * columns);
    SymInt i = c.outer(rows), j = c.outer(columns);
    Body& b = c.body;
    b.begin_nest({});
    ScalarId v = b.binary(ScalarOp::Add, b.load(x, i * columns + j), b.load(bias, j));
    for (int n = 0; n < 2; ++n) {
      const ScalarId square = b.binary(ScalarOp::Add, b.binary(ScalarOp::Mul, v, v), b.constant(1, DType::F32));
      v = b.binary(ScalarOp::Add, v, b.unary(ScalarOp::Log, square));
    }
    b.store({y, i * columns + j, v});
  };
  for (int64_t columns : {16, 96, 100, 333}) {
    LoopCase c("logarithms");
    logarithms(c, 7, columns);
    const codegen::KernelPlan usual = codegen::plan_kernel(c.kernel, host_target());
    const codegen::KernelPlan past = codegen::plan_kernel(c.kernel, without_cache(host_target()));
    ASSERT_TRUE(usual.lanes_are_points && usual.masked && past.lanes_are_points && past.streamed[2]);
    EXPECT_FALSE(past.masked);
    EXPECT_NE(llvm_of(c, without_cache(host_target())).find("!nontemporal"), std::string::npos);
    check(c, Check::Jit, without_cache(host_target()));
  }
}

/// exp and erf are computed in the loop; what is left to a library keeps vectors on an aligned stack.
TEST(LoopMemory, CallsOfLibraries) {
  if (!host_target().has("fma")) GTEST_SKIP() << "functions in place are for AVX-512 and AVX2";
  const auto text = [](ScalarOp op, DType dtype) {
    LoopCase c("call");
    BufferId x = c.input("x", dtype, 64), y = c.output("y", dtype, 64);
    SymInt i = c.outer(64);
    c.body.begin_nest({});
    c.body.store({y, i, c.body.unary(op, c.body.load(x, i))});
    return llvm_of(c, host_target());
  };
  for (ScalarOp op : {ScalarOp::Exp, ScalarOp::Erf, ScalarOp::Sigmoid})
    EXPECT_EQ(text(op, DType::F32).find("_ZGV"), std::string::npos) << text(op, DType::F32);
  EXPECT_NE(text(ScalarOp::Exp, DType::F64).find(host_target().avx512 ? "_ZGVeN8v_exp" : "_ZGVdN4v_exp"),
            std::string::npos);
  const std::string sine = text(ScalarOp::Sin, DType::F32);
  EXPECT_NE(sine.find(host_target().avx512 ? "_ZGVeN16v_sinf" : "_ZGVdN8v_sinf"), std::string::npos) << sine;
  EXPECT_NE(sine.find(host_target().avx512 ? "alignstack(64)" : "alignstack(32)"), std::string::npos) << sine;
}

// --------------------------------------------------------------------------------------------------------------
// columns

/// y[j] = sum of x[i, j] * z[j] over i where mask[i], and the largest x[i, j].
void columns(LoopCase& c, SymInt rows, int64_t columns) {
  BufferId x = c.input("x", DType::F32, rows * columns), z = c.input("z", DType::F32, columns);
  BufferId mask = c.input("mask", DType::Bool, rows);
  BufferId y = c.output("y", DType::F32, columns), most = c.output("most", DType::F32, columns);
  SymInt j = c.outer(columns);
  AxisId r = c.inner(rows);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId scale = b.load(z, j);
  size_t nest = b.begin_nest({r});
  ScalarId v = b.load(x, b.axis_index(r) * columns + j);
  b.reduce({Combine::Sum, b.binary(ScalarOp::Mul, v, scale), kNone, b.load(mask, b.axis_index(r)), DType::F32, 0});
  b.reduce({Combine::Max, v, kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  b.store({y, j, b.reduced(nest, 0)});
  b.store({most, j, b.binary(ScalarOp::Sub, b.reduced(nest, 1), scale)});
  c.tolerance = 1e-3;
}

TEST(LoopMemory, LongColumnsInChunks) {
  for (const Target& target : targets()) {
    for (const auto& [n, m] : {std::pair{4099, 70}, {4096, 128}, {600, 1031}, {513, 5000}}) {
      LoopCase c("columns");
      columns(c, n, m);
      EXPECT_TRUE(codegen::split_reduction(c.kernel, target)) << n << " " << m;
      c.threads = 2;
      check(c, Check::Jit, target);
    }
  }
  LoopCase c("columns");
  columns(c, c.size("s0", 4000), 128);
  EXPECT_TRUE(codegen::split_reduction(c.kernel, host_target()));
  check(c);
}

TEST(LoopMemory, NanInAColumnStays) {
  LoopCase c("columns");
  columns(c, 4000, 128);
  c.fill = [](BufferId buffer, Bytes& bytes) {
    if (buffer != 0) return true;
    auto* f = reinterpret_cast<float*>(bytes.data());
    f[777 * 128 + 5] = std::numeric_limits<float>::quiet_NaN();
    f[3999 * 128 + 127] = std::numeric_limits<float>::infinity();
    return true;
  };
  check(c);
}

/// Fewer rows in the call than chunks.
TEST(LoopMemory, ShortColumnsOfALongKernel) {
  for (int64_t rows : {0, 1, 31, 33}) {
    LoopCase c("columns");
    SymInt n = c.size("s0", 4000);
    columns(c, n, 128);
    ASSERT_TRUE(codegen::split_reduction(c.kernel, host_target()));
    c.symbols[*c.env.symbol_id(n)] = rows;
    check(c);
  }
}

TEST(LoopMemory, FewLongRowsAreCut) {
  for (const Target& target : targets()) {
    LoopCase c("rows");
    constexpr int64_t rows = 3, length = 70001;
    BufferId x = c.input("x", DType::F32, rows * length), y = c.output("y", DType::F32, rows),
             z = c.output("z", DType::I64, rows);
    SymInt i = c.outer(rows);
    AxisId r = c.inner(length);
    Body& b = c.body;
    size_t nest = b.begin_nest({r});
    ScalarId v = b.load(x, i * length + b.axis_index(r));
    b.reduce({Combine::Sum, v, kNone, kNone, DType::F32, 0});
    b.reduce({Combine::ArgMax, v, b.index(b.axis_index(r)), kNone, DType::F32, 0});
    b.begin_nest({});
    b.store({y, i, b.reduced(nest, 0)});
    b.store({z, i, b.reduced(nest, 1, 1)});
    EXPECT_TRUE(codegen::split_reduction(c.kernel, target));
    c.tolerance = 5e-3;
    c.threads = 2;
    check(c, Check::Jit, target);
  }
}

// ------------------------------------------------------------------------------------------------------- what is kept

/// y = exp(x - max) / sum(exp(x - max)), the exponential spelled out in both nests.
void spelled_softmax(LoopCase& c, int64_t rows, SymInt width) {
  BufferId x = c.input("x", DType::F32, rows * width), y = c.output("y", DType::F32, rows * width);
  SymInt i = c.outer(rows);
  Body& b = c.body;
  AxisId r = c.inner(width);
  SymInt at = i * width + b.axis_index(r);
  size_t first = b.begin_nest({r});
  b.reduce({Combine::Max, b.load(x, at), kNone, kNone, DType::F32, 0});
  const auto exponent = [&] {
    return b.unary(ScalarOp::Exp, b.binary(ScalarOp::Sub, b.load(x, at), b.reduced(first, 0)));
  };
  size_t second = b.begin_nest({r});
  b.reduce({Combine::Sum, exponent(), kNone, kNone, DType::F32, 0});
  b.begin_nest({r});
  b.store({y, at, b.binary(ScalarOp::Div, exponent(), b.reduced(second, 0))});
}

size_t exponentials(const LoopCase& c) {
  const Kernel k = codegen::plan_kernel(c.kernel, host_target()).kernel;
  size_t count = 0;
  for (const Nest& nest : k.nests)
    for (ScalarId id : nest.body) count += k.scalars[id].op == ScalarOp::Exp ? 1 : 0;
  return count;
}

TEST(LoopMemory, ExponentialsAreTakenOnce) {
  for (const Target& target : targets()) {
    for (int64_t width : {64, 333, 1024, 4096, 20000}) {
      LoopCase c("softmax");
      spelled_softmax(c, 5, width);
      EXPECT_EQ(exponentials(c), 1u) << width;
      check(c, Check::Jit, target);
    }
  }
}

TEST(LoopMemory, LinesThatDoNotFitAreComputedAgain) {
  LoopCase wide("softmax"), unknown("softmax");
  spelled_softmax(wide, 2, 66000);
  EXPECT_EQ(exponentials(wide), 2u);
  spelled_softmax(unknown, 5, unknown.size("s0", 300));
  EXPECT_EQ(exponentials(unknown), 2u);
  check(unknown);
}

TEST(LoopMemory, LinesOfUnknownLengthAreKeptWhereItIsBounded) {
  for (int64_t width : {300, 512}) {
    LoopCase bounded("softmax"), beyond("softmax");
    spelled_softmax(bounded, 5, bounded.size("s0", width, 1, 512));
    EXPECT_EQ(exponentials(bounded), 1u);
    check(bounded);
    spelled_softmax(beyond, 5, beyond.size("s0", width, 1, 66000));
    EXPECT_EQ(exponentials(beyond), 2u);
  }
}

/// The same function of another place, or of what changes in between, is another value.
TEST(LoopMemory, OnlyEqualValuesAreKept) {
  LoopCase c("different");
  constexpr int64_t rows = 4, width = 100;
  BufferId x = c.input("x", DType::F32, rows * width), y = c.output("y", DType::F32, rows * width);
  BufferId z = c.output("z", DType::F32, rows * width);
  SymInt i = c.outer(rows);
  Body& b = c.body;
  AxisId r = c.inner(width);
  SymInt at = i * width + b.axis_index(r), mirrored = i * width + (width - 1 - b.axis_index(r));
  b.begin_nest({r});
  b.store({y, at, b.unary(ScalarOp::Exp, b.load(x, at))});
  b.begin_nest({r});
  ScalarId sum =
      b.binary(ScalarOp::Add, b.unary(ScalarOp::Exp, b.load(x, mirrored)), b.unary(ScalarOp::Exp, b.load(y, at)));
  b.store({z, at, b.binary(ScalarOp::Add, sum, b.unary(ScalarOp::Sin, b.load(x, at)))});
  EXPECT_EQ(exponentials(c), 3u);
  c.tolerance = 1e-4;
  check(c);
}

/// Several passes over long lines fetch the next one; the last has none, and results do not change.
TEST(LoopMemory, LinesAreFetchedAhead) {
  for (const Target& target : targets()) {
    for (int64_t width : {256, 1000}) {
      LoopCase c("softmax");
      spelled_softmax(c, 9, width);
      EXPECT_EQ(codegen::plan_kernel(c.kernel, without_cache(target)).ahead.size(), 1u);
      EXPECT_NE(llvm_of(c, without_cache(target)).find("llvm.prefetch"), std::string::npos);
      check(c, Check::Jit, without_cache(target));
      EXPECT_TRUE(codegen::plan_kernel(c.kernel, target).ahead.empty());
    }
  }
}

/// Long pointwise bodies fetch what they read a page later, of what memory has; short ones need no help with AVX-512.
TEST(LoopMemory, LongBodiesFetchAPageAhead) {
  for (const Target& target : targets()) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{7, 300}, {1, 5000}}) {
      for (const bool is_long : {true, false}) {
        LoopCase c("pointwise");
        BufferId x = c.input("x", DType::F32, rows * columns), bias = c.input("bias", DType::F32, columns);
        BufferId y = c.output("y", DType::F32, rows * columns);
        SymInt i = c.outer(rows), j = c.outer(columns);
        Body& b = c.body;
        b.begin_nest({});
        ScalarId v = b.binary(ScalarOp::Add, b.load(x, i * columns + j), b.load(bias, j));
        b.store({y, i * columns + j, is_long ? b.unary(ScalarOp::Erf, v) : v});
        const Target large = without_cache(target);
        const bool fetched = is_long || !target.avx512;
        EXPECT_EQ(codegen::plan_kernel(c.kernel, large).ahead.size(), fetched ? 2U : 0U);
        EXPECT_EQ(fetches(llvm_of(c, large)) > 0, fetched);
        EXPECT_TRUE(codegen::plan_kernel(c.kernel, target).ahead.empty());
        check(c, Check::Jit, large);
      }
    }
  }
}

/// What is left of a loop is one masked vector where the machine has loads and stores of some lanes.
TEST(LoopMemory, RestsOfLoopsAreMasked) {
  for (const Target& target : targets()) {
    for (const DType type : {DType::F32, DType::F64, DType::BF16}) {
      constexpr int64_t rows = 5, columns = 7;  // fewer than lanes
      LoopCase c("rows");
      BufferId x = c.input("x", type, rows * columns), y = c.output("y", type, rows),
               z = c.output("z", type, rows * columns);
      SymInt i = c.outer(rows);
      AxisId r = c.inner(columns);
      Body& b = c.body;
      const SymInt at = i * columns + b.axis_index(r);
      const DType computed = type == DType::BF16 ? DType::F32 : type;
      const size_t nest = b.begin_nest({r});
      b.reduce({Combine::Sum, b.load(x, at), kNone, kNone, computed, 0});
      b.begin_nest({r});
      b.store({z, at, b.binary(ScalarOp::Sub, b.load(x, at), b.reduced(nest, 0))});
      b.begin_nest({});
      b.store({y, i, b.reduced(nest, 0)});
      const bool of_lanes = target.avx512 || (target.has("avx2") && type != DType::BF16);
      EXPECT_EQ(codegen::plan_kernel(c.kernel, target).masks, of_lanes);
      check(c, Check::Jit, target);
    }
  }
}

/// Sums of columns go through eight rows at a time with AVX-512, else through four, which they fetch before their turn;
/// where rows do not come in such groups, through one.
TEST(LoopMemory, ColumnsAreFetchedAhead) {
  for (const Target& target : targets()) {
    const Target large = without_cache(target);
    const auto rows_and_ahead = [&](int64_t rows) {
      LoopCase c("columns");
      columns(c, rows, 128);
      const auto split = codegen::split_reduction(c.kernel, target);
      EXPECT_TRUE(split);
      EXPECT_TRUE(codegen::plan_kernel(split->partial, target).ahead.empty());
      EXPECT_TRUE(codegen::plan_kernel(split->combine, target).ahead.empty());
      check(c, Check::Jit, large);
      const auto reads = std::ranges::count_if(
          split->partial.scalars, [&](const Scalar& s) { return s.op == ScalarOp::Load && s.buffer == 0; });
      return std::pair(reads, codegen::plan_kernel(split->partial, large).ahead.size());
    };
    const std::pair<int64_t, size_t> groups = target.avx512 ? std::pair(8, 0U) : std::pair(4, 4U);
    const std::pair<int64_t, size_t> in_groups = rows_and_ahead(4000), single = rows_and_ahead(4001);
    EXPECT_EQ(in_groups.second, groups.second);
    EXPECT_EQ(in_groups.first - single.first, groups.first - 1);
    EXPECT_EQ(single.second, 1U);
  }
}

/// Lines come into the first cache; with AVX2 alone into the second where stores past the caches follow one another.
/// AMD's processors with AVX-512 fetch some lines ahead, if they are short.
TEST(LoopMemory, WhereLinesAreFetchedTo) {
  Target intel = without_cache(host_target()), wide_amd = intel, amd = intel;
  intel.avx512 = intel.amx = wide_amd.avx512 = true;
  wide_amd.amx = amd.avx512 = amd.amx = false;
  LoopCase c("softmax"), scaled("scaled");
  spelled_softmax(c, 9, 1000);
  EXPECT_TRUE(codegen::plan_kernel(c.kernel, intel).ahead_near);
  EXPECT_TRUE(codegen::plan_kernel(c.kernel, amd).ahead_near);
  EXPECT_EQ(codegen::plan_kernel(c.kernel, intel).ahead_points, 1);
  EXPECT_EQ(codegen::plan_kernel(c.kernel, amd).ahead_points, 1);
  EXPECT_EQ(codegen::plan_kernel(c.kernel, wide_amd).ahead_points, 3);  // lines of 4000 bytes
  EXPECT_EQ(codegen::plan_kernel(c.kernel, intel).ahead_bytes, 4096);
  EXPECT_EQ(codegen::plan_kernel(c.kernel, wide_amd).ahead_bytes, 0);
  constexpr int64_t rows = 6, width = 700;
  BufferId x = scaled.input("x", DType::F32, rows * width), y = scaled.output("y", DType::F32, rows * width);
  SymInt i = scaled.outer(rows);
  Body& b = scaled.body;
  AxisId r = scaled.inner(width);
  SymInt at = i * width + b.axis_index(r);
  size_t nest = b.begin_nest({r});
  // Squares: a sum of both signs may be far smaller than what was summed up.
  b.reduce({Combine::Sum, b.binary(ScalarOp::Mul, b.load(x, at), b.load(x, at)), kNone, kNone, DType::F32, 0});
  b.begin_nest({r});
  b.store({y, at, b.binary(ScalarOp::Mul, b.load(x, at), b.reduced(nest, 0))});
  EXPECT_TRUE(codegen::plan_kernel(scaled.kernel, intel).ahead_near);
  EXPECT_TRUE(codegen::plan_kernel(scaled.kernel, wide_amd).ahead_near);
  EXPECT_FALSE(codegen::plan_kernel(scaled.kernel, amd).ahead_near);
  check(scaled, Check::Jit, without_cache(host_target()));
}

}  // namespace
}  // namespace strata::testing
