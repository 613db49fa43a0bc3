// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/ir/op.h"

namespace strata {

/// A value expressed as strides over the buffer of another: what a chain of views comes to.
struct StridedView {
  const Node* base = nullptr;             ///< the node that has the buffer
  std::vector<SymInt> shape, strides;     ///< elements
  SymInt offset;
  std::vector<const Node*> through;       ///< the views, innermost (next to the base) first
};

/// Physical strides of a node's buffer; contiguous unless something chose otherwise.
using LayoutOf = std::function<std::vector<SymInt>(const Node*)>;

/// Walks up through views to the first node that is none. Nothing if a view on the way has no strides over the base (a reshape that would
/// need a copy).
std::optional<StridedView> strided_view(const Node* node, const LayoutOf& layout);

/// Whether the node only renames elements of its operand.
bool is_view(const Node& node);
/// The first node above that is no view.
const Node* view_base(const Node* node);

/// Strides of a tensor of `shape`/`strides` seen as `result`, PyTorch's rule; nothing if it needs a copy.
std::optional<std::vector<SymInt>> reshape_strides(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides,
                                                   const std::vector<SymInt>& result);

}  // namespace strata
