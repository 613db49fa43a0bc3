// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace strata::draw {
namespace {

constexpr Palette kLight = {{255, 255, 255},
                            {28, 32, 38},
                            {92, 100, 112},
                            {138, 146, 158},
                            {128, 138, 152},
                            {245, 247, 252},
                            {112, 132, 190},
                            {58, 78, 140},
                            {24, 148, 62},
                            {206, 52, 52},
                            {214, 134, 0},
                            {26, 98, 230},
                            {122, 80, 200},
                            {{{214, 230, 250},
                              {232, 234, 238},
                              {200, 206, 216},
                              {204, 238, 232},
                              {255, 226, 190},
                              {222, 212, 250},
                              {250, 246, 208},
                              {248, 216, 230},
                              {255, 210, 210},
                              {226, 226, 206},
                              {240, 240, 240}}}};

constexpr Palette kDark = {{30, 32, 37},
                           {232, 235, 240},
                           {164, 172, 184},
                           {122, 130, 144},
                           {118, 128, 144},
                           {38, 42, 54},
                           {104, 126, 188},
                           {170, 190, 240},
                           {70, 200, 108},
                           {240, 98, 98},
                           {240, 178, 60},
                           {96, 158, 255},
                           {180, 146, 250},
                           {{{42, 72, 112},
                             {62, 66, 74},
                             {84, 90, 102},
                             {28, 88, 82},
                             {114, 76, 30},
                             {82, 62, 132},
                             {92, 88, 42},
                             {110, 54, 80},
                             {122, 48, 48},
                             {78, 78, 56},
                             {56, 58, 64}}}};

constexpr std::pair<std::string_view, OpClass> kDTypeHues[] = {
    {"f64", OpClass::Random},       {"f32", OpClass::Input},     {"f16", OpClass::Contraction},
    {"bf16", OpClass::Contraction}, {"i64", OpClass::Reduction}, {"i32", OpClass::View},
    {"i16", OpClass::View},         {"i8", OpClass::Indexing},   {"u8", OpClass::Indexing},
    {"bool", OpClass::Pointwise},   {"b8", OpClass::Pointwise}};

Colour dtype_fill(const std::string& dtype, const Palette& p) {
  for (const auto& [name, hue] : kDTypeHues)
    if (name == dtype) return p.fills[static_cast<size_t>(hue)];
  return p.fills[static_cast<size_t>(OpClass::Other)];
}

Colour mix(Colour a, Colour b, double t) {
  auto channel = [t](int x, int y) { return static_cast<std::uint8_t>(x + (y - x) * std::clamp(t, 0.0, 1.0)); };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b)};
}

Colour time_fill(double share, bool dark) {
  if (share < 0) return palette(dark).fills[static_cast<size_t>(OpClass::Other)];
  return dark ? mix({48, 60, 84}, {186, 58, 40}, share) : mix({226, 236, 250}, {246, 132, 104}, share);
}

}  // namespace

std::string hex(Colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

const Palette& palette(bool dark) { return dark ? kDark : kLight; }

double slowest(const Picture& picture) {
  double most = 0;
  for (const auto& node : picture.nodes) most = std::max(most, node.time_ns);
  return most;
}

Colour node_fill(const PictureNode& node, const DrawOptions& options, double slowest) {
  const Palette& p = palette(options.dark);
  if (!options.colours || options.colour_by == ColourBy::None) return p.background;
  if (!node.module.empty() && options.colour_by != ColourBy::Time) return mix(p.group_fill, p.group_border, 0.25);
  if (options.colour_by == ColourBy::DType) return dtype_fill(node.dtype, p);
  if (options.colour_by == ColourBy::Time)
    return time_fill(node.time_ns < 0 || slowest <= 0 ? -1 : node.time_ns / slowest, options.dark);
  return p.fills[static_cast<size_t>(node.op_class)];
}

std::vector<LegendEntry> legend(const Picture& picture, const DrawOptions& options) {
  std::vector<LegendEntry> entries;
  if (!options.colours || options.colour_by == ColourBy::None) return entries;
  const Palette& p = palette(options.dark);
  if (options.colour_by == ColourBy::Class) {
    std::set<OpClass> used;
    for (const auto& node : picture.nodes)
      if (node.module.empty()) used.insert(node.op_class);
    for (OpClass c : used) entries.push_back({std::string(label(c)), p.fills[static_cast<size_t>(c)]});
  } else if (options.colour_by == ColourBy::DType) {
    std::set<std::string> used;
    for (const auto& node : picture.nodes)
      if (node.module.empty()) used.insert(node.dtype);
    for (const auto& dtype : used) entries.push_back({dtype.empty() ? "no dtype" : dtype, dtype_fill(dtype, p)});
  } else {
    double most = slowest(picture);
    entries.push_back({"no time known", time_fill(-1, options.dark)});
    if (most > 0)
      for (double share : {0.0, 0.5, 1.0})
        entries.push_back({format_time(most * share), time_fill(share, options.dark)});
  }
  const bool modules =
      std::any_of(picture.nodes.begin(), picture.nodes.end(), [](const auto& node) { return !node.module.empty(); });
  if (modules && options.colour_by != ColourBy::Time)
    entries.push_back({"module, collapsed", mix(p.group_fill, p.group_border, 0.25)});
  return entries;
}

}  // namespace strata::draw
