// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Tables over matched profiles, on traces written by hand.
#include <gmock/gmock.h>

#include "core/support/error.h"
#include "profiler/measured.h"
#include "tests/profiler/correlate_testing.h"

namespace strata::profiler {
namespace {

using ::testing::HasSubstr;

/// A training step of `y = relu(linear(x))`: the forward graph is captured, the backward graph's nodes are gradients.
class MeasuredTest : public CorrelateTest {
 protected:
  static constexpr trace::NodeId kLinear = 1, kRelu = 2, kMm = 3, kView = 4, kThreshold = 5, kMm2 = 6, kSeed = 7;

  trace::NodeRecord node(trace::NodeId id, const char* name, const char* target, const char* module, trace::Id stack) {
    trace::NodeRecord n;
    n.id = id;
    n.name = name;
    n.op = "call_function";
    n.target = target;
    n.module = module;
    n.stack = stack;
    return n;
  }

  void write(bool exact_kernels, bool exact_edges) {
    trace::Writer& w = *writer_;
    compile_ = add_compile("0/0", 0, 0);
    const trace::Id first = w.stack(std::vector<trace::SourceLocation>{{"m.py", 10, "forward", "x = self.fc(x)"}});
    const trace::Id second = w.stack(std::vector<trace::SourceLocation>{{"m.py", 11, "forward", "return x.relu()"}});
    trace::SnapshotRecord s;
    s.compile = compile_;
    s.stage = "captured";
    w.add(s, std::vector<trace::NodeRecord>{node(kLinear, "linear", "torch.linear", "fc", first),
                                            node(kRelu, "relu", "torch.relu", "", second)});
    s.stage = "simplified:forward.after";
    w.add(s, std::vector<trace::NodeRecord>{node(kMm, "mm", "aten.mm.default", "fc", 0),
                                            node(kView, "view", "aten.view.default", "", 0),
                                            node(kRelu, "relu", "torch.relu", "", second)});
    s.stage = "simplified:backward.after";
    w.add(s, std::vector<trace::NodeRecord>{node(kThreshold, "threshold", "aten.threshold_backward.default", "", 0),
                                            node(kMm2, "mm_1", "aten.mm.default", "", 0),
                                            node(kSeed, "seed", "prims.inductor_seeds.default", "", 0)});
    w.add(trace::OriginRecord{compile_, kMm, kLinear, "decomposed", "", exact_edges});
    w.add(trace::OriginRecord{compile_, kView, kRelu, "decomposed", "", exact_edges});
    w.add(trace::OriginRecord{compile_, kThreshold, kRelu, "gradient", "", exact_edges});
    w.add(trace::OriginRecord{compile_, kMm2, kLinear, "gradient", "", exact_edges});
    forward_ =
        program("forward", "kf", {{"extern_kernels.mm", {kView, kMm}}, {"triton_relu_0", {kRelu}}}, exact_kernels);
    backward_ = program("backward", "kb",
                        {{"triton_both_0", {kThreshold, kMm2}}, {"triton_odd_1", {kSeed}}, {"triton_none_2", {}}},
                        exact_kernels);
    add("user_annotation", call_of("kf"), 0, 100);
    op("aten::mm", 10, {{"cutlass_80_tensorop_s1688gemm_64x64", 100}});
    op("triton_relu_0", 30, {{"triton_relu_0", 20}});
    add("user_annotation", call_of("kb"), 200, 100);
    op("triton_both_0", 210, {{"triton_both_0", 40}});
    op("triton_odd_1", 230, {{"triton_odd_1", 8}});
    op("triton_none_2", 250, {{"triton_none_2", 2}});
    op("aten::add", 400, {{"add_kernel", 16}});
    correlate_all();
  }

  trace::Id program(const char* role, const char* key,
                    const std::vector<std::pair<std::string, std::vector<trace::NodeId>>>& calls, bool exact) {
    trace::ProgramRecord p;
    p.compile = compile_;
    p.role = role;
    p.key = key;
    const trace::Id id = writer_->add(p);
    std::int64_t ordinal = 0;
    for (const auto& [name, nodes] : calls) {
      trace::KernelRecord k;
      k.compile = compile_;
      k.program = id;
      k.name = name;
      k.device = "cuda:0";
      k.nodes = nodes;
      k.exact = exact;
      k.kind = name.starts_with("extern") ? trace::KernelKind::Library : trace::KernelKind::Loop;
      k.library = name.starts_with("extern") ? name : "";
      k.language = name.starts_with("extern") ? "" : "triton";
      trace::LaunchRecord l;
      l.compile = compile_;
      l.program = id;
      l.ordinal = ordinal++;
      l.kernel = writer_->add(k);
      writer_->add(l);
    }
    return id;
  }

  std::map<std::string, MeasuredRow> rows(MeasuredBy by) {
    std::map<std::string, MeasuredRow> found;
    for (const MeasuredRow& row : make_measured_table(*reader_, {by, std::nullopt, 0}).rows) found[row.key] = row;
    return found;
  }

  trace::Id compile_ = 0, forward_ = 0, backward_ = 0;
};

TEST_F(MeasuredTest, EveryTableAddsUp) {
  write(true, true);
  for (const MeasuredBy by :
       {MeasuredBy::Kernel, MeasuredBy::Op, MeasuredBy::Module, MeasuredBy::Line, MeasuredBy::Graph}) {
    const MeasuredTable t = make_measured_table(*reader_, {by, std::nullopt, 0});
    double sum = 0;
    for (const MeasuredRow& row : t.rows) sum += row.total;
    EXPECT_DOUBLE_EQ(sum, 186);
    EXPECT_DOUBLE_EQ(t.total, 186);
    EXPECT_EQ(t.runs.size(), 1u);
    EXPECT_DOUBLE_EQ(t.tensor_ns, 100);
  }
}

TEST_F(MeasuredTest, BackwardTimeGoesToForwardLines) {
  write(true, true);
  const auto lines = rows(MeasuredBy::Line);
  // The forward product and its share of the backward kernel; the view beside the product takes nothing.
  EXPECT_DOUBLE_EQ(lines.at("m.py:10: x = self.fc(x)").total, 100 + 20);
  EXPECT_DOUBLE_EQ(lines.at("m.py:11: return x.relu()").total, 20 + 20);
  EXPECT_DOUBLE_EQ(lines.at("(unknown)").total, 10);
  EXPECT_DOUBLE_EQ(lines.at("eager").total, 16);
  EXPECT_EQ(lines.at("m.py:10: x = self.fc(x)").match, trace::Match::Exact);
  const auto operators = rows(MeasuredBy::Op);
  EXPECT_DOUBLE_EQ(operators.at("torch.linear").total, 120);
  EXPECT_DOUBLE_EQ(operators.at("torch.relu").total, 40);
  EXPECT_DOUBLE_EQ(operators.at("prims.inductor_seeds.default").total, 8);
  EXPECT_TRUE(operators.at("torch.relu").shared);
  const auto modules = rows(MeasuredBy::Module);
  EXPECT_DOUBLE_EQ(modules.at("fc").total, 120);
}

TEST_F(MeasuredTest, WhatIsNotStatedIsInferred) {
  write(true, false);
  EXPECT_EQ(rows(MeasuredBy::Kernel).at("triton_both_0").match, trace::Match::Exact);
  EXPECT_DOUBLE_EQ(rows(MeasuredBy::Kernel).at("triton_both_0").exact, 1);
  EXPECT_EQ(rows(MeasuredBy::Op).at("torch.linear").match, trace::Match::Inferred);
  // The forward operator is in the graph of its kernel itself, its gradient was only inferred to be that.
  EXPECT_DOUBLE_EQ(rows(MeasuredBy::Op).at("torch.relu").exact, 0.5);
  EXPECT_EQ(rows(MeasuredBy::Graph).at("0/0 forward").match, trace::Match::Exact);
}

TEST_F(MeasuredTest, KernelsWithInferredNodesGiveInferredLines) {
  write(false, true);
  EXPECT_EQ(rows(MeasuredBy::Line).at("m.py:10: x = self.fc(x)").match, trace::Match::Inferred);
  EXPECT_EQ(rows(MeasuredBy::Kernel).at("triton_both_0").match, trace::Match::Exact);
}

TEST_F(MeasuredTest, RowsOfKernels) {
  write(true, true);
  const auto kernels = rows(MeasuredBy::Kernel);
  const MeasuredRow& mm = kernels.at("extern_kernels.mm");
  EXPECT_EQ(mm.kind, "library");
  EXPECT_EQ(mm.graph, "0/0 forward");
  EXPECT_EQ(mm.calls, 1);
  EXPECT_DOUBLE_EQ(mm.mean, 100);
  EXPECT_DOUBLE_EQ(mm.share, 100.0 / 186);
  EXPECT_EQ(mm.tensor_core, TensorCoreUse::Yes);
  EXPECT_EQ(kernels.at("eager").part, TimePart::Eager);
  EXPECT_EQ(rows(MeasuredBy::Graph).at("0/0 backward").calls, 3);
}

TEST_F(MeasuredTest, OneGraphAndWrongQuestions) {
  write(true, true);
  const trace::Id other = writer_->add(trace::CompileRecord{});
  writer_->commit();
  const MeasuredTable t = make_measured_table(*reader_, {MeasuredBy::Kernel, compile_, 1});
  EXPECT_DOUBLE_EQ(t.total, 170);
  for (const MeasuredRow& row : t.rows) EXPECT_EQ(row.part, TimePart::Matched);
  EXPECT_THROW(make_measured_table(*reader_, {MeasuredBy::Kernel, other, 1}), Error);
  EXPECT_THROW(make_measured_table(*reader_, {MeasuredBy::Kernel, std::nullopt, 2}), Error);
  EXPECT_THROW(make_measured_table(*reader_, {MeasuredBy::Kernel, std::nullopt, -1}), Error);
}

TEST_F(MeasuredTest, SumsOfNodesAndPrograms) {
  write(true, true);
  const MeasuredTimes times = measured_times(*reader_, profile_runs(*reader_));
  EXPECT_DOUBLE_EQ(times.total, 186);
  EXPECT_DOUBLE_EQ(times.programs.at(forward_), 120);
  EXPECT_DOUBLE_EQ(times.programs.at(backward_), 50);
  EXPECT_DOUBLE_EQ(times.nodes.at({compile_, kThreshold}).ns, 20);
  EXPECT_EQ(times.nodes.count({compile_, kView}), 0u);
  EXPECT_DOUBLE_EQ(times.captured.at({compile_, kRelu}).ns, 40);
  EXPECT_DOUBLE_EQ(times.parts[static_cast<int>(TimePart::Eager)], 16);
}

TEST_F(MeasuredTest, NotMeasuredIsARowWithoutTime) {
  add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"cpp_fused_add_0"}, {"extern_kernels.mm", true}}, "cpu");
  add("user_annotation", call_of("ka"), 0, 100);
  add("cpu_op", "aten::mm", 30, 10);
  correlate_all();
  const MeasuredTable t = make_measured_table(*reader_, {MeasuredBy::Kernel, std::nullopt, 0});
  EXPECT_DOUBLE_EQ(t.total, 10);
  EXPECT_FALSE(t.rows.back().measured);
  EXPECT_EQ(t.rows.back().kind, "not measured");
  EXPECT_THAT(t.rows.back().key, HasSubstr("0/0 inference: 1 of 2"));
}

}  // namespace
}  // namespace strata::profiler
