// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The timeline: threads and streams, one under the other. Pan by dragging, zoom by the wheel at the pointer, select by
/// clicking. Painted by hand with level of detail: a row costs at most one box per pixel, however many events it has.

#include <QWidget>
#include <unordered_set>
#include <vector>

#include "app/studio/models/context.h"
#include "app/studio/models/timeline.h"

namespace strata::studio {

class TimelineView : public QWidget {
  Q_OBJECT
 public:
  explicit TimelineView(Context& context, QWidget* parent = nullptr);

  void set_timeline(TimelinePtr timeline);
  const TimelinePtr& timeline() const { return timeline_; }
  /// Everything.
  void fit();
  /// Multiplies the scale, keeping the time at x.
  void zoom(double factor, double x);
  /// Moves by pixels.
  void pan(double dx, double dy);
  /// Nanoseconds per pixel.
  double scale() const { return per_pixel_; }
  /// The slice at this place of the widget; null where there is none.
  const Slice* slice_at(QPointF point) const;
  /// Where a slice is on the widget; null rectangle if it is not in the timeline.
  QRectF slice_rect(trace::Id event) const;
  /// Shows a slice: selects it, brings it into view and zooms until it can be seen.
  void show_slice(trace::Id event);
  trace::Id selected() const { return selected_; }
  /// The next slice of this name after the selected one (or of the selected kernel), `by` 1 or -1.
  void step(int by);

 signals:
  /// A slice was selected by the user; null: nothing.
  void selected_slice(const Slice* slice);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// Where a lane stands, before scrolling.
  struct Row {
    const Lane* lane;
    int track;
    int y;
  };
  struct Found {
    const Slice* slice = nullptr;
    size_t row = 0, index = 0;
  };
  void lay_out();
  void clamp();
  double to_x(std::int64_t time) const { return kTitleWidth + (static_cast<double>(time) - left_) / per_pixel_; }
  std::int64_t to_time(double x) const { return static_cast<std::int64_t>(left_ + (x - kTitleWidth) * per_pixel_); }
  Found find(trace::Id event) const;
  void select(const Slice* slice);
  /// Remembers the slice and what it is joined with, so that painting need not search.
  void choose(trace::Id event);
  QString describe(const Slice& slice) const;
  QColor colour(const Slice& slice) const;
  void paint_ruler(QPainter& p);
  void paint_titles(QPainter& p);
  void paint_row(QPainter& p, const Row& row);
  void paint_box(QPainter& p, const Box& box, double y);
  void paint_arrow(QPainter& p);

  static constexpr int kTitleWidth = 150, kRuler = 22, kRowHeight = 17, kTrackGap = 9;

  Context& context_;
  TimelinePtr timeline_;
  std::vector<Row> rows_;
  std::vector<QColor> colours_;  ///< per name; made when the theme or the timeline changes
  std::vector<Box> boxes_;       ///< scratch
  int height_ = 0;               ///< of all rows
  double left_ = 0;              ///< time at the left edge
  double per_pixel_ = 1;
  double scroll_ = 0;
  trace::Id selected_ = trace::kNone;
  Found chosen_;
  std::vector<Found> partners_;  ///< on the other side of a launch
  QPointF press_;
  double press_left_ = 0, press_scroll_ = 0;
  bool pressed_ = false, moved_ = false, dark_ = false;
};

}  // namespace strata::studio
