// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Python source of the selection: what happened at each line in the margin, its time beside the number; and bytecode.

#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QTabBar>
#include <QTextBrowser>

#include "app/studio/models/context.h"
#include "app/studio/models/line_heat.h"
#include "app/studio/models/source_marks.h"
#include "app/studio/views/code_view.h"

namespace strata::studio {

class SourcePanel : public QWidget {
  Q_OBJECT
 public:
  explicit SourcePanel(Context& context, QWidget* parent = nullptr);
  CodeView& view() { return *view_; }
  CodeView& bytecode() { return *bytecode_; }
  QTabBar& pages() { return *pages_; }
  QTextBrowser& card() { return *card_; }
  QLabel& times_label() { return *times_label_; }
  LineTimesPtr times() const { return times_; }
  /// Shows a file at a line (a link in the inspector).
  void show_line(const QString& file, int line);

 signals:
  void view_requested(const QString& name);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* build_card();
  void fill();
  int preferred_item() const;
  void show_item(int index);
  void show_unit(const SourceUnit& unit);
  void show_stack();
  void follow_line(int line);
  /// Reads a file that the selection does not lie in.
  void load(const QString& file, int line);
  void add_marks();
  void add_times();
  void load_times();
  void open_card(int line);
  void follow_link(const QUrl& link);
  void show_page(int page);
  void load_bytecode_text();
  void mark_bytecode();
  Context& context_;
  QTabBar* pages_;
  QComboBox* files_;
  QLabel* times_label_;
  QLabel* hint_;
  QStackedWidget* stack_;
  CodeView* view_;
  CodeView* bytecode_;
  QWidget* card_box_;
  QLabel* card_title_;
  QTextBrowser* card_;
  std::string shown_;  ///< file in the view; empty: the call stack, or nothing
  std::map<int, SourceMark> marks_;
  LineTimesPtr times_;
  bool times_wanted_ = true;  ///< not read since the trace was opened or has grown
  std::shared_ptr<const Bytecode> code_;
  trace::Id code_of_ = trace::kNone;  ///< compile of `code_`
};

}  // namespace strata::studio
