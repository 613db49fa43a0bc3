// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/op.h"

namespace strata {

/// A value expressed as strides over the buffer of another: what a chain of views comes to.
struct StridedView {
  const Node* base = nullptr;          ///< the node that has the buffer
  std::vector<SymInt> shape, strides;  ///< elements
  SymInt offset;
  std::vector<const Node*> through;  ///< the views, innermost (next to the base) first
};

/// Whether the node only renames elements of its operand.
bool is_view(const Node& node);

/// Which values have a buffer of their own, and with what strides. Views have none unless they were materialized.
struct Layouts {
  std::unordered_set<const Node*> materialized;                         ///< views that are copied out
  std::unordered_map<const Node*, std::vector<SymInt>> chosen_strides;  ///< buffers that are not row-major

  /// A view without a buffer.
  bool is_virtual(const Node& node) const { return is_view(node) && !materialized.contains(&node); }
  /// The first node at or above `node` that has, or could have, a buffer.
  const Node* base(const Node* node) const;
  /// Physical strides of the node's buffer.
  std::vector<SymInt> strides(const Node* node) const;
};

/// Walks up through views to the first node with a buffer. Nothing if a view on the way has no strides over the base (a
/// reshape that would need a copy).
std::optional<StridedView> strided_view(const Node* node, const Layouts& layouts);

/// Elements from the first to the last of a tensor: more than it has where there are gaps. Not meant for sizes of 0.
SymInt buffer_elements(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides);

/// Strides of a tensor of `shape`/`strides` seen as `result`, PyTorch's rule; nothing if it needs a copy.
std::optional<std::vector<SymInt>> reshape_strides(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides,
                                                   const std::vector<SymInt>& result);

}  // namespace strata
