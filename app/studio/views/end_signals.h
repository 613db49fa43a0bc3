// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SIGTERM, SIGINT and SIGHUP end the program as closing its window does: the layout is kept, the exit code is 0.

#include <QObject>
#include <functional>

namespace strata::studio {

class EndSignals : public QObject {
  Q_OBJECT
 public:
  /// `end` is called in the thread of this object at the first signal; a second one ends the process at once.
  /// One of them at a time.
  explicit EndSignals(std::function<void()> end, QObject* parent = nullptr);
  ~EndSignals() override;

 private:
  std::function<void()> end_;
};

}  // namespace strata::studio
