// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Colours of pictures, light and dark; the window uses the same.

#include <array>
#include <cstdint>
#include <string>

#include "app/draw/picture.h"

namespace strata::draw {

struct Colour {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Colour&) const = default;
};
std::string hex(Colour c);  ///< `#rrggbb`

struct Palette {
  Colour background, text, dim_text, edge, node_border, group_fill, group_border, group_text;
  Colour added, removed, changed, selected, related;
  std::array<Colour, kOpClasses> fills;
};
const Palette& palette(bool dark);

/// Fill of a node. `slowest` is the largest time in the picture (for ColourBy::Time).
Colour node_fill(const PictureNode& node, const DrawOptions& options, double slowest);
double slowest(const Picture& picture);

struct LegendEntry {
  std::string text;
  Colour fill;
};
/// What the colours of this picture mean, only those that occur; empty when colours are off.
std::vector<LegendEntry> legend(const Picture& picture, const DrawOptions& options);

}  // namespace strata::draw
