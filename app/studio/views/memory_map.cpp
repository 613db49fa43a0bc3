// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The buffers of a compile as boxes.
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/studio/views/memory_paint.h"
#include "app/studio/views/memory_view.h"
#include "app/studio/views/theme.h"

namespace strata::studio {

QColor kind_colour(const std::string& kind) {
  const bool dark = dark_theme();
  if (kind == "input") return dark ? QColor(52, 96, 150) : QColor(176, 208, 246);
  if (kind == "output") return dark ? QColor(112, 82, 158) : QColor(216, 200, 246);
  if (kind == "weight" || kind == "constant" || kind == "parameter")
    return dark ? QColor(84, 90, 102) : QColor(208, 213, 222);
  return dark ? QColor(38, 116, 100) : QColor(180, 228, 214);
}

namespace {
QColor grid_colour() { return dark_theme() ? QColor(58, 62, 70) : QColor(226, 230, 236); }
}  // namespace

QColor peak_colour() { return dark_theme() ? QColor(251, 146, 60) : QColor(200, 84, 12); }

double step_for(double most) {
  if (!(most >= 1) || !std::isfinite(most)) return 1;
  const double rough = most / 5, decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * decade) return factor * decade;
  return 10 * decade;
}

void paint_bytes_axis(QPainter& painter, const QRectF& area, double least, double most, const QColor& text) {
  const QFontMetricsF metrics(painter.font());
  const double span = std::max(1.0, most - least), step = step_for(span);
  if (!std::isfinite(span) || !std::isfinite(least)) return;
  for (int i = 0; i < 12; ++i) {
    const double bytes = (std::ceil(least / step) + i) * step;
    if (bytes > least + span * 1.001) break;
    const double y = area.bottom() - area.height() * ((bytes - least) / span);
    painter.setPen(grid_colour());
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(text);
    painter.drawText(QRectF(0, y - metrics.height() / 2, area.left() - 6, metrics.height()), Qt::AlignRight,
                     bytes_text(bytes));
  }
}

MemoryMap::MemoryMap(QWidget* parent) : PlotBase("buffers over launches", parent) {}

void MemoryMap::set_plan(MemoryPlan plan) {
  plan_ = std::move(plan);
  forget_hovered();
  selected_ = -1;
  lit_.clear();
  kept_ = QPixmap();
  fit();
  setAccessibleDescription(QString("%1 buffers over %2 launches, at most %3 at once; the list beside it holds the same")
                               .arg(plan_.blocks.size())
                               .arg(plan_.launches.size())
                               .arg(bytes_text(plan_.peak)));
  update();
}

void MemoryMap::set_selected(trace::Id buffer, std::vector<trace::Id> lit) {
  std::sort(lit.begin(), lit.end());
  selected_ = -1;
  lit_.clear();
  for (size_t i = 0; i < plan_.blocks.size(); ++i) {
    const trace::Id id = plan_.blocks[i].buffer;
    if (buffer != trace::kNone && id == buffer) selected_ = static_cast<int>(i);
    if (std::binary_search(lit.begin(), lit.end(), id)) lit_.push_back(static_cast<int>(i));
  }
  update();
}

QRectF MemoryMap::area() const {
  return QRectF(kMemoryLeft, kMemoryTop, std::max(10.0, width() - kMemoryLeft - kMemoryRight),
                std::max(10.0, height() - kMemoryTop - kMemoryBottom));
}

QRectF MemoryMap::block_rect(int block) const {
  const MemoryBlock& b = plan_.blocks.at(static_cast<size_t>(block));
  const double count = std::max<double>(1, static_cast<double>(plan_.launches.size())),
               tall = std::max(1.0, plan_.height);
  return QRectF(to_widget(static_cast<double>(b.first) / count, (b.offset + b.bytes) / tall),
                to_widget(static_cast<double>(b.last + 1) / count, b.offset / tall));
}

int MemoryMap::block_at(QPointF at) const {
  if (!area().contains(at) || plan_.blocks.empty()) return -1;
  const QPointF part = to_part(at);
  return plan_.at(part.x() * static_cast<double>(plan_.launches.size()), part.y() * plan_.height);
}

void MemoryMap::paint_axes(QPainter& painter) const {
  const QRectF a = area();
  const QColor text = palette().color(QPalette::Text);
  paint_bytes_axis(painter, a, window().top() * plan_.height, window().bottom() * plan_.height, text);
  const QFontMetricsF metrics(font());
  const auto count = static_cast<double>(plan_.launches.size());
  const double step = std::max(1.0, step_for(count * window().width() * 1.6));
  for (double i = std::floor(window().left() * count / step) * step; i < count; i += step) {
    const double x = to_widget((i + 0.5) / count, 0).x();
    if (x < a.left() || x > a.right()) continue;
    painter.setPen(text);
    painter.drawText(QRectF(x - 40, a.bottom() + 3, 80, metrics.height()), Qt::AlignHCenter, QString::number(i));
  }
  painter.drawText(QRectF(a.left(), height() - metrics.height() - 3, a.width(), metrics.height()), Qt::AlignRight,
                   "launch");
  paint_legend(painter);
}

/// What the colours mean, below the launches: only the kinds that there are.
void MemoryMap::paint_legend(QPainter& painter) const {
  std::vector<std::string> kinds;
  for (const MemoryBlock& b : plan_.blocks)
    if (std::find(kinds.begin(), kinds.end(), b.kind) == kinds.end()) kinds.push_back(b.kind);
  const QFontMetricsF metrics(font());
  double x = kMemoryLeft;
  const double y = height() - metrics.height() - 3;
  for (const std::string& kind : kinds) {
    const QColor fill = kind_colour(kind);
    const double wide = metrics.horizontalAdvance(qt(kind));
    painter.fillRect(QRectF(x, y + 2, 10, 10), dark_theme() ? fill.lighter(120) : fill.darker(115));
    painter.drawText(QRectF(x + 14, y, wide + 2, metrics.height()), Qt::AlignLeft, qt(kind));
    x += wide + 30;
  }
}

void MemoryMap::paint_blocks(QPainter& painter) const {
  const QFontMetricsF metrics(font());
  const QColor text = palette().color(QPalette::Text);
  const QRectF seen = area();
  for (size_t i = 0; i < plan_.blocks.size(); ++i) {
    const MemoryBlock& b = plan_.blocks[i];
    const QRectF box = block_rect(static_cast<int>(i));
    if (!box.intersects(seen)) continue;
    const QColor fill = kind_colour(b.kind);
    // Thin ones are lines: their border would hide them.
    if (box.height() < 2.5 || box.width() < 2.5) {
      painter.fillRect(box.adjusted(0, 0, std::max(0.0, 1 - box.width()), std::max(0.0, 1 - box.height())),
                       dark_theme() ? fill.lighter(150) : fill.darker(130));
      continue;
    }
    painter.setPen(dark_theme() ? fill.lighter(140) : fill.darker(125));
    painter.setBrush(fill);
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
    // Names stand in what is seen of the box.
    const QRectF inside = box.intersected(seen);
    if (inside.height() < metrics.height() || inside.width() < 30) continue;
    QString name = QString("%1  %2").arg(qt(b.name).left(200), bytes_text(b.bytes));
    if (metrics.horizontalAdvance(name) > inside.width() - 7) name = qt(b.name).left(200);
    painter.setPen(text);
    painter.drawText(inside.adjusted(4, 0, -3, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(name, Qt::ElideRight, inside.width() - 7));
  }
}

void MemoryMap::paint_chain(QPainter& painter, int block) const {
  painter.setPen(QPen(to_qcolor(colours().selected), 1.4, Qt::DashLine));
  const MemoryBlock& of = plan_.blocks[static_cast<size_t>(block)];
  for (size_t j = 0; j < plan_.blocks.size(); ++j) {
    if (static_cast<int>(j) == block || plan_.blocks[j].chain != of.chain) continue;
    painter.drawRect(block_rect(static_cast<int>(j)).adjusted(1, 1, -1, -1));
    painter.drawLine(block_rect(block).center(), block_rect(static_cast<int>(j)).center());
  }
}

void MemoryMap::paint_peak(QPainter& painter) const {
  if (plan_.peak_launch < 0) return;
  const QRectF a = area();
  const auto count = static_cast<double>(plan_.launches.size());
  const double x = to_widget(static_cast<double>(plan_.peak_launch) / count, 0).x(),
               wide = a.width() / count / window().width();
  if (x + wide < a.left() || x > a.right()) return;
  QColor colour = peak_colour();
  painter.setPen(QPen(colour, 1.4));
  painter.drawLine(QPointF(x, a.top() - 2), QPointF(x, a.bottom()));
  painter.drawLine(QPointF(x + wide, a.top() - 2), QPointF(x + wide, a.bottom()));
  const QString text = QString("most: %1 in launch %2, %3")
                           .arg(bytes_text(plan_.peak))
                           .arg(plan_.peak_launch)
                           .arg(qt(plan_.launches[static_cast<size_t>(plan_.peak_launch)]).left(60));
  const QFontMetricsF metrics(font());
  const double length = metrics.horizontalAdvance(text) + 4;
  const double left = std::clamp(x + wide / 2 - length / 2, a.left(), std::max(a.left(), a.right() - length));
  painter.drawText(QRectF(left, 2, length, metrics.height()), Qt::AlignCenter, text);
}

void MemoryMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (plan_.blocks.empty()) {
    painter.fillRect(rect(), palette().color(QPalette::Base));
    return paint_nothing(painter, "No buffers with sizes and lifetimes.");
  }
  const QSize size = (QSizeF(this->size()) * devicePixelRatioF()).toSize();
  if (kept_.size() != size || dark_ != dark_theme()) {
    dark_ = dark_theme();
    kept_ = QPixmap(size);
    kept_.setDevicePixelRatio(devicePixelRatioF());
    QPainter once(&kept_);
    once.setFont(font());
    once.fillRect(rect(), palette().color(QPalette::Base));
    paint_axes(once);
    once.setClipRect(area());
    paint_blocks(once);
    once.setClipping(false);
    paint_peak(once);
  }
  painter.drawPixmap(0, 0, kept_);
  painter.setClipRect(area().adjusted(-2, -2, 2, 2));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(to_qcolor(colours().related), 2));
  for (const int block : lit_) painter.drawRect(block_rect(block));
  for (const int block : {selected_, hovered()}) {
    if (block < 0) continue;
    paint_chain(painter, block);
    painter.setPen(QPen(to_qcolor(colours().selected), 2.4));
    painter.drawRect(block_rect(block));
  }
  paint_focus(painter);
}

QString MemoryMap::text() const {
  TableModel model(memory_headers());
  model.set_rows(memory_rows(plan_));
  return memory_headers().join(" | ") + '\n' + to_text(model);
}

QString MemoryMap::describe(int block) const {
  const MemoryBlock& b = plan_.blocks[static_cast<size_t>(block)];
  const auto launch = [&](std::int64_t i) {
    return QString("%1 %2").arg(i).arg(qt(plan_.launches[static_cast<size_t>(i)]).left(80));
  };
  QString text = QString("%1 (%2), %3\nfrom launch %4\nto launch %5")
                     .arg(qt(b.name), qt(b.kind), bytes_text(b.bytes), launch(b.first), launch(b.last));
  if (b.arena) text += QString("\nat byte %1 of the arena").arg(b.offset, 0, 'f', 0);
  if (const MemoryBlock* of = plan_.find(b.reuse_of)) text += QString("\nin the memory of %1").arg(qt(of->name));
  return text;
}

}  // namespace strata::studio
