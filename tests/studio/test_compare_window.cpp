// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The page Compare on the real window.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QTest>
#include <fstream>

#include "app/studio/views/main_window.h"
#include "tests/studio/compare_support.h"

namespace strata::studio {
namespace {

using Page = Comparison::Page;
using test::settle;

class CompareWindow : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
  }
  QString file(const char* name) { return QString::fromStdString((folder_ / name).string()); }
  void open(const char* name) {
    context_.open({file(name), "", "", ""});
    ASSERT_TRUE(settle(context_));
    window_.show_view("compare");
    ASSERT_TRUE(settle(context_));
  }
  void show(Page page) {
    panel().show_page(page);
    ASSERT_TRUE(settle(context_));
  }
  ComparePanel& panel() { return window_.compare(); }
  void import_both() {
    test::import(
        {"logs/cnn_fmnist.log.gz", "profiles/cnn_fmnist_compiled.json.gz", "profiles/cnn_fmnist_eager.json.gz"},
        folder_ / "both.strata");
  }
  test::TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(CompareWindow, EagerAndCompiledAreChosenByThemselves) {
  import_both();
  open("both.strata");
  EXPECT_EQ(panel().page(), Page::Profile);
  EXPECT_TRUE(panel().verdict().startsWith("compiled is ")) << panel().verdict().toStdString();
  EXPECT_TRUE(panel().chooser(0).runs().currentText().startsWith("eager"));
  EXPECT_TRUE(panel().chooser(1).runs().currentText().startsWith("compiled"));
  CompareTable& kernels = panel().profile().table();
  QAbstractItemModelTester tester(&kernels.rows(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_GT(kernels.rows().rowCount(), 10);
  EXPECT_FALSE(window_.grab().isNull());
  const double first = kernels.rows().rows()[0].cells[kDifferenceColumn].sort.toDouble();
  for (auto& button : panel().findChildren<QToolButton*>())
    if (button->accessibleName() == "swap sides") QTest::mouseClick(button, Qt::LeftButton);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(panel().verdict().startsWith("eager is ")) << panel().verdict().toStdString();
  EXPECT_DOUBLE_EQ(kernels.rows().rows()[0].cells[kDifferenceColumn].sort.toDouble(), -first);
}

TEST_F(CompareWindow, RowsAreFilteredAndLead) {
  import_both();
  open("both.strata");
  CompareTable& kernels = panel().profile().table();
  const int all = kernels.model()->rowCount();
  QTest::keyClicks(&panel().profile().filter_box(), "triton");
  EXPECT_LT(kernels.model()->rowCount(), all);
  EXPECT_GT(kernels.model()->rowCount(), 0);
  kernels.setFocus();
  kernels.setCurrentIndex(kernels.model()->index(0, 0));
  QTest::keyClick(&kernels, Qt::Key_B);
  ASSERT_TRUE(settle(context_));
  ASSERT_NE(context_.selection().kernel, trace::kNone);
  ASSERT_TRUE(context_.details());
  ASSERT_FALSE(context_.details()->kernels.empty());
  EXPECT_TRUE(kernels.currentIndex().siblingAtColumn(0).data().toString().contains(
      qt(context_.details()->kernels.front().name)));
  panel().profile().by().setCurrentIndex(3);
  EXPECT_FALSE(panel().profile().summary().isEmpty());
}

TEST_F(CompareWindow, CopiesTheVerdictAndTheTable) {
  import_both();
  open("both.strata");
  for (auto& button : panel().findChildren<QToolButton*>())
    if (button->accessibleName().startsWith("copy the comparison")) QTest::mouseClick(button, Qt::LeftButton);
  const QString text = QApplication::clipboard()->text();
  EXPECT_TRUE(text.startsWith(panel().verdict()));
  EXPECT_TRUE(text.contains("Kernel\t"));
  EXPECT_EQ(text.count('\n'), panel().profile().table().model()->rowCount() + 3);
}

TEST_F(CompareWindow, TwoTracesSideBySide) {
  test::write_sample_trace(folder_ / "two.strata", {2, false});
  test::write_sample_trace(folder_ / "three.strata", {3, false});
  context_.open({file("two.strata"), "", "", ""});
  window_.compare_with(file("three.strata"));
  ASSERT_TRUE(settle(context_));
  show(Page::Graph);
  CompareGraphPage& page = panel().graph();
  ASSERT_TRUE(page.pane(0).step_data() && page.pane(1).step_data());
  EXPECT_LT(page.pane(0).step_data()->nodes.size(), page.pane(1).step_data()->nodes.size());
  EXPECT_EQ(static_cast<size_t>(page.differences().rows().rowCount()),
            panel().comparison().graph()->differences.size());
  ASSERT_GT(page.differences().rows().rowCount(), 2);
  page.setFocus();
  QTest::keyClick(&page, Qt::Key_F8);
  EXPECT_EQ(page.differences().currentIndex().row(), 0);
  QTest::keyClick(&page, Qt::Key_N);
  EXPECT_EQ(page.differences().currentIndex().row(), 1);
  QTest::keyClick(&page, Qt::Key_F7);
  EXPECT_EQ(page.differences().currentIndex().row(), 0);
  ASSERT_TRUE(settle(context_));
  EXPECT_FALSE(window_.grab().isNull());
}

TEST_F(CompareWindow, SelectingInOneGraphSelectsThePartner) {
  test::write_sample_trace(folder_ / "two.strata", {2, false});
  test::write_sample_trace(folder_ / "three.strata", {3, false});
  context_.open({file("two.strata"), "", "", ""});
  window_.compare_with(file("three.strata"));
  ASSERT_TRUE(settle(context_));
  show(Page::Graph);
  CompareGraphPage& page = panel().graph();
  const auto id = [&](int side, const char* name) {
    for (const auto& n : page.pane(side).step_data()->nodes)
      if (n.name == name) return n.id;
    return trace::NodeId{0};
  };
  const trace::NodeId here = id(0, "conv2d_1"), there = id(1, "conv2d_1");
  ASSERT_TRUE(here && there);
  page.pane(0).select_node(here);
  EXPECT_EQ(page.pane(1).selection().node, there);
  EXPECT_EQ(context_.selection().node, here);  // the trace of side A is open
  const trace::NodeId extra = id(1, "conv2d_2");
  ASSERT_TRUE(extra);
  page.pane(1).select_node(extra);
  EXPECT_EQ(page.pane(0).selection().node, 0);
  EXPECT_TRUE(page.differences().currentIndex().isValid());
}

TEST_F(CompareWindow, AKernelOfTheOtherTraceOpensIt) {
  test::write_sample_trace(folder_ / "two.strata", {2, false});
  test::write_sample_trace(folder_ / "three.strata", {3, false});
  context_.open({file("two.strata"), "", "", ""});
  window_.compare_with(file("three.strata"));
  ASSERT_TRUE(settle(context_));
  show(Page::Profile);
  const QString verdict = panel().verdict();
  CompareTable& kernels = panel().profile().table();
  for (int row = 0; row < kernels.model()->rowCount(); ++row) {
    kernels.setCurrentIndex(kernels.model()->index(row, 0));
    if (panel().comparison().profile()->by(ProfileBy::Kernel)[static_cast<size_t>(kernels.current_row())].in_b) break;
  }
  QTest::keyClick(&kernels, Qt::Key_B);
  ASSERT_TRUE(settle(context_));
  QTest::qWait(20);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.path(), file("three.strata"));
  EXPECT_NE(context_.selection().kernel, trace::kNone);
  EXPECT_EQ(panel().verdict(), verdict);
  EXPECT_EQ(panel().comparison().sources().size(), 2u);
}

TEST_F(CompareWindow, CompilesOfOneFrame) {
  test::import({"logs/dynamic_shapes.log.gz"}, folder_ / "dynamic.strata");
  open("dynamic.strata");
  EXPECT_EQ(panel().page(), Page::Compile);
  EXPECT_TRUE(panel().verdict().contains("size mismatch")) << panel().verdict().toStdString();
  EXPECT_GT(panel().compile().table().rows().rowCount(), 5);
  // Another compile on side B.
  QTest::keyClick(&panel().chooser(1).compiles(), Qt::Key_Down);
  emit panel().chooser(1).compiles().activated(2);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(panel().comparison().chosen(1).compile->record.address, "0/2");
  ASSERT_TRUE(panel().comparison().compile());
  EXPECT_EQ(panel().comparison().compile()->address_b, "0/2");
}

TEST_F(CompareWindow, RanksOfADistributedProgram) {
  test::import({"logs/ddp_rank_0.log.gz", "logs/ddp_rank_1.log.gz", "ddp"}, folder_ / "ddp.strata");
  open("ddp.strata");
  show(Page::Ranks);
  EXPECT_GT(panel().ranks().frames().rows().rowCount(), 0);
  EXPECT_GT(panel().ranks().collectives().rows().rowCount(), 0);
  EXPECT_TRUE(panel().verdict().contains("rank")) << panel().verdict().toStdString();
}

TEST_F(CompareWindow, PagesSayWhyTheyAreEmpty) {
  test::write_sample_trace(folder_ / "cnn.strata", {1, false});
  open("cnn.strata");
  for (const Page page : {Page::Compile, Page::Ranks}) {
    show(page);
    EXPECT_FALSE(panel().comparison().why_not(page).isEmpty());
    EXPECT_FALSE(window_.grab().isNull());
  }
  // One trace without runs on one side.
  test::write_large_trace(folder_ / "large.strata", 30);
  window_.compare_with(file("large.strata"));
  ASSERT_TRUE(settle(context_));
  show(Page::Profile);
  EXPECT_TRUE(panel().comparison().why_not(Page::Profile).contains("Side B has no run"));
  show(Page::Graph);
  EXPECT_TRUE(panel().comparison().graph());
}

TEST_F(CompareWindow, ABrokenSecondTraceIsAMessage) {
  test::write_sample_trace(folder_ / "cnn.strata", {2, true});
  std::ofstream(folder_ / "broken.strata") << "SQLite format 3 but not really";
  open("cnn.strata");
  for (const char* name : {"broken.strata", "missing.strata"}) {
    window_.compare_with(file(name));
    ASSERT_TRUE(settle(context_));
    EXPECT_TRUE(window_.message_text().contains(name)) << window_.message_text().toStdString();
  }
  EXPECT_EQ(panel().comparison().sources().size(), 1u);
  show(Page::Graph);
  EXPECT_TRUE(panel().comparison().graph());
}

TEST_F(CompareWindow, AVanishedSecondTraceKeepsTheRest) {
  test::write_sample_trace(folder_ / "cnn.strata", {2, false});
  test::write_sample_trace(folder_ / "gone.strata", {3, false});
  open("cnn.strata");
  window_.compare_with(file("gone.strata"));
  ASSERT_TRUE(settle(context_));
  std::filesystem::remove(folder_ / "gone.strata");
  show(Page::Graph);
  show(Page::Compile);
  show(Page::Profile);
  EXPECT_FALSE(panel().verdict().isEmpty());
  panel().comparison().show(1, {1, trace::kNone, 1, "", 0});
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.path(), file("cnn.strata"));
}

TEST_F(CompareWindow, AnotherTraceBeginsAnew) {
  test::write_sample_trace(folder_ / "two.strata", {2, false});
  test::write_sample_trace(folder_ / "three.strata", {3, false});
  test::write_sample_trace(folder_ / "one.strata", {1, false});
  open("two.strata");
  window_.compare_with(file("three.strata"));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(panel().comparison().sources().size(), 2u);
  open("one.strata");
  EXPECT_EQ(panel().comparison().sources().size(), 1u);
  EXPECT_FALSE(panel().comparison().why_not(Page::Compile).isEmpty());
}

TEST_F(CompareWindow, ClosingWhileItComparesIsSafe) {
  test::write_large_trace(folder_ / "a.strata", 20000);
  test::write_large_trace(folder_ / "b.strata", 19000);
  {
    Context context;
    MainWindow window(context, false);
    window.show();
    context.open({file("a.strata"), "", "", ""});
    window.compare_with(file("b.strata"));
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < 400) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    window.compare().show_page(Page::Graph);
    QCoreApplication::processEvents();
  }
  SUCCEED();
}

TEST_F(CompareWindow, EveryControlHasAName) {
  import_both();
  open("both.strata");
  for (const QWidget* widget : panel().findChildren<QWidget*>()) {
    const bool control = qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractButton*>(widget) ||
                         qobject_cast<const QTableView*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
                         qobject_cast<const QTabBar*>(widget);
    const bool own = !widget->objectName().startsWith("qt_") && widget->parentWidget() &&
                     !widget->parentWidget()->inherits("QTableView") && !widget->parentWidget()->inherits("QTabBar") &&
                     !widget->parentWidget()->inherits("QComboBox") && !widget->parentWidget()->inherits("QLineEdit");
    if (!control || !own) continue;
    const bool named = !widget->accessibleName().isEmpty() || qobject_cast<const QTabBar*>(widget);
    EXPECT_TRUE(named) << widget->metaObject()->className();
  }
}

}  // namespace
}  // namespace strata::studio
