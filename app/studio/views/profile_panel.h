// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the time went: one table by kernel, operator, module or line.

#include <QStackedWidget>
#include <array>

#include "app/studio/models/profile_source.h"
#include "app/studio/views/panels.h"

namespace strata::studio {

/// Chooses the run that a ProfileSource shows.
class RunBox : public QComboBox {
  Q_OBJECT
 public:
  RunBox(ProfileSource& source, const QString& name, QWidget* parent = nullptr);
};

class ProfilePanel : public QWidget {
  Q_OBJECT
 public:
  ProfilePanel(Context& context, ProfileSource& source, QWidget* parent = nullptr);
  /// The table that is shown.
  LinkTable& table() { return *tables_[static_cast<size_t>(by_->currentIndex())]; }
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
  void show_selected(const ProfileData& profile, const Details& details);
  /// Marks all nodes of a row in the graph, not only the one that is selected.
  void mark_nodes(ProfileBy by, const QModelIndex& current);
  Context& context_;
  ProfileSource& source_;
  RunBox* runs_;
  QComboBox* by_;
  QLineEdit* filter_;
  QLabel* summary_;
  QStackedWidget* pages_;
  std::array<LinkTable*, kProfileTables> tables_{};
  bool following_ = false;  ///< the row changes because of a selection elsewhere
};

}  // namespace strata::studio
