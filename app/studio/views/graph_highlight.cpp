// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/graph_highlight.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace strata::studio {

using draw::Picture;

size_t Highlight::count() const { return static_cast<size_t>(std::count(nodes.begin(), nodes.end(), 1)); }

Adjacency::Adjacency(const Picture& picture) {
  auto fill = [&](Rows& rows, bool down) {
    rows.start.assign(picture.nodes.size() + 1, 0);
    rows.list.resize(picture.edges.size());
    auto key = [down](const draw::PictureEdge& edge) { return static_cast<size_t>(down ? edge.from : edge.to); };
    for (const auto& edge : picture.edges) ++rows.start[key(edge) + 1];
    std::partial_sum(rows.start.begin(), rows.start.end(), rows.start.begin());
    std::vector<int> at(rows.start.begin(), rows.start.end() - 1);
    for (const auto& edge : picture.edges) rows.list[static_cast<size_t>(at[key(edge)]++)] = down ? edge.to : edge.from;
  };
  fill(up_, false);
  fill(down_, true);
}

std::pair<const int*, const int*> Adjacency::of(int node, bool down) const {
  const Rows& rows = down ? down_ : up_;
  const auto i = static_cast<size_t>(node);
  return {rows.list.data() + rows.start[i], rows.list.data() + rows.start[i + 1]};
}

std::vector<int> Adjacency::distances(int start, bool down, int most) const {
  std::vector<int> distance(up_.start.size() - 1, -1), queue = {start};
  distance[static_cast<size_t>(start)] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    const int here = distance[static_cast<size_t>(queue[head])];
    if (here == most) break;
    auto [begin, end] = of(queue[head], down);
    for (const int* next = begin; next != end; ++next)
      if (int& d = distance[static_cast<size_t>(*next)]; d < 0) {
        d = here + 1;
        queue.push_back(*next);
      }
  }
  return distance;
}

Highlight neighbourhood(const Picture& picture, const Adjacency& adjacency, int node, int steps) {
  const std::vector<int> up = adjacency.distances(node, false, steps), down = adjacency.distances(node, true, steps);
  Highlight lit;
  for (size_t i = 0; i < picture.nodes.size(); ++i) lit.nodes.push_back(up[i] >= 0 || down[i] >= 0);
  for (const auto& edge : picture.edges) {
    const auto a = static_cast<size_t>(edge.from), b = static_cast<size_t>(edge.to);
    lit.edges.push_back((up[a] >= 0 && up[b] >= 0) || (down[a] >= 0 && down[b] >= 0));
  }
  return lit;
}

Highlight paths_between(const Picture& picture, const Adjacency& adjacency, int a, int b) {
  constexpr int kAll = std::numeric_limits<int>::max();
  std::vector<int> from = adjacency.distances(a, true, kAll);
  if (from[static_cast<size_t>(b)] < 0) {
    std::swap(a, b);
    from = adjacency.distances(a, true, kAll);
  }
  const std::vector<int> to = adjacency.distances(b, false, kAll);
  Highlight lit;
  for (size_t i = 0; i < picture.nodes.size(); ++i) lit.nodes.push_back(from[i] >= 0 && to[i] >= 0);
  for (const auto& edge : picture.edges)
    lit.edges.push_back(lit.nodes[static_cast<size_t>(edge.from)] && lit.nodes[static_cast<size_t>(edge.to)]);
  return lit;
}

}  // namespace strata::studio
