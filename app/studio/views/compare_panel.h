// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The page that compares two runs, graphs, compiles or ranks, of one trace or of two.

#include <QPushButton>

#include "app/studio/models/comparison.h"
#include "app/studio/views/compare_graph_page.h"
#include "app/studio/views/compare_table.h"

namespace strata::studio {

/// By kernel, operator, module and line.
class CompareProfilePage : public QWidget {
  Q_OBJECT
 public:
  CompareProfilePage(Context& context, Comparison& comparison, QWidget* parent = nullptr);
  void fill();
  QComboBox& by() { return *by_; }
  QLineEdit& filter_box() { return *filter_; }
  CompareTable& table() { return *tables_[static_cast<size_t>(by_->currentIndex())]; }
  QString summary() const { return summary_->text(); }

 private:
  void show_by();
  Comparison& comparison_;
  QComboBox* by_;
  QLineEdit* filter_;
  QLabel* summary_;
  QLabel* notes_;
  QStackedWidget* pages_;
  std::array<CompareTable*, kProfileTables> tables_{};
  ProfileComparisonPtr shown_;
};

/// The compiles of one frame.
class CompareCompilePage : public QWidget {
  Q_OBJECT
 public:
  CompareCompilePage(Context& context, Comparison& comparison, QWidget* parent = nullptr);
  void fill();
  CompareTable& table() { return *table_; }

 private:
  Comparison& comparison_;
  QLineEdit* filter_;
  QLabel* advice_;
  CompareTable* table_;
};

/// Two ranks: what they compiled, and collectives.
class CompareRankPage : public QWidget {
  Q_OBJECT
 public:
  CompareRankPage(Context& context, Comparison& comparison, QWidget* parent = nullptr);
  void fill();
  CompareTable& frames() { return *frames_; }
  CompareTable& collectives() { return *collectives_; }
  CompareTable& current_table() { return *static_cast<CompareTable*>(pages_->currentWidget()); }

 private:
  Comparison& comparison_;
  QLabel* notes_;
  QTabWidget* pages_;
  CompareTable* frames_;
  CompareTable* collectives_;
};

/// What stands on one side: trace, and what of it the page compares.
class SideChooser : public QWidget {
  Q_OBJECT
 public:
  SideChooser(Comparison& comparison, int side, QWidget* parent = nullptr);
  void fill(Comparison::Page page);
  QComboBox& traces() { return *trace_; }
  QComboBox& runs() { return *run_; }
  QComboBox& compiles() { return *compile_; }
  QComboBox& stages() { return *stage_; }
  QComboBox& ranks() { return *rank_; }

 private:
  QComboBox* box(const QString& name);
  Comparison& comparison_;
  int side_;
  QComboBox *trace_, *run_, *compile_, *stage_, *rank_;
};

class ComparePanel : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePanel(Context& context, QWidget* parent = nullptr);

  Comparison& comparison() { return comparison_; }
  void show_page(Comparison::Page page);
  Comparison::Page page() const { return static_cast<Comparison::Page>(tabs_->currentIndex()); }
  QString verdict() const { return verdict_->text(); }
  SideChooser& chooser(int side) { return *choosers_[static_cast<size_t>(side)]; }
  CompareProfilePage& profile() { return *profile_; }
  CompareGraphPage& graph() { return *graph_; }
  CompareCompilePage& compile() { return *compile_; }
  CompareRankPage& ranks() { return *ranks_; }
  /// The verdict and the table that is shown, for pasting.
  QString text() const;

 signals:
  /// A second trace is to be chosen.
  void file_requested();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* make_bar();
  void choices_changed();
  void fill(int page);
  void update_verdict();
  CompareTable& current_table() const;

  Comparison comparison_;
  std::array<SideChooser*, 2> choosers_{};
  QLabel* verdict_;
  QTabBar* tabs_;
  QStackedWidget* pages_;
  CompareProfilePage* profile_;
  CompareGraphPage* graph_;
  CompareCompilePage* compile_;
  CompareRankPage* ranks_;
  QLabel* nothing_;
  size_t sources_ = 0;  ///< how many there were when the page was chosen; 0: it was not yet
};

}  // namespace strata::studio
