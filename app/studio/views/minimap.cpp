// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/minimap.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "app/studio/views/theme.h"

namespace strata::studio {

Minimap::Minimap(QWidget* parent) : QWidget(parent) {
  setAccessibleName("map of the whole graph");
  setToolTip("The whole graph. Drag to move, M to hide.");
  setCursor(Qt::PointingHandCursor);
  hide();
}

void Minimap::set_graph(const StepPtr& step, std::vector<QColor> fills) {
  step_ = step;
  fills_ = std::move(fills);
  picture_ = {};
  if (!step_) return;
  // Long thin graphs are widened, so that the map can always be hit.
  const double w = std::max(step_->layout.width, 1.0), h = std::max(step_->layout.height, 1.0);
  const double scale = kLongest / std::max(w, h);
  const QSize size(static_cast<int>(std::max(w * scale, kShortest)), static_cast<int>(std::max(h * scale, kShortest)));
  x_scale_ = size.width() / w;
  y_scale_ = size.height() / h;
  resize(size);
  update();
}

void Minimap::set_view(const QRectF& scene) {
  if (scene == view_) return;
  view_ = scene;
  update();
}

QPointF Minimap::to_map(QPointF scene) const { return {scene.x() * x_scale_, scene.y() * y_scale_}; }

void Minimap::render() {
  picture_ = QPixmap(size() * devicePixelRatioF());
  picture_.setDevicePixelRatio(devicePixelRatioF());
  const auto& c = colours();
  picture_.fill(to_qcolor(c.background));
  QPainter p(&picture_);
  auto place = [&](const draw::Rect& r) {
    return QRectF(to_map({r.x, r.y}), QSizeF(std::max(r.width * x_scale_, 1.5), std::max(r.height * y_scale_, 1.0)));
  };
  p.setPen(to_qcolor(c.group_border));
  p.setBrush(to_qcolor(c.group_fill));
  for (const auto& r : step_->layout.groups)
    if (r.height * y_scale_ > 3) p.drawRect(place(r));
  for (size_t i = 0; i < step_->layout.nodes.size(); ++i) {
    QColor fill = dark_theme() ? fills_[i].lighter(150) : fills_[i].darker(125);
    const draw::NodeState state = step_->picture.nodes[i].state;
    if (state != draw::NodeState::Same) fill = to_qcolor(draw::state_colour(state, c));
    p.fillRect(place(step_->layout.nodes[i]), fill);
  }
}

void Minimap::paintEvent(QPaintEvent*) {
  if (!step_) return;
  if (picture_.isNull()) render();
  QPainter p(this);
  p.drawPixmap(0, 0, picture_);
  QColor veil = to_qcolor(colours().selected);
  p.setPen(QPen(veil, 1.5));
  veil.setAlpha(45);
  p.setBrush(veil);
  QRectF frame(to_map(view_.topLeft()), to_map(view_.bottomRight()));
  if (frame.height() < 4) frame.adjust(0, -2, 0, 2);
  if (frame.width() < 4) frame.adjust(-2, 0, 2, 0);
  p.drawRect(frame & QRectF(rect()).adjusted(1, 1, -1, -1));
  p.setPen(to_qcolor(colours().node_border));
  p.setBrush(Qt::NoBrush);
  p.drawRect(rect().adjusted(0, 0, -1, -1));
}

/// Inside the frame the frame is taken where it is; elsewhere it comes to the pointer.
void Minimap::mousePressEvent(QMouseEvent* event) {
  const QRectF frame(to_map(view_.topLeft()), to_map(view_.bottomRight()));
  grip_ = frame.contains(event->position()) ? frame.center() - event->position() : QPointF();
  drag(event->position());
}

void Minimap::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) drag(event->position());
}

void Minimap::drag(QPointF at) {
  if (!step_) return;
  const QPointF middle = at + grip_;
  emit moved({middle.x() / x_scale_, middle.y() / y_scale_});
}

}  // namespace strata::studio
