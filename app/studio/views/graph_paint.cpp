// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/studio/models/lists.h"
#include "app/studio/views/graph_view.h"
#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr double kTextScale = 0.42;      // below this, text cannot be read: boxes only
constexpr double kOverviewScale = 0.16;  // below this, boxes are filled in batches and edges are straight

constexpr size_t kMostMoving = 80;  // more nodes are sketched while the view moves
constexpr double kDimmed = 0.16;    // opacity of what is not highlighted

QRectF rect(const draw::Rect& r) { return {r.x, r.y, r.width, r.height}; }

/// Arrow heads point downwards: edges arrive from above.
void add_head(QPainterPath& path, const draw::Point& tip, double half) {
  path.moveTo(tip.x, tip.y);
  path.lineTo(tip.x - half, tip.y - 2 * half);
  path.lineTo(tip.x + half, tip.y - 2 * half);
  path.closeSubpath();
}

/// The pieces of a curve that can be seen: stroking one that is hundreds of screens long takes seconds.
void add_visible(QPainterPath& path, const std::array<QPointF, 4>& c, const QRectF& visible, int depth) {
  auto [left, right] = std::minmax({c[0].x(), c[1].x(), c[2].x(), c[3].x()});
  auto [top, bottom] = std::minmax({c[0].y(), c[1].y(), c[2].y(), c[3].y()});
  if (right < visible.left() || left > visible.right() || bottom < visible.top() || top > visible.bottom()) return;
  if (depth == 0 || (right - left <= 2 * visible.width() && bottom - top <= 2 * visible.height())) {
    if (path.isEmpty() || path.currentPosition() != c[0]) path.moveTo(c[0]);
    return path.cubicTo(c[1], c[2], c[3]);
  }
  auto half = [](QPointF a, QPointF b) { return (a + b) / 2; };
  const QPointF ab = half(c[0], c[1]), bc = half(c[1], c[2]), cd = half(c[2], c[3]);
  const QPointF abc = half(ab, bc), bcd = half(bc, cd), middle = half(abc, bcd);
  add_visible(path, {c[0], ab, abc, middle}, visible, depth - 1);
  add_visible(path, {middle, bcd, cd, c[3]}, visible, depth - 1);
}

QFont scene_font(double size, bool bold) {
  QFont font("DejaVu Sans");
  font.setStyleHint(QFont::SansSerif);
  font.setPixelSize(static_cast<int>(std::lround(size)));
  font.setBold(bold);
  return font;
}

}  // namespace

void GraphView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.fillRect(this->rect(), to_qcolor(colours().background));
  if (!step_) return paint_empty(p);
  const QRectF visible = this->visible();
  const bool moving = moved_ || wheel_pause_.isActive();
  sketch_ = scale_ < kOverviewScale || (moving && crowded(visible));
  p.setRenderHint(QPainter::Antialiasing, !(moving && sketch_));
  p.save();
  p.translate(offset_);
  p.scale(scale_, scale_);
  if (pane_.options().groups) paint_groups(p, visible);
  paint_edges(p, visible);
  if (pane_.options().groups && scale_ >= kTextScale && !sketch_) paint_group_titles(p, visible);
  if (sketch_)
    paint_overview(p, visible);
  else
    paint_nodes(p, visible);
  paint_hover(p);
  p.restore();
  if (chrome_) paint_legend(p);
  paint_note(p);
  if (banding_) paint_band(p);
  if (strip_shown()) paint_strip(p);
}

/// More is in view than can be drawn in full between two frames.
bool GraphView::crowded(const QRectF& visible) const {
  size_t count = 0;
  for (const auto& r : step_->layout.nodes)
    if (studio::rect(r).intersects(visible) && ++count > kMostMoving) return true;
  return false;
}

void GraphView::paint_empty(QPainter& p) {
  p.setPen(to_qcolor(colours().dim_text));
  const bool loading = pane_.pinned() ? pane_.loading() : !pane_.context().queue().idle();
  const QString text = pane_.pinned() && !pane_.error().isEmpty() ? pane_.error()
                       : loading                                  ? QString("Loading …")
                                                                  : QString();
  p.drawText(this->rect().adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap, text);
}

/// Frames within frames are a little darker (lighter on dark) than what is around them.
QColor GraphView::frame_fill(size_t g) const {
  const QColor fill = to_qcolor(colours().group_fill);
  int depth = 0;
  for (int at = step_->picture.groups[g].parent; at >= 0; at = step_->picture.groups[static_cast<size_t>(at)].parent)
    ++depth;
  return dark_theme() ? fill.lighter(100 + 9 * std::min(depth, 6)) : fill.darker(100 + 3 * std::min(depth, 6));
}

void GraphView::paint_groups(QPainter& p, const QRectF& visible) {
  const auto& c = colours();
  for (size_t g = 0; g < step_->layout.groups.size(); ++g) {
    QRectF r = studio::rect(step_->layout.groups[g]);
    if (!r.intersects(visible)) continue;
    bool selected = static_cast<int>(g) == selected_group_;
    QPen pen(to_qcolor(selected ? c.selected : c.group_border), selected ? 2.5 : 1.2,
             selected ? Qt::SolidLine : Qt::DashLine);
    if (scale_ < kOverviewScale) pen.setCosmetic(true);
    p.setPen(pen);
    p.setBrush(frame_fill(g));
    p.drawRoundedRect(r, 8, 8);
  }
}

/// After the edges, on a patch of the frame's colour, so that no edge crosses the text.
void GraphView::paint_group_titles(QPainter& p, const QRectF& visible) {
  const auto& c = colours();
  for (size_t g = 0; g < step_->layout.groups.size(); ++g) {
    QRectF r = studio::rect(step_->layout.groups[g]);
    if (!r.intersects(visible)) continue;
    const auto& group = step_->picture.groups[g];
    QRectF line(r.x() + 9, r.y() + 3, r.width() - 12, 15), used;
    QColor patch = frame_fill(g);
    patch.setAlpha(215);
    p.fillRect(QRectF(r.x() + 7, r.y() + 3, std::min(group.label_width - 22, r.width() - 10), 15), patch);
    p.setPen(to_qcolor(c.group_text));
    p.setFont(scene_font(draw::kTextSize, true));
    p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, qt(group.title), &used);
    p.setFont(scene_font(draw::kTextSize, false));
    if (!group.title.empty()) line.setLeft(used.right() + 8);
    p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, qt(group.note));
  }
}

bool GraphView::is_selected_edge(const draw::PictureEdge& edge) const {
  return selected_ >= 0 && (edge.from == selected_ || edge.to == selected_);
}

bool GraphView::is_removed_edge(const draw::PictureEdge& edge) const {
  const auto& nodes = step_->picture.nodes;
  return nodes[static_cast<size_t>(edge.from)].state == draw::NodeState::Removed ||
         nodes[static_cast<size_t>(edge.to)].state == draw::NodeState::Removed;
}

void GraphView::draw_edge(QPainter& p, size_t e, const QRectF& visible) const {
  const QRectF& bounds = path_bounds_[e];
  if (bounds.width() <= 3 * visible.width() && bounds.height() <= 3 * visible.height()) return p.drawPath(paths_[e]);
  const auto& points = step_->layout.edges[e];
  auto at = [&](size_t i) { return QPointF(points[i].x, points[i].y); };
  const QRectF around = visible.adjusted(-8, -8, 8, 8);
  QPainterPath path;
  for (size_t i = 0; i + 3 < points.size(); i += 3)
    add_visible(path, {at(i), at(i + 1), at(i + 2), at(i + 3)}, around, 24);
  p.drawPath(path);
}

void GraphView::paint_edges(QPainter& p, const QRectF& visible) {
  const auto& c = colours();
  QPen pen(to_qcolor(c.edge), 1.2), strong(to_qcolor(c.selected), 2.2);
  if (scale_ < kTextScale) {
    pen.setWidthF(1);
    pen.setCosmetic(true);
    strong.setCosmetic(true);
  }
  std::vector<QLineF> lines;
  std::vector<size_t> removed;
  QPainterPath heads;
  heads.setFillRule(Qt::WindingFill);  // heads that lie on each other must not cancel out
  p.setBrush(Qt::NoBrush);
  const bool simple = sketch_;
  if (!lit_.empty()) {
    p.setOpacity(kDimmed);
    p.setPen(pen);
    for (size_t e = 0; e < paths_.size(); ++e)
      if (!lit_.edge(e) && path_bounds_[e].intersects(visible)) draw_edge(p, e, visible);
    p.setOpacity(1);
    pen.setWidthF(pen.widthF() * 1.5);
  }
  p.setPen(pen);
  for (size_t e = 0; e < paths_.size(); ++e) {
    if (!path_bounds_[e].intersects(visible) || !lit_.edge(e) || is_selected_edge(step_->picture.edges[e])) continue;
    const auto& points = step_->layout.edges[e];
    if (points.empty()) continue;
    if (simple) {
      lines.emplace_back(points.front().x, points.front().y, points.back().x, points.back().y);
      continue;
    }
    if (is_removed_edge(step_->picture.edges[e])) {
      removed.push_back(e);
      continue;
    }
    draw_edge(p, e, visible);
    if (scale_ >= kTextScale) add_head(heads, points.back(), 3.5);
  }
  pen.setColor(to_qcolor(c.removed));
  pen.setStyle(Qt::DashLine);
  p.setPen(pen);
  for (size_t e : removed) draw_edge(p, e, visible);
  pen.setColor(to_qcolor(c.edge));
  pen.setStyle(Qt::SolidLine);
  p.setPen(pen);
  if (simple) p.drawLines(lines.data(), static_cast<int>(lines.size()));
  p.fillPath(heads, to_qcolor(c.edge));
  p.setPen(strong);
  QPainterPath strong_heads;
  strong_heads.setFillRule(Qt::WindingFill);
  for (size_t e = 0; e < paths_.size(); ++e)
    if (lit_.edge(e) && is_selected_edge(step_->picture.edges[e]) && !step_->layout.edges[e].empty()) {
      draw_edge(p, e, visible);
      add_head(strong_heads, step_->layout.edges[e].back(), 5);
    }
  p.fillPath(strong_heads, to_qcolor(c.selected));
}

/// Thousands of small boxes: one call per colour.
void GraphView::paint_overview(QPainter& p, const QRectF& visible) {
  std::map<QRgb, std::vector<QRectF>> batches;
  std::vector<size_t> outlined;
  const auto& nodes = step_->picture.nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    QRectF r = studio::rect(step_->layout.nodes[i]);
    if (!r.intersects(visible)) continue;
    QColor fill = fills_[i];
    if (pane_.options().colours) fill = dark_theme() ? fill.lighter(150) : fill.darker(125);
    if (nodes[i].state != draw::NodeState::Same) fill = to_qcolor(draw::state_colour(nodes[i].state, colours()));
    if (!lit_.node(i)) fill.setAlphaF(kDimmed);
    batches[fill.rgba()].push_back(r);
    if (static_cast<int>(i) == selected_ || relatives_.contains(static_cast<int>(i)) ||
        marked_.contains(static_cast<int>(i)))
      outlined.push_back(i);
  }
  p.setPen(Qt::NoPen);
  for (const auto& [colour, rects] : batches) {
    p.setBrush(QColor::fromRgba(colour));
    p.drawRects(rects.data(), static_cast<int>(rects.size()));
  }
  for (size_t i : outlined) paint_outline(p, i);
}

/// What the pointer is on.
void GraphView::paint_hover(QPainter& p) {
  QColor colour = to_qcolor(colours().selected);
  colour.setAlpha(150);
  QPen pen(colour, scale_ < kTextScale ? 2 : 2.5);
  pen.setCosmetic(scale_ < kTextScale);
  p.setPen(pen);
  p.setBrush(Qt::NoBrush);
  if (hover_node_ >= 0)
    p.drawRoundedRect(studio::rect(step_->layout.nodes[static_cast<size_t>(hover_node_)]).adjusted(-2, -2, 2, 2), 7, 7);
  else if (hover_edge_ >= 0)
    draw_edge(p, static_cast<size_t>(hover_edge_), visible());
}

/// The rectangle that is to fill the view.
void GraphView::paint_band(QPainter& p) {
  QColor colour = to_qcolor(colours().selected);
  p.setPen(QPen(colour, 1));
  colour.setAlpha(40);
  p.setBrush(colour);
  p.drawRect(QRectF(press_, band_end_).normalized());
}

void GraphView::paint_nodes(QPainter& p, const QRectF& visible) {
  for (size_t i = 0; i < step_->picture.nodes.size(); ++i) {
    QRectF r = studio::rect(step_->layout.nodes[i]);
    if (!r.adjusted(-80, -8, 80, draw::kTypeRow).intersects(visible)) continue;
    p.setOpacity(lit_.node(i) ? 1 : kDimmed);
    paint_node(p, i);
    if (scale_ >= kTextScale) paint_labels(p, i);
    paint_outline(p, i);
  }
  p.setOpacity(1);
}

void GraphView::paint_node(QPainter& p, size_t i) {
  const auto& node = step_->picture.nodes[i];
  const auto& c = colours();
  QRectF r = studio::rect(step_->layout.nodes[i]);
  bool round = node.op_class == draw::OpClass::Input || node.op_class == draw::OpClass::Parameter ||
               node.op_class == draw::OpClass::Output;
  double radius = round ? r.height() / 2 : 6;
  if (!node.module.empty()) {  // a stack of sheets: there is more inside
    p.setPen(QPen(to_qcolor(c.group_border), 1));
    p.setBrush(fills_[i]);
    p.drawRoundedRect(r.translated(3.5, 3.5), radius, radius);
  }
  const bool removed = node.state == draw::NodeState::Removed;
  p.setPen(removed ? QPen(Qt::NoPen) : QPen(to_qcolor(c.node_border), 1));
  p.setBrush(fills_[i]);
  p.drawRoundedRect(r, radius, radius);
  if (node.state == draw::NodeState::Same) return;
  QColor mark = to_qcolor(draw::state_colour(node.state, c));
  p.setPen(QPen(mark, removed ? 1.8 : 2.6, removed ? Qt::DashLine : Qt::SolidLine));
  p.setBrush(Qt::NoBrush);
  p.drawRoundedRect(r, radius, radius);
  if (scale_ < kTextScale) return;
  QRectF badge(r.right() - 9, r.top() - 7, 15, 15);  // colour is not the only sign
  p.setPen(Qt::NoPen);
  p.setBrush(mark);
  p.drawEllipse(badge);
  p.setPen(QPen(dark_theme() ? Qt::black : Qt::white));
  p.setFont(scene_font(11, true));
  const QChar sign = removed ? QChar(u'−') : QChar::fromLatin1(draw::state_sign(node.state));
  p.drawText(badge, Qt::AlignCenter, QString(sign));
}

void GraphView::paint_outline(QPainter& p, size_t i) {
  bool selected = static_cast<int>(i) == selected_ || relatives_.contains(static_cast<int>(i));
  if (!selected && !marked_.contains(static_cast<int>(i))) return;
  QPen pen(to_qcolor(selected ? colours().selected : colours().related), 3);
  if (scale_ < kTextScale) pen.setCosmetic(true);
  p.setPen(pen);
  p.setBrush(Qt::NoBrush);
  p.drawRoundedRect(studio::rect(step_->layout.nodes[i]).adjusted(-4, -4, 4, 4), 9, 9);
}

void GraphView::paint_labels(QPainter& p, size_t i) {
  const auto& node = step_->picture.nodes[i];
  const auto& c = colours();
  QRectF r = studio::rect(step_->layout.nodes[i]);
  double y = r.y() + draw::kPadding;
  auto line = [&](const std::string& text, double size, bool bold, double height, draw::Colour colour) {
    if (text.empty()) return;
    p.setFont(scene_font(size, bold));
    p.setPen(to_qcolor(colour));
    p.drawText(QRectF(r.x() - 20, y, r.width() + 40, height), Qt::AlignCenter, qt(text));
    y += height;
  };
  line(node.title, draw::kTitleSize, true, draw::kTitleRow, c.text);
  line(node.subtitle, draw::kTextSize, false, draw::kTextRow, c.dim_text);
  line(node.footer, draw::kTextSize, false, draw::kTextRow, c.group_text);
  const auto& label = step_->layout.labels[i];
  if (label.width <= 0) return;
  p.setPen(QPen(to_qcolor(c.edge), 1.2));
  p.drawLine(QPointF(label.centre_x(), label.y), QPointF(label.centre_x(), label.bottom()));
  bool framed = node.group >= 0 && pane_.options().groups;
  p.setPen(Qt::NoPen);
  p.setBrush(framed ? frame_fill(static_cast<size_t>(node.group)) : to_qcolor(c.background));
  p.drawRect(QRectF(label.x + 2, label.y + 2, label.width - 4, 11));
  p.setPen(to_qcolor(c.dim_text));
  p.setFont(scene_font(draw::kTypeSize, false));
  p.drawText(QRectF(label.x - 10, label.y, label.width + 20, draw::kTypeRow), Qt::AlignCenter, qt(node.type));
}

void GraphView::paint_legend(QPainter& p) {
  draw::DrawOptions options = pane_.options();
  options.dark = dark_theme();
  if (!options.legend) return;
  auto entries = draw::legend(step_->picture, options);
  const auto& c = colours();
  const auto any = [this](draw::NodeState state) {
    return std::any_of(step_->picture.nodes.begin(), step_->picture.nodes.end(),
                       [state](const auto& n) { return n.state == state; });
  };
  const bool removed = any(draw::NodeState::Removed);
  const bool changed = removed || any(draw::NodeState::Added) || any(draw::NodeState::Changed);
  if (changed) {
    const auto means = [](const QString& set, const char* usual) {
      return set.isEmpty() ? std::string(usual) : set.toStdString();
    };
    entries.push_back({means(pane_.added_means(), "added in this step (+)"), c.added});
    entries.push_back({means(pane_.changed_means(), "changed in this step (~)"), c.changed});
    if (removed) entries.push_back({"removed in this step (−)", c.removed});
  }
  if (entries.empty()) return;
  // In rows along the lower edge, where it hides least of the graph.
  constexpr int row = 16, swatch = 20, gap = 14;
  p.setFont(scene_font(10, false));
  int limit = width() - 16 - (strip_shown() ? kStripWidth : 0) - (map_->isHidden() ? 0 : map_->width() + 16), x = 8,
      y = 4, right = 0;
  std::vector<QPoint> places;
  for (const auto& entry : entries) {
    int wide = swatch + p.fontMetrics().horizontalAdvance(qt(entry.text)) + gap;
    if (x > 8 && x + wide > limit) {
      x = 8;
      y += row;
    }
    places.emplace_back(x, y);
    x += wide;
    right = std::max(right, x);
  }
  QRect box(8, height() - y - row - 12, right, y + row + 4);
  if (box.height() > height() / 4) return;
  QColor back = to_qcolor(c.background);
  back.setAlpha(230);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(to_qcolor(c.node_border));
  p.setBrush(back);
  p.drawRoundedRect(box, 4, 4);
  for (size_t i = 0; i < entries.size(); ++i) {
    QPoint at = box.topLeft() + places[i];
    p.setPen(to_qcolor(c.node_border));
    p.setBrush(to_qcolor(entries[i].fill));
    p.drawRoundedRect(QRectF(at.x() + 0.5, at.y() + 2.5, 14, 10), 2, 2);
    p.setPen(to_qcolor(c.text));
    p.drawText(QRect(at.x() + swatch, at.y(), width(), row), Qt::AlignLeft | Qt::AlignVCenter, qt(entries[i].text));
  }
}

/// What is highlighted, or what stands for the selection, in words.
void GraphView::paint_note(QPainter& p) {
  const QString note = lit_note_.isEmpty() ? pane_.relation_text() : lit_note_;
  if (note.isEmpty()) return;
  p.setFont(scene_font(11, false));
  const QString text = p.fontMetrics().elidedText(note, Qt::ElideMiddle, width() - 60);
  const QRectF box(8, 8, p.fontMetrics().horizontalAdvance(text) + 16, 22);
  QColor back = to_qcolor(colours().background);
  back.setAlpha(230);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(to_qcolor(colours().selected));
  p.setBrush(back);
  p.drawRoundedRect(box, 4, 4);
  p.setPen(to_qcolor(colours().text));
  p.drawText(box, Qt::AlignCenter, text);
}

/// The whole height of the graph in one strip: where things are, where changes are, and what is in view.
void GraphView::paint_strip(QPainter& p) {
  const auto& c = colours();
  QRectF strip(width() - kStripWidth, 0, kStripWidth, height());
  p.setRenderHint(QPainter::Antialiasing, false);
  p.fillRect(strip, palette().window());
  double factor = height() / step_->layout.height;
  const auto& nodes = step_->picture.nodes;
  auto tick = [&](size_t i, const QColor& colour, double left, double thickness) {
    const auto& r = step_->layout.nodes[i];
    p.fillRect(QRectF(strip.x() + left, r.y * factor, kStripWidth - left, std::max(thickness, r.height * factor)),
               colour);
  };
  for (size_t i = 0; i < nodes.size(); ++i) tick(i, fills_[i], 5, 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].state != draw::NodeState::Same) tick(i, to_qcolor(draw::state_colour(nodes[i].state, c)), 9, 2);
    if (marked_.contains(static_cast<int>(i))) tick(i, to_qcolor(c.related), 2, 2);
  }
  for (int i : relatives_) tick(static_cast<size_t>(i), to_qcolor(c.selected), 0, 2);
  if (selected_ >= 0) tick(static_cast<size_t>(selected_), to_qcolor(c.selected), 0, 3);
  double top = -offset_.y() / scale_ * factor, tall = height() / scale_ * factor;
  QColor veil = to_qcolor(c.selected);
  p.setPen(veil);
  veil.setAlpha(40);
  p.setBrush(veil);
  p.drawRect(QRectF(strip.x() + 0.5, top, kStripWidth - 1.5, std::max(tall, 6.0)));
}

}  // namespace strata::studio
