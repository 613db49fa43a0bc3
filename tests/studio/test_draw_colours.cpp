// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "app/draw/attributes.h"
#include "app/draw/export.h"
#include "app/draw/grouping.h"
#include "app/draw/palette.h"
#include "tests/studio/drawing.h"

namespace strata::draw {
namespace {

using test::record;
using testing::ElementsAre;
using testing::HasSubstr;
using trace::NodeRecord;

constexpr ColourBy kAll[] = {ColourBy::Class, ColourBy::DType,  ColourBy::Time,  ColourBy::None,
                             ColourBy::Bytes, ColourBy::Module, ColourBy::Device};

std::vector<NodeRecord> model() {
  std::vector<NodeRecord> nodes = {record(1, {})};
  for (int i = 2; i <= 61; ++i) {
    nodes.push_back(record(i, {i - 1}, fmt::format("net.layer.{}.lin", i / 5)));
    nodes.back().device = i % 7 ? "cuda:0" : i % 2 ? "cpu" : "cuda:1";
    nodes.back().shape = fmt::format("[{}, 64]", i * i);
  }
  return nodes;
}

Picture coloured(std::vector<NodeRecord> nodes, std::map<std::string, bool> opened = {}) {
  DrawOptions options;
  options.group_by = GroupBy::Modules;
  options.opened = std::move(opened);
  return make_picture(nodes, {}, {}, options);
}

std::vector<std::string> texts(const std::vector<LegendEntry>& entries) {
  std::vector<std::string> result;
  for (const auto& entry : entries) result.push_back(entry.text);
  return result;
}

TEST(Contrast, IsThatOfWcag) {
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21, 0.01);
  EXPECT_NEAR(contrast({119, 119, 119}, {255, 255, 255}), 4.48, 0.01);
  EXPECT_DOUBLE_EQ(contrast({10, 20, 30}, {10, 20, 30}), 1);
}

/// Every text that stands in a box or on a frame, on every fill that there can be, light and dark.
TEST(Contrast, TextIsReadableOnEveryFill) {
  for (bool dark : {false, true})
    for (ColourBy by : kAll) {
      DrawOptions options;
      options.dark = dark;
      options.colour_by = by;
      std::vector<PictureNode> nodes;
      auto add = [&](auto change) { change(nodes.emplace_back()); };
      for (int c = 0; c < kOpClasses; ++c) add([&](auto& n) { n.op_class = static_cast<OpClass>(c); });
      for (const char* dtype : {"", "f64", "f32", "f16", "bf16", "i64", "i32", "i8", "bool", "c64"})
        add([&](auto& n) { n.dtype = dtype; });
      for (int k = -1; k <= 20; ++k) add([&](auto& n) { n.time_ns = n.bytes_share = k / 20.0; });
      for (int slot = -1; slot < kModuleColours; ++slot) add([&](auto& n) { n.module_slot = n.device_slot = slot; });
      add([](auto& n) { n.module = "net"; });
      const Palette& p = palette(dark);
      for (const auto& node : nodes) {
        const Colour fill = node_fill(node, options, 1.0);
        for (Colour text : {p.text, p.dim_text, p.group_text})
          EXPECT_GE(contrast(text, fill), 4.5)
              << hex(text) << " on " << hex(fill) << (dark ? " dark " : " light ") << static_cast<int>(by);
      }
      for (int depth = 0; depth < 8; ++depth)
        for (Colour text : {p.dim_text, p.group_text}) EXPECT_GE(contrast(text, frame_fill(depth, dark)), 4.5);
      EXPECT_GE(contrast(p.text, p.background), 7);
    }
}

TEST(ColourSlots, AreAllDifferent) {
  for (bool dark : {false, true}) {
    std::set<std::string> fills;
    DrawOptions options;
    options.dark = dark;
    options.colour_by = ColourBy::Module;
    for (int slot = -1; slot < kModuleColours; ++slot) {
      PictureNode node;
      node.module_slot = slot;
      EXPECT_TRUE(fills.insert(hex(node_fill(node, options, 0))).second) << slot;
    }
  }
}

TEST(ColourByModule, TakesTheDepthThatTellsMost) {
  const Picture picture = coloured(model());
  ASSERT_EQ(picture.modules.size(), 13u);
  EXPECT_EQ(picture.modules[2], "net.layer.2");
  EXPECT_EQ(picture.modules[10], "net.layer.10") << "in the order of numbers";
  const auto& node = picture.nodes[static_cast<size_t>(picture.find(12))];
  EXPECT_EQ(picture.modules[static_cast<size_t>(node.module_slot)], "net.layer.2");
  DrawOptions options;
  options.colour_by = ColourBy::Module;
  const auto words = texts(legend(picture, options));
  EXPECT_EQ(words.size(), kMostLegendModules + 1) << "the most frequent, and how many more";
  EXPECT_EQ(words.back(), "and 1 more");
}

TEST(ColourByModule, IsTheSameInEveryStageAndOfABox) {
  auto nodes = model();
  const Picture before = coloured(nodes);
  nodes.erase(nodes.begin() + 30);
  const Picture after = coloured(nodes, {{"net.layer.3.lin", false}});
  for (int id : {4, 13, 40, 61})
    EXPECT_EQ(before.nodes[static_cast<size_t>(before.find(id))].module_slot,
              after.nodes[static_cast<size_t>(after.find(id))].module_slot);
  const auto& box = after.nodes[static_cast<size_t>(after.find(16))];
  EXPECT_FALSE(box.module.empty());
  EXPECT_EQ(after.modules[static_cast<size_t>(box.module_slot)], "net.layer.3");
}

TEST(ColourByModule, OthersShareOneColour) {
  std::vector<NodeRecord> nodes = {record(1, {})};
  for (int i = 2; i < 402; ++i) nodes.push_back(record(i, {i - 1}, fmt::format("block{}", (i - 2) / 4)));
  DrawOptions options;
  options.group_by = GroupBy::None;
  options.colour_by = ColourBy::Module;
  const Picture picture = make_picture(nodes, {}, {}, options);
  EXPECT_EQ(picture.modules.size(), static_cast<size_t>(kModuleColours));
  EXPECT_EQ(texts(legend(picture, options)).back(), "others");
}

TEST(ColourByDevice, OneColourPerDeviceInEveryPicture) {
  const Picture picture = coloured(model());
  std::map<std::string, int> places;
  for (const auto& node : picture.nodes)
    if (!node.device.empty()) {
      const auto [at, fresh] = places.emplace(node.device, node.device_slot);
      EXPECT_EQ(at->second, node.device_slot);
    }
  EXPECT_EQ(places.size(), 3u);
  EXPECT_EQ(places["cpu"], 0);
  EXPECT_EQ(places["cuda:0"], 1);
  EXPECT_EQ(places["cuda:1"], 2);
  DrawOptions options;
  options.colour_by = ColourBy::Device;
  EXPECT_THAT(texts(legend(picture, options)), ElementsAre("none, or several", "cpu", "cuda:0", "cuda:1"));
}

TEST(ColourByDevice, ManyKindsMayMeet) {
  std::vector<NodeRecord> nodes = {record(1, {})};
  for (int i = 2; i < 40; ++i) {
    nodes.push_back(record(i, {1}));
    nodes.back().device = fmt::format("kind{}:0", i);
  }
  const Picture picture = coloured(nodes);
  std::set<int> places;
  for (const auto& node : picture.nodes) {
    EXPECT_LT(node.device_slot, kDeviceColours);
    if (node.device_slot >= 0) {
      EXPECT_TRUE(places.insert(node.device_slot).second);
    }
  }
  EXPECT_EQ(places.size(), static_cast<size_t>(kDeviceColours));
}

TEST(ValueBytes, FromDtypeShapeAndType) {
  EXPECT_DOUBLE_EQ(value_bytes("f32", "[8, 64]", ""), 2048);
  EXPECT_DOUBLE_EQ(value_bytes("bf16", "[]", ""), 2);
  EXPECT_DOUBLE_EQ(value_bytes("b8", "[0, 3]", ""), 0);
  EXPECT_DOUBLE_EQ(value_bytes("", "", "(f32[8, 64][64, 1]cpu, i64[3][1]cpu)"), 2048 + 24);
  EXPECT_EQ(value_bytes("f32", "[s0, 64]", "f32[s0, 64]"), -1);
  EXPECT_EQ(value_bytes("", "", ""), -1);
  EXPECT_EQ(value_bytes("f32", "[8,, 2]", ""), -1);
  EXPECT_EQ(value_bytes("f32", "[8", "f32[8"), -1);
  EXPECT_EQ(value_bytes("strange", "[8]", ""), -1);
  EXPECT_GT(value_bytes("f64", "[99999999999999999999999, 99999999999999999999]", ""), 1e40);
}

TEST(ColourByBytes, GoesByLogarithmWithLegend) {
  auto nodes = std::vector<NodeRecord>{record(1, {}), record(2, {1}), record(3, {2}), record(4, {3})};
  nodes[0].shape = "[1]", nodes[1].shape = "[1000]", nodes[2].shape = "[1000000]", nodes[3].shape = "[s0]";
  DrawOptions options;
  options.colour_by = ColourBy::Bytes;
  const Picture picture = make_picture(nodes, {}, {}, options);
  EXPECT_DOUBLE_EQ(picture.nodes[0].bytes_share, 0);
  EXPECT_NEAR(picture.nodes[1].bytes_share, 0.5, 1e-9);
  EXPECT_DOUBLE_EQ(picture.nodes[2].bytes_share, 1);
  EXPECT_DOUBLE_EQ(picture.nodes[3].bytes_share, -1);
  EXPECT_THAT(texts(legend(picture, options)), ElementsAre("no size known", "4 B", "400 B", "40.0 kB", "4.0 MB"));
}

TEST(ColourByAnything, IsInFilesToo) {
  for (bool dark : {false, true})
    for (ColourBy by : kAll) {
      DrawOptions options;
      options.dark = dark;
      options.colour_by = by;
      const Picture picture = make_picture(model(), {}, {}, options);
      const std::string svg = render(picture, Format::Svg, options), dot = to_dot(picture, options);
      const std::string fill = hex(node_fill(picture.nodes[20], options, slowest(picture)));
      EXPECT_THAT(svg, HasSubstr("fill=\"" + fill + "\""));
      EXPECT_THAT(dot, HasSubstr("fillcolor=\"" + fill + "\""));
      for (const auto& entry : legend(picture, options)) EXPECT_THAT(svg, HasSubstr(">" + entry.text + "<"));
    }
}

}  // namespace
}  // namespace strata::draw
