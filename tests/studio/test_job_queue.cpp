// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/job_queue.h"

#include <QSignalSpy>
#include <QTest>
#include <atomic>
#include <thread>

#include "app/studio/views/main_window.h"
#include "app/studio/views/progress_strip.h"
#include "core/support/error.h"
#include "core/trace/interrupt.h"
#include "core/trace/reader.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

/// Work that lasts until it is let go or stopped.
struct Gate {
  std::atomic<bool> open{false}, begun{false}, stopped{false};
  JobQueue::Work work(std::function<void()> apply = [] {}) {
    return [this, apply]() -> JobQueue::Apply {
      begun = true;
      while (!open && !JobQueue::superseded()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      stopped = JobQueue::superseded();
      return apply;
    };
  }
};

bool until(const std::function<bool()>& done) { return QTest::qWaitFor(done, 10000); }

TEST(JobQueue, ASelectionDoesNotWaitForASlowJob) {
  JobQueue queue;
  Gate slow, drawing;
  queue.post("timeline", slow.work());
  queue.post("step", drawing.work());
  ASSERT_TRUE(until([&] { return slow.begun && drawing.begun; }));
  bool shown = false;
  queue.post("details", [&]() -> JobQueue::Apply { return [&] { shown = true; }; });
  EXPECT_TRUE(until([&] { return shown; }));
  EXPECT_FALSE(queue.idle());
  slow.open = drawing.open = true;
  EXPECT_TRUE(until([&] { return queue.idle(); }));
}

TEST(JobQueue, ANewerJobStopsTheOlderOfItsKey) {
  JobQueue queue;
  Gate first;
  int older = 0, newer = 0;
  queue.post("profile", first.work([&] { ++older; }));
  ASSERT_TRUE(until([&] { return first.begun.load(); }));
  queue.post("profile", [&]() -> JobQueue::Apply { return [&] { ++newer; }; });
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  EXPECT_TRUE(first.stopped);
  EXPECT_EQ(older, 0);
  EXPECT_EQ(newer, 1);
}

TEST(JobQueue, OnlyWhatTakesLongIsShown) {
  JobQueue queue;
  QSignalSpy shown(&queue, &JobQueue::progressChanged);
  for (int i = 0; i < 20; ++i) queue.post("details", []() -> JobQueue::Apply { return [] {}; });
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  QTest::qWait(250);
  EXPECT_EQ(shown.count(), 0);
  Gate slow;
  queue.post("timeline", [&]() -> JobQueue::Apply {
    JobQueue::report(0.25);
    return slow.work()();
  });
  ASSERT_TRUE(until([&] { return shown.count() > 0; }));
  ASSERT_EQ(queue.progress().size(), 1u);
  EXPECT_EQ(queue.progress()[0].title, "reading events");
  EXPECT_DOUBLE_EQ(queue.progress()[0].done, 0.25);
  slow.open = true;
  ASSERT_TRUE(until([&] { return queue.idle() && queue.progress().empty(); }));
}

TEST(JobQueue, WhatWasCancelledCanBeTakenUpAgain) {
  JobQueue queue;
  Gate slow;
  int timelines = 0, queries = 0;
  queue.post("timeline", slow.work([&] { ++timelines; }));
  queue.post("query", [&]() -> JobQueue::Apply { return [&] { ++queries; }; });
  ASSERT_TRUE(until([&] { return slow.begun.load(); }));
  queue.cancel();
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  EXPECT_TRUE(slow.stopped);
  EXPECT_EQ(timelines + queries, 0);
  EXPECT_EQ(queue.cancelled(), QStringList({"timeline", "query"}));
  slow.open = true;
  queue.resume("query");
  EXPECT_EQ(queue.cancelled(), QStringList({"timeline"}));
  queue.resume_all();
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  EXPECT_EQ(timelines, 1);
  EXPECT_EQ(queries, 1);
  EXPECT_TRUE(queue.cancelled().isEmpty());
}

TEST(JobQueue, ANewerJobReplacesACancelledOne) {
  JobQueue queue;
  Gate slow;
  queue.post("query", slow.work());
  queue.cancel();
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  ASSERT_EQ(queue.cancelled().size(), 1);
  queue.post("query", []() -> JobQueue::Apply { return [] {}; });
  EXPECT_TRUE(queue.cancelled().isEmpty());
  ASSERT_TRUE(until([&] { return queue.idle(); }));
}

TEST(JobQueue, FailuresAreSaidUnlessNobodyWaits) {
  JobQueue queue;
  QSignalSpy failed(&queue, &JobQueue::failed);
  queue.post("a", []() -> JobQueue::Apply { throw_user("no such thing"); });
  queue.post("b", []() -> JobQueue::Apply { throw std::bad_alloc(); });
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  ASSERT_EQ(failed.count(), 2);
  EXPECT_EQ(failed[0][1].toString(), "no such thing");
  EXPECT_EQ(failed[0][2].toInt(), 2);
  EXPECT_EQ(failed[1][2].toInt(), 3);
  Gate slow;
  queue.post("a", [&]() -> JobQueue::Apply {
    slow.work()();
    throw_user("too late");
  });
  ASSERT_TRUE(until([&] { return slow.begun.load(); }));
  queue.supersede("a");
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  EXPECT_EQ(failed.count(), 2);
}

TEST(JobQueue, EndsAtOnceWithWorkThatCannotBeStopped) {
  static std::atomic<bool> over{false}, ended{false};
  const int before = JobQueue::abandoned();
  static std::atomic<bool> begun{false};
  {
    JobQueue queue;
    queue.post("export", [&]() -> JobQueue::Apply {
      begun = true;
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return [] { ended = true; };
    });
    ASSERT_TRUE(until([&] { return begun.load(); }));
  }
  EXPECT_EQ(JobQueue::abandoned(), before + 1);
  over = true;
  QTest::qWait(20);
  EXPECT_FALSE(ended);  // nobody applies it
}

TEST(JobQueue, AReadOfATraceIsStopped) {
  test::TemporaryFolder folder;
  test::write_large_trace(folder / "large.strata", 20000);
  JobQueue queue;
  std::atomic<int> reads{0};
  std::atomic<bool> interrupted{false};
  queue.post("profile", [&]() -> JobQueue::Apply {
    trace::Reader reader(folder / "large.strata");
    const trace::Id snapshot = reader.snapshots(reader.compiles().at(0).id).at(0).id;
    try {
      for (;;) reader.nodes(snapshot), ++reads;
    } catch (const trace::Interrupted&) {
      interrupted = true;
      throw;
    }
  });
  ASSERT_TRUE(until([&] { return reads > 0; }));
  queue.supersede("profile");
  ASSERT_TRUE(until([&] { return queue.idle(); }));
  EXPECT_TRUE(interrupted);
}

// --------------------------------------------------------------------------------------------------- in the status bar

struct Strip : testing::Test {
  Strip() { window.show(); }
  void work() {
    context.queue().post("timeline", gate.work([this] { done = true; }));
    EXPECT_TRUE(until([&] { return strip.isVisible(); }));
  }
  Context context;
  MainWindow window{context, false};
  ProgressStrip& strip = *window.findChild<ProgressStrip*>();
  Gate gate;
  bool done = false;
};

TEST_F(Strip, SaysWhatTakesLong) {
  EXPECT_FALSE(strip.isVisible());
  work();
  EXPECT_EQ(strip.label().text(), "reading events …");
  EXPECT_TRUE(strip.bar().isVisible());
  EXPECT_EQ(strip.bar().maximum(), 0);
  gate.open = true;
  EXPECT_TRUE(until([&] { return !strip.isVisible(); }));
  EXPECT_TRUE(done);
}

TEST_F(Strip, EscapeCancelsAndTheLinkLoads) {
  window.activateWindow();
  work();
  QTest::keyClick(&window, Qt::Key_Escape);
  EXPECT_TRUE(until([&] { return context.queue().idle(); }));
  EXPECT_TRUE(gate.stopped);
  EXPECT_FALSE(strip.bar().isVisible());
  EXPECT_TRUE(strip.label().text().contains("cancelled: reading events")) << strip.label().text().toStdString();
  gate.open = true;
  emit strip.label().linkActivated("load");
  EXPECT_TRUE(until([&] { return done && !strip.isVisible(); }));
}

TEST_F(Strip, TheButtonCancels) {
  work();
  QTest::mouseClick(&strip.cancel_button(), Qt::LeftButton);
  EXPECT_TRUE(until([&] { return context.queue().idle(); }));
  EXPECT_EQ(context.queue().cancelled(), QStringList({"timeline"}));
  EXPECT_FALSE(done);
}

TEST_F(Strip, AnotherTraceForgetsWhatWasCancelled) {
  work();
  context.queue().cancel();
  test::TemporaryFolder folder;
  test::write_sample_trace(folder / "a.strata", {1, false});
  context.open({QString::fromStdString((folder / "a.strata").string()), "", "", ""});
  ASSERT_TRUE(test::settle(context));
  EXPECT_FALSE(context.queue().cancelled().contains("timeline"));
  EXPECT_FALSE(done);
  EXPECT_TRUE(context.step_data());
}

}  // namespace
}  // namespace strata::studio
