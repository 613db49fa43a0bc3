// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// What control flow hands to its bodies and never changes (weights, constants) becomes their own: they are compiled
/// with it. Sizes that a body's inputs do not tell are handed to it. Throws a user Error for bodies that do not fit
/// their call, or write what they are given.
PassResult bind_bodies(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool bind_bodies_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
