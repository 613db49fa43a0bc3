// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Evaluates (with the reference rules) nodes whose operands are constants: weights the program never writes,
/// attributes, and creations with constant sizes. Views of constants stay views. Results larger than their operands are
/// kept only up to `PassContext::fold_limit` bytes.
PassResult fold_constants(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool fold_constants_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
