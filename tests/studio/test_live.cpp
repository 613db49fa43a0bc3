// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Traces that grow, and files that vanish or change while they are open.
#include <QTest>
#include <atomic>
#include <fstream>
#include <thread>

#include "app/studio/views/main_window.h"
#include "core/trace/writer.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::settle;
using test::TemporaryFolder;
namespace fs = std::filesystem;
using trace::Id;

bool until(const std::function<bool()>& done) { return QTest::qWaitFor(done, 20000); }

/// A program that compiles one function after the other.
class Producer {
 public:
  explicit Producer(const fs::path& path) : writer_(path) {}

  Id compile(const std::string& address) {
    trace::CompileRecord record;
    record.address = address;
    record.name = "step";
    return writer_.add(record);
  }
  void stage(Id compile, const std::string& name, int nodes) {
    std::vector<trace::NodeRecord> records;
    for (int i = 1; i <= nodes; ++i) {
      trace::NodeRecord n;
      n.id = i;
      n.name = "n" + std::to_string(i);
      n.op = i == 1 ? "placeholder" : "call";
      n.target = i == 1 ? "" : "aten.relu.default";
      if (i > 1) n.inputs = {{i - 1}};
      records.push_back(std::move(n));
    }
    trace::SnapshotRecord snapshot;
    snapshot.compile = compile;
    snapshot.stage = name;
    writer_.add(snapshot, records);
    writer_.commit();
  }
  void events(int count) {
    trace::RunRecord run;
    run.label = "strata";
    run.clock = "steady";
    run.start_ns = 0;
    run.id = writer_.add(run);
    for (int i = 0; i < count; ++i) {
      trace::EventRecord e;
      e.run = run.id;
      e.name = "kernel";
      e.category = "kernel";
      e.clock = run.clock;
      e.start_ns = i * 10;
      e.duration_ns = 5;
      writer_.add(e);
    }
    writer_.commit();
  }
  void commit() { writer_.commit(); }
  void close() { writer_.close(); }

 private:
  trace::Writer writer_;
};

class Live : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1000, 700);
    window_.show();
  }
  void open(const fs::path& path) {
    window_.open_file(QString::fromStdString(path.string()));
    ASSERT_TRUE(settle(context_));
  }
  size_t stages() { return context_.compile() ? context_.compile()->snapshots.size() : 0; }
  std::string said() { return window_.message_text().toStdString(); }
  TemporaryFolder folder_;
  Context context_;
  MainWindow window_{context_, false};
};

TEST_F(Live, WhatIsWrittenAppears) {
  Producer producer(folder_ / "live.strata");
  producer.commit();
  open(folder_ / "live.strata");
  EXPECT_TRUE(context_.following());
  EXPECT_EQ(context_.exit_code(), 0) << said();
  const Id first = producer.compile("0/0");
  producer.stage(first, "captured", 5);
  ASSERT_TRUE(until([&] { return context_.step_data() != nullptr; }));
  EXPECT_EQ(context_.step_data()->nodes.size(), 5u);
  producer.stage(first, "functional", 7);
  ASSERT_TRUE(until([&] { return stages() == 2; }));
  EXPECT_EQ(context_.step_data()->snapshot.stage, "captured");  // what is looked at stays
  producer.stage(producer.compile("0/1"), "captured", 3);
  ASSERT_TRUE(until([&] { return context_.compiles().size() == 2; }));
  producer.events(20);
  producer.close();
  ASSERT_TRUE(until([&] { return !context_.following(); }));
  EXPECT_EQ(context_.exit_code(), 0) << said();
}

TEST_F(Live, ASelectionStaysWhileTheTraceGrows) {
  Producer producer(folder_ / "live.strata");
  const Id first = producer.compile("0/0");
  producer.stage(first, "captured", 9);
  open(folder_ / "live.strata");
  context_.select_node(4);
  ASSERT_TRUE(settle(context_));
  producer.stage(first, "functional", 9);
  ASSERT_TRUE(until([&] { return stages() == 2; }));
  EXPECT_EQ(context_.selection().node, 4);
  producer.close();
}

TEST_F(Live, UsedWhileAnotherThreadWritesWithoutPause) {
  const fs::path path = folder_ / "live.strata";
  std::atomic<bool> begun{false}, enough{false};
  std::thread writer([&] {
    Producer producer(path);
    for (int i = 0; i < 400 && !enough; ++i) {
      const Id id = producer.compile("0/" + std::to_string(i));
      producer.stage(id, "captured", 20 + i);
      producer.stage(id, "functional", 10 + i);
      producer.events(50);
      begun = true;
    }
    producer.close();
  });
  ASSERT_TRUE(until([&] { return begun.load(); }));
  open(path);
  for (int i = 0; i < 60; ++i) {
    context_.step(i % 2 ? 1 : -1);
    if (!context_.compiles().empty()) context_.select_compile(context_.compiles()[context_.compiles().size() / 2].id);
    if (const StepPtr step = context_.step_data()) context_.select_node(step->nodes.front().id);
    QTest::qWait(10);
  }
  enough = true;
  writer.join();
  ASSERT_TRUE(until([&] { return !context_.following(); }));
  EXPECT_EQ(context_.exit_code(), 0) << said();
  EXPECT_FALSE(context_.compiles().empty());
}

/// Whether the window works with what it has.
void expect_usable(Context& context, MainWindow& window) {
  for (int i = 0; i < 4; ++i) {
    context.step(1);
    ASSERT_TRUE(settle(context));
    if (const StepPtr step = context.step_data(); step && !step->nodes.empty())
      context.select_node(step->nodes.back().id);
    ASSERT_TRUE(settle(context));
  }
  for (const auto& view : MainWindow::views()) window.show_view(QString::fromStdString(view));
  ASSERT_TRUE(settle(context));
  EXPECT_NE(context.exit_code(), 70) << context.first_error().toStdString();
}

struct Mishap {
  const char* name;
  void (*happen)(const fs::path& path, const fs::path& other);
};

class Vanishing : public Live, public testing::WithParamInterface<Mishap> {};

TEST_P(Vanishing, ALoadedTrace) {
  test::write_sample_trace(folder_ / "a.strata", {2, true});
  test::write_sample_trace(folder_ / "other.strata", {4, false});
  open(folder_ / "a.strata");
  GetParam().happen(folder_ / "a.strata", folder_ / "other.strata");
  expect_usable(context_, window_);
  test::write_sample_trace(folder_ / "next.strata", {1, false});
  open(folder_ / "next.strata");
  ASSERT_TRUE(context_.step_data());
  EXPECT_EQ(context_.exit_code(), 0) << said();
}

TEST_P(Vanishing, ATraceThatIsBeingWritten) {
  test::write_sample_trace(folder_ / "other.strata", {4, false});
  Producer producer(folder_ / "a.strata");
  const Id first = producer.compile("0/0");
  producer.stage(first, "captured", 8);
  producer.stage(first, "functional", 9);
  open(folder_ / "a.strata");
  ASSERT_TRUE(context_.step_data());
  GetParam().happen(folder_ / "a.strata", folder_ / "other.strata");
  QTest::qWait(700);  // it is looked at again meanwhile
  ASSERT_TRUE(settle(context_));
  expect_usable(context_, window_);
}

INSTANTIATE_TEST_SUITE_P(
    Files, Vanishing,
    testing::Values(Mishap{"Removed", [](const auto& path, const auto&) { fs::remove(path); }},
                    Mishap{"Renamed", [](const auto& path, const auto&) { fs::rename(path, path.string() + ".old"); }},
                    Mishap{"Replaced", [](const auto& path, const auto& other) { fs::rename(other, path); }},
                    Mishap{"Overwritten",
                           [](const auto& path, const auto& other) {
                             fs::copy_file(other, path, fs::copy_options::overwrite_existing);
                           }},
                    Mishap{"Cut", [](const auto& path, const auto&) { fs::resize_file(path, 9000); }},
                    Mishap{"Emptied", [](const auto& path, const auto&) { fs::resize_file(path, 0); }},
                    Mishap{"Garbage", [](const auto& path, const auto&) { std::ofstream(path) << "garbage"; }},
                    Mishap{"FolderRemoved",
                           [](const auto& path, const auto&) {
                             fs::remove_all(path.parent_path());
                             fs::create_directories(path.parent_path());
                           }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace strata::studio
