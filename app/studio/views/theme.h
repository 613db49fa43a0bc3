// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Colours of the window, light and dark. Graph colours come from app/draw/palette.h, so that exports look the same.

#include <QColor>
#include <QFont>
#include <QIcon>

#include "app/draw/palette.h"

namespace strata::studio {

/// Fusion style, palette and style sheet for the whole application.
void apply_theme(bool dark);
bool dark_theme();

/// How large text is against the usual, 0.75 to 3; for `apply_theme` and `code_font`.
void set_text_scale(double scale);
double text_scale();
/// A length in pixels that goes with the text.
int scaled(int pixels);

QColor to_qcolor(draw::Colour c);
/// Contrast of two colours as WCAG 2 defines it: 1 to 21; text needs 4.5.
double contrast(const QColor& a, const QColor& b);
/// A colour of the graph for text on the ground of pages: darker or lighter, as far as is needed to read it.
QColor text_colour(draw::Colour c);
inline const draw::Palette& colours() { return draw::palette(dark_theme()); }
/// Background of highlighted lines of code: the selection, and its callers.
QColor line_highlight();
QColor caller_highlight();
QFont code_font();
/// Layers over each other, as the name says.
QIcon program_icon();

}  // namespace strata::studio
