// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Watches how the pages of a window are laid out, so that changes can be taken back: pages shown, hidden, moved and
/// floated, and the splitters between and inside them.

#include <QDockWidget>
#include <QMainWindow>
#include <QSplitter>
#include <QTimer>
#include <QUndoStack>
#include <map>

namespace strata::studio {

class LayoutHistory : public QObject {
  Q_OBJECT
 public:
  LayoutHistory(QMainWindow& window, QUndoStack& stack);
  /// From here on changes are remembered.
  void start();
  /// What is not to be taken back: the layout that is there now is where changes are counted from.
  void forget();
  /// Remembers a change at once that would be noticed in a moment.
  void look();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Where every page is, without sizes and without which of several tabs is in front.
  QStringList places() const;
  QString name_change(const QStringList& before, const QStringList& now) const;
  void push(const QString& text, const QByteArray& before, const QByteArray& now, const QString& merge);
  void apply(const QByteArray& state);
  void watch(QSplitter& splitter);
  QMainWindow& window_;
  QUndoStack& stack_;
  QTimer soon_;
  bool started_ = false, applying_ = false;
  QByteArray state_, pressed_;
  QStringList places_;
  std::map<QSplitter*, QList<int>> splitters_;
};

}  // namespace strata::studio
