// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs a loop kernel three ways (JIT, C++ built by g++, reference evaluator) on the same random data and compares.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "codegen/loop_jit.h"
#include "core/ir/loop.h"
#include "core/ir/loop_eval.h"

namespace strata::testing {

using Bytes = std::vector<std::byte>;

/// A kernel under construction with its environment.
struct LoopCase {
  ShapeEnv env;
  loop::Kernel kernel;
  loop::Body body{kernel, env};
  SymBindings symbols;
  /// Fills an input other than with the default random values; by buffer.
  std::function<bool(loop::BufferId, Bytes&)> fill;
  double tolerance = 1e-5;
  int threads = 1;

  explicit LoopCase(std::string name) { kernel.name = std::move(name); }
  LoopCase(const LoopCase&) = delete;
  /// A size symbol with its value in this run.
  SymInt size(const std::string& name, int64_t value, int64_t low = 0, int64_t high = kSymMax);
  loop::BufferId input(const std::string& name, DType dtype, SymInt numel);
  loop::BufferId output(const std::string& name, DType dtype, SymInt numel);
  loop::BufferId inout(const std::string& name, DType dtype, SymInt numel);
  /// New outer axis and its index.
  SymInt outer(SymInt extent);
  /// New inner axis; `nest` it with `body.begin_nest`.
  loop::AxisId inner(SymInt extent) { return body.axis("r", extent); }
};

std::mt19937_64& random_engine();
/// Values of a dtype that are exact to compare: floats in [-2, 2], integers in [-50, 50] or [0, 100].
Bytes random_bytes(DType dtype, size_t numel);

enum class Check : uint8_t { Jit = 1, Cpp = 2, Both = 3 };
/// Compares JIT and C++ with the evaluator. The target picks the vector width.
void check(LoopCase& c, Check what = Check::Jit, const Target& target = host_target());

/// This machine, and lowered targets that it can run too: AVX2 and the one before it.
std::vector<Target> targets();

/// The same machine with so small a cache that every result is written past it.
Target without_cache(Target target);

/// Whether a kernel stores its results there past the caches.
bool streams(const LoopCase& c, const Target& target, loop::BufferId buffer);

/// LLVM IR of the kernel as it is compiled for `target`.
std::string llvm_of(const LoopCase& c, const Target& target);
/// How often `part` stands in it.
size_t occurrences(const std::string& llvm, const std::string& part);
/// Prefetches in it.
size_t fetches(const std::string& llvm);

}  // namespace strata::testing
