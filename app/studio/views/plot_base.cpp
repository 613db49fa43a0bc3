// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/plot_base.h"

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace strata::studio {
namespace {
/// The smallest part of the whole that can be zoomed to.
constexpr double kLeast = 1e-4;
}  // namespace

PlotBase::PlotBase(const QString& name, QWidget* parent) : QWidget(parent) {
  setAccessibleName(name);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(260, 150);
}

QPointF PlotBase::to_widget(double across, double up) const {
  const QRectF a = area();
  return {a.left() + a.width() * (across - window_.left()) / window_.width(),
          a.bottom() - a.height() * (up - window_.top()) / window_.height()};
}

QPointF PlotBase::to_part(QPointF at) const {
  const QRectF a = area();
  return {window_.left() + window_.width() * (at.x() - a.left()) / a.width(),
          window_.top() + window_.height() * (a.bottom() - at.y()) / a.height()};
}

void PlotBase::set_window(QRectF window) {
  window.setWidth(std::clamp(window.width(), kLeast, 1.0));
  window.setHeight(std::clamp(window.height(), kLeast, 1.0));
  window.moveLeft(std::clamp(window.left(), 0.0, 1 - window.width()));
  window.moveTop(std::clamp(window.top(), 0.0, 1 - window.height()));
  if (window == window_) return;
  window_ = window;
  window_changed();
  update();
}

void PlotBase::fit() { set_window(QRectF(0, 0, 1, 1)); }

void PlotBase::zoom(double across, double up, QPointF at) {
  const QPointF kept = to_part(at);
  const double wide = std::clamp(window_.width() / across, kLeast, 1.0),
               tall = std::clamp(window_.height() / up, kLeast, 1.0);
  const double x = (kept.x() - window_.left()) / window_.width(), y = (kept.y() - window_.top()) / window_.height();
  set_window(QRectF(kept.x() - x * wide, kept.y() - y * tall, wide, tall));
}

void PlotBase::pan(QPointF by) {
  const QRectF a = area();
  set_window(window_.translated(-by.x() / a.width() * window_.width(), by.y() / a.height() * window_.height()));
}

void PlotBase::paint_focus(QPainter& painter) const {
  if (!hasFocus()) return;
  painter.setClipping(false);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(palette().color(QPalette::Highlight));
  painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

void PlotBase::paint_nothing(QPainter& painter, const QString& text) const {
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(rect().adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap, text);
}

void PlotBase::wheelEvent(QWheelEvent* event) {
  // With a modifier some systems turn the wheel sideways.
  const double turns = (event->angleDelta().y() + event->angleDelta().x()) / 120.0, factor = std::pow(1.25, turns);
  const bool across = !(event->modifiers() & Qt::ControlModifier), up = !(event->modifiers() & Qt::ShiftModifier);
  zoom(across ? factor : 1, up ? factor : 1, event->position());
  event->accept();
}

void PlotBase::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  pressed_ = event->button() == Qt::LeftButton;
  moved_ = false;
  press_ = last_ = event->position();
}

void PlotBase::mouseMoveEvent(QMouseEvent* event) {
  if (pressed_) {
    moved_ |= (event->position() - press_).manhattanLength() > 4;
    if (moved_) pan(event->position() - last_);
    last_ = event->position();
    return;
  }
  const int at = item_at(event->position());
  if (at == hovered_) return;
  hovered_ = at;
  setCursor(at >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void PlotBase::mouseReleaseEvent(QMouseEvent* event) {
  if (pressed_ && !moved_)
    if (const int at = item_at(event->position()); at >= 0) emit chosen(at);
  pressed_ = false;
}

void PlotBase::mouseDoubleClickEvent(QMouseEvent* event) {
  if (item_at(event->position()) < 0) zoom(2, 2, event->position());
}

void PlotBase::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

void PlotBase::keyPressEvent(QKeyEvent* event) {
  const int key = event->key(), count = item_count(), now = selected_item();
  if (event->matches(QKeySequence::Copy)) return copy();
  const QPointF step(area().width() / 8, area().height() / 8);
  const bool arrow = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
  if (arrow && event->modifiers() & Qt::ControlModifier)
    return pan({key == Qt::Key_Left    ? step.x()
                : key == Qt::Key_Right ? -step.x()
                                       : 0,
                key == Qt::Key_Up     ? step.y()
                : key == Qt::Key_Down ? -step.y()
                                      : 0});
  if (arrow && count > 0) {
    const int by = key == Qt::Key_Right || key == Qt::Key_Down ? 1 : -1;
    emit chosen(now < 0 ? 0 : (now + by + count) % count);
    return;
  }
  if ((key == Qt::Key_Return || key == Qt::Key_Enter) && now >= 0) {
    emit chosen(now);
    return;
  }
  if (key == Qt::Key_Plus || key == Qt::Key_Equal) return zoom(1.25, 1.25, area().center());
  if (key == Qt::Key_Minus) return zoom(0.8, 0.8, area().center());
  if (key == Qt::Key_F || key == Qt::Key_0) return fit();
  QWidget::keyPressEvent(event);
}

void PlotBase::copy() const { QApplication::clipboard()->setText(text()); }

void PlotBase::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  menu.addAction("Copy as text (Ctrl+C)", [this] { copy(); });
  menu.addAction("Show everything (F)", [this] { fit(); });
  menu.exec(event->globalPos());
}

bool PlotBase::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int at = item_at(help->pos());
  at < 0 ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), describe(at), this);
  return true;
}

}  // namespace strata::studio
