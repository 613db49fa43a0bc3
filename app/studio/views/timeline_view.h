// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The timeline: threads and streams, one under the other, with what joins them, the gaps of the devices, and a span
/// that is measured. Painted by hand with level of detail: a row costs at most one box per pixel, however many events
/// it has.

#include <QGlyphRun>
#include <QRawFont>
#include <QWidget>
#include <optional>
#include <unordered_map>
#include <vector>

#include "app/studio/models/timeline.h"
#include "app/studio/models/timeline_gaps.h"

namespace strata::studio {

enum class TimelineColour : int { Name = 0, Category, Kernel, Module };

/// Names as glyphs, cut to a width without being shaped again.
class NameText {
 public:
  void reset(const Timeline* timeline, const QFont& font);
  void paint(QPainter& painter, std::uint32_t name, const QRectF& box);

 private:
  struct Entry {
    bool made = false, plain = true;
    QString text;
    QVector<quint32> glyphs;
    QVector<QPointF> places;
    double width = 0;
  };
  const Timeline* timeline_ = nullptr;
  QFont font_;
  QRawFont raw_;
  quint32 dots_ = 0;
  double dots_width_ = 0;
  std::vector<Entry> entries_;
};

class TimelineView : public QWidget {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);

  /// `keep`: what was in view and selected stays (the same run, read again).
  void set_timeline(TimelinePtr timeline, GapPtr gaps = nullptr, bool keep = false);
  const TimelinePtr& timeline() const { return timeline_; }
  const GapPtr& gaps() const { return gaps_; }

  /// Everything.
  void fit();
  /// Multiplies the scale, keeping the time at x.
  void zoom(double factor, double x);
  /// Moves by pixels.
  void pan(double dx, double dy);
  /// Shows a span of time with some room around it.
  void show_span(std::int64_t from, std::int64_t to);
  /// Zooms to the measured span, else to the selected slice or gap.
  void zoom_to_selection();
  /// What was shown before the last jump or zoom, if anything.
  void zoom_back();
  /// Nanoseconds per pixel.
  double scale() const { return per_pixel_; }
  std::int64_t left() const { return static_cast<std::int64_t>(left_); }

  /// The slice at this place of the widget; null where there is none.
  const Slice* slice_at(QPointF point) const;
  /// The gap at this place; null where there is none.
  const Gap* gap_at(QPointF point) const;
  /// Where a slice is on the widget; null rectangle if it is not in the timeline or its track is not shown.
  QRectF slice_rect(trace::Id event) const;
  QRectF gap_rect(const Gap& gap) const;
  /// Brings a slice into view, zooms until it can be seen, and draws it as selected. Nothing is emitted.
  void show_slice(trace::Id event);
  trace::Id selected() const { return selected_; }
  /// The next slice of this name after the selected one, `by` 1 or -1.
  void step(int by);

  const Gap* selected_gap() const { return gap_; }
  void show_gap(const Gap* gap);
  /// The next smaller gap (1) or the next larger (-1); the largest first.
  void step_gap(int by);

  /// Slices that are lit because they belong to what is selected elsewhere.
  void set_lit(std::vector<SlicePlace> places);
  const std::vector<SlicePlace>& lit() const { return lit_; }
  /// Brings the lit slice nearest to the middle into view, unless one can be seen.
  void show_nearest_lit();

  /// The measured span; none: empty.
  std::optional<Span> range() const { return range_; }
  void set_range(std::optional<Span> range);

  /// Only slices whose name is set are in full colour; empty: all.
  void set_matches(std::vector<bool> names);
  void set_colour_by(TimelineColour by);
  void set_all_flows(bool on);

  // Tracks, by index into the timeline.
  const std::vector<int>& order() const { return order_; }
  bool collapsed(int track) const { return states_[static_cast<size_t>(track)].collapsed; }
  bool hidden(int track) const { return states_[static_cast<size_t>(track)].hidden; }
  void set_collapsed(int track, bool on);
  void set_hidden(int track, bool on);
  void collapse_all(bool on);
  void show_all_tracks();
  /// Moves a track up (-1) or down (1) past the next one that is shown.
  void move_track(int track, int by);
  /// The track of the selected slice, else the first one shown; -1 none.
  int current_track() const;

 signals:
  /// A slice was pointed out by the user; null: nothing. `chosen`: clicked or Enter, not merely reached by arrow keys.
  void selected_slice(const Slice* slice, bool chosen);
  void selected_gap_changed(const Gap* gap);
  void range_changed();
  void tracks_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// Where a lane stands, before scrolling.
  struct Row {
    int track;
    std::uint32_t lane;
    int y;
  };
  struct TrackState {
    bool collapsed = false, hidden = false;
  };
  struct Sight {
    double left, per_pixel, scroll;
  };
  const Lane& lane(const Row& row) const { return timeline_->tracks[static_cast<size_t>(row.track)].lanes[row.lane]; }
  void lay_out();
  void tracks_moved();
  void clamp();
  void keep_sight();
  double to_x(std::int64_t time) const { return kTitleWidth + (static_cast<double>(time) - left_) / per_pixel_; }
  std::int64_t to_time(double x) const { return static_cast<std::int64_t>(left_ + (x - kTitleWidth) * per_pixel_); }
  double room() const { return std::max(50, width() - kTitleWidth - 10); }
  int bottom() const { return height() - (legend_shown() ? kLegend : 0); }
  bool legend_shown() const { return height() > 150; }
  /// Row of a lane; -1 where it is not shown.
  int row_of(const SlicePlace& place) const;
  double row_top(int row) const { return rows_[static_cast<size_t>(row)].y - scroll_; }
  QRectF rect_of(const SlicePlace& place) const;
  int track_at(QPointF point) const;
  int row_at(double y) const;
  std::optional<SlicePlace> place_at(QPointF point) const;
  /// Remembers the slice and what it is joined with, so that painting need not search.
  void choose(trace::Id event);
  void select(const Slice* slice, bool chosen);
  void select_gap(const Gap* gap);
  void reveal(const SlicePlace& place);
  void move_selection(int key);
  void bring_row_into_view(int row);
  bool track_key(QKeyEvent* event);
  QString describe(const Slice& slice) const;
  QString describe(const Gap& gap) const;

  void make_colours();
  QColor colour(const Slice& slice) const;
  void paint_ruler(QPainter& p);
  void paint_titles(QPainter& p);
  void paint_row(QPainter& p, const Row& row);
  void paint_box(QPainter& p, const Box& box, double y);
  void paint_gaps(QPainter& p);
  void paint_hatched(QPainter& p, double x0, double x1, double y, const QString& text);
  void paint_lit(QPainter& p);
  void paint_chosen(QPainter& p);
  void paint_flow(QPainter& p, const TimelineFlow& flow);
  void paint_flows(QPainter& p);
  void paint_markers(QPainter& p);
  void paint_range(QPainter& p);
  void paint_legend(QPainter& p);

  static constexpr int kTitleWidth = 150, kScale = 22, kMarks = 16, kRowHeight = 17, kTrackGap = 9, kLegend = 18;

  TimelinePtr timeline_;
  GapPtr gaps_;
  std::vector<TrackState> states_;
  std::vector<int> order_;
  std::vector<Row> rows_;
  std::vector<std::vector<int>> row_of_lane_;  ///< by track and lane
  std::vector<QColor> name_colours_;           ///< per name: by name or by category
  std::unordered_map<trace::Id, QColor> kernel_colours_;
  std::vector<std::pair<QString, QColor>> legend_;
  std::vector<bool> matches_;
  NameText texts_;
  std::vector<Box> boxes_;  ///< scratch
  int ruler_ = kScale;      ///< height of the scale and the names of iterations
  int height_ = 0;          ///< of all rows
  double left_ = 0;         ///< time at the left edge
  double per_pixel_ = 1;
  double scroll_ = 0;
  std::vector<Sight> sights_;
  qint64 last_zoom_ = 0;  ///< when the wheel was turned, so that one turn is one step back
  trace::Id selected_ = trace::kNone;
  std::optional<SlicePlace> chosen_, hovered_;
  std::vector<TimelineFlow> chosen_flows_, hovered_flows_;
  std::vector<SlicePlace> lit_;
  const Gap* gap_ = nullptr;
  std::optional<Span> range_;
  TimelineColour colour_by_ = TimelineColour::Name;
  bool all_flows_ = false, flows_left_out_ = false;
  enum class Drag { None, Pan, Measure, Track } drag_ = Drag::None;
  QPointF press_;
  double press_left_ = 0, press_scroll_ = 0;
  int pressed_track_ = -1;
  bool moved_ = false, dark_ = false;
};

}  // namespace strata::studio
