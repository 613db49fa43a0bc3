// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the machine code of a kernel depends on, as text and as the name of a cache entry.

#include <string>

#include "codegen/loop_plan.h"
#include "core/support/sha256.h"

namespace strata::codegen {

/// Kernels with equal keys have equal code in one process. `texts`: texts are kept too, whose lines stand for nodes.
std::string code_key(const KernelPlan& plan, bool texts);

/// The same for kernels whose schedules differ but come to the same plan.
std::string structure_key(const KernelPlan& plan);

/// Whether the key of a kernel means the same in every process.
bool is_portable(const std::string& code_key);

/// The same for all processes on all machines: also what makes the code, and for which processor.
Sha256Digest entry_key(const std::string& code_key, const Target& target);

}  // namespace strata::codegen
