// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <atomic>

#include "app/studio/models/lists.h"
#include "app/studio/models/table_model.h"
#include "core/support/error.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;

class Models : public testing::Test {
 protected:
  void open(const char* stage = "", const char* node = "", const char* graph = "") {
    test::write_sample_trace(folder_ / "cnn.strata", {1, true});
    context_.open({QString::fromStdString((folder_ / "cnn.strata").string()), graph, stage, node});
    ASSERT_TRUE(settle(context_));
  }
  QString text(const QStringList& headers, std::vector<TableRow> rows) {
    TableModel model(headers);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.set_rows(std::move(rows));
    return to_text(model);
  }
  TemporaryFolder folder_;
  Context context_;
};

TEST_F(Models, StagesAndPasses) {
  open();
  EXPECT_EQ(text(stage_headers(), stage_rows(*context_.compile())).toStdString(),
            "captured |  | 20\n"
            "functional | 47.0 µs | 20 | +1 −1 ~4\n"
            "decomposed | 54.0 µs | 21 | +3 −2 ~3\n"
            "simplified:cse#1 | 61.0 µs | 20 | −1 ~1\n"
            "    fold_constants | 68.0 µs | 20 | –\n"
            "scheduled | 75.0 µs | 20 | ~12\n"
            "loops | 82.0 µs\n"
            "code | 89.0 µs\n"
            "plan | 96.0 µs\n"
            "runs | 103 µs\n");
}

TEST(StageRows, PassesStandBeforeTheStagesThatNoPassMade) {
  CompileData data;
  auto pass = [&](trace::Id id, const char* name) {
    trace::PassRecord record;
    record.id = id;
    record.name = name;
    record.ordinal = id;
    data.passes.push_back(record);
  };
  pass(1, "functionalize"), pass(2, "simplify"), pass(3, "cse");
  for (auto [stage, made_by] : {std::pair("captured", 0), {"functional", 1}, {"scheduled", 0}, {"code", 0}}) {
    trace::SnapshotRecord record;
    record.id = static_cast<trace::Id>(data.snapshots.size()) + 1;
    record.stage = stage;
    record.pass = made_by;
    data.snapshots.push_back(record);
  }
  QStringList names;
  for (const auto& row : stage_rows(data)) names << row.cells[0].text.trimmed();
  EXPECT_EQ(names.join(' ').toStdString(), "captured functional simplify cse scheduled code");
  data.snapshots.erase(data.snapshots.begin() + 1);  // no pass changed anything
  names.clear();
  for (const auto& row : stage_rows(data)) names << row.cells[0].text.trimmed();
  EXPECT_EQ(names.join(' ').toStdString(), "captured functionalize simplify cse scheduled code");
}

TEST_F(Models, WhatChangedAndWhy) {
  open("simplified:cse#1");
  StepPtr step = context_.step_data();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->before, "decomposed");
  QString changes = text(change_headers(), change_rows(*step));
  EXPECT_TRUE(
      changes.contains("removed | sigmoid_again_0 | aten.sigmoid.default | f32[8, 32, 14, 14] | "
                       "cse: computes the same as sigmoid_0"))
      << changes.toStdString();
  EXPECT_TRUE(changes.contains("changed | mul_again_0")) << changes.toStdString();
  EXPECT_EQ(text(rewrite_headers(), rewrite_rows(*step)).toStdString(),
            "cse | sigmoid_again_0 | sigmoid_0 | computes the same as sigmoid_0\n");
}

TEST_F(Models, AddedNodesAreMarkedInThePicture) {
  open("decomposed");
  StepPtr step = context_.step_data();
  int added = 0;
  for (const auto& node : step->picture.nodes) added += node.state == draw::NodeState::Added;
  EXPECT_EQ(added, 3);
  EXPECT_EQ(step->diff.removed.size(), 2u);
}

TEST_F(Models, JoiningAGroupAloneIsNoChangeInThePicture) {
  open("scheduled");
  for (const auto& node : context_.step_data()->picture.nodes)
    EXPECT_EQ(node.state, draw::NodeState::Same) << node.title;
  EXPECT_FALSE(context_.step_data()->diff.changed.empty());
}

TEST_F(Models, TimesOfKernels) {
  open();
  QString times = text(time_headers(), time_rows(*context_.compile()));
  EXPECT_TRUE(times.contains("fused_2 | loop | 8 | 5 | 77.0 µs | 385 µs | ")) << times.toStdString();
  EXPECT_TRUE(times.contains("onednn_conv2d_0 | onednn | 1 | 5 | 13.3 µs")) << times.toStdString();
  QString launches = text(launch_headers(), launch_rows(*context_.compile()));
  EXPECT_TRUE(launches.startsWith("0 | onednn_conv2d_0 | 13.3 µs |  | conv2d_0\n1 | fused_2 | 77.0 µs | conv2d_0 | "))
      << launches.toStdString();
}

TEST_F(Models, InspectorTellsTheWholeLifeOfANode) {
  open("captured", "batch_norm_0");
  ASSERT_TRUE(context_.details());
  QStandardItemModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  fill_inspector(model, context_.compile().get(), context_.details().get());
  std::string tree = to_text(model).toStdString();
  for (const char* part :
       {"name | batch_norm_0", "operator | aten.batch_norm.default", "module | blocks.0.norm", "operand 0 | conv2d_0",
        "user | relu__0", "cnn.py:24", "Became (2)", "decomposed | batch_norm_0_scale",
        "kernel | fused_2 · 8 nodes · 77.0 µs", "launch 1 | fused_2",
        "removed | batch_norm_0  by decompose: batch_norm(x, w, b) => x * w' + b' – the primitive set has no "
        "batch_norm"})
    EXPECT_NE(tree.find(part), std::string::npos) << part << " is not in\n" << tree;
}

TEST_F(Models, InspectorTellsRefusedFusions) {
  open("scheduled", "batch_norm_0_scale");
  QStandardItemModel model;
  fill_inspector(model, context_.compile().get(), context_.details().get());
  std::string tree = to_text(model).toStdString();
  EXPECT_NE(tree.find("refused | conv2d_0 → batch_norm_0_scale: a library call takes no producer"), std::string::npos)
      << tree;
  EXPECT_NE(tree.find("Made from (1)\n  decomposed | batch_norm_0  at functional"), std::string::npos) << tree;
}

TEST_F(Models, CodeLinesOfANodeAreThoseOfItsLineMap) {
  open("captured", "batch_norm_0");
  auto details = context_.details();
  ASSERT_EQ(details->code.size(), 4u);
  for (const auto& unit : details->code) {
    std::vector<std::pair<int, int>> expected;
    int before = unit.artifact->kind == "cpp"       ? 3
                 : unit.artifact->kind == "llvm-ir" ? 4
                 : unit.artifact->kind == "asm"     ? 2
                                                    : 1;
    expected = {{before + 1, before + 1}, {before + 2, before + 2}};
    EXPECT_EQ(unit.lines, expected) << unit.artifact->kind;
    EXPECT_EQ(unit.kernel, "fused_2");
  }
  ASSERT_EQ(details->sources.size(), 1u);
  EXPECT_EQ(details->sources[0].lines, (std::vector<std::pair<int, int>>{{24, 24}}));
  EXPECT_EQ(details->sources[0].callers, (std::vector<std::pair<int, int>>{{15, 15}}));
}

TEST(StackText, OnePlaceUnderTheOther) {
  Details details;
  details.stack = {{"/m/run.py", 3, "main", "model(x)"}, {"/m/net.py", 70, "", "  return relu(x)"}};
  LineRanges lines;
  EXPECT_EQ(stack_text(details, lines).toStdString(),
            "/m/run.py:3 in main\n    model(x)\n/m/net.py:70\n    return relu(x)");
  EXPECT_EQ(lines, (LineRanges{{2, 2}, {4, 4}}));
}

TEST_F(Models, KernelSelectionShowsAllItsCode) {
  open("scheduled");
  auto compile = context_.compile();
  context_.select_kernel(compile->kernels[1].id);
  ASSERT_TRUE(settle(context_));
  auto details = context_.details();
  ASSERT_TRUE(details);
  EXPECT_EQ(details->code.size(), 4u);
  EXPECT_EQ(details->kernels.size(), 1u);
  EXPECT_FALSE(details->origins.locations.empty());
}

TEST_F(Models, SteppingKeepsTheSelection) {
  open("captured", "conv2d_0");
  trace::NodeId selected = context_.selection().node;
  ASSERT_NE(selected, 0);
  context_.step(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.step_data()->snapshot.stage, "functional");
  EXPECT_EQ(context_.selection().node, selected);
  EXPECT_TRUE(context_.details()->in_snapshot);
  context_.step(-1);
  context_.step(-1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.step_data()->snapshot.stage, "captured");
}

TEST_F(Models, ALineOfSourceSelectsItsNodes) {
  open("decomposed");
  context_.select_line("/home/user/models/cnn.py", 24);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.marked().size(), 3u);  // of the line in any stage
  EXPECT_EQ(context_.details()->name(context_.selection().node), "batch_norm_0_scale");
}

TEST_F(Models, TheSecondCompileSaysWhy) {
  open("scheduled", "", "0/1");
  EXPECT_EQ(context_.compile()->compile.address, "0/1");
  EXPECT_EQ(context_.compile()->compile.cause, "size of x changed: 8 -> 16");
  EXPECT_EQ(context_.exit_code(), 0);
}

TEST_F(Models, UnknownNamesAreErrorsWithTheNearest) {
  struct Case {
    const char *graph, *stage, *node, *message;
  };
  for (const Case& c :
       {Case{"0/2", "", "", "unknown graph '0/2'; did you mean '0/"},
        Case{"", "schedule", "", "unknown stage 'schedule' of graph 0/0; did you mean 'scheduled'"},
        Case{"", "captured", "conv2d", "unknown node 'conv2d' at stage 'captured'; did you mean 'conv2d_0'"}}) {
    open(c.stage, c.node, c.graph);
    EXPECT_EQ(context_.exit_code(), 2);
    EXPECT_TRUE(context_.first_error().startsWith(c.message)) << context_.first_error().toStdString();
    EXPECT_TRUE(context_.step_data()) << "the trace is shown nevertheless";
  }
}

TEST_F(Models, TextStagesHaveTheirText) {
  open("loops");
  ASSERT_FALSE(context_.step_data()->texts.empty());
  EXPECT_EQ(context_.step_data()->texts[0].artifact->content.substr(0, 6), "loops ");
  int loop_ir = 0;
  for (const auto& unit : context_.step_data()->texts) loop_ir += unit.artifact->kind == "loop-ir";
  EXPECT_EQ(loop_ir, 3);
}

TEST_F(Models, OptionsRedrawTheStageThatIsWanted) {
  open("captured");
  size_t all = context_.step_data()->picture.nodes.size();
  draw::DrawOptions options;
  options.parameters = false;
  context_.step(1);
  context_.set_options(options);  // before the step has been read
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.step_data()->snapshot.stage, "functional");
  EXPECT_EQ(context_.step_data()->picture.nodes.size(), all - 6);
}

TEST(JobQueue, OnlyTheNewestOfAKeyIsApplied) {
  JobQueue queue;
  std::vector<int> applied;
  std::atomic<int> ran = 0;
  for (int i = 0; i < 50; ++i)
    queue.post("same", [&, i]() -> JobQueue::Apply {
      ++ran;
      return [&applied, i] { applied.push_back(i); };
    });
  queue.post("other", [&]() -> JobQueue::Apply { return [&applied] { applied.push_back(1000); }; });
  EXPECT_FALSE(queue.idle());
  while (!queue.idle()) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  EXPECT_EQ(applied, (std::vector<int>{49, 1000}));
  EXPECT_LE(ran.load(), 50);
}

TEST(JobQueue, FailuresAreReported) {
  JobQueue queue;
  QString said;
  int code = 0;
  QObject::connect(&queue, &JobQueue::failed, [&](const QString&, const QString& text, int exit_code) {
    said = text;
    code = exit_code;
  });
  queue.post("bad", []() -> JobQueue::Apply { throw_user("no such thing", "try another"); });
  while (!queue.idle()) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  EXPECT_EQ(said, "no such thing; try another");
  EXPECT_EQ(code, 2);
}

}  // namespace
}  // namespace strata::studio
