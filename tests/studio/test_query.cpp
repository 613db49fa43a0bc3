// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The filter box: the grammar of `strata query` as rows with links, kept queries, and the page driven as a person
/// would.

#include <QAbstractItemModelTester>
#include <QTest>

#include "app/studio/views/main_window.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

class QueryBox : public testing::Test {
 protected:
  void SetUp() override { test::write_sample_trace(folder_ / "own.strata", {3, true}); }
  QueryResult run(const QString& text, QueryRequest::Of of = QueryRequest::Of::Either, Id compile = kNone,
                  Id snapshot = kNone) {
    Reader reader(folder_ / "own.strata");
    return run_query(reader, {text, of, compile, snapshot});
  }
  TemporaryFolder folder_;
};

TEST_F(QueryBox, FindsNodesOfAllStagesWithTheirPlaces) {
  const QueryResult all = run("target=aten.batch_norm*");
  EXPECT_FALSE(all.events);
  EXPECT_EQ(all.rows.size(), 6u);  // three in each of two graphs, each once
  EXPECT_EQ(all.summary, "6 nodes");
  EXPECT_EQ(all.rows[0].cells[4].text, "0/0");
  EXPECT_EQ(all.rows[0].cells[5].text, "captured");
  EXPECT_EQ(all.rows[0].cells[8].text, "cnn.py:24");
  EXPECT_EQ(all.rows[0].line, 24);
  EXPECT_NE(all.rows[0].compile, all.rows[5].compile);
  EXPECT_EQ(run("target=aten.batch_norm*", QueryRequest::Of::Either, all.rows[5].compile).rows.size(), 3u);
  EXPECT_EQ(run("module=blocks.1.* or name=linear").rows.size(), 10u);
  EXPECT_TRUE(run("op=call and not op=call").rows.empty());
}

TEST_F(QueryBox, FindsEventsWhereAKeyNeedsThem) {
  const QueryResult events = run("category=library duration>1us");
  EXPECT_TRUE(events.events);
  EXPECT_EQ(events.rows.size(), 2u * 5 * 4);  // three convolutions and a product, five runs of two graphs
  EXPECT_TRUE(events.summary.startsWith("40 events, "));
  EXPECT_NE(events.rows[0].kernel, kNone);
  const QueryResult of_line = run("line=cnn.py:17", QueryRequest::Of::Events);
  EXPECT_EQ(of_line.rows.size(), 10u);
  EXPECT_EQ(of_line.rows[0].cells[6].text, "onednn_addmm");
  EXPECT_EQ(run("", QueryRequest::Of::Events, of_line.rows[0].compile).rows.size(),
            run("", QueryRequest::Of::Events).rows.size() / 2);
}

TEST_F(QueryBox, MistakesAreExplained) {
  EXPECT_TRUE(run("target=").error.contains("position")) << run("target=").error.toStdString();
  EXPECT_TRUE(run("taret=aten.mm").error.contains("target"));
  EXPECT_TRUE(run("time>soon").error.contains("number"));
  for (const char* text : {"(", ")", "not", "a=b or", "((((", "'", "=", "time>1e999", "name=***********b"})
    EXPECT_TRUE(run(text).rows.empty()) << text;
  EXPECT_TRUE(run("name=x", QueryRequest::Of::Nodes, 999).rows.empty());
  EXPECT_TRUE(run("name=x", QueryRequest::Of::Nodes, kNone, 99999).rows.empty());
}

TEST_F(QueryBox, KeptQueriesLast) {
  const QString file = QString::fromStdString((folder_ / "settings.ini").string());
  {
    SavedQueries kept(true, file);
    kept.add("target=aten.mm, or so");
    kept.add("name=a");
    kept.add("name=a");
    kept.add("");
    kept.add("name=b");
    kept.remove("name=b");
  }
  EXPECT_EQ(SavedQueries(true, file).all(), (QStringList{"target=aten.mm, or so", "name=a"}));
  EXPECT_TRUE(SavedQueries(false, file).all().isEmpty());
}

class QueryPage : public QueryBox {
 protected:
  void SetUp() override {
    QueryBox::SetUp();
    window_.resize(1280, 800);
    window_.show();
    window_.arrange();
    ASSERT_TRUE(window_.show_view("query"));
    window_.open_file(QString::fromStdString((folder_ / "own.strata").string()));
    ASSERT_TRUE(settle(context_));
  }
  void ask(const QString& text) {
    page().box().clear();
    QTest::keyClicks(&page().box(), text);
    QTest::keyClick(&page().box(), Qt::Key_Return);
    ASSERT_TRUE(settle(context_));
  }
  void click(int row) {
    LinkTable& table = page().table();
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(table.model()->index(row, 0)).center());
    ASSERT_TRUE(settle(context_));
  }
  QueryPanel& page() { return window_.query(); }
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(QueryPage, ResultsLeadToNodesAndKernels) {
  QAbstractItemModelTester tester(page().table().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  ask("target=aten.conv2d*");
  EXPECT_EQ(page().table().model()->rowCount(), 6);
  EXPECT_EQ(context_.marked().size(), 3u);
  const Id first = context_.compile()->compile.id;
  click(1);
  EXPECT_EQ(context_.details()->node.name, "conv2d_1");
  EXPECT_EQ(context_.compile()->compile.id, first);
  click(5);
  EXPECT_EQ(context_.details()->node.name, "conv2d_2");
  EXPECT_NE(context_.compile()->compile.id, first);
  ask("category=kernel");
  click(0);
  ASSERT_EQ(context_.details()->kernels.size(), 1u);
  EXPECT_EQ(page().table().model()->index(0, 6).data().toString(), qt(context_.details()->kernels[0].name));
  ask("categry=kernel");
  EXPECT_EQ(page().table().model()->rowCount(), 0);
  EXPECT_TRUE(page().summary().contains("no key 'categry'")) << page().summary().toStdString();
}

TEST_F(QueryPage, QueriesAreKeptAndForgotten) {
  ask("op=call");
  page().scope().setCurrentIndex(2);
  QTest::mouseClick(&page().keep_button(), Qt::LeftButton);
  EXPECT_EQ(page().keep_button().text(), "Forget");
  page().box().clear();
  EXPECT_FALSE(page().keep_button().isEnabled());
  ASSERT_EQ(page().saved().count(), 2);
  emit page().saved().activated(1);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(page().box().text(), "op=call");
  EXPECT_EQ(page().table().model()->rowCount(), 30);  // of the stage that is shown
  QTest::mouseClick(&page().keep_button(), Qt::LeftButton);
  EXPECT_EQ(page().saved().count(), 1);
}

}  // namespace
}  // namespace strata::studio
