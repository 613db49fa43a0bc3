// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Matrix products of one input with several constant weights (query, key and value of attention) become one product
/// with the weights side by side, and slices of its result. A product whose result goes into work that a library call
/// would take as post-operation is left alone.
PassResult merge_matmuls(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool merge_matmuls_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
