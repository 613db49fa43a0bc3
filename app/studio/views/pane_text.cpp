// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/pane_text.h"

#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/studio/models/lists.h"

namespace strata::studio {

PaneText::PaneText(Pane& pane, QWidget* parent)
    : QWidget(parent),
      pane_(pane),
      units_(new QComboBox),
      hint_(new QLabel("The trace holds no text of this stage.")),
      code_(new CodeView),
      table_(new QTableView) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(table_, 1);
  layout->addWidget(units_);
  layout->addWidget(code_, 1);
  layout->addWidget(hint_, 1);
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setWordWrap(true);
  units_->setAccessibleName("text of the pane");
  units_->setToolTip("Which text of this stage is shown; it follows the selection");
  units_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  units_->setMinimumContentsLength(10);
  code_->setAccessibleName("text of a stage");
  code_->setMinimumWidth(120);
  table_->setAccessibleName("rows of a stage");
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->verticalHeader()->hide();
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  connect(units_, &QComboBox::activated, this, &PaneText::show_unit);
  connect(code_, &CodeView::lineActivated, this, &PaneText::select_line);
  connect(table_, &QTableView::clicked, this, &PaneText::select_row);
  connect(table_, &QTableView::activated, this, &PaneText::select_row);
  connect(&pane_, &Pane::stepChanged, this, &PaneText::fill);
  connect(&pane_, &Pane::selectionChanged, this, &PaneText::follow);
  fill();
}

void PaneText::fill() {
  const StepPtr step = pane_.step_data();
  if (!step || step->snapshot.kind != trace::SnapshotKind::Text) return;
  const QString before = units_->currentText();
  units_->clear();
  shown_ = -1;
  for (const CodeUnit& unit : step->texts)
    units_->addItem(qt(unit.kernel.empty() ? unit.artifact->name : unit.kernel) + " · " + qt(unit.artifact->kind));
  fill_table();
  const bool any = units_->count() > 0, rows = !table_->isHidden();
  units_->setVisible(units_->count() > 1);
  code_->setVisible(any);
  hint_->setVisible(!any && !rows);
  if (any) show_unit(std::max(0, units_->findText(before)));
  follow();
}

void PaneText::fill_table() {
  const StepPtr step = pane_.step_data();
  const auto compile = pane_.compile();
  const std::string stage = stage_kind(step->snapshot.stage);
  const bool plan = stage == "plan", runs = stage == "runs";
  table_->setVisible(compile && (plan || runs));
  delete std::exchange(rows_, nullptr);
  if (!compile || (!plan && !runs)) return;
  rows_ = new TableModel(plan ? launch_headers() : time_headers(), this);
  rows_->set_numeric(plan ? std::vector{0, 2} : std::vector{2, 3, 4, 5, 6, 7, 8, 9});
  rows_->set_rows(plan ? launch_rows(*compile, step->snapshot.program) : time_rows(*compile));
  table_->setModel(rows_);
  table_->resizeColumnsToContents();
}

/// The text that is shown, if it has lines of the selection; else the first of its language that has some, else any.
int PaneText::best_unit() const {
  const StepPtr step = pane_.step_data();
  const auto& lines = pane_.relatives().lines;
  const auto has = [&](int unit) {
    return unit >= 0 && unit < static_cast<int>(lines.size()) && !lines[static_cast<size_t>(unit)].empty();
  };
  if (has(shown_)) return shown_;
  const auto kind = [&](int unit) { return step->texts[static_cast<size_t>(unit)].artifact->kind; };
  int any = -1;
  for (int unit = 0; unit < static_cast<int>(std::min(lines.size(), step->texts.size())); ++unit) {
    if (!has(unit)) continue;
    if (shown_ >= 0 && kind(unit) == kind(shown_)) return unit;
    if (any < 0) any = unit;
  }
  return any;
}

void PaneText::follow() {
  const StepPtr step = pane_.step_data();
  if (!step || step->snapshot.kind != trace::SnapshotKind::Text) return;
  if (const int unit = best_unit(); unit >= 0 && unit != shown_)
    show_unit(unit);
  else if (shown_ >= 0)
    show_unit(shown_);
  if (!rows_) return;
  table_->clearSelection();
  const auto& kernels = pane_.relatives().kernels;
  const int row = kernels.empty() ? -1 : rows_->row_of_kernel(kernels.front());
  if (row < 0) return;
  for (int r = 0; r < rows_->rowCount(); ++r)
    if (std::find(kernels.begin(), kernels.end(), rows_->rows()[static_cast<size_t>(r)].kernel) != kernels.end())
      table_->selectionModel()->select(rows_->index(r, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
  table_->scrollTo(rows_->index(row, 0));
}

void PaneText::show_unit(int unit) {
  const StepPtr step = pane_.step_data();
  if (!step || unit < 0 || unit >= static_cast<int>(step->texts.size())) return;
  if (unit != shown_) {
    QString text = qt(step->texts[static_cast<size_t>(unit)].artifact->content);
    if (text.endsWith('\n')) text.chop(1);
    code_->set_text(text);
  }
  shown_ = unit;
  units_->setCurrentIndex(unit);
  const auto& lines = pane_.relatives().lines;
  code_->highlight(static_cast<size_t>(unit) < lines.size() ? lines[static_cast<size_t>(unit)] : LineRanges());
}

void PaneText::select_line(int line) {
  const StepPtr step = pane_.step_data();
  if (!step || shown_ < 0 || shown_ >= static_cast<int>(step->texts.size())) return;
  for (const auto& entry : step->texts[static_cast<size_t>(shown_)].artifact->lines)
    if (entry.first_line <= line && line <= entry.last_line && !entry.nodes.empty())
      return pane_.select_node(entry.nodes.front());
}

void PaneText::select_row(const QModelIndex& index) {
  if (!rows_ || index.row() < 0 || index.row() >= rows_->rowCount()) return;
  if (const trace::Id kernel = rows_->rows()[static_cast<size_t>(index.row())].kernel) pane_.select_kernel(kernel);
}

}  // namespace strata::studio
