// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Views with a name: what was shown, how it was drawn, and how the window was laid out.

#include <QByteArray>
#include <QObject>
#include <QString>
#include <vector>

#include "app/studio/models/context.h"

namespace strata::studio {

struct SavedView {
  QString name;
  QString trace;  ///< absolute path of the trace it belongs to; empty: for any
  QString graph, stage;
  QString node;  ///< name of the selected node
  QString query;
  QString page;  ///< the page in front
  int group_by = 0, colour_by = 0;
  QByteArray layout;  ///< QMainWindow::saveState
  bool operator==(const SavedView&) const = default;
};

class SavedViews : public QObject {
  Q_OBJECT
 public:
  /// As RecentFiles: in the user's settings, in this file, or only as long as the object.
  explicit SavedViews(bool lasting, QString file = {}, QObject* parent = nullptr);
  const std::vector<SavedView>& all() const { return all_; }
  /// Those of the trace and those for any, by name.
  std::vector<SavedView> of(const QString& trace) const;
  /// In place of the one with the same name and trace. One without a name is not kept.
  void save(const SavedView& view);
  /// False if there is another of the new name, or none of the old one.
  bool rename(const QString& trace, const QString& from, const QString& to);
  void remove(const QString& trace, const QString& name);

 signals:
  void changed();

 private:
  std::vector<SavedView>::iterator find(const QString& trace, const QString& name);
  void write();
  bool lasting_;
  QString file_;
  std::vector<SavedView> all_;
};

/// What the context shows now; name, page, query and layout are left empty.
SavedView present_view(const Context& context);
/// How it was drawn is applied, and what it shows is opened: graph, stage and node, as far as the trace has them.
void show_saved(Context& context, const SavedView& view);

}  // namespace strata::studio
