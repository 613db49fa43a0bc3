// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Widths of text in DejaVu Sans, known without a font: layouts and SVG are the same on every machine.

#include <string>
#include <string_view>

namespace strata::draw {

/// Width in pixels of UTF-8 text at `size` pixels. Characters outside ASCII count as wide as an m.
double text_width(std::string_view text, double size, bool bold = false);

/// The text, shortened with `…` in its middle so that it is at most `width` pixels wide. Never cuts a UTF-8 sequence.
std::string elide(std::string_view text, double width, double size, bool bold = false);

}  // namespace strata::draw
