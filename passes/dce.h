// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Drops nodes without effect whose value nobody uses. Placeholders stay: they are the graph's interface.
PassResult dce(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool dce_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
