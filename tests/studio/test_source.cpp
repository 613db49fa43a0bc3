// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Times beside lines of source, and excerpts.

#include <QScrollBar>
#include <QTest>

#include "app/studio/models/line_heat.h"
#include "app/studio/models/profile_rows.h"
#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;

TEST(LineTimesOf, AddUpToTheProfilePage) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {2, false});
  trace::Reader reader(folder / "cnn.strata");
  const LineTimesPtr times = load_line_times(reader);
  EXPECT_TRUE(times->eager.lines.empty());
  const ProfilePtr profile = load_profile(reader, profile_choices(reader).front().runs);
  ASSERT_GT(profile->total, 0);
  EXPECT_EQ(times->compiled.total, profile->total);
  double sum = 0;
  size_t lines = 0;
  for (const ProfileRow& row : profile->by(ProfileBy::Line)) {
    if (row.line <= 0) continue;
    ++lines;
    sum += row.ns;
    EXPECT_EQ(times->compiled.lines.at({row.file, row.line}), row.ns) << row.key;
  }
  EXPECT_EQ(times->compiled.lines.size(), lines);
  EXPECT_NEAR(times->compiled.of_file("/home/user/models/cnn.py"), sum, 1e-6 * sum);
  EXPECT_EQ(times->compiled.of_file("/home/user/models/cnn"), 0);
}

TEST(LineTimesOf, ATraceWithoutRuns) {
  TemporaryFolder folder;
  test::write_large_trace(folder / "l.strata", 10);
  trace::Reader reader(folder / "l.strata");
  EXPECT_TRUE(load_line_times(reader)->empty());
}

TEST(Source, LinesHaveTheirTimes) {
  TemporaryFolder folder;
  Context context;
  MainWindow window(context, false);
  window.resize(1280, 800);
  window.show();
  test::write_sample_trace(folder / "cnn.strata", {2, false});
  context.open({QString::fromStdString((folder / "cnn.strata").string()), "", "scheduled", "mul_0"});
  ASSERT_TRUE(settle(context));
  ASSERT_TRUE(window.show_view("source"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.source().times() != nullptr; }, 20000));
  const auto& heat = window.source().view().heat();
  ASSERT_TRUE(heat.contains(26));
  EXPECT_LT(heat.at(26).eager, 0);
  EXPECT_GT(heat.at(26).compiled, 0);
  EXPECT_LE(heat.at(26).compiled, 1);
  EXPECT_TRUE(heat.at(26).text.startsWith("compiled: ")) << heat.at(26).text.toStdString();
  EXPECT_FALSE(heat.contains(1));
  EXPECT_TRUE(window.source().times_label().isVisible());
  EXPECT_TRUE(window.source().times_label().text().startsWith("compiled "));
}

TEST(Source, ClicksOnLinesSelectThemAndTheTextStaysWhereItIs) {
  TemporaryFolder folder;
  Context context;
  MainWindow window(context, false);
  window.resize(1280, 800);
  window.show();
  test::write_sample_trace(folder / "cnn.strata", {2, false});
  context.open({QString::fromStdString((folder / "cnn.strata").string()), "", "scheduled", "mul_0"});
  ASSERT_TRUE(settle(context));
  ASSERT_TRUE(window.show_view("source"));
  CodeView& view = window.source().view();
  QTest::qWait(50);  // docks take their sizes
  view.show_line(24);
  const QPoint at(80, view.point_of(24).y());
  const int scrolled = view.verticalScrollBar()->value();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(context.selection().line, 24);
  EXPECT_EQ(context.selection().file, "/home/user/models/cnn.py");
  EXPECT_TRUE(view.is_highlighted(24));
  EXPECT_EQ(view.verticalScrollBar()->value(), scrolled);
}

/// Files of which the trace has only some lines say which are missing.
TEST(Source, ExcerptsSayWhatIsMissing) {
  TemporaryFolder folder;
  {
    trace::Writer w(folder / "e.strata");
    trace::CompileRecord c;
    c.address = "0/0";
    trace::SnapshotRecord s;
    s.compile = w.add(c);
    s.stage = "captured";
    trace::NodeRecord n;
    n.id = 1;
    n.name = "a";
    n.op = "call";
    const std::vector<trace::SourceLocation> place = {{"/m.py", 12, "f", "y = a(x)"}};
    n.stack = w.stack(place);
    w.add(s, std::vector<trace::NodeRecord>{n});
    w.add(trace::SourceFileRecord{trace::kNone, "/m.py", true, "", {{12, "y = a(x)"}, {14, "z"}, {41, "return y"}}});
    w.close();
  }
  Context context;
  MainWindow window(context, false);
  window.show();
  context.open({QString::fromStdString((folder / "e.strata").string()), "", "", ""});
  ASSERT_TRUE(settle(context));
  context.select_line("/m.py", 12);
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(window.source().view().toPlainText().toStdString(),
            "… lines 1-11 are not in the trace …\ny = a(x)\n… line 13 is not in the trace …\nz\n"
            "… lines 15-40 are not in the trace …\nreturn y");
  EXPECT_TRUE(window.source().view().is_highlighted(12));
  EXPECT_EQ(window.source().view().highlighted_lines(), 1);
}

}  // namespace
}  // namespace strata::studio
