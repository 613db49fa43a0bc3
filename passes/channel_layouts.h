// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Convolutions work channels-last: their library reorders what lies otherwise, before and after. Values between
/// convolutions that loop kernels make or read (activations, sums, concatenations, pooling, upsampling) may lie so too,
/// and then nothing is reordered on the way. Which do is decided for all values at once that loops join, by bytes: for
/// it speak convolutions at their ends, windows, and readers through views that then find rows; against it, outputs,
/// readers that want rows of the image, and concatenations of many parts.
///
/// Chains of convolutions with no loops between them are the code generator's to lay out (library_layout.h), which can
/// measure.

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/output_layout.h"
#include "passes/strided_view.h"

namespace strata {

/// What the decision is made from. All references must outlive the call.
struct ChannelQuestion {
  const Graph& graph;
  Layouts& layouts;                                                          ///< as it was when the call returns
  const std::unordered_map<const Node*, std::vector<const Node*>>& readers;  ///< of values with a buffer
  const std::unordered_set<const Node*>& outputs;                            ///< nodes, as returned
  const OutputStrides& output_strides;
  std::function<const Node*(const Node*)> base_of;    ///< the value with the buffer
  std::function<const Node*(const Node&)> call_of;    ///< the library's call the node belongs to; null: none
  std::function<const Node*(const Node&)> result_of;  ///< what that call leaves behind
};

/// Values that are to lie channels-last, in graph order.
std::vector<const Node*> choose_channels_last(const ChannelQuestion& question);

}  // namespace strata
