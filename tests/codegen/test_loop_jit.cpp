// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "codegen/cpp_source.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

/// y[i] = relu(x[i] * x[i] + 1)
void pointwise(LoopCase& c, SymInt n, DType dtype) {
  BufferId x = c.input("x", dtype, n), y = c.output("y", dtype, n);
  SymInt i = c.outer(n);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId v = b.load(x, i);
  DType t = b.dtype(v);
  v = b.binary(ScalarOp::Add, b.binary(ScalarOp::Mul, v, v), b.integer(1, t));
  v = b.binary(ScalarOp::Max, v, b.integer(2, t));
  b.store({y, i, v});
}

TEST(LoopJit, PointwiseTails) {
  for (const Target& target : targets()) {
    for (int n = 1; n <= 40; ++n) {
      LoopCase c("pointwise");
      pointwise(c, n, DType::F32);
      check(c, Check::Jit, target);
    }
  }
}

TEST(LoopJit, PointwiseAllTypes) {
  for (DType d : {DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::U16, DType::U32, DType::U64,
                  DType::F16, DType::BF16, DType::F32, DType::F64}) {
    for (const Target& target : targets()) {
      LoopCase c("pointwise");
      pointwise(c, 77, d);
      check(c, Check::Jit, target);
    }
    LoopCase c("pointwise");
    pointwise(c, 77, d);
    check(c, Check::Cpp);
  }
}

/// out[i, j] = x[j, i] + bias[j] - flipped[i, m - 1 - j]
void strided(LoopCase& c, SymInt n, SymInt m) {
  BufferId x = c.input("x", DType::F32, n * m), bias = c.input("bias", DType::F32, m),
           flipped = c.input("flipped", DType::F32, n * m);
  BufferId y = c.output("y", DType::F32, n * m);
  SymInt i = c.outer(n), j = c.outer(m);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId v = b.binary(ScalarOp::Add, b.load(x, j * n + i), b.load(bias, j));
  v = b.binary(ScalarOp::Sub, v, b.load(flipped, i * m + (m - 1 - j)));
  b.store({y, i * m + j, v});
}

TEST(LoopJit, StridedBroadcastFlipped) {
  for (const Target& target : targets()) {
    for (int m : {1, 3, 16, 37}) {
      LoopCase c("strided");
      strided(c, 5, m);
      check(c, Check::Jit, target);
      LoopCase s("strided");
      strided(s, s.size("s0", 7), s.size("s1", m));
      check(s, Check::Jit, target);
    }
  }
  LoopCase c("strided");
  strided(c, c.size("s0", 7), c.size("s1", 19));
  check(c, Check::Cpp);
}

/// Constant padding: out[i, j] = x[i, j - 2] where 2 <= j < m + 2, else 7.
TEST(LoopJit, MaskedLoads) {
  for (const Target& target : targets()) {
    for (int m : {1, 8, 30}) {
      LoopCase c("pad");
      BufferId x = c.input("x", DType::F32, 4 * m), y = c.output("y", DType::F32, 4 * (m + 5));
      SymInt i = c.outer(4), j = c.outer(m + 5);
      Body& b = c.body;
      b.begin_nest({});
      ScalarId at = b.index(j - 2);
      ScalarId inside =
          b.binary(ScalarOp::And, b.binary(ScalarOp::Ge, at, b.integer(0)), b.binary(ScalarOp::Lt, at, b.integer(m)));
      ScalarId v = b.select(inside, b.load(x, i * m + j - 2, inside), b.constant(7, DType::F32));
      b.store({y, i * (m + 5) + j, v});
      check(c, m == 8 && target.avx512 ? Check::Both : Check::Jit, target);
    }
  }
}

/// float16 is compared with constants in float32: no processor up to AVX-512 compares it by vectors.
TEST(LoopJit, HalvesAreComparedAsTheyAreComputed) {
  for (const Target& target : targets()) {
    LoopCase c("relu");
    const BufferId x = c.input("x", DType::F16, 100), y = c.output("y", DType::F16, 100);
    const SymInt i = c.outer(100);
    Body& b = c.body;
    b.begin_nest({});
    const ScalarId v = b.load(x, i), one = b.constant(1, DType::F32);
    b.store({y, i, b.select(b.binary(ScalarOp::Gt, v, one), one, b.binary(ScalarOp::Add, v, v))});
    check(c, Check::Jit, target);
    codegen::LoopJit jit(target);
    const Kernel* kernels[] = {&c.kernel};
    const auto compiled = jit.compile(kernels, {1, true});
    for (const CodeArtifact& a : jit.artifacts(0)) {
      if (a.kind != "llvm-ir") continue;
      EXPECT_NE(a.text.find(" x float>"), std::string::npos) << a.text;
      for (size_t at = a.text.find("fcmp"); at != std::string::npos; at = a.text.find("fcmp", at + 1))
        EXPECT_EQ(a.text.substr(at, a.text.find('\n', at) - at).find("half"), std::string::npos) << a.text;
    }
  }
}

/// Concatenations of types of every size: vectors that lie in one part, or in two, and negated parts. 16-bit floats
/// keep their bits, those of NaN too.
TEST(LoopJit, ConcatenatedParts) {
  for (const Target& target : targets()) {
    for (const DType dtype : {DType::BF16, DType::F16, DType::F32, DType::I8, DType::I16, DType::Bool}) {
      for (const int64_t first : {1, 16, 37, 64}) {
        for (const bool negated : {false, true}) {
          if (negated && !is_floating(dtype)) continue;
          const int64_t rows = 3, second = 40, all = first + second;
          LoopCase c("cat");
          const BufferId x = c.input("x", dtype, rows * first), y = c.input("y", dtype, rows * second);
          const BufferId z = c.output("z", dtype, rows * all);
          const SymInt i = c.outer(rows), j = c.outer(all);
          Body& b = c.body;
          b.begin_nest({});
          const ScalarId at = b.index(j), end = b.integer(first);
          const ScalarId before = b.binary(ScalarOp::Lt, at, end), after = b.binary(ScalarOp::Ge, at, end);
          ScalarId left = b.load(x, i * first + j, before);
          const ScalarId right = b.load(y, i * second + j - first, after);
          if (negated) left = b.unary(ScalarOp::Neg, left);
          b.store({z, i * all + j, b.select(before, left, right)});
          check(c, Check::Jit, target);
        }
      }
    }
  }
}

void softmax(LoopCase& c, SymInt rows, SymInt columns, DType dtype = DType::F32) {
  BufferId x = c.input("x", dtype, rows * columns), y = c.output("y", dtype, rows * columns);
  SymInt i = c.outer(rows);
  Body& b = c.body;
  AxisId r0 = c.inner(columns), r1 = c.inner(columns), r2 = c.inner(columns);
  auto element = [&](AxisId r) { return i * columns + b.axis_index(r); };
  size_t first = b.begin_nest({r0});
  b.reduce({Combine::Max, b.load(x, element(r0)), kNone, kNone, DType::F32, 0});
  size_t second = b.begin_nest({r1});
  auto exponent = [&](AxisId r) {
    return b.unary(ScalarOp::Exp, b.binary(ScalarOp::Sub, b.load(x, element(r)), b.reduced(first, 0)));
  };
  b.reduce({Combine::Sum, exponent(r1), kNone, kNone, DType::F32, 0});
  b.begin_nest({r2});
  b.store({y, element(r2), b.binary(ScalarOp::Div, exponent(r2), b.reduced(second, 0))});
}

TEST(LoopJit, Softmax) {
  for (const Target& target : targets()) {
    for (int columns : {1, 7, 16, 64, 130}) {
      LoopCase c("softmax");
      softmax(c, 6, columns);
      check(c, Check::Jit, target);
    }
    LoopCase s("softmax");
    softmax(s, s.size("s0", 5), s.size("s1", 45));
    check(s, Check::Jit, target);
    LoopCase h("softmax");
    softmax(h, 3, 33, DType::BF16);
    check(h, Check::Jit, target);
  }
  LoopCase c("softmax");
  softmax(c, 6, 41);
  check(c, Check::Cpp);
}

void layer_norm(LoopCase& c, SymInt rows, SymInt columns) {
  BufferId x = c.input("x", DType::F32, rows * columns), w = c.input("w", DType::F32, columns);
  BufferId y = c.output("y", DType::F32, rows * columns), mean = c.output("mean", DType::F32, rows);
  SymInt i = c.outer(rows);
  Body& b = c.body;
  AxisId r0 = c.inner(columns), r1 = c.inner(columns);
  size_t first = b.begin_nest({r0});
  b.reduce({Combine::Welford, b.load(x, i * columns + b.axis_index(r0)), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  ScalarId variance = b.binary(ScalarOp::Div, b.reduced(first, 0, 1), b.reduced(first, 0, 2));
  ScalarId scale = b.unary(ScalarOp::Rsqrt, b.binary(ScalarOp::Add, variance, b.constant(1e-5, DType::F32)));
  ScalarId center = b.reduced(first, 0, 0);
  b.store({mean, i, center});
  b.begin_nest({r1});
  SymInt j = b.axis_index(r1);
  ScalarId v = b.binary(ScalarOp::Mul, b.binary(ScalarOp::Sub, b.load(x, i * columns + j), center), scale);
  b.store({y, i * columns + j, b.binary(ScalarOp::Mul, v, b.load(w, j))});
}

TEST(LoopJit, LayerNorm) {
  for (const Target& target : targets()) {
    for (int columns : {2, 31, 64, 200}) {
      LoopCase c("layer_norm");
      layer_norm(c, 9, columns);
      c.tolerance = 1e-4;
      check(c, Check::Jit, target);
    }
  }
  LoopCase c("layer_norm");
  layer_norm(c, c.size("s0", 5), c.size("s1", 60));
  c.tolerance = 1e-4;
  check(c, Check::Both);
}

/// Argmax along the last or the first axis, with ties and NaN.
void argmax(LoopCase& c, SymInt rows, SymInt columns, bool last, Combine combine) {
  BufferId x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::I64, last ? rows : columns);
  BufferId v = c.output("v", DType::F32, last ? rows : columns);
  SymInt i = c.outer(last ? rows : columns);
  Body& b = c.body;
  AxisId r = c.inner(last ? columns : rows);
  SymInt j = b.axis_index(r);
  size_t n = b.begin_nest({r});
  b.reduce({combine, b.load(x, last ? i * columns + j : j * columns + i), b.index(j), kNone, DType::F32, 0});
  b.begin_nest({});
  b.store({v, i, b.reduced(n, 0, 0)});
  b.store({y, i, b.reduced(n, 0, 1)});
  c.fill = [](BufferId, Bytes& bytes) {
    auto* f = reinterpret_cast<float*>(bytes.data());
    for (size_t k = 0; k < bytes.size() / 4; ++k) {
      f[k] = static_cast<float>(static_cast<int>(f[k] * 2));
      if (random_engine()() % 97 == 0) f[k] = std::numeric_limits<float>::quiet_NaN();
      if (random_engine()() % 50 == 0) f[k] = -std::numeric_limits<float>::infinity();
    }
    return true;
  };
}

TEST(LoopJit, ArgMaxTiesAndNan) {
  for (const Target& target : targets()) {
    for (bool last : {true, false}) {
      for (Combine combine : {Combine::ArgMax, Combine::ArgMin}) {
        LoopCase c("argmax");
        argmax(c, 40, 53, last, combine);
        check(c, target.avx512 ? Check::Both : Check::Jit, target);
      }
    }
  }
}

/// Where nothing is larger than -infinity, the largest is the first of its window, wherever that begins.
TEST(LoopJit, ArgMaxOfWindowsOfInfinities) {
  for (const Target& target : targets()) {
    for (const auto& [windows, length] : {std::pair{70, 3}, {3, 70}, {1, 40}}) {
      LoopCase c("windows");
      BufferId x = c.input("x", DType::F32, windows * 2 + length), y = c.output("y", DType::I64, windows);
      SymInt i = c.outer(windows);
      AxisId r = c.inner(length);
      Body& b = c.body;
      const SymInt at = 2 * i + b.axis_index(r) + 1;
      size_t nest = b.begin_nest({r});
      b.reduce({Combine::ArgMax, b.load(x, at), b.index(at), kNone, DType::F32, 0});
      b.begin_nest({});
      b.store({y, i, b.reduced(nest, 0, 1)});
      c.fill = [](BufferId buffer, Bytes& bytes) {
        auto* f = reinterpret_cast<float*>(bytes.data());
        std::fill_n(f, buffer == 0 ? bytes.size() / 4 : 0, -std::numeric_limits<float>::infinity());
        return buffer == 0;
      };
      check(c, Check::Jit, target);
    }
  }
}

TEST(LoopJit, CumulativeSum) {
  for (const Target& target : targets()) {
    for (bool last : {true, false}) {
      LoopCase c("cumsum");
      int n = 20, m = 33;
      BufferId x = c.input("x", DType::F32, n * m), y = c.output("y", DType::F32, n * m);
      SymInt i = c.outer(last ? n : m);
      AxisId r = c.inner(last ? m : n);
      Body& b = c.body;
      SymInt at = last ? i * m + b.axis_index(r) : b.axis_index(r) * m + i;
      size_t nest = b.begin_nest({r});
      c.kernel.nests.back().scan = true;
      b.reduce({Combine::Sum, b.load(x, at), kNone, kNone, DType::F32, 0});
      b.store({y, at, b.reduced(nest, 0)});
      c.tolerance = 1e-4;
      check(c, target.avx512 ? Check::Both : Check::Jit, target);
    }
  }
}

TEST(LoopJit, MaxPoolWindows) {
  for (const Target& target : targets()) {
    LoopCase c("max_pool");
    int channels = 3, h = 13, w = 21, oh = 6, ow = 10;
    BufferId x = c.input("x", DType::F32, channels * h * w), y = c.output("y", DType::F32, channels * oh * ow);
    SymInt k = c.outer(channels), i = c.outer(oh), j = c.outer(ow);
    AxisId a = c.inner(3), d = c.inner(3);
    Body& b = c.body;
    size_t nest = b.begin_nest({a, d});
    SymInt row = 2 * i + b.axis_index(a) - 1, column = 2 * j + b.axis_index(d) - 1;
    auto inside = [&](SymInt e, int limit) {
      ScalarId v = b.index(e);
      return b.binary(ScalarOp::And, b.binary(ScalarOp::Ge, v, b.integer(0)),
                      b.binary(ScalarOp::Lt, v, b.integer(limit)));
    };
    ScalarId mask = b.binary(ScalarOp::And, inside(row, h), inside(column, w));
    b.reduce({Combine::Max, b.load(x, k * (h * w) + row * w + column, mask), kNone, mask, DType::F32, 0});
    b.begin_nest({});
    b.store({y, k * (oh * ow) + i * ow + j, b.reduced(nest, 0)});
    check(c, target.avx512 ? Check::Both : Check::Jit, target);
  }
}

/// Windows without padding: loads with strides 2 to 5 in whole and partial vectors, and the last one ends with the
/// buffer.
TEST(LoopJit, UnpaddedWindows) {
  for (const Target& target : targets()) {
    for (int stride : {2, 3, 4, 5}) {
      for (int width : {1, 6, 14, 16, 35}) {
        LoopCase c("windows");
        int rows = 3, line = width * stride;
        DType d = width % 2 ? DType::F32 : DType::I16;
        BufferId x = c.input("x", d, rows * line), y = c.output("y", d, rows * width);
        SymInt i = c.outer(rows), j = c.outer(width);
        AxisId r = c.inner(stride);
        Body& b = c.body;
        size_t nest = b.begin_nest({r});
        b.reduce({Combine::Max, b.load(x, i * line + stride * j + b.axis_index(r)), kNone, kNone, d, 0});
        b.begin_nest({});
        b.store({y, i * width + j, b.reduced(nest, 0)});
        check(c, Check::Jit, target);
      }
    }
  }
}

TEST(LoopJit, Embedding) {
  for (const Target& target : targets()) {
    LoopCase c("embedding");
    int rows = 11, width = 37, words = 50;
    BufferId ids = c.input("ids", DType::I64, rows), table = c.input("table", DType::F32, words * width);
    BufferId y = c.output("y", DType::F32, rows * width);
    SymInt i = c.outer(rows), j = c.outer(width);
    Body& b = c.body;
    b.begin_nest({});
    SymInt word = b.indirect(b.load(ids, i), {0, words - 1});
    b.store({y, i * width + j, b.load(table, word * width + j)});
    c.fill = [&](BufferId id, Bytes& bytes) {
      if (id != ids) return false;
      auto* p = reinterpret_cast<int64_t*>(bytes.data());
      for (int r = 0; r < rows; ++r) p[r] = static_cast<int64_t>(random_engine()() % static_cast<unsigned>(words));
      return true;
    };
    check(c, target.avx512 ? Check::Both : Check::Jit, target);
  }
}

/// y[index[i]] += x[i], where several i may meet.
TEST(LoopJit, ScatterAdd) {
  for (const Target& target : targets()) {
    for (DType d : {DType::F32, DType::I64, DType::BF16}) {
      LoopCase c("scatter_add");
      int n = 45, places = 7;
      BufferId at = c.input("at", DType::I32, n), x = c.input("x", d, n), y = c.inout("y", d, places);
      SymInt i = c.outer(n);
      Body& b = c.body;
      b.begin_nest({});
      SymInt k = b.indirect(b.load(at, i), {0, places - 1});
      Store s;
      s.buffer = y;
      s.index = k;
      s.value = b.load(x, i);
      s.accumulate = true;
      b.store(s);
      c.fill = [&](BufferId id, Bytes& bytes) {
        auto* p = reinterpret_cast<int32_t*>(bytes.data());
        for (int r = 0; id == at && r < n; ++r)
          p[r] = static_cast<int32_t>(random_engine()() % static_cast<unsigned>(places));
        return id == at;
      };
      check(c, target.avx512 ? Check::Both : Check::Jit, target);
    }
  }
}

/// Row kept in scratch: t[j] = exp(x[i, j]); y[i, j] = t[j] / sum(t) + t[m - 1 - j]
TEST(LoopJit, RowScratch) {
  for (const Target& target : targets()) {
    for (int m : {5, 40}) {
      LoopCase c("row_scratch");
      int n = 23;
      BufferId x = c.input("x", DType::F32, n * m), y = c.output("y", DType::F32, n * m);
      BufferId t = c.body.buffer({"t", DType::F32, m, BufferRole::Local, 0});
      SymInt i = c.outer(n);
      AxisId r0 = c.inner(m), r1 = c.inner(m);
      Body& b = c.body;
      SymInt j0 = b.axis_index(r0), j1 = b.axis_index(r1);
      size_t first = b.begin_nest({r0});
      ScalarId e = b.unary(ScalarOp::Exp, b.load(x, i * m + j0));
      b.reduce({Combine::Sum, e, kNone, kNone, DType::F32, 0});
      b.store({t, j0, e});
      b.begin_nest({r1});
      ScalarId share = b.binary(ScalarOp::Div, b.load(t, j1), b.reduced(first, 0));
      b.store({y, i * m + j1, b.binary(ScalarOp::Add, share, b.load(t, m - 1 - j1))});
      check(c, target.avx512 ? Check::Both : Check::Jit, target);
      c.kernel.schedule.vector_axis = 0;  // lanes are rows: scratch for each
      check(c, Check::Jit, target);
    }
  }
}

TEST(LoopJit, BigReductions) {
  for (const Target& target : targets()) {
    for (int n : {1, 100, 20000, 100003}) {
      LoopCase c("total");
      BufferId x = c.input("x", DType::F32, n), y = c.output("y", DType::F32, 4), z = c.output("z", DType::I64, 1);
      AxisId r = c.inner(n);
      Body& b = c.body;
      size_t nest = b.begin_nest({r});
      ScalarId v = b.load(x, b.axis_index(r));
      ScalarId positive = b.binary(ScalarOp::Gt, v, b.constant(0, DType::F32));
      b.reduce({Combine::Sum, v, kNone, kNone, DType::F32, 0});
      b.reduce({Combine::Min, v, kNone, kNone, DType::F32, 0});
      b.reduce({Combine::Sum, v, kNone, positive, DType::F32, 0});
      b.reduce({Combine::Sum, b.cast(positive, DType::I64), kNone, kNone, DType::I64, 0});
      b.reduce({Combine::Any, positive, kNone, kNone, DType::Bool, 0});
      b.begin_nest({});
      b.store({y, 0, b.reduced(nest, 0)});
      b.store({y, 1, b.reduced(nest, 1)});
      b.store({y, 2, b.reduced(nest, 2)});
      b.store({y, 3, b.cast(b.reduced(nest, 4), DType::F32)});
      b.store({z, 0, b.reduced(nest, 3)});
      // In program order (C++) each addition rounds at the size of the running sum, about sqrt(n), while the whole may
      // be near 0. A lost element would be off by 1, and the count below is exact.
      c.tolerance = n > 1000 ? 5e-3 : 1e-4;
      c.threads = 2;
      check(c, target.avx512 ? Check::Both : Check::Jit, target);
    }
  }
}

TEST(LoopJit, CutReductionsOfSeveralKinds) {
  for (const Target& target : targets()) {
    LoopCase c("extremes");
    SymInt n = c.size("s0", 700), m = c.size("s1", 131);
    BufferId x = c.input("x", DType::F32, n * m), y = c.output("y", DType::F32, 2), z = c.output("z", DType::I64, 2);
    AxisId a = c.inner(n), d = c.inner(m);
    Body& b = c.body;
    size_t nest = b.begin_nest({a, d});
    SymInt at = b.axis_index(a) * m + b.axis_index(d);
    ScalarId v = b.load(x, at);
    b.reduce({Combine::ArgMax, v, b.index(at), kNone, DType::F32, 0});
    b.reduce({Combine::ArgMin, v, b.index(at), b.binary(ScalarOp::Gt, v, b.constant(-1, DType::F32)), DType::F32, 0});
    b.begin_nest({});
    for (size_t r = 0; r < 2; ++r) {
      b.store({y, static_cast<int64_t>(r), b.reduced(nest, r, 0)});
      b.store({z, static_cast<int64_t>(r), b.reduced(nest, r, 1)});
    }
    c.threads = 2;
    check(c, Check::Jit, target);
  }
}

/// Sum over the first axis: lanes are columns, inner loop over rows.
TEST(LoopJit, ColumnSum) {
  for (const Target& target : targets()) {
    LoopCase c("column_sum");
    SymInt n = c.size("s0", 31), m = c.size("s1", target.avx512 ? 345 : 45);
    BufferId x = c.input("x", DType::F32, n * m), y = c.output("y", DType::F32, m);
    SymInt j = c.outer(m);
    AxisId r = c.inner(n);
    Body& b = c.body;
    size_t nest = b.begin_nest({r});
    b.reduce({Combine::Sum, b.load(x, b.axis_index(r) * m + j), kNone, kNone, DType::F32, 0});
    b.begin_nest({});
    b.store({y, j, b.reduced(nest, 0)});
    check(c, target.avx512 ? Check::Both : Check::Jit, target);
  }
}

/// Index arithmetic that is not linear in the lanes: a reshaped transpose.
TEST(LoopJit, FloorDivAndModIndices) {
  for (const Target& target : targets()) {
    LoopCase c("reshape");
    SymInt n = c.size("s0", 6);
    BufferId x = c.input("x", DType::F32, n * 35), y = c.output("y", DType::F32, n * 35);
    SymInt i = c.outer(n * 35);
    Body& b = c.body;
    b.begin_nest({});
    b.store({y, i, b.load(x, mod(i, 35) * n + floordiv(i, 35))});
    check(c, target.avx512 ? Check::Both : Check::Jit, target);
  }
}

/// y[a, b, c, d] = x[d, c, a // 2, b] for axes that do not merge, of every length, known and not: chunks begin in the
/// middle of a row, of rows, and of rows of rows.
TEST(LoopJit, RowsOfManyAxes) {
  const auto run = [](LoopCase& c, const SymInt& n, const SymInt& m, const SymInt& p, const SymInt& q,
                      const Target& t) {
    BufferId x = c.input("x", DType::F32, q * p * (n + 1) * m), y = c.output("y", DType::F32, n * m * p * q);
    SymInt i = c.outer(n), j = c.outer(m), k = c.outer(p), l = c.outer(q);
    Body& b = c.body;
    b.begin_nest({});
    ScalarId v = b.load(x, ((l * p + k) * (n + 1) + floordiv(i, 2)) * m + j);
    b.store({y, ((i * m + j) * p + k) * q + l, b.binary(ScalarOp::Mul, v, v)});
    c.threads = 3;
    check(c, Check::Jit, t);
  };
  for (const Target& target : targets()) {
    for (const auto& [n, m, p, q] : {std::array<int64_t, 4>{3, 4, 5, 19}, {4, 1, 3, 7}, {1, 6, 1, 33}, {5, 3, 2, 2}}) {
      SCOPED_TRACE(std::to_string(n) + " " + std::to_string(m) + " " + std::to_string(p) + " " + std::to_string(q));
      LoopCase c("rows"), s("rows");
      run(c, n, m, p, q, target);
      const SymInt ns = s.size("s0", n), ms = s.size("s1", m), ps = s.size("s2", p), qs = s.size("s3", q);
      run(s, ns, ms, ps, qs, target);
    }
  }
}

TEST(LoopJit, EmptyDomains) {
  for (const Target& target : targets()) {
    LoopCase c("softmax");
    softmax(c, c.size("s0", 0), c.size("s1", 7));
    check(c, Check::Jit, target);
    LoopCase d("column_sum");
    SymInt n = d.size("s0", 0), m = d.size("s1", 18);
    BufferId x = d.input("x", DType::F32, n * m), y = d.output("y", DType::F32, m);
    SymInt j = d.outer(m);
    AxisId r = d.inner(n);
    size_t nest = d.body.begin_nest({r});
    d.body.reduce({Combine::Sum, d.body.load(x, d.body.axis_index(r) * m + j), kNone, kNone, DType::F32, 0});
    d.body.begin_nest({});
    d.body.store({y, j, d.body.reduced(nest, 0)});
    check(d, Check::Both, target);
  }
}

TEST(LoopJit, ParallelRunsCoverEverything) {
  LoopCase c("pointwise");
  pointwise(c, c.size("s0", 300007), DType::F32);
  c.threads = thread_count();
  check(c);
}

TEST(LoopJit, EqualKernelsShareCode) {
  LoopCase a("first"), b("second"), d("third");
  softmax(a, 6, 40);
  softmax(b, 6, 40);
  softmax(d, 6, 41);
  codegen::LoopJit jit;
  const Kernel* kernels[] = {&a.kernel, &b.kernel, &d.kernel};
  auto compiled = jit.compile(kernels);
  EXPECT_EQ(jit.statistics().distinct, 2u);
  EXPECT_EQ(jit.function(0), jit.function(1));
  EXPECT_NE(jit.function(0), jit.function(2));
}

TEST(LoopJit, ArtifactsLeadToNodes) {
  LoopCase c("softmax");
  c.body.node = 42;
  softmax(c, 6, 40);
  codegen::LoopJit jit;
  const Kernel* kernels[] = {&c.kernel};
  jit.compile(kernels, {1, true});
  auto artifacts = jit.artifacts(0);
  ASSERT_EQ(artifacts.size(), 4u);
  for (const CodeArtifact& a : artifacts) {
    size_t with_node = 0;
    for (const auto& nodes : a.line_nodes) {
      for (NodeId node : nodes) EXPECT_EQ(node, 42u) << a.kind;
      with_node += nodes.empty() ? 0 : 1;
    }
    EXPECT_GT(with_node, 3u) << a.kind << "\n" << a.text;
    EXPECT_EQ(a.text.find("!dbg"), std::string::npos);
  }
  EXPECT_NE(artifacts[2].text.find("<16 x float>"), host_target().avx512 ? std::string::npos : 0) << artifacts[2].text;
}

/// y[i, j] = x[table[i], j] / divisor[i, j], both checked; data is right, so that all ways agree.
void checked(LoopCase& c, SymInt n, SymInt m, int64_t rows) {
  BufferId x = c.input("x", DType::F32, rows * m), table = c.input("table", DType::I64, n),
           divisor = c.input("divisor", DType::I32, n * m), y = c.output("y", DType::F32, n * m);
  SymInt i = c.outer(n), j = c.outer(m);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId at = b.load(table, i);
  const ScalarId inside = b.binary(ScalarOp::Lt, b.cast(at, DType::U64), b.integer(rows, DType::U64));
  at = b.check(at, inside, b.integer(0), {loop::Check::Kind::Index, rows, false, "index {index} of {size}", "'x'", 0});
  const ScalarId v = b.load(x, b.indirect(at, {0, rows - 1}) * m + j);
  ScalarId d = b.load(divisor, i * m + j);
  const ScalarId zero = b.integer(0, DType::I32);
  d = b.check(d, b.binary(ScalarOp::Ne, d, zero), b.integer(1, DType::I32),
              {loop::Check::Kind::Divisor, 0, false, "", "'y'", 0});
  b.store({y, i * m + j, b.binary(ScalarOp::Div, v, b.cast(d, DType::F32))});
}

/// Elements of `data` as T, each made by `value`.
template <class T, class F>
void fill_with(Bytes& data, F&& value) {
  for (size_t k = 0; (k + 1) * sizeof(T) <= data.size(); ++k) {
    const T v = static_cast<T>(value(static_cast<int64_t>(k)));
    std::memcpy(&data[k * sizeof(T)], &v, sizeof(T));
  }
}

TEST(LoopJit, ChecksThatHold) {
  for (const Target& target : targets()) {
    for (const Check what : {Check::Jit, Check::Cpp}) {
      if (what == Check::Cpp && target.vector_bits != host_target().vector_bits) continue;
      LoopCase c("checked");
      checked(c, c.size("s0", 9), 37, 5);
      c.fill = [](BufferId b, Bytes& data) {
        if (b == 1) fill_with<int64_t>(data, [](int64_t k) { return k % 5; });
        if (b == 2) fill_with<int32_t>(data, [](int64_t k) { return k % 2 ? -3 : 4; });
        return true;
      };
      check(c, what, target);
      EXPECT_EQ(print_loop(parse_loop(c.env, print_loop(c.kernel))), print_loop(c.kernel));
    }
  }
}

TEST(LoopJit, ChecksThatDoNotHoldEndTheRun) {
  for (const Target& target : targets()) {
    LoopCase c("checked");
    checked(c, 9, 37, 5);
    codegen::LoopJit jit(target);
    const Kernel* kernels[] = {&c.kernel};
    auto compiled = jit.compile(kernels);
    std::vector<float> x(5 * 37, 1), y(9 * 37);
    std::vector<int64_t> table(9, 2);
    std::vector<int32_t> divisor(9 * 37, 2);
    std::byte* places[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(table.data()),
                           reinterpret_cast<std::byte*>(divisor.data()), reinterpret_cast<std::byte*>(y.data())};
    const auto error = [&]() -> std::string {
      try {
        compiled[0]->run({places, c.symbols, 2});
      } catch (const Error& e) {
        return e.what();
      }
      return "";
    };
    EXPECT_EQ(error(), "");
    EXPECT_EQ(y.back(), 0.5f);
    for (const int64_t wrong : {int64_t{5}, int64_t{-1}, INT64_MAX, -INT64_MAX}) {
      table[8] = wrong;
      EXPECT_EQ(error(), "index " + std::to_string(wrong) + " of 5, in 'x'");
    }
    table[8] = 4;
    for (const size_t at : {size_t{0}, size_t{36}, size_t{9 * 37 - 1}}) {
      divisor[at] = 0;
      EXPECT_EQ(error(), "ZeroDivisionError: integer division or modulo by zero, in 'y'");
      divisor[at] = 1;
    }
    EXPECT_EQ(error(), "");
  }
}

}  // namespace
}  // namespace strata::testing
