// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/timeline_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/draw/picture.h"
#include "app/studio/models/lists.h"
#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

/// The span between two marks of the ruler: 1, 2 or 5 times a power of ten, at least 90 pixels.
double mark_step(double per_pixel) {
  const double least = per_pixel * 90;
  const double power = std::pow(10.0, std::floor(std::log10(std::max(least, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (power * factor >= least) return power * factor;
  return power * 10;
}

/// A steady colour for a name, light enough for dark text in the light theme and the reverse in the dark one.
QColor name_colour(const std::string& name, bool dark) {
  std::size_t hash = 1469598103934665603u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  const int hue = static_cast<int>(hash % 360);
  return dark ? QColor::fromHsl(hue, 85, 78) : QColor::fromHsl(hue, 120, 196);
}

}  // namespace

TimelineView::TimelineView(Context& context, QWidget* parent) : QWidget(parent), context_(context) {
  setAccessibleName("timeline");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(260, 90);
  connect(&context_, &Context::selectionChanged, this, [this] { update(); });
}

void TimelineView::set_timeline(TimelinePtr timeline) {
  timeline_ = std::move(timeline);
  colours_.clear();
  lay_out();
  choose(trace::kNone);
  fit();
}

void TimelineView::lay_out() {
  rows_.clear();
  int y = kRuler + 4;
  for (size_t t = 0; timeline_ && t < timeline_->tracks.size(); ++t) {
    for (const Lane& lane : timeline_->tracks[t].lanes) {
      rows_.push_back({&lane, static_cast<int>(t), y});
      y += kRowHeight;
    }
    y += kTrackGap;
  }
  height_ = y;
}

void TimelineView::fit() {
  left_ = 0;
  scroll_ = 0;
  const double width = std::max(50, this->width() - kTitleWidth - 10);
  per_pixel_ = timeline_ ? std::max(1e-3, static_cast<double>(timeline_->duration) / width) : 1;
  update();
}

void TimelineView::clamp() {
  if (!timeline_) return;
  const double width = std::max(50, this->width() - kTitleWidth - 10), all = static_cast<double>(timeline_->duration);
  per_pixel_ = std::clamp(per_pixel_, 0.05, std::max(0.05, 1.2 * all / width));
  left_ = std::clamp(left_, -0.1 * width * per_pixel_, std::max(0.0, all - 0.5 * width * per_pixel_));
  scroll_ = std::clamp(scroll_, 0.0, std::max(0.0, static_cast<double>(height_ - height() + 10)));
}

void TimelineView::zoom(double factor, double x) {
  const double time = left_ + (x - kTitleWidth) * per_pixel_;
  per_pixel_ /= factor;
  clamp();
  left_ = time - (x - kTitleWidth) * per_pixel_;
  clamp();
  update();
}

void TimelineView::pan(double dx, double dy) {
  left_ -= dx * per_pixel_;
  scroll_ -= dy;
  clamp();
  update();
}

const Slice* TimelineView::slice_at(QPointF point) const {
  if (!timeline_ || point.x() < kTitleWidth || point.y() < kRuler) return nullptr;
  const double y = point.y() + scroll_;
  for (const Row& row : rows_) {
    if (y < row.y || y >= row.y + kRowHeight - 1) continue;
    // A slice narrower than a pixel can be hit where it is painted.
    const std::int64_t from = to_time(point.x() - 1), to = to_time(point.x() + 1);
    const Slice* best = nullptr;
    for (size_t i = first_ending_after(*row.lane, from); i < row.lane->size() && (*row.lane)[i].start <= to; ++i) {
      const Slice& s = (*row.lane)[i];
      if (!best || s.duration > best->duration) best = &s;
      if (i > first_ending_after(*row.lane, from) + 64) break;
    }
    return best;
  }
  return nullptr;
}

TimelineView::Found TimelineView::find(trace::Id event) const {
  for (size_t r = 0; r < rows_.size() && event != trace::kNone; ++r)
    for (size_t i = 0; i < rows_[r].lane->size(); ++i)
      if ((*rows_[r].lane)[i].event == event) return {&(*rows_[r].lane)[i], r, i};
  return {};
}

QRectF TimelineView::slice_rect(trace::Id event) const {
  const Found found = find(event);
  if (!found.slice) return {};
  return {to_x(found.slice->start), rows_[found.row].y - scroll_,
          std::max(1.0, static_cast<double>(found.slice->duration) / per_pixel_), kRowHeight - 2.0};
}

void TimelineView::show_slice(trace::Id event) {
  const Found found = find(event);
  if (!found.slice) return;
  choose(event);
  const double room = std::max(50, width() - kTitleWidth);
  if (static_cast<double>(found.slice->duration) / per_pixel_ < 12)
    per_pixel_ = std::max(0.05, static_cast<double>(std::max<std::int64_t>(found.slice->duration, 1)) / 60);
  const double x = to_x(found.slice->start);
  if (x < kTitleWidth + 10 || x > width() - 60)
    left_ = static_cast<double>(found.slice->start) - 0.4 * room * per_pixel_;
  const int y = rows_[found.row].y;
  if (y - scroll_ < kRuler + 4 || y - scroll_ > height() - kRowHeight) scroll_ = y - height() / 2.0;
  clamp();
  update();
}

void TimelineView::choose(trace::Id event) {
  selected_ = event;
  chosen_ = find(event);
  partners_.clear();
  if (!chosen_.slice || chosen_.slice->correlation == 0) return;
  const auto on_device = [&](size_t row) { return timeline_->tracks[static_cast<size_t>(rows_[row].track)].device; };
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (on_device(r) == on_device(chosen_.row)) continue;
    const Lane& lane = *rows_[r].lane;
    for (size_t i = 0; i < lane.size(); ++i)
      if (lane[i].correlation == chosen_.slice->correlation) partners_.push_back({&lane[i], r, i});
  }
}

void TimelineView::select(const Slice* slice) {
  choose(slice ? slice->event : trace::kNone);
  setAccessibleDescription(slice ? describe(*slice) : QString());
  if (slice && slice->kernel) context_.select_kernel(slice->kernel);
  emit selected_slice(slice);
  update();
}

void TimelineView::step(int by) {
  const Found now = chosen_;
  if (!now.slice) return;
  const Lane& lane = *rows_[now.row].lane;
  for (size_t i = now.index + static_cast<size_t>(by); i < lane.size(); i += static_cast<size_t>(by)) {
    if (lane[i].name != now.slice->name) continue;
    select(&lane[i]);
    return show_slice(lane[i].event);
  }
}

QString TimelineView::describe(const Slice& slice) const {
  return QString("%1\n%2, at %3, took %4")
      .arg(qt(timeline_->name(slice)), qt(timeline_->category(slice)),
           qt(draw::format_time(static_cast<double>(slice.start))),
           qt(draw::format_time(static_cast<double>(slice.duration))));
}

// ---------------------------------------------------------------------------------------------------------- painting

QColor TimelineView::colour(const Slice& slice) const { return colours_[slice.name]; }

void TimelineView::paint_box(QPainter& p, const Box& box, double y) {
  const double x0 = std::max(to_x(box.start), static_cast<double>(kTitleWidth)), x1 = to_x(box.end);
  const QRectF area(x0, y, std::max(1.0, x1 - x0), kRowHeight - 2);
  p.fillRect(area, colour(*box.slice));
  if (area.width() < 34 || box.merged > 1) return;
  p.setPen(to_qcolor(colours().text));
  const QString text = p.fontMetrics().elidedText(qt(timeline_->name(*box.slice)).left(200), Qt::ElideRight,
                                                  static_cast<int>(area.width()) - 6);
  p.drawText(area.adjusted(3, 0, -3, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
}

void TimelineView::paint_row(QPainter& p, const Row& row) {
  const double y = row.y - scroll_;
  if (y + kRowHeight < kRuler || y > height()) return;
  visible_boxes(*row.lane, to_time(kTitleWidth), to_time(width()), per_pixel_, boxes_);
  const trace::Id kernel = context_.selection().kernel;
  for (const Box& box : boxes_) {
    paint_box(p, box, y);
    const bool chosen = selected_ != trace::kNone && box.slice->event == selected_;
    const bool related = kernel != trace::kNone && box.slice->kernel == kernel;
    if (!chosen && !related) continue;
    const double x0 = std::max(to_x(box.start), static_cast<double>(kTitleWidth));
    p.setPen(QPen(to_qcolor(chosen ? colours().selected : colours().related), chosen ? 2 : 1));
    p.drawRect(QRectF(x0, y, std::max(1.0, to_x(box.end) - x0), kRowHeight - 2));
  }
}

/// From a launch to what it started on the device, or back.
void TimelineView::paint_arrow(QPainter& p) {
  for (const Found& to : partners_) {
    p.setPen(QPen(to_qcolor(colours().selected), 1.5));
    const double y0 = rows_[chosen_.row].y - scroll_ + kRowHeight / 2.0;
    const double y1 = rows_[to.row].y - scroll_ + kRowHeight / 2.0;
    const double x = to_x(to.slice->start);
    p.drawLine(QPointF(to_x(chosen_.slice->end()), y0), QPointF(x, y1));
    p.drawRect(QRectF(x, rows_[to.row].y - scroll_, std::max(2.0, static_cast<double>(to.slice->duration) / per_pixel_),
                      kRowHeight - 2));
  }
}

void TimelineView::paint_ruler(QPainter& p) {
  p.fillRect(QRectF(0, 0, width(), kRuler), to_qcolor(colours().background));
  const double step = mark_step(per_pixel_);
  const double last = left_ + (width() - kTitleWidth) * per_pixel_;
  for (double t = std::max(0.0, std::floor(left_ / step) * step); t <= last; t += step) {
    const double x = kTitleWidth + (t - left_) / per_pixel_;
    if (x < kTitleWidth) continue;
    p.setPen(to_qcolor(colours().group_border));
    p.drawLine(QPointF(x, kRuler - 6), QPointF(x, kRuler));
    p.setPen(to_qcolor(colours().dim_text));
    p.drawText(QRectF(x + 3, 0, 110, kRuler - 4), Qt::AlignLeft | Qt::AlignVCenter,
               t == 0 ? QString("0") : qt(draw::format_time(t)));
  }
}

void TimelineView::paint_titles(QPainter& p) {
  p.fillRect(QRectF(0, kRuler, kTitleWidth - 2, height()), to_qcolor(colours().background));
  int last = -1;
  for (const Row& row : rows_) {
    if (row.track == last) continue;
    last = row.track;
    const TimelineTrack& track = timeline_->tracks[static_cast<size_t>(row.track)];
    const double y = row.y - scroll_;
    const double tall = kRowHeight * static_cast<double>(track.lanes.size());
    if (y + tall < kRuler || y > height()) continue;
    p.setPen(to_qcolor(colours().text));
    // The title stays in sight while any of its rows is.
    const double at = std::clamp(static_cast<double>(kRuler), y, y + tall - kRowHeight);
    p.drawText(QRectF(6, at, kTitleWidth - 12, kRowHeight), Qt::AlignLeft | Qt::AlignVCenter,
               p.fontMetrics().elidedText(qt(track.title), Qt::ElideRight, kTitleWidth - 14));
    p.setPen(to_qcolor(colours().group_border));
    p.drawLine(QPointF(0, y + tall + kTrackGap / 2.0), QPointF(width(), y + tall + kTrackGap / 2.0));
  }
}

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.fillRect(rect(), to_qcolor(colours().background));
  QFont font = p.font();
  font.setPixelSize(11);
  p.setFont(font);
  if (!timeline_ || timeline_->tracks.empty()) {
    p.setPen(to_qcolor(colours().dim_text));
    p.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
               "Nothing was timed in this trace.\nRun the program with --trace, or import a profile.");
    return;
  }
  if (colours_.empty() || dark_ != dark_theme()) {
    dark_ = dark_theme();
    colours_.clear();
    for (const std::string& name : timeline_->names) colours_.push_back(name_colour(name, dark_));
  }
  p.setClipRect(kTitleWidth, kRuler, width() - kTitleWidth, height() - kRuler);
  for (const Row& row : rows_) paint_row(p, row);
  paint_arrow(p);
  p.setClipping(false);
  paint_titles(p);
  paint_ruler(p);
}

// ------------------------------------------------------------------------------------------------------------- input

void TimelineView::resizeEvent(QResizeEvent*) { clamp(); }

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPoint by = event->angleDelta();
  if (event->modifiers() & Qt::ControlModifier || (event->modifiers() == Qt::NoModifier && by.y() != 0))
    zoom(std::pow(1.2, by.y() / 120.0), event->position().x());
  else if (event->modifiers() & Qt::ShiftModifier)
    pan(0, by.y() / 2.0 + by.x() / 2.0);
  else
    pan(by.x(), 0);
  event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  pressed_ = event->button() == Qt::LeftButton;
  moved_ = false;
  press_ = event->position();
  press_left_ = left_;
  press_scroll_ = scroll_;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (!pressed_) return;
  const QPointF by = event->position() - press_;
  if (by.manhattanLength() > 4) moved_ = true;
  if (!moved_) return;
  left_ = press_left_ - by.x() * per_pixel_;
  scroll_ = press_scroll_ - by.y();
  clamp();
  update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (pressed_ && !moved_) select(slice_at(event->position()));
  pressed_ = false;
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const Slice* slice = slice_at(event->position())) {
    per_pixel_ = std::max(0.05, static_cast<double>(std::max<std::int64_t>(slice->duration, 1)) / (0.6 * width()));
    left_ = static_cast<double>(slice->start) - 0.15 * width() * per_pixel_;
    clamp();
    update();
  }
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const double middle = (kTitleWidth + width()) / 2.0;
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_W:
      return zoom(1.25, middle);
    case Qt::Key_Minus:
    case Qt::Key_S:
      return zoom(0.8, middle);
    case Qt::Key_Left:
    case Qt::Key_A:
      return pan(width() / 8.0, 0);
    case Qt::Key_Right:
    case Qt::Key_D:
      return pan(-width() / 8.0, 0);
    case Qt::Key_Up:
      return pan(0, kRowHeight * 2);
    case Qt::Key_Down:
      return pan(0, -kRowHeight * 2);
    case Qt::Key_F:
    case Qt::Key_0:
      return fit();
    case Qt::Key_N:
      return step(1);
    case Qt::Key_P:
      return step(-1);
    case Qt::Key_Escape:
      return select(nullptr);
    default:
      QWidget::keyPressEvent(event);
  }
}

bool TimelineView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    const Slice* slice = slice_at(help->pos());
    slice ? QToolTip::showText(help->globalPos(), describe(*slice), this) : QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

}  // namespace strata::studio
