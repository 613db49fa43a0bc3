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
/// A line is drawn straight where its waypoints are this near to it: less than the distance that boxes keep from them.
constexpr double kStraight = 5;
/// Longer edges take a lane: a line that bends a thousand times costs more to draw than it tells.
constexpr size_t kMostWaypoints = 64;

class Layering {
 public:
  explicit Layering(const LayeredInput& input) : in_(input), routes_(input.edges.size()) {}

  LayeredResult run() {
    const std::function<void()> look = [this] { look_up(); };
    look_up();
    find_loose();
    make_items();
    make_chains();
    make_layers();
    order_layers(g_, look);
    keep_places();
    place_items(g_, look);
    place_lanes();
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

  /// Boxes without edges say nothing by their place: they stand in rows below all others.
  void find_loose() {
    loose_.assign(in_.sizes.size(), 1);
    for (const auto& [from, to] : in_.edges) loose_[static_cast<size_t>(from)] = loose_[static_cast<size_t>(to)] = 0;
  }
  bool loose(size_t i) const { return i < loose_.size() && loose_[i]; }

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
    if (length > kMostWaypoints) return take_lane(edge);
    if (length > trunk.size()) {
      const long more = static_cast<long>(length - trunk.size());
      if (more > budget) return take_lane(edge);
      budget -= more;
    }
    while (trunk.size() < length) {
      const int waypoint = add_waypoint(layer(from) + static_cast<int>(trunk.size()) + 1);
      if (trunk.empty())
        g_.links.push_back({from, waypoint, from_dx, 0});
      else
        g_.links.push_back({trunk.back(), waypoint, 0, 0});
      trunk.push_back(waypoint);
    }
    routes_[edge] = {&trunk, length, -1};
    if (length == 0)
      g_.links.push_back({from, to, from_dx, to_dx});
    else
      g_.links.push_back({trunk[length - 1], to, 0, to_dx});
  }

  /// Outside of what stands between its two boxes: found when all else is placed.
  void take_lane(size_t edge) {
    const auto [from, to] = in_.edges[edge];
    auto [it, fresh] = lane_of_.try_emplace({from, std::lround(offset(edge).first)}, lanes_.size());
    if (fresh) lanes_.push_back({layer(from), layer(to), 0, {}});
    Lane& lane = lanes_[it->second];
    lane.bottom = std::max(lane.bottom, layer(to));
    lane.edges.push_back(edge);
    routes_[edge].lane = static_cast<int>(it->second);
  }

  /// Short lanes stand nearest to the boxes, each on the side where its ends are, or where there is less already.
  void place_lanes() {
    const size_t count = g_.layers.size();
    std::vector<double> left(count, 1e300), right(count, -1e300);
    for (size_t i = 0; i < g_.items.size(); ++i) {
      if (loose(i)) continue;
      const auto& item = g_.items[i];
      auto l = static_cast<size_t>(item.layer);
      left[l] = std::min(left[l], item.x - item.width / 2);
      right[l] = std::max(right[l], item.x + item.width / 2);
    }
    std::vector<size_t> order(lanes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return lanes_[a].length() < lanes_[b].length(); });
    // Thousands of lanes side by side must not become wider than the graph.
    const double pitch = std::clamp(1200.0 / static_cast<double>(lanes_.size() + 1), 0.5, 10.0);
    for (size_t k : order) {
      look_up();
      Lane& lane = lanes_[k];
      double least = 1e300, most = -1e300;
      for (int l = lane.top + 1; l < lane.bottom; ++l) {
        least = std::min(least, left[static_cast<size_t>(l)]);
        most = std::max(most, right[static_cast<size_t>(l)]);
      }
      const double near = middle_of_ends(lane);
      const bool on_left = near - least <= most - near;
      lane.x = on_left ? least - pitch - kWaypointWidth : most + pitch + kWaypointWidth;
      for (int l = lane.top + 1; l < lane.bottom; ++l) {
        double& bound = (on_left ? left : right)[static_cast<size_t>(l)];
        bound = on_left ? std::min(bound, lane.x + kWaypointWidth) : std::max(bound, lane.x - kWaypointWidth);
      }
    }
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
    std::vector<int>& chain = climbs_[edge];
    for (int l = top; l <= bottom; ++l) {
      chain.push_back(add_waypoint(l));
      g_.links.push_back({last, chain.back(), 0, 0});
      last = chain.back();
    }
    const int below = add_waypoint(bottom + 1);
    g_.links.push_back({last, below, 0, 0});
    g_.links.push_back({from, below, from_dx, 0});
    std::reverse(chain.begin(), chain.end());
    routes_[edge] = {&chain, chain.size(), -1};
  }

  void make_layers() {
    g_.index();
    int count = 0;
    for (size_t i = 0; i < g_.items.size(); ++i)
      if (!loose(i)) count = std::max(count, g_.items[i].layer + 1);
    g_.layers.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < g_.items.size(); ++i)
      if (!loose(i)) g_.layers[static_cast<size_t>(g_.items[i].layer)].push_back(static_cast<int>(i));
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

  std::pair<double, double> ends(int layer) const {
    const double top = top_[static_cast<size_t>(layer)];
    return {top, top + height_[static_cast<size_t>(layer)]};
  }

  static void put(std::vector<Point>& points, double x, double y) {
    if (points.empty() || points.back().x != x || points.back().y != y) points.push_back({x, y});
  }

  /// Past the boxes of the waypoint's layer.
  void pass(std::vector<Point>& points, int waypoint, bool upwards) const {
    const auto& item = g_.items[static_cast<size_t>(waypoint)];
    auto [first, second] = ends(item.layer);
    if (upwards) std::swap(first, second);
    put(points, item.x - left_, first);
    put(points, item.x - left_, second);
  }

  /// The waypoints of a chain at which it bends, and its first: what many edges share is looked through once.
  const std::vector<size_t>& bends(const std::vector<int>& chain) {
    auto [it, fresh] = bends_.try_emplace(&chain);
    if (!fresh) return it->second;
    auto x = [&](size_t k) { return g_.items[static_cast<size_t>(chain[k])].x; };
    double kept = 0;
    for (size_t k = 0; k < chain.size(); ++k) {
      const bool straight =
          k > 0 && k + 1 < chain.size() && std::abs(x(k) - kept) < kStraight && std::abs(x(k + 1) - kept) < kStraight;
      if (straight) continue;
      kept = x(k);
      it->second.push_back(k);
    }
    return it->second;
  }

  /// From the box to the lower edge of its layer, between taller ones; past the boxes of the layers between; and from
  /// the upper edge of its layer to the other box.
  std::vector<Point> route(size_t edge) {
    std::vector<Point> points;
    const auto& from = g_.items[static_cast<size_t>(in_.edges[edge].first)];
    const auto& to = g_.items[static_cast<size_t>(in_.edges[edge].second)];
    const auto [from_dx, to_dx] = offset(edge);
    if (from.height < height_[static_cast<size_t>(from.layer)])
      put(points, from.x + from_dx - left_, ends(from.layer).second);
    if (const auto [chain, length, lane] = routes_[edge]; length > 0) {
      for (size_t k : bends(*chain)) {
        if (k + 1 >= length) break;
        pass(points, (*chain)[k], back_[edge]);
      }
      pass(points, (*chain)[length - 1], back_[edge]);
    }
    if (routes_[edge].lane >= 0) {
      const double x = lanes_[static_cast<size_t>(routes_[edge].lane)].x - left_;
      put(points, x, ends(from.layer + 1).first);
      put(points, x, ends(to.layer - 1).second);
    }
    if (to.height < height_[static_cast<size_t>(to.layer)]) put(points, to.x + to_dx - left_, ends(to.layer).first);
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

  void put_rows(LayeredResult& result) const {
    constexpr double gap = 20, least_width = 1200;
    const double limit = std::max(result.width, least_width);
    double x = 0, y = result.height > 0 ? result.height + kGapY : 0, tallest = 0;
    for (size_t i = 0; i < in_.sizes.size(); ++i) {
      if (!loose(i)) continue;
      const auto [width, height] = in_.sizes[i];
      if (x > 0 && x + width > limit) {
        x = 0;
        y += tallest + gap;
        tallest = 0;
      }
      result.corners[i] = {x, y};
      tallest = std::max(tallest, height);
      result.width = std::max(result.width, x + width);
      result.height = std::max(result.height, y + height);
      x += width + gap;
    }
  }

  LayeredResult finish() {
    LayeredResult result;
    result.corners.resize(in_.sizes.size());
    result.waypoints.resize(in_.edges.size());
    if (g_.items.empty()) return result;
    double right = -1e300;
    left_ = 1e300;
    for (size_t i = 0; i < g_.items.size(); ++i) {
      if (loose(i)) continue;
      const auto& item = g_.items[i];
      left_ = std::min(left_, item.x - item.width / 2);
      right = std::max(right, item.x + item.width / 2);
    }
    for (const Lane& lane : lanes_) {
      left_ = std::min(left_, lane.x - kWaypointWidth / 2);
      right = std::max(right, lane.x + kWaypointWidth / 2);
    }
    find_heights();
    for (size_t i = 0; i < in_.sizes.size(); ++i) {
      if (loose(i)) continue;
      const auto& item = g_.items[i];
      result.corners[i] = {item.x - item.width / 2 - left_,
                           top_[static_cast<size_t>(item.layer)] + drop(static_cast<int>(i))};
    }
    for (size_t e = 0; e < routes_.size(); ++e) result.waypoints[e] = route(e);
    result.width = std::max(0.0, right - left_);
    result.height = g_.layers.empty() ? 0 : top_.back() + height_.back();
    put_rows(result);
    return result;
  }

  const LayeredInput& in_;
  std::vector<char> back_, loose_;
  LayeredGraph g_;
  struct Route {
    const std::vector<int>* chain = nullptr;
    size_t length = 0;
    int lane = -1;
  };
  /// A straight line past all layers between two boxes.
  struct Lane {
    int top = 0, bottom = 0;  // layers of the box it comes from, and of the last it leads to
    double x = 0;
    std::vector<size_t> edges;
    int length() const { return bottom - top; }
  };
  double middle_of_ends(const Lane& lane) const {
    double sum = 0;
    for (size_t edge : lane.edges)
      sum += g_.items[static_cast<size_t>(in_.edges[edge].first)].x +
             g_.items[static_cast<size_t>(in_.edges[edge].second)].x;
    return sum / (2 * static_cast<double>(lane.edges.size()));
  }
  std::vector<Lane> lanes_;
  std::map<std::pair<int, long>, size_t> lane_of_;           // by box and where on it
  std::map<std::pair<int, long>, std::vector<int>> trunks_;  // by box and where on it
  std::map<size_t, std::vector<int>> climbs_;                // of back edges, in their direction
  std::vector<Route> routes_;                                // of each edge, the first waypoints of a chain
  std::map<const std::vector<int>*, std::vector<size_t>> bends_;
  double left_ = 0;
  std::vector<double> top_, height_;  // of layers
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
