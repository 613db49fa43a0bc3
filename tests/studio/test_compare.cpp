// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Two runs, compiles and ranks compared: figures against `strata diff` and the profiler's own.
#include <gmock/gmock.h>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <set>

#include "app/studio/models/comparison_compile.h"
#include "app/studio/models/comparison_profile.h"
#include "app/studio/models/comparison_ranks.h"
#include "app/studio/models/overview.h"
#include "core/support/error.h"
#include "profiler/diff.h"
#include "profiler/rank_collectives.h"
#include "tests/studio/compare_support.h"

namespace strata::studio {
namespace {

using test::sides;
using test::TemporaryFolder;
using testing::HasSubstr;

double sum(const std::vector<CompareRow>& rows, double CompareRow::* side) {
  double all = 0;
  for (const CompareRow& r : rows) all += r.*side;
  return all;
}

void expect_totals(const ProfileComparison& c) {
  ASSERT_GT(c.total_a, 0);
  ASSERT_GT(c.total_b, 0);
  for (const auto& table : c.tables) {
    EXPECT_FALSE(table.empty());
    EXPECT_NEAR(sum(table, &CompareRow::a), c.total_a, c.total_a * 1e-9);
    EXPECT_NEAR(sum(table, &CompareRow::b), c.total_b, c.total_b * 1e-9);
  }
}

/// Times of both sides per row, as strata diff prints them.
std::multiset<std::pair<qint64, qint64>> rows_of(const QJsonObject& diff) {
  std::multiset<std::pair<qint64, qint64>> rows;
  const double a = diff["per_iteration"].toBool() ? diff["first"].toObject()["iterations"].toDouble() : 1;
  const double b = diff["per_iteration"].toBool() ? diff["second"].toObject()["iterations"].toDouble() : 1;
  for (const auto& value : diff["rows"].toArray()) {
    const QJsonObject row = value.toObject();
    rows.emplace(qRound64(row["first"].toObject()["time_ns"].toDouble() / a * 10),
                 qRound64(row["second"].toObject()["time_ns"].toDouble() / b * 10));
  }
  return rows;
}

std::multiset<std::pair<qint64, qint64>> rows_of(const std::vector<CompareRow>& table) {
  std::multiset<std::pair<qint64, qint64>> rows;
  for (const CompareRow& r : table) rows.emplace(qRound64(r.a * 10), qRound64(r.b * 10));
  return rows;
}

class CompareEager : public testing::TestWithParam<const char*> {};

TEST_P(CompareEager, HasTheFiguresOfStrataDiff) {
  TemporaryFolder folder;
  const std::string model = GetParam();
  const std::string eager = "profiles/" + model + "_eager.json.gz",
                    compiled = "profiles/" + model + "_compiled.json.gz", log = "logs/" + model + ".log.gz";
  test::import({log.c_str(), compiled.c_str(), eager.c_str()}, folder / "both.strata");
  const QString path = QString::fromStdString((folder / "both.strata").string());
  auto [a, b] = sides(folder / "both.strata");
  ASSERT_TRUE(a.run && b.run);
  EXPECT_EQ(a.run->label, "eager");
  EXPECT_EQ(b.run->label, "compiled");
  const ProfileComparison c = compare_profiles(a, b);
  expect_totals(c);
  const std::pair<const char*, ProfileBy> tables[] = {
      {"kernel", ProfileBy::Kernel}, {"line", ProfileBy::Line}, {"module", ProfileBy::Module}};
  for (const auto& [by, table] : tables) {
    const QJsonObject diff =
        QJsonDocument::fromJson(test::strata_command({"diff", path, "--by", by, "--json"})).object();
    EXPECT_EQ(rows_of(c.by(table)), rows_of(diff)) << by;
    EXPECT_DOUBLE_EQ(c.whole_a, diff["first"].toObject()["iteration_ns"].toDouble());
    EXPECT_DOUBLE_EQ(c.whole_b, diff["second"].toObject()["iteration_ns"].toDouble());
  }
  EXPECT_THAT(profile_verdict(c).toStdString(), HasSubstr("compiled is "));
  // The greatest difference comes first.
  const auto& kernels = c.by(ProfileBy::Kernel);
  for (size_t i = 1; i < kernels.size(); ++i)
    EXPECT_GE(std::abs(kernels[i - 1].difference()), std::abs(kernels[i].difference()));
  int led = 0;
  for (const CompareRow& r : kernels) led += r.place_b.kernel != trace::kNone;
  EXPECT_GT(led, 5);
}

TEST_P(CompareEager, SwappedSidesNegate) {
  TemporaryFolder folder;
  const std::string model = GetParam();
  const std::string eager = "profiles/" + model + "_eager.json.gz",
                    compiled = "profiles/" + model + "_compiled.json.gz", log = "logs/" + model + ".log.gz";
  test::import({eager.c_str()}, folder / "eager.strata");
  test::import({log.c_str(), compiled.c_str()}, folder / "compiled.strata");
  auto [a, b] = sides(folder / "eager.strata", folder / "compiled.strata");
  const ProfileComparison c = compare_profiles(a, b), back = compare_profiles(b, a);
  expect_totals(back);
  for (size_t table = 0; table < kProfileTables; ++table) {
    ASSERT_EQ(c.tables[table].size(), back.tables[table].size());
    std::multiset<std::pair<std::string, double>> differences, negated;
    int only_a = 0, only_b = 0;
    for (const CompareRow& r : c.tables[table]) {
      differences.emplace(r.key, r.difference());
      only_a += !r.in_b;
    }
    for (const CompareRow& r : back.tables[table]) {
      negated.emplace(r.key, -r.difference());
      only_b += !r.in_a;
    }
    EXPECT_EQ(differences, negated);
    EXPECT_EQ(only_a, only_b);
  }
  EXPECT_EQ(back.label_a, "compiled");
  EXPECT_DOUBLE_EQ(back.whole_a, c.whole_b);
}

INSTANTIATE_TEST_SUITE_P(Models, CompareEager, testing::Values("cnn_fmnist", "bert"),
                         [](const auto& info) { return std::string(info.param); });

TEST(CompareRuns, TwoCompilesHaveTheFiguresOfTheProfiler) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "two.strata", {2, false});
  test::write_sample_trace(folder / "three.strata", {3, false});
  auto [a, b] = sides(folder / "two.strata", folder / "three.strata");
  ASSERT_TRUE(a.run && b.run && a.run->whole && b.run->whole);
  const ProfileComparison c = compare_profiles(a, b);
  expect_totals(c);
  const auto diff = profiler::diff_profiles(*a.reader, a.run->compile, *b.reader, b.run->compile);
  EXPECT_DOUBLE_EQ(c.total_a, diff.first.time);
  EXPECT_DOUBLE_EQ(c.total_b, diff.second.time);
  EXPECT_DOUBLE_EQ(c.whole_a, diff.first_run.median);
  EXPECT_EQ(c.by(ProfileBy::Kernel).size(), diff.changes.size());
  // The third block is on one side only.
  int only_b = 0;
  for (const CompareRow& r : c.by(ProfileBy::Kernel)) only_b += !r.in_a;
  EXPECT_GT(only_b, 0);
}

TEST(CompareRuns, SingleRunsAreComparedByName) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {2, false});
  auto [a, b] = sides(folder / "cnn.strata");
  const SideChoices choices = load_choices(*a.reader);
  ASSERT_EQ(choices.runs.size(), 6u);  // all five, and each
  a.run = choices.runs[1];
  b.run = choices.runs[5];
  const ProfileComparison c = compare_profiles(a, b);
  expect_totals(c);
  // Run n of the sample takes 100 ns more per launch than the one before.
  for (const CompareRow& r : c.by(ProfileBy::Kernel)) EXPECT_NEAR(r.difference(), 400 * r.launches_a, 1e-6) << r.key;
  EXPECT_TRUE(std::all_of(c.by(ProfileBy::Line).begin(), c.by(ProfileBy::Line).end(),
                          [](const CompareRow& r) { return r.matched(); }));
}

TEST(CompareRuns, OtherProgramsAreComparedByNameWithANote) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {2, false});
  test::import({"logs/cnn_fmnist.log.gz", "profiles/cnn_fmnist_compiled.json.gz"}, folder / "torch.strata");
  auto [a, b] = sides(folder / "cnn.strata", folder / "torch.strata");
  const ProfileComparison c = compare_profiles(a, b);
  EXPECT_FALSE(c.notes.empty());
  EXPECT_NEAR(sum(c.by(ProfileBy::Kernel), &CompareRow::b), c.total_b, c.total_b * 1e-9);
  for (const CompareRow& r : c.by(ProfileBy::Kernel)) EXPECT_FALSE(r.matched()) << r.key;
}

TEST(CompareRuns, ATraceWithoutRunsIsAnError) {
  TemporaryFolder folder;
  test::write_large_trace(folder / "large.strata", 20);
  auto [a, b] = sides(folder / "large.strata");
  EXPECT_FALSE(a.run);
  EXPECT_THROW(compare_profiles(a, b), Error);
}

TEST(CompareRuns, RowsAreATable) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "two.strata", {2, false});
  test::write_sample_trace(folder / "three.strata", {3, false});
  auto [a, b] = sides(folder / "two.strata", folder / "three.strata");
  const ProfileComparison c = compare_profiles(a, b);
  for (int i = 0; i < kProfileTables; ++i) {
    const auto by = static_cast<ProfileBy>(i);
    const auto rows = compare_table(c, by);
    ASSERT_EQ(rows.size(), c.by(by).size());
    for (size_t r = 0; r < rows.size(); ++r) {
      EXPECT_EQ(rows[r].cells.size(), static_cast<size_t>(compare_headers(by).size()));
      EXPECT_DOUBLE_EQ(rows[r].cells[kDifferenceColumn].sort.toDouble(), c.by(by)[r].difference());
    }
  }
}

// ------------------------------------------------------------------------------------------------------- compiles

TEST(CompareCompiles, ASizeBecomesDynamic) {
  TemporaryFolder folder;
  test::import({"logs/dynamic_shapes.log.gz"}, folder / "dynamic.strata");
  auto [a, b] = sides(folder / "dynamic.strata");
  ASSERT_TRUE(a.compile && b.compile);
  EXPECT_EQ(a.compile->record.address, "0/0");
  EXPECT_EQ(b.compile->record.address, "0/1");
  const CompileComparison c = compare_compiles_of_frame(a, b);
  EXPECT_TRUE(c.one_frame);
  EXPECT_THAT(c.cause, HasSubstr("size mismatch"));
  EXPECT_THAT(c.cause, HasSubstr("expected 8, was 9"));
  EXPECT_FALSE(c.advice.empty());
  EXPECT_THAT(c.sizes, HasSubstr("[8, 32] → [s77, 32]"));
  bool guard = false, symbol = false, graph = false;
  for (const CompileDifference& d : c.rows) {
    guard |= d.section == CompileDifference::Section::Guards && d.a == "size=[8, 32]" && d.b == "size=[None, 32]";
    symbol |= d.section == CompileDifference::Section::Sizes && d.a == "fixed" && d.b.starts_with("s77");
    graph |= d.section == CompileDifference::Section::Graph;
  }
  EXPECT_TRUE(guard && symbol && graph) << guard << symbol << graph;
  // Every guard is counted on one of these heaps.
  EXPECT_EQ(c.guards_same + c.guards_changed + c.guards_a, static_cast<int>(a.reader->guards(c.compile_a).size()));
  EXPECT_EQ(c.guards_same + c.guards_changed + c.guards_b, static_cast<int>(b.reader->guards(c.compile_b).size()));
  EXPECT_EQ(compile_difference_rows(c).size(), c.rows.size());
  const CompileComparison back = compare_compiles_of_frame(b, a);
  EXPECT_EQ(back.guards_a, c.guards_b);
  EXPECT_EQ(back.cause, c.cause);
}

TEST(CompareCompiles, AnotherValueOfAnArgument) {
  TemporaryFolder folder;
  test::import({"logs/recompiles.log.gz"}, folder / "rec.strata");
  auto [a, b] = sides(folder / "rec.strata");
  const CompileComparison c = compare_compiles_of_frame(a, b);
  ASSERT_FALSE(c.rows.empty());
  EXPECT_EQ(c.rows.front().section, CompileDifference::Section::Why);
  EXPECT_EQ(c.rows.front().a, "expected 2");
  EXPECT_THAT(c.rows.front().b, testing::StartsWith("was 3"));
  EXPECT_GT(c.rows.front().line, 0);
  EXPECT_GT(c.guards_changed + c.guards_a + c.guards_b, 0);
}

TEST(CompareCompiles, PartsThatDiffer) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(differing_parts("f(x, size=[8, 3], dtype=a)", "f(x, size=[9, 3], dtype=a)"),
            (Pair{"size=[8, 3]", "size=[9, 3]"}));
  EXPECT_EQ(differing_parts("f(x)", "g(x)"), (Pair{"f(x)", "g(x)"}));
  EXPECT_EQ(differing_parts("n == 2", "n == 3"), (Pair{"n == 2", "n == 3"}));
  EXPECT_EQ(differing_parts("f((((", "f(,,,"), (Pair{"f((((", "f(,,,"}));
}

// ---------------------------------------------------------------------------------------------------------- ranks

TEST(CompareRanks, CompilesAndCollectives) {
  TemporaryFolder folder;
  test::import({"logs/ddp_rank_0.log.gz", "logs/ddp_rank_1.log.gz", "ddp"}, folder / "ddp.strata");
  auto [a, b] = sides(folder / "ddp.strata");
  EXPECT_EQ(a.rank, 0);
  EXPECT_EQ(b.rank, 1);
  const RankComparison c = compare_ranks(a, b);
  ASSERT_FALSE(c.frames.empty());
  bool more = false;
  for (const RankFrame& f : c.frames) more |= f.differs.find("compiled more often on rank 0") != std::string::npos;
  EXPECT_TRUE(more);
  EXPECT_FALSE(c.frames.front().differs.empty());
  ASSERT_FALSE(c.collectives.empty());
  double waited = 0;
  for (const RankCollective& x : c.collectives) {
    EXPECT_TRUE(x.wait_a == 0 || x.wait_b == 0);
    EXPECT_NEAR(x.ns_a - x.wait_a, x.ns_b - x.wait_b, 1e-6);
    waited += x.wait_a + x.wait_b;
  }
  EXPECT_DOUBLE_EQ(waited, c.wait_a + c.wait_b);
  EXPECT_FALSE(c.notes.empty());  // logs and profiles are of two runs
  const RankComparison back = compare_ranks(b, a);
  EXPECT_DOUBLE_EQ(back.wait_a, c.wait_b);
  EXPECT_EQ(back.collectives.size(), c.collectives.size());
  EXPECT_FALSE(rank_verdict(c).isEmpty());
}

TEST(CompareRanks, AnUnknownRankIsAnError) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {1, false});
  auto [a, b] = sides(folder / "cnn.strata");
  EXPECT_EQ(a.rank, -1);
  a.rank = 7;
  EXPECT_THROW(compare_ranks(a, b), Error);
}

// ------------------------------------------------------------------------------------------------------- overview

TEST(CompareOverview, LinksToTheComparisonOfBothProfiles) {
  TemporaryFolder folder;
  test::import({"logs/cnn_fmnist.log.gz", "profiles/cnn_fmnist_compiled.json.gz", "profiles/cnn_fmnist_eager.json.gz"},
               folder / "both.strata");
  trace::Reader reader(folder / "both.strata");
  EXPECT_TRUE(overview_html(*load_trace_data(reader), false).contains("view:compare"));
  test::write_sample_trace(folder / "cnn.strata", {1, false});
  trace::Reader own(folder / "cnn.strata");
  EXPECT_FALSE(overview_html(*load_trace_data(own), false).contains("view:compare"));
}

}  // namespace
}  // namespace strata::studio
