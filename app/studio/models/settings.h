// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSettings>
#include <QString>
#include <memory>

namespace strata::studio {

/// The user's settings, or, for tests, those in a file.
inline std::unique_ptr<QSettings> open_settings(const QString& file = {}) {
  return file.isEmpty() ? std::make_unique<QSettings>() : std::make_unique<QSettings>(file, QSettings::IniFormat);
}

}  // namespace strata::studio
