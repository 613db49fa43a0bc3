// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/layout.h"

#include <algorithm>
#include <cstdlib>

#include "app/draw/layered_graph.h"
#include "app/draw/layout_engines.h"

namespace strata::draw {

double cell_width(const PictureNode& node) { return std::max(node.width, node.label_width); }
double cell_height(const PictureNode& node) { return node.height + (node.label_width > 0 ? kTypeRow : 0); }

void set_cell(Layout& layout, const Picture& picture, int i, double x, double y) {
  const PictureNode& node = picture.nodes[i];
  double centre = x + cell_width(node) / 2;
  layout.nodes[i] = {centre - node.width / 2, y, node.width, node.height};
  if (node.label_width > 0)
    layout.labels[i] = {centre - node.label_width / 2, y + node.height, node.label_width, kTypeRow};
}

namespace {

/// dot takes most of its time for the waypoints of long edges. These bounds keep it under
/// half of a second.
constexpr size_t kMostNodes = 900, kMostWork = 1800;
constexpr size_t kMostLoose = 20;
constexpr double kLeastKept = 0.95;

/// dot puts all boxes without edges into one row.
size_t loose_boxes(const Picture& picture) {
  std::vector<char> used(picture.nodes.size(), 0);
  for (const auto& [from, to] : picture.edges) used[static_cast<size_t>(from)] = used[static_cast<size_t>(to)] = 1;
  return static_cast<size_t>(std::count(used.begin(), used.end(), 0));
}

bool small_enough(const Picture& picture) {
  return loose_boxes(picture) <= kMostLoose && picture.nodes.size() <= kMostNodes &&
         graphviz_work(picture) <= kMostWork;
}

/// Of all pairs of boxes that stand side by side and stood somewhere before, how many are in the same order as then.
double kept_order(const Picture& picture, const Layout& layout, const LayoutRequest& request) {
  std::vector<std::pair<const Rect*, double>> boxes;  // and where they stood
  for (size_t i = 0; i < picture.nodes.size(); ++i)
    if (const auto at = request.places.find(picture.nodes[i].id); at != request.places.end())
      boxes.emplace_back(&layout.nodes[i], at->second);
  size_t pairs = 0, kept = 0;
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t k = i + 1; k < boxes.size(); ++k) {
      const auto& [a, was_a] = boxes[i];
      const auto& [b, was_b] = boxes[k];
      if (a->bottom() < b->y || b->bottom() < a->y || was_a == was_b) continue;
      ++pairs;
      kept += (a->centre_x() < b->centre_x()) == (was_a < was_b);
    }
  return pairs == 0 ? 1 : static_cast<double>(kept) / static_cast<double>(pairs);
}

void add_margin(Layout& layout, double margin) {
  auto shift = [margin](Rect& r) { r.x += margin, r.y += margin; };
  for (Rect& r : layout.nodes) shift(r);
  for (Rect& r : layout.labels) shift(r);
  for (Rect& r : layout.groups) shift(r);
  for (auto& edge : layout.edges)
    for (Point& p : edge) p.x += margin, p.y += margin;
  layout.width += 2 * margin;
  layout.height += 2 * margin;
}

}  // namespace

size_t graphviz_work(const Picture& picture) {
  LayeredInput in;
  in.sizes.resize(picture.nodes.size());
  for (const auto& edge : picture.edges) in.edges.emplace_back(edge.from, edge.to);
  const std::vector<int> layer = assign_layers(in, find_back_edges(in));
  size_t work = picture.nodes.size();
  for (const auto& [from, to] : in.edges)
    work += static_cast<size_t>(
        std::max(0, std::abs(layer[static_cast<size_t>(to)] - layer[static_cast<size_t>(from)]) - 1));
  return work;
}

Layout lay_out(const Picture& picture, const LayoutRequest& request) {
  Layout layout;
  bool graphviz =
      request.engine == Engine::Graphviz ||
      (request.engine == Engine::Automatic && picture.grouped_by != GroupBy::Modules && small_enough(picture));
  auto made = graphviz && !picture.nodes.empty() ? lay_out_with_graphviz(picture, request) : std::nullopt;
  // Who steps through stages must find things again: dot may turn a picture over, our layout never does.
  if (made && request.engine == Engine::Automatic && kept_order(picture, *made, request) < kLeastKept) made.reset();
  layout = made ? std::move(*made) : lay_out_with_layers(picture, request);
  add_margin(layout, 16);
  return layout;
}

Layout lay_out(const Picture& picture, Engine engine) {
  LayoutRequest request;
  request.engine = engine;
  return lay_out(picture, request);
}

}  // namespace strata::draw
