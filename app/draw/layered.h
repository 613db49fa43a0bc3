// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A layered layout of boxes joined by edges, near-linear in the size of the graph: longest-path layers drawn together,
/// barycentre order with exchange of neighbours, least-squares positions. Knows nothing of pictures;
/// `layout_layered.cpp` uses it for groups and for the whole.

#include <utility>
#include <vector>

#include "app/draw/layout.h"

namespace strata::draw {

struct LayeredInput {
  enum class End : signed char { None = 0, Top, Bottom };
  std::vector<std::pair<double, double>> sizes;  ///< width and height of each box
  std::vector<std::pair<int, int>> edges;        ///< indices of boxes; cycles are allowed, self edges are not
  std::vector<double> places = {};               ///< where each box stood before, NaN if it is new; empty: all are new
  const std::function<bool()>* stop = nullptr;   ///< as in LayoutRequest
  /// Of each edge, how far right of the middles of its boxes it leaves and arrives; empty: in the middles.
  std::vector<std::pair<double, double>> offsets = {};
  /// Boxes that stand above or below all others (they have no edges from, or to, others); empty: none.
  std::vector<End> ends = {};
};

struct LayeredResult {
  std::vector<Point> corners;                 ///< upper left corner of each box
  std::vector<std::vector<Point>> waypoints;  ///< per edge, the points between its ends, in its direction
  double width = 0, height = 0;
};

LayeredResult lay_out_layered(const LayeredInput& input);

/// A smooth curve through the points: cubic Bézier control points, leaving and arriving vertically. At its ends the
/// curve goes down; between them, up where the points do.
std::vector<Point> smooth(const std::vector<Point>& points);

}  // namespace strata::draw
