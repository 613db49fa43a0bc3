// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// In the status bar: what is being done when it takes long, how far it is, and a button that cancels it; afterwards,
/// what was cancelled, with a link that takes it up again.

#include <QLabel>
#include <QProgressBar>
#include <QShortcut>
#include <QToolButton>
#include <QWidget>

#include "app/studio/models/job_queue.h"

namespace strata::studio {

class ProgressStrip : public QWidget {
  Q_OBJECT
 public:
  /// Esc cancels, in the whole window, as long as there is something to cancel.
  explicit ProgressStrip(JobQueue& queue, QWidget* parent = nullptr);
  QLabel& label() { return *label_; }
  QProgressBar& bar() { return *bar_; }
  QToolButton& cancel_button() { return *cancel_; }

 private:
  void update_content();
  JobQueue& queue_;
  QLabel* label_;
  QProgressBar* bar_;
  QToolButton* cancel_;
  QShortcut* escape_;
};

}  // namespace strata::studio
