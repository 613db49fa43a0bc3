// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A stage without nodes in a pane of its own: its text with the selection's lines marked, its launches or its times.

#include <QComboBox>
#include <QLabel>
#include <QTableView>
#include <QWidget>

#include "app/studio/models/pane.h"
#include "app/studio/models/table_model.h"
#include "app/studio/views/code_view.h"

namespace strata::studio {

class PaneText : public QWidget {
  Q_OBJECT
 public:
  /// The pane outlives the view.
  explicit PaneText(Pane& pane, QWidget* parent = nullptr);
  CodeView& code() { return *code_; }
  QComboBox& units() { return *units_; }
  QTableView& table() { return *table_; }

 private:
  void fill();
  void fill_table();
  void follow();
  void show_unit(int unit);
  int best_unit() const;
  void select_line(int line);
  void select_row(const QModelIndex& index);

  Pane& pane_;
  QComboBox* units_;
  QLabel* hint_;
  CodeView* code_;
  QTableView* table_;
  TableModel* rows_ = nullptr;
  int shown_ = -1;  ///< index of the text that the view has
};

}  // namespace strata::studio
