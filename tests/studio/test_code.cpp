// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Views of code: colours, marked lines, words and lines to find, two languages in step.

#include <QScrollBar>
#include <QTest>
#include <QTextBlock>

#include "app/studio/views/main_window.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;

/// Words of a line as `text:kind`, kinds k, n, 0, s, c.
std::string words(Language language, const QString& line, Open open = Open::Nothing, Open* after = nullptr) {
  std::string out;
  for (const Token& t : tokens(language, line, open))
    out += (out.empty() ? "" : " ") + line.mid(t.start, t.length).toStdString() + ":" +
           "kn0sc"[static_cast<size_t>(t.word)];
  if (after) *after = open;
  return out;
}

TEST(Syntax, EachLanguage) {
  EXPECT_EQ(words(Language::Python, "def f(x): return x + 1.5  # why"), "def:k return:k 1.5:0 # why:c");
  EXPECT_EQ(words(Language::Python, "@jit"), "@jit:n");
  EXPECT_EQ(words(Language::Cpp, "#pragma omp"), "#pragma:n");
  EXPECT_EQ(words(Language::Cpp, "float v0 = 1.0f; // node 3"), "float:k 1.0f:0 // node 3:c");
  EXPECT_EQ(words(Language::Llvm, "  %v0 = load float, ptr %a ; x"), "%v0:n load:k float:k ptr:k %a:n ; x:c");
  EXPECT_EQ(words(Language::Assembly, "\tvmulps\t%zmm0, $3, %zmm2"), "vmulps:k %zmm0:n $3:n %zmm2:n");
  EXPECT_EQ(words(Language::LoopIr, "  %0 f32 = load a@0 !413"), "%0:n f32:k load:k 0:0 !413:c");
  EXPECT_EQ(words(Language::Plain, "def x # 1"), "");
}

TEST(Syntax, StringsAndCommentsOverSeveralLines) {
  Open open = Open::Nothing;
  EXPECT_EQ(words(Language::Python, "x = \"\"\"a", Open::Nothing, &open), "\"\"\"a:s");
  EXPECT_EQ(open, Open::DoubleQuotes);
  EXPECT_EQ(words(Language::Python, "b\"\"\" if 1", open, &open), "b\"\"\":s if:k 1:0");
  EXPECT_EQ(open, Open::Nothing);
  EXPECT_EQ(words(Language::Cpp, "/* a */ int b; /*", Open::Nothing, &open), "/* a */:c int:k /*:c");
  EXPECT_EQ(open, Open::Comment);
  EXPECT_EQ(words(Language::Cpp, "\"a \\\" b", Open::Nothing, &open), "\"a \\\" b:s");
  EXPECT_EQ(open, Open::Nothing);
}

class Text : public testing::Test {
 protected:
  void SetUp() override {
    QStringList lines;
    for (int i = 1; i <= 500; ++i) lines << QString("line %1").arg(i);
    view_.resize(500, 300);
    view_.show();
    view_.set_text(lines.join('\n'));
  }
  CodeView view_;
};

TEST_F(Text, FindsWordsAroundTheEnd) {
  QTest::keyClick(&view_, Qt::Key_Slash);
  EXPECT_TRUE(view_.find_box().isVisible());
  QTest::keyClicks(&view_.find_box(), "line 25");
  EXPECT_EQ(view_.textCursor().blockNumber() + 1, 25);
  EXPECT_EQ(view_.find_result(), "11 in all");
  QTest::keyClick(&view_.find_box(), Qt::Key_Return);
  EXPECT_EQ(view_.textCursor().blockNumber() + 1, 250);
  QTest::keyClick(&view_.find_box(), Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClick(&view_.find_box(), Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(view_.textCursor().blockNumber() + 1, 259);
  QTest::keyClicks(&view_.find_box(), "x");
  EXPECT_EQ(view_.find_result(), "not found");
  QTest::keyClick(&view_.find_box(), Qt::Key_Escape);
  EXPECT_FALSE(view_.find_box().isVisible());
}

TEST_F(Text, GoesToALine) {
  QTest::keyClick(&view_, Qt::Key_G);
  QTest::keyClicks(&view_.find_box(), "321");
  EXPECT_EQ(view_.textCursor().blockNumber() + 1, 321);
  EXPECT_NEAR(view_.middle_line(), 321, 2);
  view_.find_box().setText(":900");
  view_.find_next(1);
  EXPECT_EQ(view_.find_result(), "no such line");
}

TEST_F(Text, AClickSelectsALineAndADragDoesNot) {
  std::vector<int> clicked;
  QObject::connect(&view_, &CodeView::lineActivated, &view_, [&](int line) { clicked.push_back(line); });
  const QPoint third(60, view_.point_of(3).y());
  QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, third);
  EXPECT_EQ(clicked, (std::vector<int>{3}));
  QTest::mousePress(view_.viewport(), Qt::LeftButton, {}, QPoint(10, view_.point_of(5).y()));
  QTest::mouseMove(view_.viewport(), QPoint(60, view_.point_of(7).y()));
  QTest::mouseRelease(view_.viewport(), Qt::LeftButton, {}, QPoint(60, view_.point_of(7).y()));
  EXPECT_EQ(clicked.size(), 1u);
}

TEST_F(Text, MarkedLinesComeIntoViewAndStayWhereTheyAre) {
  view_.highlight({{400, 402}, {401, 404}, {9000, 9001}}, {{10, 10}});
  EXPECT_EQ(view_.highlighted_lines(), 5);
  EXPECT_TRUE(view_.is_highlighted(404));
  EXPECT_FALSE(view_.is_highlighted(405));
  EXPECT_TRUE(view_.is_faint(10));
  EXPECT_NEAR(view_.middle_line(), 400, 3);
  const int before = view_.verticalScrollBar()->value();
  view_.highlight({{403, 403}});  // in view: nothing moves
  EXPECT_EQ(view_.verticalScrollBar()->value(), before);
}

TEST_F(Text, OnlySeenLinesAreColoured) {
  view_.set_language(Language::Python);
  view_.set_text("if 1:\n" + QString("x = 'a'\n").repeated(100000));
  EXPECT_FALSE(view_.document()->firstBlock().layout()->formats().isEmpty());
  EXPECT_TRUE(view_.document()->findBlockByNumber(50000).layout()->formats().isEmpty());
  view_.show_line(50001);
  QCoreApplication::processEvents();
  EXPECT_FALSE(view_.document()->findBlockByNumber(50000).layout()->formats().isEmpty());
}

TEST_F(Text, GapsOfAnExcerptHaveNoNumberAndCannotBeSelected) {
  view_.set_text("…\na\nb", {1, 7, 8}, {1});
  int clicked = 0;
  QObject::connect(&view_, &CodeView::lineActivated, &view_, [&](int line) { clicked = line; });
  QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, QPoint(30, view_.point_of(1).y()));
  EXPECT_EQ(clicked, 0);
  QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, QPoint(30, view_.point_of(8).y()));
  EXPECT_EQ(clicked, 8);
}

class TwoLanguages : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
    test::write_sample_trace(folder_ / "cnn.strata", {2, false});
    context_.open({QString::fromStdString((folder_ / "cnn.strata").string()), "", "scheduled", "mul_0"});
    ASSERT_TRUE(settle(context_));
    ASSERT_TRUE(window_.show_view("code"));
  }
  CodePanel& code() { return window_.code(); }
  void choose_beside(const QString& kind) {
    const int at = code().beside().findData(kind);
    ASSERT_GE(at, 0);
    code().beside().setCurrentIndex(at);
    emit code().beside().activated(at);
  }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(TwoLanguages, StandSideBySideWithTheSameNodesMarked) {
  EXPECT_FALSE(code().second().isVisible());
  choose_beside("asm");
  EXPECT_TRUE(code().second().isVisible());
  EXPECT_TRUE(code().second().toPlainText().contains("vmulps"));
  EXPECT_EQ(code().view().highlighted_lines(), 1);
  EXPECT_EQ(code().second().highlighted_lines(), 1);
  context_.select_node(context_.compile()->kernels[3].nodes.front());
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(code().second().isVisible());  // the choice stays
  EXPECT_EQ(code().second().highlighted_lines(), 1);
}

TEST_F(TwoLanguages, AClickOnALineSelectsItsNodeEverywhere) {
  choose_beside("cpp");
  CodeView& loops = code().view();
  ASSERT_TRUE(loops.toPlainText().startsWith("kernel fused_2"));
  QTest::mouseClick(loops.viewport(), Qt::LeftButton, {}, QPoint(60, loops.point_of(3).y()));
  ASSERT_TRUE(settle(context_));
  const auto& kernel = context_.compile()->kernels[1];
  EXPECT_EQ(context_.selection().node, kernel.nodes.at(1));  // line 1 is the head
  EXPECT_TRUE(code().view().is_highlighted(3));
  EXPECT_TRUE(code().second().is_highlighted(5));  // three lines of C++ come before the first node
  // From the second view just as well.
  QTest::mouseClick(code().second().viewport(), Qt::LeftButton, {}, QPoint(60, code().second().point_of(6).y()));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().node, kernel.nodes.at(2));
  EXPECT_TRUE(code().view().is_highlighted(4));
}

}  // namespace
}  // namespace strata::studio
