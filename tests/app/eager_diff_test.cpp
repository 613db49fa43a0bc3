// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Real profiles of PyTorch against hand-made truth: which eager operators and kernels each compiled kernel replaced.

#include "profiler/eager_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/driver/import.h"
#include "core/support/json.h"
#include "core/trace/reader.h"
#include "tests/app/command.h"

namespace strata::testing {
namespace {

using profiler::EagerBy;
using profiler::EagerDiff;
using profiler::EagerRow;
using profiler::EagerSide;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

fs::path data(const std::string& name) { return fs::path(STRATA_TEST_DATA "/torch") / name; }
std::string profile(const std::string& name) { return data("profiles/" + name + ".json.gz"); }

/// A model's profiles, imported: the second with its log.
class Model {
 public:
  explicit Model(const std::string& name) : eager_(folder_.file("eager.strata")), compiled_(folder_.file("b.strata")) {
    import_paths(std::vector<fs::path>{profile(name + "_eager")}, eager_);
    import_paths(std::vector<fs::path>{profile(name + "_compiled"), data("logs/" + name + ".log.gz")}, compiled_);
  }
  EagerDiff diff(EagerBy by = EagerBy::Kernel) const {
    trace::Reader a(eager_), b(compiled_);
    return diff_eager(a, b, by);
  }
  const std::string& eager() const { return eager_; }
  const std::string& compiled() const { return compiled_; }

 private:
  TemporaryFolder folder_;
  std::string eager_, compiled_;
};

/// Eager operators (as called by the program) and the number of their kernels that a row took over, per iteration.
struct Truth {
  std::map<std::string, int> operators;
  int launches = 0;
  bool operator<(const Truth& o) const { return std::tie(operators, launches) < std::tie(o.operators, o.launches); }
  bool operator==(const Truth&) const = default;
};
void PrintTo(const Truth& t, std::ostream* out) {
  for (const auto& [name, n] : t.operators) *out << name << " x" << n << " ";
  *out << "in " << t.launches;
}

Truth truth_of(const EagerDiff& d, const EagerRow& r) {
  Truth t;
  for (const auto& p : r.operators) t.operators[p.name] = static_cast<int>(p.count / d.first.iterations);
  t.launches = static_cast<int>(r.first.launches / d.first.iterations);
  return t;
}

/// Rows by role and kernel.
std::multimap<std::string, Truth> truths(const EagerDiff& d) {
  std::multimap<std::string, Truth> all;
  for (const EagerRow& r : d.rows)
    if (r.kind == "kernel" || r.kind == "library") all.emplace(r.role + " " + r.key, truth_of(d, r));
  return all;
}

std::vector<Truth> of(const std::multimap<std::string, Truth>& all, const std::string& key) {
  std::vector<Truth> list;
  for (auto [it, end] = all.equal_range(key); it != end; ++it) list.push_back(it->second);
  return list;
}

void expect_exact_sums(const EagerDiff& d) {
  EagerSide first, second;
  for (const EagerRow& r : d.rows) first += r.first, second += r.second;
  EXPECT_EQ(first, d.first.all);
  EXPECT_EQ(second, d.second.all);
}

/// The sum of all kernels, copies and fills, counted on its own.
std::int64_t device_time(const std::string& path) {
  trace::Reader reader(path);
  std::int64_t sum = 0;
  reader.each_event([&](const trace::EventRecord& e) {
    if (e.category == "kernel" || e.category == "gpu_memcpy" || e.category == "gpu_memset") sum += e.duration_ns;
    return true;
  });
  return sum;
}

TEST(EagerDiffFiles, ConvolutionalNetwork) {
  const Model model("cnn_fmnist");
  const EagerDiff d = model.diff();
  EXPECT_TRUE(d.on_device);
  EXPECT_EQ(d.first.iterations, 2);
  EXPECT_EQ(d.second.iterations, 2);
  expect_exact_sums(d);
  EXPECT_EQ(d.first.all.time, device_time(model.eager()));
  EXPECT_EQ(d.second.all.time, device_time(model.compiled()));

  const auto all = truths(d);
  const std::string f = "forward ", b = "backward ";
  // cuDNN's own kernels; the bias went into the kernel after it.
  EXPECT_THAT(of(all, f + "extern_kernels.convolution"),
              UnorderedElementsAre(Truth{{{"aten::conv2d", 1}}, 1}, Truth{{{"aten::conv2d", 1}}, 3}));
  EXPECT_EQ(of(all, f + "triton_poi_fused_convolution_relu_0").at(0).launches, 2);
  EXPECT_EQ(of(all, f + "triton_poi_fused_convolution_relu_2").at(0).launches, 2);
  EXPECT_THAT(of(all, f + "triton_poi_fused_max_pool2d_with_indices_1"),
              ElementsAre(Truth{{{"aten::max_pool2d", 1}}, 1}));
  EXPECT_THAT(of(all, f + "triton_poi_fused_max_pool2d_with_indices_3"),
              ElementsAre(Truth{{{"aten::max_pool2d", 1}}, 1}));
  EXPECT_THAT(of(all, f + "triton_poi_fused_addmm_native_dropout_4"), ElementsAre(Truth{{{"aten::dropout", 1}}, 1}));
  EXPECT_THAT(of(all, f + "extern_kernels.mm"), ElementsAre(Truth{{{"aten::linear", 1}}, 2}));
  EXPECT_THAT(of(all, f + "extern_kernels.addmm"),
              UnorderedElementsAre(Truth{{{"aten::linear", 1}}, 2}, Truth{{{"aten::linear", 1}}, 4}));

  std::int64_t products = 0;  // three layers, two products each; every one has its own call
  for (const Truth& t : of(all, b + "extern_kernels.mm")) products += t.launches > 0;
  EXPECT_EQ(products, 6);
  EXPECT_EQ(of(all, b + "triton_per_fused_sum_3").at(0).launches, 1);
  EXPECT_EQ(of(all, b + "triton_per_fused_sum_8").at(0).launches, 1);
  EXPECT_EQ(of(all, b + "triton_per_fused_native_dropout_backward_sum_0").at(0).launches, 2);
  for (const auto& r : d.rows) {
    EXPECT_NE(r.kind, "not attributed");
    if (r.key == "triton_poi_fused_convolution_relu_0") {
      std::set<std::string> names;
      for (const auto& p : r.operators) names.insert(p.name);
      EXPECT_THAT(names, UnorderedElementsAre("aten::conv2d", "aten::relu"));
    }
  }
}

TEST(EagerDiffFiles, Transformer) {
  const Model model("bert");
  const EagerDiff d = model.diff();
  expect_exact_sums(d);
  EXPECT_EQ(d.first.all.time, device_time(model.eager()));
  EXPECT_EQ(d.second.all.time, device_time(model.compiled()));
  const auto all = truths(d);
  EXPECT_THAT(
      of(all, "inference triton_per_fused_add_embedding_expand_gather_native_layer_norm_slice_0"),
      ElementsAre(Truth{{{"aten::gather", 1}, {"aten::embedding", 3}, {"aten::add", 2}, {"aten::layer_norm", 1}}, 8}));
  Truth norm;  // two per layer, four layers
  for (const Truth& t : of(all, "inference triton_per_fused_add_addmm_native_layer_norm_view_6")) {
    for (const auto& [name, n] : t.operators) norm.operators[name] += n;
    norm.launches += t.launches;
  }
  EXPECT_EQ(norm, (Truth{{{"aten::add", 8}, {"aten::layer_norm", 8}}, 16}));
  int gelu = 0, linear = 0;
  for (const auto& [key, t] : all) {
    if (t.operators.contains("aten::gelu")) gelu += t.operators.at("aten::gelu");
    if (t.operators.contains("aten::linear")) {
      linear += t.operators.at("aten::linear");
      EXPECT_EQ(key, "inference extern_kernels.mm");
    }
  }
  EXPECT_EQ(gelu, 4);
  EXPECT_EQ(linear, 25);
}

TEST(EagerDiffFiles, LinesAndModulesAddUpToo) {
  const Model model("cnn_fmnist");
  for (const EagerBy by : {EagerBy::Line, EagerBy::Module}) expect_exact_sums(model.diff(by));
  const EagerDiff lines = model.diff(EagerBy::Line);
  std::map<std::string, std::int64_t> launches;
  for (const auto& r : lines.rows) launches[r.key] = r.first.launches / 2;
  EXPECT_EQ(launches["/home/user/app/cases.py:57: x = self.layer2(self.layer1(x))"], 28);
  EXPECT_EQ(launches["/home/user/app/cases.py:59: return self.fc3(self.fc2(self.drop(self.fc1(x))))"], 21);
}

TEST(EagerDiffFiles, OnTheHostOperatorsOwnTimeIsCompared) {
  const Model model("cnn_fmnist_cpu");
  const EagerDiff d = model.diff();
  EXPECT_FALSE(d.on_device);
  expect_exact_sums(d);
  int kernels = 0;
  for (const auto& r : d.rows) {
    if (r.kind != "kernel") continue;
    ++kernels;
    EXPECT_FALSE(r.not_measured) << r.key;
    EXPECT_GT(r.second.time, 0) << r.key;
  }
  EXPECT_EQ(kernels, 9);
  const auto all = truths(d);
  const auto pooled = of(all, "forward cpp_fused_max_pool2d_with_indices_relu_1");
  ASSERT_EQ(pooled.size(), 1u);
  EXPECT_EQ(pooled[0].operators, (std::map<std::string, int>{{"aten::max_pool2d", 1}, {"aten::relu", 1}}));
}

TEST(EagerDiffCommand, FilesAsTheyAre) {
  const std::vector<std::string> arguments{"diff", profile("cnn_fmnist_eager"), profile("cnn_fmnist_compiled"), "--log",
                                           data("logs/cnn_fmnist.log.gz")};
  const Finished text = strata(arguments);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("times as fast"), HasSubstr("triton_poi_fused_convolution_relu_0"),
                              HasSubstr("aten::conv2d"), HasSubstr("device idle"), HasSubstr("Tensor Cores")));
  auto with = arguments;
  with.push_back("--json");
  const Json d = parse_json(strata(with).out, "diff");
  std::int64_t first = 0, second = 0;
  for (const Json& row : d.at("rows").array()) {
    first += row.at("first").at("time_ns").integer();
    second += row.at("second").at("time_ns").integer();
  }
  EXPECT_EQ(first, d.at("first").at("total").at("time_ns").integer());
  EXPECT_EQ(second, d.at("second").at("total").at("time_ns").integer());
}

TEST(EagerDiffCommand, SlowerThanAllowed) {
  const Model model("bert");
  EXPECT_EQ(strata({"diff", model.eager(), model.compiled(), "--fail-slower", "1000000"}).code, 0);
  const Finished f = strata({"diff", model.compiled(), model.eager(), "--fail-slower", "0"});
  EXPECT_EQ(f.code, 1);
  EXPECT_THAT(f.err, HasSubstr("allowed are 0.0%"));
}

TEST(EagerDiffCommand, WrongArguments) {
  const Model model("bert");
  EXPECT_EQ(strata({"diff", model.eager(), model.compiled(), "--by", "lines"}).code, 2);
  EXPECT_EQ(strata({"diff", model.eager(), model.compiled(), "--log", data("logs/bert.log.gz")}).code, 2);
  EXPECT_EQ(strata({"diff", model.eager(), data("text/recompiles.txt")}).code, 2);
}

}  // namespace
}  // namespace strata::testing
