// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// `softmax(mask(scale * q @ k)) @ v` spelled out becomes one `strata.attention`, which never holds the whole score
/// matrix: where nothing else reads the scores or weights, and with the operands as they lie before heads were repeated
/// and batch dimensions merged. What looks like attention and is not rewritten is in the result's refusals.
PassResult fuse_attention(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool fuse_attention_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
