// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/roofline_view.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QSplitter>
#include <cmath>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr double kLeft = 84, kRight = 26, kTop = 14, kBottom = 44;
/// Labels beyond this many say no more.
constexpr size_t kMostLabels = 24;

QColor memory_colour() { return dark_theme() ? QColor(96, 165, 250) : QColor(37, 99, 200); }
QColor compute_colour() { return dark_theme() ? QColor(251, 146, 60) : QColor(200, 84, 12); }

QString short_name(const RooflinePoint& p) {
  const QString name = qt(p.name);
  return name.size() > 34 ? name.left(22) + "…" + name.right(11) : name;
}

/// Numbers at which an axis of decades is marked: more of them the longer a decade is.
std::vector<double> marks(double from, double to, double pixels_a_decade) {
  std::vector<double> out;
  for (double decade = from; decade <= to * 1.001; decade *= 10)
    for (const int digit : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      const bool shown = digit == 1 || pixels_a_decade > 700 || (pixels_a_decade > 220 && (digit == 2 || digit == 5));
      if (shown && decade * digit <= to * 1.001) out.push_back(decade * digit);
    }
  return out;
}

bool free_of(const QRectF& box, const std::vector<QRectF>& taken) {
  return std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(box); });
}

}  // namespace

RooflinePlot::RooflinePlot(QWidget* parent) : PlotBase("roofline", parent) {}

void RooflinePlot::set_roofline(std::shared_ptr<const Roofline> roofline) {
  roofline_ = std::move(roofline);
  forget_hovered();
  fit();
  setAccessibleDescription(roofline_ ? QString("%1 kernels by flops per byte and flops per second; the list beside it "
                                               "holds the same")
                                           .arg(roofline_->points.size())
                                     : QString());
  update();
}

void RooflinePlot::set_selected(trace::Id kernel) {
  if (kernel == selected_) return;
  selected_ = kernel;
  update();
}

QRectF RooflinePlot::area() const {
  return QRectF(kLeft, kTop, std::max(10.0, width() - kLeft - kRight), std::max(10.0, height() - kTop - kBottom));
}

QPointF RooflinePlot::place(double intensity, double rate) const {
  const auto part = [](double v, double from, double to) { return std::log(v / from) / std::log(to / from); };
  return to_widget(part(intensity, roofline_->least_x, roofline_->most_x),
                   part(rate, roofline_->least_y, roofline_->most_y));
}

QPointF RooflinePlot::position(int point) const {
  const RooflinePoint& p = roofline_->points.at(static_cast<size_t>(point));
  return place(p.intensity, p.rate);
}

double RooflinePlot::radius(const RooflinePoint& p) const {
  const double most = roofline_->points.front().ns;
  return 3.5 + 9.5 * std::sqrt(most > 0 ? p.ns / most : 0);
}

/// Small dots are painted over large ones, and found before them.
int RooflinePlot::point_at(QPointF at) const {
  if (!roofline_ || !area().adjusted(-14, -14, 14, 14).contains(at)) return -1;
  for (int i = static_cast<int>(roofline_->points.size()) - 1; i >= 0; --i) {
    const QPointF d = position(i) - at;
    const double reach = radius(roofline_->points[static_cast<size_t>(i)]) + 1.5;
    if (QPointF::dotProduct(d, d) <= reach * reach) return i;
  }
  return -1;
}

std::vector<std::pair<int, QRectF>> RooflinePlot::labels() const {
  std::vector<std::pair<int, QRectF>> out;
  if (!roofline_) return out;
  const QFontMetricsF metrics(font());
  std::vector<QRectF> taken = ceiling_labels();
  const QRectF inside = area();
  // Nor do labels lie on a ceiling.
  for (const QLineF& line : ceiling_lines())
    for (double t = 0, step = 4 / std::max(4.0, line.length()); t <= 1; t += step)
      if (inside.contains(line.pointAt(t))) taken.emplace_back(line.pointAt(t) - QPointF(1, 1), QSizeF(2, 2));
  // The dots that matter most keep clear of labels, the labels of the greatest come first.
  for (size_t i = 0; i < std::min<size_t>(roofline_->points.size(), 200); ++i) {
    const double r = radius(roofline_->points[i]);
    const QPointF at = position(static_cast<int>(i));
    taken.emplace_back(at.x() - r, at.y() - r, 2 * r, 2 * r);
  }
  for (size_t i = 0; i < roofline_->points.size() && out.size() < kMostLabels; ++i) {
    const RooflinePoint& p = roofline_->points[i];
    const QSizeF size(metrics.horizontalAdvance(short_name(p)) + 4, metrics.height());
    const QPointF at = position(static_cast<int>(i));
    const double r = radius(p) + 3;
    const QPointF corners[] = {{at.x() + r, at.y() - size.height() / 2},
                               {at.x() - r - size.width(), at.y() - size.height() / 2},
                               {at.x() - size.width() / 2, at.y() - r - size.height()},
                               {at.x() - size.width() / 2, at.y() + r},
                               {at.x() + r * 0.7, at.y() - r * 0.7 - size.height()},
                               {at.x() + r * 0.7, at.y() + r * 0.7}};
    for (const QPointF& corner : corners) {
      const QRectF box(corner, size);
      if (!inside.contains(box) || !free_of(box, taken)) continue;
      taken.push_back(box);
      out.emplace_back(static_cast<int>(i), box);
      break;
    }
  }
  return out;
}

void RooflinePlot::paint_axes(QPainter& painter) const {
  const QRectF a = area();
  const Roofline& r = *roofline_;
  const QColor line = dark_theme() ? QColor(58, 62, 70) : QColor(226, 230, 236), text = palette().color(QPalette::Text);
  const QFontMetricsF metrics(font());
  const double decades_x = std::log10(r.most_x / r.least_x), decades_y = std::log10(r.most_y / r.least_y);
  double last = -1e9;
  for (const double x : marks(r.least_x, r.most_x, a.width() / window().width() / decades_x)) {
    const double at = place(x, r.least_y).x();
    if (at < a.left() - 1 || at > a.right() + 1) continue;
    painter.setPen(line);
    painter.drawLine(QPointF(at, a.top()), QPointF(at, a.bottom()));
    const QString name = x > 1e-4 && x < 1e7 ? QString::number(x, 'g', 8) : QString::number(x, 'g', 3);
    const double wide = metrics.horizontalAdvance(name);
    if (at - wide / 2 < last + 6) continue;
    last = at + wide / 2;
    painter.setPen(text);
    painter.drawText(QRectF(at - 50, a.bottom() + 3, 100, metrics.height()), Qt::AlignHCenter, name);
  }
  last = 1e9;
  for (const double y : marks(r.least_y, r.most_y, a.height() / window().height() / decades_y)) {
    const double at = place(r.least_x, y).y();
    if (at < a.top() - 1 || at > a.bottom() + 1) continue;
    painter.setPen(line);
    painter.drawLine(QPointF(a.left(), at), QPointF(a.right(), at));
    if (at + metrics.height() > last) continue;
    last = at;
    painter.setPen(text);
    painter.drawText(QRectF(0, at - metrics.height() / 2, a.left() - 6, metrics.height()), Qt::AlignRight,
                     rate_text(y, "flop/s"));
  }
  painter.setPen(text);
  painter.drawText(QRectF(a.left(), height() - metrics.height() - 4, a.width(), metrics.height()), Qt::AlignRight,
                   "flop per byte");
  paint_legend(painter);
}

void RooflinePlot::paint_legend(QPainter& painter) const {
  const QFontMetricsF metrics(font());
  double x = 10;
  const double y = height() - metrics.height() - 4;
  const double end = width() - kRight - metrics.horizontalAdvance("flop per byte") - 16;
  const std::pair<QString, QColor> entries[] = {{"bound by memory", memory_colour()},
                                                {"bound by arithmetic", compute_colour()}};
  for (const auto& [name, colour] : entries) {
    const double wide = metrics.horizontalAdvance(name);
    if (x + 16 + wide > end) return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawEllipse(QPointF(x + 5, y + metrics.height() / 2), 5, 5);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRectF(x + 14, y, wide + 2, metrics.height()), Qt::AlignLeft, name);
    x += wide + 30;
  }
  const QString area_text = "area: time";
  if (x + metrics.horizontalAdvance(area_text) < end)
    painter.drawText(QRectF(x, y, 200, metrics.height()), Qt::AlignLeft, area_text);
}

std::vector<QRectF> RooflinePlot::ceiling_labels() const {
  std::vector<QRectF> out;
  const QFontMetricsF metrics(font());
  const QRectF a = area();
  for (const Ceiling& c : roofline_->compute) {
    const double wide = metrics.horizontalAdvance(qt(c.name) + ": " + rate_text(c.value, "flop/s")) + 4,
                 y = place(roofline_->least_x, c.value).y();
    out.emplace_back(a.right() - wide, y - metrics.height() - 2, wide, metrics.height());
  }
  double x = a.left() + 6;
  for (const Ceiling& c : roofline_->memory) {
    const double wide = metrics.horizontalAdvance(qt(c.name) + ": " + rate_text(c.value, "B/s")) + 4;
    out.emplace_back(x, a.top() + 2, wide, metrics.height());
    x += wide + 14;
  }
  return out;
}

/// Those of arithmetic, then those of memory; null where one is out of view.
std::vector<QLineF> RooflinePlot::ceiling_lines() const {
  const Roofline& r = *roofline_;
  double most = 0, bytes = 0;
  for (const Ceiling& c : r.compute) most = std::max(most, c.value);
  for (const Ceiling& c : r.memory) bytes = std::max(bytes, c.value);
  std::vector<QLineF> out;
  for (const Ceiling& c : r.compute) {
    const double from = bytes > 0 ? std::clamp(c.value / bytes, r.least_x, r.most_x) : r.least_x;
    out.emplace_back(place(from, c.value), place(r.most_x, c.value));
  }
  for (const Ceiling& c : r.memory) {
    const double left = std::max(r.least_x, r.least_y / c.value);
    const double right = most > 0 ? std::min(r.most_x, most / c.value) : r.most_x;
    out.push_back(left < right ? QLineF(place(left, left * c.value), place(right, right * c.value)) : QLineF());
  }
  return out;
}

void RooflinePlot::paint_ceilings(QPainter& painter) const {
  const auto boxes = ceiling_labels();
  const auto lines = ceiling_lines();
  size_t i = 0;
  const auto paint = [&](const Ceiling& c, const QColor& colour, const char* unit) {
    painter.setPen(QPen(colour, 1.6, c.known ? Qt::SolidLine : Qt::DashLine));
    if (!lines[i].isNull()) painter.drawLine(lines[i]);
    painter.drawText(boxes[i++], Qt::AlignCenter, qt(c.name) + ": " + rate_text(c.value, unit));
  };
  for (const Ceiling& c : roofline_->compute) paint(c, compute_colour(), "flop/s");
  for (const Ceiling& c : roofline_->memory) paint(c, memory_colour(), "B/s");
}

void RooflinePlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (!roofline_ || roofline_->points.empty()) {
    return paint_nothing(painter, roofline_ ? "No kernel of this run has times, bytes and flops." : "");
  }
  painter.setRenderHint(QPainter::Antialiasing);
  paint_axes(painter);
  painter.setClipRect(area().adjusted(-14, -14, 14, 14));
  paint_ceilings(painter);
  for (size_t i = 0; i < roofline_->points.size(); ++i) {
    const RooflinePoint& p = roofline_->points[i];
    QColor fill = p.memory_bound ? memory_colour() : compute_colour();
    const bool strong = p.kernel == selected_ || static_cast<int>(i) == hovered();
    fill.setAlpha(strong ? 255 : 150);
    painter.setBrush(fill);
    painter.setPen(QPen(palette().color(strong ? QPalette::Text : QPalette::Base), strong ? 2.2 : 1));
    painter.drawEllipse(position(static_cast<int>(i)), radius(p), radius(p));
  }
  painter.setPen(palette().color(QPalette::Text));
  for (const auto& [point, box] : labels())
    painter.drawText(box, Qt::AlignCenter, short_name(roofline_->points[static_cast<size_t>(point)]));
  paint_focus(painter);
}

int RooflinePlot::selected_item() const {
  for (size_t i = 0; roofline_ && i < roofline_->points.size(); ++i)
    if (selected_ != trace::kNone && roofline_->points[i].kernel == selected_) return static_cast<int>(i);
  return -1;
}

QString RooflinePlot::text() const {
  if (!roofline_) return {};
  TableModel model(roofline_headers());
  model.set_rows(roofline_rows(*roofline_));
  return roofline_headers().join(" | ") + '\n' + to_text(model);
}

QString RooflinePlot::describe(int point) const {
  const RooflinePoint& p = roofline_->points[static_cast<size_t>(point)];
  return QString("%1 (%2)\n%3 in %4 calls\n%5 flop/B, %6, %7\n%8 % of what %9 allows")
      .arg(qt(p.name), qt(p.graph), qt(draw::format_time(p.ns)))
      .arg(p.calls)
      .arg(QString::number(p.intensity, 'g', 3), rate_text(p.rate, "flop/s"), rate_text(p.bandwidth, "B/s"),
           QString::number(100 * p.reach, 'f', 1), p.memory_bound ? "memory" : "arithmetic");
}

// --------------------------------------------------------------------------------------------------- RooflinePanel

RooflinePanel::RooflinePanel(Context& context, ProfileSource& source, QWidget* parent)
    : QWidget(parent),
      context_(context),
      source_(source),
      summary_(note("summary of the roofline")),
      plot_(new RooflinePlot),
      table_(new LinkTable(context, roofline_headers(), "kernels of the roofline")) {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  bar->addWidget(new RunBox(source, "run shown in the roofline"));
  summary_->setWordWrap(false);
  // Its text must not make the window wide.
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  summary_->setAlignment(Qt::AlignVCenter | Qt::AlignLeft);
  bar->addWidget(summary_, 1);
  layout->addLayout(bar);
  auto* both = new QSplitter;
  both->addWidget(plot_);
  both->addWidget(table_);
  both->setStretchFactor(0, 3);
  both->setStretchFactor(1, 2);
  both->setChildrenCollapsible(false);
  layout->addWidget(both, 1);
  table_->rows().set_numeric({2, 3, 4, 5, 6});
  connect(&source_, &ProfileSource::profileChanged, this, &RooflinePanel::fill);
  connect(&source_, &ProfileSource::choicesChanged, this, [this] {
    if (isVisible()) source_.want();
  });
  connect(&context_, &Context::detailsChanged, this, &RooflinePanel::follow);
  connect(plot_, &RooflinePlot::chosen, this, [this](int point) {
    const RooflinePoint& p = source_.roofline()->points.at(static_cast<size_t>(point));
    context_.select_kernel_of(p.compile, p.kernel);
  });
  fill();
}

void RooflinePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  source_.want();
}

void RooflinePanel::fill() {
  const auto roofline = source_.roofline();
  plot_->set_roofline(roofline);
  table_->set_rows(roofline ? roofline_rows(*roofline) : std::vector<TableRow>());
  if (table_->columnWidth(0) > 160) table_->setColumnWidth(0, 160);
  if (!roofline) return summary_->clear();
  QString text = QString("%1 kernels").arg(roofline->points.size());
  if (roofline->without > 0)
    text += QString("; %1 (%2) have no known flops or bytes")
                .arg(roofline->without)
                .arg(qt(draw::format_time(roofline->without_ns)));
  if (!roofline->points.empty() && !roofline->known()) text += "; ceilings: the highest seen here";
  summary_->setText(text);
  summary_->setToolTip(text);
  follow();
}

void RooflinePanel::follow() {
  const DetailsPtr details = context_.details();
  const trace::Id kernel = details && !details->kernels.empty() ? details->kernels.front().id : trace::kNone;
  plot_->set_selected(kernel);
  if (kernel != trace::kNone) table_->show_row(table_->rows().row_of_kernel(kernel));
}

}  // namespace strata::studio
