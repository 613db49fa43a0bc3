// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph of the trace, indexed for matching. Internal to inductor.

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/trace/records.h"

namespace strata::capture::detail {

class GraphView {
 public:
  explicit GraphView(std::span<const trace::NodeRecord> nodes);

  int size() const { return static_cast<int>(nodes_.size()); }
  const trace::NodeRecord& node(int n) const { return nodes_[static_cast<size_t>(n)]; }
  int find(std::string_view name) const;

  /// Operands in order, all that a list operand names included.
  const std::vector<int>& inputs(int n) const { return inputs_[static_cast<size_t>(n)]; }
  const std::vector<int>& users(int n) const { return users_[static_cast<size_t>(n)]; }
  /// The node whose memory n looks at: along reshapes, permutes, slices.
  int base(int n) const { return n < 0 ? n : base_[static_cast<size_t>(n)]; }

  bool is_call(int n) const { return call_[static_cast<size_t>(n)] != 0; }
  bool is_view(int n) const { return view_[static_cast<size_t>(n)] != 0; }
  /// The operator's name without namespace and overload: `mm` of `aten.mm.default`.
  std::string_view op(int n) const { return ops_[static_cast<size_t>(n)]; }
  /// Target, arguments with `@` for nodes, and type: equal for nodes that do the same on other operands.
  const std::string& shape_key(int n) const { return keys_[static_cast<size_t>(n)]; }
  /// Nodes with the same key, ascending.
  const std::vector<int>& alike(int n) const;
  /// What the graph returns, in order; -1 for what is no node.
  const std::vector<int>& outputs() const { return outputs_; }
  /// Names of child graphs: nodes `CHILD/NAME` are theirs.
  const std::set<std::string_view>& children() const { return children_; }
  /// `getitem(n, index)`, or -1.
  int element(int n, int index) const;

 private:
  void read_outputs(int n);

  std::span<const trace::NodeRecord> nodes_;
  std::unordered_map<std::string_view, int> names_;
  std::vector<std::vector<int>> inputs_, users_;
  std::vector<int> base_;
  std::vector<char> call_, view_;
  std::vector<std::string_view> ops_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string_view, std::vector<int>> alike_;
  std::vector<int> outputs_;
  std::set<std::string_view> children_;
};

/// `mm` of `aten.mm.default`, `torch.ops.aten.mm.default`, `extern_kernels.mm`.
std::string_view operator_name(std::string_view target);

}  // namespace strata::capture::detail
