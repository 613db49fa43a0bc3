// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Colours of the window, light and dark. Graph colours come from app/draw/palette.h, so that exports look the same.

#include <QColor>
#include <QFont>

#include "app/draw/palette.h"

namespace strata::studio {

/// Fusion style, palette and style sheet for the whole application.
void apply_theme(bool dark);
bool dark_theme();

QColor to_qcolor(draw::Colour c);
inline const draw::Palette& colours() { return draw::palette(dark_theme()); }
/// Background of highlighted lines of code: the selection, and its callers.
QColor line_highlight();
QColor caller_highlight();
QFont code_font();

}  // namespace strata::studio
