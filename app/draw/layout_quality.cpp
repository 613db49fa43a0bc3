// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/layout_quality.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace strata::draw {
namespace {

struct Piece {
  Point a, b;  // a is not below b
  int edge = 0;
};

constexpr int kPiecesPerCurve = 6;

Point on_curve(const Point* c, double t) {
  const double s = 1 - t;
  const double w0 = s * s * s, w1 = 3 * s * s * t, w2 = 3 * s * t * t, w3 = t * t * t;
  return {w0 * c[0].x + w1 * c[1].x + w2 * c[2].x + w3 * c[3].x, w0 * c[0].y + w1 * c[1].y + w2 * c[2].y + w3 * c[3].y};
}

std::vector<Point> polyline(const std::vector<Point>& curve) {
  std::vector<Point> points;
  for (size_t i = 0; i + 3 < curve.size(); i += 3) {
    const bool straight = curve[i].x == curve[i + 3].x && curve[i + 1].x == curve[i].x && curve[i + 2].x == curve[i].x;
    if (points.empty()) points.push_back(curve[i]);
    for (int k = 1; k <= kPiecesPerCurve; ++k)
      if (!straight || k == kPiecesPerCurve) points.push_back(on_curve(&curve[i], k / double{kPiecesPerCurve}));
  }
  return points;
}

double side(const Point& a, const Point& b, const Point& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

bool cross(const Piece& p, const Piece& q) {
  return side(p.a, p.b, q.a) * side(p.a, p.b, q.b) < 0 && side(q.a, q.b, p.a) * side(q.a, q.b, p.b) < 0;
}

/// Whether the piece has more than a touch inside of the box.
bool runs_through(const Piece& piece, const Rect& r) {
  double from = 0, to = 1;
  auto clip = [&](double start, double along, double low, double high) {
    if (along == 0) return start > low && start < high;
    double first = (low - start) / along, second = (high - start) / along;
    if (first > second) std::swap(first, second);
    from = std::max(from, first);
    to = std::min(to, second);
    return from < to;
  };
  return clip(piece.a.x, piece.b.x - piece.a.x, r.x + 1, r.right() - 1) &&
         clip(piece.a.y, piece.b.y - piece.a.y, r.y + 1, r.bottom() - 1);
}

/// Pieces and boxes by the horizontal bands that they are in.
class Bands {
 public:
  Bands(const Picture& picture, const Layout& layout) : picture_(picture), layout_(layout) {
    for (size_t e = 0; e < layout.edges.size(); ++e) add_edge(static_cast<int>(e));
    if (pieces_.empty()) return;
    height_ = std::max(40.0, layout.height / 4000);
    for (size_t i = 0; i < pieces_.size(); ++i)
      for (long band = at(pieces_[i].a.y); band <= at(pieces_[i].b.y); ++band)
        bands_[band].push_back(static_cast<int>(i));
  }

  LayoutQuality run() {
    quality_.area = layout_.width * layout_.height / 1e6;
    if (!layout_.edges.empty()) quality_.mean_length /= static_cast<double>(layout_.edges.size());
    for (const auto& [band, list] : bands_) count_crossings(band, list);
    for (size_t i = 0; i < layout_.nodes.size(); ++i) count_boxes(static_cast<int>(i));
    return quality_;
  }

 private:
  long at(double y) const { return static_cast<long>(std::floor(y / height_)); }

  void add_edge(int e) {
    const std::vector<Point> points = polyline(layout_.edges[static_cast<size_t>(e)]);
    double length = 0;
    for (size_t i = 1; i < points.size(); ++i) {
      Piece piece{points[i - 1], points[i], e};
      length += std::hypot(piece.b.x - piece.a.x, piece.b.y - piece.a.y);
      if (piece.a.y > piece.b.y) std::swap(piece.a, piece.b);
      pieces_.push_back(piece);
    }
    quality_.mean_length += length;
    quality_.longest = std::max(quality_.longest, length);
  }

  bool related(int e, int f) const {
    const PictureEdge &a = picture_.edges[static_cast<size_t>(e)], &b = picture_.edges[static_cast<size_t>(f)];
    return a.from == b.from || a.to == b.to || a.from == b.to || a.to == b.from;
  }

  /// A crossing is counted in the band where the later of the two pieces begins.
  void count_crossings(long band, const std::vector<int>& list) {
    std::vector<int> sorted = list;
    auto left = [&](int i) {
      return std::min(pieces_[static_cast<size_t>(i)].a.x, pieces_[static_cast<size_t>(i)].b.x);
    };
    auto right = [&](int i) {
      return std::max(pieces_[static_cast<size_t>(i)].a.x, pieces_[static_cast<size_t>(i)].b.x);
    };
    std::sort(sorted.begin(), sorted.end(), [&](int i, int k) { return left(i) < left(k); });
    for (size_t i = 0; i < sorted.size(); ++i)
      for (size_t k = i + 1; k < sorted.size() && left(sorted[k]) <= right(sorted[i]); ++k) {
        const Piece &p = pieces_[static_cast<size_t>(sorted[i])], &q = pieces_[static_cast<size_t>(sorted[k])];
        if (std::max(at(p.a.y), at(q.a.y)) == band && p.edge != q.edge && !related(p.edge, q.edge) && cross(p, q))
          ++quality_.crossings;
      }
  }

  void count_boxes(int node) {
    const Rect& r = layout_.nodes[static_cast<size_t>(node)];
    std::set<int> found;
    for (long band = at(r.y); band <= at(r.bottom()); ++band) {
      const auto list = bands_.find(band);
      if (list == bands_.end()) continue;
      for (int i : list->second) {
        const Piece& piece = pieces_[static_cast<size_t>(i)];
        const PictureEdge& edge = picture_.edges[static_cast<size_t>(piece.edge)];
        if (edge.from != node && edge.to != node && runs_through(piece, r)) found.insert(piece.edge);
      }
    }
    quality_.through_boxes += found.size();
  }

  const Picture& picture_;
  const Layout& layout_;
  double height_ = 40;
  std::vector<Piece> pieces_;
  std::unordered_map<long, std::vector<int>> bands_;
  LayoutQuality quality_;
};

}  // namespace

LayoutQuality measure_quality(const Picture& picture, const Layout& layout) { return Bands(picture, layout).run(); }

}  // namespace strata::draw
