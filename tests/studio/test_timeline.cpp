// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// The timeline: what is read, how it is laid out and thinned for painting, and the page driven as a person would.

#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <random>
#include <set>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

/// A profile: operators nested on a thread, launches, and kernels on two streams; `count` operators.
void write_profile(const std::filesystem::path& path, int count, std::mt19937& random) {
  Writer writer(path);
  ProcessRecord process;
  process.pid = 77;
  process.rank = 1;
  process.id = writer.add(process);
  TrackRecord thread, stream;
  thread.process = stream.process = process.id;
  thread.pid = thread.tid = "77";
  thread.process_name = "python3";
  stream.pid = "0";
  stream.tid = "7";
  stream.name = "stream 7";
  stream.device = 0;
  stream.stream = 7;
  thread.id = writer.add(thread);
  stream.id = writer.add(stream);
  RunRecord run;
  run.process = process.id;
  run.label = "profile";
  run.clock = "unix";
  run.id = writer.add(run);
  std::uniform_int_distribution<int> length(500, 5000);
  std::int64_t now = 1'700'000'000'000'000'000;
  std::vector<EventRecord> events;
  for (int i = 0; i < count; ++i) {
    const int whole = length(random);
    EventRecord e;
    e.run = run.id;
    e.track = thread.id;
    e.name = i % 3 ? "aten::mm" : "aten::relu";
    e.category = "cpu_op";
    e.clock = "unix";
    e.start_ns = now;
    e.duration_ns = whole;
    events.push_back(e);
    e.name = "cudaLaunchKernel";
    e.category = "cuda_runtime";
    e.start_ns = now + whole / 4;
    e.duration_ns = whole / 4;
    e.correlation = i + 1;
    events.push_back(e);
    e.track = stream.id;
    e.stream = 7;
    e.name = i % 3 ? "gemm" : "relu_kernel";
    e.category = "kernel";
    e.start_ns = now + whole / 2;
    e.duration_ns = whole / 3;
    events.push_back(e);
    now += whole + length(random);
  }
  writer.add(events);
  writer.close();
}

class TimelineTest : public testing::Test {
 protected:
  std::mt19937 random_{std::random_device{}()};
  TemporaryFolder folder_;
};

TEST_F(TimelineTest, HoldsEveryEventInRowsWithoutOverlap) {
  write_profile(folder_ / "p.strata", 500, random_);
  Reader reader(folder_ / "p.strata");
  const auto runs = timeline_runs(reader);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].title, "profile, rank 1");
  const TimelinePtr timeline = load_timeline(reader, runs[0].runs);
  EXPECT_EQ(timeline->slices, 1500u);
  ASSERT_EQ(timeline->tracks.size(), 2u);
  EXPECT_FALSE(timeline->tracks[0].device);
  EXPECT_EQ(timeline->tracks[1].title, "stream 7");
  EXPECT_EQ(timeline->tracks[0].lanes.size(), 2u);
  std::set<Id> seen;
  for (const auto& track : timeline->tracks)
    for (const Lane& lane : track.lanes)
      for (size_t i = 0; i < lane.size(); ++i) {
        EXPECT_TRUE(seen.insert(lane[i].event).second);
        if (i > 0) {
          EXPECT_GE(lane[i].start, lane[i - 1].end());
        }
      }
  EXPECT_EQ(seen.size(), 1500u);
  for (const Slice& s : timeline->tracks[0].lanes[1]) EXPECT_EQ(timeline->name(s), "cudaLaunchKernel");
}

/// Whatever the zoom: boxes cover every slice in view, do not overlap by more than a pixel, and are few.
TEST_F(TimelineTest, BoxesCoverWhatIsInView) {
  write_profile(folder_ / "p.strata", 2000, random_);
  Reader reader(folder_ / "p.strata");
  const TimelinePtr timeline = load_timeline(reader, {1});
  std::uniform_real_distribution<double> part(0, 1);
  for (int round = 0; round < 200; ++round) {
    const Lane& lane = timeline->tracks[static_cast<size_t>(round) % 2].lanes[0];
    const double width = static_cast<double>(timeline->duration) * std::pow(part(random_), 4) + 1000;
    const auto from = static_cast<std::int64_t>(part(random_) * static_cast<double>(timeline->duration));
    const auto to = from + static_cast<std::int64_t>(width);
    std::vector<Box> boxes;
    visible_boxes(lane, from, to, width / 1000, boxes);
    EXPECT_LE(boxes.size(), 2100u);
    size_t at = 0;
    std::uint32_t merged = 0;
    for (const Box& box : boxes) merged += box.merged;
    size_t expected = 0;
    for (const Slice& s : lane) {
      if (s.end() <= from || s.start >= to) continue;
      ++expected;
      while (at < boxes.size() && boxes[at].end < s.end()) ++at;
      ASSERT_LT(at, boxes.size());
      EXPECT_LE(boxes[at].start, s.start);
    }
    EXPECT_GE(merged, expected);
  }
}

TEST_F(TimelineTest, ThePageShowsLaunchesAndTheirKernels) {
  write_profile(folder_ / "p.strata", 50, random_);
  Context context;
  MainWindow window(context, false);
  window.resize(1280, 800);
  window.show();
  window.arrange();
  ASSERT_TRUE(window.show_view("timeline"));
  window.open_file(QString::fromStdString((folder_ / "p.strata").string()));
  ASSERT_TRUE(settle(context));
  TimelineView& view = window.timeline().view();
  ASSERT_TRUE(view.timeline());
  EXPECT_EQ(view.timeline()->slices, 150u);
  EXPECT_EQ(window.timeline().runs().count(), 1);

  window.timeline().search_box().setText("relu_kernel");
  QTest::keyClick(&window.timeline().search_box(), Qt::Key_Return);
  const Id first = view.selected();
  ASSERT_NE(first, kNone);
  const QRectF where = view.slice_rect(first);
  EXPECT_TRUE(QRectF(view.rect()).contains(where.center()));
  ASSERT_NE(view.slice_at(where.center()), nullptr);
  EXPECT_EQ(view.slice_at(where.center())->event, first);
  EXPECT_EQ(view.timeline()->name(*view.slice_at(where.center())), "relu_kernel");
  QTest::keyClick(&view, Qt::Key_N);
  EXPECT_NE(view.selected(), first);
  QTest::keyClick(&view, Qt::Key_P);
  EXPECT_EQ(view.selected(), first);

  const double before = view.scale();
  QTest::keyClick(&view, Qt::Key_Plus);
  EXPECT_LT(view.scale(), before);
  QTest::keyClick(&view, Qt::Key_F);
  QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(view.width() - 5, view.height() - 5));
  EXPECT_EQ(view.selected(), kNone);
  EXPECT_FALSE(window.grab().isNull());
}

TEST_F(TimelineTest, CancelledReadingGivesNothing) {
  write_profile(folder_ / "p.strata", 20000, random_);
  Reader reader(folder_ / "p.strata");
  EXPECT_EQ(load_timeline(reader, {1}, [] { return true; })->slices, 0u);
  EXPECT_EQ(load_timeline(reader, {1}, [] { return false; })->slices, 60000u);
}

}  // namespace
}  // namespace strata::studio
