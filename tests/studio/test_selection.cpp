// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Whatever is selected, every page shows what it knows of it.

#include <QTest>
#include <functional>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

class Selecting : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
    test::write_sample_trace(folder_ / "cnn.strata", {2, false});
    context_.open({QString::fromStdString((folder_ / "cnn.strata").string()), "", "scheduled", ""});
    ASSERT_TRUE(settle(context_));
    ASSERT_TRUE(context_.step_data());
  }
  NodeId node(const char* name) {
    for (const auto& n : context_.step_data()->nodes)
      if (n.name == name) return n.id;
    ADD_FAILURE() << name;
    return 0;
  }
  const KernelRecord& kernel(const char* name) {
    for (const auto& k : context_.compile()->kernels)
      if (k.name == name) return k;
    ADD_FAILURE() << name;
    return context_.compile()->kernels.front();
  }
  const LaunchRecord& launch_of(const char* name) {
    const Id id = kernel(name).id;
    for (const auto& l : context_.compile()->launches)
      if (l.kernel == id) return l;
    ADD_FAILURE() << name;
    return context_.compile()->launches.front();
  }
  std::string inspector() { return to_text(window_.inspector().model()).toStdString(); }
  bool marked_in_code(const char* language) {
    for (int tab = 0; tab < window_.code().tabs().count(); ++tab)
      if (window_.code().tabs().tabText(tab) == language) {
        window_.code().tabs().setCurrentIndex(tab);
        return window_.code().view().highlighted_lines() > 0;
      }
    return false;
  }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

/// A kind of selection and what the pages then say.
struct Shown {
  const char* what;
  std::function<void()> select;
  std::vector<std::string> inspector;  ///< words that stand there
  int source_line;                     ///< highlighted
  bool code;                           ///< lines of C++ are marked
  size_t launches, buffers;            ///< in the details
};

TEST_F(Selecting, EveryKindIsShownOnEveryPage) {
  const LaunchRecord launch = launch_of("fused_2");
  const Id written = launch.writes.at(0);
  const Id event = context_.reader()->events_of_kernel(launch.kernel, 1).at(0).id;
  const auto compile = context_.compile()->compile.id;
  const std::vector<Shown> table = {
      {"node",
       [&] { context_.select_node(node("mul_0")); },
       {"name | mul_0", "Kernels (1)", "fused_2"},
       26,
       true,
       1,
       2},
      {"kernel", [&] { context_.select_kernel(launch.kernel); }, {"name | fused_2", "Launches (1)"}, 26, false, 1, 2},
      {"launch",
       [&] { context_.select_launch(launch.id); },
       {"Launch\n", "number | 1", "reads | ", "writes | "},
       26,
       false,
       1,
       2},
      {"buffer",
       [&] { context_.select_buffer(written); },
       {"Buffer\n", "kind | temporary", "writes · fused_2"},
       28,
       true,
       2,
       1},
      {"event",
       [&] { context_.select_event(event, compile, launch.kernel); },
       {"Event\n", "category | kernel", "name | fused_2"},
       26,
       false,
       1,
       2},
      {"line",
       [&] { context_.select_line("/home/user/models/cnn.py", 26); },
       {"Line\n", "place | cnn.py:26", "Nodes of the line (6)", "Kernels (2)"},
       26,
       true,
       2,
       4},
  };
  for (const Shown& row : table) {
    SCOPED_TRACE(row.what);
    context_.select({});
    ASSERT_TRUE(settle(context_));
    row.select();
    ASSERT_TRUE(settle(context_));
    ASSERT_TRUE(context_.details());
    for (const std::string& words : row.inspector)
      EXPECT_NE(inspector().find(words), std::string::npos) << words << "\n" << inspector();
    EXPECT_TRUE(window_.source().view().is_highlighted(row.source_line));
    EXPECT_EQ(marked_in_code("cpp"), row.code);
    EXPECT_EQ(context_.details()->launches.size(), row.launches);
    EXPECT_EQ(context_.details()->buffers.size(), row.buffers);
  }
}

TEST_F(Selecting, BackAndForwardThroughEveryKind) {
  const LaunchRecord launch = launch_of("fused_2");
  const std::vector<std::function<void()>> steps = {
      [&] { context_.select_node(node("mul_0")); }, [&] { context_.select_launch(launch.id); },
      [&] { context_.select_buffer(launch.writes.at(0)); },
      [&] { context_.select_line("/home/user/models/cnn.py", 27); },
      [&] { context_.select_event(1, context_.compile()->compile.id, launch.kernel); }};
  std::vector<Selection> seen;
  for (const auto& step : steps) {
    step();
    ASSERT_TRUE(settle(context_));
    seen.push_back(context_.selection());
  }
  for (size_t i = seen.size() - 1; i-- > 0;) {
    context_.go(-1);
    ASSERT_TRUE(settle(context_));
    EXPECT_EQ(context_.selection(), seen[i]) << i;
    ASSERT_TRUE(context_.details());
    EXPECT_EQ(context_.details()->selection, seen[i]) << i;
  }
  for (size_t i = 1; i < seen.size(); ++i) {
    context_.go(1);
    ASSERT_TRUE(settle(context_));
    EXPECT_EQ(context_.selection(), seen[i]) << i;
  }
}

TEST_F(Selecting, ALineMarksItsNodesUntilSomethingElseIsSelected) {
  context_.select_line("/home/user/models/cnn.py", 26);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.marked().size(), 6u);  // sigmoid, mul, add of two blocks
  context_.select_node(node("mul_0"));
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(context_.marked().empty());
}

TEST_F(Selecting, UnknownThingsAreLeftOut) {
  Selection selection;
  selection.launch = 9999;
  selection.buffer = 9999;
  context_.select(selection);
  ASSERT_TRUE(settle(context_));
  ASSERT_TRUE(context_.details());
  EXPECT_EQ(context_.details()->launch(), nullptr);
  context_.select_event(123456, kNone, kNone);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.details()->event.id, kNone);
  context_.select_line("/nowhere.py", 3);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(context_.details()->line_nodes.empty());
  EXPECT_EQ(context_.exit_code(), 0);
}

/// A launch row, a guard row: choosing it selects.
TEST_F(Selecting, ARowOfLaunchesSelectsTheLaunch) {
  LinkTable table(context_, launch_headers(), "launches");
  table.set_rows(launch_rows(*context_.compile()));
  table.resize(600, 300);
  table.show();
  const QModelIndex third = table.model()->index(2, 1);
  QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(third).center());
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().launch, context_.compile()->launches[2].id);
  EXPECT_EQ(context_.selection().kernel, context_.compile()->launches[2].kernel);
}

/// A function that was compiled twice, with a guard on a line and one on no line.
class Guarded : public testing::Test {
 protected:
  void SetUp() override {
    write(folder_ / "g.strata");
    window_.resize(1280, 800);
    window_.show();
    context_.open({QString::fromStdString((folder_ / "g.strata").string()), "", "", ""});
    ASSERT_TRUE(settle(context_));
  }
  static void write(const std::filesystem::path& path) {
    Writer w(path);
    ProcessRecord process;
    process.id = w.add(process);
    FrameRecord frame;
    frame.process = process.id;
    frame.name = "f";
    frame.file = "/home/u/m.py";
    frame.line = 1;
    frame.id = w.add(frame);
    w.add(SourceFileRecord{kNone, "/home/u/m.py", false, "def f(x, n):\n    y = x * n\n    return y.relu()\n", {}});
    const std::vector<SourceLocation> place = {{"/home/u/m.py", 2, "f", "y = x * n"}};
    const Id line = w.stack(place);
    for (int number = 0; number < 2; ++number) {
      CompileRecord c;
      c.process = process.id;
      c.frame = frame.id;
      c.compile_number = number;
      c.address = "0/" + std::to_string(number);
      c.name = "f";
      c.outcome = "ok";
      const Id compile = w.add(c);
      SnapshotRecord s;
      s.compile = compile;
      s.stage = "captured";
      NodeRecord n;
      n.id = 1;
      n.name = "mul";
      n.op = "call";
      n.stack = line;
      w.add(s, std::vector<NodeRecord>{n});
      if (number == 0) guards(w, compile, line);
      if (number == 1) {
        RecompileRecord r;
        r.compile = compile;
        r.of = 1;
        r.guard = 1;
        r.reason = "L['n'] == 2";
        r.expression = "n == 2";
        r.expected = "2";
        r.actual = "3";
        r.stack = line;
        w.add(r);
      }
      ArtifactRecord code;
      code.owner = {OwnerKind::Compile, compile, compile};
      code.kind = "text";
      code.name = "f_ORIGINAL_BYTECODE";
      code.content =
          "  1           0 RESUME                   0\n\n  2           2 LOAD_FAST                0 (x)\n"
          "              4 LOAD_FAST                1 (n)\n              6 BINARY_OP                5 (*)\n\n"
          "  3     >>   12 LOAD_FAST                2 (y)\n";
      w.add(code);
    }
    w.close();
  }
  static void guards(Writer& w, Id compile, Id line) {
    GuardRecord g;
    g.compile = compile;
    g.kind = "EQUALS_MATCH";
    g.expression = "L['n'] == 2";
    g.source = "L['n']";
    g.stack = line;
    g.failures = 1;
    w.add(g);
    g.kind = "GRAD_MODE";
    g.expression = "torch.is_grad_enabled()";
    g.source = "";
    g.stack = kNone;
    g.failures = 0;
    w.add(g);
    SymbolRecord s;
    s.compile = compile;
    s.name = "s0";
    s.hint = 4;
    s.origin = "L['x'].size()[0]";
    s.stack = line;
    w.add(s);
    w.add(AssumptionRecord{kNone, compile, "Eq(s0, 4)", "specialized", "a branch needed it", line});
  }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(Guarded, ARowSelectsTheGuardEverywhere) {
  ASSERT_TRUE(window_.show_view("guards"));
  LinkTable& table = window_.guards().guards();
  QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(table.model()->index(0, 1)).center());
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().guard, 1);
  ASSERT_TRUE(context_.details());
  EXPECT_EQ(context_.details()->line_nodes, (std::vector<NodeId>{1}));
  EXPECT_EQ(context_.marked(), (std::vector<NodeId>{1}));
  EXPECT_TRUE(window_.source().view().is_highlighted(2));
  const std::string text = to_text(window_.inspector().model()).toStdString();
  for (const char* words : {"condition | L['n'] == 2", "looks at | L['n']", "failures | 1", "line | m.py:2",
                            "expected 2, found 3", "what to change | the number n is built into the code"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST_F(Guarded, WithoutALineTheFunctionIsShown) {
  context_.select_guard(2);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(window_.source().view().is_faint(1));
  EXPECT_EQ(window_.guards().guards().currentIndex().row(), 1);
  EXPECT_EQ(window_.source().view().highlighted_lines(), 0);
}

TEST_F(Guarded, ALineSelectsItsGuard) {
  context_.select_line("/home/u/m.py", 2);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(window_.guards().guards().currentIndex().row(), 0);
  EXPECT_NE(to_text(window_.inspector().model()).indexOf("Guards of the same lines (1)"), -1);
}

TEST_F(Guarded, TheMarginHasSpecialisationsAndACardWithLinks) {
  context_.select_node(1);
  ASSERT_TRUE(settle(context_));
  SourcePanel& source = window_.source();
  ASSERT_TRUE(window_.show_view("source"));
  ASSERT_TRUE(source.view().marks().contains(2));
  EXPECT_EQ(source.view().marks().at(2).sign, "RS2G");
  for (const char* words : {"Specialised: Eq(s0, 4)", "Size s0 of L['x'].size()[0] may vary", "was 4", "1 guards"})
    EXPECT_TRUE(source.view().marks().at(2).tooltip.contains(words)) << words;
  source.view().click_gutter(source.view().point_of(2).y());
  EXPECT_TRUE(source.card().isVisible());
  EXPECT_TRUE(source.card().toPlainText().contains("a branch needed it"));
  emit source.card().anchorClicked(QUrl("guard:1"));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().guard, 1);
  emit source.card().anchorClicked(QUrl("compile:2"));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.compile()->compile.address, "0/1");
}

TEST_F(Guarded, BytecodeHasTheLinesOfTheSource) {
  ASSERT_TRUE(window_.show_view("source"));
  context_.select_line("/home/u/m.py", 2);
  ASSERT_TRUE(settle(context_));
  window_.source().pages().setCurrentIndex(1);
  ASSERT_TRUE(settle(context_));
  CodeView& code = window_.source().bytecode();
  ASSERT_TRUE(code.toPlainText().contains("BINARY_OP")) << code.toPlainText().toStdString();
  EXPECT_EQ(code.highlighted_lines(), 3);
  QTest::mouseClick(code.viewport(), Qt::LeftButton, {}, QPoint(40, code.point_of(8).y()));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().line, 3);
}

TEST(BytecodeLines, AreCarriedOverInstructions) {
  EXPECT_EQ(bytecode_lines("f\n  2           0 RESUME   0\n\n  3           2 LOAD_GLOBAL   1\n             14 "
                           "LOAD_ATTR  1 (sin)\n  7     >>  174 LOAD_FAST   2 (y)"),
            (std::vector<int>{0, 2, 0, 3, 3, 7}));
  EXPECT_EQ(bytecode_lines(""), (std::vector<int>{0}));
}

}  // namespace
}  // namespace strata::studio
