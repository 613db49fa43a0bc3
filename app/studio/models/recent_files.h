// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What was opened last.

#include <QDateTime>
#include <QObject>
#include <QString>
#include <vector>

namespace strata::studio {

struct RecentFile {
  QString path;  ///< absolute
  QDateTime opened;
  bool operator==(const RecentFile&) const = default;
  bool exists() const;
};

class RecentFiles : public QObject {
  Q_OBJECT
 public:
  static constexpr int kMost = 10;
  /// Kept in the user's settings, or in this file; only as long as the object where `lasting` is false. Entries of the
  /// settings that make no sense are left out.
  explicit RecentFiles(bool lasting, QString file = {}, QObject* parent = nullptr);
  /// Newest first.
  const std::vector<RecentFile>& all() const { return all_; }
  void add(const QString& path, const QDateTime& when = QDateTime::currentDateTime());
  void remove(const QString& path);
  void clear();

 signals:
  void changed();

 private:
  void write();
  bool lasting_;
  QString file_;
  std::vector<RecentFile> all_;
};

}  // namespace strata::studio
