// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Real profiles: nothing is lost, by the count of another parser. With STRATA_TORCH_TRACES=<folder> also all `.json`
/// and `.json.gz` profiles below it.

#include <cstdlib>

#include "tests/capture/kineto_testing.h"

namespace strata::capture {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Json* json) {
  if (!json) return {};
  if (const auto* text = json->as<std::string>()) return *text;
  if (const auto* number = json->as<std::int64_t>()) return std::to_string(*number);
  return {};
}

/// What a file says by the strict parser; only files that are valid JSON can be compared.
struct Truth {
  std::map<std::string, std::int64_t> counts;
  std::map<std::string, double> duration;  ///< microseconds by category
  std::map<std::string, std::int64_t> externals, correlations;
  std::size_t slices = 0;
};

Truth truth_of(const Json& json) {
  Truth truth;
  const Json* list = json.as<JsonArray>() ? &json : &json.at("traceEvents");
  for (const Json& e : list->array()) {
    const std::string phase = text_of(e.find("ph")), category = text_of(e.find("cat"));
    ++truth.counts[phase + ":" + category];
    if (phase != "X") continue;
    ++truth.slices;
    if (const Json* duration = e.find("dur")) truth.duration[category] += duration->number();
    const Json* args = e.find("args");
    const Json* external = args ? args->find("External id") : nullptr;
    const Json* correlation = args ? args->find("correlation") : nullptr;
    if (external) truth.externals[category] += external->integer();
    if (correlation) truth.correlations[category] += correlation->integer();
  }
  return truth;
}

class KinetoFiles : public ProfileTest {
 protected:
  void check(const fs::path& path) {
    SCOPED_TRACE(path.string());
    import_file(path);
    Truth truth;
    try {
      truth = truth_of(parse_json(read_gzip_file(path), path.string()));  // reads plain files too
    } catch (const Error&) {
      // Not valid JSON, as the profiler writes it for some names: the strict parser has nothing to say.
      EXPECT_FALSE(events.empty());
      return;
    }
    auto have = counts();
    for (const auto& [key, number] : truth.counts) EXPECT_EQ(have[key], number) << key;
    std::int64_t total = 0, want_total = 0;
    for (const auto& [key, number] : have) {
      EXPECT_FALSE(key.starts_with("problem.") && key != "problem.no_base_time") << key;
      if (!key.starts_with("problem.")) total += number;
    }
    for (const auto& [key, number] : truth.counts) want_total += number;
    EXPECT_EQ(total, want_total);
    compare(truth);
  }

  void compare(const Truth& truth) {
    std::map<std::string, std::int64_t> duration, externals, correlations;
    std::size_t slices = 0;
    for (const trace::EventRecord& e : events) {
      EXPECT_TRUE(e.args.empty() || e.args.front() == '{');
      if (!e.phase.empty()) continue;
      ++slices;
      duration[e.category] += e.duration_ns;
      externals[e.category] += e.external;
      correlations[e.category] += e.correlation;
    }
    EXPECT_EQ(slices, truth.slices);
    for (const auto& [category, us] : truth.duration) {
      if (!category.empty()) {
        EXPECT_NEAR(static_cast<double>(duration[category]), us * 1000, us * 1e-6 + 1) << category;
      }
    }
    for (const auto& [category, sum] : truth.externals) EXPECT_EQ(externals[category], sum) << category;
    for (const auto& [category, sum] : truth.correlations) EXPECT_EQ(correlations[category], sum) << category;
  }
};

TEST_F(KinetoFiles, NothingIsLost) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "torch/profiles")) {
    check(entry.path());
    ++files;
  }
  EXPECT_GE(files, 6);
}

TEST_F(KinetoFiles, Bert) {
  import_file(fs::path(STRATA_TEST_DATA) / "torch/profiles/bert_compiled.json.gz");
  EXPECT_EQ(reader->property("device.0.name"), "NVIDIA H200");
  EXPECT_EQ(metric("device.0.numSms"), 132);
  EXPECT_EQ(reader->processes().at(0).pid, 433);
  const trace::EventRecord& step = event("step");
  EXPECT_EQ(step.start_ns, 1790857026000000000 + 4400854817509824);
  EXPECT_EQ(step.duration_ns, 3622238);
  EXPECT_EQ(step.external, 1025);
  std::size_t kernels = 0;
  for (const trace::EventRecord& e : events) {
    if (e.category != "kernel") continue;
    ++kernels;
    EXPECT_EQ(e.stream, 7);
    EXPECT_EQ(track(e.track).device, 0);
    EXPECT_NO_THROW(parse_json(e.args, "args"));
  }
  EXPECT_EQ(kernels, 176u);
}

TEST_F(KinetoFiles, BackwardFlowsJoinEqualSequenceNumbers) {
  import_file(fs::path(STRATA_TEST_DATA) / "torch/profiles/cnn_fmnist_eager.json.gz");
  std::map<trace::Id, trace::EventRecord> by_id;
  for (const trace::EventRecord& e : events) by_id[e.id] = e;
  EXPECT_EQ(reader->flows().size(), 32u);
  for (const trace::FlowRecord& flow : reader->flows()) {
    EXPECT_EQ(by_id[flow.from].sequence, by_id[flow.to].sequence);
    EXPECT_NE(by_id[flow.from].name, by_id[flow.to].name);
  }
}

TEST_F(KinetoFiles, FolderOfOnesOwn) {
  const char* folder = std::getenv("STRATA_TORCH_TRACES");
  if (!folder) GTEST_SKIP() << "STRATA_TORCH_TRACES is not set";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || !(name.ends_with(".json") || name.ends_with(".json.gz"))) continue;
    if (!is_profile(entry.path()) || fs::file_size(entry.path()) > (std::size_t{64} << 20)) continue;
    check(entry.path());
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace strata::capture
