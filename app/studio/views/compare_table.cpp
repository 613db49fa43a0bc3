// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/compare_table.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <cmath>

#include "app/studio/views/theme.h"

namespace strata::studio {

void DifferenceDelegate::paint(QPainter* p, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem empty = option;
  initStyleOption(&empty, index);
  const QString text = empty.text;
  empty.text.clear();
  (empty.widget ? empty.widget->style() : QApplication::style())
      ->drawControl(QStyle::CE_ItemViewItem, &empty, p, empty.widget);
  const double value = index.data(SortRole).toDouble();
  const QRect cell = option.rect.adjusted(4, 3, -4, -3);
  // The number has its place at the right, so that bars of all rows begin at one line.
  const int number = option.fontMetrics.horizontalAdvance("+888.88 ms ");
  const QRect room = cell.adjusted(0, 0, -number, 0);
  if (greatest_ > 0 && value != 0 && room.width() > 8) {
    const int middle = room.center().x(), half = room.width() / 2;
    const int length = std::max(1, static_cast<int>(std::lround(half * std::min(1.0, std::abs(value) / greatest_))));
    QColor colour = to_qcolor(value > 0 ? colours().removed : colours().added);
    p->fillRect(QRect(value > 0 ? middle : middle - length, room.top(), length, room.height()), colour);
    p->setPen(to_qcolor(colours().dim_text));
    p->drawLine(middle, room.top() - 2, middle, room.bottom() + 2);
  }
  const bool chosen = option.state & QStyle::State_Selected;
  p->setPen(option.palette.color(chosen ? QPalette::HighlightedText : QPalette::Text));
  p->drawText(QRect(cell.right() - number, cell.top() - 2, number, cell.height() + 4),
              Qt::AlignRight | Qt::AlignVCenter, text);
}

CompareTable::CompareTable(Context& context, Comparison& comparison, QStringList headers, const QString& name,
                           QWidget* parent)
    : LinkTable(context, std::move(headers), name, parent), comparison_(comparison) {
  sorted().setFilterKeyColumn(-1);
  sorted().setFilterCaseSensitivity(Qt::CaseInsensitive);
  setToolTip("Enter shows the row's place, A or B shows it on that side");
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    const int row = current_row();
    if (selecting_ && row >= 0 && places_) comparison_.select_open(places_(row, 0), places_(row, 1));
    emit row_changed(row);
  });
  connect(this, &QTableView::doubleClicked, this, [this] { show_place(-1); });
}

void CompareTable::set_difference_column(int column) {
  bar_column_ = column;
  bars_ = new DifferenceDelegate(this);
  setItemDelegateForColumn(column, bars_);
}

void CompareTable::set_compare_rows(std::vector<TableRow> rows) {
  double greatest = 0;
  if (bars_)
    for (const TableRow& row : rows)
      greatest = std::max(greatest, std::abs(row.cells[static_cast<size_t>(bar_column_)].sort.toDouble()));
  set_rows(std::move(rows));
  if (!bars_) return;
  bars_->set_greatest(greatest);
  setColumnWidth(bar_column_, 165);
}

void CompareTable::set_filter(const QString& text) { sorted().setFilterFixedString(text); }

int CompareTable::current_row() const {
  return currentIndex().isValid() ? sorted().mapToSource(currentIndex()).row() : -1;
}

void CompareTable::set_current(int row) {
  const QModelIndex at = sorted().mapFromSource(sorted().sourceModel()->index(row, 0));
  if (!at.isValid()) return;
  setCurrentIndex(at);
  scrollTo(at);
}

void CompareTable::show_place(int side) {
  const int row = current_row();
  if (row < 0 || !places_) return;
  const ComparePlace a = places_(row, 0), b = places_(row, 1);
  if (side >= 0) {
    comparison_.show(side, side == 0 ? a : b);
    return;
  }
  if (b.any() && comparison_.is_open(1))
    comparison_.show(1, b);
  else if (a.any() && comparison_.is_open(0))
    comparison_.show(0, a);
  else
    comparison_.show(b.any() ? 1 : 0, b.any() ? b : a);
}

QString CompareTable::text() const {
  QStringList lines;
  const auto line = [&](const auto& cell) {
    QStringList cells;
    for (int i = 0; i < model()->columnCount(); ++i)
      if (!isColumnHidden(i)) cells << cell(i);
    lines << cells.join('\t');
  };
  line([&](int i) { return model()->headerData(i, Qt::Horizontal).toString(); });
  for (int row = 0; row < model()->rowCount(); ++row)
    line([&](int i) { return model()->index(row, i).data().toString(); });
  return lines.join('\n') + '\n';
}

void CompareTable::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return show_place(-1);
    case Qt::Key_A:
      if (event->modifiers() == Qt::NoModifier) return show_place(0);
      break;
    case Qt::Key_B:
      if (event->modifiers() == Qt::NoModifier) return show_place(1);
      break;
    // Keys of the page around it, not letters to look for in the table.
    case Qt::Key_N:
    case Qt::Key_P:
    case Qt::Key_F7:
    case Qt::Key_F8:
      return event->ignore();
    default:
      break;
  }
  LinkTable::keyPressEvent(event);
}

void CompareTable::contextMenuEvent(QContextMenuEvent* event) {
  const int row = current_row();
  QMenu menu(this);
  if (row >= 0 && places_)
    for (const int side : {0, 1}) {
      QAction* action =
          menu.addAction(side == 0 ? "Show in A\tA" : "Show in B\tB", this, [this, side] { show_place(side); });
      action->setEnabled(places_(row, side).any());
    }
  menu.addAction("Copy table as text", this, [this] { QApplication::clipboard()->setText(text()); });
  menu.exec(event->globalPos());
}

}  // namespace strata::studio
