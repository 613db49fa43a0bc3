// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QClipboard>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "app/studio/views/main_window.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;
using trace::NodeId;

NodeId id_of(const StepPtr& step, const char* name) {
  if (step)
    for (const auto& node : step->nodes)
      if (node.name == name) return node.id;
  return 0;
}

std::vector<std::string> names_of(const Pane& pane) {
  std::vector<std::string> names;
  for (NodeId id : pane.relatives().nodes) names.push_back(pane.step_data()->name(id));
  std::sort(names.begin(), names.end());
  return names;
}

class Panes : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1600, 1000);
    window_.show();
    window_.arrange();
  }
  void open(const char* stage = "captured", const char* name = "cnn.strata") {
    test::write_sample_trace(folder_ / name, {2, true});
    context_.open({QString::fromStdString((folder_ / name).string()), "", stage, ""});
    ASSERT_TRUE(settle(context_));
  }
  Pane& pin(const char* stage) {
    window_.panes().open_stage(stage);
    EXPECT_TRUE(settle(context_));
    return *window_.panes().panes().back();
  }
  std::string stage(const Pane& pane) { return pane.step_data() ? pane.step_data()->snapshot.stage : ""; }
  void click(Pane& pane, NodeId node) {
    GraphView& graph = window_.panes().box(pane).graph();
    graph.centre_on(node);
    QTest::mouseClick(&graph, Qt::LeftButton, {}, graph.node_rect(node).center().toPoint());
    ASSERT_TRUE(settle(context_));
  }
  Pane& main() { return *window_.panes().panes().front(); }

  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(Panes, ThreeStagesSideBySideShareTheSelection) {
  open("captured");
  Pane& decomposed = pin("decomposed");
  Pane& scheduled = pin("scheduled");
  ASSERT_EQ(window_.panes().panes().size(), 3u);
  EXPECT_EQ(stage(main()), "captured");
  EXPECT_EQ(stage(decomposed), "decomposed");
  EXPECT_EQ(stage(scheduled), "scheduled");
  const NodeId norm = id_of(main().step_data(), "batch_norm_0");
  ASSERT_NE(norm, 0);
  click(main(), norm);
  EXPECT_EQ(context_.selection().node, norm);
  EXPECT_EQ(main().relatives().relation, Relation::Same);
  for (Pane* pane : {&decomposed, &scheduled}) {
    EXPECT_EQ(pane->relatives().relation, Relation::MadeOf) << stage(*pane);
    const auto& nodes = pane->relatives().nodes;
    EXPECT_GT(nodes.size(), 1u) << stage(*pane);
    EXPECT_EQ(pane->selection().node, nodes.front());
    for (NodeId id : nodes) {  // the origin edges say so, whichever way they were found
      const auto origins = context_.reader()->origins(pane->step_data()->snapshot.compile, id);
      EXPECT_TRUE(std::any_of(origins.ancestors.begin(), origins.ancestors.end(),
                              [&](const auto& step) { return step.node.id == norm; }));
    }
    GraphView& graph = window_.panes().box(*pane).graph();
    EXPECT_TRUE(QRectF(graph.rect()).intersects(graph.node_rect(pane->selection().node)));
    EXPECT_TRUE(pane->relation_text().endsWith("made of batch_norm_0")) << pane->relation_text().toStdString();
  }
}

TEST_F(Panes, SelectingInAPinnedPaneSelectsEverywhere) {
  open("captured");
  Pane& scheduled = pin("scheduled");
  const auto& nodes = scheduled.step_data()->nodes;
  const auto made =
      std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) { return !main().step_data()->find(node.id); });
  ASSERT_NE(made, nodes.end());
  click(scheduled, made->id);
  EXPECT_EQ(context_.selection().node, made->id);
  EXPECT_EQ(scheduled.selection().node, made->id);
  EXPECT_EQ(stage(main()), "captured");  // what the main pane shows stays
  EXPECT_EQ(main().relatives().relation, Relation::MadeFrom) << testing::PrintToString(names_of(main()));
  ASSERT_FALSE(main().relatives().nodes.empty());
  EXPECT_EQ(main().selection().node, main().relatives().nodes.front());
  EXPECT_NE(main().step_data()->find(main().selection().node), nullptr);
  EXPECT_TRUE(to_text(window_.inspector().model()).contains("name | " + QString::fromStdString(made->name)));
  QTest::keyClick(&window_.panes().box(scheduled).graph(), Qt::Key_Escape);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(context_.selection().empty());
  EXPECT_EQ(main().selection().node, 0);
}

TEST_F(Panes, AKernelIsItsFrameWhereThatIsAndItsNodesElsewhere) {
  open("scheduled");
  Pane& captured = pin("captured");
  Pane& again = pin("scheduled");
  const auto& groups = context_.step_data()->picture.groups;
  ASSERT_FALSE(groups.empty());
  const auto kernel = std::find_if(groups.begin(), groups.end(), [](const auto& g) { return g.kernel != 0; });
  ASSERT_NE(kernel, groups.end());
  context_.select_kernel(kernel->kernel);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(again.selection().kernel, kernel->kernel);
  EXPECT_EQ(again.selection().node, 0);
  EXPECT_NE(captured.selection().node, 0);
  EXPECT_EQ(captured.relatives().relation, Relation::MadeFrom);
}

TEST_F(Panes, AnUnlinkedPaneKeepsItsOwnSelection) {
  open("captured");
  Pane& other = pin("captured");
  PaneBox& box = window_.panes().box(other);
  const NodeId first = id_of(main().step_data(), "conv2d_0"), second = id_of(main().step_data(), "conv2d_1");
  context_.select_node(first);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(other.selection().node, first);
  box.selection_link().setChecked(false);
  context_.select_node(second);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(other.selection().node, first);
  click(other, id_of(other.step_data(), "log_softmax"));
  EXPECT_EQ(context_.selection().node, second);
  box.selection_link().setChecked(true);
  EXPECT_EQ(other.selection().node, second);
}

TEST_F(Panes, KeysStepTheActivePane) {
  open("captured");
  Pane& other = pin("captured");
  window_.panes().set_active(other);
  QTest::keyClick(&window_.panes().box(other).graph(), Qt::Key_J);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(other), "functional");
  EXPECT_EQ(stage(main()), "captured");
  EXPECT_EQ(window_.panes().box(other).stages().currentText(), "functional");
  QTest::keyClick(&window_.panes().box(other).graph(), Qt::Key_Right);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(other), "decomposed");
  QTest::keyClick(&window_, Qt::Key_Tab, Qt::ControlModifier);
  EXPECT_EQ(&window_.panes().active(), &main());
  QTest::keyClick(&window_.graph(), Qt::Key_J);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(main()), "functional");
  EXPECT_EQ(stage(other), "decomposed");
}

TEST_F(Panes, SplitCloseAndTakeBack) {
  open("decomposed");
  GraphPanes& panes = window_.panes();
  window_.graph().setFocus();
  QTest::keyClick(&window_, Qt::Key_Backslash, Qt::ControlModifier);
  QTest::keyClick(&window_, Qt::Key_Backslash, Qt::ControlModifier);
  ASSERT_TRUE(settle(context_));
  ASSERT_EQ(panes.panes().size(), 2u);  // the second time nothing was shown yet that could be split
  EXPECT_TRUE(panes.active().pinned());
  EXPECT_EQ(stage(panes.active()), "decomposed");
  QTest::keyClick(&window_, Qt::Key_Backslash, Qt::ControlModifier);
  ASSERT_TRUE(settle(context_));
  ASSERT_EQ(panes.panes().size(), 3u);
  QTest::keyClick(&window_, Qt::Key_W, Qt::ControlModifier);
  EXPECT_EQ(panes.panes().size(), 2u);
  context_.undo().undo();
  ASSERT_TRUE(settle(context_));
  ASSERT_EQ(panes.panes().size(), 3u);
  EXPECT_EQ(stage(*panes.panes().back()), "decomposed");
  panes.box(*panes.panes()[1]).close_button().click();
  EXPECT_EQ(panes.panes().size(), 2u);
  QTest::keyClick(&window_, Qt::Key_W, Qt::ControlModifier);
  QTest::keyClick(&window_, Qt::Key_W, Qt::ControlModifier);
  EXPECT_EQ(panes.panes().size(), 1u);
  EXPECT_EQ(&panes.active(), &main());
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  context_.step(1);
  ASSERT_TRUE(settle(context_));
}

TEST_F(Panes, ClosingWhileLoading) {
  open("captured");
  for (int i = 0; i < 3; ++i) window_.panes().open_stage("scheduled");
  for (Pane* pane : window_.panes().panes()) window_.panes().remove(*pane);
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(window_.panes().panes().size(), 1u);
}

TEST_F(Panes, TextStagesMarkTheLinesOfTheSelection) {
  open("captured");
  Pane& code = pin("code");
  PaneBox& box = window_.panes().box(code);
  ASSERT_FALSE(box.text()->isHidden());
  context_.select_node(id_of(main().step_data(), "batch_norm_0"));
  ASSERT_TRUE(settle(context_));
  EXPECT_GT(box.text()->code().highlighted_lines(), 0);
  Pane& plan = pin("plan");
  ASSERT_TRUE(settle(context_));
  EXPECT_FALSE(window_.panes().box(plan).text()->table().selectionModel()->selectedRows().isEmpty());
  context_.select({});
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(box.text()->code().highlighted_lines(), 0);
  EXPECT_TRUE(window_.panes().box(plan).text()->table().selectionModel()->selectedRows().isEmpty());
}

TEST_F(Panes, TextStagesStandBesideGraphsInTheMainPaneToo) {
  open("code");
  Pane& scheduled = pin("scheduled");
  EXPECT_TRUE(window_.text_stage().isVisible());
  EXPECT_TRUE(window_.panes().box(scheduled).graph().isVisible());
}

TEST_F(Panes, AnotherCompileIsFollowedThroughPairsOfNodes) {
  open("captured");
  Pane& other = pin("0/1@captured");
  ASSERT_EQ(other.compile()->compile.address, "0/1");
  ASSERT_FALSE(other.same_compile());
  const NodeId ours = id_of(main().step_data(), "conv2d_1"), theirs = id_of(other.step_data(), "conv2d_1");
  ASSERT_NE(ours, 0);
  ASSERT_NE(theirs, 0);
  context_.select_node(ours);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(other.selection().node, 0);  // nothing says what stands for it
  Pane::Pairs pairs;
  for (const auto& node : main().step_data()->nodes)
    if (const NodeId match = id_of(other.step_data(), node.name.c_str())) pairs.emplace_back(node.id, match);
  other.set_mapping(pairs);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(other.selection().node, theirs);
  click(other, id_of(other.step_data(), "log_softmax"));
  EXPECT_EQ(context_.selection().node, id_of(main().step_data(), "log_softmax"));
  EXPECT_EQ(context_.compile()->compile.address, "0/0");
  // A later stage of either side is reached by the nodes that have a pair.
  other.step(1);
  context_.step(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(names_of(other), names_of(main()));
}

TEST_F(Panes, WithoutPairsAnotherCompileKeepsItsSelectionToItself) {
  open("captured");
  Pane& other = pin("0/1@captured");
  const NodeId theirs = id_of(other.step_data(), "conv2d_0");
  click(other, theirs);
  EXPECT_EQ(other.selection().node, theirs);
  EXPECT_EQ(context_.compile()->compile.address, "0/0");
}

TEST_F(Panes, StatesOfNodesCanBeSet) {
  open("captured");
  Pane& other = window_.panes().add();
  const NodeId node = id_of(main().step_data(), "conv2d_1");
  other.show(context_.reader(), context_.compile()->compile.id, context_.step_data()->snapshot.id);
  other.set_states({{node, draw::NodeState::Added}}, "only here");
  ASSERT_TRUE(settle(context_));
  const auto& nodes = other.step_data()->picture.nodes;
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), [](const auto& n) { return n.state == draw::NodeState::Added; }),
            1);
  EXPECT_EQ(nodes[static_cast<size_t>(other.step_data()->picture.find(node))].state, draw::NodeState::Added);
  other.set_states({});
  ASSERT_TRUE(settle(context_));
  for (const auto& each : other.step_data()->picture.nodes) EXPECT_EQ(each.state, draw::NodeState::Same);
}

TEST_F(Panes, ASecondTraceStaysWhenTheFirstIsReplaced) {
  open("captured");
  test::write_sample_trace(folder_ / "second.strata", {3, false});
  Pane& foreign = window_.panes().add();
  {
    auto reader = std::make_shared<trace::Reader>(folder_ / "second.strata");
    const auto compile = reader->compiles().front();
    foreign.show(reader, compile.id, reader->find_snapshot(compile.id, "functional").id);
  }
  Pane& same = pin("scheduled");
  ASSERT_TRUE(settle(context_));
  std::filesystem::remove(folder_ / "second.strata");  // what is open stays readable, or says that it is not
  foreign.step(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(stage(foreign) == "decomposed" || !foreign.error().isEmpty());
  open("captured", "third.strata");
  EXPECT_EQ(stage(same), "scheduled");
  EXPECT_EQ(same.reader(), context_.reader());
  EXPECT_NE(foreign.reader(), context_.reader());
  test::write_large_trace(folder_ / "plain.strata", 50);  // has no such stage: the pane closes
  context_.open({QString::fromStdString((folder_ / "plain.strata").string()), "", "", ""});
  ASSERT_TRUE(settle(context_));
  QCoreApplication::processEvents();
  EXPECT_EQ(window_.panes().panes().size(), 2u);
  EXPECT_EQ(context_.exit_code(), 0) << context_.first_error().toStdString();
}

TEST_F(Panes, WhatIsNotThereIsSaid) {
  open("captured");
  Pane& pane = window_.panes().add();
  pane.show(context_.reader(), 999, 1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(pane.error(), "the trace has no such compile");
  pane.show(context_.reader(), context_.compile()->compile.id, 999);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(pane.error(), "this compile has no such stage");
  EXPECT_FALSE(window_.panes().box(pane).grab().isNull());
  window_.panes().open_stage("schedulde");
  EXPECT_EQ(context_.exit_code(), 2);
  EXPECT_TRUE(window_.message_text().contains("did you mean 'scheduled'")) << window_.message_text().toStdString();
}

TEST_F(Panes, LinkedViewsMoveTogether) {
  open("captured");
  Pane& other = pin("functional");
  PaneBox& box = window_.panes().box(other);
  GraphView &left = window_.graph(), &right = box.graph();
  const NodeId node = id_of(main().step_data(), "conv2d_1");
  ASSERT_GE(other.step_data()->picture.find(node), 0);
  left.centre_on(node);
  const QRectF before = right.node_rect(node);
  left.zoom(0.8);
  EXPECT_EQ(right.node_rect(node), before);
  box.view_link().setChecked(true);
  left.zoom(0.8);
  EXPECT_DOUBLE_EQ(right.scale(), left.scale());
  const auto from_middle = [&](GraphView& view) {
    return view.node_rect(node).topLeft() - QPointF(view.width() / 2.0, view.height() / 2.0);
  };
  EXPECT_LT((from_middle(left) - from_middle(right)).manhattanLength(), 60);
  right.zoom(2);
  EXPECT_DOUBLE_EQ(right.scale(), left.scale());
}

TEST_F(Panes, FramesCollapseInOnePaneOnlyAndCanBeTakenBack) {
  open("scheduled");
  Pane& other = pin("scheduled");
  const auto& groups = other.step_data()->picture.groups;
  const auto module = std::find_if(groups.begin(), groups.end(), [](const auto& g) { return !g.module.empty(); });
  ASSERT_NE(module, groups.end());
  const size_t boxes = main().step_data()->picture.nodes.size();
  window_.panes().box(other).graph().toggle_module(module->module);
  ASSERT_TRUE(settle(context_));
  EXPECT_LT(other.step_data()->picture.nodes.size(), boxes);
  EXPECT_EQ(main().step_data()->picture.nodes.size(), boxes);
  context_.undo().undo();
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(other.step_data()->picture.nodes.size(), boxes);
}

TEST_F(Panes, ALineIsAllItsNodesInEveryPane) {
  open("captured");
  Pane& scheduled = pin("scheduled");
  context_.select_node(id_of(main().step_data(), "relu__0"));
  ASSERT_TRUE(settle(context_));
  ASSERT_FALSE(context_.details()->stack.empty());
  const auto place = context_.details()->stack.back();
  context_.select_line(QString::fromStdString(place.file), static_cast<int>(place.line));
  ASSERT_TRUE(settle(context_));
  std::vector<NodeId> here;
  for (NodeId id : context_.reader()->nodes_at(context_.compile()->compile.id, place.file, place.line))
    if (main().step_data()->find(id)) here.push_back(id);
  EXPECT_GE(main().relatives().nodes.size(), 1u);
  EXPECT_GE(scheduled.relatives().nodes.size(), 1u);
  for (NodeId id : here)
    EXPECT_TRUE(std::count(main().relatives().nodes.begin(), main().relatives().nodes.end(), id)) << id;
}

TEST_F(Panes, ArrangementsKeepEveryPaneVisible) {
  open("captured");
  for (const char* stage : {"functional", "decomposed", "scheduled", "code"}) pin(stage);
  using Arrangement = GraphPanes::Arrangement;
  for (Arrangement arrangement :
       {Arrangement::Row, Arrangement::Column, Arrangement::Grid, Arrangement::Automatic, Arrangement::Row}) {
    window_.panes().set_arrangement(arrangement);
    QCoreApplication::processEvents();
    std::vector<QRect> places;
    for (Pane* pane : window_.panes().panes()) {
      PaneBox& box = window_.panes().box(*pane);
      EXPECT_TRUE(box.isVisible());
      const QRect place(box.mapTo(&window_.panes(), QPoint(0, 0)), box.size());
      for (const QRect& earlier : places) EXPECT_FALSE(place.intersects(earlier));
      places.push_back(place);
    }
  }
  context_.undo().undo();
  EXPECT_EQ(window_.panes().arrangement(), Arrangement::Automatic);
}

class GraphInput : public Panes {};

TEST_F(GraphInput, EdgesSayWhatFlowsAlongThem) {
  open("captured");
  GraphView& graph = window_.graph();
  const auto& step = *context_.step_data();
  const NodeId norm = id_of(context_.step_data(), "batch_norm_0"), relu = id_of(context_.step_data(), "relu__0");
  const int from = step.picture.find(norm), to = step.picture.find(relu);
  size_t edge = 0;
  while (edge < step.picture.edges.size() &&
         (step.picture.edges[edge].from != from || step.picture.edges[edge].to != to))
    ++edge;
  ASSERT_LT(edge, step.picture.edges.size());
  const QString text = graph.edge_text(edge);
  EXPECT_TRUE(text.contains(QString::fromStdString(step.find(norm)->type))) << text.toStdString();
  graph.centre_on(norm);
  const QRectF above = graph.node_rect(norm), below = graph.node_rect(relu);
  int found = -1;  // somewhere on the way between the two boxes
  for (double y = above.bottom() + 1; y < below.top() && found != static_cast<int>(edge); ++y)
    found = graph.edge_at({(above.center().x() + below.center().x()) / 2, y});
  EXPECT_EQ(found, static_cast<int>(edge));
  EXPECT_EQ(graph.edge_at({-5000, -5000}), -1);
}

TEST_F(GraphInput, ARectangleIsZoomedTo) {
  open("captured");
  GraphView& graph = window_.graph();
  graph.fit();
  const NodeId node = id_of(context_.step_data(), "conv2d_1");
  const QRect rect = graph.node_rect(node).toRect().adjusted(-30, -30, 30, 30);
  const double before = graph.scale();
  QTest::mousePress(&graph, Qt::LeftButton, Qt::ControlModifier, rect.topLeft());
  QTest::mouseMove(&graph, rect.center());
  QTest::mouseMove(&graph, rect.bottomRight());
  QTest::mouseRelease(&graph, Qt::LeftButton, Qt::ControlModifier, rect.bottomRight());
  EXPECT_GT(graph.scale(), before);
  EXPECT_TRUE(QRectF(graph.rect()).contains(graph.node_rect(node).center()));
  EXPECT_TRUE(context_.selection().empty());
}

TEST_F(GraphInput, TheMenuOfANodeCopies) {
  open("captured");
  GraphView& graph = window_.graph();
  const NodeId node = id_of(context_.step_data(), "conv2d_1");
  graph.centre_on(node);
  const QPoint at = graph.node_rect(node).center().toPoint();
  const std::unique_ptr<QMenu> menu(graph.make_menu(&at));
  ASSERT_TRUE(menu);
  QStringList seen;
  for (QAction* action : menu->actions()) {
    seen << action->text().remove('&');
    if (seen.back() == "Copy name") action->trigger();
  }
  EXPECT_EQ(QGuiApplication::clipboard()->text(), "conv2d_1");
  EXPECT_TRUE(seen.contains("Show source")) << seen.join(", ").toStdString();
  for (QAction* action : menu->actions())
    if (action->text().contains("another pane")) action->trigger();
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(window_.panes().panes().size(), 2u);
}

}  // namespace
}  // namespace strata::studio
