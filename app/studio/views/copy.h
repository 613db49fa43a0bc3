// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything that is shown can be copied as text: Ctrl+C, and the menu of the right button.

#include <QWidget>
#include <functional>
#include <vector>

namespace strata::studio {

struct CopyEntry {
  QString text;                   ///< of the menu, with mnemonic
  std::function<QString()> make;  ///< what is copied; nothing is copied if it is empty
};

/// Puts actions on a widget; the first has Ctrl+C. They are its menu, unless it has one of its own (then `actions()`
/// has them too). A second call for the same widget is ignored.
void install_copy(QWidget& widget, std::vector<CopyEntry> entries);

/// Tables, trees, texts and graphs under `window` get theirs when they are shown first, also those made later.
class CopyEverywhere : public QObject {
 public:
  explicit CopyEverywhere(QWidget& window);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget& window_;
};

}  // namespace strata::studio
