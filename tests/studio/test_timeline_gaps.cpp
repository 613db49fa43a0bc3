// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// When devices wait and why, what joins slices, spans that are measured, and the page's keys for all of it.

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <random>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "profiler/device_time.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;
using test::settle;
using test::TemporaryFolder;

/// Writes events one by one: a thread, streams of device 0, one run.
class Script {
 public:
  explicit Script(const std::filesystem::path& path) : w_(path) {
    ProcessRecord process;
    process_ = w_.add(process);
    thread_ = track("main", -1, -1);
    streams_[0] = track("stream 7", 0, 7);
    streams_[1] = track("stream 20", 0, 20);
    run_ = run();
  }

  Id run() {
    RunRecord run;
    run.process = process_;
    run.label = "profile";
    run.clock = "unix";
    return run_ = w_.add(run);
  }
  Id host(const char* name, const char* category, std::int64_t start, std::int64_t length, std::int64_t number = 0) {
    return event(name, category, thread_, -1, start, length, number);
  }
  Id device(const char* name, std::int64_t start, std::int64_t length, std::int64_t number = 0, int stream = 0,
            const char* category = "kernel") {
    return event(name, category, streams_[stream], stream == 0 ? 7 : 20, start, length, number);
  }
  void flow(Id from, Id to) {
    FlowRecord f;
    f.kind = "fwdbwd";
    f.from = from;
    f.to = to;
    w_.add(f);
  }
  void close() { w_.close(); }

 private:
  Id track(const char* name, std::int64_t device, std::int64_t stream) {
    TrackRecord t;
    t.process = process_;
    t.name = name;
    t.device = device;
    t.stream = stream;
    return w_.add(t);
  }
  Id event(const char* name, const char* category, Id where, std::int64_t stream, std::int64_t start,
           std::int64_t length, std::int64_t number) {
    EventRecord e;
    e.run = run_;
    e.track = where;
    e.stream = stream;
    e.name = name;
    e.category = category;
    e.clock = "unix";
    e.start_ns = start;
    e.duration_ns = length;
    e.correlation = number;
    return w_.add(e);
  }
  Writer w_;
  Id process_ = 0, run_ = 0, thread_ = 0, streams_[2] = {};
};

class Gaps : public testing::Test {
 protected:
  /// The timeline of the first run.
  TimelinePtr load() {
    script_.close();
    Reader reader(folder_ / "p.strata");
    return load_timeline(reader, {1});
  }
  TemporaryFolder folder_;
  Script script_{folder_ / "p.strata"};
};

GapReason only_reason(const Timeline& timeline) {
  const GapPtr gaps = find_gaps(timeline);
  EXPECT_EQ(gaps->by_start.size(), 1u);
  return gaps->by_start.empty() ? GapReason::Unknown : gaps->by_start[0]->reason;
}

TEST_F(Gaps, AreWhenNoStreamWorks) {
  script_.device("a", 1000, 100);
  script_.device("b", 1050, 150, 0, 1);  // until 1200
  script_.device("c", 1300, 50);
  script_.device("ProfilerStep#1", 900, 900, 0, 0, "gpu_user_annotation");  // no work
  script_.device("d", 1500, 10, 0, 1, "gpu_memset");
  const TimelinePtr timeline = load();
  const GapPtr gaps = find_gaps(*timeline);
  ASSERT_EQ(gaps->devices.size(), 1u);
  EXPECT_EQ(gaps->devices[0].span, 510);
  EXPECT_EQ(gaps->devices[0].idle, 100 + 150);
  EXPECT_EQ(gaps->devices[0].busy, 260);
  ASSERT_EQ(gaps->longest.size(), 2u);
  EXPECT_EQ(gaps->longest[0]->duration, 150);
  EXPECT_EQ(gaps->by_start[0]->start, 1200 - timeline->origin);
  EXPECT_EQ(timeline->name(timeline->at(gaps->by_start[0]->next)), "c");
  EXPECT_EQ(gaps->summary(), "device idle 49 %, largest gap 150 ns (unknown)");
  EXPECT_EQ(gaps->at(1, 1210 - timeline->origin), gaps->by_start[0]);
  EXPECT_EQ(gaps->at(1, 1310 - timeline->origin), nullptr);
  EXPECT_EQ(gaps->at(99, 1210 - timeline->origin), nullptr);
}

/// The totals are those of `strata profile`.
TEST_F(Gaps, AddUpAsInTheProfiler) {
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<std::int64_t> when(0, 1'000'000), length(0, 3000);
  std::vector<profiler::Interval> activity;
  for (int i = 0; i < 400; ++i) {
    const profiler::Interval a{when(random), length(random)};
    activity.push_back(a);
    script_.device("k", a.start, a.duration, 0, i % 2);
  }
  const GapPtr gaps = find_gaps(*load());
  const auto expected = profiler::device_idle(activity, 5);
  ASSERT_EQ(gaps->devices.size(), 1u);
  EXPECT_EQ(gaps->span(), expected.span);
  EXPECT_EQ(gaps->idle(), expected.idle);
  EXPECT_EQ(gaps->by_start.size(), expected.gaps);
  for (size_t i = 0; i < expected.longest.size(); ++i)
    EXPECT_EQ(gaps->longest[i]->duration, expected.longest[i].duration);
}

TEST_F(Gaps, QueuedWorkWaitsForNobody) {
  script_.host("cudaLaunchKernel", "cuda_runtime", 100, 50, 1);
  script_.host("cudaLaunchKernel", "cuda_runtime", 200, 50, 2);
  script_.device("a", 300, 700, 1);
  script_.device("b", 1100, 100, 2);
  EXPECT_EQ(only_reason(*load()), GapReason::Queue);
}

TEST_F(Gaps, AfterASynchronisationTheNextLaunchIsLate) {
  script_.host("cudaLaunchKernel", "cuda_runtime", 100, 50, 1);
  script_.device("a", 300, 700, 1);
  script_.host("cudaDeviceSynchronize", "cuda_runtime", 200, 810);
  script_.host("aten::mm", "cpu_op", 1020, 500);
  script_.host("cudaLaunchKernel", "cuda_runtime", 1400, 50, 2);
  script_.device("b", 1500, 100, 2);
  EXPECT_EQ(only_reason(*load()), GapReason::Sync);
}

TEST_F(Gaps, SlowDispatchIsLaunchBound) {
  script_.host("cudaLaunchKernel", "cuda_runtime", 100, 50, 1);
  script_.device("a", 300, 100, 1);
  script_.host("aten::mm", "cpu_op", 160, 1300);
  script_.host("cudaLaunchKernel", "cuda_runtime", 1400, 50, 2);
  script_.device("b", 1500, 100, 2);
  EXPECT_EQ(only_reason(*load()), GapReason::Launch);
}

TEST_F(Gaps, OtherWorkOnTheHostIsNoDispatch) {
  script_.host("cudaLaunchKernel", "cuda_runtime", 100, 50, 1);
  script_.device("a", 300, 100, 1);
  script_.host("ProfilerStep#1", "user_annotation", 50, 3000);
  script_.host("load_batch", "python_function", 500, 800);
  script_.host("cudaLaunchKernel", "cuda_runtime", 1400, 50, 2);
  script_.device("b", 1500, 100, 2);
  const TimelinePtr timeline = load();
  const GapPtr gaps = find_gaps(*timeline);
  ASSERT_EQ(gaps->by_start.size(), 1u);
  EXPECT_EQ(gaps->by_start[0]->reason, GapReason::Host);
  const auto host = host_meanwhile(*timeline, gaps->by_start[0]->start, gaps->by_start[0]->end());
  ASSERT_EQ(host.size(), 3u);
  EXPECT_EQ(timeline->name(timeline->at(host[0].place)), "load_batch");
  EXPECT_EQ(host[0].time, 800);
  EXPECT_EQ(timeline->name(timeline->at(host[1].place)), "ProfilerStep#1");
  EXPECT_EQ(host[1].time, 1100 - 800 - 50);
  // The thread recorded nothing around the loading: annotations do not count.
  EXPECT_EQ(gaps->host_idle, (std::vector<Span>{{350, 450}, {1250, 1350}, {1400, 1450}}));
}

TEST_F(Gaps, CopiesAreNamed) {
  script_.host("cudaLaunchKernel", "cuda_runtime", 100, 50, 1);
  script_.device("a", 300, 100, 1);
  script_.host("cudaMemcpyAsync", "cuda_runtime", 900, 500, 2);
  script_.device("Memcpy HtoD", 1500, 100, 2, 0, "gpu_memcpy");
  EXPECT_EQ(only_reason(*load()), GapReason::Copy);
}

TEST_F(Gaps, AbsurdTimesAreNoUndefinedSums) {
  for (const std::int64_t start : {INT64_MIN, INT64_MIN + 5, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    script_.device("a", start, INT64_MAX);
    script_.device("b", start, 1, 0, 1);
    script_.host("c", "cpu_op", start, INT64_MAX);
  }
  const TimelinePtr timeline = load();
  EXPECT_EQ(timeline->slices, 15u);
  EXPECT_GT(timeline->duration, 0);
  EXPECT_GE(find_gaps(*timeline)->idle(), 0);
  EXPECT_EQ(sum_range(*timeline, 0, timeline->duration).size(), 3u);
  TimelineView view;
  view.resize(800, 400);
  view.set_timeline(timeline, find_gaps(*timeline));
  for (int i = 0; i < 40; ++i) view.zoom(i < 20 ? 3 : 0.2, 400);
  EXPECT_FALSE(view.grab().isNull());
}

TEST_F(Gaps, AnEmptyTimelineHasNone) {
  const GapPtr gaps = find_gaps(Timeline());
  EXPECT_TRUE(gaps->by_start.empty());
  EXPECT_EQ(gaps->summary(), "");
  EXPECT_EQ(gaps->at(0, 0), nullptr);
}

TEST_F(Gaps, LaunchesAndBackwardOperatorsAreJoined) {
  const Id forward = script_.host("aten::mm", "cpu_op", 100, 100);
  const Id call = script_.host("cudaLaunchKernel", "cuda_runtime", 120, 20, 5);
  const Id kernel = script_.device("k", 300, 50, 5);
  const Id backward = script_.host("MmBackward0", "cpu_op", 900, 100);
  script_.flow(forward, backward);
  script_.flow(forward, 9999);
  const TimelinePtr timeline = load();
  ASSERT_EQ(timeline->flows.size(), 2u);
  EXPECT_TRUE(timeline->flows[0].backward);
  EXPECT_EQ(timeline->at(timeline->flows[1].from).event, call);
  EXPECT_EQ(timeline->at(timeline->flows[1].to).event, kernel);
  EXPECT_EQ(timeline->flows_of(*timeline->find(backward)).size(), 1u);
  EXPECT_EQ(timeline->flows_of(*timeline->find(kernel)).size(), 1u);
  EXPECT_EQ(timeline->find(9999), nullptr);
}

/// Times of their own over a span are the span, however slices lie in each other and over its ends.
TEST_F(Gaps, SumsOfASpanAddUp) {
  script_.host("outer", "cpu_op", 1000, 1000);
  script_.host("inner", "cpu_op", 1100, 300);
  script_.host("inner", "cpu_op", 1500, 400);
  script_.host("leaf", "cuda_runtime", 1550, 100);
  const TimelinePtr timeline = load();
  const auto sums = sum_range(*timeline, 200, 600);
  ASSERT_EQ(sums.size(), 3u);
  std::int64_t own = 0;
  for (const RangeSum& s : sums) own += s.self;
  EXPECT_EQ(own, 400);
  EXPECT_EQ(timeline->names[sums[0].name], "inner");
  EXPECT_EQ(sums[0].count, 2u);
  EXPECT_EQ(sums[0].total, 200 + 100);
  EXPECT_EQ(sums[0].self, 250);
  EXPECT_EQ(sums[0].longest, 200);
  EXPECT_TRUE(sum_range(*timeline, 5000, 6000).empty());
}

TEST_F(Gaps, IterationsAreMarked) {
  script_.host("ProfilerStep#4", "user_annotation", 2000, 500);
  script_.host("ProfilerStep#3", "user_annotation", 1000, 500);
  const TimelinePtr timeline = load();
  ASSERT_EQ(timeline->markers.size(), 2u);
  EXPECT_EQ(timeline->markers[0].name, "ProfilerStep#3");
  EXPECT_EQ(timeline->markers[1].time, 1000);
}

TEST(Passes, OfOwnCompilesAreATimeline) {
  TemporaryFolder folder;
  {
    Writer writer(folder / "c.strata");
    CompileRecord compile;
    compile.address = "0/0";
    const Id id = writer.add(compile);
    PassRecord pass;
    pass.compile = id;
    for (const std::int64_t length : {300, -1, 50}) {
      pass.name = "pass_" + std::to_string(length);
      pass.duration_ns = length;
      pass.changed = length == 300;
      writer.add(pass);
      ++pass.ordinal;
    }
    writer.close();
  }
  Reader reader(folder / "c.strata");
  const auto runs = timeline_runs(reader);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].title, "passes of 0/0");
  const TimelinePtr timeline = load_run(reader, runs[0]);
  ASSERT_EQ(timeline->slices, 2u);
  EXPECT_EQ(timeline->duration, 350);
  const Lane& lane = timeline->tracks[0].lanes[0];
  EXPECT_EQ(timeline->name(lane[1]), "pass_50");
  EXPECT_EQ(timeline->category(lane[1]), "pass without effect");
  EXPECT_EQ(lane[1].start, 300);
  EXPECT_EQ(lane[1].event, -3);
}

// -------------------------------------------------------------------------------------------------------- the page

class TimelinePage : public testing::Test {
 protected:
  /// Two profiles: in the first, kernels a, b and c with gaps of 300 and 900 between them.
  void SetUp() override {
    Script script(folder_ / "p.strata");
    script.host("ProfilerStep#1", "user_annotation", 0, 4000);
    for (int i = 0; i < 3; ++i)
      launches_.push_back(script.host("cudaLaunchKernel", "cuda_runtime", 100 + 1000 * i, 50, i + 1));
    kernels_ = {script.device("a", 300, 700, 1), script.device("b", 1300, 100, 2), script.device("c", 2300, 700, 3)};
    script.run();
    other_ = script.host("aten::later", "cpu_op", 90000, 500);
    script.close();
    window_.resize(1400, 900);
    window_.show();
    window_.arrange();
    ASSERT_TRUE(window_.show_view("timeline"));
    window_.open_file(QString::fromStdString((folder_ / "p.strata").string()));
    ASSERT_TRUE(settle(context_));
    ASSERT_TRUE(view().timeline());
  }
  TimelinePanel& page() { return window_.timeline(); }
  TimelineView& view() { return page().view(); }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(&view(), key, modifiers); }
  TemporaryFolder folder_;
  std::vector<Id> kernels_, launches_;
  Id other_ = 0;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(TimelinePage, GapsAreGoneThroughFromTheLargest) {
  EXPECT_TRUE(page().summary().contains("device idle")) << page().summary().toStdString();
  QAbstractItemModelTester tester(page().gap_table().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  key(Qt::Key_G);
  ASSERT_TRUE(view().selected_gap());
  EXPECT_EQ(view().selected_gap()->duration, 900);
  EXPECT_TRUE(QRectF(view().rect()).contains(view().gap_rect(*view().selected_gap()).center()));
  EXPECT_TRUE(page().details().contains("idle for 900 ns")) << page().details().toStdString();
  key(Qt::Key_G);
  EXPECT_EQ(view().selected_gap()->duration, 300);
  EXPECT_EQ(page().gap_table().currentIndex().row(), 1);
  key(Qt::Key_G, Qt::ShiftModifier);
  EXPECT_EQ(view().selected_gap()->duration, 900);
  key(Qt::Key_T);
  EXPECT_TRUE(page().gap_table().isVisible());
  page().gap_table().setCurrentIndex(page().gap_table().model()->index(1, 0));
  EXPECT_EQ(view().selected_gap()->duration, 300);
  // A click on the hatched box.
  view().fit();
  const QRectF box = view().gap_rect(*view().gaps()->longest[0]);
  QTest::mouseClick(&view(), Qt::LeftButton, {}, box.center().toPoint());
  EXPECT_EQ(view().selected_gap(), view().gaps()->longest[0]);
  EXPECT_FALSE(view().grab().isNull());
}

TEST_F(TimelinePage, ArrowKeysMoveAndEnterSelects) {
  view().show_slice(kernels_[0]);
  key(Qt::Key_Right);
  EXPECT_EQ(view().selected(), kernels_[1]);
  EXPECT_EQ(context_.selection().event, kNone);
  key(Qt::Key_Return);
  EXPECT_EQ(context_.selection().event, kernels_[1]);
  key(Qt::Key_Down);  // the iteration, and the launches in it
  key(Qt::Key_Down);
  EXPECT_NE(std::find(launches_.begin(), launches_.end(), view().selected()), launches_.end());
  key(Qt::Key_Escape);
  EXPECT_EQ(view().selected(), kNone);
  EXPECT_TRUE(context_.selection().empty());
  EXPECT_TRUE(settle(context_));
}

TEST_F(TimelinePage, AnEventOfAnotherRunIsShownThere) {
  context_.select_event(other_, kNone, kNone);
  ASSERT_TRUE(settle(context_));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(page().runs().currentIndex(), 1);
  EXPECT_EQ(view().selected(), other_);
  context_.select_event(kernels_[2], kNone, kNone);
  ASSERT_TRUE(settle(context_));
  ASSERT_TRUE(settle(context_));
  EXPECT_EQ(page().runs().currentIndex(), 0);
  EXPECT_EQ(view().selected(), kernels_[2]);
}

TEST_F(TimelinePage, ADragInTheRulerMeasures) {
  QTest::mousePress(&view(), Qt::LeftButton, {}, QPoint(200, 8));
  QTest::mouseMove(&view(), QPoint(300, 8));
  QTest::mouseMove(&view(), QPoint(400, 8));
  QTest::mouseRelease(&view(), Qt::LeftButton, {}, QPoint(400, 8));
  ASSERT_TRUE(view().range());
  EXPECT_NEAR(static_cast<double>(view().range()->second - view().range()->first), 200 * view().scale(), 3);
  EXPECT_TRUE(page().range_table().isVisible());
  QAbstractItemModelTester tester(page().range_table().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_GT(page().range_table().model()->rowCount(), 0);
  const double before = view().scale();
  key(Qt::Key_Z);
  EXPECT_LT(view().scale(), before);
  key(Qt::Key_Backspace);
  EXPECT_DOUBLE_EQ(view().scale(), before);
  key(Qt::Key_Escape);
  EXPECT_FALSE(view().range());
}

TEST_F(TimelinePage, RowsAreCollapsedHiddenAndMoved) {
  QSignalSpy changed(&view(), &TimelineView::tracks_changed);
  EXPECT_TRUE(view().slice_rect(launches_[0]).isValid());
  view().show_slice(launches_[0]);
  key(Qt::Key_C);
  EXPECT_FALSE(view().slice_rect(launches_[0]).isValid());
  view().show_slice(launches_[0]);  // what is to be seen is expanded
  EXPECT_TRUE(view().slice_rect(launches_[0]).isValid());
  EXPECT_LT(view().slice_rect(kernels_[0]).top(), view().slice_rect(launches_[0]).top());  // devices come first
  key(Qt::Key_Up, Qt::ControlModifier);
  EXPECT_EQ(view().order().front(), 0);
  EXPECT_GT(view().slice_rect(kernels_[0]).top(), view().slice_rect(launches_[0]).top());
  key(Qt::Key_X);
  EXPECT_FALSE(view().slice_rect(launches_[0]).isValid());
  key(Qt::Key_X, Qt::ShiftModifier);
  EXPECT_TRUE(view().slice_rect(launches_[0]).isValid());
  EXPECT_GE(changed.count(), 5);
  EXPECT_FALSE(view().grab().isNull());
}

TEST_F(TimelinePage, SearchCounts) {
  page().search_box().setText("LAUNCH");
  EXPECT_EQ(page().found(), "3 events");
  QTest::keyClick(&page().search_box(), Qt::Key_Return);
  EXPECT_EQ(page().found(), "1 of 3");
  QTest::keyClick(&page().search_box(), Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(page().found(), "3 of 3");
  EXPECT_EQ(view().selected(), launches_[2]);
  page().search_box().setText("nothing like it");
  EXPECT_EQ(page().found(), "none");
  for (int by = 0; by < page().colour_box().count(); ++by) {
    page().colour_box().setCurrentIndex(by);
    EXPECT_FALSE(view().grab().isNull());
  }
  page().flows_button().setChecked(true);
  EXPECT_FALSE(view().grab().isNull());
}

/// Our own runs: a kernel that is selected in another page is framed in every run, a launch by itself.
TEST(TimelineSelection, WhatIsSelectedElsewhereIsLit) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "own.strata", {2, false});
  Context context;
  MainWindow window(context, false);
  window.resize(1280, 800);
  window.show();
  window.arrange();
  ASSERT_TRUE(window.show_view("timeline"));
  window.open_file(QString::fromStdString((folder / "own.strata").string()));
  ASSERT_TRUE(settle(context));
  TimelineView& view = window.timeline().view();
  ASSERT_TRUE(view.timeline());
  ASSERT_FALSE(view.timeline()->kernels.empty());
  const auto& [kernel, info] = *view.timeline()->kernels.begin();
  context.select_kernel(kernel);
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(view.lit().size(), view.timeline()->slices_of(kernel).size());
  ASSERT_FALSE(view.lit().empty());
  for (const SlicePlace& place : view.lit()) {
    EXPECT_EQ(view.timeline()->at(place).kernel, kernel);
    EXPECT_EQ(view.timeline()->name(view.timeline()->at(place)), info.name);
  }
  // A click there selects the event, and with it the kernel, for all pages.
  const SlicePlace place = view.lit().back();
  const Slice& slice = view.timeline()->at(place);
  view.show_slice(slice.event);
  QTest::mouseClick(&view, Qt::LeftButton, {}, view.slice_rect(slice.event).center().toPoint());
  ASSERT_TRUE(settle(context));
  EXPECT_EQ(context.selection().event, slice.event);
  EXPECT_EQ(context.selection().kernel, kernel);
  context.select({});
  ASSERT_TRUE(settle(context));
  EXPECT_TRUE(view.lit().empty());
}

}  // namespace
}  // namespace strata::studio
