// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `torch.vmap` in exported programs. The exporter records the function once, on elements without the batch, between
/// calls that enter and leave it (`torch._functorch.predispatch._add_batch_dim`, `_remove_batch_dim`): operators say
/// what they do to an element, not to the batch.

#include <optional>
#include <string_view>

#include "core/ir/graph.h"

namespace strata::capture {

/// The graph with operators on whole batches, whose dimensions come first, and without those calls. Nothing where it
/// has none of them, or batches go through an operator for which it is not known how: then the calls stay, for the list
/// of operators that are not supported. `torch` is the version that wrote the program (2.13.0+cpu), or empty:
/// before 2.14 a result that is the same for the whole batch had the batch in front, whatever `out_dims` said.
std::optional<Graph> write_out_vmap(const Graph& graph, std::string_view torch);

}  // namespace strata::capture
