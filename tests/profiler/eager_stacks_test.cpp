// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Eager against compiled where the profiles have Python stacks.

#include "profiler/eager_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/trace/reader.h"
#include "profiler/eager_diff.h"
#include "tests/profiler/eager_support.h"

namespace strata::profiler {
namespace {

using test::node;
using test::ProfileMaker;
using trace::Id;

constexpr const char* kKey = "fkey";

/// How the eager profile is written.
struct How {
  bool stacks = true;
  bool calling_lines = false;
  std::string file = "net.py";
};

class Writing {
 public:
  Writing(ProfileMaker& p, const How& how) : p_(p), how_(how) {}
  void function(const std::string& name, const ProfileMaker::Body& body) {
    if (!how_.stacks) return body();
    p_.python(how_.file + name, body);
  }
  void module(const std::string& name, const ProfileMaker::Body& body) {
    if (!how_.stacks) return body();
    p_.python("nn.Module: " + name, body);
  }
  /// An operator of one kernel, called from a line through a function of PyTorch.
  void op(const std::string& name, int line, std::int64_t time, std::int64_t sequence = -1) {
    const auto body = [&] { p_.op(name, "[[8,4]]", [&] { p_.launch("k_" + name, time); }, sequence); };
    if (!how_.stacks) return body();
    p_.python("torch/functional.py(1): f", body,
              how_.calling_lines ? R"({"CallFrom":")" + how_.file + ":" + std::to_string(line) + "\"}" : "");
  }
  ProfileMaker& p() { return p_; }

 private:
  ProfileMaker& p_;
  How how_;
};

/// `forward` (from line 7): two relus on lines 8 and 9, a linear on 10, then `helper` (from line 2), which calls gelu.
/// A loss (from line 20).
void eager_iteration(Writing w, std::int64_t sequence) {
  w.p().annotation("step", [&] {
    w.module("Net_0", [&] {
      w.function("(7): forward", [&] {
        w.op("aten::relu", 8, 10);
        w.op("aten::relu", 9, 20);
        w.module("Linear_0", [&] { w.op("aten::linear", 10, 40, sequence); });
        w.function("(2): helper", [&] { w.op("aten::gelu", 3, 80); });
        w.op("aten::cumsum", 11, 160);
      });
    });
    w.function("(20): loss", [&] { w.op("aten::sum", 21, 320, sequence + 1); });
    w.p().backward("SumBackward0", sequence + 1, [&] { w.p().launch("fill", 5); });
    w.p().backward("AddmmBackward0", sequence, [&] { w.p().launch("gemm_d", 640); });
  });
}

void compiled_iteration(Writing w, Id kernel, std::int64_t sequence) {
  w.p().annotation("step", [&] {
    w.p().op("Torch-Compiled Region: 0/0", "", [&] {
      w.p().op("CompiledFunction", "", [&] {
        w.p().annotation(std::string("## Call CompiledFxGraph ") + kKey + " ##", [&] {
          w.p().op("triton_poi_fused_0", "", [&] { w.p().launch("triton_poi_fused_0", 100, "kernel", kernel); });
        });
      });
    });
    w.function("(20): loss", [&] { w.op("aten::sum", 21, 300, sequence + 1); });
    w.p().backward("SumBackward0", sequence + 1, [&] { w.p().launch("fill", 6); });
  });
}

Id write_compile(trace::Writer& w, Id process) {
  trace::CompileRecord c;
  c.process = process;
  c.address = "0/0";
  c.name = "forward";
  c.outcome = "ok";
  const Id compile = w.add(c);
  const auto stack = [&](int line, const std::string& function) {
    return w.stack(std::vector{trace::SourceLocation{"/home/me/net.py", line, function, "code"}});
  };
  trace::SnapshotRecord s;
  s.compile = compile;
  s.stage = "captured";
  const Id captured = w.add(
      s, std::vector{
             node(1, "x", "", {}, "[8, 4]"), node(11, "relu", "torch.relu", {1}, "[8, 4]", stack(8, "forward")),
             node(12, "relu_1", "torch.relu", {11}, "[8, 4]", stack(9, "forward")),
             node(13, "linear", "torch._C._nn.linear", {12}, "[8, 4]", stack(10, "forward"), "lin"),
             node(14, "gelu", "torch._C._nn.gelu", {13}, "[8, 4]", stack(3, "torch_dynamo_resume_in_helper_at_3"))});
  trace::ProgramRecord p;
  p.compile = compile;
  p.role = "forward", p.key = kKey, p.snapshot = captured;
  const Id program = w.add(p);
  trace::KernelRecord k;
  k.compile = compile, k.program = program, k.snapshot = captured;
  k.name = "triton_poi_fused_0";
  k.kind = trace::KernelKind::Loop;
  k.nodes = {11, 12, 13, 14};
  return w.add(k);
}

class EagerStacksTest : public ::testing::Test {
 protected:
  EagerDiff diff(EagerBy by, const How& eager = {}, bool compiled_stacks = true) {
    {
      trace::Writer w(eager_);
      ProfileMaker p(w, w.add(trace::ProcessRecord{}));
      for (int i = 0; i < 2; ++i) eager_iteration(Writing(p, eager), 10 * i);
      p.finish();
      eager_total_ = p.device_total();
    }
    {
      trace::Writer w(compiled_);
      const Id process = w.add(trace::ProcessRecord{});
      const Id kernel = write_compile(w, process);
      ProfileMaker p(w, process);
      for (int i = 0; i < 2; ++i) compiled_iteration(Writing(p, {compiled_stacks, false, "net.py"}), kernel, 10 * i);
      p.finish();
      compiled_total_ = p.device_total();
    }
    trace::Reader a(eager_), b(compiled_);
    const EagerDiff d = diff_eager(a, b, by);
    EagerSide first, second;
    for (const EagerRow& r : d.rows) first += r.first, second += r.second;
    EXPECT_EQ(first.time, eager_total_);
    EXPECT_EQ(second.time, compiled_total_);
    return d;
  }
  static const EagerRow& row(const EagerDiff& d, const std::string& key) {
    static const EagerRow none;
    for (const EagerRow& r : d.rows)
      if (r.key == key) return r;
    ADD_FAILURE() << "no row " << key;
    return none;
  }
  static std::set<std::string> keys(const EagerDiff& d) {
    std::set<std::string> keys;
    for (const EagerRow& r : d.rows) keys.insert(r.key);
    return keys;
  }

  std::filesystem::path eager_ = test::temporary("eager_stacks_a"), compiled_ = test::temporary("eager_stacks_b");
  std::int64_t eager_total_ = 0, compiled_total_ = 0;
};

TEST_F(EagerStacksTest, ALineThatTheFunctionLeavesNoChoiceOfIsExact) {
  const EagerDiff d = diff(EagerBy::Line);
  const EagerRow& linear = row(d, "/home/me/net.py:10: code");
  EXPECT_EQ(linear.first.time, 2 * (40 + 640));  // its backward with it
  EXPECT_EQ(linear.known, linear.first.time);
  EXPECT_FALSE(linear.inferred);
  EXPECT_TRUE(linear.divided);
  const EagerRow& gelu = row(d, "/home/me/net.py:3: code");
  EXPECT_EQ(gelu.first.time, 2 * 80);
  EXPECT_FALSE(gelu.inferred);
}

TEST_F(EagerStacksTest, OneOfSeveralLinesIsInferred) {
  const EagerDiff d = diff(EagerBy::Line);
  for (const auto& [key, time] : {std::pair{"/home/me/net.py:8: code", 10}, {"/home/me/net.py:9: code", 20}}) {
    EXPECT_EQ(row(d, key).first.time, 2 * time);
    EXPECT_TRUE(row(d, key).inferred);
    EXPECT_EQ(row(d, key).known, 0);
  }
}

TEST_F(EagerStacksTest, CallingLinesAreExact) {
  const EagerDiff d = diff(EagerBy::Line, {true, true, "net.py"});
  for (const EagerRow& r : d.rows) EXPECT_FALSE(r.inferred) << r.key;
  EXPECT_EQ(row(d, "/home/me/net.py:8: code").known, 2 * 10);
  EXPECT_EQ(row(d, "/home/me/net.py:9: code").known, 2 * 20);
  EXPECT_EQ(row(d, "net.py:11 in forward").kind, "line");
  EXPECT_EQ(row(d, "net.py:21 in loss").kind, "not compiled");
}

TEST_F(EagerStacksTest, WhatIsInNoGraphHasItsFunction) {
  const EagerDiff d = diff(EagerBy::Line);
  // The function is in the graph, the operator is not.
  EXPECT_EQ(row(d, "net.py(7): forward").first.time, 2 * 160);
  EXPECT_EQ(row(d, "net.py(7): forward").kind, "line");
  EXPECT_FALSE(row(d, "net.py(7): forward").inferred);
  const EagerRow& loss = row(d, "net.py(20): loss");
  EXPECT_EQ(loss.kind, "not compiled");
  EXPECT_EQ(loss.first.time, 2 * (320 + 5));
  EXPECT_EQ(loss.second.time, 2 * (300 + 6));
}

TEST_F(EagerStacksTest, ModulesAreExact) {
  const EagerDiff d = diff(EagerBy::Module);
  EXPECT_EQ(row(d, "lin").first.time, 2 * (40 + 640));
  EXPECT_FALSE(row(d, "lin").inferred);
  // Net_0 itself is the module that the graph starts from; what the graph has nothing of is in it as well.
  EXPECT_EQ(row(d, "(top level)").first.time, 2 * (10 + 20 + 80 + 160));
  EXPECT_FALSE(row(d, "(top level)").inferred);
}

TEST_F(EagerStacksTest, FilesOfOtherNamesSayNothing) {
  const EagerDiff d = diff(EagerBy::Line, {true, false, "renamed.py"});
  EXPECT_TRUE(row(d, "/home/me/net.py:10: code").inferred);
  EXPECT_EQ(row(d, "/home/me/net.py:10: code").first.time, 2 * (40 + 640));
}

TEST_F(EagerStacksTest, WithoutStacksEverythingIsInferred) {
  const EagerDiff d = diff(EagerBy::Line, {false, false, ""}, false);
  EXPECT_TRUE(row(d, "/home/me/net.py:10: code").inferred);
  EXPECT_EQ(row(d, "aten::sum").kind, "not compiled");
  for (const EagerRow& r : d.rows) EXPECT_EQ(r.known, 0) << r.key;
}

TEST_F(EagerStacksTest, KernelsAreComparedAsWithoutStacks) {
  EXPECT_EQ(keys(diff(EagerBy::Kernel)), keys(diff(EagerBy::Kernel, {false, false, ""}, false)));
}

}  // namespace
}  // namespace strata::profiler
