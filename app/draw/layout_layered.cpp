// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "app/draw/layered.h"
#include "app/draw/layout_engines.h"

namespace strata::draw {
namespace {

// Two levels: the inside of each group is laid out by itself and then takes part in the whole as one box. So frames
// never overlap and hold nothing foreign, by construction.

struct Blocks {
  std::vector<int> of_node;  // block of each node
  std::vector<int> group;    // group of each block, -1 for a single node
  std::vector<std::vector<int>> nodes;
};

Blocks make_blocks(const Picture& picture) {
  Blocks blocks;
  blocks.of_node.assign(picture.nodes.size(), -1);
  std::vector<int> of_group(picture.groups.size(), -1);
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    int group = picture.nodes[i].group;
    int block = group >= 0 ? of_group[group] : -1;
    if (block < 0) {
      block = static_cast<int>(blocks.nodes.size());
      blocks.nodes.emplace_back();
      blocks.group.push_back(group);
      if (group >= 0) of_group[group] = block;
    }
    blocks.of_node[i] = block;
    blocks.nodes[block].push_back(static_cast<int>(i));
  }
  return blocks;
}

class Compound {
 public:
  explicit Compound(const Picture& picture) : picture_(picture), blocks_(make_blocks(picture)) {}

  Layout run() {
    layout_.nodes.resize(picture_.nodes.size());
    layout_.labels.resize(picture_.nodes.size());
    layout_.groups.resize(picture_.groups.size());
    layout_.edges.resize(picture_.edges.size());
    sort_edges();
    for (size_t b = 0; b < blocks_.nodes.size(); ++b) lay_out_block(static_cast<int>(b));
    lay_out_outside();
    layout_.engine = Engine::Layered;
    return std::move(layout_);
  }

 private:
  void sort_edges() {
    inner_edges_.resize(blocks_.nodes.size());
    waypoints_.resize(picture_.edges.size());
    position_.resize(picture_.nodes.size());
    for (const auto& nodes : blocks_.nodes)
      for (size_t k = 0; k < nodes.size(); ++k) position_[nodes[k]] = static_cast<int>(k);
    for (size_t e = 0; e < picture_.edges.size(); ++e) {
      int a = blocks_.of_node[picture_.edges[e].from], b = blocks_.of_node[picture_.edges[e].to];
      if (a == b) inner_edges_[a].push_back(static_cast<int>(e));
    }
  }

  void lay_out_block(int block) {
    const auto& nodes = blocks_.nodes[block];
    bool framed = blocks_.group[block] >= 0;
    LayeredInput in;
    for (int i : nodes) in.sizes.emplace_back(cell_width(picture_.nodes[i]), cell_height(picture_.nodes[i]));
    for (int e : inner_edges_[block])
      in.edges.emplace_back(position_[picture_.edges[e].from], position_[picture_.edges[e].to]);
    LayeredResult inner = lay_out_layered(in);
    double label = framed ? picture_.groups[blocks_.group[block]].label_width : 0;
    double widening = std::max(0.0, label - inner.width) / 2 + (framed ? kGroupMargin : 0);
    double down = framed ? kGroupHeader : 0;
    for (Point& p : inner.corners) p.x += widening, p.y += down;
    for (size_t k = 0; k < inner_edges_[block].size(); ++k) {
      for (Point& p : inner.waypoints[k]) p.x += widening, p.y += down;
      waypoints_[inner_edges_[block][k]] = std::move(inner.waypoints[k]);
    }
    sizes_.emplace_back(inner.width + 2 * widening, inner.height + down + (framed ? kGroupMargin : 0));
    corners_.push_back(std::move(inner.corners));
  }

  void lay_out_outside() {
    LayeredInput in{sizes_, {}};
    std::vector<int> numbers;  // of the edges between blocks
    for (size_t e = 0; e < picture_.edges.size(); ++e) {
      int a = blocks_.of_node[picture_.edges[e].from], b = blocks_.of_node[picture_.edges[e].to];
      if (a == b) continue;
      in.edges.emplace_back(a, b);
      numbers.push_back(static_cast<int>(e));
    }
    LayeredResult outer = lay_out_layered(in);
    for (size_t k = 0; k < numbers.size(); ++k) waypoints_[numbers[k]] = std::move(outer.waypoints[k]);
    for (size_t b = 0; b < blocks_.nodes.size(); ++b) place_block(static_cast<int>(b), outer.corners[b]);
    for (size_t e = 0; e < picture_.edges.size(); ++e) route(static_cast<int>(e));
    layout_.width = outer.width;
    layout_.height = outer.height;
  }

  void place_block(int block, Point at) {
    const auto& nodes = blocks_.nodes[block];
    for (size_t k = 0; k < nodes.size(); ++k)
      set_cell(layout_, picture_, nodes[k], at.x + corners_[block][k].x, at.y + corners_[block][k].y);
    for (int e : inner_edges_[block])
      for (Point& p : waypoints_[e]) p.x += at.x, p.y += at.y;
    if (int group = blocks_.group[block]; group >= 0)
      layout_.groups[group] = {at.x, at.y, sizes_[block].first, sizes_[block].second};
  }

  void route(int e) {
    int from = picture_.edges[e].from, to = picture_.edges[e].to;
    const Rect& a = layout_.nodes[from];
    const Rect& b = layout_.nodes[to];
    double start = a.y + cell_height(picture_.nodes[from]);
    std::vector<Point> points = {{a.centre_x(), start}};
    for (const Point& p : waypoints_[e]) points.push_back(p);
    points.push_back({b.centre_x(), b.y});
    layout_.edges[e] = smooth(points);
  }

  const Picture& picture_;
  Blocks blocks_;
  std::vector<std::vector<int>> inner_edges_;
  std::vector<int> position_;  // of each node within its block
  std::vector<std::vector<Point>> waypoints_;
  std::vector<std::pair<double, double>> sizes_;
  std::vector<std::vector<Point>> corners_;
  Layout layout_;
};

}  // namespace

Layout lay_out_with_layers(const Picture& picture) { return Compound(picture).run(); }

}  // namespace strata::draw
