// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <QByteArray>
#include <QXmlStreamReader>
#include <map>
#include <set>
#include <sstream>

#include "app/draw/export.h"
#include "app/draw/grouping.h"
#include "app/draw/layout_quality.h"
#include "app/draw/user_groups.h"
#include "core/support/error.h"
#include "tests/studio/drawing.h"

namespace strata::draw {
namespace {

using test::expect_sound;
using test::record;
using testing::ElementsAre;
using testing::HasSubstr;
using trace::NodeRecord;

/// Two layers of two operators each, with a weight, between an input and a tail.
std::vector<NodeRecord> two_layers() {
  return {record(1, {}, ""),
          record(2, {}, ""),
          record(3, {1, 2}, "net.layer.0.lin", "aten.mm.default"),
          record(4, {3}, "net.layer.0.act"),
          record(5, {4}, "net.layer.0.act"),
          record(6, {5}, "net.layer.1.lin", "aten.mm.default"),
          record(7, {6, 4}, "net.layer.1.lin"),
          record(8, {7}, "net")};
}

Picture drawn(const std::vector<NodeRecord>& nodes, GroupBy by, std::vector<UserGroup> groups,
              std::map<std::string, bool> opened = {}) {
  DrawOptions options;
  options.group_by = by;
  options.user_groups = std::move(groups);
  options.opened = std::move(opened);
  return make_picture(nodes, {}, {}, options);
}

/// Each frame with its nodes, and those of the frames in it, by id: `name:3,4(inner:5)`.
std::string frame_text(const Picture& picture, int g) {
  const auto& group = picture.groups[static_cast<size_t>(g)];
  std::string text = group.module + ":";
  for (int i : group.nodes) text += fmt::format("{},", picture.nodes[static_cast<size_t>(i)].id);
  for (size_t inner = 0; inner < picture.groups.size(); ++inner)
    if (picture.groups[inner].parent == g) text += "(" + frame_text(picture, static_cast<int>(inner)) + ")";
  return text;
}

std::vector<std::string> outer_frames(const Picture& picture) {
  std::vector<std::string> frames;
  for (size_t g = 0; g < picture.groups.size(); ++g)
    if (picture.groups[g].parent < 0) frames.push_back(frame_text(picture, static_cast<int>(g)));
  return frames;
}

UserGroup of(const std::string& name, std::vector<trace::NodeId> nodes) {
  UserGroup group;
  group.name = name;
  group.nodes = std::move(nodes);
  return group;
}

TEST(UserGroupFrames, StandAloneAndAmongModules) {
  EXPECT_THAT(outer_frames(drawn(two_layers(), GroupBy::User, {of("mine", {4, 5, 6})})),
              ElementsAre("group:mine:4,5,6,"));
  // It crosses the borders of both layers, so it stands in what holds both; what it cuts off stays where it was.
  EXPECT_THAT(outer_frames(drawn(two_layers(), GroupBy::Modules, {of("mine", {5, 6})})),
              ElementsAre("net:8,(net.layer:7,(net.layer.0:4,(net.layer.0.lin:1,2,3,))(group:mine:5,6,))"))
      << "modules of one node have no frame of their own";
  // Whole modules stay whole in it.
  EXPECT_THAT(outer_frames(drawn(two_layers(), GroupBy::Modules, {of("both", {1, 2, 3, 4, 5, 6, 7})})),
              ElementsAre("net:8,(net.layer:(group:both:(net.layer.0:(net.layer.0.lin:1,2,3,)(net.layer.0.act:4,5,))"
                          "(net.layer.1.lin:6,7,)))"));
}

TEST(UserGroupFrames, NestAndWhereTwoCrossTheLaterHasTheNodes) {
  EXPECT_THAT(outer_frames(drawn(two_layers(), GroupBy::User, {of("outer", {3, 4, 5, 6}), of("inner", {4, 5})})),
              ElementsAre("group:outer:3,6,(group:inner:4,5,)"));
  EXPECT_THAT(outer_frames(drawn(two_layers(), GroupBy::User, {of("inner", {4, 5}), of("outer", {3, 4, 5, 6})})),
              ElementsAre("group:outer:3,6,(group:inner:4,5,)"));
  EXPECT_THAT(outer_frames(drawn(two_layers(), GroupBy::User, {of("first", {3, 4, 5}), of("second", {5, 6})})),
              ElementsAre("group:first:3,4,", "group:second:5,6,"));
}

TEST(UserGroupFrames, RulesSayWhoBelongs) {
  auto rule = [](const char* text) { return parse_user_group(std::string("g=") + text); };
  auto members_of = [&](const char* text) { return outer_frames(drawn(two_layers(), GroupBy::User, {rule(text)})); };
  EXPECT_THAT(members_of("module:net.layer.0"), ElementsAre("group:g:1,2,3,4,5,")) << "weights go with their users";
  EXPECT_THAT(members_of("op:mm"), ElementsAre("group:g:3,6,"));
  EXPECT_THAT(members_of("op:aten.mm.default"), ElementsAre("group:g:3,6,"));
  EXPECT_THAT(members_of("target=aten.mm* or name=n8"), ElementsAre("group:g:3,6,8,"));
  EXPECT_THAT(members_of("module~layer.1"), ElementsAre("group:g:6,7,"));
  EXPECT_TRUE(members_of("name=nobody").empty());
}

TEST(UserGroupFrames, WrongRulesAreToldWithTheirPlace) {
  for (auto [text, words] : std::vector<std::pair<const char*, const char*>>{{"no rule", "is no group"},
                                                                             {"=op:add", "is no group"},
                                                                             {"a=", "has no rule"},
                                                                             {"a=op:", "has no text"},
                                                                             {"a=dtpye=f32", "no key 'dtpye'"},
                                                                             {"a=line=3", "no key 'line'"},
                                                                             {"a=dtype<3", "has no order"}})
    try {
      parse_user_group(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::User);
      EXPECT_THAT(std::string(error.what()), HasSubstr(words)) << text;
    }
  UserGroup broken;  // one that was kept from elsewhere
  broken.name = "old";
  broken.rule = UserGroup::Rule::Query;
  broken.text = "((";
  EXPECT_TRUE(drawn(two_layers(), GroupBy::User, {broken}).groups.empty());
  for (const char* text : {"module:a.b", "op:add", "dtype=f32"})
    EXPECT_EQ(rule_words(parse_user_group(std::string("a=") + text)), text);
}

/// Nodes 3 and 4 are one kernel, 5 and 6 another; 7 is alone.
Picture with_kernels(std::map<std::string, bool> opened, std::vector<UserGroup> groups = {}) {
  trace::KernelRecord a, b, c;
  a.id = 11, a.name = "first", a.nodes = {3, 4};
  b.id = 12, b.name = "second", b.nodes = {5, 6};
  c.id = 13, c.name = "third", c.nodes = {7};
  DrawOptions options;
  options.opened = std::move(opened);
  options.user_groups = std::move(groups);
  return make_picture(two_layers(), {a, b, c}, {{11, 1000.0}, {12, 600.0}, {13, 50.0}}, options);
}

TEST(Kernels, CollapseIntoOneBoxWithNameAndTime) {
  const Picture open = with_kernels({});
  ASSERT_EQ(open.groups.size(), 2u);
  EXPECT_EQ(open.groups[0].module, "kernel:11");
  const Picture picture = with_kernels({{"kernel:11", false}});
  ASSERT_EQ(picture.groups.size(), 1u);
  EXPECT_EQ(picture.groups[0].title, "second");
  const PictureNode& box = picture.nodes[static_cast<size_t>(picture.find(3))];
  EXPECT_EQ(picture.find(3), picture.find(4));
  EXPECT_EQ(box.title, "first");
  EXPECT_EQ(box.kernel, 11);
  EXPECT_EQ(box.footer, "1.0 µs");
  EXPECT_EQ(box.subtitle, "2 nodes");
  EXPECT_DOUBLE_EQ(box.time_ns, 1000);
  EXPECT_DOUBLE_EQ(box.bytes, 8 * 64 * 4) << "one value leaves it, to two places";
  EXPECT_EQ(picture.nodes[static_cast<size_t>(picture.find(7))].footer, "50 ns");
}

TEST(Kernels, AreCutByGroupsOfTheUsers) {
  const Picture picture = with_kernels({}, {of("mine", {4, 5, 6})});
  EXPECT_THAT(outer_frames(picture), ElementsAre("kernel:11:3,", "group:mine:(kernel:11:4,)(kernel:12:5,6,)"));
  EXPECT_EQ(picture.groups[0].note, "1 of 2 nodes · 500 ns");
  expect_sound(picture, lay_out(picture, Engine::Layered));
}

TEST(CollapsedGroups, MayStandInACycle) {
  // 1 -> 2 -> 3 -> 4: with 1 and 3 in one box, and 2 and 4 in another, edges go both ways.
  const std::vector<NodeRecord> nodes = {record(1, {}), record(2, {1}), record(3, {2}), record(4, {3}), record(5, {4})};
  const Picture picture = drawn(nodes, GroupBy::User, {of("odd", {1, 3}), of("even", {2, 4})},
                                {{"group:odd", false}, {"group:even", false}});
  ASSERT_EQ(picture.nodes.size(), 3u);
  ASSERT_EQ(picture.edges.size(), 3u);
  const Layout layout = lay_out(picture, Engine::Layered);
  expect_sound(picture, layout);
  EXPECT_EQ(measure_quality(picture, layout).through_boxes, 0u) << "the edge that goes up passes beside the boxes";
}

/// Random programs, modules, kernels, groups and choices, with both engines.
TEST(UserGroupFrames, PicturesStaySoundWhateverIsGrouped) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 80; ++round) {
    const auto nodes = test::random_records(random, 2 + static_cast<int>(random() % 90));
    DrawOptions options;
    options.group_by = static_cast<GroupBy>(random() % 5);
    for (unsigned k = random() % 5; k > 0; --k) {
      UserGroup group = of(fmt::format("g{}", k), {});
      for (unsigned m = random() % 20; m > 0; --m) group.nodes.push_back(1 + random() % nodes.size());
      if (random() % 4 == 0) group.rule = UserGroup::Rule::Operator, group.text = "mm";
      if (random() % 4 == 0) group.rule = UserGroup::Rule::Module, group.text = "0";
      options.user_groups.push_back(group);
    }
    const Picture all = make_picture(nodes, {}, {}, options);
    for (const auto& frame : all.groups)
      if (random() % 3 == 0) options.opened[frame.module] = false;
    const Picture picture = make_picture(nodes, {}, {}, options);
    std::set<trace::NodeId> shown;
    for (const auto& node : picture.nodes) {
      if (node.members.empty()) shown.insert(node.id);
      for (trace::NodeId id : node.members) EXPECT_TRUE(shown.insert(id).second) << "in two boxes";
    }
    EXPECT_EQ(shown.size(), nodes.size());
    // Frames of the user's hold exactly their members, but for what a later group took.
    for (size_t g = 0; g < picture.groups.size(); ++g)
      for (size_t h = 0; h < g && !user_group_name(picture.groups[g].module).empty(); ++h)
        EXPECT_NE(picture.groups[g].module, picture.groups[h].module);
    expect_sound(picture, lay_out(picture, Engine::Layered));
    if (round % 8 == 0 && picture.groups.empty()) expect_sound(picture, lay_out(picture, Engine::Graphviz));
    if (testing::Test::HasFailure()) return;
  }
}

/// As in training: what is computed early is used late, in reverse; and one mask is used everywhere.
TEST(LongEdges, PassBesideAllBoxesInFewPieces) {
  std::vector<NodeRecord> nodes = {record(1, {})};
  constexpr int half = 300;
  for (int i = 2; i <= 2 * half; ++i) {
    std::vector<trace::NodeId> operands = {i - 1};
    if (i > half + 1) operands.push_back(2 * half + 1 - i);
    if (i % 5 == 0) operands.push_back(1);
    nodes.push_back(record(i, operands));
  }
  const Picture picture = make_picture(nodes, {}, {}, {});
  const Layout layout = lay_out(picture, Engine::Layered);
  expect_sound(picture, layout);
  EXPECT_EQ(measure_quality(picture, layout).through_boxes, 0u);
  size_t most = 0;
  for (const auto& edge : layout.edges) most = std::max(most, edge.size());
  EXPECT_LE(most, 3 * 2 * 66 + 1u);
}

TEST(LooseBoxes, StandInRowsBelowAllOthers) {
  std::vector<NodeRecord> nodes;
  for (int i = 1; i <= 300; ++i)
    nodes.push_back(record(i, i > 290 ? std::vector<trace::NodeId>{i - 1} : std::vector<trace::NodeId>{}));
  const Picture picture = make_picture(nodes, {}, {}, {});
  const Layout layout = lay_out(picture);
  EXPECT_EQ(layout.engine, Engine::Layered);
  expect_sound(picture, layout);
  EXPECT_LT(layout.width, 1400);
  EXPECT_LT(layout.nodes[299].bottom(), layout.nodes[0].y);
  EXPECT_LT(layout.nodes[0].y, layout.nodes[200].y);
}

TEST(LooseBoxes, DoNotKeepModulesOfALargeGraphShut) {
  std::vector<NodeRecord> nodes;
  for (int i = 1; i <= 1000; ++i) nodes.push_back(record(i, {}));
  for (int i = 1001; i <= 2000; ++i) nodes.push_back(record(i, {i - 1}, fmt::format("net.{}.x", i / 100)));
  EXPECT_EQ(drawn(nodes, GroupBy::Modules, {}).nodes.size(), 999u + 11u) << "ten boxes, and the last node";
}

TEST(DotExport, ClustersNestAsFramesDo) {
  const Picture picture = drawn(two_layers(), GroupBy::Modules, {of("mine", {5, 6})}, {{"net.layer.0", false}});
  const std::string dot = to_dot(picture, {});
  std::vector<std::string> open, seen;
  std::map<std::string, std::string> around;  // of each node
  std::istringstream lines(dot);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find("subgraph "); at != std::string::npos)
      open.push_back(line.substr(at + 9, line.find(' ', at + 9) - at - 9));
    else if (line == "  }")
      open.pop_back();
    else if (!open.empty() && line.rfind("    n", 0) == 0) {
      std::istringstream words(line);
      for (std::string word; words >> word;) around[word] = fmt::format("{}", fmt::join(open, "/"));
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(around["n5;"], "cluster_0/cluster_1/cluster_2");
  EXPECT_EQ(around["n7;"], "cluster_0/cluster_1");
  EXPECT_EQ(around["n8;"], "cluster_0");
  EXPECT_EQ(render(picture, lay_out(picture), Format::Pdf, {}).substr(0, 4), "%PDF");
}

TEST(SvgExport, FortyThousandNodesAreWellFormed) {
  std::vector<NodeRecord> nodes;
  for (int i = 1; i <= 40000; ++i) {
    std::vector<trace::NodeId> operands;
    if (i > 1) operands.push_back(i - 1);
    if (i > 9 && i % 8 == 0) operands.push_back(i - 8);
    nodes.push_back(record(i, operands));
  }
  DrawOptions options;
  options.groups = false;
  const std::string svg = render(make_picture(nodes, {}, {}, options), Format::Svg, options);
  QXmlStreamReader xml(QByteArray::fromStdString(svg));
  int boxes = 0;
  while (!xml.atEnd())
    if (xml.readNext() == QXmlStreamReader::StartElement)
      boxes += xml.attributes().value("class") == QLatin1String("node");
  EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
  EXPECT_EQ(boxes, 40000);
}

}  // namespace
}  // namespace strata::draw
