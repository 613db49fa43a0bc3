// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where in the compile one is: a slider over the stages, one over the rewrites of the pass, and what the step did.

#include <QLabel>
#include <QSlider>
#include <QToolButton>
#include <QWidget>
#include <vector>

#include "app/studio/models/context.h"
#include "app/studio/models/step_text.h"

namespace strata::studio {

/// A slider that goes where one clicks, with a tick for every place; some ticks are stronger.
class TickSlider : public QSlider {
  Q_OBJECT
 public:
  explicit TickSlider(const QString& name, QWidget* parent = nullptr);
  void set_strong(std::vector<char> strong);
  /// The middle of the handle at this value.
  QPoint point_of(int value) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  std::vector<char> strong_;
};

/// A line of text that is cut to the width there is, with its whole in the tooltip.
class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  explicit ElidedLabel(const QString& name, QWidget* parent = nullptr);
  void set_whole(const QString& text, Qt::TextElideMode mode = Qt::ElideRight);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();
  QString whole_;
  Qt::TextElideMode mode_ = Qt::ElideRight;
};

class StepBar : public QWidget {
  Q_OBJECT
 public:
  explicit StepBar(Context& context, QWidget* parent = nullptr);

  TickSlider& stages() { return *stages_; }
  TickSlider& rewrites() { return *rewrites_; }
  QToolButton& removed_button() { return *removed_; }
  /// What the line says, without its links.
  QString line_text() const;
  QLabel& line() { return *line_; }
  QString place_text() const { return rewrite_place_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QToolButton* button(const QString& text, const QString& name, const QString& tip);
  void list_stages();
  void follow_wanted();
  void show_step();
  void fit_line();
  void follow_removed();

  Context& context_;
  TickSlider *stages_, *rewrites_;
  ElidedLabel *stage_, *place_;
  QLabel* line_;
  QToolButton *removed_, *next_rewrite_, *last_rewrite_;
  std::vector<trace::Id> snapshots_;  ///< by value of the slider
  std::vector<StepPiece> pieces_;
  QString rewrite_place_;
};

}  // namespace strata::studio
