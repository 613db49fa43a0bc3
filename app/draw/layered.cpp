// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/layered.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace strata::draw {
namespace {

// The engine. Boxes are assigned to layers (every edge points to a later layer once edges that close a cycle are left
// out). An edge that spans several layers is given a chain of invisible waypoints, shortest edges first, as long as
// the number of waypoints stays linear in the size of the graph: that bound is what keeps the whole near-linear.
// Within each layer, items (boxes and waypoints) are ordered by the mean position of their neighbours, then given the
// x coordinates nearest to those means that keep order and distance: least squares under order constraints, solved
// exactly by merging neighbours that collide into blocks.

constexpr double kGapX = 26, kGapY = 40, kWaypointWidth = 8;
constexpr int kSweeps = 6, kPlacementRounds = 10;

struct Item {
  double width = 0, height = 0;
  int layer = 0;
  bool waypoint = false;
  double x = 0;  // centre
};

struct Neighbours {  // compressed rows
  std::vector<int> start, list;
  auto of(int i) const { return std::pair(list.begin() + start[i], list.begin() + start[i + 1]); }
};

Neighbours gather(size_t count, const std::vector<std::pair<int, int>>& edges, bool forward) {
  Neighbours n;
  n.start.assign(count + 1, 0);
  for (const auto& [from, to] : edges) ++n.start[static_cast<size_t>(forward ? from : to) + 1];
  std::partial_sum(n.start.begin(), n.start.end(), n.start.begin());
  n.list.resize(edges.size());
  std::vector<int> at(n.start.begin(), n.start.end() - 1);
  for (const auto& [from, to] : edges) n.list[at[forward ? from : to]++] = forward ? to : from;
  return n;
}

/// Edges without those that close a cycle, found by a depth-first walk with its own stack (graphs are deep).
std::vector<char> find_back_edges(const LayeredInput& in) {
  size_t count = in.sizes.size();
  std::vector<std::vector<std::pair<int, int>>> out(count);  // target, edge
  for (size_t e = 0; e < in.edges.size(); ++e)
    out[in.edges[e].first].emplace_back(in.edges[e].second, static_cast<int>(e));
  std::vector<char> back(in.edges.size(), 0), state(count, 0);
  std::vector<std::pair<int, size_t>> stack;
  for (size_t root = 0; root < count; ++root) {
    if (state[root]) continue;
    state[root] = 1;
    stack.emplace_back(static_cast<int>(root), 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == out[node].size()) {
        state[node] = 2;
        stack.pop_back();
        continue;
      }
      auto [target, edge] = out[node][next++];
      if (state[target] == 1) back[edge] = 1;
      if (state[target] == 0) {
        state[target] = 1;
        stack.emplace_back(target, 0);
      }
    }
  }
  return back;
}

std::vector<int> assign_layers(size_t count, const std::vector<std::pair<int, int>>& edges) {
  Neighbours down = gather(count, edges, true);
  std::vector<int> layer(count, 0), degree(count, 0), queue;
  for (const auto& edge : edges) ++degree[edge.second];
  for (size_t i = 0; i < count; ++i)
    if (!degree[i]) queue.push_back(static_cast<int>(i));
  std::vector<int> sources = queue;
  for (size_t head = 0; head < queue.size(); ++head) {
    auto [begin, end] = down.of(queue[head]);
    for (auto it = begin; it != end; ++it) {
      layer[*it] = std::max(layer[*it], layer[queue[head]] + 1);
      if (--degree[*it] == 0) queue.push_back(*it);
    }
  }
  for (int source : sources) {  // inputs go right above their first user, not to the very top
    auto [begin, end] = down.of(source);
    int first = -1;
    for (auto it = begin; it != end; ++it) first = first < 0 ? layer[*it] : std::min(first, layer[*it]);
    if (first > 0) layer[source] = first - 1;
  }
  return layer;
}

class Layering {
 public:
  explicit Layering(const LayeredInput& input) : in_(input), chains_(input.edges.size()) {}

  LayeredResult run() {
    make_items();
    make_chains();
    make_layers();
    for (int sweep = 0; sweep < kSweeps; ++sweep) order(sweep % 2 == 0);
    keep_places();
    for (int round = 0; round < kPlacementRounds; ++round) place(round);
    return finish();
  }

 private:
  void make_items() {
    std::vector<char> back = find_back_edges(in_);
    std::vector<std::pair<int, int>> forward;
    for (size_t e = 0; e < back.size(); ++e)
      if (!back[e]) {
        forward.push_back(in_.edges[e]);
        forward_.push_back(static_cast<int>(e));
      }
    std::vector<int> layer = assign_layers(in_.sizes.size(), forward);
    for (size_t i = 0; i < in_.sizes.size(); ++i)
      items_.push_back({in_.sizes[i].first, in_.sizes[i].second, layer[i], false, 0});
  }

  int span(int edge) const { return items_[in_.edges[edge].second].layer - items_[in_.edges[edge].first].layer; }

  void make_chains() {
    std::vector<int> by_span = forward_;
    std::stable_sort(by_span.begin(), by_span.end(), [&](int a, int b) { return span(a) < span(b); });
    long budget = 3 * static_cast<long>(in_.sizes.size() + in_.edges.size());
    for (int edge : by_span) {
      auto [from, to] = in_.edges[edge];
      budget -= span(edge) - 1;
      if (budget < 0) break;
      int last = from;
      for (int layer = items_[from].layer + 1; layer < items_[to].layer; ++layer) {
        int waypoint = static_cast<int>(items_.size());
        items_.push_back({kWaypointWidth, 0, layer, true, 0});
        chains_[edge].push_back(waypoint);
        links_.emplace_back(last, waypoint);
        last = waypoint;
      }
      links_.emplace_back(last, to);
    }
  }

  void make_layers() {
    up_ = gather(items_.size(), links_, false);
    down_ = gather(items_.size(), links_, true);
    int count = 0;
    for (const Item& item : items_) count = std::max(count, item.layer + 1);
    layers_.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < items_.size(); ++i) layers_[items_[i].layer].push_back(static_cast<int>(i));
    rank_.resize(items_.size());
    for (const auto& layer : layers_) number(layer);
  }

  bool placed(int i) const {
    return static_cast<size_t>(i) < in_.places.size() && !std::isnan(in_.places[static_cast<size_t>(i)]);
  }

  /// Boxes that stood side by side before keep their order; what is new stays where the sweeps put it.
  void keep_places() {
    if (in_.places.empty()) return;
    for (auto& layer : layers_) {
      std::vector<int> old;
      for (int i : layer)
        if (placed(i)) old.push_back(i);
      std::stable_sort(old.begin(), old.end(), [&](int a, int b) { return in_.places[a] < in_.places[b]; });
      auto next = old.begin();
      for (int& i : layer)
        if (placed(i)) i = *next++;
    }
  }

  void look_up() const {
    if (in_.stop && *in_.stop && (*in_.stop)()) throw Stopped();
  }

  void number(const std::vector<int>& layer) {
    // Ranks are relative to the layer's width, so that layers of different sizes pull towards the same place.
    for (size_t i = 0; i < layer.size(); ++i)
      rank_[layer[i]] = static_cast<double>(i) - static_cast<double>(layer.size()) / 2;
  }

  void order(bool downwards) {
    look_up();
    std::vector<double> key(items_.size());
    for (size_t step = 0; step < layers_.size(); ++step) {
      auto& layer = layers_[downwards ? step : layers_.size() - 1 - step];
      for (int i : layer) {
        auto [begin, end] = (downwards ? up_ : down_).of(i);
        double sum = 0;
        for (auto it = begin; it != end; ++it) sum += rank_[*it];
        key[i] = begin == end ? rank_[i] : sum / static_cast<double>(end - begin);
      }
      std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) { return key[a] < key[b]; });
      number(layer);
    }
  }

  void place(int round) {
    look_up();
    bool downwards = round % 2 == 0;
    for (size_t step = 0; step < layers_.size(); ++step)
      place_layer(layers_[downwards ? step : layers_.size() - 1 - step], downwards, round);
  }

  /// Straight long edges look best, so waypoints pull hard on waypoints.
  std::pair<double, double> wish(int i, bool downwards, int round) const {
    double sum = 0, weight = 0;
    auto pull = [&](const Neighbours& n, double strength) {
      auto [begin, end] = n.of(i);
      for (auto it = begin; it != end; ++it) {
        double w = strength * (items_[i].waypoint && items_[*it].waypoint ? 8 : 1);
        sum += w * items_[*it].x;
        weight += w;
      }
    };
    pull(downwards ? up_ : down_, 1);
    if (round >= 2) pull(downwards ? down_ : up_, 0.3);
    return weight > 0 ? std::pair(sum / weight, weight) : std::pair(items_[i].x, 0.01);
  }

  void place_layer(const std::vector<int>& layer, bool downwards, int round) {
    struct Block {
      double sum, weight;
      size_t count;
      double mean() const { return sum / weight; }
    };
    std::vector<Block> blocks;
    std::vector<double> offset(layer.size());
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) offset[i] = offset[i - 1] + gap(layer[i - 1], layer[i]);
      auto [x, weight] = wish(layer[i], downwards, round);
      blocks.push_back({(x - offset[i]) * weight, weight, 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
        Block top = blocks.back();
        blocks.pop_back();
        blocks.back() = {blocks.back().sum + top.sum, blocks.back().weight + top.weight,
                         blocks.back().count + top.count};
      }
    }
    size_t i = 0;
    for (const Block& block : blocks)
      for (size_t k = 0; k < block.count; ++k, ++i) items_[layer[i]].x = block.mean() + offset[i];
  }

  double gap(int a, int b) const {
    double between = items_[a].waypoint && items_[b].waypoint ? kWaypointWidth : kGapX;
    return (items_[a].width + items_[b].width) / 2 + between;
  }

  LayeredResult finish() const {
    LayeredResult result;
    result.corners.resize(in_.sizes.size());
    result.waypoints.resize(in_.edges.size());
    if (items_.empty()) return result;
    double left = 1e300, right = -1e300, y = 0;
    for (const Item& item : items_) {
      left = std::min(left, item.x - item.width / 2);
      right = std::max(right, item.x + item.width / 2);
    }
    std::vector<double> top(layers_.size()), height(layers_.size());
    for (size_t l = 0; l < layers_.size(); ++l) {
      for (int i : layers_[l]) height[l] = std::max(height[l], items_[i].height);
      top[l] = y;
      y += height[l] + (l + 1 < layers_.size() ? kGapY : 0);
    }
    for (size_t i = 0; i < in_.sizes.size(); ++i) {
      const Item& item = items_[i];
      double slack = height[item.layer] - item.height;
      result.corners[i] = {item.x - item.width / 2 - left, top[item.layer] + slack / 2};
    }
    for (size_t e = 0; e < chains_.size(); ++e)
      for (int i : chains_[e]) {  // two points: the edge stays vertical beside the boxes of its layer
        const Item& item = items_[i];
        result.waypoints[e].push_back({item.x - left, top[item.layer]});
        if (height[item.layer] > 0)
          result.waypoints[e].push_back({item.x - left, top[item.layer] + height[item.layer]});
      }
    result.width = right - left;
    result.height = y;
    return result;
  }

  const LayeredInput& in_;
  std::vector<int> forward_;  // edges that close no cycle
  std::vector<Item> items_;
  std::vector<std::vector<int>> chains_;
  std::vector<std::pair<int, int>> links_;
  Neighbours up_, down_;
  std::vector<std::vector<int>> layers_;
  std::vector<double> rank_;
};

}  // namespace

LayeredResult lay_out_layered(const LayeredInput& input) { return Layering(input).run(); }

std::vector<Point> smooth(const std::vector<Point>& points) {
  std::vector<Point> curve;
  if (points.empty()) return curve;
  curve.push_back(points[0]);
  for (size_t i = 1; i < points.size(); ++i) {
    Point a = points[i - 1], b = points[i];
    double bend = std::abs(b.y - a.y) / 2;
    curve.push_back({a.x, a.y + bend});
    curve.push_back({b.x, b.y - bend});
    curve.push_back(b);
  }
  return curve;
}

}  // namespace strata::draw
