// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Mean and squared distances from it in one pass over a line, against the two passes of the rules.

#include "codegen/loop_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/loop_plan.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

constexpr float kInf = std::numeric_limits<float>::infinity();

/// mean[i], distances[i] (squared, added up) and y = (v - mean) * 0.5 of v = 3 * row i of x, in the nests of a norm.
struct Norm {
  LoopCase c{"norm"};
  SymInt i, length;
  DType type;
  BufferId x, mean, distances, y;
  AxisId last = 0;

  Norm(int64_t points, int64_t elements, DType type = DType::F32, bool symbolic = false)
      : length(symbolic ? c.size("n", elements, 64, 1024) : SymInt(elements)), type(type) {
    x = c.input("x", type, points * length);
    mean = c.output("mean", type, points);
    distances = c.output("distances", type, points);
    y = c.output("y", type, points * length);
    i = c.outer(points);
    Body& b = c.body;
    b.begin_nest({last = c.inner(length)});
    b.reduce({Combine::Sum, element(), kNone, kNone, type, 0});
    b.begin_nest({});
    b.reduced(0, 0);
    b.begin_nest({last = c.inner(length)});
    const ScalarId d = difference();
    b.reduce({Combine::Sum, b.binary(ScalarOp::Mul, d, d), kNone, kNone, type, 0});
    b.begin_nest({});
    b.store({mean, i, center()});
    b.store({distances, i, b.reduced(2, 0)});
    b.begin_nest({last = c.inner(length)});
    b.store({y, i * length + b.axis_index(last), b.binary(ScalarOp::Mul, difference(), b.constant(0.5, type))});
    c.tolerance = type == DType::F64 ? 1e-13 : 2e-6;
  }

  ScalarId element() {
    Body& b = c.body;
    return b.binary(ScalarOp::Mul, b.load(x, i * length + b.axis_index(last)), b.constant(3, type));
  }
  ScalarId center() {
    Body& b = c.body;
    return b.binary(ScalarOp::Div, b.reduced(0, 0), b.cast(b.index(length), type));
  }
  ScalarId difference() {
    const ScalarId v = element();
    return c.body.binary(ScalarOp::Sub, v, center());
  }

  void fill_with(const std::function<double(int64_t)>& value) {
    c.fill = [value, this](BufferId buffer, Bytes& bytes) {
      const size_t size = dtype_size(type);
      for (size_t at = 0; buffer == 0 && at * size < bytes.size(); ++at) {
        const double wide = value(static_cast<int64_t>(at));
        const auto narrow = static_cast<float>(wide);
        std::memcpy(bytes.data() + at * size, size == 8 ? static_cast<const void*>(&wide) : &narrow, size);
      }
      return buffer == 0;
    };
  }

  /// Neither the mean nor what is computed with it: how far these are off goes with the largest number of the line.
  void store_distances_only() {
    std::vector<Store>& stores = c.kernel.nests[3].stores;
    stores.erase(stores.begin());
    c.kernel.nests[4].stores.clear();
  }

  /// Passes over a line that the compiled kernel makes.
  int64_t passes() const {
    Target target;
    target.avx512 = true;
    target.vector_bits = 512;
    const std::vector<Nest> nests = codegen::plan_kernel(c.kernel, target).kernel.nests;
    return std::ranges::count_if(nests, [](const Nest& nest) { return !nest.axes.empty(); });
  }
};

double noise(int64_t at) {
  return std::sin(static_cast<double>(at) * 12.9898) + std::cos(static_cast<double>(at) * 78.233);
}

TEST(LoopMoments, LinesOfAnyLength) {
  for (const DType type : {DType::F32, DType::F64})
    for (const bool symbolic : {false, true})
      for (const int64_t n : {16, 17, 31, 64, 65, 100, 768, 1000, 1024, 2049, 5000, 16384}) {
        if (symbolic && (n < 64 || n > 1024)) continue;
        SCOPED_TRACE(n);
        Norm norm(3, n, type, symbolic);
        norm.fill_with(noise);
        EXPECT_EQ(norm.passes(), 2);
        for (const Target& target : targets()) check(norm.c, Check::Jit, target);
      }
}

// What is near the mean is found in four vectors of the line: if these have little to do with the rest of it, squared
// distances are added up again. Lines of one block and of several.
class LoopMomentsOutliers : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Lengths, LoopMomentsOutliers, ::testing::Values(2048, 9216));

TEST_P(LoopMomentsOutliers, Anywhere) {
  const int64_t length = GetParam();
  const std::function<bool(int64_t)> outliers[] = {
      [](int64_t at) { return at == 0; },      [](int64_t at) { return at == 700; },
      [](int64_t at) { return at < 16; },      [](int64_t at) { return at % 512 < 16; },
      [](int64_t at) { return at % 512 < 8; }, [](int64_t at) { return at > 2000; },
  };
  for (const auto& is_one : outliers)
    for (const double size : {-1e4, 1e3})
      for (const double center : {0., 1e3}) {
        Norm norm(3, length);
        norm.fill_with([&](int64_t at) { return is_one(at % length) ? size : center + noise(at); });
        norm.store_distances_only();
        for (const Target& target : targets()) check(norm.c, Check::Jit, target);
      }
}

TEST(LoopMoments, EqualNumbersAreAtNoDistance) {
  for (const int64_t n : {16, 33, 768, 1000, 6000}) {
    Norm norm(2, n);
    norm.fill_with([](int64_t) { return 3.7; });
    norm.store_distances_only();
    codegen::LoopJit jit(host_target());
    const Kernel* kernels[] = {&norm.c.kernel};
    const auto compiled = jit.compile(kernels);
    std::vector<float> x(static_cast<size_t>(2 * n), 3.7F), mean(2), distances(2, 1), y(x.size());
    std::byte* places[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(mean.data()),
                           reinterpret_cast<std::byte*>(distances.data()), reinterpret_cast<std::byte*>(y.data())};
    compiled[0]->run({places, norm.c.symbols, 1});
    EXPECT_EQ(distances, (std::vector<float>{0, 0})) << n;
  }
}

TEST(LoopMoments, LargeNumbersInfinitiesAndNan) {
  const std::function<double(int64_t)> fills[] = {
      [](int64_t at) { return 1e20 * noise(at); },           [](int64_t at) { return 1e36 * noise(at); },
      [](int64_t at) { return at % 700 == 350 ? kInf : 1; }, [](int64_t at) { return at % 700 == 3 ? kInf : 1; },
      [](int64_t at) { return at % 700 == 350 ? NAN : 1; },  [](int64_t at) { return at % 700 == 0 ? NAN : 1; },
  };
  for (size_t k = 0; k < std::size(fills); ++k) {
    SCOPED_TRACE(k);
    Norm norm(2, 700);
    norm.fill_with(fills[k]);
    // How far the mean is off goes with the largest number of the line.
    if (k < 2) norm.store_distances_only();
    for (const Target& target : targets()) check(norm.c, Check::Jit, target);
  }
}

TEST(LoopMoments, OnlyWhereTheSumIsDividedByTheCount) {
  Norm others(3, 100);
  Body& b = others.c.body;
  const BufferId z = others.c.output("z", DType::F32, 3);
  b.begin_nest({});
  b.store({z, others.i, b.reduced(0, 0)});
  EXPECT_EQ(others.passes(), 3) << "the sum is stored";
  others.c.tolerance = 3e-5;  // of a sum of 100 numbers up to 6, in any order
  check(others.c);

  Norm by_less(3, 100);
  for (Scalar& s : by_less.c.kernel.scalars)
    if (s.op == ScalarOp::Const && s.number == 100) s.number = 99;
  EXPECT_EQ(by_less.passes(), 3);
  check(by_less.c);

  EXPECT_EQ(Norm(3, 15).passes(), 3) << "less than a vector";
  EXPECT_EQ(Norm(3, 65537).passes(), 3) << "too little of it would be in k";
}

TEST(LoopMoments, NotOfWhatTheFirstPassWrites) {
  Norm norm(3, 100);
  Kernel& k = norm.c.kernel;
  // The first pass also doubles x, so that the second sees other numbers.
  k.buffers[norm.x].role = BufferRole::InOut;
  k.nests[0].stores.push_back(k.nests[4].stores[0]);
  k.nests[0].stores[0].buffer = norm.x;
  k.nests[0].stores[0].value = k.nests[0].reductions[0].value;
  k.nests[0].stores[0].index = k.scalars[k.nests[0].body[0]].index;
  EXPECT_EQ(norm.passes(), 3);
}

}  // namespace
}  // namespace strata::testing
