// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Events of a trace without their text, and their sums.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "core/support/error.h"
#include "core/trace/reader.h"
#include "core/trace/writer.h"

namespace strata::trace {
namespace {

class Events : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "strata-events-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

EventRecord event(Id run, const char* category, const char* name, std::int64_t start, std::int64_t duration,
                  const char* phase = "") {
  EventRecord e;
  e.run = run;
  e.category = category;
  e.name = name;
  e.start_ns = start;
  e.duration_ns = duration;
  e.phase = phase;
  return e;
}

TEST_F(Events, KeysAndSumsOfCompleteEvents) {
  Writer writer(folder_ / "t.strata");
  const Id run = writer.add(RunRecord{}), other = writer.add(RunRecord{});
  EventRecord k = event(run, "kernel", "gemm", 10, 5, "X");
  k.stream = 7;
  k.correlation = 3;
  k.external = 9;
  k.sequence = 11;
  k.track = 2;
  const Id first = writer.add(k);
  writer.add(event(run, "cpu_op", "aten::mm", 1, 100));
  writer.add(event(run, "cpu_instant_event", "[memory]", 2, 0, "i"));
  writer.add(event(other, "kernel", "gemm", 10, 1000));
  k.duration_ns = 7;
  const Id third = writer.add(k);
  writer.commit();
  writer.assign(std::vector<EventMatch>{{third, 1, 2, 3, 4, Match::Inferred}});
  writer.close();

  Reader reader(folder_ / "t.strata");
  std::map<std::string, Id> categories;
  for (const auto& [id, text] : reader.event_categories(run)) categories[text] = id;
  EXPECT_EQ(categories.size(), 3u);
  std::vector<EventKey> keys;
  reader.each_event_key(run, {}, [&](const EventKey& key) { keys.push_back(key); });
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[0].id, first);
  EXPECT_EQ(reader.text(keys[0].name), "gemm");
  EXPECT_EQ(keys[0].category, categories["kernel"]);
  EXPECT_EQ(keys[0].correlation, 3);
  EXPECT_EQ(keys[0].external, 9);
  EXPECT_EQ(keys[0].sequence, 11);
  EXPECT_EQ(keys[0].stream, 7);
  EXPECT_EQ(keys[0].track, 2);
  EXPECT_EQ(keys[0].start_ns, 10);
  EXPECT_EQ(keys[0].duration_ns, 5);
  EXPECT_EQ(keys[1].stream, -1);
  EXPECT_EQ(keys[2].program, 2);
  EXPECT_EQ(keys[2].kernel, 3);
  keys.clear();
  reader.each_event_key(run, {categories["cpu_op"]}, [&](const EventKey& key) { keys.push_back(key); });
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_EQ(reader.event_count(run, {categories["cpu_op"]}), 1);
  EXPECT_EQ(reader.event_count(run, {}), 3);

  const auto sums = reader.event_sums(run);
  ASSERT_EQ(sums.size(), 3u);  // both gemms apart: one is matched
  std::int64_t total = 0;
  for (const EventSum& s : sums) {
    total += s.total_ns;
    if (s.kernel == 3) {
      EXPECT_EQ(s.launch, 4);
      EXPECT_EQ(s.match, Match::Inferred);
      EXPECT_TRUE(s.device);
      EXPECT_EQ(s.total_ns, 7);
    }
  }
  EXPECT_EQ(total, 112);
  EXPECT_EQ(reader.event_sums(other).at(0).total_ns, 1000);
  EXPECT_THROW(reader.text(123456), Error);
}

}  // namespace
}  // namespace strata::trace
