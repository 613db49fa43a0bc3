// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// What the window remembers and hands out, without widgets: recent files, saved views, imports, reports, text to copy,
/// help with queries, undo.

#include <QCryptographicHash>
#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTest>
#include <fstream>

#include "app/query/query_words.h"
#include "app/studio/models/copy_text.h"
#include "app/studio/models/import_job.h"
#include "app/studio/models/query_box.h"
#include "app/studio/models/recent_files.h"
#include "app/studio/models/report_job.h"
#include "app/studio/models/saved_views.h"
#include "core/support/error.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::TemporaryFolder;

class Manners : public testing::Test {
 protected:
  QString path(const std::string& name) { return QString::fromStdString((folder_ / name).string()); }
  QString sample() {
    test::write_sample_trace(folder_ / "own.strata", {3, true});
    return path("own.strata");
  }
  QString script(const std::string& text) {
    std::ofstream(folder_ / "strata") << "#!/bin/sh\n" << text;
    std::filesystem::permissions(folder_ / "strata", std::filesystem::perms::owner_all);
    return path("strata");
  }
  TemporaryFolder folder_;
};

TEST_F(Manners, RecentFilesAreFewNewestFirst) {
  const QDateTime day = QDateTime::fromString("2026-03-01T10:00:00", Qt::ISODate);
  {
    RecentFiles recent(true, path("s.ini"));
    for (int i = 0; i < 14; ++i) recent.add(QString("/t/%1.strata").arg(i), day.addDays(i));
    recent.add("/t/9.strata", day.addDays(20));
  }
  RecentFiles again(true, path("s.ini"));
  ASSERT_EQ(again.all().size(), 10u);
  EXPECT_EQ(again.all()[0].path, "/t/9.strata");
  EXPECT_EQ(again.all()[0].opened, day.addDays(20));
  EXPECT_EQ(again.all()[1].path, "/t/13.strata");
  EXPECT_EQ(again.all()[9].path, "/t/4.strata");
  EXPECT_FALSE(again.all()[0].exists());
  again.remove("/t/13.strata");
  EXPECT_EQ(again.all()[1].path, "/t/12.strata");
  again.clear();
  EXPECT_TRUE(RecentFiles(true, path("s.ini")).all().empty());
  EXPECT_TRUE(RecentFiles(false, path("s.ini")).all().empty());
}

TEST_F(Manners, DamagedSettingsAreLeftOut) {
  {
    QSettings s(path("s.ini"), QSettings::IniFormat);
    s.setValue("recent/size", 2000000000);
    s.setValue("recent/1/path", "/t/a.strata");
    s.setValue("recent/1/opened", "not a date");
    s.setValue("recent/2/path", QByteArray("\0\1\2", 3));
    s.setValue("views/size", "many");
    s.setValue("views/1/name", "x");
  }
  const RecentFiles recent(true, path("s.ini"));
  ASSERT_GE(recent.all().size(), 1u);
  EXPECT_EQ(recent.all()[0].path, "/t/a.strata");
  EXPECT_LE(recent.all().size(), 2u);
  EXPECT_TRUE(SavedViews(true, path("s.ini")).all().empty());
}

TEST_F(Manners, SavedViewsBelongToATraceOrToAll) {
  {
    SavedViews views(true, path("s.ini"));
    views.save({"mine", "/t/a.strata", "0/1", "scheduled", "relu", "name=x", "code", 2, 1, QByteArray("\0layout", 7)});
    views.save({"any", "", "", "", "", "", "graph", 0, 0, {}});
    views.save({"", "", "", "", "", "", "", 0, 0, {}});
    EXPECT_TRUE(views.rename("", "any", "everywhere"));
    EXPECT_FALSE(views.rename("", "any", "gone"));
    EXPECT_FALSE(views.rename("/t/a.strata", "mine", ""));
  }
  SavedViews again(true, path("s.ini"));
  ASSERT_EQ(again.of("/t/a.strata").size(), 2u);
  const SavedView mine = again.of("/t/a.strata")[1];
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.graph + mine.stage + mine.node + mine.query + mine.page, "0/1scheduledreluname=xcode");
  EXPECT_EQ(mine.group_by * 10 + mine.colour_by, 21);
  EXPECT_EQ(mine.layout, QByteArray("\0layout", 7));
  ASSERT_EQ(again.of("/t/b.strata").size(), 1u);
  EXPECT_EQ(again.of("/t/b.strata")[0].name, "everywhere");
  again.remove("/t/a.strata", "mine");
  EXPECT_EQ(again.all().size(), 1u);
}

TEST_F(Manners, WhatIsATraceIsNotImported) {
  sample();
  QFile::copy(path("own.strata"), path("other.db"));
  std::ofstream(folder_ / "torch.log") << "V0101 hello";
  EXPECT_TRUE(is_trace(path("own.strata")));
  EXPECT_TRUE(is_trace(path("other.db")));
  EXPECT_TRUE(is_trace(path("none")));
  EXPECT_FALSE(is_trace(path("torch.log")));
  EXPECT_FALSE(is_trace(path("")));
}

TEST_F(Manners, TheCommandIsBesideTheProgramOrInPath) {
  std::filesystem::create_directories(folder_ / "bin");
  EXPECT_EQ(find_strata(path("bin"), ""), "");
  script("exit 0");
  EXPECT_EQ(find_strata(path("bin"), "/nowhere:" + path("")), path("strata"));
  EXPECT_EQ(find_strata(path(""), ""), path("strata"));
}

TEST_F(Manners, ImportsRunTheCommandAndTellHowFarItIs) {
  const QString trace = sample();
  ImportJob job(script("echo ' 40% reading logs' >&2\necho \"$6\" > '" + path("args").toStdString() + "'\ncp '" +
                       trace.toStdString() + "' \"$4\"\n"));
  QSignalSpy done(&job, &ImportJob::done), progress(&job, &ImportJob::progress), failed(&job, &ImportJob::failed);
  job.start({path("a folder")});
  ASSERT_TRUE(done.wait(10000)) << (failed.isEmpty() ? "" : failed[0][0].toString().toStdString());
  EXPECT_EQ(progress[0][0].toDouble(), 0.4);
  EXPECT_EQ(progress[0][1].toString(), "reading logs");
  EXPECT_TRUE(done[0][0].toString().endsWith("/a folder.strata"));
  EXPECT_TRUE(QFile::exists(done[0][0].toString()));
  QFile args(path("args"));
  ASSERT_TRUE(args.open(QIODevice::ReadOnly));
  EXPECT_EQ(QString::fromUtf8(args.readAll()).trimmed(), path("a folder"));
}

TEST_F(Manners, ImportsThatFailSayWhy) {
  ImportJob job(script("echo 'strata: warning: odd' >&2; echo 'strata: error: nothing known in it' >&2; exit 2"));
  QSignalSpy failed(&job, &ImportJob::failed), done(&job, &ImportJob::done);
  job.start({path("x")});
  ASSERT_TRUE(failed.wait(10000));
  EXPECT_EQ(failed[0][0].toString(), "nothing known in it");
  job.start({path("y")});
  ASSERT_TRUE(failed.wait(10000));
  ImportJob missing(path("no command"));
  QSignalSpy not_started(&missing, &ImportJob::failed);
  missing.start({path("x")});
  ASSERT_TRUE(!not_started.isEmpty() || not_started.wait(10000));
  EXPECT_TRUE(not_started[0][0].toString().startsWith("cannot run")) << not_started[0][0].toString().toStdString();
  EXPECT_TRUE(done.isEmpty());
}

TEST_F(Manners, ImportsAreCancelled) {
  ImportJob job(script("exec sleep 60"));
  QSignalSpy cancelled(&job, &ImportJob::cancelled), failed(&job, &ImportJob::failed);
  job.start({path("x")});
  EXPECT_TRUE(job.running());
  QTest::qWait(50);
  job.cancel();
  ASSERT_TRUE(cancelled.wait(10000));
  EXPECT_FALSE(job.running());
  EXPECT_TRUE(failed.isEmpty());
  job.start({path("x")});  // and one that runs ends with the object
}

TEST_F(Manners, ReportsAreWrittenOnAThread) {
  const QString trace = sample();
  ReportJob job;
  QSignalSpy done(&job, &ReportJob::done), failed(&job, &ReportJob::failed), cancelled(&job, &ReportJob::cancelled);
  job.start(trace, path("r.html"));
  ASSERT_TRUE(done.wait(60000));
  QFile file(path("r.html"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray html = file.readAll();
  EXPECT_TRUE(html.contains("<svg"));
  EXPECT_TRUE(html.contains("onednn_addmm"));
  // The document allows the one script that it has.
  const qsizetype from = html.indexOf("<script>") + 8, to = html.indexOf("</script>");
  const QByteArray hash = QCryptographicHash::hash(html.mid(from, to - from), QCryptographicHash::Sha256).toBase64();
  EXPECT_TRUE(html.contains("script-src 'sha256-" + hash + "'"));

  job.start(trace, path("no folder/r.html"));
  ASSERT_TRUE(failed.wait(60000));
  EXPECT_EQ(failed[0][1].toInt(), 2);
  job.start(path("none.strata"), path("n.html"));
  ASSERT_TRUE(failed.wait(60000));
  EXPECT_FALSE(QFile::exists(path("n.html")));
  job.start(trace, path("c.html"));
  job.cancel();
  ASSERT_TRUE(cancelled.wait(60000));
  EXPECT_FALSE(QFile::exists(path("c.html")));
}

TEST(CopyText, NodesAsFx) {
  trace::NodeRecord node;
  node.name = "add";
  node.op = "call_function";
  node.target = "aten.add.Tensor";
  node.args = "%x, %y";
  node.dtype = "f32";
  node.shape = "[8, 64]";
  EXPECT_EQ(fx_line(node), "add: \"f32[8, 64]\" = torch.ops.aten.add.Tensor(x, y)");
  node.op = "call_method";
  node.target = "view";
  node.args = "x, [8, -1]";
  EXPECT_EQ(fx_line(node), "add: \"f32[8, 64]\" = x.view([8, -1])");
  node.op = "output";
  node.args = "(a, b)";
  EXPECT_EQ(fx_line(node), "return (a, b)");
}

TEST(CopyText, StagesAndNeighbourhoods) {
  StepData step;
  const auto add = [&](trace::NodeId id, const char* name, const char* op, std::vector<trace::NodeId> inputs) {
    trace::NodeRecord node;
    node.id = id;
    node.name = name;
    node.op = op;
    node.target = "aten.relu.default";
    node.args = inputs.empty() ? "" : "x";
    if (!inputs.empty()) node.inputs = {inputs};
    step.nodes.push_back(node);
  };
  add(1, "x", "placeholder", {});
  add(2, "relu", "call_function", {1});
  add(3, "far", "call_function", {2});
  EXPECT_EQ(fx_text(step),
            "def forward(self, x):\n    relu = torch.ops.aten.relu.default(x)\n    far = "
            "torch.ops.aten.relu.default(x)\n");
  EXPECT_EQ(neighbours(step, 1), (std::unordered_set<trace::NodeId>{1, 2}));
  EXPECT_EQ(fx_lines(step, {2}), "relu = torch.ops.aten.relu.default(x)\n");
}

TEST(CopyText, TablesWithTabsAndAsCsv) {
  QStandardItemModel model(0, 2);
  model.setHorizontalHeaderLabels({"Name", "Why, and how"});
  auto* parent = new QStandardItem("a\tb");
  parent->appendRow({new QStandardItem("child"), new QStandardItem("two\nlines")});
  model.appendRow({parent, new QStandardItem("say \"no\"")});
  EXPECT_EQ(table_text(model, TableFormat::Tabs), "Name\tWhy, and how\na b\tsay \"no\"\n  child\ttwo lines\n");
  EXPECT_EQ(table_text(model, TableFormat::Csv),
            "Name,\"Why, and how\"\na\tb,\"say \"\"no\"\"\"\n  child,\"two\nlines\"\n");
  EXPECT_EQ(table_text(model, TableFormat::Tabs, [](const QModelIndex& i) { return i.parent().isValid(); }),
            "Name\tWhy, and how\n  child\ttwo lines\n");
}

TEST_F(Manners, QueriesThatFindNothingNameTheNearest) {
  const std::string trace = sample().toStdString();
  const auto why = [&](const char* text, bool events) { return explain_nothing(trace, parse_query(text), events); };
  EXPECT_EQ(why("category=librery", true), "no event has category 'librery'; did you mean 'library'");
  EXPECT_EQ(why("op=cal", false), "no node has op 'cal'; did you mean 'call'");
  EXPECT_EQ(why("not category=librery", true), "");
  EXPECT_EQ(why("category=library and duration>1000s", true), "");
  EXPECT_EQ(why("stage=scheduld name=x", false), "there is no stage 'scheduld'; did you mean 'scheduled'");
  EXPECT_EQ(why("target=aten.nothing*", false), "no node has target 'aten.nothing*'");
  trace::Reader reader(trace);
  const QueryResult result = run_query(reader, {"category=librery"});
  EXPECT_TRUE(result.summary.contains("did you mean 'library'")) << result.summary.toStdString();
}

TEST_F(Manners, QueriesAreCompleted) {
  const auto values = [](std::string_view key) {
    return key == "category" ? std::vector<std::string>{"gpu memcpy", "kernel", "library"} : std::vector<std::string>();
  };
  const auto complete = [&](std::string_view text) { return complete_query(text, text.size(), values); };
  EXPECT_EQ(complete("tar").words, (std::vector<std::string>{"target"}));
  EXPECT_EQ(complete("name=x and (dur").from, 12u);
  EXPECT_EQ(complete("name=x and (dur").words, (std::vector<std::string>{"duration"}));
  EXPECT_EQ(complete("duration").words.front(), "duration=");
  EXPECT_EQ(complete("target").words[1], "target~");
  const QueryCompletion of_value = complete("category=k");
  EXPECT_EQ(of_value.words, (std::vector<std::string>{"kernel"}));
  EXPECT_EQ(of_value.from, 9u);
  EXPECT_EQ(complete("category=gpu").words, (std::vector<std::string>{"'gpu memcpy'"}));
  EXPECT_EQ(complete("category='gpu m").words, (std::vector<std::string>{"'gpu memcpy'"}));
  EXPECT_EQ(complete("category!=").words.size(), 3u);
  EXPECT_TRUE(complete("unknown=").words.empty());
  EXPECT_FALSE(complete("").words.empty());
  for (const char* text : {"'", "((((", "a='b", "=", "~~~", "a=\"x y"}) complete(text);
}

TEST_F(Manners, HistoryOfQueries) {
  {
    QueryHistory history(true, path("s.ini"));
    for (const char* text : {"a=1", "b=2", "a=1", ""}) history.add(text);
  }
  QueryHistory history(true, path("s.ini"));
  EXPECT_EQ(history.all(), (QStringList{"b=2", "a=1"}));
  EXPECT_EQ(history.go(-1, "typed"), "a=1");
  EXPECT_EQ(history.go(-1, "a=1"), "b=2");
  EXPECT_FALSE(history.go(-1, "b=2").has_value());
  EXPECT_EQ(history.go(1, "b=2"), "a=1");
  EXPECT_EQ(history.go(1, "a=1"), "typed");
  EXPECT_FALSE(history.go(1, "typed").has_value());
}

TEST(Undo, ChangesOfOneThingInARowAreOne) {
  QUndoStack stack;
  int value = 0;
  const auto set = [&](int to) { return [&value, to] { value = to; }; };
  stack.push(new LayoutChange("one", set(1), set(0)));
  EXPECT_EQ(value, 1);
  stack.push(new LayoutChange("drag", set(2), set(1), true, "splitter"));
  stack.push(new LayoutChange("drag", set(3), set(2), true, "splitter"));
  EXPECT_EQ(value, 1);  // made already, somewhere else
  EXPECT_EQ(stack.count(), 2);
  stack.undo();
  EXPECT_EQ(value, 1);
  stack.redo();
  EXPECT_EQ(value, 3);
}

}  // namespace
}  // namespace strata::studio
