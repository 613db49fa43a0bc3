// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inside of the layered layout: boxes and waypoints in layers, joined by links between neighbouring layers.

#include <cstdint>
#include <utility>
#include <vector>

#include "app/draw/layered.h"

namespace strata::draw {

struct LayeredItem {
  double width = 0, height = 0;
  int layer = 0;
  bool waypoint = false;
  double x = 0;  // middle
};

/// From an item to one in the next layer.
struct LayeredLink {
  int from = 0, to = 0;
  double from_dx = 0, to_dx = 0;  // right of the middles
};

/// For each item a list of numbers, in compressed rows.
struct Rows {
  std::vector<int> start, list;
  auto begin(int i) const { return list.begin() + start[static_cast<size_t>(i)]; }
  auto end(int i) const { return list.begin() + start[static_cast<size_t>(i) + 1]; }
  int size(int i) const { return start[static_cast<size_t>(i) + 1] - start[static_cast<size_t>(i)]; }
};

template <typename Of>
Rows gather(size_t count, size_t lists, Of of) {
  Rows rows;
  rows.start.assign(count + 1, 0);
  for (size_t k = 0; k < lists; ++k) ++rows.start[static_cast<size_t>(of(k)) + 1];
  for (size_t i = 0; i < count; ++i) rows.start[i + 1] += rows.start[i];
  rows.list.resize(lists);
  std::vector<int> at(rows.start.begin(), rows.start.end() - 1);
  for (size_t k = 0; k < lists; ++k)
    rows.list[static_cast<size_t>(at[static_cast<size_t>(of(k))]++)] = static_cast<int>(k);
  return rows;
}

struct LayeredGraph {
  std::vector<LayeredItem> items;
  std::vector<LayeredLink> links;
  std::vector<std::vector<int>> layers;  // items from left to right
  Rows up, down;                         // links to the layer above, below

  void index();                           // up, down
  std::vector<double> positions() const;  // of each item in its layer, counted from the layer's middle
};

/// Edges that close a cycle, found by a depth-first walk with its own stack (graphs are deep).
std::vector<char> find_back_edges(const LayeredInput& in);

/// Layer of each box: every edge that is not a back edge points to a later layer, and edges are short.
std::vector<int> assign_layers(const LayeredInput& in, const std::vector<char>& back);

/// Puts the items of every layer in an order with few crossings of links. `stop` is asked now and then.
void order_layers(LayeredGraph& graph, const std::function<void()>& look_up);
std::int64_t count_crossings(const LayeredGraph& graph);

/// Sets x of all items: in the order of their layers, none on another, links straight where possible.
void place_items(LayeredGraph& graph, const std::function<void()>& look_up);

inline constexpr double kWaypointWidth = 8;

}  // namespace strata::draw
