// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Makes mutation and aliasing explicit: in-place operators become their functional twins, writes through a view are
/// written back into what is viewed, later uses of other views see the new value, and written inputs and buffers become
/// outputs (mutations first, as PyTorch orders them). Assertions are dropped. Throws a user Error for a write through a
/// view that has no inverse.
PassResult functionalize(const Graph& graph, const PassContext& context);

}  // namespace strata
