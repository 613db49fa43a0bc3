// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `torch.vmap` in exported programs. The exporter records the function once, on elements without the batch, between
/// calls that enter and leave it (`torch._functorch.predispatch._add_batch_dim`, `_remove_batch_dim`): operators say
/// what they do to an element, not to the batch.

#include <optional>

#include "core/ir/graph.h"

namespace strata::capture {

/// The graph with operators on whole batches, whose dimensions come first, and without those calls. Nothing where it
/// has none of them, or batches go through an operator for which it is not known how: then the calls stay, for the list
/// of operators that are not supported.
std::optional<Graph> write_out_vmap(const Graph& graph);

}  // namespace strata::capture
