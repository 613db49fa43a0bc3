// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/layered.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "app/draw/layered_graph.h"

namespace strata::draw {
namespace {

// Boxes are assigned to layers; every edge points to a later layer, except those that close a cycle. An edge that spans
// several layers goes along a chain of invisible waypoints. All edges that leave a box at the same point share one
// chain, from which they part where they must: a mask that every layer of a model uses is one line with branches.
// Chains are made for the shortest edges first, as long as the number of waypoints stays linear in the size of the
// graph: that bound is what keeps the whole near-linear. An edge that closes a cycle has a chain of its own, which it
// climbs: from under its first box, past it, and over the other.

constexpr double kGapY = 40, kPortGapY = 18;

class Layering {
 public:
  explicit Layering(const LayeredInput& input) : in_(input), routes_(input.edges.size()) {}

  LayeredResult run() {
    const std::function<void()> look = [this] { look_up(); };
    look_up();
    make_items();
    make_chains();
    make_layers();
    order_layers(g_, look);
    keep_places();
    place_items(g_, look);
    return finish();
  }

 private:
  void look_up() const {
    if (in_.stop && *in_.stop && (*in_.stop)()) throw Stopped();
  }

  void make_items() {
    back_ = find_back_edges(in_);
    const std::vector<int> layer = assign_layers(in_, back_);
    // Chains of back edges begin above their upper box and end below the lower one.
    const int down = std::find(back_.begin(), back_.end(), 1) == back_.end() ? 0 : 1;
    for (size_t i = 0; i < in_.sizes.size(); ++i)
      g_.items.push_back({in_.sizes[i].first, in_.sizes[i].second, layer[i] + down, is_end(i), 0});
  }

  bool is_end(size_t i) const { return !in_.ends.empty() && in_.ends[i] != LayeredInput::End::None; }
  int layer(int i) const { return g_.items[static_cast<size_t>(i)].layer; }
  int span(int edge) const {
    const auto& [from, to] = in_.edges[static_cast<size_t>(edge)];
    return layer(to) - layer(from);
  }
  std::pair<double, double> offset(size_t edge) const {
    return in_.offsets.empty() ? std::pair(0.0, 0.0) : in_.offsets[edge];
  }

  int add_waypoint(int layer) {
    g_.items.push_back({kWaypointWidth, 0, layer, true, 0});
    return static_cast<int>(g_.items.size()) - 1;
  }

  void make_chains() {
    std::vector<int> by_span(in_.edges.size());
    std::iota(by_span.begin(), by_span.end(), 0);
    std::stable_sort(by_span.begin(), by_span.end(),
                     [&](int a, int b) { return std::abs(span(a)) < std::abs(span(b)); });
    long budget = std::max(20000L, 4 * static_cast<long>(in_.sizes.size() + in_.edges.size()));
    for (int edge : by_span)
      if (back_[static_cast<size_t>(edge)])
        climb(static_cast<size_t>(edge), budget);
      else
        descend(static_cast<size_t>(edge), budget);
  }

  void descend(size_t edge, long& budget) {
    const auto [from, to] = in_.edges[edge];
    const auto [from_dx, to_dx] = offset(edge);
    std::vector<int>& trunk = trunks_[{from, std::lround(from_dx)}];
    const auto length = static_cast<size_t>(span(static_cast<int>(edge)) - 1);
    if (length > trunk.size()) {
      budget -= static_cast<long>(length - trunk.size());
      if (budget < 0) return;
    }
    while (trunk.size() < length) {
      const int waypoint = add_waypoint(layer(from) + static_cast<int>(trunk.size()) + 1);
      if (trunk.empty())
        g_.links.push_back({from, waypoint, from_dx, 0});
      else
        g_.links.push_back({trunk.back(), waypoint, 0, 0});
      trunk.push_back(waypoint);
    }
    routes_[edge].assign(trunk.begin(), trunk.begin() + static_cast<long>(length));
    if (length == 0)
      g_.links.push_back({from, to, from_dx, to_dx});
    else
      g_.links.push_back({trunk[length - 1], to, 0, to_dx});
  }

  void climb(size_t edge, long& budget) {
    const auto [from, to] = in_.edges[edge];
    const auto [from_dx, to_dx] = offset(edge);
    const int top = layer(to), bottom = layer(from);
    budget -= bottom - top + 3;
    if (budget < 0) return;
    const int above = add_waypoint(top - 1);
    g_.links.push_back({above, to, 0, to_dx});
    int last = above;
    std::vector<int> chain;
    for (int l = top; l <= bottom; ++l) {
      chain.push_back(add_waypoint(l));
      g_.links.push_back({last, chain.back(), 0, 0});
      last = chain.back();
    }
    const int below = add_waypoint(bottom + 1);
    g_.links.push_back({last, below, 0, 0});
    g_.links.push_back({from, below, from_dx, 0});
    routes_[edge].assign(chain.rbegin(), chain.rend());
  }

  void make_layers() {
    g_.index();
    int count = 0;
    for (const auto& item : g_.items) count = std::max(count, item.layer + 1);
    g_.layers.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < g_.items.size(); ++i)
      g_.layers[static_cast<size_t>(g_.items[i].layer)].push_back(static_cast<int>(i));
  }

  bool placed(int i) const {
    return static_cast<size_t>(i) < in_.places.size() && !std::isnan(in_.places[static_cast<size_t>(i)]);
  }

  /// Boxes that stood side by side before keep their order; what is new stays where the sweeps put it.
  void keep_places() {
    if (in_.places.empty()) return;
    for (auto& layer : g_.layers) {
      std::vector<int> old;
      for (int i : layer)
        if (placed(i)) old.push_back(i);
      std::stable_sort(old.begin(), old.end(), [&](int a, int b) {
        return in_.places[static_cast<size_t>(a)] < in_.places[static_cast<size_t>(b)];
      });
      auto next = old.begin();
      for (int& i : layer)
        if (placed(i)) i = *next++;
    }
  }

  void find_heights() {
    top_.assign(g_.layers.size(), 0);
    height_.assign(g_.layers.size(), 0);
    double y = 0;
    for (size_t l = 0; l < g_.layers.size(); ++l) {
      for (int i : g_.layers[l]) height_[l] = std::max(height_[l], g_.items[static_cast<size_t>(i)].height);
      if (l > 0) y += height_[l] == 0 || height_[l - 1] == 0 ? kPortGapY : kGapY;
      top_[l] = y;
      y += height_[l];
    }
  }

  /// From the box to the lower edge of its layer, between taller ones; past the boxes of the layers between; and from
  /// the upper edge of its layer to the other box.
  std::vector<Point> route(size_t edge, double left) const {
    std::vector<Point> points;
    const auto [from, to] = in_.edges[edge];
    const auto [from_dx, to_dx] = offset(edge);
    auto at = [&](int i) -> const LayeredItem& { return g_.items[static_cast<size_t>(i)]; };
    auto put = [&](double x, double y) {
      if (points.empty() || points.back().x != x || points.back().y != y) points.push_back({x, y});
    };
    auto ends = [&](int layer) {
      return std::pair(top_[static_cast<size_t>(layer)],
                       top_[static_cast<size_t>(layer)] + height_[static_cast<size_t>(layer)]);
    };
    if (at(from).height < height_[static_cast<size_t>(at(from).layer)])
      put(at(from).x + from_dx - left, ends(at(from).layer).second);
    for (int i : routes_[edge]) {
      auto [first, second] = ends(at(i).layer);
      if (back_[edge]) std::swap(first, second);
      put(at(i).x - left, first);
      put(at(i).x - left, second);
    }
    if (at(to).height < height_[static_cast<size_t>(at(to).layer)])
      put(at(to).x + to_dx - left, ends(at(to).layer).first);
    return without_needless(points);
  }

  /// Points on a vertical line between others of it say nothing.
  static std::vector<Point> without_needless(const std::vector<Point>& points) {
    std::vector<Point> kept;
    for (size_t i = 0; i < points.size(); ++i) {
      const bool inner = i > 0 && i + 1 < points.size();
      if (inner && std::abs(points[i].x - kept.back().x) < 0.5 && std::abs(points[i].x - points[i + 1].x) < 0.5)
        continue;
      kept.push_back(points[i]);
    }
    return kept;
  }

  /// How far below the upper edge of its layer a box stands: what is only used stands near its users, what is not used
  /// near what it is made from, all else in the middle.
  double drop(int i) const {
    const auto& item = g_.items[static_cast<size_t>(i)];
    const double slack = height_[static_cast<size_t>(item.layer)] - item.height;
    const bool above = g_.up.size(i) > 0, below = g_.down.size(i) > 0;
    return above == below ? slack / 2 : below ? slack : 0;
  }

  LayeredResult finish() {
    LayeredResult result;
    result.corners.resize(in_.sizes.size());
    result.waypoints.resize(in_.edges.size());
    if (g_.items.empty()) return result;
    double left = 1e300, right = -1e300;
    for (const auto& item : g_.items) {
      left = std::min(left, item.x - item.width / 2);
      right = std::max(right, item.x + item.width / 2);
    }
    find_heights();
    for (size_t i = 0; i < in_.sizes.size(); ++i) {
      const auto& item = g_.items[i];
      result.corners[i] = {item.x - item.width / 2 - left,
                           top_[static_cast<size_t>(item.layer)] + drop(static_cast<int>(i))};
    }
    for (size_t e = 0; e < routes_.size(); ++e) result.waypoints[e] = route(e, left);
    result.width = right - left;
    result.height = top_.back() + height_.back();
    return result;
  }

  const LayeredInput& in_;
  std::vector<char> back_;
  LayeredGraph g_;
  std::map<std::pair<int, long>, std::vector<int>> trunks_;  // by box and where on it
  std::vector<std::vector<int>> routes_;                     // of each edge, its waypoints in its direction
  std::vector<double> top_, height_;                         // of layers
};

}  // namespace

LayeredResult lay_out_layered(const LayeredInput& input) { return Layering(input).run(); }

std::vector<Point> smooth(const std::vector<Point>& points) {
  std::vector<Point> curve;
  if (points.empty()) return curve;
  constexpr double turn = 22;  // how far a curve swings out that has to turn round
  auto direction = [&](size_t i) {
    const bool end = i == 0 || i + 1 == points.size();
    return !end && (points[i + 1].y < points[i].y || (points[i + 1].y == points[i].y && points[i].y < points[i - 1].y))
               ? -1.0
               : 1.0;
  };
  curve.push_back(points[0]);
  for (size_t i = 1; i < points.size(); ++i) {
    const Point a = points[i - 1], b = points[i];
    const double out = direction(i - 1), in = direction(i), along = b.y >= a.y ? 1 : -1;
    const double half = std::abs(b.y - a.y) / 2;
    curve.push_back({a.x, a.y + out * (out == along ? half : turn)});
    curve.push_back({b.x, b.y - in * (in == along ? half : turn)});
    curve.push_back(b);
  }
  return curve;
}

}  // namespace strata::draw
