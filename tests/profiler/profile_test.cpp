// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/support/error.h"
#include "core/trace/writer.h"
#include "profiler/captured.h"
#include "profiler/diff.h"
#include "tests/error_text.h"

namespace strata::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A compile of `y = relu(linear(x))` written by hand: fused into one kernel, or two kernels; with two runs.
class Traces : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "strata-profile-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static trace::NodeRecord node(trace::NodeId id, const std::string& name, const std::string& target,
                                const std::string& module, trace::Id stack) {
    trace::NodeRecord n;
    n.id = id;
    n.name = name;
    n.op = target.empty() ? "placeholder" : "call_function";
    n.target = target.empty() ? name : target;
    n.module = module;
    n.stack = stack;
    n.type = "f32[s0, 4]";
    return n;
  }

  static trace::Id kernel(trace::Writer& w, trace::Id compile, const std::string& name,
                          std::vector<trace::NodeId> nodes, double bytes, const std::string& formula, double flops) {
    trace::KernelRecord k;
    k.compile = compile;
    k.name = name;
    k.nodes = std::move(nodes);
    k.bytes = {bytes, formula};
    k.flops = {flops, ""};
    return w.add(k);
  }

  static void launch(trace::Writer& w, trace::Id compile, int64_t ordinal, trace::Id kernel) {
    trace::LaunchRecord l;
    l.compile = compile;
    l.ordinal = ordinal;
    l.kernel = kernel;
    w.add(l);
  }

  static void run(trace::Writer& w, trace::Id compile, int64_t duration,
                  const std::vector<std::pair<trace::Id, int64_t>>& times) {
    trace::RunRecord r;
    r.compile = compile;
    r.label = "strata";
    r.duration_ns = duration;
    const trace::Id id = w.add(r);
    for (const auto& [k, time] : times) {
      trace::EventRecord e;
      e.run = id;
      e.kernel = k;
      e.duration_ns = time;
      w.add(e);
    }
  }

  /// ids_from: the ids of a second trace of the same program differ.
  std::string write(const std::string& name, bool fused, bool with_runs = true, int64_t ids_from = 0,
                    const std::string& linear = "linear") {
    const std::string path = (folder_ / name).string();
    trace::Writer w(path);
    trace::CompileRecord c;
    c.address = "0/0";
    c.id = w.add(c);
    const trace::Id stack =
        w.stack(std::vector<trace::SourceLocation>{{"model.py", 3, "forward", "y = relu(self.lin(x))"},
                                                   {"/usr/lib/torch/nn/linear.py", 9, "forward", "F.linear"}});
    const trace::NodeId x = ids_from + 1, l = ids_from + 2, r = ids_from + 3, l2 = ids_from + 4, bias = ids_from + 5;
    trace::SnapshotRecord s;
    s.compile = c.id;
    s.stage = "captured";
    w.add(s,
          std::vector<trace::NodeRecord>{node(x, "x", "", "", 0), node(l, linear, "aten.linear.default", "lin", stack),
                                         node(r, "relu", "aten.relu.default", "", stack)});
    s.stage = "scheduled";
    w.add(s, std::vector<trace::NodeRecord>{
                 node(x, "x", "", "", 0), node(l2, "addmm", "aten.addmm.default", "lin", stack),
                 node(bias, "bias", "aten.add.Tensor", "lin", stack), node(r, "relu", "aten.relu.default", "", stack)});
    for (trace::NodeId made : {l2, bias}) w.add(trace::OriginRecord{c.id, made, l, "decomposed", "linear", true});
    if (fused) {
      const trace::Id k = kernel(w, c.id, "addmm_relu", {l2, bias, r}, 1000, "250*s0", 4000);
      launch(w, c.id, 0, k);
      if (with_runs) run(w, c.id, 700, {{k, 600}});
      if (with_runs) run(w, c.id, 500, {{k, 400}});
    } else {
      const trace::Id b = kernel(w, c.id, "relu", {r}, 800, "", 100),
                      a = kernel(w, c.id, "addmm", {l2, bias}, 1000, "", 3900);
      launch(w, c.id, 0, a);
      launch(w, c.id, 1, b);
      if (with_runs) run(w, c.id, 1200, {{a, 700}, {b, 300}});
      if (with_runs) run(w, c.id, 1000, {{a, 500}, {b, 300}});
    }
    w.add(trace::MetricRecord{0, {trace::OwnerKind::Compile, c.id, c.id}, "symbol:s0", 8, "1"});
    w.close();
    return path;
  }

  std::filesystem::path folder_;
};

TEST(Statistics, MiddleLeastMean) {
  const Statistics odd = statistics({5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 5);
  EXPECT_EQ(odd.mean, 3);
  EXPECT_EQ(odd.total, 9);
  EXPECT_EQ(statistics({4, 1, 2, 9}).median, 3);
  EXPECT_EQ(statistics({}).median, -1);
  EXPECT_EQ(statistics({}).count, 0u);
}

TEST(Rates, PerSecond) {
  const Rates r = rates(2000, 8000, 1000);
  EXPECT_EQ(r.gigabytes_per_second, 2);
  EXPECT_EQ(r.gigaflops_per_second, 8);
  EXPECT_EQ(r.flops_per_byte, 4);
  EXPECT_EQ(rates(0, 10, 0).gigaflops_per_second, 0);
  EXPECT_EQ(rates(0, 10, 5).flops_per_byte, 0);
}

TEST(By, Words) {
  EXPECT_EQ(parse_by("module"), By::Module);
  EXPECT_THAT(testing::error_text([] { parse_by("kernl"); }), HasSubstr("did you mean 'kernel'"));
}

TEST_F(Traces, KernelsInLaunchOrderWithSizesOfTheRun) {
  trace::Reader two(write("two.strata", false)), one(write("one.strata", true));
  const Costs costs = measure(two, two.find_compile("").id);
  ASSERT_EQ(costs.kernels.size(), 2u);
  EXPECT_EQ(costs.kernels[0].record.name, "addmm");  // launched first, recorded second
  EXPECT_EQ(costs.kernels[0].per_run, 600);
  EXPECT_EQ(costs.launched, 900);
  EXPECT_EQ(costs.launches, 2);
  EXPECT_EQ(costs.run.median, 1100);
  EXPECT_EQ(costs.bytes, 1800);
  // 250*s0 at s0 = 8, not at the hint that gave 1000.
  EXPECT_EQ(measure(one, one.find_compile("").id).bytes, 2000);
}

TEST_F(Traces, ProfileByKernel) {
  trace::Reader reader(write("t.strata", false));
  const Profile p = make_profile(reader, reader.find_compile("").id, By::Kernel);
  ASSERT_EQ(p.rows.size(), 2u);
  EXPECT_EQ(p.total, 1800);
  EXPECT_EQ(p.rows[0].key, "addmm");
  EXPECT_EQ(p.rows[0].calls, 2);
  EXPECT_EQ(p.rows[0].total, 1200);
  EXPECT_EQ(p.rows[0].mean, 600);
  EXPECT_NEAR(p.rows[0].share, 1200.0 / 1800, 1e-12);
  EXPECT_NEAR(p.rows[0].rates.gigaflops_per_second, 7800.0 / 1200, 1e-12);
  EXPECT_FALSE(p.rows[0].shared);
}

TEST_F(Traces, FusedTimeIsDividedByNodes) {
  trace::Reader reader(write("t.strata", true));
  const trace::Id compile = reader.find_compile("").id;
  const Profile p = make_profile(reader, compile, By::Op);
  ASSERT_EQ(p.rows.size(), 2u);
  EXPECT_EQ(p.rows[0].key, "aten.linear.default");
  EXPECT_NEAR(p.rows[0].total, 1000.0 * 2 / 3, 1e-9);
  EXPECT_NEAR(p.rows[1].total, 1000.0 / 3, 1e-9);
  EXPECT_TRUE(p.rows[0].shared);
  const Profile modules = make_profile(reader, compile, By::Module);
  EXPECT_EQ(modules.rows[0].key, "lin");
  EXPECT_EQ(modules.rows[1].key, "(top level)");
  const Profile lines = make_profile(reader, compile, By::Line);
  ASSERT_EQ(lines.rows.size(), 1u);
  // The innermost line outside PyTorch.
  EXPECT_EQ(lines.rows[0].key, "model.py:3: y = relu(self.lin(x))");
  EXPECT_FALSE(lines.rows[0].shared);
}

TEST_F(Traces, NoRunsIsAnError) {
  trace::Reader reader(write("t.strata", true, false));
  EXPECT_THROW(make_profile(reader, reader.find_compile("").id, By::Kernel), Error);
  EXPECT_EQ(measure(reader, reader.find_compile("").id).run.count, 0u);
}

TEST_F(Traces, CapturedNodesAreFoundAndCounted) {
  trace::Reader reader(write("t.strata", true));
  const CapturedNodes captured(reader, reader.find_compile("").id);
  EXPECT_EQ(captured.of({4, 5, 3, 1}), (std::map<trace::NodeId, int>{{2, 2}, {3, 1}}));
  EXPECT_FALSE(captured.is_call(1));
}

TEST_F(Traces, DiffAddsUp) {
  trace::Reader a(write("a.strata", false)), b(write("b.strata", true, true, 100));
  const ProfileDiff d = diff_profiles(a, a.find_compile("").id, b, b.find_compile("").id);
  ASSERT_EQ(d.changes.size(), 1u);
  EXPECT_EQ(d.changes[0].kernel, "addmm_relu");
  EXPECT_THAT(d.changes[0].before, ElementsAre("addmm", "relu"));
  EXPECT_THAT(d.changes[0].operators, ElementsAre("linear", "relu"));
  EXPECT_EQ(d.first.launches, 2);
  EXPECT_EQ(d.second.launches, 1);
  EXPECT_EQ(d.first.time, 900);
  EXPECT_EQ(d.second.time, 500);
  EXPECT_EQ(d.first.bytes, 1800);
  EXPECT_EQ(d.second.bytes, 2000);
  EXPECT_NEAR(d.slower_percent(), (600.0 / 1100 - 1) * 100, 1e-9);
}

TEST_F(Traces, WhatHasNoKernelAnyMoreIsKept) {
  // In the second program the operator is called differently: its kernel has no counterpart.
  trace::Reader a(write("a.strata", false, true, 0, "linear_x")), b(write("b.strata", false));
  const ProfileDiff d = diff_profiles(a, a.find_compile("").id, b, b.find_compile("").id);
  ASSERT_EQ(d.changes.size(), 3u);
  EXPECT_EQ(d.changes[2].kernel, "");
  EXPECT_THAT(d.changes[2].before, ElementsAre("addmm"));
  EXPECT_EQ(d.changes[0].first.launches, 0);
  Cost first, second;
  for (const KernelChange& c : d.changes) {
    first += c.first;
    second += c.second;
  }
  EXPECT_EQ(first.time, d.first.time);
  EXPECT_EQ(first.launches, 2);
  EXPECT_EQ(second.launches, 2);
}

TEST_F(Traces, OtherProgramsAreRefused) {
  trace::Reader a(write("a.strata", false));
  trace::Writer w((folder_ / "b.strata").string());
  trace::CompileRecord c;
  c.address = "0/0";
  c.id = w.add(c);
  trace::SnapshotRecord s;
  s.compile = c.id;
  s.stage = "captured";
  w.add(s, std::vector<trace::NodeRecord>{node(1, "sin", "aten.sin.default", "", 0)});
  w.close();
  trace::Reader b((folder_ / "b.strata").string());
  EXPECT_THROW(diff_profiles(a, a.find_compile("").id, b, b.find_compile("").id), Error);
}

TEST(DiffGraphs, ByIdAndByName) {
  trace::NodeRecord a, b, c;
  a.id = 1, a.name = "a", a.target = "aten.sin.default";
  b.id = 2, b.name = "b", b.target = "aten.cos.default";
  c.id = 2, c.name = "c", c.target = "aten.cos.default", c.args = "a";
  const GraphDiff by_id = diff_graphs({a, b}, {a, c}, true);
  EXPECT_EQ(by_id.same, 1u);
  ASSERT_EQ(by_id.changed.size(), 1u);
  EXPECT_EQ(by_id.changed[0].after.args, "a");
  const GraphDiff by_name = diff_graphs({a, b}, {a, c}, false);
  EXPECT_EQ(by_name.removed.size(), 1u);
  EXPECT_EQ(by_name.added.size(), 1u);
  EXPECT_EQ(by_name.changed.size(), 0u);
}

}  // namespace
}  // namespace strata::profiler
