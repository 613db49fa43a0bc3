// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Asks what is to be exported, in which format, and where to.

#include <QComboBox>
#include <QDialog>
#include <QLineEdit>
#include <QPushButton>
#include <functional>
#include <vector>

namespace strata::studio {

struct ExportChoice {
  QString page;  ///< empty: the whole graph
  QString path;
};

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  struct Page {
    QString name, title;
    QStringList formats;
  };
  /// `graph`: the stage whose graph can be exported, empty if none can. `current`: the page chosen first; empty: the
  /// graph. `folder`: where the file is offered.
  ExportDialog(const QString& graph, std::vector<Page> pages, const QString& current, const QString& folder,
               QWidget* parent = nullptr);
  ExportChoice choice() const;
  QComboBox& what() { return *what_; }
  QComboBox& format() { return *format_; }
  QLineEdit& path() { return *path_; }
  QPushButton& accept_button() { return *accept_; }

 private:
  void list_formats();
  void offer_path();
  void browse();
  QString graph_, folder_;
  std::vector<Page> pages_;
  QComboBox* what_;
  QComboBox* format_;
  QLineEdit* path_;
  QPushButton* accept_;
  QString offered_;  ///< the path that was filled in last; one that was typed stays
};

}  // namespace strata::studio
