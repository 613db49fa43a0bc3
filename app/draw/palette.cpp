// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/draw/attributes.h"

namespace strata::draw {
namespace {

constexpr Palette kLight = {{255, 255, 255},
                            {28, 32, 38},
                            {72, 79, 90},
                            {138, 146, 158},
                            {128, 138, 152},
                            {245, 247, 252},
                            {112, 132, 190},
                            {48, 66, 126},
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
                              {240, 240, 240},
                              {218, 240, 170}}}};

constexpr Palette kDark = {{30, 32, 37},
                           {232, 235, 240},
                           {194, 200, 210},
                           {122, 130, 144},
                           {118, 128, 144},
                           {38, 42, 54},
                           {104, 126, 188},
                           {186, 203, 246},
                           {70, 200, 108},
                           {240, 98, 98},
                           {240, 178, 60},
                           {96, 158, 255},
                           {180, 146, 250},
                           {{{42, 72, 112},
                             {62, 66, 74},
                             {74, 80, 92},
                             {28, 88, 82},
                             {114, 76, 30},
                             {82, 62, 132},
                             {86, 82, 38},
                             {110, 54, 80},
                             {122, 48, 48},
                             {78, 78, 56},
                             {56, 58, 64},
                             {70, 86, 24}}}};

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

Colour unknown_fill(bool dark) { return palette(dark).fills[static_cast<size_t>(OpClass::Other)]; }

Colour time_fill(double share, bool dark) {
  if (share < 0) return unknown_fill(dark);
  return dark ? mix({44, 54, 76}, {142, 46, 36}, share) : mix({226, 236, 250}, {255, 172, 150}, share);
}

Colour bytes_fill(double share, bool dark) {
  if (share < 0) return unknown_fill(dark);
  return dark ? mix({50, 44, 74}, {18, 92, 76}, share) : mix({244, 240, 252}, {124, 214, 176}, share);
}

double luminance(Colour c) {
  auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(c.r / 255.0) + 0.7152 * linear(c.g / 255.0) + 0.0722 * linear(c.b / 255.0);
}

/// `hue` in turns.
Colour from_hsl(double hue, double saturation, double lightness) {
  auto channel = [&](double n) {
    const double k = std::fmod(n + hue * 12, 12), a = saturation * std::min(lightness, 1 - lightness);
    return static_cast<std::uint8_t>(
        std::lround(255 * (lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0})))));
  };
  return {channel(0), channel(8), channel(4)};
}

/// Hues differ in how bright they look: all of them are brought to one luminance, so that text is read on each.
Colour of_luminance(double hue, double saturation, double wanted) {
  double low = 0, high = 1;
  for (int i = 0; i < 20; ++i) {
    const double middle = (low + high) / 2;
    (luminance(from_hsl(hue, saturation, middle)) < wanted ? low : high) = middle;
  }
  return from_hsl(hue, saturation, (low + high) / 2);
}

/// Neighbours in the list are far apart in hue; the second half repeats the hues of the first, darker or lighter.
std::array<Colour, kModuleColours> make_slots(bool dark) {
  std::array<Colour, kModuleColours> slots;
  constexpr int hues = kModuleColours / 2;
  for (int i = 0; i < kModuleColours; ++i) {
    const double hue = (i * 5 % hues) / static_cast<double>(hues) + (i < hues ? 0.0 : 0.5 / hues);
    const bool strong = i % 2 == 0;
    slots[static_cast<size_t>(i)] = dark ? of_luminance(hue, strong ? 0.45 : 0.3, strong ? 0.072 : 0.045)
                                         : of_luminance(hue, strong ? 0.85 : 0.6, strong ? 0.6 : 0.76);
  }
  return slots;
}

Colour slot_fill(int slot, bool dark) {
  static const std::array<Colour, kModuleColours> light_slots = make_slots(false), dark_slots = make_slots(true);
  if (slot < 0 || slot >= kModuleColours) return unknown_fill(dark);
  return (dark ? dark_slots : light_slots)[static_cast<size_t>(slot)];
}

Colour collapsed_fill(bool dark) {
  const Palette& p = palette(dark);
  return mix(p.group_fill, p.group_border, dark ? 0.18 : 0.25);
}

/// Whether the colour of a box is its own, not the one that all collapsed groups have.
bool box_has_colour(ColourBy by) {
  return by == ColourBy::Time || by == ColourBy::Bytes || by == ColourBy::Module || by == ColourBy::Device;
}

// Legends ------------------------------------------------------------------------------------------------------------

using Entries = std::vector<LegendEntry>;

Entries class_entries(const Picture& picture, const Palette& p) {
  std::set<OpClass> used;
  for (const auto& node : picture.nodes)
    if (node.module.empty()) used.insert(node.op_class);
  Entries entries;
  for (OpClass c : used) entries.push_back({std::string(label(c)), p.fills[static_cast<size_t>(c)]});
  return entries;
}

Entries dtype_entries(const Picture& picture, const Palette& p) {
  std::set<std::string> used;
  for (const auto& node : picture.nodes)
    if (node.module.empty()) used.insert(node.dtype);
  Entries entries;
  for (const auto& dtype : used) entries.push_back({dtype.empty() ? "no dtype" : dtype, dtype_fill(dtype, p)});
  return entries;
}

Entries time_entries(const Picture& picture, bool dark) {
  const double most = slowest(picture);
  Entries entries = {{"no time known", unknown_fill(dark)}};
  if (most > 0)
    for (double share : {0.0, 0.5, 1.0}) entries.push_back({format_time(most * share), time_fill(share, dark)});
  return entries;
}

Entries bytes_entries(const Picture& picture, bool dark) {
  Entries entries;
  if (std::any_of(picture.nodes.begin(), picture.nodes.end(), [](const auto& n) { return n.bytes < 0; }))
    entries.push_back({"no size known", unknown_fill(dark)});
  const double least = picture.least_bytes, most = picture.most_bytes;
  if (least < 0) return entries;
  if (most <= least) {
    entries.push_back({format_bytes(least), bytes_fill(0, dark)});
    return entries;
  }
  for (double share : {0.0, 1.0 / 3, 2.0 / 3, 1.0})
    entries.push_back({format_bytes(least * std::pow(most / least, share)), bytes_fill(share, dark)});
  return entries;
}

std::map<int, size_t> count_slots(const Picture& picture, int PictureNode::* slot) {
  std::map<int, size_t> counts;
  for (const auto& node : picture.nodes) counts[node.*slot] += std::max<size_t>(node.members.size(), 1);
  return counts;
}

/// Only what stands before a number or a name is cut: `model.encoder.layer.0` ends in what tells it apart.
std::string tail(const std::string& path) {
  constexpr size_t most = 34;
  if (path.size() <= most) return path;
  const size_t dot = path.find('.', path.size() - most);
  return "…" + path.substr(dot == std::string::npos ? path.size() - most : dot + 1);
}

Entries module_entries(const Picture& picture, bool dark) {
  const auto counts = count_slots(picture, &PictureNode::module_slot);
  std::vector<std::pair<size_t, int>> order;
  for (const auto& [slot, count] : counts)
    if (slot >= 0 && static_cast<size_t>(slot) < picture.modules.size()) order.emplace_back(count, -slot);
  std::sort(order.rbegin(), order.rend());
  const size_t named = std::min(order.size(), kMostLegendModules);
  std::vector<int> slots;
  for (size_t i = 0; i < named; ++i) slots.push_back(-order[i].second);
  std::sort(slots.begin(), slots.end());
  Entries entries;
  for (int slot : slots) entries.push_back({tail(picture.modules[static_cast<size_t>(slot)]), slot_fill(slot, dark)});
  if (named < order.size())
    entries.push_back({fmt::format("and {} more", order.size() - named), palette(dark).background});
  if (counts.contains(-1)) entries.push_back({"others", unknown_fill(dark)});
  return entries;
}

Entries device_entries(const Picture& picture, bool dark) {
  Entries entries;
  for (const auto& [slot, count] : count_slots(picture, &PictureNode::device_slot))
    if (slot >= 0 && static_cast<size_t>(slot) < picture.devices.size())
      entries.push_back({picture.devices[static_cast<size_t>(slot)], slot_fill(slot, dark)});
    else
      entries.push_back({"none, or several", unknown_fill(dark)});
  return entries;
}

Entries colour_entries(const Picture& picture, ColourBy by, bool dark) {
  switch (by) {
    case ColourBy::Class:
      return class_entries(picture, palette(dark));
    case ColourBy::DType:
      return dtype_entries(picture, palette(dark));
    case ColourBy::Time:
      return time_entries(picture, dark);
    case ColourBy::Bytes:
      return bytes_entries(picture, dark);
    case ColourBy::Module:
      return module_entries(picture, dark);
    case ColourBy::Device:
      return device_entries(picture, dark);
    case ColourBy::None:
      break;
  }
  return {};
}

}  // namespace

std::string hex(Colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

const Palette& palette(bool dark) { return dark ? kDark : kLight; }

double slowest(const Picture& picture) {
  double most = 0;
  for (const auto& node : picture.nodes) most = std::max(most, node.time_ns);
  return most;
}

double contrast(Colour a, Colour b) {
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

Colour frame_fill(int depth, bool dark) {
  const Palette& p = palette(dark);
  return mix(p.group_fill, p.group_border, (dark ? 0.035 : 0.045) * std::min(depth, 5));
}

int frame_depth(const Picture& picture, int group) {
  int depth = 0;
  for (int at = picture.groups[static_cast<size_t>(group)].parent; at >= 0;
       at = picture.groups[static_cast<size_t>(at)].parent)
    ++depth;
  return depth;
}

Colour state_colour(NodeState state, const Palette& palette) {
  switch (state) {
    case NodeState::Added:
      return palette.added;
    case NodeState::Changed:
      return palette.changed;
    case NodeState::Removed:
      return palette.removed;
    case NodeState::Same:
      break;
  }
  return palette.node_border;
}

char state_sign(NodeState state) {
  return state == NodeState::Added ? '+' : state == NodeState::Changed ? '~' : state == NodeState::Removed ? '-' : 0;
}

Colour node_fill(const PictureNode& node, const DrawOptions& options, double slowest) {
  const Palette& p = palette(options.dark);
  if (!options.colours || options.colour_by == ColourBy::None || node.state == NodeState::Removed) return p.background;
  if (!node.module.empty() && !box_has_colour(options.colour_by)) return collapsed_fill(options.dark);
  switch (options.colour_by) {
    case ColourBy::DType:
      return dtype_fill(node.dtype, p);
    case ColourBy::Time:
      return time_fill(node.time_ns < 0 || slowest <= 0 ? -1 : node.time_ns / slowest, options.dark);
    case ColourBy::Bytes:
      return bytes_fill(node.bytes_share, options.dark);
    case ColourBy::Module:
      return slot_fill(node.module_slot, options.dark);
    case ColourBy::Device:
      return slot_fill(node.device_slot, options.dark);
    case ColourBy::Class:
    case ColourBy::None:
      break;
  }
  return p.fills[static_cast<size_t>(node.op_class)];
}

Entries legend(const Picture& picture, const DrawOptions& options) {
  if (!options.colours || options.colour_by == ColourBy::None) return {};
  Entries entries = colour_entries(picture, options.colour_by, options.dark);
  const bool boxes =
      std::any_of(picture.nodes.begin(), picture.nodes.end(), [](const auto& node) { return !node.module.empty(); });
  if (boxes && !box_has_colour(options.colour_by))
    entries.push_back({"group, collapsed", collapsed_fill(options.dark)});
  return entries;
}

}  // namespace strata::draw
