// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Whatever is in the file, the window stays: odd, broken, newer traces, things that are no trace.
#include <sys/stat.h>

#include <QSignalSpy>
#include <QTest>
#include <fstream>
#include <random>

#include "app/studio/views/main_window.h"
#include "tests/studio/monkey.h"
#include "tests/studio/odd_traces.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using test::Monkey;
using test::settle;
using test::TemporaryFolder;
namespace fs = std::filesystem;

struct Opened {
  Opened() {
    window.resize(1000, 700);
    window.show();
    window.arrange();
  }
  bool open(const fs::path& path) {
    window.open_file(QString::fromStdString(path.string()));
    return settle(context);
  }
  std::string said() const { return window.message_text().toStdString(); }
  Context context;
  MainWindow window{context, false};
};

// ---------------------------------------------------------------------------------------------------------- odd traces

class Odd : public testing::TestWithParam<size_t> {};

TEST_P(Odd, EveryPageComesUpAndIsUsed) {
  const test::OddTrace& odd = test::odd_traces().at(GetParam());
  TemporaryFolder folder;
  odd.write(folder / "odd.strata");
  Opened opened;
  ASSERT_TRUE(opened.open(folder / "odd.strata"));
  ASSERT_TRUE(opened.context.reader()) << opened.said();
  Monkey monkey(opened.context, opened.window, 1 + static_cast<unsigned>(GetParam()));
  monkey.visit_all();
  const bool slow = odd.name == std::string("megabyte_name");
  EXPECT_TRUE(monkey.play(Monkey::actions(slow ? 15 : 100)));
  // And it still does its work.
  test::write_sample_trace(folder / "cnn.strata", {1, false});
  ASSERT_TRUE(opened.open(folder / "cnn.strata"));
  ASSERT_TRUE(opened.context.step_data());
  EXPECT_EQ(opened.context.step_data()->snapshot.stage, "captured");
}

INSTANTIATE_TEST_SUITE_P(Traces, Odd, testing::Range<size_t>(0, test::odd_traces().size()),
                         [](const auto& info) { return test::odd_traces().at(info.param).name; });

TEST(OddSay, AnEmptyTraceIsSaidToBeEmpty) {
  TemporaryFolder folder;
  test::odd_traces()[0].write(folder / "empty.strata");
  Opened opened;
  ASSERT_TRUE(opened.open(folder / "empty.strata"));
  EXPECT_EQ(opened.said(), "the trace holds no compiled graph");
}

TEST(OddSay, NamesAreNeverMarkup) {
  TemporaryFolder folder;
  test::odd_traces()[2].write(folder / "names.strata");
  Opened opened;
  ASSERT_TRUE(opened.open(folder / "names.strata"));
  opened.window.show_view("overview");
  ASSERT_TRUE(opened.context.trace_data());
  const QString text = opened.window.overview().text().toPlainText();
  EXPECT_TRUE(text.contains("<b>bold</b>")) << text.left(500).toStdString();
}

// -------------------------------------------------------------------------------------------------------- broken files

/// Either something is shown or something is said; then every page is painted.
void expect_survives(Opened& opened, const fs::path& path, const std::string& what) {
  ASSERT_TRUE(opened.open(path)) << what;
  const bool shown = opened.context.path().toStdString() == path && opened.context.reader();
  EXPECT_TRUE(shown || opened.context.exit_code() != 0) << what;
  EXPECT_NE(opened.context.exit_code(), 70) << what << ": " << opened.context.first_error().toStdString();
  for (int i = 0; i < 3; ++i) {
    opened.context.step(1);
    ASSERT_TRUE(settle(opened.context)) << what;
    if (const auto step = opened.context.step_data(); step && !step->nodes.empty())
      opened.context.select_node(step->nodes[step->nodes.size() / 2].id);
    ASSERT_TRUE(settle(opened.context)) << what;
  }
  EXPECT_NE(opened.context.exit_code(), 70) << what << ": " << opened.context.first_error().toStdString();
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const fs::path& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

TEST(Broken, CutAnywhere) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {2, true});
  const std::string whole = content_of(folder / "cnn.strata");
  Opened opened;
  std::mt19937 random(3);
  for (int i = 0; i < 25; ++i) {
    const size_t size = i < 5 ? static_cast<size_t>(i) * 40 : random() % whole.size();
    const fs::path path = folder / ("cut" + std::to_string(i) + ".strata");
    write_file(path, whole.substr(0, size));
    ASSERT_TRUE(opened.open(path));
    EXPECT_EQ(opened.context.exit_code(), 2) << size;
    EXPECT_NE(opened.said().find(path.filename().string()), std::string::npos) << opened.said();
  }
}

TEST(Broken, BytesThatWereChanged) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {2, true});
  const std::string whole = content_of(folder / "cnn.strata");
  Opened opened;
  opened.window.show_view("timeline");
  std::mt19937 random(4);
  for (int i = 0; i < Monkey::actions(25); ++i) {
    std::string changed = whole;
    const size_t many = 1 + random() % 60;
    for (size_t k = 0; k < many; ++k) changed[100 + random() % (changed.size() - 100)] = static_cast<char>(random());
    const fs::path path = folder / ("changed" + std::to_string(i % 2) + ".strata");
    write_file(path, changed);
    expect_survives(opened, path, "change " + std::to_string(i));
  }
}

TEST(Broken, APageOfZeros) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {2, true});
  const std::string whole = content_of(folder / "cnn.strata");
  Opened opened;
  for (size_t page = 1; page < whole.size() / 4096; page += whole.size() / 4096 / 12 + 1) {
    std::string changed = whole;
    std::fill_n(changed.begin() + static_cast<long>(page * 4096), 4096, '\0');
    const fs::path path = folder / ("zeros" + std::to_string(page) + ".strata");
    write_file(path, changed);
    expect_survives(opened, path, "page " + std::to_string(page));
  }
}

TEST(Broken, ForeignAndNewerFiles) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {1, false});
  std::string content = content_of(folder / "cnn.strata");
  Opened opened;
  std::string newer = content;
  newer.replace(60, 4, std::string("\x00\x00\x27\x0F", 4));  // SQLite's user_version
  write_file(folder / "newer.strata", newer);
  ASSERT_TRUE(opened.open(folder / "newer.strata"));
  EXPECT_NE(opened.said().find("9999"), std::string::npos) << opened.said();
  std::string foreign = content;
  foreign.replace(68, 4, std::string("\x01\x02\x03\x04", 4));  // SQLite's application_id
  write_file(folder / "foreign.strata", foreign);
  ASSERT_TRUE(opened.open(folder / "foreign.strata"));
  EXPECT_EQ(opened.context.exit_code(), 2);
  EXPECT_NE(opened.said().find("foreign.strata"), std::string::npos) << opened.said();
}

TEST(Broken, WhatIsNoFile) {
  TemporaryFolder folder;
  fs::create_directory(folder / "folder.strata");
  ASSERT_EQ(::mkfifo((folder / "pipe.strata").c_str(), 0600), 0);
  fs::create_symlink(folder / "nowhere", folder / "link.strata");
  fs::create_symlink(folder / "circle.strata", folder / "circle.strata");
  Opened opened;
  for (const char* name : {"folder.strata", "pipe.strata", "link.strata", "circle.strata"}) {
    ASSERT_TRUE(opened.open(folder / name)) << name;
    EXPECT_EQ(opened.context.exit_code(), 2) << name;
    EXPECT_NE(opened.said().find(name), std::string::npos) << opened.said();
  }
  for (const char* device : {"/dev/null", "/dev/zero"}) {
    ASSERT_TRUE(opened.open(device)) << device;
    EXPECT_EQ(opened.context.exit_code(), 2) << device;
  }
}

TEST(Broken, AFileThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {1, false});
  fs::permissions(folder / "cnn.strata", fs::perms::none);
  Opened opened;
  ASSERT_TRUE(opened.open(folder / "cnn.strata"));
  EXPECT_EQ(opened.context.exit_code(), 2);
  EXPECT_NE(opened.said().find("cannot read"), std::string::npos) << opened.said();
}

TEST(Broken, AFolderThatCannotBeWritten) {
  TemporaryFolder folder;
  fs::create_directory(folder / "locked");
  test::write_sample_trace(folder / "locked/cnn.strata", {1, false});
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  Opened opened;
  EXPECT_TRUE(opened.open(folder / "locked/cnn.strata"));
  EXPECT_EQ(opened.context.exit_code(), 0) << opened.said();
  EXPECT_TRUE(opened.context.step_data());
  fs::permissions(folder / "locked", fs::perms::owner_all);
}

TEST(Broken, ATraceThatFailsLeavesTheOneBefore) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {1, false});
  write_file(folder / "text.strata", "this is no trace");
  Opened opened;
  ASSERT_TRUE(opened.open(folder / "cnn.strata"));
  ASSERT_TRUE(opened.open(folder / "text.strata"));
  EXPECT_NE(opened.said().find("text.strata"), std::string::npos);
  ASSERT_TRUE(opened.context.step_data());
  opened.context.step(1);
  ASSERT_TRUE(settle(opened.context));
  EXPECT_EQ(opened.context.step_data()->snapshot.stage, "functional");
}

// ------------------------------------------------------------------------------------------------------------ use

TEST(Used, TheSampleByAMonkey) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {3, true});
  Opened opened;
  ASSERT_TRUE(opened.open(folder / "cnn.strata"));
  Monkey monkey(opened.context, opened.window, 99);
  monkey.visit_all();
  EXPECT_TRUE(monkey.play(Monkey::actions(300)));
  EXPECT_NE(opened.context.exit_code(), 70) << opened.context.first_error().toStdString();
}

/// In kB.
long memory_in_use() {
  std::ifstream status("/proc/self/statm");
  long size = 0, resident = 0;
  status >> size >> resident;
  return resident * 4;
}

TEST(Used, ManyTracesOneAfterTheOther) {
  TemporaryFolder folder;
  test::write_sample_trace(folder / "a.strata", {6, true});
  test::write_large_trace(folder / "b.strata", 3000);
  Opened opened;
  const auto open_both = [&] {
    ASSERT_TRUE(opened.open(folder / "a.strata"));
    if (const auto step = opened.context.step_data()) opened.context.select_node(step->nodes.back().id);
    ASSERT_TRUE(settle(opened.context));
    ASSERT_TRUE(opened.open(folder / "b.strata"));
  };
  for (int i = 0; i < 5; ++i) open_both();
  const long before = memory_in_use();
  for (int i = 0; i < 12; ++i) open_both();
  // A trace left behind would cost at least a few megabytes each time.
  EXPECT_LT(memory_in_use() - before, 40'000) << "kB in 24 openings";
}

}  // namespace
}  // namespace strata::studio
