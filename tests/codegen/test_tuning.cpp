// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `max-autotune`: what it measures, what it keeps, and that whatever it takes computes the same.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "codegen/compiler.h"
#include "codegen/tune_library.h"
#include "codegen/tune_loops.h"
#include "core/support/error.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using codegen::ObjectCache;
using codegen::TuningRecord;
using loop::Combine;
using loop::ScalarOp;

class TuningFolder {
 public:
  TuningFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "strata-tuning-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
    ::setenv("STRATA_CACHE_DIR", name.c_str(), 1);
  }
  ~TuningFolder() {
    ::unsetenv("STRATA_CACHE_DIR");
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ObjectCache cache() const { return {path_, 64 << 20}; }

 private:
  std::filesystem::path path_;
};

/// Per row: sum of x, then exp(x) + that sum.
void rows_case(LoopCase& c, const SymInt& rows, const SymInt& columns) {
  const auto x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows * columns);
  const SymInt i = c.outer(rows);
  const auto r = c.inner(columns);
  const size_t nest = c.body.begin_nest({r});
  c.body.reduce(
      {Combine::Sum, c.body.load(x, i * columns + c.body.axis_index(r)), loop::kNone, loop::kNone, DType::F32, 1});
  const auto s = c.inner(columns);
  c.body.begin_nest({s});
  const SymInt at = i * columns + c.body.axis_index(s);
  const auto e = c.body.unary(ScalarOp::Exp, c.body.load(x, at));
  c.body.store({y, at, c.body.binary(ScalarOp::Add, e, c.body.reduced(nest, 0)), loop::kNone, false, 2});
}

/// y = x transposed + 1, in a smaller type.
void transpose_case(LoopCase& c, int64_t rows, int64_t columns) {
  const auto x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::BF16, rows * columns);
  const SymInt i = c.outer(columns), j = c.outer(rows);
  c.body.begin_nest({});
  const auto v = c.body.binary(ScalarOp::Add, c.body.load(x, j * columns + i), c.body.constant(1, DType::F32));
  c.body.store({y, i * rows + j, c.body.cast(v, DType::BF16), loop::kNone, false, 1});
}

/// y = table[index], a gather.
void gather_case(LoopCase& c, int64_t n) {
  const auto index = c.input("index", DType::I64, n), table = c.input("table", DType::F32, 10);
  const auto y = c.output("y", DType::F32, n);
  const SymInt i = c.outer(n);
  c.body.begin_nest({});
  const SymInt k = c.body.indirect(c.body.load(index, i), {0, 9});
  c.body.store({y, i, c.body.load(table, k), loop::kNone, false, 1});
}

CompileOptions tuning_options(int threads) {
  CompileOptions options;
  options.threads = threads;
  options.mode = "max-autotune";
  return options;
}

codegen::TunedLoop tune(const LoopCase& c, const ObjectCache& cache, const CompileOptions& options) {
  const loop::Kernel* kernels[] = {&c.kernel};
  return codegen::tune_loops(kernels, host_target(), options, cache).at(0);
}

size_t chosen_count(const std::vector<TuningCandidate>& candidates) {
  return static_cast<size_t>(
      std::count_if(candidates.begin(), candidates.end(), [](const auto& t) { return t.chosen; }));
}

TEST(Tuning, MeasuresOnceAndRemembers) {
  TuningFolder folder;
  LoopCase c("rows");
  rows_case(c, 33, 70);
  const auto first = tune(c, folder.cache(), tuning_options(2));
  EXPECT_TRUE(first.measured);
  EXPECT_GE(first.candidates.size(), 4u);
  EXPECT_EQ(first.candidates[0].what, "default");
  EXPECT_EQ(chosen_count(first.candidates), 1u);
  for (const TuningCandidate& t : first.candidates) EXPECT_GT(t.ns, 0) << t.what;
  const auto again = tune(c, folder.cache(), tuning_options(2));
  EXPECT_FALSE(again.measured);
  ASSERT_EQ(again.candidates.size(), first.candidates.size());
  for (size_t i = 0; i < first.candidates.size(); ++i) {
    EXPECT_EQ(again.candidates[i].what, first.candidates[i].what);
    EXPECT_EQ(again.candidates[i].chosen, first.candidates[i].chosen);
  }
  EXPECT_EQ(again.schedule.vector_axis, first.schedule.vector_axis);
  EXPECT_EQ(again.schedule.vector_width, first.schedule.vector_width);
  EXPECT_EQ(again.schedule.unroll, first.schedule.unroll);
  EXPECT_EQ(again.schedule.grain, first.schedule.grain);
  EXPECT_TRUE(tune(c, folder.cache(), tuning_options(1)).measured);  // other threads, other times
  LoopCase other("rows");
  rows_case(other, 33, 71);
  EXPECT_TRUE(tune(other, folder.cache(), tuning_options(2)).measured);
}

TEST(Tuning, EqualKernelsAreMeasuredOnce) {
  LoopCase a("a"), b("b");
  rows_case(a, 5, 40);
  rows_case(b, 5, 40);
  const loop::Kernel* kernels[] = {&a.kernel, &b.kernel};
  const auto tuned = codegen::tune_loops(kernels, host_target(), tuning_options(1), ObjectCache());
  EXPECT_TRUE(tuned[0].measured);
  EXPECT_FALSE(tuned[1].measured);
  EXPECT_EQ(tuned[0].candidates.size(), tuned[1].candidates.size());
}

/// Every schedule that might be taken must compute what the evaluator does.
void check_schedules(const std::function<void(LoopCase&)>& make) {
  LoopCase shape("shape");
  make(shape);
  std::vector<loop::Schedule> schedules;
  for (int axis = -1; axis < static_cast<int>(shape.kernel.axes.size()); ++axis)
    for (int width : {0, 2, 8, 32, 64})
      for (int unroll : {0, 1, 4, 8}) {
        loop::Schedule s;
        s.vector_axis = axis;
        s.vector_width = width;
        s.unroll = unroll;
        schedules.push_back(s);
      }
  for (size_t i = 0; i < schedules.size(); i += 3) {  // a third of all combinations, each value many times
    LoopCase c("scheduled");
    make(c);
    c.kernel.schedule = schedules[i];
    SCOPED_TRACE(std::to_string(schedules[i].vector_axis) + " " + std::to_string(schedules[i].vector_width) + " " +
                 std::to_string(schedules[i].unroll));
    check(c);
  }
}

TEST(Tuning, EverySchedulesResultIsRight) {
  check_schedules([](LoopCase& c) { rows_case(c, 7, 45); });
  check_schedules([](LoopCase& c) {
    c.tolerance = 1e-2;
    transpose_case(c, 19, 37);
  });
}

TEST(Tuning, IndicesAreMadeUpSoThatTheyAreValid) {
  LoopCase c("gather");
  gather_case(c, 1000);
  EXPECT_TRUE(tune(c, ObjectCache(), tuning_options(1)).measured);
}

TEST(Tuning, ChecksOfDataAreNotTrippedByMeasuring) {
  LoopCase c("rows");
  rows_case(c, 33, 70);
  c.kernel.checks.emplace_back().kind = loop::Check::Kind::Divisor;  // made-up integers are 0
  EXPECT_TRUE(tune(c, ObjectCache(), tuning_options(1)).candidates.empty());
}

TEST(Tuning, UnknownSizesAreNotMeasured) {
  LoopCase c("rows");
  rows_case(c, c.env.symbol({"s0", {1, 100}, {}, {}, ""}), 40);
  c.kernel.symbols = {*c.env.symbol_id(*c.env.find("s0"))};
  const auto tuned = tune(c, ObjectCache(), tuning_options(1));
  EXPECT_FALSE(tuned.measured);
  EXPECT_TRUE(tuned.candidates.empty());
}

TEST(Tuning, CanBeCancelled) {
  LoopCase c("rows");
  rows_case(c, 33, 70);
  CompileOptions options = tuning_options(1);
  int asked = 0;
  options.cancelled = [&] { return ++asked > 3; };
  EXPECT_THROW(tune(c, ObjectCache(), options), Error);
  std::string said;
  options.cancelled = {};
  options.progress = [&](std::string_view what) { said = what; };
  tune(c, ObjectCache(), options);
  EXPECT_NE(said.find("rows"), std::string::npos) << said;
}

TEST(Tuning, DamagedRecordsAreMeasuredAgain) {
  TuningFolder folder;
  const ObjectCache cache = folder.cache();
  const TuningRecord record{{1, -1, 3}, {{"one way, or another", 12.5, true}, {"default", 20, false}}};
  codegen::store_tuning(cache, "key", host_target(), record);
  const auto found = codegen::load_tuning(cache, "key", host_target());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->choice, record.choice);
  ASSERT_EQ(found->candidates.size(), 2u);
  EXPECT_EQ(found->candidates[0].what, "one way, or another");
  EXPECT_EQ(found->candidates[0].ns, 12.5);
  EXPECT_TRUE(found->candidates[0].chosen);
  EXPECT_FALSE(codegen::load_tuning(cache, "another key", host_target()));
  Target other = host_target();
  other.features += ",+x";
  EXPECT_FALSE(codegen::load_tuning(cache, "key", other));
  // A record of another meaning under the kernel's key: one whose schedule names an axis that there is not.
  LoopCase c("rows");
  rows_case(c, 5, 40);
  EXPECT_TRUE(tune(c, cache, tuning_options(1)).measured);
  EXPECT_FALSE(tune(c, cache, tuning_options(1)).measured);
}

TEST(Tuning, TheFirstStaysUnlessAnotherIsClearlyFaster) {
  const double close[] = {100, 98, 99}, clear[] = {100, 98, 90},
               none[] = {100, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(codegen::best_of(close), 0u);
  EXPECT_EQ(codegen::best_of(clear), 2u);
  EXPECT_EQ(codegen::best_of(none), 0u);
}

// ----------------------------------------------------------------------------------------------------------- library

LibraryCall matmul(int64_t m, int64_t n, int64_t k) {
  LibraryCall c;
  c.kind = "matmul";
  c.name = "mm";
  c.operands = {{0, DType::F32, {m, k}, {k, 1}, 0, false, 0}, {1, DType::F32, {k, n}, {n, 1}, 0, false, 0}};
  c.result = {2, DType::F32, {m, n}, {n, 1}, 0, false, 0};
  c.flops = 2 * m * n * k;
  return c;
}

TEST(Tuning, LibraryCallsComeInSeveralWays) {
  TuningFolder folder;
  const std::vector<const Tensor*> constants(3);
  const LibraryCall call = matmul(6, 5, 7);
  const auto tuned =
      codegen::tune_library_call(call, constants, false, host_target(), tuning_options(2), folder.cache());
  EXPECT_TRUE(tuned.measured);
  EXPECT_GE(tuned.candidates.size(), 3u);
  EXPECT_EQ(chosen_count(tuned.candidates), 1u);
  const auto again =
      codegen::tune_library_call(call, constants, false, host_target(), tuning_options(2), folder.cache());
  EXPECT_FALSE(again.measured);
  EXPECT_EQ(again.choice, tuned.choice);
  EXPECT_EQ(again.one_thread, tuned.one_thread);
  const auto other =
      codegen::tune_library_call(matmul(6, 5, 8), constants, false, host_target(), tuning_options(2), folder.cache());
  EXPECT_TRUE(other.measured);
}

TEST(Tuning, EveryWayOfALibraryCallIsRight) {
  const std::vector<const Tensor*> constants(3);
  const LibraryCall call = matmul(6, 5, 7);
  std::vector<float> a(42), b(35);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 11) - 5;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
  for (const bool own : {false, true})
    for (const bool one_thread : {false, true}) {
      codegen::TunedCall tuned;
      tuned.choice = own ? library::LibraryChoice::Own : library::LibraryChoice::Library;
      tuned.one_thread = one_thread;
      auto kernel = codegen::compile_tuned_call(tuned, call, constants, tuning_options(2),
                                                std::make_shared<library::Scratch>(), false, {});
      std::vector<float> y(30, -77);
      std::byte* buffers[] = {reinterpret_cast<std::byte*>(a.data()), reinterpret_cast<std::byte*>(b.data()),
                              reinterpret_cast<std::byte*>(y.data())};
      kernel->run({buffers, SymBindings(), 2});
      for (size_t i = 0; i < 6; ++i)
        for (size_t j = 0; j < 5; ++j) {
          float sum = 0;
          for (size_t k = 0; k < 7; ++k) sum += a[i * 7 + k] * b[k * 5 + j];
          EXPECT_EQ(y[i * 5 + j], sum) << own << one_thread;
        }
      EXPECT_EQ(kernel->describe().find("one thread") != std::string::npos, one_thread);
    }
}

}  // namespace
}  // namespace strata::testing
