// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory: the buffers of a compile over its launches, and what a profile saw allocated.

#include <QPixmap>
#include "app/studio/models/memory_plan.h"

#include "app/studio/views/panels.h"
#include "app/studio/views/plot_base.h"

namespace strata::studio {

/// Buffers as boxes, launches across and bytes up; the launch that uses most is marked. Painted once and kept: what is
/// pointed at or selected is painted over it, so that many thousands stay fluent.
class MemoryMap : public PlotBase {
  Q_OBJECT
 public:
  explicit MemoryMap(QWidget* parent = nullptr);
  void set_plan(MemoryPlan plan);
  const MemoryPlan& plan() const { return plan_; }
  /// The buffer that is drawn as selected, and those that belong to what is selected.
  void set_selected(trace::Id buffer, std::vector<trace::Id> lit = {});
  /// Indices of the blocks that are lit.
  const std::vector<int>& lit() const { return lit_; }
  /// Index of the block at this place; -1 none.
  int block_at(QPointF at) const;
  QRectF block_rect(int block) const;
  int item_at(QPointF at) const override { return block_at(at); }
  QString text() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  QRectF area() const override;
  int item_count() const override { return static_cast<int>(plan_.blocks.size()); }
  int selected_item() const override { return selected_; }
  QString describe(int block) const override;
  void window_changed() override { kept_ = QPixmap(); }

 private:
  void paint_axes(QPainter& painter) const;
  void paint_legend(QPainter& painter) const;
  void paint_blocks(QPainter& painter) const;
  /// Lines from a block to those that share its memory.
  void paint_chain(QPainter& painter, int block) const;
  void paint_peak(QPainter& painter) const;
  MemoryPlan plan_;
  int selected_ = -1;
  std::vector<int> lit_;
  QPixmap kept_;  ///< all but what is pointed at and selected
  bool dark_ = false;
};

/// Allocated and reserved bytes of one device over the time of a profile.
class MemoryCurveView : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryCurveView(QWidget* parent = nullptr);
  void set_curve(const MemoryCurve* curve);
  bool empty() const { return curve_.points.empty(); }

 signals:
  /// An allocation or release was clicked.
  void chosen(trace::Id event);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF area() const;
  /// The point that holds at this place; null without any.
  const MemoryCurve::Point* point_at(double x) const;
  MemoryCurve curve_;
};

class MemoryPanel : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryPanel(Context& context, QWidget* parent = nullptr);
  MemoryMap& map() { return *map_; }
  LinkTable& table() { return *table_; }
  QComboBox& what() { return *what_; }
  QCheckBox& outside_box() { return *outside_; }
  QCheckBox& peak_box() { return *at_peak_; }
  MemoryCurveView& curve() { return *curve_; }
  QString summary() const { return summary_->text(); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void list();
  void fill();
  void fill_table();
  void follow();
  int row_of_block(int block) const;
  void load_curves();
  Context& context_;
  QComboBox* what_;  ///< programs, then curves
  QCheckBox* outside_;
  QCheckBox* at_peak_;
  std::vector<int> blocks_;  ///< of the rows of the table
  QLabel* summary_;
  MemoryMap* map_;
  LinkTable* table_;
  MemoryCurveView* curve_;
  QWidget* plan_page_;
  std::vector<std::pair<trace::Id, std::string>> programs_;
  MemoryCurves curves_;
  bool curves_asked_ = false;
  bool showing_ = false;  ///< the current row changes because of a selection elsewhere
};

}  // namespace strata::studio
