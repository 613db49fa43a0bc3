// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The executor with hand-made plans: kernels are little functions that work on the buffers they are given.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "core/runtime/parallel.h"
#include "core/runtime/plan.h"
#include "core/runtime/scratch_user.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Body = std::function<void(const LaunchArgs&)>;

class FakeKernel : public CompiledKernel {
 public:
  explicit FakeKernel(Body body) : body_(std::move(body)) {}
  void run(const LaunchArgs& args) override { body_(args); }

 private:
  Body body_;
};

float* floats(const LaunchArgs& args, int i) { return reinterpret_cast<float*>(args.buffers[i]); }

struct Harness {
  std::shared_ptr<Plan> plan = std::make_shared<Plan>();
  std::vector<std::unique_ptr<CompiledKernel>> kernels;

  Harness() { plan->env = std::make_shared<ShapeEnv>(); }
  SymInt symbol(const std::string& name, int64_t min, int64_t max) {
    return plan->env->symbol({name, {min, max}, {}, {}, ""});
  }

  int input(const std::string& name, std::vector<SymInt> shape, DType dtype = DType::F32) {
    PlanBuffer b;
    b.kind = PlanBuffer::Kind::Input;
    b.name = name;
    b.dtype = dtype;
    b.shape = shape;
    b.strides = contiguous_strides(shape);
    b.numel = Type::of(dtype, shape).tensor.numel();
    b.input = static_cast<int>(plan->inputs.size());
    plan->inputs.push_back(Type::of(dtype, shape));
    return add(std::move(b));
  }
  int buffer(PlanBuffer::Kind kind, const std::string& name, std::vector<SymInt> shape, int first, int last,
             int reuse_of = -1) {
    PlanBuffer b;
    b.kind = kind;
    b.name = name;
    b.shape = shape;
    b.strides = contiguous_strides(shape);
    b.numel = Type::of(DType::F32, shape).tensor.numel();
    b.first_launch = first;
    b.last_launch = last;
    b.reuse_of = reuse_of;
    return add(std::move(b));
  }
  int constant(const std::string& name, Tensor value) {
    PlanBuffer b;
    b.kind = PlanBuffer::Kind::Constant;
    b.name = name;
    b.dtype = value.dtype;
    b.shape.assign(value.shape.begin(), value.shape.end());
    b.strides.assign(value.strides.begin(), value.strides.end());
    b.numel = value.numel();
    b.constant = std::move(value);
    return add(std::move(b));
  }
  int add(PlanBuffer b) {
    plan->buffers.push_back(std::move(b));
    return static_cast<int>(plan->buffers.size()) - 1;
  }
  /// `written`: the last buffer.
  void launch(std::vector<int> buffers, Body body) {
    Launch l;
    l.name = "launch_" + std::to_string(plan->launches.size());
    l.buffers = buffers;
    LibraryCall call;
    call.result.buffer = static_cast<int>(buffers.size()) - 1;
    l.work = call;
    plan->launches.push_back(std::move(l));
    kernels.push_back(std::make_unique<FakeKernel>(std::move(body)));
  }
  void output(int buffer) {
    const PlanBuffer& b = plan->buffers[buffer];
    plan->outputs.push_back({buffer, b.dtype, b.shape, b.strides, 0, 0});
  }
  Executor executor() { return Executor(plan, std::move(kernels), 1); }
};

Tensor random_tensor(std::vector<int64_t> shape) {
  static std::mt19937 random(7);
  Tensor t = Tensor::empty(DType::F32, std::move(shape));
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, normal(random));
  return t;
}

Body map(const SymInt& numel, float (*f)(float)) {
  return [numel, f](const LaunchArgs& args) {
    const int64_t n = *evaluate(numel, args.symbols);
    for (int64_t i = 0; i < n; ++i) floats(args, 1)[i] = f(floats(args, 0)[i]);
  };
}

float twice(float x) { return 2 * x; }
float plus_one(float x) { return x + 1; }

/// x [s, 4] -> t0 = 2x -> t1 = t0 + 1 -> t2 = 2 t1 -> out = t2 + 1 = 4x + 3.
struct Chain : Harness {
  SymInt s = symbol("s70", 0, 512);
  Chain() {
    const SymInt n = s * SymInt(4);
    const int x = input("x", {s, 4});
    const int t0 = buffer(PlanBuffer::Kind::Temporary, "t0", {s, 4}, 0, 1);
    const int t1 = buffer(PlanBuffer::Kind::Temporary, "t1", {s, 4}, 1, 2);
    const int t2 = buffer(PlanBuffer::Kind::Temporary, "t2", {s, 4}, 2, 3);
    const int out = buffer(PlanBuffer::Kind::Output, "out", {s, 4}, 3, 3);
    launch({x, t0}, map(n, twice));
    launch({t0, t1}, map(n, plus_one));
    launch({t1, t2}, map(n, twice));
    launch({t2, out}, map(n, plus_one));
    output(out);
  }
};

TEST(Executor, DynamicSizesShareOneArena) {
  Chain c;
  Executor e = c.executor();
  for (int64_t s : {3, 1, 0, 40, 3, 512, 1, 3}) {
    const Tensor x = random_tensor({s, 4});
    const std::vector<Tensor> out = e.run({x});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].shape, x.shape);
    for (int64_t i = 0; i < x.numel(); ++i) EXPECT_FLOAT_EQ(out[0].at(i), 4 * x.at(i) + 3);
    const size_t one = std::max<size_t>(64, (static_cast<size_t>(s) * 16 + 63) / 64 * 64);
    EXPECT_EQ(e.arena_bytes(), 2 * one);
    EXPECT_EQ(e.unshared_bytes(), 3 * one);
    EXPECT_EQ(e.symbols()[0], s);
  }
  EXPECT_EQ(e.arena_offsets()[0], -1);
  EXPECT_EQ(e.arena_offsets()[1], e.arena_offsets()[3]);
}

/// The threads of two launches once it was found out what suits them, and after a run of a new size. Launch 0 halves
/// its time with each thread that it has, launch 1 doubles it.
std::vector<std::vector<int>> threads_found_out() {
  const auto spin = [](int64_t us) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  Harness h;
  const SymInt s = h.symbol("s", 0, 1000);
  const int x = h.input("x", {s});
  const int t = h.buffer(PlanBuffer::Kind::Temporary, "t", {s}, 0, 1);
  const int y = h.buffer(PlanBuffer::Kind::Output, "y", {s}, 1, 1);
  std::vector<int> threads(2);
  for (const int launch : {0, 1})
    h.launch({launch == 0 ? x : t, launch == 0 ? t : y}, [&, launch](const LaunchArgs& args) {
      take_threads_used();
      parallel_for_raw(args.threads, 1, args.threads, [](int64_t, int64_t) {});
      threads[launch] = take_threads_used();
      note_threads_used(threads[launch]);
      spin(launch == 0 ? 2000 / threads[0] : 200 * threads[1] * threads[1]);
    });
  h.output(y);
  Executor e(h.plan, std::move(h.kernels), 2);
  // Sizes that differ little share what they learn, so that none of them is run often.
  for (int64_t run = 0; run < 40; ++run) e.run({random_tensor({500 + run})});
  const std::vector<int> learnt = threads;
  EXPECT_TRUE(e.times().empty());
  e.set_timing(true);
  e.run({random_tensor({540})});
  std::vector<int> told;
  for (const auto& time : e.times()) told.push_back(time.threads);
  e.run({random_tensor({50})});
  return {learnt, told, threads};
}

TEST(Executor, GivesEachLaunchTheThreadsThatSuitIt) {
  const std::vector<int> each{2, 1}, anew{2, 2};
  std::vector<std::vector<int>> found;
  // It goes by what launches take, which other work of the machine may spoil once or twice.
  for (int turn = 0; turn < 4 && found != std::vector{each, each, anew}; ++turn) found = threads_found_out();
  EXPECT_EQ(found[0], each);
  EXPECT_EQ(found[1], each) << "as told";
  EXPECT_EQ(found[2], anew) << "a new size begins anew";
}

/// Fills its scratch, `rows` times 16 bytes, before it does its work.
class ScratchKernel : public FakeKernel, public ScratchUser {
 public:
  ScratchKernel(SymInt rows, size_t buffers, Body body)
      : FakeKernel(std::move(body)), bytes_(rows * SymInt(16)), buffers_(buffers) {}
  void run(const LaunchArgs& args) override {
    EXPECT_TRUE(expected_);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(args.buffers[buffers_]) % 64, 0u);
    std::memset(args.buffers[buffers_], 0xff, static_cast<size_t>(*evaluate(bytes_, args.symbols)));
    FakeKernel::run(args);
  }
  int64_t scratch_bytes(const SymBindings& symbols, int) override { return *evaluate(bytes_, symbols); }
  void expect_scratch() override { expected_ = true; }

 private:
  SymInt bytes_;
  size_t buffers_;
  bool expected_ = false;
};

/// All but the first launch of the chain use scratch: it lies where no temporary lives, and costs memory only where two
/// of them live at once.
/// As Chain, but that the result is t2 + 1 sixteen times, and launch 1 needs scratch.
struct LargeResult : Harness {
  SymInt s = symbol("s70", 0, 1 << 20);
  int t0, t1, t2;
  LargeResult() {
    const SymInt n = s * SymInt(4);
    const int x = input("x", {s, 4});
    t0 = buffer(PlanBuffer::Kind::Temporary, "t0", {s, 4}, 0, 1);
    t1 = buffer(PlanBuffer::Kind::Temporary, "t1", {s, 4}, 1, 2);
    t2 = buffer(PlanBuffer::Kind::Temporary, "t2", {s, 4}, 2, 3);
    const int out = buffer(PlanBuffer::Kind::Output, "out", {16, s, 4}, 3, 3);
    launch({x, t0}, map(n, twice));
    launch({t0, t1}, {});
    kernels.back() = std::make_unique<ScratchKernel>(s, 2, map(n, plus_one));
    launch({t1, t2}, map(n, twice));
    launch({t2, out}, [n](const LaunchArgs& args) {
      const int64_t some = *evaluate(n, args.symbols);
      for (int64_t i = 0; i < 16 * some; ++i) floats(args, 1)[i] = floats(args, 0)[i % some] + 1;
    });
    output(out);
  }
};

TEST(Executor, TemporariesLieInAResultThatIsNotBegun) {
  LargeResult c;
  Executor e = c.executor();
  for (const bool prepared : {false, true}) {
    e.set_prepared(prepared);
    std::vector<Tensor> out;
    for (int64_t s : {4096, 16, 4096, 1024, 0, 4096}) {
      const Tensor x = random_tensor({s, 4});
      out.clear();
      e.run_into({x}, out);
      ASSERT_EQ(out.at(0).numel(), 16 * x.numel());
      for (int64_t i = 0; i < out[0].numel(); ++i) ASSERT_FLOAT_EQ(out[0].at(i), 4 * x.at(i % x.numel()) + 3);
      if (s < 1024) continue;
      EXPECT_EQ(e.arena_bytes(), static_cast<size_t>(s) * 16);  // t2, which the last launch still reads
      EXPECT_EQ(e.unshared_bytes(), static_cast<size_t>(s) * 16 * 4);
      EXPECT_EQ(e.arena_offsets()[static_cast<size_t>(c.t2)], 0);
    }
  }
}

TEST(Executor, ScratchLiesAmongTheTemporaries) {
  Chain c;
  const SymInt n = c.s * SymInt(4);
  c.kernels[1] = std::make_unique<ScratchKernel>(c.s, 2, map(n, plus_one));
  c.kernels[2] = std::make_unique<ScratchKernel>(c.s, 2, map(n, twice));
  c.kernels[3] = std::make_unique<ScratchKernel>(c.s * SymInt(2), 2, map(n, plus_one));
  Executor e = c.executor();
  for (int64_t s : {4, 512, 0, 40, 4}) {
    const Tensor x = random_tensor({s, 4});
    const std::vector<Tensor> out = e.run({x});
    for (int64_t i = 0; i < x.numel(); ++i) ASSERT_FLOAT_EQ(out[0].at(i), 4 * x.at(i) + 3);
    if (s == 0) continue;
    const size_t one = (static_cast<size_t>(s) * 16 + 63) / 64 * 64;
    EXPECT_EQ(e.arena_bytes(), 3 * one);
    EXPECT_EQ(e.unshared_bytes(), 7 * one);
  }
}

TEST(Executor, MoreSizesThanAreKept) {
  Chain c;
  Executor e = c.executor();
  for (int round = 0; round < 2; ++round) {
    for (int64_t s = 1; s < 50; ++s) {
      const Tensor x = random_tensor({s, 4});
      EXPECT_FLOAT_EQ(e.run({x})[0].at(4 * s - 1), 4 * x.at(4 * s - 1) + 3);
    }
  }
}

TEST(Executor, ResultsOutliveTheNextCallAndPoisonedArena) {
  Chain c;
  // A first launch that poisons everything temporary: results must not depend on what was there.
  std::vector<std::pair<std::byte*, size_t>> seen;
  Executor e = c.executor();
  e.set_observer([&](size_t, int, const Tensor&) {});
  const Tensor x = random_tensor({8, 4}), y = random_tensor({8, 4});
  const Tensor first = e.run({x})[0];
  const std::vector<double> before = first.values();
  const Tensor second = e.run({y})[0];
  EXPECT_NE(first.storage, second.storage);
  EXPECT_EQ(first.values(), before);
  EXPECT_NE(second.values(), before);
}

TEST(Executor, ReuseWritesInPlace) {
  Harness h;
  const int x = h.input("x", {6});
  const int t0 = h.buffer(PlanBuffer::Kind::Temporary, "t0", {6}, 0, 1);
  const int t1 = h.buffer(PlanBuffer::Kind::Temporary, "t1", {6}, 1, 2, t0);
  const int out = h.buffer(PlanBuffer::Kind::Output, "out", {6}, 2, 2);
  h.launch({x, t0}, map(6, twice));
  bool same = false;
  h.launch({t0, t1}, [&](const LaunchArgs& args) {
    same = args.buffers[0] == args.buffers[1];
    for (int i = 0; i < 6; ++i) floats(args, 1)[i] = floats(args, 0)[i] + 1;
  });
  h.launch({t1, out}, map(6, twice));
  h.output(out);
  Executor e = h.executor();
  const Tensor in = random_tensor({6});
  EXPECT_FLOAT_EQ(e.run({in})[0].at(5), 4 * in.at(5) + 2);
  EXPECT_TRUE(same);
}

TEST(Executor, StridedInputsAreMadeContiguous) {
  Harness h;
  const int x = h.input("x", {2, 3});
  const int out = h.buffer(PlanBuffer::Kind::Output, "out", {2, 3}, 0, 0);
  h.launch({x, out}, map(6, twice));
  h.output(out);
  Executor e = h.executor();
  Tensor t = random_tensor({3, 2});
  std::swap(t.shape[0], t.shape[1]);
  std::swap(t.strides[0], t.strides[1]);
  const Tensor r = e.run({t})[0];
  for (int64_t i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(r.at(i), 2 * t.at(i));
  Tensor expanded = random_tensor({1, 3});
  expanded.shape = {2, 3};
  expanded.strides = {0, 1};
  const Tensor q = e.run({expanded})[0];
  for (int64_t i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(q.at(i), 2 * expanded.at(i));
}

TEST(Executor, OutputsAsViewsIntegersAndOtherBuffers) {
  Harness h;
  const SymInt s = h.symbol("s0", 1, 100);
  const int x = h.input("x", {s});
  const int k = h.constant("k", Tensor::of(DType::F32, {2}, std::vector<double>{5, 6}));
  const int t = h.buffer(PlanBuffer::Kind::Temporary, "t", {s}, 0, -1);
  const int out = h.buffer(PlanBuffer::Kind::Output, "out", {s, 2}, 1, 1);
  h.launch({x, t}, map(s, twice));
  h.launch({x, out}, [&](const LaunchArgs& args) {
    for (int64_t i = 0; i < 2 * *args.symbols[0]; ++i) floats(args, 1)[i] = static_cast<float>(i);
  });
  h.plan->outputs.push_back({out, DType::F32, {2, s}, {1, 2}, 0, 0});
  h.plan->outputs.push_back({out, DType::F32, {s - SymInt(1)}, {2}, 3, 0});
  h.plan->outputs.push_back({-1, DType::I64, {}, {}, 0, s * SymInt(3)});
  h.output(x);
  h.output(k);
  h.output(t);
  h.plan->outputs.push_back({-1, DType::F64, {}, {}, 0, 0, Tensor::scalar(DType::F64, 2.5)});
  h.plan->outputs.push_back({-1, DType::Bool, {}, {}, 0, 0, Tensor::full(DType::Bool, {}, 1)});
  Executor e = h.executor();
  const Tensor in = random_tensor({3});
  const std::vector<Tensor> r = e.run({in});
  EXPECT_THAT(r[0].values(), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(r[1].values(), ElementsAre(3, 5));
  EXPECT_EQ(r[2].dtype, DType::I64);
  EXPECT_EQ(r[2].int_at(0), 9);
  EXPECT_EQ(r[3].values(), in.values());
  EXPECT_NE(r[3].data(), in.data());
  EXPECT_THAT(r[4].values(), ElementsAre(5, 6));
  EXPECT_EQ(r[6].dtype, DType::F64);
  EXPECT_EQ(r[6].at(0), 2.5);
  EXPECT_EQ(r[7].dtype, DType::Bool);
  EXPECT_EQ(r[7].int_at(0), 1);
  e.run({random_tensor({3})});
  EXPECT_FLOAT_EQ(r[5].at(2), 2 * in.at(2));
}

TEST(Executor, MutationsAreWrittenBack) {
  Harness h;
  const int x = h.input("x", {3});
  const int state = h.constant("b_counter_total", Tensor::of(DType::F32, {3}, std::vector<double>{1, 2, 3}));
  const int next = h.buffer(PlanBuffer::Kind::Output, "next", {3}, 0, 0);
  const int doubled = h.buffer(PlanBuffer::Kind::Output, "doubled", {3}, 1, 1);
  h.launch({x, state, next}, [](const LaunchArgs& a) {
    for (int i = 0; i < 3; ++i) floats(a, 2)[i] = floats(a, 0)[i] + floats(a, 1)[i];
  });
  h.launch({x, doubled}, map(3, twice));
  h.output(next);
  h.output(doubled);
  h.output(next);
  h.plan->mutations.push_back({0, {OutputSpec::Kind::BufferMutation, "counter.total"}, -1});
  h.plan->mutations.push_back({1, {OutputSpec::Kind::UserInputMutation, "x"}, x});
  Executor e = h.executor();
  // A caller's strided view is written through.
  Tensor base = Tensor::of(DType::F32, {3, 2}, std::vector<double>{1, -1, 2, -2, 3, -3});
  Tensor view = base;
  view.shape = {3};
  view.strides = {2};
  const std::vector<Tensor> r = e.run({view});
  ASSERT_EQ(r.size(), 1u);
  EXPECT_THAT(r[0].values(), ElementsAre(2, 4, 6));
  EXPECT_THAT(base.values(), ElementsAre(2, -1, 4, -2, 6, -3));
  EXPECT_THAT(e.run({view})[0].values(), ElementsAre(4, 8, 12));
  EXPECT_THAT(h.plan->buffers[state].constant.values(), ElementsAre(4, 8, 12));
}

TEST(Executor, DerivedSizesAreSolved) {
  Harness h;
  const SymInt s = h.symbol("s1", 2, 10);
  const int x = h.input("x", {s * SymInt(2) + SymInt(1)});
  const int y = h.input("y", {s, s * SymInt(2)});
  const int out = h.buffer(PlanBuffer::Kind::Output, "out", {s}, 0, 0);
  h.launch({x, y, out},
           [](const LaunchArgs& a) { std::memset(a.buffers[2], 0, static_cast<size_t>(*a.symbols[0]) * 4); });
  h.output(out);
  Executor e = h.executor();
  EXPECT_EQ(e.run({random_tensor({7}), random_tensor({3, 6})})[0].shape, std::vector<int64_t>{3});
  EXPECT_THROW(e.run({random_tensor({9}), random_tensor({3, 6})}), Error);
}

TEST(Executor, SolvesAnEquationWhenThatIsAllThereIs) {
  Harness h;
  const SymInt s = h.symbol("s1", 2, 10);
  const int x = h.input("x", {s * SymInt(2) + SymInt(1)});
  h.output(x);
  Executor e = h.executor();
  e.run({random_tensor({7})});
  EXPECT_EQ(e.symbols()[0], 3);
  const auto message = [&](int64_t size) { return testing::error_text([&] { e.run({random_tensor({size})}); }); };
  EXPECT_THAT(message(8), HasSubstr("size 8 in dimension 0 of input 0 (x) is not of the form"));
  EXPECT_THAT(message(41), HasSubstr("which makes s1 = 20, but s1 <= 10"));
}

TEST(Executor, WrongInputsAreNamed) {
  Chain c;
  const int mask = c.input("mask", {c.s, 7}, DType::I64);
  (void)mask;
  Executor e = c.executor();
  const auto message = [&](const std::vector<Tensor>& inputs) { return testing::error_text([&] { e.run(inputs); }); };
  const Tensor x = random_tensor({3, 4}), good = Tensor::full(DType::I64, {3, 7}, 1);
  EXPECT_EQ(message({x, good}), "");
  EXPECT_EQ(message({x}), "the model takes 2 inputs, found 1");
  EXPECT_EQ(message({x.to(DType::F64), good}), "input 0 (x) has dtype float64, expected float32; convert it first");
  EXPECT_THAT(message({random_tensor({3}), good}), HasSubstr("input 0 (x) has 1 dimensions (float32[3]), expected 2"));
  EXPECT_EQ(message({random_tensor({3, 5}), good}), "size 5 in dimension 1 of input 0 (x), expected 4");
  EXPECT_EQ(message({x, Tensor::full(DType::I64, {2, 7}, 1)}),
            "size 2 in dimension 0 of input 1 (mask), expected s70 = 3");
  EXPECT_EQ(message({random_tensor({600, 4}), good}),
            "size 600 in dimension 0 of input 0 (x) is out of range: s70 <= 512; the program was exported for these "
            "sizes only");
  EXPECT_THAT(message({x, Tensor{}}), HasSubstr("input 1 (mask) is missing"));
  EXPECT_EQ(message({x, good}), "");
}

TEST(Executor, TimingAndObserver) {
  Chain c;
  Executor e = c.executor();
  const Tensor x = random_tensor({5, 4});
  e.run({x});
  EXPECT_TRUE(e.times().empty());
  e.set_timing(true);
  e.run({x});
  ASSERT_EQ(e.times().size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(e.times()[i].launch, i);
    EXPECT_GE(e.times()[i].end, e.times()[i].start);
    if (i > 0) {
      EXPECT_GE(e.times()[i].start, e.times()[i - 1].end);
    }
  }
  std::vector<std::pair<size_t, int>> seen;
  std::vector<double> t0;
  e.set_observer([&](size_t launch, int buffer, const Tensor& value) {
    seen.emplace_back(launch, buffer);
    if (launch == 0) t0 = value.values();
  });
  e.run({x});
  EXPECT_THAT(seen, ElementsAre(std::pair<size_t, int>{0, 1}, std::pair<size_t, int>{1, 2},
                                std::pair<size_t, int>{2, 3}, std::pair<size_t, int>{3, 4}));
  EXPECT_FLOAT_EQ(t0[7], 2 * x.at(7));
}

TEST(Executor, MalformedPlansAreOurBug) {
  Chain c;
  c.plan->launches[1].buffers[0] = 99;
  EXPECT_THROW(c.executor(), Error);
  Chain d;
  d.kernels.pop_back();
  EXPECT_THROW(d.executor(), Error);
  Chain f;
  f.plan->outputs[0].offset = 1;
  Executor e = f.executor();
  EXPECT_THROW(e.run({random_tensor({2, 4})}), Error);
}

/// x [6] -> count of its positive elements -> t = those, doubled -> count of t above 4 -> out = those plus 1.
struct Selections : Harness {
  SymInt some = symbol("u0", 0, 6), few = symbol("u1", 0, kSymMax);

  int number(const std::string& name, int launch) {
    const int b = buffer(PlanBuffer::Kind::Temporary, name, {}, launch, launch);
    plan->buffers[static_cast<size_t>(b)].dtype = DType::I64;
    return b;
  }
  Body counted(SymInt n, float least) {
    return [n, least](const LaunchArgs& args) {
      const float* x = floats(args, 0);
      const auto end = x + *evaluate(n, args.symbols);
      *reinterpret_cast<int64_t*>(args.buffers[1]) = std::count_if(x, end, [&](float v) { return v > least; });
    };
  }
  Body selected(SymInt n, float least, float (*f)(float)) {
    return [n, least, f](const LaunchArgs& args) {
      float* to = floats(args, 1);
      for (int64_t i = 0; i < *evaluate(n, args.symbols); ++i)
        if (floats(args, 0)[i] > least) *to++ = f(floats(args, 0)[i]);
    };
  }
  Selections() {
    const int x = input("x", {6});
    const int count = number("count", 0), t = buffer(PlanBuffer::Kind::Temporary, "t", {some}, 1, 3);
    const int above = number("above", 2), out = buffer(PlanBuffer::Kind::Output, "out", {few, SymInt(1)}, 3, 3);
    launch({x, count}, counted(6, 0));
    launch({x, t}, selected(6, 0, twice));
    launch({t, above}, counted(some, 4));
    launch({t, out}, selected(some, 4, plus_one));
    output(out);
    plan->outputs.push_back({-1, DType::I64, {}, {}, 0, some});
    plan->sizes = {{some, count, 0, DType::I64, 0, 0, "'first' at m.py:1"},
                   {few, above, 0, DType::I64, 2, 0, "'second' at m.py:2"}};
  }
};

TEST(Executor, SizesThatDataTells) {
  Selections s;
  Executor e = s.executor();
  for (const std::vector<double>& x : std::vector<std::vector<double>>{
           {1, -1, 3, -4, 5, 0}, {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {3, 3, 3, 3, 3, 3}, {1, -1, 3, -4, 5, 0}}) {
    const std::vector<Tensor> out = e.run({Tensor::of(DType::F32, {6}, x)});
    std::vector<double> expected;
    int64_t positive = 0;
    for (const double v : x) {
      positive += v > 0;
      if (v > 2) expected.push_back(2 * v + 1);
    }
    EXPECT_EQ(out[0].values(), expected);
    EXPECT_THAT(out[0].shape, ElementsAre(static_cast<int64_t>(expected.size()), 1));
    EXPECT_EQ(out[1].int_at(0), positive);
    EXPECT_EQ(e.symbols()[0], positive);
  }
}

std::string error_of_run(Executor& e, std::vector<double> x) {
  return testing::error_text([&] { e.run({Tensor::of(DType::F32, {6}, x)}); });
}

TEST(Executor, WhatIsAssertedOfThem) {
  Selections s;
  s.plan->conditions.push_back({{"at least two", s.some, 2, SizeGuard::Relation::GreaterEqual}, "'check' at m.py:7"});
  s.plan->conditions.push_back({{"fewer", s.few, s.some, SizeGuard::Relation::Less}, "'check' at m.py:8"});
  Executor e = s.executor();
  EXPECT_EQ(error_of_run(e, {1, 3, 0, 0, 0, 0}), "");
  EXPECT_EQ(error_of_run(e, {1, 0, 0, 0, 0, 0}), "at least two (found 1 and 2), in 'check' at m.py:7");
  EXPECT_EQ(error_of_run(e, {3, 3, 0, 0, 0, 0}), "fewer (found 2 and 2), in 'check' at m.py:8");
  EXPECT_EQ(error_of_run(e, {1, 3, 0, 0, 0, 0}), "");
}

TEST(Executor, SizesOutOfRangeOrUnequal) {
  Selections s;
  s.plan->sizes[0].size = s.some + s.some;
  s.plan->sizes[1].size = s.some;
  Executor e = s.executor();
  EXPECT_THAT(error_of_run(e, {1, 1, 1, 0, 0, 0}), HasSubstr("size 3, in 'first' at m.py:1, is not of the form 2*u0"));
  Selections t;
  t.plan->sizes[0].size = t.some * SymInt(-1);
  Executor f = t.executor();
  EXPECT_THAT(error_of_run(f, {1, 1, 1, 0, 0, 0}), HasSubstr("size 3, in 'first' at m.py:1, is out of range: u0 >= 0"));
}

}  // namespace
}  // namespace strata
