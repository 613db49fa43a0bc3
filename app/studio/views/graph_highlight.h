// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which nodes and edges of a picture belong to a neighbourhood or to the paths between two nodes.

#include <utility>
#include <vector>

#include "app/draw/picture.h"

namespace strata::studio {

/// Flags by index; both empty: everything is lit.
struct Highlight {
  std::vector<char> nodes, edges;
  bool empty() const { return nodes.empty(); }
  bool node(size_t i) const { return nodes.empty() || nodes[i]; }
  bool edge(size_t e) const { return edges.empty() || edges[e]; }
  size_t count() const;  ///< nodes that are lit
};

/// The edges of a picture by their ends.
class Adjacency {
 public:
  explicit Adjacency(const draw::Picture& picture);
  /// First and past-the-last neighbour: users (`down`) or operands of a node.
  std::pair<const int*, const int*> of(int node, bool down) const;
  /// Steps from `start` along the edges, up to `most`; -1 where there is no way.
  std::vector<int> distances(int start, bool down, int most) const;

 private:
  struct Rows {
    std::vector<int> start, list;
  };
  Rows up_, down_;
};

/// The node, what it was made from in at most `steps` steps, and what is made from it in at most as many.
Highlight neighbourhood(const draw::Picture& picture, const Adjacency& adjacency, int node, int steps);

/// Everything on a way from one node to the other, whichever of them comes first; nothing is lit if there is no way.
Highlight paths_between(const draw::Picture& picture, const Adjacency& adjacency, int a, int b);

}  // namespace strata::studio
