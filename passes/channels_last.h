// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which values of a convolution network lie channels-last: what convolutions make and read, with the pointwise work,
/// pooling and concatenation in between. Convolutions are fastest on such data, windows then are whole vectors of
/// channels, and nothing has to be reordered on the way.

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/graph.h"

namespace strata {

/// What is known about the groups so far.
struct ConvolutionGroups {
  /// The convolution at the front of the node's group, null where there is none.
  std::function<const Node*(const Node&)> convolution_of;
  /// Whether the node is what its group leaves behind.
  std::function<bool(const Node&)> is_result;
  std::function<const Node*(const Node*)> base_of;
  const std::unordered_map<const Node*, std::vector<const Node*>>& readers;
  const std::unordered_set<const Node*>& outputs;  ///< the caller has them as it wants
};

/// Values of four dimensions, in graph order; a convolution's result only where more than convolutions read it (those
/// agree among themselves when they are bound).
std::vector<const Node*> channels_last_values(const Graph& graph, const ConvolutionGroups& groups);

}  // namespace strata
