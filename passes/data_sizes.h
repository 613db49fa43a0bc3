// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sizes that only the data tells: `item` nodes make an element of a tensor a size. What needs the size names its
/// symbol and has no edge to that node; here are these edges.

#include <set>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"

namespace strata {

class DataSizes {
 public:
  /// The graph must outlive it.
  explicit DataSizes(const Graph& graph);

  /// Nodes that give sizes, in graph order.
  const std::vector<const Node*>& readers() const { return readers_; }
  /// Those of them that give a size that `node` needs, itself or in a view that it reads through.
  std::vector<const Node*> needed_by(const Node& node) const;
  /// Whether an expression has a symbol that does not follow from the inputs.
  bool depends_on_data(const SymInt& e) const;

 private:
  void add(const SymInt& e, std::set<const Node*>& found) const;
  void add(const Argument& argument, std::set<const Node*>& found) const;
  void add(const Type& type, std::set<const Node*>& found) const;
  void add(const Node& node, std::set<const Node*>& found, int depth) const;

  std::vector<const Node*> readers_;
  std::unordered_map<size_t, const Node*> giver_;  ///< of each symbol
  std::set<size_t> of_inputs_;
};

}  // namespace strata
