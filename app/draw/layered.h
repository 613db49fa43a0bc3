// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A layered layout of boxes joined by edges, in O(E log V): longest-path layers, barycentre order, least-squares
/// positions. Knows nothing of pictures; `layout_layered.cpp` uses it for groups and for the whole.

#include <utility>
#include <vector>

#include "app/draw/layout.h"

namespace strata::draw {

struct LayeredInput {
  std::vector<std::pair<double, double>> sizes;  ///< width and height of each box
  std::vector<std::pair<int, int>> edges;        ///< indices of boxes; cycles are allowed, self edges are not
  std::vector<double> places = {};               ///< where each box stood before, NaN if it is new; empty: all are new
  const std::function<bool()>* stop = nullptr;   ///< as in LayoutRequest
};

struct LayeredResult {
  std::vector<Point> corners;                 ///< upper left corner of each box
  std::vector<std::vector<Point>> waypoints;  ///< per edge, the points between its ends, top to bottom
  double width = 0, height = 0;
};

LayeredResult lay_out_layered(const LayeredInput& input);

/// A smooth curve through the points: cubic Bézier control points, leaving and arriving vertically.
std::vector<Point> smooth(const std::vector<Point>& points);

}  // namespace strata::draw
