// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Uses a window as nobody would: clicks, keys and wheel at random, always the same for the same seed.

#include <QTimer>
#include <random>

#include "app/studio/views/main_window.h"

namespace strata::test {

class Monkey {
 public:
  Monkey(studio::Context& context, studio::MainWindow& window, unsigned seed);
  /// Every page once, brought up and painted.
  void visit_all();
  /// `actions` times something. False when work did not come to an end.
  bool play(int actions);
  /// How many it takes: STRATA_MONKEY in the environment, else `usual`.
  static int actions(int usual);

 private:
  QWidget* any_widget();
  QPoint any_place(const QWidget& widget);
  void click();
  void key();
  void wheel();
  void go();
  void act();
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  studio::Context& context_;
  studio::MainWindow& window_;
  std::mt19937 random_;
  QTimer closer_;  ///< dialogs and menus that came up are closed
};

}  // namespace strata::test
