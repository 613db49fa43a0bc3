// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The whole graph, small, in a corner of the view: what is in view is framed, and dragging the frame moves the view.

#include <QColor>
#include <QPixmap>
#include <QWidget>
#include <vector>

#include "app/studio/models/step.h"

namespace strata::studio {

class Minimap : public QWidget {
  Q_OBJECT
 public:
  explicit Minimap(QWidget* parent);

  /// Another graph, or the same in other colours (one for each node). Takes the size that suits its shape.
  void set_graph(const StepPtr& step, std::vector<QColor> fills);
  /// The part of the graph that is in view.
  void set_view(const QRectF& scene);
  /// A place of the graph, on this widget.
  QPointF to_map(QPointF scene) const;

 signals:
  /// The place that the view's middle is to show.
  void moved(QPointF scene);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void drag(QPointF at);
  void render();

  static constexpr double kLongest = 200, kShortest = 48;  ///< sides, in pixels
  StepPtr step_;
  std::vector<QColor> fills_;
  QPixmap picture_;
  QRectF view_;
  double x_scale_ = 1, y_scale_ = 1;
  QPointF grip_;  ///< from where it is held to the middle of the frame
};

}  // namespace strata::studio
