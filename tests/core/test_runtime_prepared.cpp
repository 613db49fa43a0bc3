// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Prepared plans: no allocation from the second call on, and no result that a later call changes.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <set>

#include "core/runtime/plan.h"
#include "core/runtime/result_memory.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STRATA_COUNTS_ALLOCATIONS 1
namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
}  // namespace

// Not inline: the compiler would see memory of `new` go to `free`.
[[gnu::noinline]] void* operator new(size_t size) {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
#endif

namespace strata {
namespace {

class AddKernel : public CompiledKernel {
 public:
  explicit AddKernel(SymInt numel) : numel_(std::move(numel)) {}
  void run(const LaunchArgs& args) override {
    const auto* x = reinterpret_cast<const float*>(args.buffers[0]);
    auto* y = reinterpret_cast<float*>(args.buffers[1]);
    const int64_t n = numel_.is_const() ? numel_.value() : *evaluate(numel_, args.symbols);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 1;
  }

 private:
  SymInt numel_;
};

/// x [n, 3] -> t = x + 1 -> y = t + 1; results y, and a copy of t.
struct TwoSteps {
  std::shared_ptr<Plan> plan = std::make_shared<Plan>();
  std::vector<std::unique_ptr<CompiledKernel>> kernels;
  std::vector<SymInt> shape;

  explicit TwoSteps(bool symbolic = false) {
    plan->env = std::make_shared<ShapeEnv>();
    shape = {symbolic ? plan->env->symbol({"s0", {0, 100}, {}, {}, ""}) : SymInt(5), 3};
    plan->inputs.push_back(Type::of(DType::F32, shape));
    add(PlanBuffer::Kind::Input, -1, -1);
    plan->buffers[0].input = 0;
    add(PlanBuffer::Kind::Temporary, 0, 1);
    add(PlanBuffer::Kind::Output, 1, 1);
    launch(0, 1);
    launch(1, 2);
    output(2);
    output(1);
  }
  void add(PlanBuffer::Kind kind, int first, int last) {
    PlanBuffer b;
    b.kind = kind;
    b.name = "b" + std::to_string(plan->buffers.size());
    b.shape = shape;
    b.strides = contiguous_strides(shape);
    b.numel = shape[0] * shape[1];
    b.first_launch = first;
    b.last_launch = last;
    plan->buffers.push_back(std::move(b));
  }
  void launch(int from, int to) {
    Launch l;
    l.buffers = {from, to};
    LibraryCall call;
    call.result.buffer = 1;
    l.work = call;
    plan->launches.push_back(std::move(l));
    kernels.push_back(std::make_unique<AddKernel>(shape[0] * shape[1]));
  }
  void output(int buffer) { plan->outputs.push_back({buffer, DType::F32, shape, contiguous_strides(shape), 0, 0}); }
  std::unique_ptr<Executor> executor() {
    auto e = std::make_unique<Executor>(plan, std::move(kernels), 1);
    e->set_prepared(true);
    return e;
  }
};

Tensor rows(int64_t n, double first) {
  Tensor t = Tensor::empty(DType::F32, {n, 3});
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, first + static_cast<double>(i));
  return t;
}

void expect_results(const std::vector<Tensor>& results, const Tensor& x) {
  ASSERT_EQ(results.size(), 2u);
  for (int64_t i = 0; i < x.numel(); ++i) {
    EXPECT_EQ(results[0].at(i), x.at(i) + 2);
    EXPECT_EQ(results[1].at(i), x.at(i) + 1);
  }
}

#ifdef STRATA_COUNTS_ALLOCATIONS
TEST(PreparedPlan, AllocatesNothingFromTheSecondCallOn) {
  TwoSteps c;
  const auto e = c.executor();
  const std::vector<Tensor> inputs{rows(5, 1)};
  std::vector<Tensor> results;
  e->run_into(inputs, results);
  for (int call = 0; call < 3; ++call) {
    allocations = 0;
    counting = true;
    e->run_into(inputs, results);
    counting = false;
    EXPECT_EQ(allocations, 0);
    expect_results(results, inputs[0]);
  }
}

TEST(PreparedPlan, StridedInputsAreCopiedWithoutAllocation) {
  TwoSteps c;
  const auto e = c.executor();
  Tensor columns = rows(5, 1);
  columns.strides = {1, 5};
  const std::vector<Tensor> inputs{columns};
  std::vector<Tensor> results;
  e->run_into(inputs, results);
  allocations = 0;
  counting = true;
  e->run_into(inputs, results);
  counting = false;
  EXPECT_EQ(allocations, 0);
  expect_results(results, columns.contiguous());
}
#endif

TEST(PreparedPlan, MemoryComesBackWhenNobodyHoldsTheResult) {
  TwoSteps c;
  const auto e = c.executor();
  std::set<const std::byte*> places;
  for (int call = 0; call < 5; ++call) {
    const Tensor x = rows(5, call);
    const auto results = e->run({x});
    expect_results(results, x);
    places.insert(results[0].data());
  }
  EXPECT_EQ(places.size(), 1u);
  EXPECT_EQ(e->kept_bytes(), 2u * 15 * 4);
  e->set_prepared(false);
  EXPECT_EQ(e->kept_bytes(), 0u);
}

TEST(PreparedPlan, ResultsThatAreHeldStayAsTheyWere) {
  TwoSteps c;
  const auto e = c.executor();
  std::vector<std::vector<Tensor>> held;
  for (int call = 0; call < 9; ++call) held.push_back(e->run({rows(5, 10 * call)}));
  for (int call = 0; call < 9; ++call) expect_results(held[static_cast<size_t>(call)], rows(5, 10 * call));
}

TEST(PreparedPlan, AResultMayBeTheNextInput) {
  TwoSteps c;
  const auto e = c.executor();
  std::vector<Tensor> results = e->run({rows(5, 0)});
  for (int call = 1; call < 6; ++call) {
    const std::vector<Tensor> inputs{results[0]};
    e->run_into(inputs, results);
    expect_results(results, rows(5, 2 * call));
  }
}

TEST(PreparedPlan, OtherSizesGetMemoryThatFits) {
  TwoSteps c(true);
  const auto e = c.executor();
  for (const int64_t n : {4, 90, 4, 0, 90, 91, 1}) {
    const Tensor x = rows(n, 3);
    const auto results = e->run({x});
    EXPECT_EQ(results[0].shape, x.shape);
    expect_results(results, x);
  }
}

TEST(PreparedPlan, SmallResultsDoNotKeepTheMemoryOfLargeOnes) {
  ResultMemory memory;
  memory.take(1 << 20);
  EXPECT_EQ(memory.bytes(), size_t{1} << 20);
  memory.take(100);
  EXPECT_EQ(memory.bytes(), 100u);
}

}  // namespace
}  // namespace strata
