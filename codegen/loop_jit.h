// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Loop kernels to machine code in memory (LLVM, ORC). Free of LLVM headers.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ir/loop.h"
#include "core/runtime/plan.h"

namespace strata::codegen {

/// Computes the outer points [begin, end) of a kernel's flattened outer domain. `buffers` holds one pointer per kernel
/// buffer (those of Local buffers are not read), `symbols` the values of `Kernel::symbols` in order. Any thread;
/// several may share a kernel. Of a kernel with checks, behind the symbols stands the address of two 64-bit words per
/// check: not 0 once it is violated, and a value that did so.
using LoopFunction = void (*)(std::byte* const* buffers, const int64_t* symbols, int64_t begin, int64_t end);

struct LoopJitOptions {
  int threads = 0;              ///< that compile; 0: as many as `thread_count()`
  bool keep_artifacts = false;  ///< keep loop IR, C++, LLVM IR and assembly as text: costs compile time
  bool cache = false;           ///< use the cache on disk, if the environment lets it (see object_cache.h)
  bool versions = false;        ///< kernels with symbolic rows also for the example's sizes (see loop_versions.h)
};

/// What a `compile` did; times in nanoseconds. `generated` is how many functions LLVM made: with all of them in the
/// cache it is 0, and nothing of LLVM has run.
struct LoopJitStatistics {
  size_t kernels = 0, versions = 0, distinct = 0, generated = 0, from_cache = 0;
  int64_t total_ns = 0, plan_ns = 0, cache_ns = 0, build_ns = 0, link_ns = 0;
  std::string cache_off;  ///< why no cache was used; empty: it was
};

class LoopJit {
 public:
  explicit LoopJit(const Target& target = host_target());
  ~LoopJit();
  LoopJit(const LoopJit&) = delete;
  LoopJit& operator=(const LoopJit&) = delete;

  /// One compiled kernel per kernel, in order. Kernels that differ only in names share their code. The results keep the
  /// code alive and may outlive this object; the kernels' ShapeEnv must outlive the results. Throws Error: internal for
  /// malformed kernels, user for sizes that cannot be computed, runtime if linking fails. Not thread-safe.
  std::vector<std::unique_ptr<CompiledKernel>> compile(std::span<const loop::Kernel* const> kernels,
                                                       const LoopJitOptions& options = {});
  /// Of kernel i of the last `compile`.
  std::vector<CodeArtifact> artifacts(size_t i) const;
  /// The code of kernel i; null for one whose long reduction was cut in two functions.
  LoopFunction function(size_t i) const;
  /// How many points `function(i)` has to run over: more or fewer than the kernel's where code works on tiles.
  SymInt points(size_t i) const;
  /// Which sizes kernel i has code of its own for, and why; empty: one version for all sizes.
  std::string version(size_t i) const;
  /// Whether all code of kernel i came from the cache.
  bool from_cache(size_t i) const;
  const LoopJitStatistics& statistics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::codegen
