// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory: the buffers of a compile over its launches, and what a profile saw allocated.

#include "app/studio/models/memory_plan.h"
#include "app/studio/views/panels.h"

namespace strata::studio {

/// Buffers as boxes, launches across and bytes up; the launch that uses most is marked. Arrow keys go from buffer to
/// buffer, click selects.
class MemoryMap : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryMap(QWidget* parent = nullptr);
  void set_plan(MemoryPlan plan);
  const MemoryPlan& plan() const { return plan_; }
  /// The buffers of this node are drawn as selected.
  void set_selected(trace::NodeId node);
  /// Index of the block at this place; -1 none.
  int block_at(QPointF at) const;
  QRectF block_rect(int block) const;

 signals:
  void chosen(int block);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF area() const;
  bool strong(size_t block) const;
  void paint_axes(QPainter& painter) const;
  void paint_legend(QPainter& painter) const;
  void paint_blocks(QPainter& painter) const;
  /// Lines from a selected block to those that share its memory.
  void paint_chain(QPainter& painter) const;
  void paint_peak(QPainter& painter) const;
  QString describe(int block) const;
  MemoryPlan plan_;
  trace::NodeId selected_ = 0;
  int hovered_ = -1;
};

/// Allocated and reserved bytes of one device over the time of a profile.
class MemoryCurveView : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryCurveView(QWidget* parent = nullptr);
  void set_curve(const MemoryCurve* curve);
  bool empty() const { return curve_.points.empty(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF area() const;
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
  MemoryCurveView& curve() { return *curve_; }
  QString summary() const { return summary_->text(); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void list();
  void fill();
  void load_curves();
  Context& context_;
  QComboBox* what_;  ///< programs, then curves
  QCheckBox* outside_;
  QLabel* summary_;
  MemoryMap* map_;
  LinkTable* table_;
  MemoryCurveView* curve_;
  QWidget* plan_page_;
  std::vector<std::pair<trace::Id, std::string>> programs_;
  MemoryCurves curves_;
  bool curves_asked_ = false;
};

}  // namespace strata::studio
