// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A table of values with links: what every list of the window is.

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>
#include <vector>

#include "core/trace/records.h"

namespace strata::studio {

enum Role : int {
  NodeRole = Qt::UserRole + 1,  ///< NodeId the row leads to, 0 none
  KernelRole,                   ///< kernel the row leads to
  SnapshotRole,                 ///< snapshot the row leads to
  PassRole,
  EffectRole,  ///< whether the row's pass changed something
  SortRole,    ///< a number where the text is not what should be sorted by
  MarkRole,    ///< `added`, `removed`, `changed`, `accepted`, `refused` or empty
  FileRole,
  LineRole,
  CompileRole,  ///< compile the row leads to
  LaunchRole,
  BufferRole,
  GuardRole,
  EventRole
};

struct TableCell {
  QString text;
  QVariant sort = {};
  QString tooltip = {};
};

struct TableRow {
  std::vector<TableCell> cells;
  trace::NodeId node = 0;
  trace::Id kernel = 0, snapshot = 0, pass = 0, compile = 0;
  trace::Id launch = 0, buffer = 0, guard = 0, event = 0;
  QString file;  ///< source line the row leads to
  int line = 0;
  bool effect = true;
  QString mark;
};

class TableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  explicit TableModel(QStringList headers, QObject* parent = nullptr);
  /// Cells may be fewer than headers.
  void set_rows(std::vector<TableRow> rows);
  const std::vector<TableRow>& rows() const { return rows_; }
  /// Columns whose text stands at the right.
  void set_numeric(std::vector<int> columns) { numeric_ = std::move(columns); }
  /// Row that leads to this snapshot, node or kernel; -1 none.
  int row_of_snapshot(trace::Id snapshot) const;
  int row_of_kernel(trace::Id kernel) const;
  int row_of_node(trace::NodeId node) const;
  int row_of_launch(trace::Id launch) const;
  int row_of_guard(trace::Id guard) const;
  int row_of_line(const QString& file, int line) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QStringList headers_;
  std::vector<TableRow> rows_;
  std::vector<int> numeric_;
};

/// The table as text, cells separated by ` | `: for tests and for copying.
QString to_text(const QAbstractItemModel& model, const QModelIndex& parent = {}, int depth = 0);

}  // namespace strata::studio
