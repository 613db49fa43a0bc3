// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/draw/layered_graph.h"

namespace strata::draw {
namespace {

constexpr double kGapX = 26;

/// In rounds, down and up: each layer's items get the x nearest to the mean of their neighbours' that keeps order and
/// distance. That is least squares under order constraints, solved exactly by merging items that collide into blocks.
class Placement {
 public:
  Placement(LayeredGraph& graph, const std::function<void()>& look_up) : g_(graph), look_up_(look_up) {}

  void run() {
    for (const auto& layer : g_.layers) pack(layer);
    const int rounds = g_.items.size() <= 5000 ? 24 : g_.items.size() <= 40000 ? 14 : 10;
    for (int round = 0; round < rounds; ++round) {
      look_up_();
      const bool downwards = round % 2 == 0, last = round >= rounds - 4;
      for (size_t step = 0; step < g_.layers.size(); ++step)
        place(g_.layers[downwards ? step : g_.layers.size() - 1 - step], downwards, round < 2 ? 0.0 : last ? 1.0 : 0.3);
    }
  }

 private:
  struct Block {
    double sum, weight;
    size_t count;
    double mean() const { return sum / weight; }
  };

  const LayeredItem& item(int i) const { return g_.items[static_cast<size_t>(i)]; }

  void pack(const std::vector<int>& layer) {
    double x = 0;
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) x += gap(layer[i - 1], layer[i]);
      g_.items[static_cast<size_t>(layer[i])].x = x;
    }
    for (int i : layer) g_.items[static_cast<size_t>(i)].x -= x / 2;
  }

  double gap(int a, int b) const {
    const double between = item(a).waypoint && item(b).waypoint ? kWaypointWidth : kGapX;
    return (item(a).width + item(b).width) / 2 + between;
  }

  /// Long edges look best straight, so waypoints pull hard on waypoints; what has one link only follows.
  double strength(int i, int other) const {
    if (item(i).waypoint && item(other).waypoint) return 8;
    if (item(i).waypoint || item(other).waypoint) return 2;
    return g_.up.size(other) + g_.down.size(other) == 1 ? 0.25 : 1;
  }

  std::pair<double, double> wish(int i, bool downwards, double behind) const {
    double sum = 0, weight = 0;
    auto pull = [&](bool above, double share) {
      const Rows& rows = above ? g_.up : g_.down;
      for (auto it = rows.begin(i); it != rows.end(i); ++it) {
        const LayeredLink& link = g_.links[static_cast<size_t>(*it)];
        const int other = above ? link.from : link.to;
        const double w = share * strength(i, other);
        const double dx = above ? link.from_dx - link.to_dx : link.to_dx - link.from_dx;
        sum += w * (item(other).x + dx);
        weight += w;
      }
    };
    pull(downwards, 1);
    if (behind > 0) pull(!downwards, behind);
    return weight > 0 ? std::pair(sum / weight, weight) : std::pair(item(i).x, 0.01);
  }

  void place(const std::vector<int>& layer, bool downwards, double behind) {
    blocks_.clear();
    offset_.assign(layer.size(), 0);
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) offset_[i] = offset_[i - 1] + gap(layer[i - 1], layer[i]);
      const auto [x, weight] = wish(layer[i], downwards, behind);
      blocks_.push_back({(x - offset_[i]) * weight, weight, 1});
      while (blocks_.size() > 1 && blocks_[blocks_.size() - 2].mean() >= blocks_.back().mean()) {
        const Block top = blocks_.back();
        blocks_.pop_back();
        blocks_.back() = {blocks_.back().sum + top.sum, blocks_.back().weight + top.weight,
                          blocks_.back().count + top.count};
      }
    }
    size_t i = 0;
    for (const Block& block : blocks_)
      for (size_t k = 0; k < block.count; ++k, ++i)
        g_.items[static_cast<size_t>(layer[i])].x = block.mean() + offset_[i];
  }

  LayeredGraph& g_;
  const std::function<void()>& look_up_;
  std::vector<Block> blocks_;
  std::vector<double> offset_;
};

}  // namespace

void place_items(LayeredGraph& graph, const std::function<void()>& look_up) { Placement(graph, look_up).run(); }

}  // namespace strata::draw
