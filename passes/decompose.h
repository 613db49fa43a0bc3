// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Replaces every operator that the table can take apart by primitives, until none is left, and integer operands that
/// are nodes by their symbolic expressions. Library operators stay. Origins lead straight to the captured node, however
/// many steps it took.
PassResult decompose(const Graph& graph, const PassContext& context);

}  // namespace strata
