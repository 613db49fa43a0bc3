// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Depthwise convolutions of few taps in one dimension (the short causal ones of state space models) become sums of
/// shifted products, in float32 for narrower types: libraries have no kernel for them but the general product, which
/// takes some fifty times as long, and as loops they join what is around them. Positions outside of the input add
/// nothing, whatever the weight is.
PassResult expand_depthwise(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool expand_depthwise_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
