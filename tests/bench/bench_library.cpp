// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Prints the speed of library calls and the executor's overhead. Usage: bench_library [threads]

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "codegen/compiler.h"
#include "codegen/library_call.h"
#include "core/runtime/parallel.h"
#include "core/runtime/plan.h"

namespace strata {
namespace {

double seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Median of 5 batches, each of about 20 ms.
double time_of(const std::function<void()>& f) {
  f();
  double start = seconds();
  f();
  const int count = std::clamp(static_cast<int>(0.02 / std::max(1e-9, seconds() - start)), 1, 100000);
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    start = seconds();
    for (int i = 0; i < count; ++i) f();
    times.push_back((seconds() - start) / count);
  }
  std::sort(times.begin(), times.end());
  return times[std::getenv("BENCH_MIN") ? 0 : 2];
}

struct Plans {
  std::shared_ptr<Plan> plan = std::make_shared<Plan>();

  int buffer(PlanBuffer::Kind kind, const std::vector<int64_t>& shape, int first = 0) {
    PlanBuffer b;
    b.kind = kind;
    b.name = "b" + std::to_string(plan->buffers.size());
    b.shape.assign(shape.begin(), shape.end());
    b.strides = contiguous_strides(b.shape);
    b.numel = Type::of(DType::F32, b.shape).tensor.numel();
    b.first_launch = first;
    if (kind == PlanBuffer::Kind::Constant) b.constant = Tensor::full(DType::F32, shape, 0.01);
    if (kind == PlanBuffer::Kind::Input) {
      b.input = static_cast<int>(plan->inputs.size());
      plan->inputs.push_back(Type::of(DType::F32, b.shape));
    }
    plan->buffers.push_back(std::move(b));
    return static_cast<int>(plan->buffers.size()) - 1;
  }

  LibraryOperand operand(Launch& launch, int buffer) {
    const PlanBuffer& b = plan->buffers[buffer];
    LibraryOperand o;
    o.buffer = static_cast<int>(launch.buffers.size());
    o.shape = b.shape;
    o.strides = b.strides;
    o.constant = b.kind == PlanBuffer::Kind::Constant;
    launch.buffers.push_back(buffer);
    return o;
  }

  void launch(LibraryCall call, const std::vector<int>& operands, int result) {
    Launch l;
    l.name = call.name = call.kind + std::to_string(plan->launches.size());
    for (int b : operands) call.operands.push_back(operand(l, b));
    call.result = operand(l, result);
    l.work = std::move(call);
    plan->launches.push_back(std::move(l));
  }

  /// Seconds per run.
  double time(int threads) {
    const int last = plan->launches.empty() ? 0 : static_cast<int>(plan->launches.size()) - 1;
    for (PlanBuffer& b : plan->buffers) b.last_launch = last;
    for (size_t i = 0; i < plan->buffers.size(); ++i) {
      const PlanBuffer& b = plan->buffers[i];
      if (b.kind == PlanBuffer::Kind::Output)
        plan->outputs.push_back({static_cast<int>(i), b.dtype, b.shape, b.strides, 0, 0});
    }
    CompileOptions options;
    options.threads = threads;
    Executor executor(plan, make_cpu_compiler()->compile(*plan, options), threads);
    std::vector<Tensor> inputs;
    for (const Type& t : plan->inputs) {
      std::vector<int64_t> shape;
      for (const SymInt& s : t.tensor.shape) shape.push_back(s.value());
      inputs.push_back(Tensor::full(DType::F32, shape, 0.5));
    }
    return time_of([&] { executor.run(inputs); });
  }
};

using Kind = PlanBuffer::Kind;

void matmul(int64_t m, int64_t k, int64_t n, int threads) {
  Plans p;
  LibraryCall call;
  call.kind = "matmul";
  call.has_bias = true;
  const int a = p.buffer(Kind::Input, {m, k}), b = p.buffer(Kind::Constant, {k, n}),
            bias = p.buffer(Kind::Constant, {n});
  p.launch(call, {a, b, bias}, p.buffer(Kind::Output, {m, n}));
  const double t = p.time(threads);
  std::printf("matmul %lld x %lld x %lld: %.1f us, %.1f GFLOP/s\n", static_cast<long long>(m),
              static_cast<long long>(k), static_cast<long long>(n), t * 1e6, 2e-9 * static_cast<double>(m * n * k) / t);
}

LibraryCall conv(int64_t stride, int64_t padding) {
  LibraryCall call;
  call.kind = "convolution";
  call.has_bias = true;
  call.stride = {stride, stride};
  call.padding = {padding, padding};
  call.dilation = {1, 1};
  return call;
}

void convolution(int64_t n, int64_t c, int64_t o, int64_t size, int64_t kernel, int64_t stride, int threads) {
  Plans p;
  const int64_t padding = kernel / 2, out = (size + 2 * padding - kernel) / stride + 1;
  LibraryCall call = conv(stride, padding);
  call.post_ops.push_back({PostOp::Kind::Relu, 0, 0, -1, 0});
  const int x = p.buffer(Kind::Input, {n, c, size, size}), w = p.buffer(Kind::Constant, {o, c, kernel, kernel}),
            b = p.buffer(Kind::Constant, {o});
  p.launch(call, {x, w, b}, p.buffer(Kind::Output, {n, o, out, out}));
  const double t = p.time(threads);
  std::printf("conv [%lld, %lld, %lld, %lld] -> %lld, %lldx%lld/%lld: %.1f us, %.1f GFLOP/s\n",
              static_cast<long long>(n), static_cast<long long>(c), static_cast<long long>(size),
              static_cast<long long>(size), static_cast<long long>(o), static_cast<long long>(kernel),
              static_cast<long long>(kernel), static_cast<long long>(stride), t * 1e6,
              2e-9 * static_cast<double>(n * o * out * out * c * kernel * kernel) / t);
}

/// The basic blocks of a residual network: conv + relu, conv + add + relu, `blocks` times.
void residual_chain(int64_t n, int64_t c, int64_t size, int blocks, int threads) {
  Plans p;
  int x = p.buffer(Kind::Input, {n, c, size, size});
  for (int i = 0; i < blocks; ++i) {
    LibraryCall first = conv(1, 1), second = conv(1, 1);
    first.post_ops.push_back({PostOp::Kind::Relu, 0, 0, -1, 0});
    second.post_ops.push_back({PostOp::Kind::Add, 0, 0, 3, 0});
    second.post_ops.push_back({PostOp::Kind::Relu, 0, 0, -1, 0});
    const int w1 = p.buffer(Kind::Constant, {c, c, 3, 3}), w2 = p.buffer(Kind::Constant, {c, c, 3, 3}),
              b = p.buffer(Kind::Constant, {c});
    const int t = p.buffer(Kind::Temporary, {n, c, size, size});
    const int y = p.buffer(i + 1 == blocks ? Kind::Output : Kind::Temporary, {n, c, size, size});
    p.launch(first, {x, w1, b}, t);
    p.launch(second, {t, w2, b, x}, y);
    x = y;
  }
  const double t = p.time(threads);
  std::printf("residual chain [%lld, %lld, %lld, %lld] x %d: %.1f us, %.1f GFLOP/s\n", static_cast<long long>(n),
              static_cast<long long>(c), static_cast<long long>(size), static_cast<long long>(size), blocks, t * 1e6,
              2e-9 * static_cast<double>(2 * blocks * n * c * c * 9 * size * size) / t);
}

void attention(int64_t b, int64_t h, int64_t l, int64_t e, int threads) {
  Plans p;
  LibraryCall call;
  call.kind = "attention";
  call.alpha = 1 / std::sqrt(static_cast<double>(e));
  const int q = p.buffer(Kind::Input, {b, h, l, e}), k = p.buffer(Kind::Input, {b, h, l, e}),
            v = p.buffer(Kind::Input, {b, h, l, e});
  p.launch(call, {q, k, v}, p.buffer(Kind::Output, {b, h, l, e}));
  const double t = p.time(threads);
  std::printf("attention [%lld, %lld, %lld, %lld]: %.1f us, %.1f GFLOP/s\n", static_cast<long long>(b),
              static_cast<long long>(h), static_cast<long long>(l), static_cast<long long>(e), t * 1e6,
              4e-9 * static_cast<double>(b * h * l * l * e) / t);
}

class Nothing : public CompiledKernel {
 public:
  void run(const LaunchArgs&) override {}
};

void overhead() {
  const auto time_launches = [](int count, bool timing) {
    Plans p;
    const int x = p.buffer(Kind::Input, {1});
    std::vector<std::unique_ptr<CompiledKernel>> kernels;
    for (int i = 0; i < count; ++i) {
      p.launch({}, {x}, p.buffer(Kind::Temporary, {16}, i));
      p.plan->buffers.back().last_launch = i;
      kernels.push_back(std::make_unique<Nothing>());
    }
    Executor executor(p.plan, std::move(kernels), 1);
    executor.set_timing(timing);
    const std::vector<Tensor> in{Tensor::full(DType::F32, {1}, 0)};
    return 1e9 * time_of([&] { executor.run(in); });
  };
  const double call = time_launches(0, false);
  std::printf("executor: %.0f ns per call, %.1f ns per launch, %.1f ns with timing\n", call,
              (time_launches(1000, false) - call) / 1000, (time_launches(1000, true) - call) / 1000);
}

void dispatch(int threads) {
  int64_t sink = 0;
  const double t = time_of([&] { parallel_for_raw(threads, 1, threads, [](void*, int64_t, int64_t) {}, &sink); });
  std::printf("parallel_for_raw: %.2f us for %d threads\n", t * 1e6, threads);
}

}  // namespace
}  // namespace strata

int main(int argc, char** argv) {
  using namespace strata;
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2;
  set_thread_count(threads);
  overhead();
  dispatch(threads);
  matmul(1024, 1024, 1024, threads);
  matmul(48, 256, 256, threads);
  matmul(48, 256, 1024, threads);
  matmul(48, 1024, 256, threads);
  matmul(8, 512, 1000, threads);
  convolution(2, 3, 64, 224, 7, 2, threads);
  convolution(2, 64, 64, 56, 3, 1, threads);
  convolution(2, 64, 128, 56, 3, 2, threads);
  convolution(2, 128, 128, 28, 3, 1, threads);
  convolution(2, 256, 256, 14, 3, 1, threads);
  convolution(2, 512, 512, 7, 3, 1, threads);
  convolution(2, 64, 128, 56, 1, 2, threads);
  residual_chain(2, 64, 56, 4, threads);
  residual_chain(2, 256, 14, 4, threads);
  attention(2, 8, 24, 32, threads);
  attention(1, 4, 200, 64, threads);
  attention(8, 8, 64, 64, threads);
}
