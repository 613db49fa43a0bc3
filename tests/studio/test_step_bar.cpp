// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/step_bar.h"

#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;

class Steps : public testing::Test {
 protected:
  void SetUp() override { test::write_sample_trace(folder_ / "cnn.strata", {3, false}); }
  void open(const char* stage = "") {
    context_.open({QString::fromStdString((folder_ / "cnn.strata").string()), "", stage, ""});
    ASSERT_TRUE(settle(context_));
    ASSERT_TRUE(context_.step_data());
  }
  /// `functional`, or `functional@2` for its second rewrite.
  std::string place() const {
    const StepPtr step = context_.step_data();
    if (!step) return {};
    return step->snapshot.stage + (step->rewrite ? "@" + std::to_string(*step->rewrite + 1) : "");
  }
  void fine(int by) {
    context_.step_rewrite(by);
    ASSERT_TRUE(settle(context_));
  }
  std::map<trace::NodeId, draw::NodeState> states() const {
    std::map<trace::NodeId, draw::NodeState> result;
    for (const auto& node : context_.step_data()->picture.nodes) result[node.id] = node.state;
    return result;
  }
  TemporaryFolder folder_;
  Context context_;
};

TEST_F(Steps, FineStepsCrossTheBordersOfPasses) {
  open();
  std::vector<std::string> seen = {place()};
  for (int i = 0; i < 13; ++i) {
    fine(1);
    seen.push_back(place());
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"captured", "functional@1", "functional@2", "functional@3", "functional",
                                            "decomposed@1", "decomposed@2", "decomposed@3", "decomposed@4",
                                            "decomposed", "simplified:cse#1@1", "simplified:cse#1@2",
                                            "simplified:cse#1@3", "simplified:cse#1"}));
  fine(1);
  EXPECT_EQ(place(), "scheduled") << "a pass without rewrites is one step";
  std::vector<std::string> back;
  for (int i = 0; i < 14; ++i) {
    fine(-1);
    back.push_back(place());
  }
  std::reverse(seen.begin(), seen.end());
  EXPECT_EQ(back, seen);
  fine(-1);
  EXPECT_EQ(place(), "captured");
}

TEST_F(Steps, CoarseStepsLeaveThePass) {
  open("decomposed@2");
  EXPECT_EQ(place(), "decomposed@2");
  context_.step(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "decomposed");
  context_.show_rewrite(context_.step_data()->snapshot.id, 2);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "decomposed@3");
  context_.step(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional");
  context_.step_to_end(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "runs");
  context_.step_to_end(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "captured");
}

TEST_F(Steps, ARewriteShowsWhatItAloneDid) {
  open("functional@2");
  const StepPtr step = context_.step_data();
  ASSERT_EQ(step->rewrites.size(), 3u);
  const auto& rewrite = step->rewrites[1];
  ASSERT_EQ(step->diff.added.size(), 1u);
  EXPECT_EQ(step->diff.added[0].id, rewrite.after[0]);
  ASSERT_EQ(step->diff.removed.size(), 1u);
  EXPECT_EQ(step->diff.removed[0].id, rewrite.before[0]);
  EXPECT_EQ(step->before, "rewrite 1");
  EXPECT_TRUE(step->find(rewrite.after[0]));
  EXPECT_FALSE(step->find(rewrite.before[0]));
  EXPECT_TRUE(step->find(step->rewrites[2].before[0])) << "the next rewrite is yet to come";
  EXPECT_EQ(plain_text(describe_step(*context_.compile(), *step)),
            "relu_(x) => relu(x) matched relu__1 → relu_1 · an in-place operation became a value of its own");
  const auto marks = states();
  EXPECT_EQ(marks.at(rewrite.after[0]), draw::NodeState::Added);
  EXPECT_EQ(marks.at(rewrite.before[0]), draw::NodeState::Removed) << "removed nodes are drawn";
}

TEST_F(Steps, NodesStayInTheirPlaces) {
  open("decomposed@1");
  std::map<trace::NodeId, draw::Rect> places;
  size_t compared = 0;
  for (int i = 0; i < 4; ++i) {
    const StepPtr step = context_.step_data();
    ASSERT_TRUE(step->rewrite);
    ASSERT_EQ(step->layout.nodes.size(), step->picture.nodes.size());
    ASSERT_EQ(step->layout.edges.size(), step->picture.edges.size());
    for (size_t n = 0; n < step->picture.nodes.size(); ++n) {
      const draw::Rect& now = step->layout.nodes[n];
      const auto [at, first] = places.emplace(step->picture.nodes[n].id, now);
      if (first) continue;
      ++compared;
      EXPECT_EQ(at->second.x, now.x);
      EXPECT_EQ(at->second.y, now.y);
    }
    for (size_t a = 0; a < step->layout.nodes.size(); ++a)
      for (size_t b = a + 1; b < step->layout.nodes.size(); ++b)
        EXPECT_FALSE(step->layout.nodes[a].overlaps(step->layout.nodes[b]));
    for (size_t e = 0; e < step->picture.edges.size(); ++e) {
      const auto& points = step->layout.edges[e];
      ASSERT_GE(points.size(), 4u);
      const auto& to = step->layout.nodes[static_cast<size_t>(step->picture.edges[e].to)];
      EXPECT_NEAR(points.back().x, to.centre_x(), 0.5);
      EXPECT_NEAR(points.back().y, to.y, 0.5);
    }
    fine(1);
  }
  EXPECT_GT(compared, 100u);
}

TEST_F(Steps, NodesKeepTheirOrderFromTheStageToItsRewrites) {
  open("functional");
  const StepPtr stage = context_.step_data();
  fine(-1);
  const StepPtr rewrite = context_.step_data();
  ASSERT_TRUE(rewrite->rewrite);
  // Nodes that stand beside each other in both: who is at the left stays there.
  size_t pairs = 0;
  for (size_t a = 0; a < stage->picture.nodes.size(); ++a)
    for (size_t b = 0; b < stage->picture.nodes.size(); ++b) {
      const int now_a = rewrite->picture.find(stage->picture.nodes[a].id);
      const int now_b = rewrite->picture.find(stage->picture.nodes[b].id);
      if (now_a < 0 || now_b < 0) continue;
      const draw::Rect &x = stage->layout.nodes[a], &y = stage->layout.nodes[b];
      const auto &u = rewrite->layout.nodes[static_cast<size_t>(now_a)],
                 &v = rewrite->layout.nodes[static_cast<size_t>(now_b)];
      if (x.right() >= y.x || std::abs(u.y - v.y) > 1 || std::abs(x.y - y.y) > 60) continue;
      ++pairs;
      EXPECT_LT(u.x, v.x) << stage->picture.nodes[a].title << " " << stage->picture.nodes[b].title;
    }
  EXPECT_GT(pairs, 3u);
}

TEST_F(Steps, RemovedNodesAreDrawnWhereAskedFor) {
  open("functional");
  const auto count = [this] {
    const auto marks = states();
    return std::count_if(marks.begin(), marks.end(),
                         [](const auto& m) { return m.second == draw::NodeState::Removed; });
  };
  EXPECT_EQ(count(), 0) << "not at whole stages";
  draw::DrawOptions options = context_.options();
  options.removed = true;
  context_.set_options(options);
  ASSERT_TRUE(settle(context_));
  ASSERT_EQ(count(), 3);
  const StepPtr step = context_.step_data();
  for (const auto& node : step->diff.removed) {
    const int at = step->picture.find(node.id);
    ASSERT_GE(at, 0);
    const auto joined = std::count_if(step->picture.edges.begin(), step->picture.edges.end(),
                                      [at](const auto& e) { return e.from == at || e.to == at; });
    EXPECT_GE(joined, 2) << "with their operands and their users of then";
  }
  EXPECT_EQ(step->nodes.size() + 3, step->picture.nodes.size());
}

TEST_F(Steps, BackAndForwardGoThroughRewrites) {
  open("functional@2");
  fine(1);
  fine(1);
  EXPECT_EQ(place(), "functional");
  context_.go(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional@3");
  context_.go(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional@2");
  context_.go(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional@3");
}

TEST_F(Steps, OptionsAreAppliedToTheRewriteShown) {
  open("functional@2");
  draw::DrawOptions options = context_.options();
  options.parameters = false;
  context_.set_options(options);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional@2");
  for (const auto& node : context_.step_data()->picture.nodes) EXPECT_NE(node.op_class, draw::OpClass::Parameter);
}

TEST_F(Steps, WrongPlacesAreIgnored) {
  open();
  context_.show_rewrite(9999, 0);
  context_.show_rewrite(context_.step_data()->snapshot.id, 5);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "captured");
  const trace::Id functional = context_.compile()->find("functional")->id;
  context_.show_rewrite(functional, 77);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional");
  Context empty;
  empty.step_rewrite(1);
  empty.step(1);
  empty.step_to_end(-1);
  EXPECT_TRUE(empty.stages_to_visit().empty());
}

TEST_F(Steps, OnlyTheLastOfManyStepsIsLoaded) {
  open();
  QSignalSpy shown(&context_, &Context::stepChanged);
  for (int i = 0; i < 9; ++i) context_.step_rewrite(1);
  EXPECT_EQ(context_.wanted_rewrite(), std::nullopt);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "decomposed");
  EXPECT_LT(shown.count(), 9);
}

class StepWindow : public Steps {
 protected:
  void SetUp() override {
    Steps::SetUp();
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
  }
  StepBar& bar() { return window_.step_bar(); }
  MainWindow window_{context_, false};
};

TEST_F(StepWindow, TheSliderGoesToAStage) {
  open();
  EXPECT_EQ(bar().stages().maximum(), 8);
  QTest::mouseClick(&bar().stages(), Qt::LeftButton, {}, bar().stages().point_of(2));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "decomposed");
  EXPECT_EQ(bar().stages().value(), 2);
  EXPECT_EQ(bar().rewrites().maximum(), 4);
  EXPECT_EQ(bar().place_text(), "all 4 rewrites");
  bar().stages().setFocus();
  QTest::keyClick(&bar().stages(), Qt::Key_Right);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "simplified:cse#1");
  QTest::keyClick(&bar().stages(), Qt::Key_Home);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "captured");
  EXPECT_FALSE(bar().rewrites().isEnabled());
  EXPECT_EQ(bar().place_text(), "no rewrites recorded");
}

TEST_F(StepWindow, DraggingPassesOverStages) {
  open();
  TickSlider& slider = bar().stages();
  QTest::mousePress(&slider, Qt::LeftButton, {}, slider.point_of(0));
  for (int value = 1; value <= 4; ++value) QTest::mouseMove(&slider, slider.point_of(value));
  QTest::mouseRelease(&slider, Qt::LeftButton, {}, slider.point_of(4));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "scheduled");
}

TEST_F(StepWindow, TheSecondSliderGoesToARewrite) {
  open("decomposed");
  TickSlider& slider = bar().rewrites();
  QTest::mouseClick(&slider, Qt::LeftButton, {}, slider.point_of(1));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "decomposed@2");
  EXPECT_EQ(bar().place_text(), "rewrite 2 of 4");
  EXPECT_TRUE(bar().line_text().startsWith("batch_norm(x, w, b) => x * w' + b' matched batch_norm_1 → "))
      << bar().line_text().toStdString();
  EXPECT_TRUE(bar().line().text().contains("<a href="));
  EXPECT_TRUE(bar().removed_button().isChecked());
  QTest::mouseClick(&slider, Qt::LeftButton, {}, slider.point_of(4));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "decomposed");
  EXPECT_FALSE(bar().removed_button().isChecked());
}

TEST_F(StepWindow, KeysStepThroughRewrites) {
  open();
  window_.graph().setFocus();
  QTest::keyClick(&window_.graph(), Qt::Key_J, Qt::ShiftModifier);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional@1");
  QTest::keyClick(&window_.graph(), Qt::Key_J, Qt::ShiftModifier);
  ASSERT_TRUE(settle(context_));
  QTest::keyClick(&window_.graph(), Qt::Key_K, Qt::ShiftModifier);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional@1");
  QTest::keyClick(&window_.graph(), Qt::Key_J);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "functional");
  QTest::keyClick(&window_.graph(), Qt::Key_End);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "runs");
}

TEST_F(StepWindow, ALinkOfTheLineSelectsItsNode) {
  open("functional@1");
  const trace::NodeId made = context_.step_data()->rewrites[0].after[0];
  emit bar().line().linkActivated(QString::number(made));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().node, made);
}

TEST_F(StepWindow, TheButtonSwitchesRemovedNodesForThisKindOfStep) {
  open("functional@1");
  ASSERT_TRUE(bar().removed_button().isChecked());
  bar().removed_button().click();
  ASSERT_TRUE(settle(context_));
  EXPECT_FALSE(context_.options().removed_by_rewrite);
  EXPECT_EQ(context_.step_data()->picture.find(context_.step_data()->diff.removed[0].id), -1);
  context_.step(1);
  ASSERT_TRUE(settle(context_));
  bar().removed_button().click();
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(context_.options().removed);
  EXPECT_FALSE(context_.options().removed_by_rewrite);
}

TEST_F(StepWindow, TheTableOfRewritesLeadsToThem) {
  open("decomposed");
  LinkTable& table = window_.changes().rewrites();
  ASSERT_EQ(table.model()->rowCount(), 4);
  table.setCurrentIndex(table.model()->index(2, 0));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "decomposed@3");
  EXPECT_EQ(table.currentIndex().row(), 2);
  fine(1);
  EXPECT_EQ(table.currentIndex().row(), 3) << "the table follows";
}

TEST_F(StepWindow, HiddenPassesStayHiddenWhenStepping) {
  // A stage in which nothing changed.
  {
    trace::Writer writer(folder_ / "same.strata");
    trace::CompileRecord compile;
    compile.address = "0/0";
    compile.name = "same";
    compile.id = writer.add(compile);
    std::vector<trace::NodeRecord> nodes(1);
    nodes[0].id = 1;
    nodes[0].name = "x";
    nodes[0].op = "placeholder";
    for (const char* stage : {"captured", "same", "renamed"}) {
      trace::SnapshotRecord snapshot;
      snapshot.compile = compile.id;
      snapshot.stage = stage;
      if (stage == std::string("renamed")) nodes[0].name = "y";
      writer.add(snapshot, nodes);
    }
    writer.close();
  }
  context_.open({QString::fromStdString((folder_ / "same.strata").string()), "", "", ""});
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(bar().stages().maximum(), 2);
  window_.stages().hide_box().setChecked(true);
  EXPECT_EQ(bar().stages().maximum(), 1);
  context_.step(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "renamed");
  context_.step(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "captured");
  window_.stages().hide_box().setChecked(false);
  context_.step(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(place(), "same");
}

TEST_F(StepWindow, TheTextFollowsTheStep) {
  open("functional");
  window_.show_view("diff");
  ASSERT_TRUE(settle(context_));
  TextDiffView& view = window_.text_diff().view();
  ASSERT_TRUE(view.diff());
  EXPECT_EQ(view.diff()->left_title, "captured");
  EXPECT_EQ(view.diff()->right_title, "functional");
  const size_t all = view.diff()->changed + view.diff()->added + view.diff()->removed;
  EXPECT_GE(all, 6u);
  fine(-1);
  ASSERT_TRUE(view.diff());
  EXPECT_EQ(view.diff()->right_title, "rewrite 3");
  EXPECT_LT(view.diff()->changed + view.diff()->added + view.diff()->removed, all) << "only that rewrite";
  EXPECT_TRUE(window_.text_diff().summary().startsWith("rewrite 2 → rewrite 3, lines: "));
  context_.step_to_end(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_FALSE(view.diff());
}

TEST_F(StepWindow, LinesAndNodesAreLinked) {
  open("functional");
  window_.show_view("diff");
  ASSERT_TRUE(settle(context_));
  TextDiffView& view = window_.text_diff().view();
  EXPECT_FALSE(view.side_by_side()) << "there is room for one column";
  window_.text_diff().columns_button().setChecked(true);
  EXPECT_TRUE(view.side_by_side());
  int changed = -1;
  for (size_t i = 0; i < view.lines().size(); ++i)
    if (view.lines()[i].right >= 0 && view.lines()[i].differs()) changed = static_cast<int>(i);
  ASSERT_GE(changed, 0);
  view.go_to_change(1);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.point_of(view.current()));
  ASSERT_TRUE(settle(context_));
  const auto& line = view.lines()[static_cast<size_t>(view.current())];
  ASSERT_GE(line.right, 0);
  EXPECT_EQ(context_.selection().node, view.diff()->right_nodes[static_cast<size_t>(line.right)]);
  EXPECT_TRUE(view.is_selected(view.current()));
  // A node whose line is folded is brought out.
  trace::NodeId folded = 0;
  for (const auto& row : view.diff()->rows) {
    const trace::NodeId id = view.diff()->node(row);
    const bool shown = std::any_of(view.lines().begin(), view.lines().end(), [&](const auto& l) {
      return l.right >= 0 && view.diff()->right_nodes[static_cast<size_t>(l.right)] == id;
    });
    if (!shown && row.kind == DiffKind::Same) folded = id;
  }
  ASSERT_NE(folded, 0);
  context_.select_node(folded);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(view.is_selected(view.current()));
}

TEST_F(StepWindow, TheTextCanStandInOneColumnUnfoldedAndBeCopied) {
  open("functional");
  window_.show_view("diff");
  ASSERT_TRUE(settle(context_));
  TextDiffPanel& panel = window_.text_diff();
  panel.columns_button().setChecked(true);
  const size_t folded = panel.view().lines().size();
  panel.fold_button().click();
  const size_t beside = panel.view().lines().size();
  EXPECT_GT(beside, folded);
  panel.columns_button().click();
  EXPECT_EQ(panel.view().lines().size(), panel.view().diff()->rows.size() + panel.view().diff()->changed);
  EXPECT_FALSE(panel.view().grab().isNull());
  const QString text = panel.view().copied_text();
  EXPECT_TRUE(text.startsWith("--- captured\n+++ functional\n"));
  EXPECT_TRUE(text.contains("\n- relu__0: f32[8, 32, 14, 14] = aten.relu_.default(")) << text.toStdString();
}

}  // namespace
}  // namespace strata::studio
