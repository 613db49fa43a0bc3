// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/recent_files.h"

#include <QFileInfo>
#include <QSettings>
#include <algorithm>

#include "app/studio/models/settings.h"

namespace strata::studio {

bool RecentFile::exists() const { return QFileInfo::exists(path); }

RecentFiles::RecentFiles(bool lasting, QString file, QObject* parent)
    : QObject(parent), lasting_(lasting), file_(std::move(file)) {
  if (!lasting_) return;
  const auto settings = open_settings(file_);
  const int count = std::min(settings->beginReadArray("recent"), kMost);
  for (int i = 0; i < count; ++i) {
    settings->setArrayIndex(i);
    RecentFile entry{settings->value("path").toString(), settings->value("opened").toDateTime()};
    if (!entry.path.isEmpty()) all_.push_back(std::move(entry));
  }
}

void RecentFiles::add(const QString& path, const QDateTime& when) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  std::erase_if(all_, [&](const RecentFile& f) { return f.path == absolute; });
  all_.insert(all_.begin(), {absolute, when});
  if (all_.size() > kMost) all_.resize(kMost);
  write();
}

void RecentFiles::remove(const QString& path) {
  if (std::erase_if(all_, [&](const RecentFile& f) { return f.path == path; }) > 0) write();
}

void RecentFiles::clear() {
  all_.clear();
  write();
}

void RecentFiles::write() {
  if (lasting_) {
    const auto settings = open_settings(file_);
    settings->beginWriteArray("recent", static_cast<int>(all_.size()));
    for (std::size_t i = 0; i < all_.size(); ++i) {
      settings->setArrayIndex(static_cast<int>(i));
      settings->setValue("path", all_[i].path);
      settings->setValue("opened", all_[i].opened);
    }
    settings->endArray();
  }
  emit changed();
}

}  // namespace strata::studio
