// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/ranks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/rank_collectives.h"
#include "profiler/rank_view.h"
#include "tests/profiler/eager_support.h"

namespace strata::profiler {
namespace {

using test::node;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using trace::DiagnosticRecord;
using trace::Id;

/// What one rank compiled.
struct RankSpec {
  std::int64_t rank = 0;
  int compiles = 1;
  std::string target = "torch.relu";
  std::string shape = "[8, 4]";
  std::vector<std::string> guards{"L['x'] is on device=0, id 140156071909840"};
  std::vector<std::string> breaks{};
  std::vector<std::string> symbols{};
  std::string cache = "cache-miss", schedule{};
  std::int64_t duration = 100'000'000;
  std::string function = "forward";
};

class RanksTest : public ::testing::Test {
 protected:
  const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path path_ = test::temporary("ranks_" + name_);
  trace::Writer w_{path_};

  Id process(std::int64_t rank, std::int64_t pid = 0) {
    trace::ProcessRecord p;
    p.rank = rank;
    p.pid = pid == 0 ? 1000 + rank : pid;
    return w_.add(p);
  }

  void write(const RankSpec& s) {
    const Id process = this->process(s.rank);
    trace::FrameRecord f;
    f.process = process;
    f.name = s.function;
    f.file = fmt::format("/host{}/model.py", s.rank);
    f.line = 12;
    const Id frame = w_.add(f);
    for (int i = 0; i < s.compiles; ++i) compile(s, process, frame, i);
  }

  void compile(const RankSpec& s, Id process, Id frame, int number) {
    trace::CompileRecord c;
    c.process = process;
    c.frame = frame;
    c.compile_number = number;
    c.address = fmt::format("r{}:0/{}", s.rank, number);
    c.prefix = fmt::format("r{}:", s.rank);
    c.outcome = "ok";
    c.cause = number == 0 ? "" : "tensor 'x' size mismatch at index 0. expected 8, actual 16";
    c.duration_ns = s.duration;
    const Id id = w_.add(c);
    trace::SnapshotRecord snapshot;
    snapshot.compile = id;
    snapshot.stage = "captured";
    auto call = node(2, fmt::format("out_of_{}", s.rank), s.target, {1}, s.shape);
    call.args = fmt::format("x_{}", s.rank);
    w_.add(snapshot, std::vector{node(1, fmt::format("x_{}", s.rank), "", {}, s.shape), call});
    for (const auto& text : s.guards) {
      trace::GuardRecord g;
      g.compile = id;
      g.expression = text;
      w_.add(g);
    }
    for (const auto& text : s.breaks) {
      trace::GraphBreakRecord b;
      b.process = process;
      b.reason = text;
      w_.add(b);
    }
    for (const auto& text : s.symbols) {
      trace::SymbolRecord symbol;
      symbol.compile = id;
      symbol.name = "s0";
      symbol.origin = text;
      w_.add(symbol);
    }
    DiagnosticRecord d;
    d.compile = id;
    d.kind = s.cache;
    w_.add(d);
    if (s.schedule.empty()) return;
    trace::ArtifactRecord a;
    a.owner = {trace::OwnerKind::Compile, id, id};
    a.kind = "json";
    a.name = "inductor_collective_schedule";
    a.content = s.schedule;
    w_.add(a);
  }

  std::vector<DiagnosticRecord> find() {
    w_.commit();
    trace::Reader reader(path_);
    return find_rank_differences(reader);
  }
};

auto title(const std::string& part) { return Field(&DiagnosticRecord::title, HasSubstr(part)); }
auto detail(const std::string& part) { return Field(&DiagnosticRecord::detail, HasSubstr(part)); }

TEST_F(RanksTest, RanksThatDoTheSameGiveNothing) {
  for (int rank = 0; rank < 4; ++rank) {
    RankSpec s;
    s.rank = rank;
    // Device numbers and object ids differ on every rank.
    s.guards = {fmt::format("L['x'] is on device={}, id {}", rank, 140156071909840 + rank),
                "cuda:" + std::to_string(rank)};
    write(s);
  }
  EXPECT_THAT(find(), IsEmpty());
}

TEST_F(RanksTest, OneProcessWithoutARankGivesNothing) {
  trace::ProcessRecord p;
  p.pid = 5;
  w_.add(p);
  EXPECT_THAT(find(), IsEmpty());
}

TEST_F(RanksTest, AnotherGraphIsShownWithItsFirstDifference) {
  for (int rank = 0; rank < 3; ++rank) write({.rank = rank, .target = rank == 2 ? "torch.gelu" : "torch.relu"});
  const auto found = find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "rank");
  EXPECT_EQ(found[0].title, "the captured graph of model.py:12:forward is another on rank 2 than on ranks 0 and 1");
  EXPECT_THAT(found[0].detail, AllOf(HasSubstr("rank 0: torch.relu(%0)"), HasSubstr("rank 2: torch.gelu(%0)")));
  EXPECT_FALSE(found[0].hint.empty());
  EXPECT_NE(found[0].compile, trace::kNone);
  EXPECT_NE(found[0].process, trace::kNone);
}

TEST_F(RanksTest, OtherShapesAreCalledThat) {
  for (int rank = 0; rank < 3; ++rank) write({.rank = rank, .shape = rank == 1 ? "[7, 4]" : "[8, 4]"});
  EXPECT_THAT(find(), Contains(title("on rank 1 than on ranks 0 and 2: same operators, other shapes")));
}

TEST_F(RanksTest, MoreRecompilesWithReasonAndCost) {
  for (int rank = 0; rank < 4; ++rank) write({.rank = rank, .compiles = rank == 3 ? 3 : 1});
  const auto found = find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "model.py:12:forward was compiled 3 times on rank 3, once on ranks 0-2");
  EXPECT_THAT(found[0].detail, HasSubstr("r3:0/1: tensor 'x' size mismatch at index 0. expected 8, actual 16"));
  EXPECT_EQ(found[0].cost_ns, 200'000'000);
}

TEST_F(RanksTest, RestartedAttemptsAreNoCompiles) {
  write({.rank = 0});
  write({.rank = 1});
  trace::CompileRecord c;  // an attempt that was followed by another
  c.process = 2;
  c.frame = 2;
  c.prefix = "r1:";
  c.attempt = -1;
  c.outcome = "restarted";
  w_.add(c);
  EXPECT_THAT(find(), IsEmpty());
}

TEST_F(RanksTest, AFrameOnOneRankOnly) {
  write({.rank = 0});
  write({.rank = 1});
  write({.rank = 0, .function = "evaluate"});
  // Two processes claim rank 0 now: the later one is compared, which has one frame more and one less.
  const auto found = find();
  EXPECT_THAT(found, Contains(title("model.py:12:evaluate was compiled on rank 0 only")));
  EXPECT_THAT(found, Contains(title("2 processes say that they are rank 0")));
}

TEST_F(RanksTest, OtherGuards) {
  for (int rank = 0; rank < 3; ++rank) {
    RankSpec s;
    s.rank = rank;
    if (rank == 0) s.guards.push_back("L['self'].training == True");
    write(s);
  }
  const auto found = find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "the guards of model.py:12:forward differ on rank 0 from ranks 1 and 2");
  EXPECT_EQ(found[0].detail, "only on rank 0:\n  L['self'].training == True\n");
}

TEST_F(RanksTest, OtherGraphBreaks) {
  write({.rank = 0});
  write({.rank = 1, .breaks = {"call to print"}});
  EXPECT_THAT(find(), Contains(AllOf(title("the graph breaks differ on rank 1"), detail("call to print"))));
}

TEST_F(RanksTest, ADimensionThatIsDynamicOnSomeRanks) {
  for (int rank = 0; rank < 3; ++rank) {
    RankSpec s;
    s.rank = rank;
    if (rank != 1) s.symbols = {"L['x'].size()[0]"};
    write(s);
  }
  EXPECT_THAT(find(), Contains(AllOf(title("dynamic dimensions of model.py:12:forward differ on rank 1"),
                                     detail("not on rank 1:\n  L['x'].size()[0] is dynamic"))));
}

TEST_F(RanksTest, CachesThatHitOnSomeRanks) {
  for (int rank = 0; rank < 3; ++rank) write({.rank = rank, .cache = rank == 2 ? "cache-hit" : "cache-miss"});
  EXPECT_THAT(find(), Contains(AllOf(title("otherwise on rank 2"), detail("rank 2: cache-hit"),
                                     Field(&DiagnosticRecord::severity, DiagnosticRecord::Severity::Info))));
}

TEST_F(RanksTest, CollectivesInAnotherOrderAreTheMostSerious) {
  for (int rank = 0; rank < 3; ++rank)
    write({.rank = rank,
           .target = rank == 1 ? "torch.gelu" : "torch.relu",
           .schedule = rank == 1 ? R"(["all_gather", "all_reduce"])" : R"(["all_reduce", "all_gather"])"});
  const auto found = find();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].title, HasSubstr("collectives of model.py:12:forward are in another order on rank 1"));
  EXPECT_EQ(found[0].severity, DiagnosticRecord::Severity::Error);
}

TEST_F(RanksTest, OneThatCompilesLonger) {
  for (int rank = 0; rank < 4; ++rank) write({.rank = rank, .duration = rank == 2 ? 3'000'000'000 : 1'000'000'000});
  const auto found = find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("rank 2 compiles 2000.0 ms longer"));
  EXPECT_THAT(found[0].detail, HasSubstr("model.py:12:forward: 2000.0 ms longer"));
  EXPECT_EQ(found[0].cost_ns, 2'000'000'000);
}

TEST_F(RanksTest, MissingRanks) {
  write({.rank = 0});
  write({.rank = 2});
  EXPECT_THAT(find(), Contains(title("nothing of rank 1 was imported")));
  trace::MetricRecord m;
  m.key = "world_size";
  m.value = 8;
  w_.add(m);
  EXPECT_THAT(find(), Contains(AllOf(title("nothing of ranks 1 and 3-7 was imported"), detail("there are 8 ranks"))));
}

TEST_F(RanksTest, FindingsAreWrittenIntoTheTrace) {
  for (int rank = 0; rank < 3; ++rank) write({.rank = rank, .target = rank == 2 ? "torch.gelu" : "torch.relu"});
  w_.commit();
  trace::Reader reader(path_);
  EXPECT_EQ(diagnose_ranks(reader, w_), 1u);
  w_.commit();
  EXPECT_THAT(reader.diagnostics(), Contains(title("is another on rank 2")));
}

// ---- collectives

class CollectivesTest : public RanksTest {
 protected:
  /// A profile of one rank. The clock of rank 1 is a second ahead.
  void profile(std::int64_t rank, const std::vector<std::pair<std::int64_t, std::int64_t>>& calls,
               bool numbered = true) {
    trace::RunRecord run;
    run.process = process(rank);
    run.label = "profile";
    run.clock = "unix";
    const Id id = w_.add(run);
    std::int64_t sequence = 0;
    for (const auto& [start, end] : calls) {
      trace::EventRecord e;
      e.run = id;
      e.category = "kernel";
      e.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
      e.start_ns = start + (rank == 1 ? 1'000'000'000 : 0);
      e.duration_ns = end - start;
      e.args = fmt::format(R"({{"Collective name":"allreduce","Process Group Name":"0"{}}})",
                           numbered ? fmt::format(",\"Seq\":{}", sequence++) : "");
      w_.add(e);
    }
  }
  CollectiveWaits waits() {
    w_.commit();
    trace::Reader reader(path_);
    return collective_waits(collective_calls(reader, rank_views(reader)));
  }
};

TEST_F(CollectivesTest, TheLastToArriveIsWaitedFor) {
  profile(0, {{1000, 2000}, {3000, 4000}});
  profile(1, {{1100, 2000}, {3900, 4000}});
  profile(2, {{1800, 2000}, {3000, 4000}});
  const CollectiveWaits w = waits();
  EXPECT_EQ(w.compared, 2u);
  EXPECT_EQ(w.waited.at(0), 800 + 900);
  EXPECT_EQ(w.waited.at(1), 700);
  EXPECT_EQ(w.waited.at(2), 900);
  EXPECT_EQ(w.last.at(1), 1u);
  EXPECT_EQ(w.caused.at(1), 1800);
  EXPECT_EQ(w.caused.at(2), 1500);
  EXPECT_EQ(w.longest_wait, 900);
  EXPECT_EQ(w.longest_for, 1);
  EXPECT_EQ(w.span, 3000);
  EXPECT_THAT(find(), Contains(AllOf(title("for rank 1 in collectives"), Field(&DiagnosticRecord::cost_ns, 1700))));
}

TEST_F(CollectivesTest, WithoutNumbersTheyAreCounted) {
  profile(0, {{1000, 2000}, {3000, 4000}}, false);
  profile(1, {{1100, 2000}, {3900, 4000}}, false);
  EXPECT_EQ(waits().waited.at(0), 100 + 900);
}

TEST_F(CollectivesTest, RanksThatArriveTogether) {
  profile(0, {{100000, 101000}, {300000, 301000}});
  profile(1, {{100010, 101000}, {300010, 301000}});
  EXPECT_THAT(find(), Contains(AllOf(title("arrive together in 2 collectives"),
                                     Field(&DiagnosticRecord::severity, DiagnosticRecord::Severity::Info))));
}

TEST_F(CollectivesTest, OtherNumbersOfCollectives) {
  profile(0, {{1000, 2000}, {3000, 4000}});
  profile(1, {{1000, 2000}});
  EXPECT_THAT(find(), Contains(AllOf(title("show other collectives"), detail("rank 1: allreduce once"))));
}

TEST(RankTexts, Lists) {
  EXPECT_EQ(ranks_text({3}), "rank 3");
  EXPECT_EQ(ranks_text({0, 1}), "ranks 0 and 1");
  EXPECT_EQ(ranks_text({0, 1, 2, 3, 9}), "ranks 0-3 and 9");
  EXPECT_EQ(ranks_text({0, 2, 5, 6, 7}), "ranks 0, 2 and 5-7");
}

TEST(RankTexts, WhatMayDifferIsLeftOut) {
  EXPECT_EQ(comparable("cuda:1, device=3, index=0"), "cuda:#, device=#, index=#");
  EXPECT_EQ(comparable("___check_obj_id(x, 140156071909840)"), "___check_obj_id(x, #)");
  EXPECT_EQ(comparable("___check_type_id(L['args'][0], 344956640)"), "___check_type_id(L['args'][0], #)");
  EXPECT_EQ(comparable("numel 344956640"), "numel 344956640");
  EXPECT_EQ(comparable("size 1024, x12 = s77"), "size 1024, x12 = s77");
}

}  // namespace
}  // namespace strata::profiler
