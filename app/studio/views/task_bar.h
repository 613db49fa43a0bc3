// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work outside the job queue that a person waits for (an import, a report): what it is, how far it is, a button that
/// cancels it.

#include <QFrame>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

namespace strata::studio {

class TaskBar : public QFrame {
  Q_OBJECT
 public:
  explicit TaskBar(QWidget* parent = nullptr);
  /// Shows the bar. `part` from 0 to 1; negative: unknown.
  void show_progress(const QString& text, double part);
  QPushButton& cancel_button() { return *cancel_; }
  QString text() const { return text_->text(); }

 signals:
  void cancelled();

 private:
  QLabel* text_;
  QProgressBar* bar_;
  QPushButton* cancel_;
};

}  // namespace strata::studio
