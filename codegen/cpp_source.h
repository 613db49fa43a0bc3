// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Loop IR as text for people and other compilers. Free of LLVM headers.

#include "core/ir/loop.h"
#include "core/runtime/plan.h"

namespace strata::codegen {

/// Self-contained C++17 (`g++ -O3 -march=native -fopenmp`, without -ffast-math) that defines
/// `extern "C" void NAME(void** buffers, const int64_t* symbols, int64_t begin, int64_t end)`, which computes the outer
/// points [begin, end) of the flattened outer domain, and `NAME_parallel(void** buffers, const int64_t* symbols)`,
/// which computes all of them with OpenMP. `symbols` holds the values of `Kernel::symbols` in order. NAME is the
/// kernel's name with other characters than letters and digits replaced by `_`. Points are in the order of
/// `Kernel::outer`.
CodeArtifact emit_cpp(const loop::Kernel& kernel);

/// `print_loop` with the nodes of its lines.
CodeArtifact loop_artifact(const loop::Kernel& kernel);

}  // namespace strata::codegen
