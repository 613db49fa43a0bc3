// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/table_model.h"

#include <algorithm>

namespace strata::studio {

TableModel::TableModel(QStringList headers, QObject* parent)
    : QAbstractTableModel(parent), headers_(std::move(headers)) {}

void TableModel::set_rows(std::vector<TableRow> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

namespace {
template <class Match>
int find_row(const std::vector<TableRow>& rows, Match match) {
  auto it = std::find_if(rows.begin(), rows.end(), match);
  return it == rows.end() ? -1 : static_cast<int>(it - rows.begin());
}
}  // namespace

int TableModel::row_of_snapshot(trace::Id id) const {
  return find_row(rows_, [id](const TableRow& row) { return row.snapshot == id; });
}
int TableModel::row_of_kernel(trace::Id id) const {
  return find_row(rows_, [id](const TableRow& row) { return row.kernel == id; });
}
int TableModel::row_of_node(trace::NodeId id) const {
  return find_row(rows_, [id](const TableRow& row) { return row.node == id; });
}
int TableModel::row_of_launch(trace::Id id) const {
  return find_row(rows_, [id](const TableRow& row) { return row.launch == id; });
}
int TableModel::row_of_guard(trace::Id id) const {
  return find_row(rows_, [id](const TableRow& row) { return row.guard == id; });
}
int TableModel::row_of_line(const QString& file, int line) const {
  return find_row(rows_, [&](const TableRow& row) { return row.line == line && row.file == file; });
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(headers_.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const TableRow& row = rows_[static_cast<size_t>(index.row())];
  static const TableCell empty;
  size_t column = static_cast<size_t>(index.column());
  const TableCell& cell = column < row.cells.size() ? row.cells[column] : empty;
  switch (role) {
    // Views measure and lay out all of a text, also what can never be seen of it.
    case Qt::DisplayRole:
      return cell.text.left(2000);
    case Qt::ToolTipRole:
      return (cell.tooltip.isEmpty() ? cell.text : cell.tooltip).left(4000);
    case Qt::TextAlignmentRole: {
      bool right = std::find(numeric_.begin(), numeric_.end(), index.column()) != numeric_.end();
      return static_cast<int>((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    case SortRole:
      return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case NodeRole:
      return static_cast<qlonglong>(row.node);
    case KernelRole:
      return static_cast<qlonglong>(row.kernel);
    case SnapshotRole:
      return static_cast<qlonglong>(row.snapshot);
    case PassRole:
      return static_cast<qlonglong>(row.pass);
    case CompileRole:
      return static_cast<qlonglong>(row.compile);
    case LaunchRole:
      return static_cast<qlonglong>(row.launch);
    case BufferRole:
      return static_cast<qlonglong>(row.buffer);
    case GuardRole:
      return static_cast<qlonglong>(row.guard);
    case EventRole:
      return static_cast<qlonglong>(row.event);
    case FileRole:
      return row.file;
    case LineRole:
      return row.line;
    case EffectRole:
      return row.effect;
    case MarkRole:
      return row.mark;
    default:
      return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || orientation != Qt::Horizontal || section < 0 || section >= headers_.size()) return {};
  return headers_[section];
}

QString to_text(const QAbstractItemModel& model, const QModelIndex& parent, int depth) {
  QString text;
  for (int row = 0; row < model.rowCount(parent); ++row) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(parent); ++column)
      cells << model.index(row, column, parent).data().toString();
    while (!cells.isEmpty() && cells.last().isEmpty()) cells.removeLast();
    text += QString(depth * 2, ' ') + cells.join(" | ") + '\n';
    text += to_text(model, model.index(row, 0, parent), depth + 1);
  }
  return text;
}

}  // namespace strata::studio
