// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Controls of the graph that stand in the toolbar.

#include <QAction>
#include <QComboBox>
#include <QList>

#include "app/studio/models/context.h"
#include "app/studio/views/graph_view.h"

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

/// Switches of the highlighting and of the map, that follow the view. They belong to it.
QList<QAction*> graph_actions(GraphView& graph);

}  // namespace strata::studio
