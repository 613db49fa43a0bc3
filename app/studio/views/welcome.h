// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What stands in the middle of the window before anything was opened.

#include <QTextBrowser>

#include "app/studio/models/recent_files.h"

namespace strata::studio {

class WelcomePage : public QTextBrowser {
  Q_OBJECT
 public:
  explicit WelcomePage(RecentFiles& recent, QWidget* parent = nullptr);
  /// Again, after the theme or the list changed.
  void fill();

 signals:
  void open_requested();
  void import_requested();
  void recent_requested(const QString& path);
  void help_requested();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void follow(const QUrl& link);
  RecentFiles& recent_;
};

}  // namespace strata::studio
