// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the time went: one table by kernel, operator, module or line.

#include <QStackedWidget>
#include <QTreeView>
#include <array>

#include "app/studio/models/profile_source.h"
#include "app/studio/models/profile_tree.h"
#include "app/studio/views/panels.h"

namespace strata::studio {

/// Chooses the run that a ProfileSource shows.
class RunBox : public QComboBox {
  Q_OBJECT
 public:
  RunBox(ProfileSource& source, const QString& name, QWidget* parent = nullptr);
};

/// A profile as a tree whose rows select what they stand for. Enter or a double click shows the line.
class ProfileTree : public QTreeView {
  Q_OBJECT
 public:
  ProfileTree(Context& context, ProfileBy by, const QString& name, QWidget* parent = nullptr);
  ProfileModel& rows() { return *rows_; }
  void set_items(std::vector<ProfileItem> items);
  /// Makes an item current without following its link; -1: none is.
  void show_item(int item);

 private:
  void follow(const QModelIndex& index);
  Context& context_;
  ProfileModel* rows_;
  QSortFilterProxyModel* sorted_;
  bool following_ = true;
};

class ProfilePanel : public QWidget {
  Q_OBJECT
 public:
  ProfilePanel(Context& context, ProfileSource& source, QWidget* parent = nullptr);
  /// The table that is shown.
  ProfileTree& table() { return *tables_[static_cast<size_t>(by_->currentIndex())]; }
  QComboBox& by() { return *by_; }
  QComboBox& runs() { return *runs_; }
  QLineEdit& filter_box() { return *filter_; }
  QString summary() const { return summary_->text(); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void fill();
  void show_by(int by);
  void filter();
  /// Marks the row of what is selected elsewhere.
  void follow();
  int item_of_selection();
  Context& context_;
  ProfileSource& source_;
  RunBox* runs_;
  QComboBox* by_;
  QLineEdit* filter_;
  QLabel* summary_;
  QStackedWidget* pages_;
  std::array<ProfileTree*, kProfileTables> tables_{};
};

}  // namespace strata::studio
