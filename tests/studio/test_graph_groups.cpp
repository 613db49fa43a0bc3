// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <QComboBox>
#include <QTest>
#include <random>
#include <set>

#include "app/studio/models/graph_groups.h"
#include "app/studio/views/graph_controls.h"
#include "app/studio/views/main_window.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using draw::GroupBy;
using draw::Picture;
using test::settle;
using testing::ElementsAre;
using trace::NodeRecord;

NodeRecord node(trace::NodeId id, std::vector<trace::NodeId> operands, const std::string& module) {
  NodeRecord n;
  n.id = id;
  n.name = fmt::format("n{}", id);
  n.op = operands.empty() ? "placeholder" : "call";
  n.target = operands.empty() ? "" : "aten.add.Tensor";
  for (auto operand : operands) n.inputs.push_back({operand});
  n.module = module;
  n.dtype = "f32";
  return n;
}

Picture grouped(const std::vector<NodeRecord>& nodes, draw::DrawOptions options = {}) {
  options.groups = false;
  Picture picture = group_by_modules(draw::make_picture(nodes, {}, {}, options), nodes, options);
  draw::measure(picture, options);
  return picture;
}

std::vector<std::string> frames(const Picture& picture) {
  std::vector<std::string> result;
  for (const auto& group : picture.groups) result.push_back(group.module);
  return result;
}

/// Two layers of two operators each, with a weight, between an input and a tail.
std::vector<NodeRecord> two_layers() {
  return {node(1, {}, ""),
          node(2, {}, ""),
          node(3, {1, 2}, "net.layer.0.lin"),
          node(4, {3}, "net.layer.0.act"),
          node(5, {4}, "net.layer.0.act"),
          node(6, {5}, "net.layer.1.lin"),
          node(7, {6, 4}, "net.layer.1.lin"),
          node(8, {7}, "net")};
}

TEST(GraphGroups, PathsAreTakenApart) {
  EXPECT_THAT(module_parts("encoder.layer.0.mlp"), ElementsAre("encoder", "layer", "0", "mlp"));
  EXPECT_THAT(module_parts("L['a.b'].x[1.5].y"), ElementsAre("L['a.b']", "x[1.5]", "y"));
  EXPECT_THAT(module_parts("..a..b."), ElementsAre("a", "b"));
  EXPECT_TRUE(module_parts("").empty());
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "a.";
  EXPECT_LE(module_parts(deep).size(), 48u);
}

TEST(GraphGroups, FramesNestAndNeedlessOnesAreLeftOut) {
  Picture picture = grouped(two_layers());
  // `net.layer.0.lin` takes its input and its weight in; `net.layer.1` holds one module only and has no frame.
  EXPECT_THAT(frames(picture),
              ElementsAre("net", "net.layer", "net.layer.0", "net.layer.0.lin", "net.layer.0.act", "net.layer.1.lin"));
  EXPECT_EQ(picture.groups[1].parent, 0);
  EXPECT_EQ(picture.groups[3].parent, 2);
  EXPECT_EQ(picture.groups[5].title, "1.lin");
  EXPECT_EQ(picture.groups[5].parent, 1);
  EXPECT_EQ(picture.nodes[0].group, 3);
  EXPECT_EQ(picture.edges.size(), 8u);
}

TEST(GraphGroups, WhatTheOutputUsesStaysInItsModule) {
  auto nodes = two_layers();
  nodes.push_back(node(9, {8, 2}, ""));
  nodes.back().op = "output";
  Picture picture = grouped(nodes);
  EXPECT_EQ(module_of(picture, picture.find(2)), "net.layer.0.lin");
  EXPECT_EQ(module_of(picture, picture.find(9)), "");
}

TEST(GraphGroups, ACollapsedModuleIsOneBoxWithMergedEdges) {
  draw::DrawOptions options;
  options.opened["net.layer.0"] = false;
  Picture picture = grouped(two_layers(), options);
  int box = picture.find(3);
  ASSERT_GE(box, 0);
  EXPECT_EQ(box, picture.find(5));
  EXPECT_EQ(picture.nodes[box].module, "net.layer.0");
  EXPECT_EQ(picture.nodes[box].members.size(), 5u);
  EXPECT_EQ(picture.nodes[box].subtitle, "5 nodes");
  EXPECT_EQ(picture.nodes.size(), 4u);
  // 5 -> 6 and 4 -> 7 leave the box for two nodes, 6 -> 7 and 7 -> 8 remain.
  EXPECT_EQ(picture.edges.size(), 4u);
  EXPECT_EQ(module_of(picture, box), "net.layer.0");
  options.opened["net.layer.1.lin"] = false;
  EXPECT_EQ(grouped(two_layers(), options).edges.size(), 2u);
}

TEST(GraphGroups, TimesOfABoxAreSharesOfItsKernels) {
  auto nodes = two_layers();
  trace::KernelRecord a, b;
  a.id = 1, a.name = "a", a.nodes = {3, 4};
  b.id = 2, b.name = "b", b.nodes = {5, 6};
  draw::DrawOptions options;
  options.groups = false;
  options.opened["net.layer.0"] = false;
  Picture flat = draw::make_picture(nodes, {a, b}, {{1, 1000.0}, {2, 600.0}}, options);
  Picture picture = group_by_modules(flat, nodes, options);
  EXPECT_DOUBLE_EQ(picture.nodes[picture.find(3)].time_ns, 1300);
  EXPECT_EQ(picture.nodes[picture.find(3)].footer, "1.3 µs");
}

TEST(GraphGroups, ChangesInsideABoxShow) {
  auto nodes = two_layers();
  draw::DrawOptions options;
  options.groups = false;
  options.opened["net.layer.0"] = options.opened["net.layer.1.lin"] = false;
  Picture flat = draw::make_picture(nodes, {}, {}, options);
  flat.nodes[2].state = draw::NodeState::Added;
  flat.nodes[5].state = flat.nodes[6].state = draw::NodeState::Added;
  Picture picture = group_by_modules(flat, nodes, options);
  EXPECT_EQ(picture.nodes[picture.find(3)].state, draw::NodeState::Changed);
  EXPECT_EQ(picture.nodes[picture.find(6)].state, draw::NodeState::Added);
  EXPECT_EQ(picture.nodes[picture.find(8)].state, draw::NodeState::Same);
}

TEST(GraphGroups, LargeGraphsOpenCollapsed) {
  std::vector<NodeRecord> nodes;
  for (int i = 0; i < 4000; ++i)
    nodes.push_back(node(i + 1, i ? std::vector<trace::NodeId>{i} : std::vector<trace::NodeId>{},
                         fmt::format("net.block.{}.{}.{}", i / 100, i / 20, i % 2)));
  Picture picture = grouped(nodes);
  EXPECT_LE(picture.nodes.size(), kMostBoxes);
  EXPECT_EQ(picture.nodes.size(), 200u);  // a box for each of the parts of 20
  size_t members = 0;
  for (const auto& box : picture.nodes) members += box.members.size();
  EXPECT_EQ(members, nodes.size());
  draw::DrawOptions automatic;
  automatic.group_by = GroupBy::Automatic;
  EXPECT_EQ(effective_grouping(automatic, nodes), GroupBy::Modules);
  nodes.resize(100);
  EXPECT_EQ(effective_grouping(automatic, nodes), GroupBy::Kernels);
  EXPECT_EQ(grouped(nodes).nodes.size(), 100u);
}

/// Random programs, random modules, random choices: boxes do not overlap, frames hold their own and nothing else.
TEST(GraphGroups, FramesHoldTheirNodesAndNoOthers) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 60; ++round) {
    int count = 2 + static_cast<int>(random() % 120);
    std::vector<NodeRecord> nodes;
    std::set<std::string> paths;
    for (int i = 1; i <= count; ++i) {
      std::vector<trace::NodeId> operands;
      for (unsigned k = random() % 4; k > 0 && i > 1; --k) operands.push_back(1 + random() % (i - 1));
      std::string path;
      for (unsigned k = random() % 5; k > 0; --k) {
        path += fmt::format("{}{}", path.empty() ? "" : ".", random() % 3);
        paths.insert(path);
      }
      nodes.push_back(node(i, operands, path));
    }
    draw::DrawOptions options;
    for (const auto& path : paths)
      if (random() % 3 == 0) options.opened[path] = random() % 2;
    Picture picture = grouped(nodes, options);
    draw::Layout layout = draw::lay_out(picture);
    auto holds = [&](int g, int at) {
      while (at >= 0 && at != g) at = picture.groups[at].parent;
      return at == g;
    };
    for (const auto& n : nodes) ASSERT_GE(picture.find(n.id), 0);
    for (size_t i = 0; i < layout.nodes.size(); ++i) {
      for (size_t k = i + 1; k < layout.nodes.size(); ++k) ASSERT_FALSE(layout.nodes[i].overlaps(layout.nodes[k]));
      for (size_t g = 0; g < layout.groups.size(); ++g)
        ASSERT_EQ(layout.groups[g].contains(layout.nodes[i]), holds(static_cast<int>(g), picture.nodes[i].group));
    }
  }
}

TEST(GraphGroups, NodesKeepTheirOrderFromLeftToRight) {
  std::vector<NodeRecord> nodes = {node(1, {}, "")};
  for (int i = 2; i < 12; ++i) nodes.push_back(node(i, {1}, ""));
  draw::DrawOptions options;
  Picture picture = draw::make_picture(nodes, {}, {}, options);
  draw::LayoutRequest request;
  request.engine = draw::Engine::Layered;
  for (int i = 2; i < 12; ++i) request.places[i] = 5000 - i * 100;
  draw::Layout layout = draw::lay_out(picture, request);
  for (size_t i = 1; i + 1 < nodes.size(); ++i) EXPECT_GT(layout.nodes[i].x, layout.nodes[i + 1].x) << i;
}

TEST(GraphGroups, ALayoutCanBeStopped) {
  Picture picture = draw::make_picture(two_layers(), {}, {}, {});
  draw::LayoutRequest request;
  request.engine = draw::Engine::Layered;
  int asked = 0;
  request.stop = [&] { return ++asked > 2; };
  EXPECT_THROW(draw::lay_out(picture, request), draw::Stopped);
  EXPECT_EQ(asked, 3);
}

class Groups : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
    test::write_sample_trace(folder_ / "cnn.strata", {2, true});
    context_.open({QString::fromStdString((folder_ / "cnn.strata").string()), "", "captured", ""});
    ASSERT_TRUE(settle(context_));
    group(2);
  }
  void group(int row) {
    auto* box = window_.findChild<GroupBox*>();
    ASSERT_TRUE(box);
    box->setCurrentIndex(row);
    emit box->activated(row);
    ASSERT_TRUE(settle(context_));
  }
  const Picture& picture() { return context_.step_data()->picture; }
  size_t boxes() {
    size_t n = 0;
    for (const auto& node : picture().nodes) n += !node.module.empty();
    return n;
  }
  test::TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(Groups, TheToolbarChoosesWhatFramesAre) {
  EXPECT_EQ(picture().grouped_by, GroupBy::Modules);
  EXPECT_FALSE(picture().groups.empty());
  EXPECT_FALSE(picture().groups[0].module.empty());
  group(3);
  EXPECT_TRUE(picture().groups.empty());
  group(1);
  EXPECT_EQ(picture().grouped_by, GroupBy::Kernels);
}

TEST_F(Groups, ADoubleClickCollapsesAndExpandsInPlace) {
  GraphView& graph = window_.graph();
  const std::string path = picture().groups.back().module;
  graph.centre_on(picture().nodes[static_cast<size_t>(picture().groups.back().nodes[0])].id);
  QRectF frame = graph.module_rect(path);
  QTest::mouseDClick(&graph, Qt::LeftButton, {}, (frame.topLeft() + QPointF(4, 4)).toPoint());
  ASSERT_TRUE(settle(context_));
  ASSERT_EQ(boxes(), 1u);
  QRectF box = graph.module_rect(path);
  EXPECT_NEAR(box.center().x(), frame.center().x(), 2);
  EXPECT_NEAR(box.top(), std::max(frame.top(), 20.0), 2);
  EXPECT_FALSE(graph.grab().isNull());
  QTest::mouseDClick(&graph, Qt::LeftButton, {}, box.center().toPoint());
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(boxes(), 0u);
}

TEST_F(Groups, KeysCollapseAndExpand) {
  GraphView& graph = window_.graph();
  graph.setFocus();
  size_t all = picture().nodes.size();
  trace::NodeId inside = picture().nodes[static_cast<size_t>(picture().groups.back().nodes[0])].id;
  context_.select_node(inside);
  ASSERT_TRUE(settle(context_));
  QTest::keyClick(&graph, Qt::Key_Return);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(boxes(), 1u);
  EXPECT_EQ(context_.selection().node, inside);
  EXPECT_FALSE(picture().nodes[static_cast<size_t>(picture().find(inside))].module.empty());
  QTest::keyClick(&graph, Qt::Key_Return);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(boxes(), 0u);
  QTest::keyClick(&graph, Qt::Key_Less);
  ASSERT_TRUE(settle(context_));
  EXPECT_LT(picture().nodes.size(), all);
  while (boxes() > 0) {
    QTest::keyClick(&graph, Qt::Key_Greater);
    ASSERT_TRUE(settle(context_));
  }
  EXPECT_EQ(picture().nodes.size(), all);
}

TEST_F(Groups, EveryStageIsShownByModuleAndExported) {
  for (int i = 0; i < 9; ++i) {
    EXPECT_FALSE(window_.grab().isNull());
    if (!context_.step_data()->nodes.empty()) {
      window_.graph().open_modules(i % 2 == 0);
      ASSERT_TRUE(settle(context_));
      for (const char* ending : {"svg", "png", "dot"}) {
        auto path = folder_ / (std::string("graph.") + ending);
        window_.export_to(QString::fromStdString(path.string()));
        ASSERT_TRUE(settle(context_));
        EXPECT_GT(std::filesystem::file_size(path), 500u);
      }
    }
    context_.step(1);
    ASSERT_TRUE(settle(context_));
  }
  EXPECT_EQ(context_.exit_code(), 0) << context_.first_error().toStdString();
}

}  // namespace
}  // namespace strata::studio
