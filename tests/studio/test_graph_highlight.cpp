// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <random>

#include "app/studio/views/main_window.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using draw::Picture;
using test::settle;

Picture picture(int nodes, const std::vector<std::pair<int, int>>& edges) {
  Picture p;
  for (int i = 0; i < nodes; ++i) {
    p.nodes.emplace_back();
    p.nodes.back().id = i + 1;
  }
  for (auto [from, to] : edges) p.edges.push_back({from, to});
  p.index();
  return p;
}

std::vector<int> lit_nodes(const Highlight& lit) {
  std::vector<int> result;
  for (size_t i = 0; i < lit.nodes.size(); ++i)
    if (lit.nodes[i]) result.push_back(static_cast<int>(i));
  return result;
}

TEST(GraphHighlight, NeighboursUpAndDownButNotAcross) {
  // 0 -> 1 -> 2 -> 3 and 0 -> 4 -> 3: 4 is neither before nor after 1.
  Picture p = picture(5, {{0, 1}, {1, 2}, {2, 3}, {0, 4}, {4, 3}});
  Adjacency adjacency(p);
  EXPECT_EQ(lit_nodes(neighbourhood(p, adjacency, 1, 1)), (std::vector<int>{0, 1, 2}));
  Highlight two = neighbourhood(p, adjacency, 1, 2);
  EXPECT_EQ(lit_nodes(two), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(two.edges, (std::vector<char>{1, 1, 1, 0, 0}));
  EXPECT_EQ(lit_nodes(neighbourhood(p, adjacency, 1, 100)), (std::vector<int>{0, 1, 2, 3}));
}

TEST(GraphHighlight, PathsInEitherDirection) {
  Picture p = picture(7, {{0, 1}, {1, 2}, {2, 3}, {0, 4}, {4, 3}, {4, 5}, {6, 2}});
  Adjacency adjacency(p);
  for (auto [a, b] : {std::pair(0, 3), std::pair(3, 0)}) {
    Highlight lit = paths_between(p, adjacency, a, b);
    EXPECT_EQ(lit_nodes(lit), (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(lit.edges, (std::vector<char>{1, 1, 1, 1, 1, 0, 0}));
  }
  EXPECT_EQ(paths_between(p, adjacency, 1, 5).count(), 0u);
}

/// Against the definition, on random graphs with cycles (modules can have them).
TEST(GraphHighlight, PathsAreWhatIsReachedFromBothEnds) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 50; ++round) {
    int n = 2 + static_cast<int>(random() % 20);
    std::vector<std::pair<int, int>> edges;
    for (int e = 0; e < 2 * n; ++e)
      if (int a = random() % n, b = random() % n; a != b) edges.emplace_back(a, b);
    Picture p = picture(n, edges);
    std::vector<std::vector<char>> reach(n, std::vector<char>(n, 0));
    for (int i = 0; i < n; ++i) reach[i][i] = 1;
    for (auto [a, b] : edges) reach[a][b] = 1;
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) reach[i][j] |= reach[i][k] && reach[k][j];
    int a = random() % n, b = random() % n;
    if (!reach[a][b]) std::swap(a, b);
    Highlight lit = paths_between(p, Adjacency(p), a, b);
    for (int i = 0; i < n; ++i) ASSERT_EQ(lit.node(i), reach[a][i] && reach[i][b]);
  }
}

class HighlightView : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
  }
  void open(const std::filesystem::path& path, const char* node) {
    context_.open({QString::fromStdString(path.string()), "", "captured", node});
    ASSERT_TRUE(settle(context_));
    window_.graph().setFocus();
  }
  void open_sample(const char* node) {
    test::write_sample_trace(folder_ / "cnn.strata", {2, true});
    open(folder_ / "cnn.strata", node);
  }
  trace::NodeId id(const char* name) {
    for (const auto& node : context_.step_data()->nodes)
      if (node.name == name) return node.id;
    return 0;
  }
  bool lit(const char* name) {
    return window_.graph().lit().node(static_cast<size_t>(context_.step_data()->picture.find(id(name))));
  }
  test::TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(HighlightView, KeysLightTheNeighbourhoodAndChangeItsReach) {
  open_sample("relu__0");
  GraphView& graph = window_.graph();
  const QImage plain = graph.grab().toImage();
  QTest::keyClick(&graph, Qt::Key_H);
  ASSERT_FALSE(graph.lit().empty());
  EXPECT_NE(graph.grab().toImage(), plain);
  size_t two = graph.lit().count();
  QTest::keyClick(&graph, Qt::Key_BracketRight);
  EXPECT_GT(graph.lit().count(), two);
  QTest::keyClick(&graph, Qt::Key_BracketLeft);
  QTest::keyClick(&graph, Qt::Key_BracketLeft);
  QTest::keyClick(&graph, Qt::Key_BracketLeft);
  EXPECT_EQ(graph.reach(), 1);
  EXPECT_TRUE(lit("batch_norm_0"));
  EXPECT_FALSE(lit("conv2d_1"));
  context_.select_node(id("conv2d_1"));
  EXPECT_TRUE(lit("conv2d_1"));
  QTest::keyClick(&graph, Qt::Key_H);
  EXPECT_TRUE(graph.lit().empty());
}

TEST_F(HighlightView, ShiftClickShowsThePaths) {
  open_sample("conv2d_0");
  GraphView& graph = window_.graph();
  graph.fit();
  trace::NodeId end = id("conv2d_1");
  QTest::mouseClick(&graph, Qt::LeftButton, Qt::ShiftModifier, graph.node_rect(end).center().toPoint());
  ASSERT_FALSE(graph.lit().empty());
  EXPECT_EQ(context_.selection().node, id("conv2d_0"));
  EXPECT_TRUE(lit("relu__0"));
  EXPECT_TRUE(lit("conv2d_1"));
  EXPECT_FALSE(lit("log_softmax"));
  EXPECT_FALSE(graph.grab().isNull());
  QTest::keyClick(&graph, Qt::Key_Escape);
  EXPECT_TRUE(graph.lit().empty());
}

TEST_F(HighlightView, TheMapMovesTheView) {
  test::write_large_trace(folder_ / "large.strata", 400);
  open(folder_ / "large.strata", "");
  GraphView& graph = window_.graph();
  Minimap& map = graph.minimap();
  ASSERT_TRUE(map.isVisible());
  EXPECT_TRUE(graph.rect().contains(map.geometry()));
  QRectF last = graph.node_rect(399);
  EXPECT_FALSE(QRectF(graph.rect()).intersects(last));
  QTest::mousePress(&map, Qt::LeftButton, {}, QPoint(map.width() / 2, map.height() - 1));
  QTest::mouseRelease(&map, Qt::LeftButton, {}, QPoint(map.width() / 2, map.height() - 1));
  EXPECT_TRUE(QRectF(graph.rect()).intersects(graph.node_rect(399)));
  EXPECT_TRUE(context_.selection().empty());
  EXPECT_FALSE(graph.grab().isNull());
  QTest::keyClick(&graph, Qt::Key_M);
  EXPECT_FALSE(map.isVisible());
  QTest::keyClick(&graph, Qt::Key_M);
  EXPECT_TRUE(map.isVisible());
  graph.fit();
  EXPECT_FALSE(map.isVisible());
}

}  // namespace
}  // namespace strata::studio
