// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Numbers that only a run tells and that are no sizes (a floating `item()`, arithmetic and comparisons of such) become
/// tensors without dimensions where operators take them, where they are asserted, and where the program returns them.
/// They stay what Python's numbers are: they do not widen the type of what they meet. What takes numbers only is left
/// as it is.
PassResult numbers_as_tensors(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool numbers_as_tensors_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
