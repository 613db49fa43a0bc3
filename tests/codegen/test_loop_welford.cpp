// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Mean and variance in one pass, against two passes in double precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

/// mean[i], m2[i] and count[i] of the rows (or, with `by_column`, columns) of x; reduced dimensions are `shape`.
struct Moments {
  LoopCase c{"moments"};
  int64_t points, elements = 1;
  bool by_column;

  Moments(int64_t points, const std::vector<int64_t>& shape, bool by_column = false, bool odd_only = false)
      : points(points), by_column(by_column) {
    for (int64_t n : shape) elements *= n;
    BufferId x = c.input("x", DType::F32, points * elements);
    std::vector<BufferId> out;
    for (const char* name : {"mean", "m2", "count"}) out.push_back(c.output(name, DType::F32, points));
    SymInt i = c.outer(points), place = 0;
    std::vector<AxisId> axes;
    for (int64_t n : shape) {
      axes.push_back(c.inner(n));
      place = place * n + c.body.axis_index(axes.back());
    }
    Body& b = c.body;
    size_t nest = b.begin_nest(axes);
    ScalarId mask =
        odd_only ? b.binary(ScalarOp::Eq, b.binary(ScalarOp::And, b.index(place), b.integer(1)), b.integer(1)) : kNone;
    b.reduce({Combine::Welford, b.load(x, by_column ? place * points + i : i * elements + place), kNone, mask,
              DType::F32, 0});
    b.begin_nest({});
    for (size_t r = 0; r < 3; ++r) b.store({out[r], i, b.reduced(nest, 0, r)});
  }

  /// The largest error of mean and of variance, in units of the data's spread; and whether all counts are right.
  void expect_exact(double center, const Target& target, int64_t counted) {
    std::vector<float> x(static_cast<size_t>(points * elements)), mean(static_cast<size_t>(points)), m2 = mean,
                                                                                                     count = mean;
    std::normal_distribution<double> noise(center, 1);
    for (float& v : x) v = static_cast<float>(noise(random_engine()));
    codegen::LoopJit jit(target);
    const Kernel* kernels[] = {&c.kernel};
    auto compiled = jit.compile(kernels);
    std::byte* places[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(mean.data()),
                           reinterpret_cast<std::byte*>(m2.data()), reinterpret_cast<std::byte*>(count.data())};
    compiled[0]->run({places, c.symbols, 1});
    const int64_t step = counted < elements ? 2 : 1;
    for (int64_t p = 0; p < points; ++p) {
      const auto at = [&](int64_t e) {
        return static_cast<double>(x[static_cast<size_t>(by_column ? e * points + p : p * elements + e)]);
      };
      double sum = 0, squares = 0;
      for (int64_t e = step - 1; e < elements; e += step) sum += at(e);
      const double center_of_row = sum / static_cast<double>(counted);
      for (int64_t e = step - 1; e < elements; e += step) squares += (at(e) - center_of_row) * (at(e) - center_of_row);
      const auto q = static_cast<size_t>(p);
      EXPECT_EQ(count[q], static_cast<float>(counted));
      // Each of up to a hundred steps in a row rounds the mean.
      EXPECT_NEAR(mean[q], center_of_row, 2.5e-6 * std::fabs(center) + 2e-6) << elements;
      // The mean in single precision is off by half a unit in its last place: what that adds to the variance, and a
      // little.
      const double ulp = std::max(1.0, std::fabs(center)) * 6e-8;
      EXPECT_NEAR(m2[q], squares, 3e-5 * squares + 16 * static_cast<double>(counted) * ulp)
          << elements << " elements, mean " << center;
    }
  }
};

TEST(LoopWelford, RowsOfAnyLength) {
  for (const Target& target : targets())
    for (int64_t n : {1, 2, 15, 16, 17, 64, 65, 200, 1000, 1024, 4099})
      for (double center : {0., 3., 1e4}) Moments(3, {n}).expect_exact(center, target, n);
}

TEST(LoopWelford, ColumnsAndSeveralDimensions) {
  for (const Target& target : targets())
    for (double center : {0., 1e4}) {
      Moments(37, {100}, true).expect_exact(center, target, 100);
      Moments(3, {5, 16}).expect_exact(center, target, 80);
      Moments(3, {7, 33}).expect_exact(center, target, 231);
      Moments(40, {6, 5}, true).expect_exact(center, target, 30);
    }
}

TEST(LoopWelford, Masked) {
  for (const Target& target : targets())
    for (double center : {0., 1e4}) Moments(3, {200}, false, true).expect_exact(center, target, 100);
}

}  // namespace
}  // namespace strata::testing
