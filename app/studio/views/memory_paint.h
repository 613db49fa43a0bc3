// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What both pictures of memory are painted with.

#include <QColor>
#include <QPainter>
#include <string>

namespace strata::studio {

inline constexpr double kMemoryLeft = 74, kMemoryRight = 14, kMemoryTop = 22, kMemoryBottom = 38;

QColor kind_colour(const std::string& kind);
QColor peak_colour();
/// A round number of which about five reach `most`.
double step_for(double most);
/// Lines and numbers at the left, between two numbers of bytes.
void paint_bytes_axis(QPainter& painter, const QRectF& area, double least, double most, const QColor& text);

}  // namespace strata::studio
