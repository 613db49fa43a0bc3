// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/fuse.h"

namespace strata {

/// Adds to `fused.decisions` what nobody had to ask while groups grew, so that every pair of kernels that share data
/// has an answer: calls that read their operands from memory, nodes that met in one kernel by way of others, kernels of
/// different kinds that read the same value. Corrects refusals that a later merge made obsolete.
void answer_for_every_pair(const Graph& graph, Fused& fused);

}  // namespace strata
