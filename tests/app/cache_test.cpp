// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The cache on disk and the modes, as the command shows them: a cached start does and records the same as a cold one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/support/json.h"
#include "core/trace/reader.h"
#include "tests/app/cases.h"

namespace strata::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Start {
  Json json;
  std::string trace;
};

/// One `strata run` in a cache folder, checked against PyTorch's outputs.
Start run_in(const std::string& cache, const std::string& trace, std::vector<std::string> more = {}) {
  const Case c = smallest_case("cnn_fmnist");
  std::vector<std::string> words{"run", model_file(c.model), "--json", "--threads", "2"};
  if (!trace.empty()) words.insert(words.end(), {"--trace", trace});
  for (const std::string& f : c.files("input_")) words.insert(words.end(), {"--input", f});
  for (const std::string& f : c.files("output_")) words.insert(words.end(), {"--expect", f});
  words.insert(words.end(), more.begin(), more.end());
  const Finished f = strata(words, {{"STRATA_CACHE_DIR", cache}, {"STRATA_CACHE", ""}});
  EXPECT_EQ(f.code, 0) << f.out << f.err;
  return {parse_json(f.out, "run"), trace};
}

int64_t code_of(const Start& s, const std::string& key) { return s.json.at("compile").at("code").at(key).integer(); }

/// Everything that is known of the kernels, by name: texts with the nodes behind their lines.
std::map<std::string, std::string> kernels_in(const std::string& path) {
  trace::Reader reader(path);
  std::map<std::string, std::string> out;
  for (const trace::KernelRecord& k : reader.kernels(reader.compiles().at(0).id)) {
    std::string& text = out[k.name];
    for (const trace::ArtifactRecord& listed :
         reader.artifacts({trace::OwnerKind::Kernel, k.id, reader.compiles().at(0).id})) {
      const trace::ArtifactRecord a = reader.artifact(listed.id).value();
      text += a.kind + "\n" + a.content;
      for (const trace::LineMapEntry& l : a.lines) {
        text += "\n" + std::to_string(l.first_line) + "-" + std::to_string(l.last_line);
        for (trace::NodeId n : l.nodes) text += " " + std::to_string(n);
      }
    }
  }
  return out;
}

double metric(const std::string& path, const std::string& key) {
  trace::Reader reader(path);
  for (const trace::MetricRecord& m : reader.metrics())
    if (m.key == key && m.owner.kind == trace::OwnerKind::Compile) return m.value;
  return -1;
}

TEST(Cache, CachedStartGeneratesNothingAndRecordsTheSame) {
  TemporaryFolder folder;
  const std::string cache = folder.file("cache");
  const Start cold = run_in(cache, folder.file("cold.strata")), cached = run_in(cache, folder.file("cached.strata"));
  EXPECT_GT(code_of(cold, "generated"), 0);
  EXPECT_EQ(code_of(cold, "from_cache"), 0);
  EXPECT_EQ(code_of(cached, "generated"), 0);
  EXPECT_EQ(code_of(cached, "from_cache"), code_of(cold, "generated"));
  const auto kernels = kernels_in(cold.trace);
  EXPECT_EQ(kernels, kernels_in(cached.trace));
  size_t with_code = 0;
  for (const auto& [name, text] : kernels) with_code += text.find("asm\n") != std::string::npos;
  EXPECT_GT(with_code, 0u);
  EXPECT_EQ(metric(cold.trace, "kernel_cache:misses"), static_cast<double>(code_of(cold, "generated")));
  EXPECT_EQ(metric(cached.trace, "kernel_cache:hits"), static_cast<double>(code_of(cached, "from_cache")));
  EXPECT_EQ(metric(cached.trace, "kernel_cache:misses"), 0);
  EXPECT_EQ(metric(cached.trace, "time:generate_code") >= 0, true);
  EXPECT_THAT(strata({"explain", cached.trace}).out, HasSubstr("kernel cache"));
  EXPECT_THAT(strata({"explain", cold.trace}).out, HasSubstr("generate code"));
}

TEST(Cache, IsShownAndCleared) {
  TemporaryFolder folder;
  const Child::Environment environment{{"STRATA_CACHE_DIR", folder.file("cache")}, {"STRATA_CACHE", ""}};
  run_in(folder.file("cache"), "");
  const Json before = parse_json(strata({"cache", "--json"}, environment).out, "cache");
  EXPECT_GT(before.at("entries").integer(), 0);
  EXPECT_GT(before.at("bytes").integer(), 0);
  EXPECT_THAT(strata({"cache", "show"}, environment).out, HasSubstr(folder.file("cache")));
  const Json cleared = parse_json(strata({"cache", "clear", "--json"}, environment).out, "cache");
  EXPECT_EQ(cleared.at("removed").integer(), before.at("entries").integer());
  EXPECT_EQ(parse_json(strata({"cache", "--json"}, environment).out, "cache").at("entries").integer(), 0);
  EXPECT_GT(code_of(run_in(folder.file("cache"), ""), "generated"), 0);
  const Finished wrong = strata({"cache", "clean"}, environment);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("clear"));
}

TEST(Cache, WhereItCannotBeNothingIsLost) {
  TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "in the way";
  for (const std::string& place : {folder.file("file"), std::string("/proc/strata")}) {
    const Start s = run_in(place, "");
    EXPECT_GT(code_of(s, "generated"), 0);
    EXPECT_THAT(s.json.at("compile").at("code").at("cache_off").string(), HasSubstr(place));
    const Child::Environment environment{{"STRATA_CACHE_DIR", place}, {"STRATA_CACHE", ""}};
    EXPECT_THAT(strata({"cache"}, environment).out, HasSubstr("the cache is off"));
    EXPECT_EQ(strata({"cache", "clear"}, environment).code, 2);
  }
}

TEST(Modes, ReduceOverheadGivesTheSame) {
  TemporaryFolder folder;
  run_in(folder.file("cache"), "", {"--mode", "reduce-overhead", "--repeat", "3"});
}

TEST(Modes, MaxAutotuneMeasuresOnceAndShowsWhat) {
  TemporaryFolder folder;
  const std::string cache = folder.file("cache");
  const Start first = run_in(cache, folder.file("first.strata"), {"--mode", "max-autotune"});
  EXPECT_GT(code_of(first, "measured"), 0);
  EXPECT_EQ(code_of(first, "measured"), code_of(first, "tuned"));
  const Start again = run_in(cache, folder.file("again.strata"), {"--mode", "max-autotune"});
  EXPECT_EQ(code_of(again, "measured"), 0);
  EXPECT_EQ(code_of(again, "tuned"), code_of(first, "tuned"));
  EXPECT_EQ(code_of(again, "generated"), 0);
  EXPECT_EQ(kernels_in(first.trace), kernels_in(again.trace));
  bool candidates = false;
  for (const auto& [name, text] : kernels_in(first.trace))
    candidates =
        candidates || (text.find("autotune\n") != std::string::npos && text.find(" us  default") != std::string::npos);
  EXPECT_TRUE(candidates);
  trace::Reader reader(first.trace);
  size_t chosen = 0;
  for (const trace::MetricRecord& m : reader.metrics())
    chosen += m.owner.kind == trace::OwnerKind::Kernel && m.key.starts_with("chosen:");
  EXPECT_EQ(static_cast<int64_t>(chosen), code_of(first, "tuned"));
  EXPECT_THAT(strata({"explain", first.trace}).out, HasSubstr("measure candidates"));
}

TEST(Modes, UnknownOnesAreNamed) {
  const Finished f = strata({"run", model_file("cnn_fmnist"), "--mode", "max-autotun"});
  EXPECT_EQ(f.code, 2);
  EXPECT_THAT(f.err, HasSubstr("max-autotune"));
}

}  // namespace
}  // namespace strata::testing
