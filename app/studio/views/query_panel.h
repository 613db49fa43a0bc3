// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A filter box over nodes and events, with completion (Ctrl+Space) and what was looked for before (arrow keys).

#include <QCompleter>
#include <QPushButton>
#include <QStackedWidget>
#include <QStringListModel>

#include "app/query/query_words.h"
#include "app/studio/models/query_box.h"
#include "app/studio/views/panels.h"

namespace strata::studio {

class QueryPanel : public QWidget {
  Q_OBJECT
 public:
  /// `lasting`: kept queries are kept in the user's settings.
  QueryPanel(Context& context, bool lasting, QWidget* parent = nullptr);
  QLineEdit& box() { return *box_; }
  QComboBox& of() { return *of_; }
  QComboBox& scope() { return *scope_; }
  QComboBox& saved() { return *saved_; }
  QPushButton& keep_button() { return *keep_; }
  /// The table that is shown.
  LinkTable& table() { return *(pages_->currentIndex() == 0 ? nodes_ : events_); }
  QString summary() const { return summary_->text(); }
  QCompleter& completer() { return *completer_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Offers what can stand at the cursor. `wanted`: also where nothing was typed yet.
  void offer(bool wanted);
  void insert(const QString& word);
  void load_values();
  void show_error(const QueryResult& result);
  void run();
  void show_result(const QueryResult& result);
  void list_saved();
  /// Keeps what is in the box, or forgets it.
  void keep();
  Context& context_;
  SavedQueries kept_;
  QLineEdit* box_;
  QComboBox* of_;
  QComboBox* scope_;
  QComboBox* saved_;
  QPushButton* keep_;
  QLabel* summary_;
  QStackedWidget* pages_;
  LinkTable* nodes_;
  LinkTable* events_;
  QueryHistory history_;
  QCompleter* completer_;
  QStringListModel* words_;
  QueryCompletion completion_;
  bool values_asked_ = false;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;  ///< of each key, in this trace
};

}  // namespace strata::studio
