// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Real logs and profiles: every device event against what was found by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "capture/import/context.h"
#include "capture/kineto/kineto.h"
#include "capture/torch_trace/torch_trace.h"
#include "profiler/correlate.h"
#include "profiler/measured.h"

namespace strata::profiler {
namespace {

const std::filesystem::path kData = std::filesystem::path(STRATA_TEST_DATA) / "torch";

std::vector<std::vector<std::string>> table(const std::string& name) {
  std::ifstream file(kData / "truth" / name);
  EXPECT_TRUE(file) << name;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells(1);
    for (char c : line) c == '\t' ? cells.emplace_back().clear() : cells.back().push_back(c);
    rows.push_back(std::move(cells));
  }
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> words;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

/// Whether `found` is the set that `truth` lists: `x?` may be in it, `*` allows more.
::testing::AssertionResult is_set(const std::set<std::string>& found, const std::string& truth) {
  std::set<std::string> required, allowed;
  bool more = false;
  for (std::string word : listed(truth)) {
    if (word == "*") {
      more = true;
    } else if (word.back() == '?') {
      word.pop_back();
      allowed.insert(word);
    } else {
      required.insert(word);
    }
  }
  for (const std::string& word : required)
    if (!found.contains(word)) return ::testing::AssertionFailure() << word << " is missing";
  for (const std::string& word : found)
    if (!more && !required.contains(word) && !allowed.contains(word))
      return ::testing::AssertionFailure() << word << " is too much";
  return ::testing::AssertionSuccess();
}

bool looks_only(const std::string& target) {
  for (const char* name : {"reshape", "view", "permute", "expand", "getitem", "unsqueeze", "select", "slice"})
    if (target.find(name) != std::string::npos) return true;
  return false;
}

class RealProfiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "strata-real-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    reader_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// Imports logs and profiles in this order, and matches them.
  void import(const std::vector<std::filesystem::path>& paths) {
    reader_.reset();
    const std::filesystem::path out = folder_ / "t.strata";
    {
      trace::Writer writer(out);
      capture::ImportContext context(writer);
      for (const auto& path : paths) {
        if (path.string().find(".json") != std::string::npos) {
          capture::import_profile(context, path);
        } else {
          capture::import_torch_trace(context, path);
        }
      }
      context.finish();
      writer.commit();
      trace::Reader reader(out);
      report_ = correlate(reader, writer);
      writer.close();
    }
    reader_ = std::make_unique<trace::Reader>(out);
  }

  /// Launches by role and place.
  std::map<std::pair<std::string, std::int64_t>, trace::LaunchRecord> launches() {
    std::map<std::pair<std::string, std::int64_t>, trace::LaunchRecord> found;
    for (const trace::CompileRecord& c : reader_->compiles()) {
      std::map<trace::Id, std::string> roles;
      for (const trace::ProgramRecord& p : reader_->programs(c.id)) roles[p.id] = p.role;
      for (const trace::LaunchRecord& l : reader_->launches(c.id)) found[{roles[l.program], l.ordinal}] = l;
    }
    return found;
  }

  void check_events(const std::string& truth) {
    const auto known = launches();
    std::map<std::int64_t, std::vector<trace::EventRecord>> events;
    std::int64_t matched = 0;
    for (const trace::EventRecord& e : reader_->events(report_.runs.at(0).run)) {
      if (e.category != "kernel" && e.category != "gpu_memcpy" && e.category != "gpu_memset") continue;
      events[e.correlation].push_back(e);
      matched += e.launch != trace::kNone;
    }
    const auto rows = table(truth);
    for (const auto& row : rows) {
      const auto& found = events[std::stoll(row[0])];
      ASSERT_EQ(found.size(), 1u) << row[0];
      EXPECT_TRUE(found[0].name.starts_with(row[3])) << found[0].name;
      const auto expected = known.find({row[1], std::stoll(row[2])});
      ASSERT_NE(expected, known.end()) << row[1] << " " << row[2];
      EXPECT_EQ(found[0].launch, expected->second.id) << row[0] << " " << found[0].name;
      EXPECT_EQ(found[0].kernel, expected->second.kernel) << row[0] << " " << found[0].name;
      EXPECT_EQ(found[0].match, trace::Match::Exact) << row[0] << " " << found[0].name;
    }
    EXPECT_EQ(matched, std::ssize(rows));  // and nothing else
  }

  void check_launches(const std::string& truth) {
    const auto known = launches();
    const auto rows = table(truth);
    EXPECT_EQ(rows.size(), known.size());
    for (const auto& row : rows) {
      const auto launch = known.find({row[0], std::stoll(row[1])});
      ASSERT_NE(launch, known.end()) << row[0] << " " << row[1];
      const auto kernel = reader_->kernel(launch->second.kernel);
      ASSERT_TRUE(kernel.has_value()) << row[2];
      EXPECT_EQ(kernel->name, row[2]);
      std::set<std::string> nodes, lines;
      for (trace::NodeId id : kernel->nodes)
        if (const auto node = reader_->last_node(kernel->compile, id); node && !looks_only(node->target))
          nodes.insert(node->name);
      EXPECT_TRUE(is_set(nodes, row[3])) << row[0] << " " << row[1] << " " << row[2];
      for (const auto& [line, part] : lines_of_kernel(*reader_, *kernel)) {
        const std::string file = line.substr(0, line.find(": "));
        if (line != "(unknown)") lines.insert(std::filesystem::path(file).filename().string());
      }
      EXPECT_TRUE(is_set(lines, row[4])) << row[0] << " " << row[1] << " " << row[2];
    }
  }

  /// All tables over the same profile have the same sum: all that was measured.
  void check_sums() {
    double all = 0;
    for (const RunCorrelation& run : report_.runs) all += static_cast<double>(run.total());
    for (const MeasuredBy by :
         {MeasuredBy::Kernel, MeasuredBy::Op, MeasuredBy::Module, MeasuredBy::Line, MeasuredBy::Graph}) {
      const MeasuredTable t = make_measured_table(*reader_, {by, std::nullopt, 0});
      EXPECT_NEAR(t.total, all, all * 1e-9) << static_cast<int>(by);
      double sum = 0, shares = 0;
      for (const MeasuredRow& row : t.rows) sum += row.total, shares += row.share;
      EXPECT_NEAR(sum, all, all * 1e-9);
      EXPECT_NEAR(shares, 1, 1e-9);
    }
  }

  std::filesystem::path folder_;
  std::unique_ptr<trace::Reader> reader_;
  CorrelationReport report_;
};

TEST_F(RealProfiles, TrainingOfAConvolutionalNet) {
  import({kData / "logs/cnn_fmnist_provenance.log.gz", kData / "profiles/cnn_fmnist_compiled.json.gz"});
  check_events("cnn_fmnist_events.tsv");
  check_launches("cnn_fmnist_launches.tsv");
  check_sums();
  EXPECT_DOUBLE_EQ(report_.runs.at(0).matched_percent(), 100);
  // Adam's kernels, the loss, the copy of its gradient.
  EXPECT_EQ(report_.runs.at(0)[TimePart::Optimizer].count, 14);
  EXPECT_EQ(report_.runs.at(0)[TimePart::Eager].count, 12);
  EXPECT_EQ(report_.runs.at(0)[TimePart::DataMovement].count, 2);
}

TEST_F(RealProfiles, InferenceOfATransformer) {
  import({kData / "logs/bert_provenance.log.gz", kData / "profiles/bert_compiled.json.gz"});
  check_events("bert_events.tsv");
  check_launches("bert_launches.tsv");
  check_sums();
  EXPECT_DOUBLE_EQ(report_.runs.at(0).matched_percent(), 100);
  ASSERT_EQ(report_.runs.at(0).programs.size(), 1u);
  EXPECT_EQ(report_.runs.at(0).programs[0].calls, 2);
  EXPECT_EQ(report_.runs.at(0).programs[0].kernels_measured, 67);
}

TEST_F(RealProfiles, LogOfAnotherRunIsMatchedByTheAddressAndSaidSo) {
  import({kData / "logs/cnn_fmnist.log.gz", kData / "profiles/cnn_fmnist_compiled.json.gz"});
  const RunCorrelation& run = report_.runs.at(0);
  EXPECT_DOUBLE_EQ(run.matched_percent(), 100);
  for (const ProgramMeasured& p : run.programs) {
    EXPECT_EQ(p.exact.count, 0);
    EXPECT_GT(p.inferred.count, 0);
  }
}

TEST_F(RealProfiles, CpuKernelsWithTheirOwnEvents) {
  import({kData / "logs/cnn_fmnist_cpu.log.gz", kData / "profiles/cnn_fmnist_cpu_compiled.json.gz"});
  const RunCorrelation& run = report_.runs.at(0);
  EXPECT_FALSE(run.device);
  EXPECT_DOUBLE_EQ(run.matched_percent(), 100);
  ASSERT_EQ(run.programs.size(), 2u);
  for (const ProgramMeasured& p : run.programs) {
    EXPECT_EQ(p.not_measured, "") << p.address;
    EXPECT_EQ(p.kernels_measured, p.kernels);
    EXPECT_EQ(p.inferred.count, 0);
  }
  check_sums();
}

// A training step in two CUDA graphs: one launch call each, all kernels without operators. Which launch each kernel is
// was read off the wrappers' code.
TEST_F(RealProfiles, CudaGraphsOfATrainingStep) {
  import({kData / "cuda_graphs/train.log.gz", kData / "cuda_graphs/train.json.gz"});
  const RunCorrelation& run = report_.runs.at(0);
  EXPECT_DOUBLE_EQ(run.matched_percent(), 100);
  EXPECT_EQ(run[TimePart::Unmatched].count, 0);
  std::map<trace::Id, std::int64_t> places;
  for (const auto& [key, launch] : launches()) places[launch.id] = key.second;
  std::set<std::int64_t> graphs;
  std::map<std::int64_t, std::vector<std::int64_t>> order;  // per launch call
  for (const trace::EventRecord& e : reader_->events(run.run)) {
    if (e.name == "cudaGraphLaunch") graphs.insert(e.correlation);
    if (e.stream >= 0 && e.correlation != 0 && (e.category == "kernel" || e.category == "gpu_memset"))
      order[e.correlation].push_back(e.launch == trace::kNone ? -1 : places.at(e.launch));
  }
  ASSERT_EQ(graphs.size(), 4u);
  const std::vector<std::int64_t> forward = {0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 8, 8, 8, 9};
  const std::vector<std::int64_t> backward = {0, 1, 2, 3, 3,  4,  5,  6,  6,  6,  6, 6,
                                              7, 7, 8, 9, 10, 11, 11, 12, 12, 13, 14};
  bool is_forward = true;
  for (std::int64_t graph : graphs) {
    EXPECT_EQ(order.at(graph), is_forward ? forward : backward) << graph;
    is_forward = !is_forward;
  }
  for (const MeasuredRow& row : make_measured_table(*reader_, {MeasuredBy::Kernel, std::nullopt, 0}).rows)
    if (row.key == "torch.ops.aten.convolution_backward.default") {
      EXPECT_EQ(row.calls, 2);
    }
  check_sums();
}

TEST_F(RealProfiles, EagerProfileBesideACompiledOne) {
  import({kData / "logs/cnn_fmnist_provenance.log.gz", kData / "profiles/cnn_fmnist_compiled.json.gz",
          kData / "profiles/cnn_fmnist_eager.json.gz"});
  ASSERT_EQ(report_.runs.size(), 2u);
  EXPECT_EQ(report_.runs[1][TimePart::Matched].count, 0);
  EXPECT_DOUBLE_EQ(report_.runs[1].matched_percent(), -1);
  EXPECT_GT(report_.runs[1][TimePart::Eager].ns, report_.runs[1][TimePart::Optimizer].ns);
  check_sums();
  const MeasuredTable eager = make_measured_table(*reader_, {MeasuredBy::Kernel, std::nullopt, 2});
  EXPECT_NEAR(eager.total, static_cast<double>(report_.runs[1].total()), 1);
  EXPECT_GT(eager.rows.size(), 10u);  // its kernels by name
  EXPECT_GT(eager.tensor_ns, 0);
}

TEST_F(RealProfiles, ProfileAlone) {
  import({kData / "profiles/bert_compiled.json.gz"});
  const RunCorrelation& run = report_.runs.at(0);
  EXPECT_EQ(run[TimePart::Matched].count, 0);
  EXPECT_EQ(run[TimePart::Unmatched].count, 176);  // compiled code that no log explains
  ASSERT_FALSE(run.unassigned.empty());
  EXPECT_THAT(run.unassigned[0].why, ::testing::HasSubstr("no imported log"));
  check_sums();
}

// With STRATA_TORCH_TRACES=FOLDER: every `compiled.json.gz` under it that has a `torch_trace` beside it.
TEST_F(RealProfiles, AllCasesOfAFolder) {
  const char* folder = std::getenv("STRATA_TORCH_TRACES");
  if (!folder) GTEST_SKIP() << "STRATA_TORCH_TRACES names no folder";
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().filename() == "compiled.json.gz" && is_directory(entry.path().parent_path() / "torch_trace"))
      cases.push_back(entry.path().parent_path());
  std::sort(cases.begin(), cases.end());
  ASSERT_FALSE(cases.empty());
  fmt::print("{:<40} {:>9} {:>9} {:>12} {:>12} {:>12}\n", "case", "matched", "inferred", "total us", "optimizer",
             "eager");
  for (const auto& path : cases) {
    SCOPED_TRACE(path);
    std::vector<std::filesystem::path> inputs;
    for (const auto& entry : std::filesystem::directory_iterator(path / "torch_trace")) inputs.push_back(entry.path());
    inputs.push_back(path / "compiled.json.gz");
    import(inputs);
    const RunCorrelation& run = report_.runs.at(0);
    std::int64_t inferred = 0;
    for (const ProgramMeasured& p : run.programs) inferred += p.inferred.ns;
    const auto us = [](std::int64_t ns) { return static_cast<double>(ns) / 1e3; };
    fmt::print("{:<40} {:>8.2f}% {:>8.2f}% {:>12.1f} {:>12.1f} {:>12.1f}\n",
               (path.parent_path().filename() / path.filename()).string(), run.matched_percent(),
               run[TimePart::Matched].ns > 0 ? 100.0 * us(inferred) / us(run[TimePart::Matched].ns) : 0.0,
               us(run.total()), us(run[TimePart::Optimizer].ns), us(run[TimePart::Eager].ns));
    const bool provenance = path.string().find("provenance") != std::string::npos;
    EXPECT_GE(run.matched_percent(), provenance ? 99 : 95);
    check_sums();
  }
}

}  // namespace
}  // namespace strata::profiler
