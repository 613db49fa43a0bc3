// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Input and expectation of a pass as FX text.

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"
#include "passes/pass.h"
#include "tests/error_text.h"

namespace strata::testing {

/// A graph from FX text that annotates its inputs only: types of calls come from the operator table, `x[i]` of a tuple
/// is its part. Every placeholder named `p_...` is a parameter and `b_...` a buffer, of that name.
Graph graph_of(std::string_view text);

/// The statements of a graph as FX prints them, without annotations, `torch.ops.` and indentation, one a line:
///
///     add = aten.add.Tensor(x, 1)
///     return (add,)
std::string body_of(const Graph& graph);

/// `body_of` after one pass on `graph_of(text)`; the result is verified.
std::string after(PassResult (*pass)(const Graph&, const PassContext&), std::string_view text,
                  const PassContext& context = {});

/// Rules of all rewrites, in order, separated by commas.
std::string rules_of(const std::vector<Rewrite>& rewrites);

}  // namespace strata::testing
