// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// How the timeline is painted.
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/draw/picture.h"
#include "app/studio/models/lists.h"
#include "app/studio/views/theme.h"
#include "app/studio/views/timeline_view.h"

namespace strata::studio {
namespace {

/// More curves than this tell nothing and cost a frame.
constexpr size_t kMostFlows = 250;

/// The span between two marks of the ruler: 1, 2 or 5 times a power of ten, at least 90 pixels.
double mark_step(double per_pixel) {
  const double least = per_pixel * 90;
  const double power = std::pow(10.0, std::floor(std::log10(std::max(least, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (power * factor >= least) return power * factor;
  return power * 10;
}

std::size_t hash_of(const std::string& name) {
  std::size_t hash = 1469598103934665603u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

/// A steady colour, light enough for dark text in the light theme and the reverse in the dark one.
QColor hue_colour(std::size_t hash, bool dark) {
  const int hue = static_cast<int>(hash % 360);
  return dark ? QColor::fromHsl(hue, 85, 78) : QColor::fromHsl(hue, 120, 196);
}

QColor plain_colour(bool dark) { return dark ? QColor(66, 70, 78) : QColor(216, 219, 225); }

QString time_text(double ns) { return qt(draw::format_time(ns)); }

}  // namespace

// ---------------------------------------------------------------------------------------------------------- NameText

void NameText::reset(const Timeline* timeline, const QFont& font) {
  timeline_ = timeline;
  font_ = font;
  raw_ = QRawFont::fromFont(font);
  entries_.assign(timeline ? timeline->names.size() : 0, {});
  const auto dots = raw_.glyphIndexesForString("…");
  dots_ = dots.isEmpty() ? 0 : dots.front();
  dots_width_ = dots_ ? raw_.advancesForGlyphIndexes({dots_}).front().x() : 0;
}

void NameText::paint(QPainter& painter, std::uint32_t name, const QRectF& box) {
  Entry& entry = entries_[name];
  if (!entry.made) {
    entry.made = true;
    entry.text = qt(timeline_->names[name]).left(200);
    entry.glyphs = raw_.glyphIndexesForString(entry.text);
    const bool simple = std::all_of(entry.text.begin(), entry.text.end(), [](QChar c) { return c.unicode() < 0x250; });
    entry.plain = simple && dots_ != 0 && !entry.glyphs.contains(0u);
    for (const QPointF& advance : raw_.advancesForGlyphIndexes(entry.glyphs)) {
      entry.places.append(QPointF(entry.width, 0));
      entry.width += advance.x();
    }
  }
  if (!entry.plain) {
    const QString cut = painter.fontMetrics().elidedText(entry.text, Qt::ElideRight, static_cast<int>(box.width()));
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, cut);
    return;
  }
  const QPointF at(box.left(), std::round(box.center().y() + (raw_.ascent() - raw_.descent()) / 2));
  auto count = static_cast<int>(entry.glyphs.size());
  if (entry.width > box.width()) {
    const auto end = std::upper_bound(entry.places.begin(), entry.places.end(), box.width() - dots_width_,
                                      [](double w, const QPointF& p) { return w < p.x(); });
    count = std::max(0, static_cast<int>(end - entry.places.begin()) - 1);
    if (count == 0) return;
  }
  QGlyphRun run;
  run.setRawFont(raw_);
  run.setRawData(entry.glyphs.constData(), entry.places.constData(), count);
  painter.drawGlyphRun(at, run);
  if (count == entry.glyphs.size()) return;
  const QPointF origin(0, 0);
  run.setRawData(&dots_, &origin, 1);
  painter.drawGlyphRun(at + QPointF(entry.places[count].x(), 0), run);
}

// ----------------------------------------------------------------------------------------------------------- colours

void TimelineView::make_colours() {
  dark_ = dark_theme();
  name_colours_.assign(timeline_->names.size(), plain_colour(dark_));
  kernel_colours_.clear();
  std::unordered_map<std::string, std::pair<QColor, double>> keys;
  for (size_t i = 0; i < timeline_->names.size(); ++i)
    if (colour_by_ == TimelineColour::Name) name_colours_[i] = hue_colour(hash_of(timeline_->names[i]), dark_);
  std::vector<double> categories(timeline_->names.size(), 0);
  std::vector<bool> used(timeline_->names.size(), false);
  std::unordered_map<trace::Id, double> kernels;
  for (const TimelineTrack& track : timeline_->tracks)
    for (const Lane& lane : track.lanes)
      for (const Slice& s : lane) {
        const auto time = static_cast<double>(s.duration);
        categories[s.category] += time;
        used[s.category] = true;
        if (s.kernel != trace::kNone && track.device) kernels[s.kernel] += time;
      }
  if (colour_by_ == TimelineColour::Category) {
    std::size_t number = 0;
    for (size_t i = 0; i < categories.size(); ++i) {
      if (!used[i]) continue;
      name_colours_[i] = hue_colour(211 + 137 * number++, dark_);
      keys[timeline_->names[i]] = {name_colours_[i], categories[i]};
    }
  }
  if (colour_by_ >= TimelineColour::Kernel)
    for (const auto& [id, kernel] : timeline_->kernels) {
      const std::string& key = colour_by_ == TimelineColour::Kernel ? kernel.name : kernel.module;
      if (key.empty()) continue;
      const QColor made = hue_colour(hash_of(key), dark_);
      kernel_colours_[id] = made;
      auto& entry = keys[key];
      entry.first = made;
      entry.second += kernels.contains(id) ? kernels[id] : 0;
    }
  std::vector<std::pair<std::string, std::pair<QColor, double>>> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.second != b.second.second ? a.second.second > b.second.second : a.first < b.first;
  });
  legend_.clear();
  for (const auto& [key, value] : sorted) {
    const QString text = qt(key);
    legend_.emplace_back(text.size() > 40 ? "…" + text.right(39) : text, value.first);
    if (legend_.size() == 40) break;
  }
  if (colour_by_ >= TimelineColour::Kernel)
    legend_.emplace_back(colour_by_ == TimelineColour::Kernel ? "no kernel" : "no module", plain_colour(dark_));
}

QColor TimelineView::colour(const Slice& slice) const {
  QColor made = name_colours_[colour_by_ == TimelineColour::Category ? slice.category : slice.name];
  if (colour_by_ >= TimelineColour::Kernel)
    if (const auto at = kernel_colours_.find(slice.kernel); at != kernel_colours_.end()) made = at->second;
  if (!matches_.empty() && !matches_[slice.name]) made.setAlpha(60);
  return made;
}

// -------------------------------------------------------------------------------------------------------------- rows

void TimelineView::paint_box(QPainter& p, const Box& box, double y) {
  const double x0 = std::max(to_x(box.start), static_cast<double>(kTitleWidth));
  const double wide = std::min(to_x(box.end), static_cast<double>(width()) + 2) - x0;
  // A pixel between neighbours, where there is room for it. Whole pixels are filled several times faster.
  const int left = static_cast<int>(x0), across = static_cast<int>(x0 + wide) - left - (wide > 4 ? 1 : 0);
  const QRect area(left, static_cast<int>(y), std::max(1, across), kRowHeight - 2);
  p.fillRect(area, colour(*box.slice));
  if (area.width() < 30 || box.merged > 1) return;
  texts_.paint(p, box.slice->name, QRectF(area).adjusted(3, 0, -3, 0));
}

void TimelineView::paint_row(QPainter& p, const Row& row) {
  const double y = row.y - scroll_;
  if (y + kRowHeight < ruler_ || y > bottom()) return;
  visible_boxes(lane(row), to_time(kTitleWidth), to_time(width()), per_pixel_, boxes_);
  for (const Box& box : boxes_) paint_box(p, box, y);
}

void TimelineView::paint_lit(QPainter& p) {
  p.setPen(QPen(to_qcolor(colours().related), 1.5));
  double last = -1;
  int last_row = -1;
  for (const SlicePlace& place : lit_) {
    const int row = row_of(place);
    if (row < 0) continue;
    const QRectF area = rect_of(place);
    if (area.right() < kTitleWidth || area.left() > width() || area.bottom() < ruler_ || area.top() > bottom())
      continue;
    if (row == last_row && area.right() < last + 1) continue;
    last = area.right();
    last_row = row;
    p.drawRect(area.adjusted(0, 0, -1, 0));
  }
}

void TimelineView::paint_chosen(QPainter& p) {
  if (!chosen_ || row_of(*chosen_) < 0) return;
  const QRectF area = rect_of(*chosen_).intersected(QRectF(kTitleWidth - 4, 0, width() - kTitleWidth + 8, height()));
  p.setPen(QPen(to_qcolor(colours().selected), 2));
  p.drawRect(area);
}

// -------------------------------------------------------------------------------------------------------------- gaps

void TimelineView::paint_hatched(QPainter& p, double x0, double x1, double y, const QString& text) {
  const QRectF area(x0, y + 1, std::max(1.0, x1 - x0), kRowHeight - 4);
  QColor line = to_qcolor(colours().dim_text);
  line.setAlpha(110);
  p.fillRect(area, QBrush(line, Qt::BDiagPattern));
  if (area.width() < 60) return;
  const double wide = p.fontMetrics().horizontalAdvance(text) + 8;
  if (wide > area.width()) return;
  const QRectF label(area.center().x() - wide / 2, area.top(), wide, area.height());
  p.fillRect(label, to_qcolor(colours().background));
  p.setPen(to_qcolor(colours().dim_text));
  p.drawText(label, Qt::AlignCenter, text);
}

/// Gaps narrower than a few pixels cannot be seen, and there are many of them.
void TimelineView::paint_gaps(QPainter& p) {
  if (!gaps_) return;
  const std::int64_t from = to_time(kTitleWidth), to = to_time(width());
  const double least = 3 * per_pixel_;
  for (const DeviceGaps& device : gaps_->devices)
    for (const std::uint32_t track : device.tracks) {
      const int row = row_of({track, 0, 0});
      if (row < 0 || row_top(row) + kRowHeight < ruler_ || row_top(row) > bottom()) continue;
      auto gap = std::lower_bound(device.gaps.begin(), device.gaps.end(), from,
                                  [](const Gap& g, std::int64_t t) { return g.end() < t; });
      for (; gap != device.gaps.end() && gap->start < to; ++gap) {
        if (static_cast<double>(gap->duration) < least) continue;
        const double x0 = std::max(to_x(gap->start), kTitleWidth - 1.0);
        const double x1 = std::min(to_x(gap->end()), width() + 1.0);
        paint_hatched(p, x0, x1, row_top(row), time_text(static_cast<double>(gap->duration)));
      }
    }
  const int host = gaps_->host_track < 0 ? -1 : row_of({static_cast<std::uint32_t>(gaps_->host_track), 0, 0});
  if (host < 0) return;
  auto idle = std::lower_bound(gaps_->host_idle.begin(), gaps_->host_idle.end(), from,
                               [](const Span& s, std::int64_t t) { return s.second < t; });
  for (; idle != gaps_->host_idle.end() && idle->first < to; ++idle) {
    if (static_cast<double>(idle->second - idle->first) < least) continue;
    paint_hatched(p, std::max(to_x(idle->first), kTitleWidth - 1.0), std::min(to_x(idle->second), width() + 1.0),
                  row_top(host), {});
  }
}

// ------------------------------------------------------------------------------------------------------------- flows

void TimelineView::paint_flow(QPainter& p, const TimelineFlow& flow) {
  const int from = row_of(flow.from), to = row_of(flow.to);
  if (from < 0 || to < 0) return;
  const QRectF a = rect_of(flow.from), b = rect_of(flow.to);
  const QPointF begin(flow.backward ? a.center().x() : a.right(), a.center().y()), end(b.left(), b.center().y());
  const double bend = std::clamp(std::abs(end.x() - begin.x()) / 2, 14.0, 160.0);
  QPainterPath path(begin);
  path.cubicTo(begin + QPointF(bend, 0), end - QPointF(bend, 0), end);
  p.drawPath(path);
  p.drawLine(end, end + QPointF(-4, -3));
  p.drawLine(end, end + QPointF(-4, 3));
}

void TimelineView::paint_flows(QPainter& p) {
  p.setRenderHint(QPainter::Antialiasing);
  p.setBrush(Qt::NoBrush);
  flows_left_out_ = false;
  if (all_flows_) {
    const std::int64_t from = to_time(kTitleWidth), to = to_time(width());
    auto flow = std::lower_bound(timeline_->flows.begin(), timeline_->flows.end(), from - (to - from),
                                 [](const TimelineFlow& f, std::int64_t t) { return f.start < t; });
    std::vector<const TimelineFlow*> seen;
    for (; flow != timeline_->flows.end() && flow->start < to && seen.size() <= kMostFlows; ++flow)
      if (flow->end >= from) seen.push_back(&*flow);
    flows_left_out_ = seen.size() > kMostFlows;
    QColor colour = to_qcolor(colours().dim_text);
    colour.setAlpha(120);
    p.setPen(QPen(colour, 1));
    for (const TimelineFlow* f : seen)
      if (!flows_left_out_) paint_flow(p, *f);
  }
  p.setPen(QPen(to_qcolor(colours().related), 1.3));
  for (const TimelineFlow& flow : hovered_flows_) paint_flow(p, flow);
  p.setPen(QPen(to_qcolor(colours().selected), 1.6));
  for (size_t i = 0; i < std::min(chosen_flows_.size(), kMostFlows); ++i) paint_flow(p, chosen_flows_[i]);
  p.setRenderHint(QPainter::Antialiasing, false);
}

// --------------------------------------------------------------------------------------------------- time and titles

void TimelineView::paint_markers(QPainter& p) {
  QColor line = to_qcolor(colours().related);
  line.setAlpha(150);
  p.setPen(QPen(line, 1, Qt::DashLine));
  double last = -10;
  for (const TimelineMarker& marker : timeline_->markers) {
    const double x = to_x(marker.time);
    if (x < kTitleWidth || x > width() || x < last + 3) continue;
    p.drawLine(QPointF(x, ruler_), QPointF(x, bottom()));
    last = x;
  }
}

void TimelineView::paint_range(QPainter& p) {
  const auto band = [&](std::int64_t from, std::int64_t to, QColor fill) {
    const double x0 = std::max(to_x(from), kTitleWidth - 2.0), x1 = std::min(to_x(to), width() + 2.0);
    if (x1 < kTitleWidth || x0 > width()) return;
    fill.setAlpha(38);
    p.fillRect(QRectF(x0, ruler_, std::max(1.0, x1 - x0), bottom() - ruler_), fill);
    fill.setAlpha(200);
    p.setPen(fill);
    p.drawLine(QPointF(x0, ruler_), QPointF(x0, bottom()));
    p.drawLine(QPointF(x1, ruler_), QPointF(x1, bottom()));
  };
  if (gap_) band(gap_->start, gap_->end(), to_qcolor(colours().selected));
  if (range_) band(range_->first, range_->second, to_qcolor(colours().related));
}

void TimelineView::paint_ruler(QPainter& p) {
  p.fillRect(QRectF(0, 0, width(), ruler_), to_qcolor(colours().background));
  // The length of the measured span stands among the times.
  const QString length = range_ ? time_text(static_cast<double>(range_->second - range_->first)) : QString();
  const double wide_length = p.fontMetrics().horizontalAdvance(length) + 8;
  const double length_x = range_ ? (to_x(range_->first) + to_x(range_->second) - wide_length) / 2 : -1e9;
  const double step = mark_step(per_pixel_);
  const double last = left_ + (width() - kTitleWidth) * per_pixel_;
  for (double t = std::max(0.0, std::floor(left_ / step) * step); t <= last; t += step) {
    const double x = kTitleWidth + (t - left_) / per_pixel_;
    if (x < kTitleWidth) continue;
    p.setPen(to_qcolor(colours().group_border));
    p.drawLine(QPointF(x, kScale - 6), QPointF(x, kScale));
    p.setPen(to_qcolor(colours().dim_text));
    if (x + 80 > length_x && x < length_x + wide_length) continue;
    p.drawText(QRectF(x + 3, 0, 110, kScale - 4), Qt::AlignLeft | Qt::AlignVCenter, t == 0 ? "0" : time_text(t));
  }
  const auto tag = [&](double x, double y, const QString& text, const QColor& fill) {
    const double wide = p.fontMetrics().horizontalAdvance(text) + 8;
    const QRectF box(std::clamp(x, static_cast<double>(kTitleWidth), std::max<double>(kTitleWidth, width() - wide)), y,
                     wide, kMarks - 1);
    p.fillRect(box, fill);
    p.setPen(to_qcolor(colours().background));
    p.drawText(box, Qt::AlignCenter, text);
    return box.right();
  };
  double taken = kTitleWidth - 10;
  for (const TimelineMarker& marker : timeline_->markers) {
    const double x = to_x(marker.time);
    if (x < std::max<double>(kTitleWidth, taken + 6) || x > width() - 20) continue;
    taken = tag(x, kScale, qt(marker.name).left(40), to_qcolor(colours().dim_text));
  }
  if (range_) tag(length_x, 2, length, to_qcolor(colours().related));
}

void TimelineView::paint_titles(QPainter& p) {
  p.fillRect(QRectF(0, ruler_, kTitleWidth - 2, height()), to_qcolor(colours().background));
  int last = -1;
  for (const Row& row : rows_) {
    if (row.track == last) continue;
    last = row.track;
    const TimelineTrack& track = timeline_->tracks[static_cast<size_t>(row.track)];
    const double y = row.y - scroll_;
    const bool folded = collapsed(row.track);
    const double tall = kRowHeight * (folded ? 1.0 : static_cast<double>(track.lanes.size()));
    if (y + tall < ruler_ || y > bottom()) continue;
    // The title stays in sight while any of its rows is.
    const double at = std::clamp(static_cast<double>(ruler_), y, y + tall - kRowHeight);
    p.setPen(to_qcolor(colours().dim_text));
    if (track.lanes.size() > 1)
      p.drawText(QRectF(4, at, 12, kRowHeight), Qt::AlignLeft | Qt::AlignVCenter, folded ? "▸" : "▾");
    p.setPen(to_qcolor(row.track == pressed_track_ && drag_ == Drag::Track ? colours().selected : colours().text));
    p.drawText(QRectF(18, at, kTitleWidth - 24, kRowHeight), Qt::AlignLeft | Qt::AlignVCenter,
               p.fontMetrics().elidedText(qt(track.title).left(100), Qt::ElideRight, kTitleWidth - 26));
    p.setPen(to_qcolor(colours().group_border));
    p.drawLine(QPointF(0, y + tall + kTrackGap / 2.0), QPointF(width(), y + tall + kTrackGap / 2.0));
  }
}

void TimelineView::paint_legend(QPainter& p) {
  if (!legend_shown()) return;
  p.fillRect(QRectF(0, bottom(), width(), kLegend), to_qcolor(colours().background));
  double x = 6;
  const double y = bottom();
  const auto entry = [&](const QString& text, const QBrush& fill) {
    const double wide = p.fontMetrics().horizontalAdvance(text);
    if (x + wide + 20 > width()) return false;
    p.fillRect(QRectF(x, y + 4, 11, 11), fill);
    p.setPen(to_qcolor(colours().dim_text));
    p.drawText(QRectF(x + 15, y, wide + 2, kLegend), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += wide + 28;
    return true;
  };
  if (gaps_ && !gaps_->by_start.empty()) entry("idle", QBrush(to_qcolor(colours().dim_text), Qt::BDiagPattern));
  if (flows_left_out_) entry("zoom in to see the arrows", QBrush(Qt::NoBrush));
  if (legend_.empty()) entry("one colour per name", QBrush(hue_colour(211, dark_)));
  for (const auto& [text, fill] : legend_)
    if (!entry(text, fill)) break;
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
               timeline_ ? "Nothing was timed in this trace.\nRun the program with --trace, or import a profile." : "");
    return;
  }
  if (name_colours_.empty() || dark_ != dark_theme()) {
    make_colours();
    texts_.reset(timeline_.get(), font);
  }
  p.setClipRect(kTitleWidth, ruler_, width() - kTitleWidth, bottom() - ruler_);
  paint_gaps(p);
  p.setPen(to_qcolor(colours().text));
  for (const Row& row : rows_) paint_row(p, row);
  paint_markers(p);
  paint_range(p);
  paint_lit(p);
  paint_flows(p);
  paint_chosen(p);
  p.setClipping(false);
  paint_titles(p);
  paint_ruler(p);
  paint_legend(p);
  if (hasFocus()) {
    p.setPen(palette().color(QPalette::Highlight));
    p.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

}  // namespace strata::studio
