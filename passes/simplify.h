// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "passes/pass.h"

namespace strata {

/// Algebraic simplification by local rules. No rule changes a value that IEEE arithmetic distinguishes: NaN, infinity
/// and the sign of zero stay.
PassResult simplify(const Graph& graph, const PassContext& context);
/// See Pass::may_change.
bool simplify_may_change(const Graph& graph, const PassContext& context);

/// One local rewrite. `call` belongs to no graph; its operands are nodes of the new graph. Returns the replacement or
/// null.
struct SimplifyRule {
  std::string_view name;  ///< looks like the algebra it performs
  Node* (*apply)(Builder& builder, const Node& call);
};
/// All rules, tried in order.
std::span<const SimplifyRule> simplify_rules();

}  // namespace strata
