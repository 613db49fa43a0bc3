// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When the window and the first graph were painted, for the benchmark that starts the program (--measure).

#include <QObject>
#include <QString>

namespace strata::studio {

class MainWindow;
class Context;

class StartTimes : public QObject {
  Q_OBJECT
 public:
  StartTimes(MainWindow& window, Context& context);
  /// One line of `name value` pairs: points in time of the monotonic clock in nanoseconds (0: never), and the most
  /// memory of the process in kB.
  QString line() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  MainWindow& window_;
  Context& context_;
  qint64 window_painted_ = 0, graph_painted_ = 0;
};

}  // namespace strata::studio
