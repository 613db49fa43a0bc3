// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Threads and streams over time, for one run or profile, with tables of gaps and of a measured span beside it.

#include <QToolButton>

#include "app/studio/views/panels.h"
#include "app/studio/views/timeline_view.h"

namespace strata::studio {

class TimelinePanel : public QWidget {
  Q_OBJECT
 public:
  explicit TimelinePanel(Context& context, QWidget* parent = nullptr);
  TimelineView& view() { return *view_; }
  QComboBox& runs() { return *runs_; }
  QComboBox& colour_box() { return *colour_; }
  QLineEdit& search_box() { return *search_; }
  LinkTable& gap_table() { return *gap_table_; }
  LinkTable& range_table() { return *range_table_; }
  QToolButton& tables_button() { return *tables_button_; }
  QToolButton& flows_button() { return *flows_button_; }
  QToolButton& tracks_button() { return *tracks_button_; }
  QString summary() const { return summary_->text(); }
  QString found() const { return found_->text(); }
  QString details() const { return details_->text(); }

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Loaded;
  void build();
  void list_runs();
  void load(bool again = false);
  void loaded(const Loaded& result, bool keep);
  /// Shows what is selected elsewhere.
  void follow();
  void find_run_of(trace::Id event);
  void look_for();
  void search(int by);
  void fill_tracks();
  void fill_range();
  void show_tables(bool on, QWidget* page = nullptr);
  void chose_slice(const Slice* slice, bool chosen);
  void chose_gap(const Gap* gap);
  void describe(const Slice& slice);
  Context& context_;
  QComboBox* runs_;
  QComboBox* colour_;
  QLineEdit* search_;
  QLabel* found_;
  QLabel* summary_;
  QLabel* details_;
  QToolButton* flows_button_;
  QToolButton* tracks_button_;
  QToolButton* tables_button_;
  TimelineView* view_;
  QTabWidget* tables_;
  LinkTable* gap_table_;
  LinkTable* range_table_;
  std::vector<TimelineRun> choices_;
  std::vector<SlicePlace> matches_;  ///< of the search, by start; made when first stepped through
  std::vector<RangeSum> sums_;       ///< rows of the range table
  int loaded_ = -1;                  ///< index of the run that the view shows
};

}  // namespace strata::studio
