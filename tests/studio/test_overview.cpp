// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Overview, problems and guards: what a trace of a troubled program shows, and where its links lead.

#include <QTest>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

/// Two frames: one compiled twice because a guard failed, one broken by a print.
void write_troubled(const std::filesystem::path& path) {
  Writer writer(path);
  writer.set_property("model", "train.py");
  ProcessRecord process;
  process.pid = 5;
  process.id = writer.add(process);
  FrameRecord frame;
  frame.process = process.id;
  frame.name = "forward";
  frame.file = "/home/user/app/train.py";
  frame.line = 10;
  frame.id = writer.add(frame);
  const std::vector<SourceLocation> lines = {{"/home/user/app/train.py", 12, "forward", "y = x * n"},
                                             {"/usr/lib/python3/site-packages/torch/_dynamo/guards.py", 7, "g", ""}};
  const Id stack = writer.stack(lines);
  std::vector<Id> compiles;
  for (int number = 0; number < 2; ++number) {
    CompileRecord c;
    c.process = process.id;
    c.frame = frame.id;
    c.compile_number = number;
    c.address = "0/" + std::to_string(number);
    c.name = "forward";
    c.outcome = number ? "failed" : "ok";
    c.error = number ? "BackendCompilerFailed: no" : "";
    c.duration_ns = 2'000'000'000;
    compiles.push_back(writer.add(c));
    SnapshotRecord snapshot;
    snapshot.compile = compiles.back();
    snapshot.stage = "captured";
    NodeRecord node;
    node.id = 1;
    node.name = "x";
    node.op = "placeholder";
    writer.add(snapshot, std::vector<NodeRecord>{node});
  }
  GuardRecord guard;
  guard.compile = compiles[0];
  guard.kind = "EQUALS_MATCH";
  guard.expression = "L['n'] == 2";
  guard.source = "L['n']";
  guard.stack = stack;
  guard.failures = 1;
  guard.id = writer.add(guard);
  RecompileRecord recompile;
  recompile.compile = compiles[1];
  recompile.of = compiles[0];
  recompile.guard = guard.id;
  recompile.expression = "n == 2";
  recompile.expected = "2";
  recompile.actual = "3";
  recompile.stack = stack;
  recompile.cost_ns = 2'000'000'000;
  writer.add(recompile);
  for (int i = 0; i < 3; ++i) {
    GraphBreakRecord b;
    b.compile = compiles[0];
    b.kind = "Builtin print <b>";
    b.explanation = "print is not traced";
    b.hint = "remove the print";
    b.stack = stack;
    b.cost_ns = 1'000'000;
    writer.add(b);
  }
  writer.close();
}

/// What a program writes while the window is open is shown without being asked for.
TEST(Follow, ATraceThatIsBeingWritten) {
  TemporaryFolder folder;
  Context context;
  MainWindow window(context, false);
  window.resize(1000, 700);
  window.show();
  Writer writer(folder / "live.strata");
  writer.set_property("model", "train.py");
  writer.commit();
  context.open({QString::fromStdString((folder / "live.strata").string()), "", "", ""});
  ASSERT_TRUE(settle(context));
  EXPECT_TRUE(context.following());
  EXPECT_EQ(context.exit_code(), 0) << context.first_error().toStdString();
  const auto add_compile = [&](int number) {
    CompileRecord c;
    c.address = "0/" + std::to_string(number);
    c.compile_number = number;
    c.name = "f";
    const Id id = writer.add(c);
    SnapshotRecord snapshot;
    snapshot.compile = id;
    snapshot.stage = "captured";
    NodeRecord node;
    node.id = 1;
    node.name = "x";
    node.op = "placeholder";
    writer.add(snapshot, std::vector<NodeRecord>{node});
    writer.commit();
  };
  add_compile(0);
  ASSERT_TRUE(QTest::qWaitFor([&] { return context.step_data() != nullptr; }, 20000));
  EXPECT_EQ(context.compile()->compile.address, "0/0");
  context.select_node(1);
  ASSERT_TRUE(settle(context));
  add_compile(1);
  ASSERT_TRUE(QTest::qWaitFor([&] { return context.compiles().size() == 2; }, 20000));
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(context.compile()->compile.address, "0/0");
  EXPECT_EQ(context.selection().node, 1);  // what was looked at stays
  EXPECT_EQ(context.trace_data()->compiles.size(), 2u);
  writer.close();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !context.following(); }, 20000));
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(context.compiles().size(), 2u);
}

class Overview : public testing::Test {
 protected:
  void SetUp() override {
    write_troubled(folder_ / "t.strata");
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
    window_.open_file(QString::fromStdString((folder_ / "t.strata").string()));
    ASSERT_TRUE(settle(context_));
  }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(Overview, FindingsAreCountedCostedAndSorted) {
  const auto& found = context_.trace_data()->findings;
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kind, Finding::Kind::Error);
  EXPECT_EQ(found[1].kind, Finding::Kind::Recompile);
  EXPECT_EQ(found[1].detail, "expected 2, found 3");
  EXPECT_EQ(found[1].line, 12);
  EXPECT_EQ(found[1].code, "y = x * n");
  EXPECT_EQ(found[2].count, 3);
  EXPECT_EQ(found[2].cost_ns, 3'000'000);
  const QString text = window_.overview().text().toPlainText();
  for (const char* words :
       {"2 compiles", "3 graph breaks", "1 recompiles", "1 failed", "Forward compiled again: n: 2 -> 3",
        "expected 2, found 3", "train.py:12", "remove the print", "Builtin print <b>", "×3"})
    EXPECT_TRUE(text.contains(words)) << words << "\n" << text.toStdString();
}

TEST_F(Overview, IsTheFirstPageUntilAStageIsChosen) {
  EXPECT_TRUE(window_.overview().isVisible());
  EXPECT_FALSE(window_.graph().isVisible());
  emit window_.overview().text().anchorClicked(QUrl("compile:2"));
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(window_.graph().isVisible());
  EXPECT_EQ(context_.compile()->compile.address, "0/1");
  ASSERT_TRUE(window_.show_view("overview"));
  EXPECT_TRUE(window_.overview().isVisible());
  context_.select_node(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(window_.graph().isVisible());
}

TEST_F(Overview, ALineLinkShowsTheSource) {
  emit window_.overview().text().anchorClicked(QUrl("line:12:/home/user/app/train.py"));
  ASSERT_TRUE(settle(context_));
  EXPECT_TRUE(window_.source().isVisible());
  EXPECT_TRUE(window_.source().view().toPlainText().contains("y = x * n"))
      << window_.source().view().toPlainText().toStdString();
  const auto& marks = window_.source().view().marks();
  ASSERT_TRUE(marks.contains(12));
  EXPECT_EQ(marks.at(12).sign, "BRG");
  for (const char* words :
       {"print is not traced", "→ ", "remove the print", "expected 2, found 3", "1 guards", "L['n'] == 2"})
    EXPECT_TRUE(marks.at(12).tooltip.contains(words)) << marks.at(12).tooltip.toStdString();
}

TEST_F(Overview, GuardsAndTheChainOfCompiles) {
  const std::string kAdvice =
      "the number n is built into the code: pass torch.tensor(n), or torch.compile(..., dynamic=True) so that it "
      "becomes a symbol";
  ASSERT_TRUE(window_.show_view("guards"));
  EXPECT_EQ(to_text(window_.guards().guards().rows()).toStdString(),
            "EQUALS_MATCH | L['n'] == 2 | L['n'] | train.py:12 |  | 1 |  | " + kAdvice + "\n");
  EXPECT_EQ(to_text(window_.guards().chain().rows()).toStdString(),
            "0/0 | ok | 2.00 s\n0/1 | failed | 2.00 s | n == 2 | 2 | 3 | train.py:12 | " + kAdvice + "\n");
  ASSERT_TRUE(window_.show_view("problems"));
  EXPECT_EQ(window_.problems().table().rows().rowCount(), 3);
  EXPECT_TRUE(to_text(window_.problems().table().rows()).contains("Graph break: Builtin print <b> | 3 | 3.00 ms"));
}

}  // namespace
}  // namespace strata::studio
