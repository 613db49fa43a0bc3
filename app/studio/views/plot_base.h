// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What plots of items have in common: pointing, selecting, tooltips, zoom and pan in both directions, keys.

#include <QWidget>

namespace strata::studio {

/// Items are numbered from 0. Places are given as parts of the whole, 0 to 1 across and up; what of it is in view is
/// the window. Wheel zooms (with Shift only across, with Ctrl only up), drag pans, click selects; arrow keys go through
/// the items, Enter selects again, + and − zoom, Ctrl+arrows pan, F shows everything.
class PlotBase : public QWidget {
  Q_OBJECT
 public:
  explicit PlotBase(const QString& name, QWidget* parent = nullptr);
  /// Everything.
  void fit();
  /// Multiplies the scales, keeping what is at this place of the widget.
  void zoom(double across, double up, QPointF at);
  /// Moves by pixels.
  void pan(QPointF by);
  bool zoomed() const { return window_ != QRectF(0, 0, 1, 1); }
  /// The items as text, for copying.
  virtual QString text() const = 0;
  /// Index of the item at this place of the widget; -1 none.
  virtual int item_at(QPointF at) const = 0;

 signals:
  void chosen(int item);

 protected:
  virtual QRectF area() const = 0;
  virtual int item_count() const = 0;
  virtual int selected_item() const = 0;
  virtual QString describe(int item) const = 0;
  /// What is in view was changed.
  virtual void window_changed() {}

  QPointF to_widget(double across, double up) const;
  QPointF to_part(QPointF at) const;
  const QRectF& window() const { return window_; }
  int hovered() const { return hovered_; }
  void forget_hovered() { hovered_ = -1; }
  void paint_focus(QPainter& painter) const;
  void paint_nothing(QPainter& painter, const QString& text) const;

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
  void set_window(QRectF window);
  void copy() const;
  QRectF window_{0, 0, 1, 1};
  int hovered_ = -1;
  bool pressed_ = false, moved_ = false;
  QPointF press_, last_;
};

}  // namespace strata::studio
