// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages around the graph. Each listens to the context and holds no state of its own but what is scrolled where.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTextBrowser>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/studio/models/context.h"
#include "app/studio/models/lists.h"
#include "app/studio/views/code_panel.h"
#include "app/studio/views/source_panel.h"

namespace strata::studio {

/// The layout of a page, and a line of plain text on it.
QVBoxLayout* column(QWidget* widget);
QLabel* note(const QString& name);

/// A table view over a TableModel whose rows, when chosen, select what they lead to.
class LinkTable : public QTableView {
  Q_OBJECT
 public:
  LinkTable(Context& context, QStringList headers, const QString& name, QWidget* parent = nullptr);
  TableModel& rows() { return *rows_; }
  void set_rows(std::vector<TableRow> rows);
  /// Selects the row without following its link.
  void show_row(int source_row);

 private:
  void follow(const QModelIndex& index);
  Context& context_;
  TableModel* rows_;
  QSortFilterProxyModel* sorted_;
  bool following_ = true;
};

/// Compiles, stages and passes.
class StagePanel : public QWidget {
  Q_OBJECT
 public:
  explicit StagePanel(Context& context, QWidget* parent = nullptr);
  TableModel& model() { return *model_; }
  QTreeView& view() { return *view_; }
  QCheckBox& hide_box() { return *hide_; }

 private:
  void fill_compiles();
  void fill_stages();
  void show_current();
  Context& context_;
  QComboBox* compiles_;
  QLabel* outcome_;
  QTreeView* view_;
  QCheckBox* hide_;
  TableModel* model_;
  QSortFilterProxyModel* filter_;
};

/// All about the selection.
class InspectorPanel : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorPanel(Context& context, QWidget* parent = nullptr);
  QStandardItemModel& model() { return *model_; }

 private:
  void fill();
  void follow(const QModelIndex& index);
  Context& context_;
  QLabel* title_;
  QTreeView* view_;
  QStandardItemModel* model_;
};

/// What changed against the step before, and the rewrites that did it.
class ChangesPanel : public QWidget {
  Q_OBJECT
 public:
  explicit ChangesPanel(Context& context, QWidget* parent = nullptr);
  LinkTable& changes() { return *changes_; }
  LinkTable& rewrites() { return *rewrites_; }

 private:
  void fill();
  void fill_rewrites(const StepPtr& step);
  Context& context_;
  QLabel* summary_;
  LinkTable* changes_;
  LinkTable* rewrites_;
  trace::Id listed_ = trace::kNone;  ///< the stage whose rewrites are listed
  bool filling_ = false;
  QTabWidget* pages_ = nullptr;
};

/// The middle of the window for a stage without nodes.
class TextStagePanel : public QWidget {
  Q_OBJECT
 public:
  explicit TextStagePanel(Context& context, QWidget* parent = nullptr);
  CodePanel& code() { return *code_; }

 private:
  void fill();
  void follow_selection();
  Context& context_;
  QLabel* title_;
  LinkTable* launches_;
  LinkTable* times_;
  CodePanel* code_;
};

/// The first page of a trace: what ran and what is most worth mending.
class OverviewPanel : public QWidget {
  Q_OBJECT
 public:
  explicit OverviewPanel(Context& context, QWidget* parent = nullptr);
  QTextBrowser& text() { return *text_; }
  void theme_changed() { fill(); }

 signals:
  void view_requested(const QString& name);
  /// A compile or kernel was chosen: the graph is to be shown.
  void graph_requested();

 private:
  void fill();
  void follow(const QUrl& link);
  Context& context_;
  QTextBrowser* text_;
};

/// Everything worth mending, as a table.
class ProblemsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit ProblemsPanel(Context& context, QWidget* parent = nullptr);
  LinkTable& table() { return *table_; }

 private:
  QLabel* summary_;
  LinkTable* table_;
};

/// The chain of compiles of a frame, and the guards of the compile that is shown.
class GuardsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit GuardsPanel(Context& context, QWidget* parent = nullptr);
  LinkTable& chain() { return *chain_; }
  LinkTable& guards() { return *guards_; }

 private:
  void fill();
  void follow_selection();
  Context& context_;
  QLabel* summary_;
  LinkTable* chain_;
  LinkTable* guards_;
};

}  // namespace strata::studio
