// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "app/draw/layered.h"
#include "app/draw/layout_engines.h"

namespace strata::draw {
namespace {

// The inside of each group is laid out by itself, innermost groups first, and then takes part in what is around it as
// one box. So frames never overlap and hold nothing foreign, by construction. An edge belongs to the innermost frame
// that holds both ends; there it joins the two items (nodes or frames) that hold them.

struct Item {
  int node = -1, group = -1;  // one of them
};

/// The inside of a group, or of the whole.
struct Inside {
  std::vector<Item> items;
  std::vector<int> edges;                 // indices into Picture::edges
  std::vector<std::pair<int, int>> ends;  // of those, as indices into items
  std::vector<Point> corners;             // of the items, relative to the frame
  double width = 0, height = 0;           // of the frame
};

class Compound {
 public:
  Compound(const Picture& picture, const LayoutRequest& request)
      : picture_(picture), request_(request), whole_(picture.groups.size()), insides_(picture.groups.size() + 1) {}

  Layout run() {
    layout_.nodes.resize(picture_.nodes.size());
    layout_.labels.resize(picture_.nodes.size());
    layout_.groups.resize(picture_.groups.size());
    layout_.edges.resize(picture_.edges.size());
    waypoints_.resize(picture_.edges.size());
    make_items();
    sort_edges();
    for (size_t g = insides_.size(); g-- > 0;) {  // inner groups come after outer ones, the whole is the last
      size_t number = g == 0 ? whole_ : g - 1;
      lay_out_inside(number);
    }
    place(whole_, {0, 0});
    for (size_t g = 0; g < whole_; ++g) place(g, {layout_.groups[g].x, layout_.groups[g].y});
    for (size_t e = 0; e < picture_.edges.size(); ++e) route(e);
    layout_.width = insides_[whole_].width;
    layout_.height = insides_[whole_].height;
    layout_.engine = Engine::Layered;
    return std::move(layout_);
  }

 private:
  size_t around(int group) const { return group < 0 ? whole_ : static_cast<size_t>(group); }

  /// A group stands where its first node stands in program order.
  void make_items() {
    std::vector<char> listed(whole_, 0);
    slot_of_node_.resize(picture_.nodes.size());
    slot_of_group_.assign(whole_, 0);
    depth_.assign(whole_, 1);
    for (size_t g = 0; g < whole_; ++g)
      if (int parent = picture_.groups[g].parent; parent >= 0) depth_[g] = depth_[static_cast<size_t>(parent)] + 1;
    for (size_t i = 0; i < picture_.nodes.size(); ++i) {
      int group = picture_.nodes[i].group;
      slot_of_node_[i] = add(around(group), {static_cast<int>(i), -1});
      for (; group >= 0 && !listed[static_cast<size_t>(group)];
           group = picture_.groups[static_cast<size_t>(group)].parent) {
        listed[static_cast<size_t>(group)] = 1;
        slot_of_group_[static_cast<size_t>(group)] =
            add(around(picture_.groups[static_cast<size_t>(group)].parent), {-1, group});
      }
    }
  }

  int add(size_t inside, Item item) {
    insides_[inside].items.push_back(item);
    return static_cast<int>(insides_[inside].items.size()) - 1;
  }

  int depth(int group) const { return group < 0 ? 0 : depth_[static_cast<size_t>(group)]; }

  void sort_edges() {
    for (size_t e = 0; e < picture_.edges.size(); ++e) {
      auto [from, to] = picture_.edges[e];
      int a = slot_of_node_[static_cast<size_t>(from)], b = slot_of_node_[static_cast<size_t>(to)];
      int p = picture_.nodes[static_cast<size_t>(from)].group, q = picture_.nodes[static_cast<size_t>(to)].group;
      while (p != q) {
        bool first = depth(p) >= depth(q);
        int& group = first ? p : q;
        (first ? a : b) = slot_of_group_[static_cast<size_t>(group)];
        group = picture_.groups[static_cast<size_t>(group)].parent;
      }
      Inside& inside = insides_[around(p)];
      inside.edges.push_back(static_cast<int>(e));
      inside.ends.emplace_back(a, b);
    }
  }

  std::pair<double, double> size(const Item& item) const {
    if (item.group >= 0)
      return {insides_[static_cast<size_t>(item.group)].width, insides_[static_cast<size_t>(item.group)].height};
    const PictureNode& node = picture_.nodes[static_cast<size_t>(item.node)];
    return {cell_width(node), cell_height(node)};
  }

  double place_before(const Item& item) const {
    auto of = [&](trace::NodeId id) {
      auto it = request_.places.find(id);
      return it == request_.places.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
    };
    if (item.node >= 0) return of(picture_.nodes[static_cast<size_t>(item.node)].id);
    for (int i : picture_.groups[static_cast<size_t>(item.group)].nodes)
      if (double x = of(picture_.nodes[static_cast<size_t>(i)].id); x == x) return x;
    return std::numeric_limits<double>::quiet_NaN();
  }

  void lay_out_inside(size_t number) {
    Inside& inside = insides_[number];
    bool framed = number != whole_;
    LayeredInput in;
    in.stop = &request_.stop;
    in.edges = inside.ends;
    for (const Item& item : inside.items) {
      in.sizes.push_back(size(item));
      if (!request_.places.empty()) in.places.push_back(place_before(item));
    }
    LayeredResult result = lay_out_layered(in);
    double label = framed ? picture_.groups[number].label_width : 0;
    double widening = std::max(0.0, label - result.width) / 2 + (framed ? kGroupMargin : 0);
    double down = framed ? kGroupHeader : 0;
    for (Point& p : result.corners) p.x += widening, p.y += down;
    for (size_t k = 0; k < inside.edges.size(); ++k) {
      for (Point& p : result.waypoints[k]) p.x += widening, p.y += down;
      waypoints_[static_cast<size_t>(inside.edges[k])] = std::move(result.waypoints[k]);
    }
    inside.corners = std::move(result.corners);
    inside.width = result.width + 2 * widening;
    inside.height = result.height + down + (framed ? kGroupMargin : 0);
  }

  void place(size_t number, Point at) {
    const Inside& inside = insides_[number];
    for (size_t k = 0; k < inside.items.size(); ++k) {
      const Item& item = inside.items[k];
      double x = at.x + inside.corners[k].x, y = at.y + inside.corners[k].y;
      auto [width, height] = size(item);
      if (item.node >= 0)
        set_cell(layout_, picture_, item.node, x, y);
      else
        layout_.groups[static_cast<size_t>(item.group)] = {x, y, width, height};
    }
    for (int e : inside.edges)
      for (Point& p : waypoints_[static_cast<size_t>(e)]) p.x += at.x, p.y += at.y;
  }

  void route(size_t e) {
    auto from = static_cast<size_t>(picture_.edges[e].from), to = static_cast<size_t>(picture_.edges[e].to);
    const Rect& a = layout_.nodes[from];
    const Rect& b = layout_.nodes[to];
    std::vector<Point> points = {{a.centre_x(), a.y + cell_height(picture_.nodes[from])}};
    points.insert(points.end(), waypoints_[e].begin(), waypoints_[e].end());
    points.push_back({b.centre_x(), b.y});
    layout_.edges[e] = smooth(points);
  }

  const Picture& picture_;
  const LayoutRequest& request_;
  const size_t whole_;  // number of the inside that is no group
  std::vector<Inside> insides_;
  std::vector<int> slot_of_node_, slot_of_group_, depth_;
  std::vector<std::vector<Point>> waypoints_;
  Layout layout_;
};

}  // namespace

Layout lay_out_with_layers(const Picture& picture, const LayoutRequest& request) {
  return Compound(picture, request).run();
}

}  // namespace strata::draw
