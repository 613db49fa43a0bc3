// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Times loop kernels against memcpy in the same run, and the compile time of a batch of kernels.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codegen/loop_jit.h"
#include "core/runtime/parallel.h"

namespace strata {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

double seconds_of(const std::function<void()>& work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Median of several runs after a warm-up, in milliseconds.
double median_ms(const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) times.push_back(seconds_of(work) * 1e3);
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
}

struct Case {
  ShapeEnv env;
  Kernel kernel;
  Body body{kernel, env};
  double megabytes = 0;
  std::vector<std::vector<float>> data;

  BufferId buffer(const char* name, int64_t numel, BufferRole role) {
    data.emplace_back(static_cast<size_t>(numel));
    for (float& f : data.back()) f = static_cast<float>(std::rand()) / RAND_MAX * 2 - 1;
    megabytes += static_cast<double>(numel) * 4e-6;
    return body.buffer({name, DType::F32, numel, role, 0});
  }
  SymInt outer(int64_t extent) {
    AxisId a = body.axis("i", extent);
    kernel.outer.push_back(a);
    return body.axis_index(a);
  }
};

using Made = std::unique_ptr<Case>;

Made pointwise(const char* name, int64_t n, const std::function<ScalarId(Body&, ScalarId)>& f) {
  auto c = std::make_unique<Case>();
  c->kernel.name = name;
  BufferId x = c->buffer("x", n, BufferRole::Input), y = c->buffer("y", n, BufferRole::Output);
  SymInt i = c->outer(n);
  c->body.begin_nest({});
  c->body.store({y, i, f(c->body, c->body.load(x, i))});
  return c;
}

Made softmax(int64_t rows, int64_t columns) {
  auto c = std::make_unique<Case>();
  c->kernel.name = "softmax";
  Body& b = c->body;
  BufferId x = c->buffer("x", rows * columns, BufferRole::Input),
           y = c->buffer("y", rows * columns, BufferRole::Output);
  SymInt i = c->outer(rows);
  AxisId r0 = b.axis("r", columns), r1 = b.axis("r", columns), r2 = b.axis("r", columns);
  auto at = [&](AxisId r) { return i * columns + b.axis_index(r); };
  size_t first = b.begin_nest({r0});
  b.reduce({Combine::Max, b.load(x, at(r0)), kNone, kNone, DType::F32, 0});
  auto e = [&](AxisId r) {
    return b.unary(ScalarOp::Exp, b.binary(ScalarOp::Sub, b.load(x, at(r)), b.reduced(first, 0)));
  };
  size_t second = b.begin_nest({r1});
  b.reduce({Combine::Sum, e(r1), kNone, kNone, DType::F32, 0});
  b.begin_nest({r2});
  b.store({y, at(r2), b.binary(ScalarOp::Div, e(r2), b.reduced(second, 0))});
  return c;
}

Made layer_norm(int64_t rows, int64_t columns) {
  auto c = std::make_unique<Case>();
  c->kernel.name = "layer_norm";
  Body& b = c->body;
  BufferId x = c->buffer("x", rows * columns, BufferRole::Input), w = c->buffer("w", columns, BufferRole::Input);
  BufferId y = c->buffer("y", rows * columns, BufferRole::Output);
  SymInt i = c->outer(rows);
  AxisId r0 = b.axis("r", columns), r1 = b.axis("r", columns);
  size_t first = b.begin_nest({r0});
  b.reduce({Combine::Welford, b.load(x, i * columns + b.axis_index(r0)), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  ScalarId variance = b.binary(ScalarOp::Div, b.reduced(first, 0, 1), b.reduced(first, 0, 2));
  ScalarId scale = b.unary(ScalarOp::Rsqrt, b.binary(ScalarOp::Add, variance, b.constant(1e-5, DType::F32)));
  ScalarId mean = b.reduced(first, 0, 0);
  b.begin_nest({r1});
  SymInt j = b.axis_index(r1);
  ScalarId v = b.binary(ScalarOp::Mul, b.binary(ScalarOp::Sub, b.load(x, i * columns + j), mean), scale);
  b.store({y, i * columns + j, b.binary(ScalarOp::Mul, v, b.load(w, j))});
  return c;
}

Made total(int64_t n) {
  auto c = std::make_unique<Case>();
  c->kernel.name = "sum";
  Body& b = c->body;
  BufferId x = c->buffer("x", n, BufferRole::Input), y = c->buffer("y", 1, BufferRole::Output);
  AxisId r = b.axis("r", n);
  size_t nest = b.begin_nest({r});
  b.reduce({Combine::Sum, b.load(x, b.axis_index(r)), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  b.store({y, 0, b.reduced(nest, 0)});
  return c;
}

Made column_sum(int64_t rows, int64_t columns) {
  auto c = std::make_unique<Case>();
  c->kernel.name = "column_sum";
  Body& b = c->body;
  BufferId x = c->buffer("x", rows * columns, BufferRole::Input), y = c->buffer("y", columns, BufferRole::Output);
  SymInt j = c->outer(columns);
  AxisId r = b.axis("r", rows);
  size_t nest = b.begin_nest({r});
  b.reduce({Combine::Sum, b.load(x, b.axis_index(r) * columns + j), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  b.store({y, j, b.reduced(nest, 0)});
  return c;
}

Made max_pool(int64_t channels, int64_t size) {
  auto c = std::make_unique<Case>();
  c->kernel.name = "max_pool";
  Body& b = c->body;
  int64_t out = size / 2;
  BufferId x = c->buffer("x", channels * size * size, BufferRole::Input),
           y = c->buffer("y", channels * out * out, BufferRole::Output);
  SymInt k = c->outer(channels), i = c->outer(out), j = c->outer(out);
  AxisId p = b.axis("r", 2), q = b.axis("r", 2);
  size_t nest = b.begin_nest({p, q});
  SymInt at = k * size * size + (2 * i + b.axis_index(p)) * size + 2 * j + b.axis_index(q);
  b.reduce({Combine::Max, b.load(x, at), kNone, kNone, DType::F32, 0});
  b.begin_nest({});
  b.store({y, k * out * out + i * out + j, b.reduced(nest, 0)});
  return c;
}

Made transpose(int64_t n) {
  auto c = std::make_unique<Case>();
  c->kernel.name = "transpose";
  BufferId x = c->buffer("x", n * n, BufferRole::Input), y = c->buffer("y", n * n, BufferRole::Output);
  SymInt i = c->outer(n), j = c->outer(n);
  c->body.begin_nest({});
  c->body.store({y, i * n + j, c->body.load(x, j * n + i)});
  return c;
}

std::vector<Made> cases() {
  std::vector<Made> out;
  auto unary = [](ScalarOp op) { return [op](Body& b, ScalarId v) { return b.unary(op, v); }; };
  constexpr int64_t n = 1 << 20;
  out.push_back(pointwise("copy", n, [](Body&, ScalarId v) { return v; }));
  out.push_back(pointwise("sin2_cos2", n, [](Body& b, ScalarId v) {
    ScalarId s = b.unary(ScalarOp::Sin, v), c = b.unary(ScalarOp::Cos, v);
    return b.binary(ScalarOp::Add, b.binary(ScalarOp::Mul, s, s), b.binary(ScalarOp::Mul, c, c));
  }));
  out.push_back(pointwise("exp", n, unary(ScalarOp::Exp)));
  out.push_back(pointwise("tanh", n, unary(ScalarOp::Tanh)));
  out.push_back(pointwise("sigmoid", n, unary(ScalarOp::Sigmoid)));
  out.push_back(pointwise("erf", n, unary(ScalarOp::Erf)));
  out.push_back(softmax(2048, 512));
  out.push_back(softmax(8192, 64));
  out.push_back(layer_norm(2048, 512));
  out.push_back(total(n));
  out.push_back(column_sum(1024, 1024));
  out.push_back(max_pool(64, 128));
  out.push_back(transpose(1024));
  return out;
}

void run_all() {
  std::vector<float> from(1 << 20, 1.f), to(1 << 20);
  double copy = median_ms([&] { std::memcpy(to.data(), from.data(), from.size() * 4); });
  std::printf("%-22s %10s %10s %10s\n", "kernel", "ms", "GB/s", "ms 1 thr");
  std::printf("%-22s %10.3f %10.1f\n", "memcpy 4 MB", copy, 8.39 / copy);
  auto all = cases();
  std::vector<const Kernel*> kernels;
  for (const Made& c : all) kernels.push_back(&c->kernel);
  codegen::LoopJit jit;
  auto compiled = jit.compile(kernels);
  SymBindings symbols;
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<std::byte*> buffers;
    for (auto& d : all[i]->data) buffers.push_back(reinterpret_cast<std::byte*>(d.data()));
    auto run = [&](int threads) { return median_ms([&] { compiled[i]->run({buffers.data(), symbols, threads}); }); };
    double ms = run(thread_count()), single = run(1);
    std::printf("%-22s %10.3f %10.1f %10.3f\n", all[i]->kernel.name.c_str(), ms, all[i]->megabytes / ms, single);
  }
  for (int round = 0; round < 3; ++round) {
    codegen::LoopJit again;
    again.compile(kernels);
    const auto& s = again.statistics();
    std::printf("compile %zu kernels, %zu generated: %.1f ms (plan %.1f, build %.1f, link %.1f)\n", s.kernels,
                s.generated, static_cast<double>(s.total_ns) * 1e-6, static_cast<double>(s.plan_ns) * 1e-6,
                static_cast<double>(s.build_ns) * 1e-6, static_cast<double>(s.link_ns) * 1e-6);
  }
}

}  // namespace
}  // namespace strata

int main() {
  strata::run_all();
  return 0;
}
