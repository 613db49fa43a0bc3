// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators that have no kernel: run by the reference interpreter.

#include <memory>

#include "core/runtime/plan.h"

namespace strata {

/// `launch` holds an OpaqueCall: its buffers are the values of the graph's placeholders, then of its outputs. Both must
/// outlive the kernel.
std::unique_ptr<CompiledKernel> compile_opaque_call(const Plan& plan, const Launch& launch);

}  // namespace strata
