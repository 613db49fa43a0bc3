// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "app/draw/layered.h"
#include "app/draw/layered_graph.h"
#include "app/draw/layout_engines.h"

namespace strata::draw {
namespace {

// The inside of each group is laid out by itself, innermost groups first, and then takes part in what is around it as
// one box. So frames never overlap and hold nothing foreign, by construction. An edge that crosses a frame does so at a
// port in its lower or upper border: inside, the port is one of the items, so that the edge runs between the boxes
// there; outside, the edge begins or ends at the port's place on the box. What leaves one node shares ports and ways.

struct Item {
  int node = -1, group = -1;  // one of them; neither: a port
  LayeredInput::End end = LayeredInput::End::None;
};

/// A piece of an edge: between two items of one inside.
struct Piece {
  int from = 0, to = 0;              // items
  int from_port = -1, to_port = -1;  // if an item is a frame: its port, an item of its inside
};

/// The inside of a group, or of the whole.
struct Inside {
  std::vector<Item> items;
  std::vector<Piece> pieces;
  std::map<std::tuple<int, int, int>, int> piece_of;  // by the node it comes from, and its items
  std::map<std::pair<int, bool>, int> port_of;        // by the node, and whether edges leave
  std::vector<Point> corners;                         // of the items, relative to the frame
  std::vector<std::vector<Point>> waypoints;          // of the pieces
  double width = 0, height = 0;                       // of the frame
};

struct Part {
  size_t inside = 0;
  int piece = 0;
};

class Compound {
 public:
  Compound(const Picture& picture, const LayoutRequest& request)
      : picture_(picture),
        request_(request),
        whole_(picture.groups.size()),
        insides_(picture.groups.size() + 1),
        parts_(picture.edges.size()) {}

  Layout run() {
    layout_.nodes.resize(picture_.nodes.size());
    layout_.labels.resize(picture_.nodes.size());
    layout_.groups.resize(picture_.groups.size());
    layout_.edges.resize(picture_.edges.size());
    make_items();
    for (size_t e = 0; e < picture_.edges.size(); ++e) divide(e);
    for (size_t g = whole_; g-- > 0;) lay_out_inside(g);  // inner groups come after outer ones
    lay_out_inside(whole_);
    place(whole_, {0, 0});
    for (size_t g = 0; g < whole_; ++g) place(g, {layout_.groups[g].x, layout_.groups[g].y});
    for (size_t e = 0; e < picture_.edges.size(); ++e) route(e);
    layout_.width = insides_[whole_].width;
    layout_.height = insides_[whole_].height;
    layout_.engine = Engine::Layered;
    return std::move(layout_);
  }

 private:
  const PictureGroup& group(int g) const { return picture_.groups[static_cast<size_t>(g)]; }
  size_t around(int group) const { return group < 0 ? whole_ : static_cast<size_t>(group); }
  int depth(int group) const { return group < 0 ? 0 : depth_[static_cast<size_t>(group)]; }

  /// A group stands where its first node stands in program order.
  void make_items() {
    std::vector<char> listed(whole_, 0);
    slot_of_node_.resize(picture_.nodes.size());
    slot_of_group_.assign(whole_, 0);
    depth_.assign(whole_, 1);
    for (size_t g = 0; g < whole_; ++g)
      if (int parent = picture_.groups[g].parent; parent >= 0) depth_[g] = depth_[static_cast<size_t>(parent)] + 1;
    for (size_t i = 0; i < picture_.nodes.size(); ++i) {
      int g = picture_.nodes[i].group;
      slot_of_node_[i] = add(around(g), {static_cast<int>(i), -1});
      for (; g >= 0 && !listed[static_cast<size_t>(g)]; g = group(g).parent) {
        listed[static_cast<size_t>(g)] = 1;
        slot_of_group_[static_cast<size_t>(g)] = add(around(group(g).parent), {-1, g});
      }
    }
  }

  int add(size_t inside, Item item) {
    insides_[inside].items.push_back(item);
    return static_cast<int>(insides_[inside].items.size()) - 1;
  }

  /// Of what comes from this node, in the frame's border.
  int port(int g, int node, bool leaves) {
    Inside& inside = insides_[static_cast<size_t>(g)];
    auto [it, fresh] = inside.port_of.try_emplace({node, leaves}, 0);
    if (fresh)
      it->second = add(static_cast<size_t>(g), {-1, -1, leaves ? LayeredInput::End::Bottom : LayeredInput::End::Top});
    return it->second;
  }

  Part piece(size_t inside, int node, const Piece& wanted) {
    Inside& in = insides_[inside];
    auto [it, fresh] = in.piece_of.try_emplace({node, wanted.from, wanted.to}, static_cast<int>(in.pieces.size()));
    if (fresh) in.pieces.push_back(wanted);
    return {inside, it->second};
  }

  /// Into pieces: out of the frames around its first node, across what holds both, into the frames around its last.
  void divide(size_t e) {
    const auto [from, to] = picture_.edges[e];
    int p = picture_.nodes[static_cast<size_t>(from)].group, q = picture_.nodes[static_cast<size_t>(to)].group;
    Piece across{slot_of_node_[static_cast<size_t>(from)], slot_of_node_[static_cast<size_t>(to)]};
    std::vector<Part> out, in;
    while (p != q) {
      const bool leaves = depth(p) >= depth(q);
      int& g = leaves ? p : q;
      const int hole = port(g, from, leaves);
      if (leaves) {
        out.push_back(piece(static_cast<size_t>(g), from, {across.from, hole, across.from_port, -1}));
        across.from = slot_of_group_[static_cast<size_t>(g)];
        across.from_port = hole;
      } else {
        in.push_back(piece(static_cast<size_t>(g), from, {hole, across.to, -1, across.to_port}));
        across.to = slot_of_group_[static_cast<size_t>(g)];
        across.to_port = hole;
      }
      g = group(g).parent;
    }
    out.push_back(piece(around(p), from, across));
    out.insert(out.end(), in.rbegin(), in.rend());
    parts_[e] = std::move(out);
  }

  std::pair<double, double> size(const Item& item) const {
    if (item.group >= 0)
      return {insides_[static_cast<size_t>(item.group)].width, insides_[static_cast<size_t>(item.group)].height};
    if (item.node < 0) return {kWaypointWidth, 0};
    const PictureNode& node = picture_.nodes[static_cast<size_t>(item.node)];
    return {cell_width(node), cell_height(node)};
  }

  /// A frame stands where its first node that stood somewhere did.
  double place_before(const Item& item) const {
    auto of = [&](trace::NodeId id) {
      auto it = request_.places.find(id);
      return it == request_.places.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
    };
    if (item.node >= 0) return of_box(picture_.nodes[static_cast<size_t>(item.node)], of);
    if (item.group < 0) return std::numeric_limits<double>::quiet_NaN();
    for (int i : group(item.group).nodes)
      if (double x = of_box(picture_.nodes[static_cast<size_t>(i)], of); x == x) return x;
    return std::numeric_limits<double>::quiet_NaN();
  }

  template <typename Of>
  static double of_box(const PictureNode& node, Of of) {
    double x = of(node.id);
    for (size_t i = 0; x != x && i < node.members.size(); ++i) x = of(node.members[i]);
    return x;
  }

  /// Where the port is, right of the frame's middle.
  double port_offset(const Item& item, int port) const {
    if (port < 0) return 0;
    const Inside& inside = insides_[static_cast<size_t>(item.group)];
    return inside.corners[static_cast<size_t>(port)].x + kWaypointWidth / 2 - inside.width / 2;
  }

  LayeredInput input(const Inside& inside) const {
    LayeredInput in;
    in.stop = &request_.stop;
    bool ports = false;
    for (const Item& item : inside.items) {
      in.sizes.push_back(size(item));
      in.ends.push_back(item.end);
      ports = ports || item.end != LayeredInput::End::None;
      if (!request_.places.empty()) in.places.push_back(place_before(item));
    }
    if (!ports) in.ends.clear();
    for (const Piece& piece : inside.pieces) {
      in.edges.emplace_back(piece.from, piece.to);
      in.offsets.emplace_back(port_offset(inside.items[static_cast<size_t>(piece.from)], piece.from_port),
                              port_offset(inside.items[static_cast<size_t>(piece.to)], piece.to_port));
    }
    return in;
  }

  void lay_out_inside(size_t number) {
    Inside& inside = insides_[number];
    const bool framed = number != whole_;
    LayeredResult result = lay_out_layered(input(inside));
    const double label = framed ? picture_.groups[number].label_width : 0;
    const double widening = std::max(0.0, label - result.width) / 2 + (framed ? kGroupMargin : 0);
    const double down = framed ? kGroupHeader : 0;
    for (Point& p : result.corners) p.x += widening, p.y += down;
    for (auto& points : result.waypoints)
      for (Point& p : points) p.x += widening, p.y += down;
    inside.corners = std::move(result.corners);
    inside.waypoints = std::move(result.waypoints);
    inside.width = result.width + 2 * widening;
    inside.height = result.height + down + (framed ? kGroupMargin : 0);
  }

  void place(size_t number, Point at) {
    Inside& inside = insides_[number];
    for (size_t k = 0; k < inside.items.size(); ++k) {
      const Item& item = inside.items[k];
      Point& corner = inside.corners[k];
      corner.x += at.x, corner.y += at.y;
      auto [width, height] = size(item);
      if (item.node >= 0)
        set_cell(layout_, picture_, item.node, corner.x, corner.y);
      else if (item.group >= 0)
        layout_.groups[static_cast<size_t>(item.group)] = {corner.x, corner.y, width, height};
    }
    for (auto& points : inside.waypoints)
      for (Point& p : points) p.x += at.x, p.y += at.y;
  }

  /// Where a port is in the frame's border.
  Point hole(size_t inside, int port) const {
    const Rect& frame = layout_.groups[inside];
    const Inside& in = insides_[inside];
    const double x = in.corners[static_cast<size_t>(port)].x + kWaypointWidth / 2;
    const bool top = in.items[static_cast<size_t>(port)].end == LayeredInput::End::Top;
    return {x, top ? frame.y : frame.bottom()};
  }

  void route(size_t e) {
    const auto from = static_cast<size_t>(picture_.edges[e].from), to = static_cast<size_t>(picture_.edges[e].to);
    const Rect &a = layout_.nodes[from], &b = layout_.nodes[to];
    std::vector<Point> points = {{a.centre_x(), a.y + cell_height(picture_.nodes[from])}};
    for (const Part& part : parts_[e]) {
      const Inside& inside = insides_[part.inside];
      const Piece& piece = inside.pieces[static_cast<size_t>(part.piece)];
      if (is_port(inside, piece.from)) points.push_back(hole(part.inside, piece.from));
      const auto& between = inside.waypoints[static_cast<size_t>(part.piece)];
      points.insert(points.end(), between.begin(), between.end());
      if (is_port(inside, piece.to)) points.push_back(hole(part.inside, piece.to));
    }
    points.push_back({b.centre_x(), b.y});
    layout_.edges[e] = smooth(points);
  }

  static bool is_port(const Inside& inside, int item) {
    return inside.items[static_cast<size_t>(item)].end != LayeredInput::End::None;
  }

  const Picture& picture_;
  const LayoutRequest& request_;
  const size_t whole_;  // number of the inside that is no group
  std::vector<Inside> insides_;
  std::vector<std::vector<Part>> parts_;  // of each edge
  std::vector<int> slot_of_node_, slot_of_group_, depth_;
  Layout layout_;
};

}  // namespace

Layout lay_out_with_layers(const Picture& picture, const LayoutRequest& request) {
  return Compound(picture, request).run();
}

}  // namespace strata::draw
