// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CPU's kernel compiler: loop kernels through LLVM, library calls through oneDNN and kernels of our own, operators
/// without a kernel through the reference interpreter.

#include <memory>
#include <set>
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

/// Gives back the memory of the plan's constants that its kernels read in packed copies alone; a kernel that needs one
/// after all unpacks it. Constants whose storage is among `kept` stay. Returns the storages that the plan has let go
/// of: tensors elsewhere that share them still hold them. Not to be called while a kernel runs.
std::set<const Storage*> release_packed_constants(Plan& plan, std::span<const std::unique_ptr<CompiledKernel>> kernels,
                                                  const std::set<const Storage*>& kept);

}  // namespace strata
