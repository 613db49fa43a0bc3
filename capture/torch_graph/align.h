// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which call of the graph before autograd each node of a graph behind it comes from, in logs whose producer does not
/// say. Internal to torch_graph.
///
/// AOTAutograd runs the captured graph call by call and records the operators that it meets, then runs autograd back
/// through them. So nodes stand in the order of the calls, those of the backward in the opposite order, and finding
/// the call of each node is an alignment of two sequences: lines of source, operators, parameters and gradients of
/// parameters score, and the best monotone assignment wins.

#include <span>
#include <utility>
#include <vector>

#include "capture/torch_graph/imported_graph.h"

namespace strata::capture::graphs {

struct Alignment {
  /// Per node: position of the call, placeholder or output in the earlier graph; -1: none.
  std::vector<int> origin;
  std::vector<bool> exact;     ///< per node: a description by the producer says so
  std::vector<bool> gradient;  ///< per node: it is part of the backward of `origin`
  /// Nodes whose value is that of a second call too, which left no node behind: node, call.
  std::vector<std::pair<int, int>> passed;
};

/// Aligns `graph` (joint, inference; or forward and backward where there is no joint graph) with `calls`. `known`, per
/// node or empty: the call whose value a saved input is; -1: none.
Alignment align(const ImportedGraph& calls, const ImportedGraph& graph, std::span<const int> known = {});

/// The last name of what is called: `conv2d` of `torch.conv2d`, `add` of `aten.add_.Tensor` and `_operator.iadd`.
std::string_view operator_stem(const trace::NodeRecord& node);

/// Stands for the operator of a module's call, which may compute anything.
inline constexpr std::string_view kModule = "<module>";

/// Whether an ATen operator may be part of what a Python call computes.
bool may_compute(std::string_view call, std::string_view aten);

/// The number in `PlainAOTInput(idx=3)`, wherever `kind` stands in the description; -1 if it does not.
int described_index(std::string_view desc, std::string_view kind);

}  // namespace strata::capture::graphs
