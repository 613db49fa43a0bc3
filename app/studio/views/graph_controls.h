// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Controls of the graph that stand in the toolbar.

#include <QComboBox>

#include "app/studio/models/context.h"

namespace strata::studio {

/// What frames stand for; follows the context.
class GroupBox : public QComboBox {
  Q_OBJECT
 public:
  explicit GroupBox(Context& context, QWidget* parent = nullptr);

 private:
  void choose(int row);
  void follow();

  Context& context_;
};

}  // namespace strata::studio
