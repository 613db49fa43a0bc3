// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Controls of the graph that stand in the toolbar and the menus.

#include <QAction>
#include <QButtonGroup>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QList>
#include <QPushButton>

#include "app/studio/models/context.h"
#include "app/studio/models/user_groups.h"
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

/// What colours stand for; follows the context.
class ColourBox : public QComboBox {
  Q_OBJECT
 public:
  explicit ColourBox(Context& context, QWidget* parent = nullptr);

 private:
  void choose(int row);
  void follow();

  Context& context_;
};

/// Nodes that somebody may want to put into a group.
struct GroupSource {
  QString text;  ///< `the selection (5 nodes)`
  std::vector<trace::NodeId> nodes;
};

/// What is selected, what is highlighted, what was found: those that have nodes, in this order.
std::vector<GroupSource> group_sources(Context& context, GraphView& graph);

/// Asks which nodes, or which rule, and for a name.
class GroupDialog : public QDialog {
  Q_OBJECT
 public:
  GroupDialog(std::vector<GroupSource> sources, const QString& name, QWidget* parent = nullptr);
  /// What was asked for; valid once accepted.
  const draw::UserGroup& group() const { return group_; }
  QLineEdit& name_box() { return *name_; }
  QLineEdit& rule_box() { return *rule_; }
  QButtonGroup& choices() { return *choices_; }
  QPushButton& ok_button() { return *ok_; }
  QString error_text() const { return error_->text(); }

 private:
  void check();
  std::vector<GroupSource> sources_;
  QButtonGroup* choices_;
  QLineEdit* name_;
  QLineEdit* rule_;
  QLabel* error_;
  QPushButton* ok_;
  draw::UserGroup group_;
};

/// `Group these …`, `Ungroup`, `Rename group …`, for the Edit menu. They belong to the view.
QList<QAction*> grouping_actions(Context& context, UserGroups& groups, GraphView& graph);

/// Switches of the highlighting and of the map, that follow the view. They belong to it.
QList<QAction*> graph_actions(GraphView& graph);

}  // namespace strata::studio
