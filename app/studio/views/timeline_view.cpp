// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// What the timeline shows, and how it is moved about and selected in.
#include "app/studio/views/timeline_view.h"

#include <QDateTime>
#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/draw/picture.h"
#include "app/studio/models/lists.h"

namespace strata::studio {
namespace {

QString time_text(std::int64_t ns) { return qt(draw::format_time(static_cast<double>(ns))); }

/// So many views can be gone back to.
constexpr size_t kMostSights = 100;

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QWidget(parent) {
  setAccessibleName("timeline");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(260, 90);
}

void TimelineView::set_timeline(TimelinePtr timeline, GapPtr gaps, bool keep) {
  const Sight sight{left_, per_pixel_, scroll_};
  const trace::Id selected = selected_;
  timeline_ = std::move(timeline);
  gaps_ = std::move(gaps);
  name_colours_.clear();
  matches_.clear();
  lit_.clear();
  sights_.clear();
  gap_ = nullptr;
  range_.reset();
  hovered_.reset();
  hovered_flows_.clear();
  states_.assign(timeline_ ? timeline_->tracks.size() : 0, {});
  order_.clear();
  ruler_ = kScale + (timeline_ && !timeline_->markers.empty() ? kMarks : 0);
  for (size_t t = 0; t < states_.size(); ++t) order_.push_back(static_cast<int>(t));
  // Devices have few rows, and say most; then the thread that launches.
  const auto rank = [&](int track) {
    if (timeline_->tracks[static_cast<size_t>(track)].device) return 0;
    return gaps_ && track == gaps_->host_track ? 1 : 2;
  };
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return rank(a) < rank(b); });
  lay_out();
  choose(trace::kNone);
  fit();
  sights_.clear();
  if (keep) {
    left_ = sight.left;
    per_pixel_ = sight.per_pixel;
    scroll_ = sight.scroll;
    clamp();
    choose(selected);
  }
  emit tracks_changed();
}

void TimelineView::lay_out() {
  rows_.clear();
  row_of_lane_.assign(states_.size(), {});
  int y = ruler_ + 4;
  for (const int track : order_) {
    const auto t = static_cast<size_t>(track);
    const auto lanes = static_cast<std::uint32_t>(timeline_->tracks[t].lanes.size());
    row_of_lane_[t].assign(lanes, -1);
    if (states_[t].hidden) continue;
    for (std::uint32_t l = 0; l < (states_[t].collapsed ? std::min(lanes, 1u) : lanes); ++l) {
      row_of_lane_[t][l] = static_cast<int>(rows_.size());
      rows_.push_back({track, l, y});
      y += kRowHeight;
    }
    y += kTrackGap;
  }
  height_ = y;
}

// ------------------------------------------------------------------------------------------------------ what is shown

void TimelineView::keep_sight() {
  if (!sights_.empty() && sights_.back().left == left_ && sights_.back().per_pixel == per_pixel_ &&
      sights_.back().scroll == scroll_)
    return;
  sights_.push_back({left_, per_pixel_, scroll_});
  if (sights_.size() > kMostSights) sights_.erase(sights_.begin());
}

void TimelineView::zoom_back() {
  if (sights_.empty()) return;
  left_ = sights_.back().left;
  per_pixel_ = sights_.back().per_pixel;
  scroll_ = sights_.back().scroll;
  sights_.pop_back();
  last_zoom_ = 0;
  clamp();
  update();
}

void TimelineView::fit() {
  keep_sight();
  left_ = 0;
  scroll_ = 0;
  per_pixel_ = timeline_ ? std::max(1e-3, static_cast<double>(timeline_->duration) / room()) : 1;
  update();
}

void TimelineView::clamp() {
  if (!timeline_) return;
  const double all = static_cast<double>(timeline_->duration);
  per_pixel_ = std::clamp(per_pixel_, 0.05, std::max(0.05, 1.2 * all / room()));
  left_ = std::clamp(left_, -0.1 * room() * per_pixel_, std::max(0.0, all - 0.5 * room() * per_pixel_));
  scroll_ = std::clamp(scroll_, 0.0, std::max(0.0, static_cast<double>(height_ - bottom() + 10)));
}

void TimelineView::zoom(double factor, double x) {
  // A turn of the wheel comes in many events, and is one step back.
  const qint64 now = QDateTime::currentMSecsSinceEpoch();
  if (now - last_zoom_ > 700) keep_sight();
  last_zoom_ = now;
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

void TimelineView::show_span(std::int64_t from, std::int64_t to) {
  keep_sight();
  per_pixel_ = static_cast<double>(std::max<std::int64_t>(to - from, 1)) / (0.7 * room());
  clamp();
  left_ = static_cast<double>(from) - 0.15 * room() * per_pixel_;
  clamp();
  update();
}

void TimelineView::zoom_to_selection() {
  if (range_) return show_span(range_->first, range_->second);
  if (gap_) return show_span(gap_->start, gap_->end());
  if (chosen_) show_span(timeline_->at(*chosen_).start, timeline_->at(*chosen_).end());
}

void TimelineView::bring_row_into_view(int row) {
  if (row < 0) return;
  const int y = rows_[static_cast<size_t>(row)].y;
  if (y - scroll_ < ruler_ + 4 || y - scroll_ > bottom() - kRowHeight) scroll_ = y - height() / 2.0;
}

void TimelineView::reveal(const SlicePlace& place) {
  const Slice& slice = timeline_->at(place);
  if (states_[place.track].hidden || (states_[place.track].collapsed && place.lane > 0)) {
    states_[place.track] = {};
    lay_out();
    emit tracks_changed();
  }
  const double x0 = to_x(slice.start);
  const bool small = static_cast<double>(slice.duration) / per_pixel_ < 12;
  const bool away = x0 < kTitleWidth - static_cast<double>(slice.duration) / per_pixel_ + 10 || x0 > width() - 60;
  if (small || away) keep_sight();
  if (small) per_pixel_ = std::max(0.05, static_cast<double>(std::max<std::int64_t>(slice.duration, 1)) / 60);
  if (small || away) left_ = static_cast<double>(slice.start) - 0.4 * room() * per_pixel_;
  bring_row_into_view(row_of(place));
  clamp();
  update();
}

// ------------------------------------------------------------------------------------------------------------ finding

int TimelineView::row_of(const SlicePlace& place) const { return row_of_lane_[place.track][place.lane]; }

QRectF TimelineView::rect_of(const SlicePlace& place) const {
  const int row = row_of(place);
  if (row < 0) return {};
  const Slice& s = timeline_->at(place);
  return {to_x(s.start), row_top(row), std::max(1.0, static_cast<double>(s.duration) / per_pixel_), kRowHeight - 2.0};
}

QRectF TimelineView::slice_rect(trace::Id event) const {
  const SlicePlace* place = timeline_ ? timeline_->find(event) : nullptr;
  return place ? rect_of(*place) : QRectF();
}

QRectF TimelineView::gap_rect(const Gap& gap) const {
  const int row = row_of({gaps_->devices[gap.device].tracks.front(), 0, 0});
  if (row < 0) return {};
  return {to_x(gap.start), row_top(row), static_cast<double>(gap.duration) / per_pixel_, kRowHeight - 2.0};
}

int TimelineView::row_at(double y) const {
  y += scroll_;
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), y, [](double at, const Row& row) { return at < row.y; });
  if (after == rows_.begin() || y >= std::prev(after)->y + kRowHeight - 1) return -1;
  return static_cast<int>(after - rows_.begin()) - 1;
}

std::optional<SlicePlace> TimelineView::place_at(QPointF point) const {
  if (!timeline_ || point.x() < kTitleWidth || point.y() < ruler_ || point.y() > bottom()) return {};
  const int row = row_at(point.y());
  if (row < 0) return {};
  // A slice narrower than a pixel can be hit where it is painted.
  const std::int64_t from = to_time(point.x() - 1), to = to_time(point.x() + 1);
  const Row& at = rows_[static_cast<size_t>(row)];
  const Lane& slices = lane(at);
  const size_t first = first_ending_after(slices, from);
  std::optional<SlicePlace> best;
  for (size_t i = first; i < std::min(slices.size(), first + 64) && slices[i].start <= to; ++i)
    if (!best || slices[i].duration > slices[best->index].duration)
      best = SlicePlace{static_cast<std::uint32_t>(at.track), at.lane, static_cast<std::uint32_t>(i)};
  return best;
}

const Slice* TimelineView::slice_at(QPointF point) const {
  const auto place = place_at(point);
  return place ? &timeline_->at(*place) : nullptr;
}

const Gap* TimelineView::gap_at(QPointF point) const {
  if (!gaps_ || point.x() < kTitleWidth || point.y() < ruler_ || point.y() > bottom()) return nullptr;
  const int row = row_at(point.y());
  if (row < 0 || rows_[static_cast<size_t>(row)].lane > 0) return nullptr;
  const Gap* gap = gaps_->at(static_cast<std::uint32_t>(rows_[static_cast<size_t>(row)].track), to_time(point.x()));
  return gap && static_cast<double>(gap->duration) >= 3 * per_pixel_ ? gap : nullptr;
}

int TimelineView::track_at(QPointF point) const {
  if (point.x() >= kTitleWidth || point.y() < ruler_ || point.y() > bottom()) return -1;
  const double y = point.y() + scroll_;
  for (size_t i = rows_.size(); i-- > 0;)
    if (y >= rows_[i].y) return rows_[i].track;
  return -1;
}

// ---------------------------------------------------------------------------------------------------------- selecting

void TimelineView::choose(trace::Id event) {
  selected_ = event;
  chosen_.reset();
  chosen_flows_.clear();
  const SlicePlace* place = timeline_ ? timeline_->find(event) : nullptr;
  if (!place) return;
  chosen_ = *place;
  chosen_flows_ = timeline_->flows_of(*place);
}

void TimelineView::show_slice(trace::Id event) {
  const SlicePlace* place = timeline_ ? timeline_->find(event) : nullptr;
  if (!place) return;
  gap_ = nullptr;
  choose(event);
  reveal(*place);
}

void TimelineView::select(const Slice* slice, bool chosen) {
  choose(slice ? slice->event : trace::kNone);
  if (gap_) emit selected_gap_changed(gap_ = nullptr);
  setAccessibleDescription(slice ? describe(*slice) : QString());
  emit selected_slice(slice, chosen);
  update();
}

void TimelineView::select_gap(const Gap* gap) {
  choose(trace::kNone);
  gap_ = gap;
  setAccessibleDescription(gap ? describe(*gap) : QString());
  emit selected_gap_changed(gap);
  update();
}

void TimelineView::show_gap(const Gap* gap) {
  if (!gap) return select_gap(nullptr);
  const double x0 = to_x(gap->start), x1 = to_x(gap->end());
  if (x1 - x0 < 40 || x0 < kTitleWidth || x1 > width()) show_span(gap->start, gap->end());
  bring_row_into_view(row_of({gaps_->devices[gap->device].tracks.front(), 0, 0}));
  clamp();
  select_gap(gap);
}

void TimelineView::step_gap(int by) {
  if (!gaps_ || gaps_->longest.empty()) return;
  const auto& all = gaps_->longest;
  const auto at = std::find(all.begin(), all.end(), gap_);
  if (at == all.end()) return show_gap(all.front());
  const auto now = at - all.begin() + by;
  if (now >= 0 && now < static_cast<std::ptrdiff_t>(all.size())) show_gap(all[static_cast<size_t>(now)]);
}

void TimelineView::step(int by) {
  if (!chosen_) return;
  const Lane& slices = timeline_->tracks[chosen_->track].lanes[chosen_->lane];
  const std::uint32_t name = slices[chosen_->index].name;
  for (size_t i = chosen_->index + static_cast<size_t>(by); i < slices.size(); i += static_cast<size_t>(by)) {
    if (slices[i].name != name) continue;
    select(&slices[i], true);
    return show_slice(slices[i].event);
  }
}

/// Left and right: the neighbour in the row. Up and down: the row above or below, at the same time.
void TimelineView::move_selection(int key) {
  if (!timeline_ || rows_.empty()) return;
  if (!chosen_ || row_of(*chosen_) < 0) {
    const std::int64_t middle = to_time((kTitleWidth + width()) / 2.0);
    for (const Row& row : rows_) {
      const Lane& slices = lane(row);
      if (slices.empty() || rows_[0].y - scroll_ > bottom()) continue;
      const size_t i = std::min(first_ending_after(slices, middle), slices.size() - 1);
      return select(&slices[i], false), reveal(*chosen_);
    }
    return;
  }
  SlicePlace to = *chosen_;
  const Slice& now = timeline_->at(to);
  if (key == Qt::Key_Left || key == Qt::Key_Right) {
    const Lane& slices = timeline_->tracks[to.track].lanes[to.lane];
    if (key == Qt::Key_Left ? to.index == 0 : to.index + 1 >= slices.size()) return;
    to.index += key == Qt::Key_Left ? -1 : 1;
  } else {
    const int row = row_of(to) + (key == Qt::Key_Up ? -1 : 1);
    if (row < 0 || row >= static_cast<int>(rows_.size())) return;
    const Row& next = rows_[static_cast<size_t>(row)];
    const Lane& slices = lane(next);
    if (slices.empty()) return;
    const size_t i = std::min(first_ending_after(slices, now.start), slices.size() - 1);
    to = {static_cast<std::uint32_t>(next.track), next.lane, static_cast<std::uint32_t>(i)};
  }
  select(&timeline_->at(to), false);
  reveal(to);
}

void TimelineView::set_lit(std::vector<SlicePlace> places) {
  std::sort(places.begin(), places.end(), [](const SlicePlace& a, const SlicePlace& b) {
    return std::tie(a.track, a.lane, a.index) < std::tie(b.track, b.lane, b.index);
  });
  lit_ = std::move(places);
  update();
}

void TimelineView::show_nearest_lit() {
  if (lit_.empty()) return;
  const std::int64_t middle = to_time((kTitleWidth + width()) / 2.0);
  const SlicePlace* best = nullptr;
  for (const SlicePlace& place : lit_) {
    const QRectF area = rect_of(place);
    const bool seen = area.isValid() && area.right() > kTitleWidth && area.left() < width() && area.top() >= ruler_ &&
                      area.bottom() <= bottom();
    if (seen && area.width() >= 3) return;
    const auto far = [&](const SlicePlace& p) { return std::abs(timeline_->at(p).start - middle); };
    // What ran on a device before what launched it.
    const bool device = timeline_->tracks[place.track].device;
    if (!best || (device && !timeline_->tracks[best->track].device) ||
        (device == timeline_->tracks[best->track].device && far(place) < far(*best)))
      best = &place;
  }
  reveal(*best);
}

void TimelineView::set_range(std::optional<Span> range) {
  range_ = range;
  update();
  emit range_changed();
}

void TimelineView::set_matches(std::vector<bool> names) {
  matches_ = std::move(names);
  update();
}

void TimelineView::set_colour_by(TimelineColour by) {
  colour_by_ = by;
  name_colours_.clear();
  update();
}

void TimelineView::set_all_flows(bool on) {
  all_flows_ = on;
  update();
}

// --------------------------------------------------------------------------------------------------------------- text

QString TimelineView::describe(const Slice& slice) const {
  return QString("%1\n%2, at %3, took %4")
      .arg(qt(timeline_->name(slice)).left(1000), qt(timeline_->category(slice)), time_text(slice.start),
           time_text(slice.duration));
}

QString TimelineView::describe(const Gap& gap) const {
  QString text = QString("%1 idle for %2, from %3\n%4: %5")
                     .arg(qt(gaps_->devices[gap.device].title), time_text(gap.duration), time_text(gap.start),
                          reason_name(gap.reason), reason_text(gap.reason));
  for (const Meanwhile& m : host_meanwhile(*timeline_, gap.start, gap.end(), 4))
    text += QString("\nhost: %1, %2").arg(qt(timeline_->name(timeline_->at(m.place))).left(120), time_text(m.time));
  return text;
}

bool TimelineView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int track = track_at(help->pos());
  QString text;
  if (track >= 0)
    text = qt(timeline_->tracks[static_cast<size_t>(track)].title) +
           "\nClick: collapse or expand. Drag: move. Right click: more.";
  else if (help->pos().y() < ruler_)
    text = "Drag here, or with Shift anywhere, to measure";
  else if (const Slice* slice = slice_at(help->pos()))
    text = describe(*slice);
  else if (const Gap* gap = gap_at(help->pos()))
    text = describe(*gap);
  text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace strata::studio
