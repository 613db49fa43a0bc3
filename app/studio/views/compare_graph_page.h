// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two graphs side by side, with what differs coloured and listed.

#include <QToolButton>

#include "app/studio/models/comparison.h"
#include "app/studio/models/pane.h"
#include "app/studio/views/compare_table.h"
#include "app/studio/views/graph_view.h"

namespace strata::studio {

class CompareGraphPage : public QWidget {
  Q_OBJECT
 public:
  CompareGraphPage(Context& context, Comparison& comparison, QWidget* parent = nullptr);

  /// Shows what the comparison has; to be called when its graphs changed and the page is looked at.
  void fill();
  /// The next (1) or last (-1) difference.
  void step(int by);
  Pane& pane(int side) { return *panes_[static_cast<size_t>(side)]; }
  GraphView& view(int side) { return *views_[static_cast<size_t>(side)]; }
  CompareTable& differences() { return *differences_; }
  QTabWidget& lists() { return *lists_; }
  CompareTable& current_table();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* make_views();
  QWidget* make_lists();
  void show_graphs();
  void show_row(int row);
  /// Marks the partner of what was selected in a pane.
  void follow(int side);
  void follow_context();
  void update_place();
  const trace::NodeRecord* node(int side, int index) const;

  Context& context_;
  Comparison& comparison_;
  std::array<Pane*, 2> panes_{};
  std::array<GraphView*, 2> views_{};
  std::array<QLabel*, 2> titles_{};
  QTabWidget* lists_;
  CompareTable* differences_;
  CompareTable* operators_;
  CompareTable* modules_;
  QLabel* place_;
  QToolButton *next_, *before_;
  GraphComparisonPtr shown_;
  std::array<std::unordered_map<trace::NodeId, int>, 2> index_;  ///< of nodes
  std::array<std::unordered_map<trace::NodeId, int>, 2> row_;    ///< difference of a node
  bool following_ = false;
};

}  // namespace strata::studio
