// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Memory over time: what stands where, how much is in use, and the page driven as a person would.

#include <QAbstractItemModelTester>
#include <QTest>
#include <algorithm>
#include <random>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

class Memory : public testing::Test {
 protected:
  void launches(int count) {
    for (int i = 0; i < count; ++i) {
      LaunchRecord l;
      l.id = i + 1;
      l.ordinal = i;
      l.name = "launch_" + std::to_string(i);
      data_.launches.push_back(l);
    }
  }
  BufferRecord& buffer(double bytes, std::int64_t first, std::int64_t last) {
    BufferRecord b;
    b.id = static_cast<Id>(data_.buffers.size()) + 1;
    b.name = "buf" + std::to_string(b.id);
    b.kind = "temporary";
    b.node = b.id * 10;
    b.bytes = {bytes, ""};
    b.first_launch = first;
    b.last_launch = last;
    data_.buffers.push_back(b);
    return data_.buffers.back();
  }
  CompileData data_;
  std::mt19937 random_{std::random_device{}()};
};

TEST_F(Memory, BlocksThatLiveTogetherDoNotOverlap) {
  for (int round = 0; round < 30; ++round) {
    data_ = {};
    launches(40);
    std::uniform_int_distribution<int> at(0, 39), size(1, 5000);
    for (int i = 0; i < 60; ++i) {
      const int a = at(random_), b = at(random_);
      buffer(size(random_), std::min(a, b), std::max(a, b));
    }
    const MemoryPlan plan = make_memory_plan(data_, kNone, false);
    ASSERT_EQ(plan.blocks.size(), 60u);
    std::vector<double> live(40, 0);
    for (size_t i = 0; i < plan.blocks.size(); ++i) {
      const MemoryBlock& a = plan.blocks[i];
      for (std::int64_t l = a.first; l <= a.last; ++l) live[static_cast<size_t>(l)] += a.bytes;
      for (size_t j = 0; j < i; ++j) {
        const MemoryBlock& b = plan.blocks[j];
        const bool together = a.first <= b.last && b.first <= a.last;
        const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        EXPECT_FALSE(together && overlap);
      }
      EXPECT_LE(a.offset + a.bytes, plan.height);
    }
    EXPECT_EQ(plan.live, live);
    EXPECT_EQ(plan.peak, *std::max_element(live.begin(), live.end()));
    EXPECT_EQ(plan.live[static_cast<size_t>(plan.peak_launch)], plan.peak);
    EXPECT_GE(plan.height, plan.peak);
  }
}

TEST_F(Memory, WhatTakesOverMemoryStandsThereAndCountsOnce) {
  launches(4);
  buffer(100, 0, 1);
  buffer(60, 0, 3);
  buffer(100, 1, 2).reuse_of = 1;
  buffer(40, 2, 3).reuse_of = 3;
  const MemoryPlan plan = make_memory_plan(data_, kNone, false);
  EXPECT_EQ(plan.find(3)->offset, plan.find(1)->offset);
  EXPECT_EQ(plan.find(4)->offset, plan.find(1)->offset);
  EXPECT_EQ(plan.chains, 1u);
  EXPECT_EQ(plan.live, (std::vector<double>{160, 160, 160, 100}));
  EXPECT_EQ(plan.peak_launch, 0);
  EXPECT_EQ(memory_rows(plan)[2].cells[6].text, "buf1");
}

TEST_F(Memory, TheArenaIsShownAsItIs) {
  launches(3);
  buffer(100, 0, 1).arena_offset = 64;
  buffer(50, 0, 2).arena_offset = 256;
  buffer(30, 1, 1);
  const MemoryPlan plan = make_memory_plan(data_, kNone, false);
  EXPECT_EQ(plan.find(1)->offset, 64);
  EXPECT_EQ(plan.find(2)->offset, 256);
  EXPECT_EQ(plan.find(3)->offset, 306);
  EXPECT_EQ(plan.at(0.5, 70), 0);
  EXPECT_EQ(plan.at(2.5, 70), -1);
}

TEST_F(Memory, WhatIsReturnedLivesToTheEnd) {
  launches(5);
  buffer(100, 0, 1).kind = "output";
  buffer(70, 3, 3);
  const MemoryPlan plan = make_memory_plan(data_, kNone, false);
  EXPECT_EQ(plan.live, (std::vector<double>{100, 100, 100, 170, 100}));
}

TEST_F(Memory, NonsenseIsLeftOut) {
  launches(3);
  buffer(100, -1, 2);
  buffer(-5, 0, 1);
  buffer(10, 7, 9);
  buffer(10, 1, 99).reuse_of = 4;  // of itself
  buffer(20, 2, 1);
  buffer(30, 0, 0).reuse_of = 7;
  buffer(30, 0, 0).reuse_of = 6;  // a circle
  data_.buffers[1].bytes = {};
  const MemoryPlan plan = make_memory_plan(data_, kNone, false);
  EXPECT_EQ(plan.unplaced, 3u);
  EXPECT_EQ(plan.find(4)->last, 2);
  EXPECT_EQ(plan.find(5)->last, 2);
  EXPECT_EQ(plan.live[0], 30);
  EXPECT_TRUE(make_memory_plan(CompileData(), 5, true).blocks.empty());
}

TEST_F(Memory, InputsAndOtherProgramsAreApart) {
  launches(2);
  data_.launches[1].program = 9;
  data_.launches[1].ordinal = 0;
  SnapshotRecord stage;
  stage.stage = "plan:backward";
  stage.program = 9;
  data_.snapshots.push_back(stage);
  buffer(100, 0, 0);
  buffer(50, 0, 0).kind = "input";
  buffer(70, 0, 0);
  data_.launches[0].writes = {1};
  data_.launches[1].reads = {2};
  data_.launches[1].writes = {3};
  const auto programs = memory_programs(data_);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[1].second, "backward");
  EXPECT_EQ(make_memory_plan(data_, kNone, true).peak, 100);
  EXPECT_EQ(make_memory_plan(data_, 9, false).peak, 70);
  EXPECT_EQ(make_memory_plan(data_, 9, true).peak, 120);
}

TEST_F(Memory, ProfilesShowWhatWasAllocated) {
  TemporaryFolder folder;
  {
    Writer writer(folder / "p.strata");
    RunRecord run;
    run.label = "profile";
    run.id = writer.add(run);
    const auto event = [&](std::int64_t at, const std::string& name, const std::string& args) {
      EventRecord e;
      e.run = run.id;
      e.name = name;
      e.category = "cpu_instant_event";
      e.phase = "i";
      e.start_ns = at;
      e.args = args;
      writer.add(e);
    };
    event(5000, "[memory]", R"({"Total Allocated": 300, "Total Reserved": 512, "Device Type": 1, "Device Id": 0})");
    event(2000, "[memory]", R"({"Total Allocated": 700, "Total Reserved": 1024, "Device Type": 1, "Device Id": 0})");
    event(1000, "[memory]", R"({"Total Allocated": 10, "Device Type": 0, "Device Id": -1})");
    event(1500, "[memory]", "not json");
    event(1500, "[memory]", "[1]");
    event(1500, "other", R"({"Total Allocated": 99999, "Device Type": 0})");
    writer.close();
  }
  Reader reader(folder / "p.strata");
  const MemoryCurves curves = load_memory_curves(reader);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].device, "cuda:0");
  ASSERT_EQ(curves[0].points.size(), 2u);
  EXPECT_EQ(curves[0].points[0].time, 1000);
  EXPECT_EQ(curves[0].peak, 700);
  EXPECT_EQ(curves[0].peak_time, 1000);
  EXPECT_EQ(curves[1].device, "cpu");

  Context context;
  MainWindow window(context, false);
  window.show();
  ASSERT_TRUE(window.show_view("memory"));
  window.open_file(QString::fromStdString((folder / "p.strata").string()));
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(window.memory().what().currentText(), "profile, cuda:0");
  EXPECT_FALSE(window.memory().curve().empty());
  EXPECT_TRUE(window.memory().summary().contains("700 B")) << window.memory().summary().toStdString();
  EXPECT_FALSE(window.memory().grab().isNull());
}

TEST_F(Memory, AClickOnABufferSelectsItsNode) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "own.strata", {3, false});
  Context context;
  MainWindow window(context, false);
  window.resize(1400, 900);
  window.show();
  window.arrange();
  ASSERT_TRUE(window.show_view("memory"));
  window.open_file(QString::fromStdString((folder / "own.strata").string()));
  ASSERT_TRUE(settle(context));
  MemoryMap& map = window.memory().map();
  LinkTable& table = window.memory().table();
  QAbstractItemModelTester tester(table.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  ASSERT_GT(map.plan().blocks.size(), 4u);
  const MemoryBlock& block = map.plan().blocks[3];
  const QPoint at = map.block_rect(3).center().toPoint();
  ASSERT_EQ(map.block_at(at), 3);
  QTest::mouseClick(&map, Qt::LeftButton, {}, at);
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(context.selection().node, block.node);
  EXPECT_EQ(table.currentIndex().siblingAtColumn(0).data().toString(), qt(block.name));
  QTest::keyClick(&map, Qt::Key_Right);
  EXPECT_EQ(context.selection().node, map.plan().blocks[4].node);
  window.memory().outside_box().setChecked(true);
  EXPECT_FALSE(map.grab().isNull());
}

class MemoryPage : public testing::Test {
 protected:
  void SetUp() override {
    test::write_sample_trace(folder_ / "own.strata", {3, false});
    window_.resize(1400, 900);
    window_.show();
    window_.arrange();
    ASSERT_TRUE(window_.show_view("memory"));
    window_.open_file(QString::fromStdString((folder_ / "own.strata").string()));
    ASSERT_TRUE(settle(context_));
    ASSERT_GT(map().plan().blocks.size(), 4u);
  }
  MemoryMap& map() { return window_.memory().map(); }
  LinkTable& table() { return window_.memory().table(); }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(MemoryPage, KernelsLightTheirBuffers) {
  const LaunchRecord& launch = context_.compile()->launches.at(1);
  context_.select_launch(launch.id);
  ASSERT_TRUE(settle(context_));
  std::vector<Id> lit, expected;
  for (const int block : map().lit()) lit.push_back(map().plan().blocks[static_cast<size_t>(block)].buffer);
  for (const Id id : launch.writes)
    if (map().plan().find(id)) expected.push_back(id);
  ASSERT_FALSE(expected.empty());
  for (const Id id : expected) EXPECT_NE(std::find(lit.begin(), lit.end(), id), lit.end()) << id;
  EXPECT_LT(lit.size(), map().plan().blocks.size());
}

TEST_F(MemoryPage, ARowSelectsItsBuffer) {
  table().setCurrentIndex(table().model()->index(2, 0));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().buffer, map().plan().blocks[2].buffer);
  QTest::keyClick(&map(), Qt::Key_Left);
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(context_.selection().buffer, map().plan().blocks[1].buffer);
  EXPECT_EQ(table().currentIndex().row(), 1);
}

TEST_F(MemoryPage, TheListCanBeThatOfThePeak) {
  const MemoryPlan& plan = map().plan();
  int alive = 0;
  for (const MemoryBlock& b : plan.blocks) alive += b.first <= plan.peak_launch && plan.peak_launch <= b.last;
  ASSERT_LT(alive, table().model()->rowCount());
  window_.memory().peak_box().setChecked(true);
  EXPECT_EQ(table().model()->rowCount(), alive);
  table().setCurrentIndex(table().model()->index(alive - 1, 0));
  EXPECT_LE(plan.find(context_.selection().buffer)->first, plan.peak_launch);
}

TEST_F(MemoryPage, ZoomKeepsWhatIsPointedAt) {
  const QRectF before = map().block_rect(3);
  const QPointF at = before.center();
  map().zoom(4, 2, at);
  EXPECT_EQ(map().block_at(at), 3);
  EXPECT_NEAR(map().block_rect(3).width(), 4 * before.width(), 0.01);
  EXPECT_NEAR(map().block_rect(3).height(), 2 * before.height(), 0.01);
  EXPECT_FALSE(map().grab().isNull());
  // A drag moves, and selects nothing.
  QTest::mousePress(&map(), Qt::LeftButton, {}, at.toPoint());
  QTest::mouseMove(&map(), at.toPoint() + QPoint(-20, 0));
  QTest::mouseMove(&map(), at.toPoint() + QPoint(-40, 0));
  QTest::mouseRelease(&map(), Qt::LeftButton, {}, at.toPoint() + QPoint(-40, 0));
  EXPECT_TRUE(context_.selection().empty());
  QTest::keyClick(&map(), Qt::Key_F);
  EXPECT_FALSE(map().zoomed());
  EXPECT_EQ(map().block_rect(3), before);
}

TEST_F(MemoryPage, ItIsCopiedAsText) {
  QTest::keyClick(&map(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_TRUE(map().text().contains(qt(map().plan().blocks[0].name)));
  EXPECT_EQ(map().text().count('\n'), static_cast<int>(map().plan().blocks.size()) + 1);
}

TEST_F(Memory, ManyBuffersArePainted) {
  launches(2000);
  std::uniform_int_distribution<int> at(0, 1990), length(0, 9), size(1, 50000);
  for (int i = 0; i < 20000; ++i) {
    const int first = at(random_);
    buffer(size(random_), first, first + length(random_));
  }
  MemoryMap map;
  map.resize(1600, 1000);
  map.set_plan(make_memory_plan(data_, kNone, false));
  const QImage whole = map.grab().toImage();
  map.zoom(300, 300, map.rect().center());
  const QImage part = map.grab().toImage();
  EXPECT_NE(whole, part);
  map.set_selected(5, {6, 7});
  EXPECT_EQ(map.lit().size(), 2u);
  EXPECT_FALSE(map.grab().isNull());
}

}  // namespace
}  // namespace strata::studio
