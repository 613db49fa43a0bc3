// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <fstream>

#include "app/studio/views/main_window.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;

class Window : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
  }
  void open(const char* stage = "", const char* node = "") {
    test::write_sample_trace(folder_ / "cnn.strata", {2, true});
    context_.open({QString::fromStdString((folder_ / "cnn.strata").string()), "", stage, node});
    ASSERT_TRUE(settle(context_));
  }
  std::string stage() { return context_.step_data() ? context_.step_data()->snapshot.stage : ""; }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(Window, KeysStepThroughTheStages) {
  open();
  EXPECT_EQ(stage(), "captured");
  window_.graph().setFocus();
  QTest::keyClick(&window_.graph(), Qt::Key_J);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(), "functional");
  QTest::keyClick(&window_.graph(), Qt::Key_Right);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(), "decomposed");
  QTest::keyClick(&window_.graph(), Qt::Key_K);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(), "functional");
  QModelIndex current = window_.stages().view().currentIndex();
  EXPECT_EQ(current.siblingAtColumn(0).data().toString(), "functional");
}

TEST_F(Window, EveryStageCanBeShown) {
  open();
  std::vector<std::string> seen = {stage()};
  for (int i = 0; i < 12; ++i) {
    context_.step(1);
    ASSERT_TRUE(settle(context_));
    if (stage() != seen.back()) seen.push_back(stage());
    EXPECT_FALSE(window_.grab().isNull());
  }
  EXPECT_EQ(seen.size(), 9u);
  EXPECT_EQ(context_.exit_code(), 0) << context_.first_error().toStdString();
}

TEST_F(Window, AClickSelectsTheNodeUnderIt) {
  open("captured");
  trace::NodeId id = 0;
  for (const auto& node : context_.step_data()->nodes)
    if (node.name == "conv2d_0") id = node.id;
  window_.graph().centre_on(id);
  QTest::mouseClick(&window_.graph(), Qt::LeftButton, {}, window_.graph().node_rect(id).center().toPoint());
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().node, id);
  EXPECT_TRUE(to_text(window_.inspector().model()).contains("name | conv2d_0"));
  EXPECT_EQ(window_.source().view().highlighted_lines(), 1);
  QTest::keyClick(&window_.graph(), Qt::Key_Escape);
  EXPECT_TRUE(context_.selection().empty());
}

TEST_F(Window, BackAndForwardThroughWhatWasSelected) {
  open("captured");
  const auto id = [&](const char* name) {
    for (const auto& node : context_.step_data()->nodes)
      if (node.name == name) return node.id;
    return trace::NodeId{0};
  };
  EXPECT_FALSE(context_.can_go(-1));
  const trace::NodeId first = id("conv2d_0");
  context_.select_node(first);
  ASSERT_TRUE(settle(context_));
  context_.step(1);
  ASSERT_TRUE(settle(context_));
  const std::string later = stage();
  context_.select_node(id("log_softmax"));
  ASSERT_TRUE(settle(context_));
  EXPECT_FALSE(context_.can_go(1));
  context_.go(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(), later);
  EXPECT_EQ(context_.selection().node, first);
  context_.go(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(stage(), "captured");
  EXPECT_EQ(context_.selection().node, first);
  ASSERT_TRUE(context_.details());
  EXPECT_EQ(context_.details()->selection.node, first);
  context_.go(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(context_.selection().empty());
  for (int i = 0; i < 3; ++i) {
    context_.go(1);
    ASSERT_TRUE(settle(context_));
  }
  EXPECT_EQ(stage(), later);
  EXPECT_EQ(context_.selection().node, id("log_softmax"));
  EXPECT_FALSE(context_.can_go(1));
}

TEST_F(Window, CodeOfTheSelectionIsHighlighted) {
  open("scheduled", "mul_0");
  ASSERT_EQ(window_.code().tabs().count(), 4);
  for (int tab = 0; tab < 4; ++tab) {
    window_.code().tabs().setCurrentIndex(tab);
    EXPECT_EQ(window_.code().view().highlighted_lines(), 1) << tab;
  }
}

TEST_F(Window, StagesOfTextMarkTheSelectionToo) {
  open("code", "mul_0");
  EXPECT_FALSE(context_.selection().empty());
  EXPECT_EQ(window_.text_stage().code().view().highlighted_lines(), 1);
  EXPECT_EQ(window_.code().view().highlighted_lines(), 1);
}

TEST_F(Window, PassesWithoutEffectCanBeHidden) {
  open();
  QAbstractItemModel* shown = window_.stages().view().model();
  QAbstractItemModelTester tester(shown, QAbstractItemModelTester::FailureReportingMode::Fatal);
  int all = shown->rowCount();
  window_.stages().hide_box().setChecked(true);
  EXPECT_EQ(shown->rowCount(), all - 1);
  EXPECT_FALSE(to_text(*shown).contains("fold_constants"));
}

TEST_F(Window, SearchFindsAndSteps) {
  open("captured");
  window_.search_box().setFocus();
  QTest::keyClicks(&window_.search_box(), "sigmoid");
  QTest::keyClick(&window_.search_box(), Qt::Key_Return);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.marked().size(), 4u);
  EXPECT_EQ(context_.details()->node.name, "sigmoid_0");
  QTest::keyClick(&window_.search_box(), Qt::Key_Return);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.details()->node.name, "sigmoid_again_0");
  EXPECT_TRUE(window_.graph().rect().contains(window_.graph().node_rect(context_.selection().node).toRect()));
}

TEST_F(Window, ExportWritesEveryFormat) {
  open("scheduled");
  for (const char* ending : {"svg", "png", "pdf", "dot"}) {
    auto path = folder_ / (std::string("graph.") + ending);
    window_.export_to(QString::fromStdString(path.string()));
    ASSERT_TRUE(settle(context_));
    EXPECT_GT(std::filesystem::file_size(path), 500u) << ending;
  }
  window_.export_to(QString::fromStdString((folder_ / "graph.bmp").string()));
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(window_.message_text().contains("unknown picture format 'bmp'")) << window_.message_text().toStdString();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "graph.bmp"));
}

TEST_F(Window, ViewsByName) {
  open("captured");
  for (const auto& name : MainWindow::views()) EXPECT_TRUE(window_.show_view(QString::fromStdString(name)));
  EXPECT_FALSE(window_.show_view("soruce"));
  EXPECT_EQ(window_.message_text(), "unknown view 'soruce'; did you mean 'source'");
}

TEST_F(Window, AMissingTraceIsAMessage) {
  window_.open_file(QString::fromStdString((folder_ / "none.strata").string()));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.exit_code(), 2);
  EXPECT_TRUE(window_.message_text().contains("none.strata")) << window_.message_text().toStdString();
}

TEST_F(Window, ABrokenTraceKeepsTheOneThatIsOpen) {
  open("scheduled");
  std::ofstream(folder_ / "broken.strata") << "SQLite format 3 but not really";
  window_.open_file(QString::fromStdString((folder_ / "broken.strata").string()));
  ASSERT_TRUE(settle(context_));
  EXPECT_FALSE(window_.message_text().isEmpty());
  EXPECT_EQ(stage(), "scheduled");
}

TEST_F(Window, LargeGraphIsShownAndPanned) {
  test::write_large_trace(folder_ / "large.strata", 10000);
  window_.open_file(QString::fromStdString((folder_ / "large.strata").string()));
  ASSERT_TRUE(settle(context_));
  ASSERT_EQ(context_.step_data()->picture.nodes.size(), 10000u);
  window_.graph().fit();
  for (double factor : {1.0, 8.0, 8.0, 2.0}) {
    window_.graph().zoom(factor);
    EXPECT_FALSE(window_.graph().grab().isNull());
  }
}

TEST_F(Window, TheStripJumpsInATallGraph) {
  test::write_large_trace(folder_ / "large.strata", 3000);
  window_.open_file(QString::fromStdString((folder_ / "large.strata").string()));
  ASSERT_TRUE(settle(context_));
  GraphView& graph = window_.graph();
  EXPECT_FALSE(graph.rect().contains(graph.node_rect(2990).center().toPoint()));
  QTest::mouseClick(&graph, Qt::LeftButton, {}, QPoint(graph.width() - 4, graph.height() - 1));
  EXPECT_TRUE(context_.selection().empty());
  QRectF there = graph.node_rect(2998);
  EXPECT_TRUE(there.top() > -200 && there.top() < graph.height() + 200) << there.top();
}

TEST_F(Window, EveryPageHasAName) {
  open("scheduled", "mul_0");
  for (QWidget* widget : window_.findChildren<QAbstractItemView*>())
    if (widget->isVisible() && !widget->accessibleName().isEmpty()) SUCCEED();
  for (QWidget* widget :
       std::initializer_list<QWidget*>{&window_.graph(), &window_.stages().view(), &window_.source().view(),
                                       &window_.code().view(), &window_.profile().table(), &window_.search_box()})
    EXPECT_FALSE(widget->accessibleName().isEmpty());
}

}  // namespace
}  // namespace strata::studio
