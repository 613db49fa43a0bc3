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

/// What marks a node in this state: its border, and what stands in its corner besides the colour (0: nothing).
Colour state_colour(NodeState state, const Palette& palette);
char state_sign(NodeState state);

/// Fill of a node. `slowest` is the largest time in the picture (for ColourBy::Time). Text in `text`, `dim_text` or
/// `group_text` of the palette can be read on all of them: their contrast is at least 4.5.
Colour node_fill(const PictureNode& node, const DrawOptions& options, double slowest);
double slowest(const Picture& picture);

/// Frames within frames are a little darker (lighter on dark) than what is around them. `depth` 0: the outermost.
Colour frame_fill(int depth, bool dark);
/// How many frames are around this one.
int frame_depth(const Picture& picture, int group);

/// WCAG's ratio of luminances, 1 to 21.
double contrast(Colour a, Colour b);

struct LegendEntry {
  std::string text;
  Colour fill;
};
inline constexpr size_t kMostLegendModules = 12;

/// What the colours of this picture mean, only those that occur; empty when colours are off. Of modules, the most
/// frequent ones.
std::vector<LegendEntry> legend(const Picture& picture, const DrawOptions& options);

}  // namespace strata::draw
