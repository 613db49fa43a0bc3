// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The timeline by mouse and keyboard, and its rows.
#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "app/studio/views/timeline_view.h"

namespace strata::studio {

// ------------------------------------------------------------------------------------------------------------- tracks

void TimelineView::set_collapsed(int track, bool on) {
  states_.at(static_cast<size_t>(track)).collapsed = on;
  tracks_moved();
}

void TimelineView::set_hidden(int track, bool on) {
  states_.at(static_cast<size_t>(track)).hidden = on;
  tracks_moved();
}

void TimelineView::collapse_all(bool on) {
  for (TrackState& state : states_) state.collapsed = on;
  tracks_moved();
}

void TimelineView::show_all_tracks() {
  for (TrackState& state : states_) state.hidden = false;
  tracks_moved();
}

void TimelineView::tracks_moved() {
  lay_out();
  clamp();
  update();
  emit tracks_changed();
}

void TimelineView::move_track(int track, int by) {
  const auto at = std::find(order_.begin(), order_.end(), track);
  auto other = at;
  do {
    if (other == (by < 0 ? order_.begin() : std::prev(order_.end()))) return;
    other += by < 0 ? -1 : 1;
  } while (hidden(*other));
  by < 0 ? std::rotate(other, at, std::next(at)) : std::rotate(at, std::next(at), std::next(other));
  tracks_moved();
}

int TimelineView::current_track() const {
  if (chosen_) return static_cast<int>(chosen_->track);
  return rows_.empty() ? -1 : rows_.front().track;
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  const int at = event->reason() == QContextMenuEvent::Keyboard ? current_track() : track_at(event->pos());
  const int row = row_at(event->pos().y());
  const int track = at >= 0 ? at : row >= 0 ? rows_[static_cast<size_t>(row)].track : -1;
  if (track < 0) return;
  QMenu menu(this);
  menu.addAction(collapsed(track) ? "Expand track (C)" : "Collapse track (C)",
                 [this, track] { set_collapsed(track, !collapsed(track)); });
  menu.addAction("Hide track (X)", [this, track] { set_hidden(track, true); });
  menu.addAction("Move up (Ctrl+↑)", [this, track] { move_track(track, -1); });
  menu.addAction("Move down (Ctrl+↓)", [this, track] { move_track(track, 1); });
  menu.addSeparator();
  menu.addAction("Show all tracks (Shift+X)", [this] { show_all_tracks(); });
  menu.exec(event->globalPos());
}

// -------------------------------------------------------------------------------------------------------------- mouse

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
  drag_ = Drag::None;
  moved_ = false;
  if (!timeline_ || event->button() != Qt::LeftButton) return;
  press_ = event->position();
  press_left_ = left_;
  press_scroll_ = scroll_;
  pressed_track_ = track_at(press_);
  const bool ruler = press_.y() < ruler_ && press_.x() >= kTitleWidth;
  drag_ = pressed_track_ >= 0                                      ? Drag::Track
          : ruler || (event->modifiers() & Qt::ShiftModifier) != 0 ? Drag::Measure
                                                                   : Drag::Pan;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (drag_ == Drag::None) {
    const auto place = place_at(event->position());
    if (place == hovered_) return;
    hovered_ = place;
    const bool had = !hovered_flows_.empty();
    hovered_flows_ = place ? timeline_->flows_of(*place) : std::vector<TimelineFlow>();
    if (had || !hovered_flows_.empty()) update();
    return;
  }
  const QPointF by = event->position() - press_;
  if (by.manhattanLength() > 4) moved_ = true;
  if (!moved_) return;
  if (drag_ == Drag::Measure) {
    const std::int64_t a = to_time(std::max<double>(press_.x(), kTitleWidth)),
                       b = to_time(std::clamp<double>(event->position().x(), kTitleWidth, width()));
    range_ = Span{std::min(a, b), std::max(a, b)};
  } else if (drag_ == Drag::Pan) {
    left_ = press_left_ - by.x() * per_pixel_;
    scroll_ = press_scroll_ - by.y();
    clamp();
  } else {
    const int over = track_at(event->position());
    if (over < 0 || over == pressed_track_) return;
    const auto place = [&](int track) { return std::find(order_.begin(), order_.end(), track) - order_.begin(); };
    return move_track(pressed_track_, place(over) < place(pressed_track_) ? -1 : 1);
  }
  update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = std::exchange(drag_, Drag::None);
  const int track = std::exchange(pressed_track_, -1);
  if (drag == Drag::None) return;
  update();
  if (drag == Drag::Measure && moved_) return emit range_changed();
  if (moved_) return;
  if (drag == Drag::Track) return set_collapsed(track, !collapsed(track));
  const Slice* slice = slice_at(event->position());
  const Gap* gap = slice ? nullptr : gap_at(event->position());
  gap ? select_gap(gap) : select(slice, true);
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const Slice* slice = slice_at(event->position())) return show_span(slice->start, slice->end());
  if (const Gap* gap = gap_at(event->position())) show_span(gap->start, gap->end());
}

void TimelineView::leaveEvent(QEvent*) {
  hovered_.reset();
  hovered_flows_.clear();
  update();
}

// ----------------------------------------------------------------------------------------------------------- keyboard

/// Keys that change tracks.
bool TimelineView::track_key(QKeyEvent* event) {
  const int track = current_track();
  if (track < 0) return false;
  const bool shift = event->modifiers() & Qt::ShiftModifier, control = event->modifiers() & Qt::ControlModifier;
  if (event->key() == Qt::Key_C && !control)
    shift ? collapse_all(!collapsed(track)) : set_collapsed(track, !collapsed(track));
  else if (event->key() == Qt::Key_X && !control)
    shift ? show_all_tracks() : set_hidden(track, true);
  else if (control && (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down))
    move_track(track, event->key() == Qt::Key_Up ? -1 : 1);
  else
    return false;
  return true;
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (!timeline_ || track_key(event)) return;
  if (event->matches(QKeySequence::Copy)) {
    if (gap_ || chosen_) QApplication::clipboard()->setText(gap_ ? describe(*gap_) : describe(timeline_->at(*chosen_)));
    return;
  }
  const double middle = (kTitleWidth + width()) / 2.0;
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_W:
      return zoom(1.25, middle);
    case Qt::Key_Minus:
    case Qt::Key_S:
      return zoom(0.8, middle);
    case Qt::Key_A:
      return pan(width() / 8.0, 0);
    case Qt::Key_D:
      return pan(-width() / 8.0, 0);
    case Qt::Key_PageUp:
      return pan(0, height() / 2.0);
    case Qt::Key_PageDown:
      return pan(0, -height() / 2.0);
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
      return move_selection(event->key());
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (chosen_) select(&timeline_->at(*chosen_), true);
      return;
    case Qt::Key_F:
    case Qt::Key_0:
      return fit();
    case Qt::Key_Z:
      return zoom_to_selection();
    case Qt::Key_Backspace:
      return zoom_back();
    case Qt::Key_G:
      return step_gap(shift ? -1 : 1);
    case Qt::Key_R:
      if (gap_) return set_range(Span{gap_->start, gap_->end()});
      if (chosen_) set_range(Span{timeline_->at(*chosen_).start, timeline_->at(*chosen_).end()});
      return;
    case Qt::Key_N:
      return step(1);
    case Qt::Key_P:
      return step(-1);
    case Qt::Key_Escape:
      return range_ ? set_range({}) : select(nullptr, true);
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace strata::studio
