// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tables of a profile as trees: kernels with the nodes they compute, modules as they lie in each other, lines with
/// their nodes.

#include <QAbstractItemModel>
#include <vector>

#include "app/studio/models/profile_rows.h"

namespace strata::studio {

/// The part of the whole that a share stands for, 0 to 1, for a bar in the cell.
inline constexpr int kPartRole = Qt::UserRole + 101;

struct ProfileItem {
  TableRow row;
  int parent = -1;  ///< index of an earlier item; -1: at the top
  double part = -1;
  bool single = false;  ///< one node of the row above
  std::vector<ProfileNode> nodes;
};

/// Columns as in profile_headers; by module also the time of the module itself. Items at the top add up to the total.
QStringList profile_tree_headers(ProfileBy by);
std::vector<ProfileItem> profile_items(const ProfileData& profile, ProfileBy by);

class ProfileModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  explicit ProfileModel(QStringList headers, QObject* parent = nullptr);
  void set_items(std::vector<ProfileItem> items);
  const std::vector<ProfileItem>& items() const { return items_; }
  /// Index of an item in the model, by its place in `items`; invalid if there is none.
  QModelIndex index_of(int item) const;
  /// The item behind an index of this model; -1 none.
  int item_of(const QModelIndex& index) const;
  /// The first item that leads to this kernel, node or line; the innermost module of a node. -1 none.
  int item_of_kernel(trace::Id kernel) const;
  int item_of_node(const ProfileNode& node) const;
  int item_of_line(const QString& file, int line) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const std::vector<int>& children(const QModelIndex& parent) const;
  QStringList headers_;
  std::vector<ProfileItem> items_;
  std::vector<int> top_;
  std::vector<std::vector<int>> children_;
  std::vector<int> places_;  ///< of each item among its parent's children
};

}  // namespace strata::studio
