// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// What a profile saw allocated, over time.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/draw/picture.h"
#include "app/studio/views/memory_paint.h"
#include "app/studio/views/memory_view.h"

namespace strata::studio {
namespace {

void paint_text(QPainter& painter, const QWidget& widget, const QString& text) {
  painter.setPen(widget.palette().color(QPalette::PlaceholderText));
  painter.drawText(widget.rect().adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap, text);
}

}  // namespace

MemoryCurveView::MemoryCurveView(QWidget* parent) : QWidget(parent) {
  setAccessibleName("allocated bytes over time");
  setMinimumSize(260, 150);
}

void MemoryCurveView::set_curve(const MemoryCurve* curve) {
  curve_ = curve ? *curve : MemoryCurve();
  setAccessibleDescription(QString("at most %1 allocated").arg(bytes_text(curve_.peak)));
  update();
}

QRectF MemoryCurveView::area() const {
  return QRectF(kMemoryLeft, kMemoryTop, std::max(10.0, width() - kMemoryLeft - kMemoryRight),
                std::max(10.0, height() - kMemoryTop - kMemoryBottom));
}

void MemoryCurveView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (empty()) return paint_text(painter, *this, "The profile has no memory events (profile_memory=True).");
  const QRectF a = area();
  const QColor text = palette().color(QPalette::Text);
  const QFontMetricsF metrics(font());
  double most = std::max(1.0, curve_.peak);
  for (const auto& p : curve_.points) most = std::max(most, p.reserved);
  const auto duration = std::max<double>(1, static_cast<double>(curve_.points.back().time));
  paint_bytes_axis(painter, a, 0, most, text);
  const double step = step_for(duration);
  for (int i = 0; i * step <= duration; ++i) {
    const double x = a.left() + a.width() * i * step / duration;
    painter.setPen(text);
    painter.drawText(QRectF(x - 50, a.bottom() + 3, 100, metrics.height()), Qt::AlignHCenter,
                     qt(draw::format_time(i * step)));
  }
  const auto place = [&](std::int64_t time, double bytes) {
    return QPointF(a.left() + a.width() * static_cast<double>(time) / duration,
                   a.bottom() - a.height() * std::clamp(bytes / most, 0.0, 1.0));
  };
  // Of the steps within a pixel only the lowest and highest can be seen.
  QPainterPath allocated(place(0, curve_.points.front().allocated)), reserved(place(0, curve_.points.front().reserved));
  for (size_t i = 0; i < curve_.points.size();) {
    const double pixel = std::floor(place(curve_.points[i].time, 0).x());
    double low = curve_.points[i].allocated, high = low;
    size_t end = i;
    for (; end < curve_.points.size() && std::floor(place(curve_.points[end].time, 0).x()) <= pixel; ++end) {
      low = std::min(low, curve_.points[end].allocated);
      high = std::max(high, curve_.points[end].allocated);
    }
    const auto& last = curve_.points[end - 1];
    allocated.lineTo(QPointF(pixel, allocated.currentPosition().y()));
    for (const double bytes : {low, high, last.allocated}) allocated.lineTo(QPointF(pixel, place(0, bytes).y()));
    reserved.lineTo(QPointF(pixel, reserved.currentPosition().y()));
    reserved.lineTo(QPointF(pixel, place(0, last.reserved).y()));
    i = end;
  }
  QPainterPath filled = allocated;
  filled.lineTo(QPointF(allocated.currentPosition().x(), a.bottom()));
  filled.lineTo(a.bottomLeft());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillPath(filled, kind_colour("temporary"));
  painter.setPen(QPen(text, 1.2));
  painter.drawPath(allocated);
  painter.setPen(QPen(text, 1, Qt::DashLine));
  painter.drawPath(reserved);
  const QPointF top = place(curve_.peak_time, curve_.peak);
  painter.setPen(QPen(peak_colour(), 1.4));
  painter.drawLine(QPointF(top.x(), a.top() - 2), QPointF(top.x(), a.bottom()));
  const QString name = QString("most: %1 at %2; dashed: reserved")
                           .arg(bytes_text(curve_.peak), qt(draw::format_time(static_cast<double>(curve_.peak_time))));
  const double length = metrics.horizontalAdvance(name) + 4;
  const double left = std::clamp(top.x() - length / 2, a.left(), std::max(a.left(), a.right() - length));
  painter.drawText(QRectF(left, 2, length, metrics.height()), Qt::AlignCenter, name);
}

const MemoryCurve::Point* MemoryCurveView::point_at(double x) const {
  if (empty()) return nullptr;
  const QRectF a = area();
  const double part = std::clamp((x - a.left()) / a.width(), 0.0, 1.0);
  const auto time = static_cast<std::int64_t>(part * static_cast<double>(curve_.points.back().time));
  auto at = std::upper_bound(curve_.points.begin(), curve_.points.end(), time,
                             [](std::int64_t t, const MemoryCurve::Point& p) { return t < p.time; });
  if (at != curve_.points.begin()) --at;
  return &*at;
}

void MemoryCurveView::mousePressEvent(QMouseEvent* event) {
  const MemoryCurve::Point* at = point_at(event->position().x());
  if (at && at->event != trace::kNone) emit chosen(at->event);
}

bool MemoryCurveView::event(QEvent* event) {
  const auto* help = event->type() == QEvent::ToolTip ? static_cast<QHelpEvent*>(event) : nullptr;
  const MemoryCurve::Point* at = help ? point_at(help->pos().x()) : nullptr;
  if (!at) return QWidget::event(event);
  QString text = QString("%1: %2 allocated, %3 reserved")
                     .arg(qt(draw::format_time(static_cast<double>(at->time))), bytes_text(at->allocated),
                          bytes_text(at->reserved));
  if (at->change != 0)
    text += QString("\n%1 %2").arg(at->change > 0 ? "allocates" : "releases", bytes_text(std::abs(at->change)));
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace strata::studio
