// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where everything of a picture goes. Coordinates are pixels, y grows downwards, the origin is the upper left corner.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/draw/picture.h"

namespace strata::draw {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  double centre_x() const { return x + width / 2; }
  bool contains(const Rect& r) const { return r.x >= x && r.y >= y && r.right() <= right() && r.bottom() <= bottom(); }
  bool overlaps(const Rect& r) const { return x < r.right() && r.x < right() && y < r.bottom() && r.y < bottom(); }
};

enum class Engine : int {
  Automatic = 0,  ///< Graphviz where it takes well under a second and keeps nodes in their places, layered elsewhere
  Graphviz,
  Layered
};

/// Edges leave the middle of a box's lower side (through the label with the type, if any) and arrive at the middle of
/// the upper side. Boxes never overlap; a group's frame holds its nodes and no others.
struct Layout {
  std::vector<Rect> nodes;                ///< as Picture::nodes
  std::vector<Rect> labels;               ///< of the types under the boxes; empty where there is none
  std::vector<std::vector<Point>> edges;  ///< as Picture::edges: cubic Bézier control points, 3n+1 of them
  std::vector<Rect> groups;               ///< as Picture::groups
  double width = 0, height = 0;
  Engine engine = Engine::Layered;  ///< the one that made it
};

/// A layout that was asked to stop.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

struct LayoutRequest {
  Engine engine = Engine::Automatic;
  /// Where nodes stood before (middle of the box): the layered layout keeps their order from left to right in each
  /// layer, Graphviz begins with it.
  std::unordered_map<trace::NodeId, double> places;
  /// Asked now and then by the layered layout; when it says true, Stopped is thrown. May be empty.
  std::function<bool()> stop;
};

/// The picture must have been measured. Graphviz is entered by one thread at a time: others wait. If it fails, the
/// layered layout is made; pictures of modules always have that.
Layout lay_out(const Picture& picture, const LayoutRequest& request);
Layout lay_out(const Picture& picture, Engine engine = Engine::Automatic);

/// Space of a node with the label under it.
double cell_width(const PictureNode& node);
double cell_height(const PictureNode& node);

inline constexpr double kGroupHeader = 22, kGroupMargin = 12;

}  // namespace strata::draw
