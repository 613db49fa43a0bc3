// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ir/loop.h"

namespace strata::codegen {

/// Values of expensive functions that a nest computes and a later one of the same outer point needs again, at the same
/// place, are kept in scratch: softmax takes each exponential once. Only where a line of them fits the nearest cache.
/// Meant for kernels whose lanes lie along inner axes.
void keep_expensive_values(loop::Kernel& kernel);

}  // namespace strata::codegen
