// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/draw/layered_graph.h"

namespace strata::draw {
namespace {

constexpr double kGapX = 26, kBehind = 0.7;

/// In rounds, down and up: each layer's items get the x nearest to the mean of their neighbours' that keeps order and
/// distance. That is least squares under order constraints, solved exactly by merging items that collide into blocks.
class Placement {
 public:
  Placement(LayeredGraph& graph, const std::function<void()>& look_up) : g_(graph), look_up_(look_up) {}

  void run() {
    for (const auto& layer : g_.layers) pack(layer);
    const int rounds = g_.items.size() <= 5000 ? 24 : g_.items.size() <= 40000 ? 14 : 10;
    find_runs();
    for (int round = 0; round < rounds; ++round) {
      look_up_();
      if (round >= rounds / 3) aim_runs();
      const bool downwards = round % 2 == 0;
      for (size_t step = 0; step < g_.layers.size(); ++step)
        place(g_.layers[downwards ? step : g_.layers.size() - 1 - step], downwards, kBehind);
    }
  }

 private:
  struct Block {
    double sum, weight;
    size_t count;
    double mean() const { return sum / weight; }
  };

  const LayeredItem& item(int i) const { return g_.items[static_cast<size_t>(i)]; }

  /// Chains of waypoints that follow each other, from above.
  void find_runs() {
    aim_.assign(g_.items.size(), 0);
    aimed_.assign(g_.items.size(), 0);
    std::vector<char> taken(g_.items.size(), 0);
    for (const auto& layer : g_.layers)
      for (int i : layer) {
        if (!item(i).waypoint || taken[static_cast<size_t>(i)]) continue;
        std::vector<int> run;
        for (int at = i; at >= 0; at = next_waypoint(at)) {
          taken[static_cast<size_t>(at)] = 1;
          run.push_back(at);
        }
        if (run.size() > 2) runs_.push_back(std::move(run));
      }
  }

  int next_waypoint(int i) const {
    for (auto it = g_.down.begin(i); it != g_.down.end(i); ++it)
      if (const int to = g_.links[static_cast<size_t>(*it)].to; item(to).waypoint) return to;
    return -1;
  }

  /// A long line drifts towards straightness by a few layers in each round: it is given its mean nearby as an aim.
  void aim_runs() {
    constexpr size_t reach = 16;
    std::vector<double> sums;
    for (const auto& run : runs_) {
      sums.assign(1, 0);
      for (int i : run) sums.push_back(sums.back() + item(i).x);
      for (size_t k = 0; k < run.size(); ++k) {
        const size_t from = k > reach ? k - reach : 0, to = std::min(run.size(), k + reach + 1);
        aim_[static_cast<size_t>(run[k])] = (sums[to] - sums[from]) / static_cast<double>(to - from);
        aimed_[static_cast<size_t>(run[k])] = 1;
      }
    }
  }

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
    if (aimed_[static_cast<size_t>(i)]) {
      constexpr double strength_of_aim = 12;
      sum += strength_of_aim * aim_[static_cast<size_t>(i)];
      weight += strength_of_aim;
    }
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
  std::vector<double> offset_, aim_;
  std::vector<char> aimed_;
  std::vector<std::vector<int>> runs_;
};

}  // namespace

void place_items(LayeredGraph& graph, const std::function<void()>& look_up) { Placement(graph, look_up).run(); }

}  // namespace strata::draw
