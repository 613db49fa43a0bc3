// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// convolution(x, w, b) * s + t with constant w, b and per-channel constant s, t (what inference batch norm becomes)
/// turns into one convolution with weight w*s and bias b*s + t. Scales are multiplied in float64 and rounded once.
PassResult fold_batch_norm(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool fold_batch_norm_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
