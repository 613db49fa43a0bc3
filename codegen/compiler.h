// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CPU's kernel compiler: loop kernels through LLVM, library calls through oneDNN and kernels of our own, operators
/// without a kernel through the reference interpreter.

#include <memory>
#include <span>
#include <vector>

#include "core/runtime/plan.h"

namespace strata {

/// The plan given to `compile` must outlive the kernels.
std::unique_ptr<KernelCompiler> make_cpu_compiler();

/// The kernels of each plan, as `compile` of a compiler of its own gives them. The loop kernels of all plans are
/// compiled as one batch: many small plans take much less time so than one after the other. Artifacts are not kept,
/// nothing is tuned. If `statistics` is given it says what was done for all plans together. Throws what `compile`
/// throws, without saying for which plan.
std::vector<std::vector<std::unique_ptr<CompiledKernel>>> compile_together(std::span<const Plan* const> plans,
                                                                           const CompileOptions& options,
                                                                           CodegenStatistics* statistics = nullptr);

}  // namespace strata
