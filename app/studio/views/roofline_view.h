// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The roofline of a run: a plot, and the same kernels as a list.

#include "app/studio/models/profile_source.h"
#include "app/studio/views/panels.h"
#include "app/studio/views/plot_base.h"
#include "app/studio/views/profile_panel.h"

namespace strata::studio {

/// One dot per kernel on logarithmic axes under the ceilings; the area of a dot is its time. Arrow keys go through the
/// kernels by time, click selects.
class RooflinePlot : public PlotBase {
  Q_OBJECT
 public:
  explicit RooflinePlot(QWidget* parent = nullptr);
  void set_roofline(std::shared_ptr<const Roofline> roofline);
  /// Which kernel is drawn as selected.
  void set_selected(trace::Id kernel);
  /// Index of the point at this place; -1 none.
  int point_at(QPointF at) const;
  /// Where a point is drawn.
  QPointF position(int point) const;
  /// Where labels of points stand, as they are painted: none lies on another.
  std::vector<std::pair<int, QRectF>> labels() const;

  int item_at(QPointF at) const override { return point_at(at); }
  QString text() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  QRectF area() const override;
  int item_count() const override { return roofline_ ? static_cast<int>(roofline_->points.size()) : 0; }
  int selected_item() const override;
  QString describe(int point) const override;

 private:
  QPointF place(double intensity, double rate) const;
  double radius(const RooflinePoint& point) const;
  void paint_axes(QPainter& painter) const;
  void paint_legend(QPainter& painter) const;
  void paint_ceilings(QPainter& painter) const;
  std::vector<QLineF> ceiling_lines() const;
  std::vector<QRectF> ceiling_labels() const;
  std::shared_ptr<const Roofline> roofline_;
  trace::Id selected_ = trace::kNone;
};

class RooflinePanel : public QWidget {
  Q_OBJECT
 public:
  RooflinePanel(Context& context, ProfileSource& source, QWidget* parent = nullptr);
  RooflinePlot& plot() { return *plot_; }
  LinkTable& table() { return *table_; }
  QString summary() const { return summary_->text(); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void fill();
  void follow();
  Context& context_;
  ProfileSource& source_;
  QLabel* summary_;
  RooflinePlot* plot_;
  LinkTable* table_;
};

}  // namespace strata::studio
