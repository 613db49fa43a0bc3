// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the caller wants outputs to lie in memory.

#include <optional>
#include <utility>
#include <vector>

#include "core/ir/graph.h"
#include "passes/strided_view.h"

namespace strata {

/// Per output of kind User, in order: PyTorch's strides; nothing where they are not known.
using OutputStrides = std::vector<std::optional<std::vector<SymInt>>>;

/// Of a graph as captured: the strides its outputs have there.
OutputStrides output_strides(const Graph& graph);

/// Buffers that would have to lie otherwise than row by row for outputs to have `wanted` strides, and how: only those
/// for which a dense layout does it. An output may be a transposed view of its buffer. Where two outputs want different
/// layouts of one buffer, the first is given its own.
std::vector<std::pair<const Node*, std::vector<SymInt>>> wanted_layouts(const Graph& graph, const Layouts& layouts,
                                                                        const OutputStrides& wanted);

/// Outputs that are views of what the graph is given (inputs, constants). The caller gets memory of its own, so they
/// are copied: by a kernel, which can transpose, where there is more than a little to copy.
std::vector<const Node*> views_to_copy(const Graph& graph, const Layouts& layouts);

}  // namespace strata
