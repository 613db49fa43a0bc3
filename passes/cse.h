// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Nodes that compute the same from the same operands become one (the first). Random operators and those with effects
/// are left alone. Small constants with equal contents become one, too, unless they are parameters or buffers.
PassResult cse(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool cse_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
