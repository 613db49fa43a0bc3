// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A table of the comparison: its rows lead to a place on either side.

#include <QStyledItemDelegate>
#include <functional>

#include "app/studio/models/comparison.h"
#include "app/studio/views/panels.h"

namespace strata::studio {

/// Green where B takes less, red where it takes more, as long as the difference; the number beside it.
class DifferenceDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void set_greatest(double greatest) { greatest_ = greatest; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  double greatest_ = 0;
};

class CompareTable : public LinkTable {
  Q_OBJECT
 public:
  /// Where a row (of the model, not as sorted) is on a side (0 or 1).
  using Places = std::function<ComparePlace(int row, int side)>;

  CompareTable(Context& context, Comparison& comparison, QStringList headers, const QString& name,
               QWidget* parent = nullptr);
  void set_places(Places places) { places_ = std::move(places); }
  /// Rows that become current are selected in the window, if the trace of a side that has them is open.
  void set_selecting(bool on) { selecting_ = on; }
  /// Shows this column as bars, and sorts by it in the order that rows come in.
  void set_difference_column(int column);
  void set_compare_rows(std::vector<TableRow> rows);
  void set_filter(const QString& text);
  /// Row of the model that is current; -1 none.
  int current_row() const;
  void set_current(int row);
  /// Shows the current row's place: on this side, or (-1) on the side that is open, B before A.
  void show_place(int side);
  /// Headers and rows as shown, cells separated by tabs.
  QString text() const;

 signals:
  void row_changed(int row);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  QSortFilterProxyModel& sorted() const { return *static_cast<QSortFilterProxyModel*>(model()); }
  Comparison& comparison_;
  Places places_;
  DifferenceDelegate* bars_ = nullptr;
  int bar_column_ = -1;
  bool selecting_ = false;
};

}  // namespace strata::studio
