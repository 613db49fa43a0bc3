// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CPU's kernel compiler: loop kernels through LLVM, library calls through oneDNN and kernels of our own, operators
/// without a kernel through the reference interpreter.

#include <memory>

#include "core/runtime/plan.h"

namespace strata {

/// The plan given to `compile` must outlive the kernels.
std::unique_ptr<KernelCompiler> make_cpu_compiler();

}  // namespace strata
