// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A page of the window as a file: what it shows as SVG, PNG or PDF, its tables as CSV or text.

#include <QByteArray>
#include <QSize>
#include <QString>
#include <QWidget>

namespace strata::studio {

/// `svg`, `png`, `pdf`, and for pages with tables or texts `csv` and `txt`.
QStringList view_formats(const QWidget& page);

/// The page in a format of view_formats; an unknown one, or a page that has no table for CSV, is a user Error.
/// Scrolling parts are drawn whole, up to `kLargestPicture`. A widget that scrolls by itself may have a property
/// `whole_height`: how high it would have to be.
QByteArray render_view(QWidget& page, const QString& format);
/// Pixels a picture may be wide and high at most.
inline constexpr QSize kLargestPicture{6000, 20000};

/// Written beside and renamed, so that a failure leaves nothing under the name. The ending says the format. A path that
/// cannot be written is a user Error.
void export_view(QWidget& page, const QString& path);

}  // namespace strata::studio
