// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Calls that run other plans: `torch.cond`, `while_loop`, `map`, `scan`.

#include <memory>
#include <vector>

#include "core/runtime/plan.h"

namespace strata {

/// `launch` holds a ControlCall: its buffers are the values of the graph's tensor placeholders, then of its outputs.
/// Both must outlive the kernel. `bodies`: kernels of each of the call's plans.
std::unique_ptr<CompiledKernel> compile_control_call(const Plan& plan, const Launch& launch,
                                                     std::vector<std::vector<std::unique_ptr<CompiledKernel>>> bodies,
                                                     int threads);

}  // namespace strata
