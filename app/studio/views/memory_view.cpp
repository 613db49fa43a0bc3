// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/memory_view.h"

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QSignalBlocker>
#include <QSplitter>
#include <QToolTip>
#include <cmath>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr double kLeft = 74, kRight = 14, kTop = 22, kBottom = 38;

QColor kind_colour(const std::string& kind) {
  const bool dark = dark_theme();
  if (kind == "input") return dark ? QColor(52, 96, 150) : QColor(176, 208, 246);
  if (kind == "output") return dark ? QColor(112, 82, 158) : QColor(216, 200, 246);
  if (kind == "weight" || kind == "constant" || kind == "parameter")
    return dark ? QColor(84, 90, 102) : QColor(208, 213, 222);
  return dark ? QColor(38, 116, 100) : QColor(180, 228, 214);
}

QColor grid_colour() { return dark_theme() ? QColor(58, 62, 70) : QColor(226, 230, 236); }
QColor peak_colour() { return dark_theme() ? QColor(251, 146, 60) : QColor(200, 84, 12); }

/// A round number of which about five reach `most`.
double step_for(double most) {
  if (!(most >= 1) || !std::isfinite(most)) return 1;
  const double rough = most / 5, decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * decade) return factor * decade;
  return 10 * decade;
}

void paint_bytes_axis(QPainter& painter, const QRectF& area, double most, const QColor& text) {
  if (!(most > 0)) return;
  const QFontMetricsF metrics(painter.font());
  const double step = step_for(most);
  for (int i = 0; i * step <= most * 1.001; ++i) {
    const double y = area.bottom() - area.height() * (i * step / most);
    painter.setPen(grid_colour());
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(text);
    painter.drawText(QRectF(0, y - metrics.height() / 2, area.left() - 6, metrics.height()), Qt::AlignRight,
                     bytes_text(i * step));
  }
}

void paint_nothing(QPainter& painter, const QWidget& widget, const QString& text) {
  painter.setPen(widget.palette().color(QPalette::PlaceholderText));
  painter.drawText(widget.rect().adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap, text);
}

void paint_focus(QPainter& painter, const QWidget& widget) {
  if (!widget.hasFocus()) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(widget.palette().color(QPalette::Highlight));
  painter.drawRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

}  // namespace

// -------------------------------------------------------------------------------------------------------- MemoryMap

MemoryMap::MemoryMap(QWidget* parent) : QWidget(parent) {
  setAccessibleName("buffers over launches");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(260, 150);
}

void MemoryMap::set_plan(MemoryPlan plan) {
  plan_ = std::move(plan);
  hovered_ = -1;
  setAccessibleDescription(QString("%1 buffers over %2 launches, at most %3 at once; the list beside it holds the same")
                               .arg(plan_.blocks.size())
                               .arg(plan_.launches.size())
                               .arg(bytes_text(plan_.peak)));
  update();
}

void MemoryMap::set_selected(trace::NodeId node) {
  if (node == selected_) return;
  selected_ = node;
  update();
}

QRectF MemoryMap::area() const {
  return QRectF(kLeft, kTop, std::max(10.0, width() - kLeft - kRight), std::max(10.0, height() - kTop - kBottom));
}

QRectF MemoryMap::block_rect(int block) const {
  const MemoryBlock& b = plan_.blocks.at(static_cast<size_t>(block));
  const QRectF a = area();
  const double wide = a.width() / std::max<double>(1, static_cast<double>(plan_.launches.size()));
  const double tall = a.height() / std::max(1.0, plan_.height);
  return QRectF(a.left() + wide * static_cast<double>(b.first), a.bottom() - tall * (b.offset + b.bytes),
                wide * static_cast<double>(b.last + 1 - b.first), tall * b.bytes);
}

int MemoryMap::block_at(QPointF at) const {
  const QRectF a = area();
  if (!a.contains(at) || plan_.blocks.empty()) return -1;
  return plan_.at((at.x() - a.left()) / a.width() * static_cast<double>(plan_.launches.size()),
                  (a.bottom() - at.y()) / a.height() * plan_.height);
}

bool MemoryMap::strong(size_t block) const {
  const MemoryBlock& b = plan_.blocks[block];
  return (selected_ != 0 && b.node == selected_) || static_cast<int>(block) == hovered_;
}

void MemoryMap::paint_axes(QPainter& painter) const {
  const QRectF a = area();
  const QColor text = palette().color(QPalette::Text);
  paint_bytes_axis(painter, a, plan_.height, text);
  const QFontMetricsF metrics(font());
  const auto count = static_cast<double>(plan_.launches.size());
  const double step = std::max(1.0, step_for(count * 1.6));
  for (double i = 0; i < count; i += step) {
    const double x = a.left() + a.width() * (i + 0.5) / count;
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
  double x = kLeft;
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
  for (size_t i = 0; i < plan_.blocks.size(); ++i) {
    const MemoryBlock& b = plan_.blocks[i];
    const QRectF box = block_rect(static_cast<int>(i));
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
    if (box.height() < metrics.height() || box.width() < 30) continue;
    QString name = QString("%1  %2").arg(qt(b.name), bytes_text(b.bytes));
    if (metrics.horizontalAdvance(name) > box.width() - 7) name = qt(b.name);
    painter.setPen(text);
    painter.drawText(box.adjusted(4, 0, -3, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(name, Qt::ElideRight, box.width() - 7));
  }
  for (size_t i = 0; i < plan_.blocks.size(); ++i) {
    if (!strong(i)) continue;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(to_qcolor(colours().selected), 2.4));
    painter.drawRect(block_rect(static_cast<int>(i)));
  }
}

void MemoryMap::paint_chain(QPainter& painter) const {
  painter.setPen(QPen(to_qcolor(colours().selected), 1.4, Qt::DashLine));
  for (size_t i = 0; i < plan_.blocks.size(); ++i) {
    if (!strong(i)) continue;
    for (size_t j = 0; j < plan_.blocks.size(); ++j) {
      if (j == i || plan_.blocks[j].chain != plan_.blocks[i].chain) continue;
      painter.drawRect(block_rect(static_cast<int>(j)).adjusted(1, 1, -1, -1));
      painter.drawLine(block_rect(static_cast<int>(i)).center(), block_rect(static_cast<int>(j)).center());
    }
  }
}

void MemoryMap::paint_peak(QPainter& painter) const {
  if (plan_.peak_launch < 0) return;
  const QRectF a = area();
  const auto count = static_cast<double>(plan_.launches.size());
  const double wide = a.width() / count, x = a.left() + wide * static_cast<double>(plan_.peak_launch);
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
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (plan_.blocks.empty()) return paint_nothing(painter, *this, "No buffers with sizes and lifetimes.");
  paint_axes(painter);
  paint_blocks(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_chain(painter);
  paint_peak(painter);
  paint_focus(painter, *this);
}

void MemoryMap::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  if (const int at = block_at(event->position()); at >= 0) emit chosen(at);
}

void MemoryMap::mouseMoveEvent(QMouseEvent* event) {
  const int at = block_at(event->position());
  if (at == hovered_) return;
  hovered_ = at;
  setCursor(at >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void MemoryMap::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

void MemoryMap::keyPressEvent(QKeyEvent* event) {
  const int by = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down ? 1
                 : event->key() == Qt::Key_Left || event->key() == Qt::Key_Up  ? -1
                                                                               : 0;
  if (by == 0 || plan_.blocks.empty()) return QWidget::keyPressEvent(event);
  const auto at = std::find_if(plan_.blocks.begin(), plan_.blocks.end(),
                               [&](const MemoryBlock& b) { return selected_ != 0 && b.node == selected_; });
  const int count = static_cast<int>(plan_.blocks.size()), now = static_cast<int>(at - plan_.blocks.begin());
  emit chosen(at == plan_.blocks.end() ? 0 : (now + by + count) % count);
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

bool MemoryMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  if (const int at = block_at(help->pos()); at >= 0)
    QToolTip::showText(help->globalPos(), describe(at), this);
  else
    QToolTip::hideText();
  return true;
}

// -------------------------------------------------------------------------------------------------- MemoryCurveView

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
  return QRectF(kLeft, kTop, std::max(10.0, width() - kLeft - kRight), std::max(10.0, height() - kTop - kBottom));
}

void MemoryCurveView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (empty()) return paint_nothing(painter, *this, "The profile has no memory events (profile_memory=True).");
  const QRectF a = area();
  const QColor text = palette().color(QPalette::Text);
  const QFontMetricsF metrics(font());
  double most = std::max(1.0, curve_.peak);
  for (const auto& p : curve_.points) most = std::max(most, p.reserved);
  const auto duration = std::max<double>(1, static_cast<double>(curve_.points.back().time));
  paint_bytes_axis(painter, a, most, text);
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

bool MemoryCurveView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || empty()) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const QRectF a = area();
  const double part = std::clamp((help->pos().x() - a.left()) / a.width(), 0.0, 1.0);
  const auto time = static_cast<std::int64_t>(part * static_cast<double>(curve_.points.back().time));
  auto at = std::upper_bound(curve_.points.begin(), curve_.points.end(), time,
                             [](std::int64_t t, const MemoryCurve::Point& p) { return t < p.time; });
  if (at != curve_.points.begin()) --at;
  QToolTip::showText(help->globalPos(),
                     QString("%1: %2 allocated, %3 reserved")
                         .arg(qt(draw::format_time(static_cast<double>(at->time))), bytes_text(at->allocated),
                              bytes_text(at->reserved)),
                     this);
  return true;
}

// ------------------------------------------------------------------------------------------------------ MemoryPanel

MemoryPanel::MemoryPanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      what_(new QComboBox),
      outside_(new QCheckBox("Inputs and weights")),
      summary_(note("summary of memory")),
      map_(new MemoryMap),
      table_(new LinkTable(context, memory_headers(), "buffers")),
      curve_(new MemoryCurveView),
      plan_page_(new QWidget) {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  what_->setAccessibleName("program or device whose memory is shown");
  what_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  outside_->setAccessibleName("show inputs and weights too");
  summary_->setWordWrap(false);
  summary_->setAlignment(Qt::AlignVCenter | Qt::AlignLeft);
  bar->addWidget(what_);
  bar->addWidget(summary_, 1);
  bar->addWidget(outside_);
  layout->addLayout(bar);
  auto* both = new QSplitter;
  both->addWidget(map_);
  both->addWidget(table_);
  both->setStretchFactor(0, 3);
  both->setStretchFactor(1, 1);
  both->setChildrenCollapsible(false);
  table_->setMinimumWidth(260);
  auto* page = new QVBoxLayout(plan_page_);
  page->setContentsMargins(0, 0, 0, 0);
  page->addWidget(both);
  layout->addWidget(plan_page_, 1);
  layout->addWidget(curve_, 1);
  table_->rows().set_numeric({2, 5});
  connect(what_, &QComboBox::currentIndexChanged, this, &MemoryPanel::fill);
  connect(outside_, &QCheckBox::toggled, this, &MemoryPanel::fill);
  connect(map_, &MemoryMap::chosen, this, [this](int block) {
    const MemoryBlock& b = map_->plan().blocks.at(static_cast<size_t>(block));
    if (b.node != 0) context_.select_node(b.node);
  });
  connect(&context_, &Context::traceOpened, this, [this] {
    context_.queue().supersede("memory curves");
    curves_.clear();
    curves_asked_ = false;
    list();
    if (isVisible()) load_curves();
  });
  connect(&context_, &Context::traceGrown, this, [this] {
    curves_asked_ = false;
    if (isVisible()) load_curves();
  });
  connect(&context_, &Context::compileChanged, this, &MemoryPanel::list);
  connect(&context_, &Context::detailsChanged, this, [this] {
    const DetailsPtr details = context_.details();
    if (!details) return map_->set_selected(0);
    trace::NodeId shown = details->selection.node;
    const auto in = [&](trace::NodeId node) { return table_->rows().row_of_node(node); };
    if (in(shown) < 0)
      for (const trace::KernelRecord& k : details->kernels)
        for (const trace::NodeId node : k.nodes)
          if (in(node) >= 0) shown = node;
    map_->set_selected(shown);
    if (shown != 0) table_->show_row(in(shown));
  });
  list();
}

void MemoryPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  load_curves();
}

void MemoryPanel::load_curves() {
  if (curves_asked_ || !context_.reader()) return;
  curves_asked_ = true;
  context_.queue().post("memory curves", [this, reader = context_.reader()]() -> JobQueue::Apply {
    auto curves = std::make_shared<MemoryCurves>(load_memory_curves(*reader));
    return [this, curves] {
      curves_ = std::move(*curves);
      if (!curves_.empty()) list();
    };
  });
}

/// What can be shown; what was shown stays if it is still there.
void MemoryPanel::list() {
  const auto compile = context_.compile();
  const QString before = what_->currentText();
  {
    const QSignalBlocker block(what_);
    what_->clear();
    programs_ = compile ? memory_programs(*compile) : decltype(programs_)();
    for (const auto& [id, name] : programs_)
      what_->addItem(programs_.size() == 1 && name == "program 1" ? QString("plan") : "plan of " + qt(name));
    for (const MemoryCurve& curve : curves_) what_->addItem("profile, " + qt(curve.device));
    what_->setCurrentIndex(what_->count() > 0 ? std::max(0, what_->findText(before)) : -1);
    what_->setEnabled(what_->count() > 0);
  }
  fill();
}

void MemoryPanel::fill() {
  const auto compile = context_.compile();
  const int index = what_->currentIndex(), curve = index - static_cast<int>(programs_.size());
  const bool shows_curve = index >= 0 && curve >= 0;
  plan_page_->setVisible(!shows_curve);
  outside_->setVisible(!shows_curve);
  curve_->setVisible(shows_curve);
  if (shows_curve) {
    const MemoryCurve& shown = curves_[static_cast<size_t>(curve)];
    curve_->set_curve(&shown);
    return summary_->setText(
        QString("%1 allocations and releases, at most %2").arg(shown.points.size()).arg(bytes_text(shown.peak)));
  }
  curve_->set_curve(nullptr);
  MemoryPlan plan;
  if (compile && index >= 0)
    plan = make_memory_plan(*compile, programs_[static_cast<size_t>(index)].first, outside_->isChecked());
  table_->set_rows(memory_rows(plan));
  QString text = QString("%1 buffers, at most %2 at once").arg(plan.blocks.size()).arg(bytes_text(plan.peak));
  if (plan.chains > 0) text += QString("; %1 used again").arg(plan.chains);
  if (plan.unplaced > 0) text += QString("; %1 of unknown size or time").arg(plan.unplaced);
  summary_->setText(index < 0 ? QString("This trace holds no plan of memory.") : text);
  map_->set_plan(std::move(plan));
}

}  // namespace strata::studio
