// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/eager_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/support/error.h"
#include "core/trace/reader.h"
#include "tests/profiler/eager_support.h"

namespace strata::profiler {
namespace {

using test::node;
using test::ProfileMaker;
using trace::Id;

constexpr const char* kForward = "fkey1";
constexpr const char* kBackward = "bkey2";

/// conv2d -> relu -> linear in eager; their backward; a loss and an optimizer around them.
void eager_iteration(ProfileMaker& p, std::int64_t sequence) {
  p.annotation("step", [&] {
    p.op("aten::to", "[[8,3]]",
         [&] { p.op("aten::copy_", "[[8,3]]", [&] { p.launch("Memcpy HtoD", 11, "gpu_memcpy"); }); });
    p.op("aten::conv2d", "[[8,3],[4,3],[4]]", [&] {
      p.op(
          "aten::convolution", "[[8,3],[4,3],[4]]",
          [&] {
            p.op("aten::cudnn_convolution", "[[8,3],[4,3]]", [&] { p.launch("cudnn_fprop", 100); });
            p.op("aten::add_", "[[8,4],[4]]", [&] { p.launch("elementwise_add", 20); });
          },
          sequence);
    });
    p.op("aten::relu", "[[8,4]]",
         [&] { p.op("aten::clamp_min", "[[8,4]]", [&] { p.launch("elementwise_relu", 30); }, sequence + 1); });
    p.op("aten::linear", "[[8,4],[5,4],[5]]",
         [&] { p.op("aten::addmm", "[[5],[8,4],[4,5]]", [&] { p.launch("gemm_forward", 50); }, sequence + 2); });
    p.op("aten::sum", "[[8,5]]", [&] { p.launch("reduce_loss", 9); }, sequence + 3);
    p.backward("SumBackward0", sequence + 3, [&] { p.op("aten::expand", "[[]]"); });
    p.backward("AddmmBackward0", sequence + 2, [&] {
      p.op("aten::mm", "[[8,5],[5,4]]", [&] { p.launch("gemm_dx", 61); });
      p.op("aten::mm", "[[5,8],[8,4]]", [&] { p.launch("gemm_dw", 62); });
      p.op("aten::sum", "[[8,5]]", [&] { p.launch("reduce_db", 13); });
    });
    p.backward("ReluBackward0", sequence + 1,
               [&] { p.op("aten::threshold_backward", "[[8,4],[8,4]]", [&] { p.launch("elementwise_drelu", 17); }); });
    p.backward("ConvolutionBackward0", sequence, [&] {
      p.op("aten::convolution_backward", "[[8,4],[8,3],[4,3]]", [&] { p.launch("cudnn_wgrad", 90); });
    });
    p.backward("torch::autograd::AccumulateGrad", -1,
               [&] { p.op("aten::add_", "[[4]]", [&] { p.launch("accumulate", 3); }); });
    p.annotation("Optimizer.step#Adam.step",
                 [&] { p.op("aten::_foreach_add_", "", [&] { p.launch("multi_tensor", 40); }); });
  });
}

struct Kernels {
  Id conv, fused, addmm, mm_dx, mm_dw, fused_backward, conv_backward;
};

void compiled_iteration(ProfileMaker& p, const Kernels& k, std::int64_t sequence) {
  p.annotation("step", [&] {
    p.op("aten::to", "[[8,3]]",
         [&] { p.op("aten::copy_", "[[8,3]]", [&] { p.launch("Memcpy HtoD", 12, "gpu_memcpy"); }); });
    p.op("Torch-Compiled Region: 0/0", "", [&] {
      p.op(
          "CompiledFunction", "",
          [&] {
            p.annotation(std::string("## Call CompiledFxGraph ") + kForward + " ##", [&] {
              p.op("aten::convolution", "[[8,3],[4,3]]", [&] { p.launch("cudnn_fprop", 99, "kernel", k.conv); });
              p.op("triton_poi_fused_convolution_relu_0", "[[8,4],[4]]",
                   [&] { p.launch("triton_poi_fused_convolution_relu_0", 21, "kernel", k.fused); });
              p.op("aten::addmm", "[[5],[8,4],[4,5]]", [&] { p.launch("gemm_forward", 70, "kernel", k.addmm); });
            });
          },
          sequence);
    });
    p.op("aten::sum", "[[8,5]]", [&] { p.launch("reduce_loss", 8); }, sequence + 1);
    p.backward("SumBackward0", sequence + 1, [&] { p.op("aten::expand", "[[]]"); });
    p.backward("CompiledFunctionBackward", sequence, [&] {
      p.annotation(std::string("## Call CompiledFxGraph ") + kBackward + " ##", [&] {
        p.op("aten::mm", "[[8,5],[5,4]]", [&] { p.launch("gemm_dx", 60, "kernel", k.mm_dx); });
        p.op("aten::mm", "[[5,8],[8,4]]", [&] { p.launch("gemm_dw", 59, "kernel", k.mm_dw); });
        p.op("triton_red_fused_sum_threshold_1", "",
             [&] { p.launch("triton_red_fused_sum_threshold_1", 15, "kernel", k.fused_backward); });
        p.op("aten::convolution_backward", "[[8,4],[8,3],[4,3]]",
             [&] { p.launch("cudnn_wgrad", 88, "kernel", k.conv_backward); });
      });
    });
    p.annotation("Optimizer.step#Adam.step",
                 [&] { p.op("aten::_foreach_add_", "", [&] { p.launch("multi_tensor", 41); }); });
  });
}

/// Captured ids: 1-6 inputs, 11 conv2d, 12 relu, 13 linear. Post-grad: 21.. forward, 31.. backward.
Kernels write_compile(trace::Writer& w, Id process) {
  trace::CompileRecord c;
  c.process = process;
  c.address = "0/0";
  c.name = "forward";
  c.outcome = "ok";
  const Id compile = w.add(c);
  const trace::SourceLocation l8{"model.py", 8, "forward", "y = self.conv(x)"},
      l9{"model.py", 9, "forward", "z = relu(y)"}, l10{"model.py", 10, "forward", "return self.lin(z)"};
  const Id s8 = w.stack(std::vector{l8}), s9 = w.stack(std::vector{l9}), s10 = w.stack(std::vector{l10});
  trace::SnapshotRecord s;
  s.compile = compile;
  s.stage = "captured";
  w.add(s, std::vector{node(1, "x", "", {}, "[8, 3]"), node(2, "w", "", {}, "[4, 3]"), node(3, "b", "", {}, "[4]"),
                       node(4, "lw", "", {}, "[5, 4]"), node(5, "lb", "", {}, "[5]"),
                       node(11, "conv", "torch.conv2d", {1, 2, 3}, "[8, 4]", s8, "conv"),
                       node(12, "relu", "torch.nn.functional.relu", {11}, "[8, 4]", s9, "act"),
                       node(13, "linear", "torch._C._nn.linear", {12, 4, 5}, "[8, 5]", s10, "lin")});
  s.stage = "simplified:forward.after";
  const Id forward =
      w.add(s, std::vector{node(1, "x", "", {}, "[8, 3]"), node(2, "w", "", {}, "[4, 3]"), node(3, "b", "", {}, "[4]"),
                           node(4, "lw", "", {}, "[5, 4]"), node(5, "lb", "", {}, "[5]"),
                           node(21, "convolution", "aten.convolution.default", {1, 2}, "[8, 4]"),
                           node(22, "relu", "aten.relu.default", {21}, "[8, 4]"),
                           node(24, "permute", "aten.permute.default", {4}, "[4, 5]"),
                           node(23, "addmm", "aten.addmm.default", {5, 22, 24}, "[8, 5]")});
  s.stage = "simplified:backward.after";
  const Id backward = w.add(
      s, std::vector{node(40, "tangents", "", {}, "[8, 5]"), node(41, "lwt", "", {}, "[5, 4]"),
                     node(42, "t", "", {}, "[5, 8]"), node(43, "act", "", {}, "[8, 4]"), node(1, "x", "", {}, "[8, 3]"),
                     node(2, "w", "", {}, "[4, 3]"), node(31, "mm", "aten.mm.default", {40, 41}, "[8, 4]"),
                     node(32, "mm_1", "aten.mm.default", {42, 43}, "[5, 4]"),
                     node(33, "sum_1", "aten.sum.dim_IntList", {40}, "[5]"),
                     node(34, "where", "aten.where.self", {43, 31}, "[8, 4]"),
                     node(35, "convolution_backward", "aten.convolution_backward.default", {34, 1, 2}, "")});
  const std::vector<std::pair<trace::NodeId, trace::NodeId>> origins{{21, 11}, {22, 12}, {23, 13}, {24, 13}, {31, 13},
                                                                     {32, 13}, {33, 13}, {34, 12}, {35, 11}};
  for (const auto& [to, from] : origins) {
    trace::OriginRecord o;
    o.compile = compile;
    o.node = to;
    o.from = from;
    w.add(o);
  }
  trace::ProgramRecord p;
  p.compile = compile;
  p.role = "forward", p.key = kForward, p.snapshot = forward;
  const Id pf = w.add(p);
  p.role = "backward", p.key = kBackward, p.snapshot = backward;
  const Id pb = w.add(p);
  std::int64_t ordinal = 0;
  const auto kernel = [&](const std::string& name, bool library, std::vector<trace::NodeId> nodes, Id program) {
    trace::KernelRecord k;
    k.compile = compile;
    k.program = program;
    k.snapshot = program == pf ? forward : backward;
    k.name = name;
    k.kind = library ? trace::KernelKind::Library : trace::KernelKind::Loop;
    k.library = library ? name : "";
    k.nodes = std::move(nodes);
    const Id id = w.add(k);
    trace::LaunchRecord l;
    l.compile = compile, l.program = program, l.kernel = id, l.ordinal = ordinal++;
    w.add(l);
    return id;
  };
  Kernels k{};
  k.conv = kernel("extern_kernels.convolution", true, {21}, pf);
  k.fused = kernel("triton_poi_fused_convolution_relu_0", false, {21, 22}, pf);
  k.addmm = kernel("extern_kernels.addmm", true, {23, 24}, pf);
  k.mm_dx = kernel("extern_kernels.mm", true, {31}, pb);
  k.mm_dw = kernel("extern_kernels.mm", true, {32}, pb);
  k.fused_backward = kernel("triton_red_fused_sum_threshold_1", false, {33, 34}, pb);
  k.conv_backward = kernel("torch.ops.aten.convolution_backward.default", true, {35}, pb);
  return k;
}

class EagerDiffTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write_eager(2);
    write_compiled(3, true);
  }
  void write_eager(int iterations) {
    trace::Writer w(eager_);
    ProfileMaker p(w, w.add(trace::ProcessRecord{}));
    for (int i = 0; i < iterations; ++i) eager_iteration(p, 10 * i);
    p.finish();
    eager_total_ = p.device_total();
    w.close();
  }
  void write_compiled(int iterations, bool with_log) {
    trace::Writer w(compiled_);
    const Id process = w.add(trace::ProcessRecord{});
    const Kernels k = with_log ? write_compile(w, process) : Kernels{};
    ProfileMaker p(w, process);
    for (int i = 0; i < iterations; ++i) compiled_iteration(p, k, 10 * i);
    p.finish();
    compiled_total_ = p.device_total();
    w.close();
  }
  EagerDiff diff(EagerBy by = EagerBy::Kernel) {
    trace::Reader a(eager_), b(compiled_);
    return diff_eager(a, b, by);
  }

  const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::path eager_ = test::temporary(name_ + "_eager"), compiled_ = test::temporary(name_ + "_compiled");
  std::int64_t eager_total_ = 0, compiled_total_ = 0;
};

const EagerRow* find(const EagerDiff& d, const std::string& key, const std::string& role = "") {
  const EagerRow* found = nullptr;
  for (const auto& r : d.rows)
    if (r.key == key && (role.empty() || r.role == role)) found = found == nullptr ? &r : found;
  return found;
}

std::vector<std::string> names(const std::vector<EagerPart>& parts) {
  std::vector<std::string> list;
  for (const auto& p : parts) list.push_back(p.name);
  return list;
}

EagerSide sum(const EagerDiff& d, bool second) {
  EagerSide all;
  for (const auto& r : d.rows) all += second ? r.second : r.first;
  return all;
}

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST_F(EagerDiffTest, EveryKernelHasTheOperatorsItReplaced) {
  const EagerDiff d = diff();
  const EagerRow* fused = find(d, "triton_poi_fused_convolution_relu_0");
  ASSERT_NE(fused, nullptr);
  EXPECT_THAT(names(fused->operators), UnorderedElementsAre("aten::conv2d", "aten::relu"));
  EXPECT_THAT(names(fused->before), ElementsAre("elementwise_relu", "elementwise_add"));
  EXPECT_EQ(fused->first.time, 2 * 50);
  EXPECT_EQ(fused->second.time, 3 * 21);
  EXPECT_EQ(fused->first.launches, 4);
  EXPECT_EQ(fused->second.launches, 3);
  EXPECT_TRUE(fused->inferred);
  EXPECT_EQ(fused->address, "0/0");
  const EagerRow* conv = find(d, "extern_kernels.convolution");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->kind, "library");
  EXPECT_THAT(names(conv->before), ElementsAre("cudnn_fprop"));
  EXPECT_THAT(names(find(d, "extern_kernels.addmm")->before), ElementsAre("gemm_forward"));
}

TEST_F(EagerDiffTest, KernelsSayWhatTheyCompute) {
  const EagerDiff d = diff();
  const EagerRow* fused = find(d, "triton_poi_fused_convolution_relu_0");
  ASSERT_NE(fused, nullptr);
  EXPECT_THAT(fused->nodes, ElementsAre("convolution", "relu"));
  EXPECT_THAT(fused->part_of, ElementsAre("conv2d", "relu"));
}

TEST_F(EagerDiffTest, BackwardKernelsFollowTheirForwardOperator) {
  const EagerDiff d = diff();
  const EagerRow* fused = find(d, "triton_red_fused_sum_threshold_1");
  ASSERT_NE(fused, nullptr);
  EXPECT_EQ(fused->role, "backward");
  EXPECT_THAT(names(fused->before), UnorderedElementsAre("reduce_db", "elementwise_drelu"));
  EXPECT_THAT(names(fused->operators), UnorderedElementsAre("AddmmBackward0", "ReluBackward0"));
  std::map<std::string, std::int64_t> mm;  // two kernels of one name: told apart by shapes
  for (const auto& r : d.rows)
    if (r.key == "extern_kernels.mm")
      for (const auto& p : r.before) mm[p.name] += r.second.time;
  EXPECT_EQ(mm["gemm_dx"], 3 * 60);
  EXPECT_EQ(mm["gemm_dw"], 3 * 59);
}

TEST_F(EagerDiffTest, RowsAddUpToTheTimeOfAllKernels) {
  for (const EagerBy by : {EagerBy::Kernel, EagerBy::Line, EagerBy::Module}) {
    const EagerDiff d = diff(by);
    EXPECT_EQ(d.first.all.time, eager_total_);
    EXPECT_EQ(d.second.all.time, compiled_total_);
    EXPECT_EQ(sum(d, false), d.first.all);
    EXPECT_EQ(sum(d, true), d.second.all);
  }
}

TEST_F(EagerDiffTest, WhatWasNotCompiledIsCompared) {
  const EagerDiff d = diff();
  const EagerRow* loss = find(d, "aten::sum");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->kind, "not compiled");
  EXPECT_EQ(loss->first.time, 2 * 9);
  EXPECT_EQ(loss->second.time, 3 * 8);
  const EagerRow* optimizer = find(d, "(optimizer)");
  ASSERT_NE(optimizer, nullptr);
  EXPECT_EQ(optimizer->first.time, 2 * 40);
  EXPECT_EQ(optimizer->second.time, 3 * 41);
  const EagerRow* accumulate = find(d, "(gradient accumulation)");
  ASSERT_NE(accumulate, nullptr);
  EXPECT_EQ(accumulate->first.time, 2 * 3);
}

TEST_F(EagerDiffTest, ByLineAKernelIsDividedAmongItsLines) {
  const EagerDiff d = diff(EagerBy::Line);
  const EagerRow* conv = find(d, "model.py:8: y = self.conv(x)");
  const EagerRow* relu = find(d, "model.py:9: z = relu(y)");
  const EagerRow* linear = find(d, "model.py:10: return self.lin(z)");
  ASSERT_TRUE(conv != nullptr && relu != nullptr && linear != nullptr);
  EXPECT_EQ(conv->first.time, 2 * (100 + 20 + 90));
  EXPECT_EQ(relu->first.time, 2 * (30 + 17));
  EXPECT_EQ(linear->first.time, 2 * (50 + 61 + 62 + 13));
  // The backward fused kernel (45) is half relu and half linear: the odd nanosecond goes to the first.
  EXPECT_EQ(conv->second.time + relu->second.time, 3 * 99 + 3 * 88 + 3 * 21 + 23);
  EXPECT_THAT(names(relu->after),
              UnorderedElementsAre("triton_poi_fused_convolution_relu_0", "triton_red_fused_sum_threshold_1"));
}

TEST_F(EagerDiffTest, ByModule) {
  const EagerDiff d = diff(EagerBy::Module);
  ASSERT_NE(find(d, "lin"), nullptr);
  EXPECT_EQ(find(d, "lin")->first.time, 2 * (50 + 61 + 62 + 13));
}

TEST_F(EagerDiffTest, IterationsAreCountedAndCompared) {
  const EagerDiff d = diff();
  EXPECT_EQ(d.first.iterations, 2);
  EXPECT_EQ(d.second.iterations, 3);
  EXPECT_EQ(d.first.iteration_source, "annotation 'step'");
  EXPECT_TRUE(d.per_iteration);
  EXPECT_DOUBLE_EQ(d.per(d.first, d.first.all.time), static_cast<double>(eager_total_) / 2);
  EXPECT_GT(d.first.step, 0);
}

TEST_F(EagerDiffTest, LaunchCallsAndIdleTime) {
  const EagerDiff d = diff();
  EXPECT_EQ(d.first.launch_calls, d.first.all.launches);
  EXPECT_EQ(d.first.device_busy, eager_total_);
  EXPECT_EQ(d.first.device_span, d.first.device_busy + d.first.device_idle);
  EXPECT_GT(d.first.device_idle, 0);
}

TEST_F(EagerDiffTest, SlowerIsOfTheMiddleIteration) {
  EagerDiff d;
  d.per_iteration = true;
  d.first.iterations = d.second.iterations = 1;
  d.first.step = 100;
  d.second.step = 125;
  EXPECT_DOUBLE_EQ(d.slower_percent(), 25);
  d.per_iteration = false;
  d.first.all.time = 200;
  d.second.all.time = 100;
  EXPECT_DOUBLE_EQ(d.slower_percent(), -50);
}

TEST_F(EagerDiffTest, WithoutALogKernelsStandAlone) {
  write_compiled(3, false);
  const EagerDiff d = diff();
  EXPECT_EQ(sum(d, false), d.first.all);
  EXPECT_EQ(sum(d, true), d.second.all);
  EXPECT_THAT(d.notes, ::testing::Contains(::testing::HasSubstr("has no captured graph")));
}

TEST_F(EagerDiffTest, OnTheHostKernelsWithoutEventsAreNotMeasured) {
  for (const bool second : {false, true}) {
    trace::Writer w(second ? compiled_ : eager_);
    const Id process = w.add(trace::ProcessRecord{});
    if (second) write_compile(w, process);
    ProfileMaker p(w, process);
    for (int i = 0; i < 2; ++i)
      p.annotation("step", [&] {
        if (second) {
          p.op("Torch-Compiled Region: 0/0", "", [&] {
            p.annotation(std::string("## Call CompiledFxGraph ") + kForward + " ##",
                         [&] { p.op("aten::convolution", "[[8,3],[4,3]]"); });
          });
        } else {
          p.op("aten::conv2d", "[[8,3],[4,3],[4]]", [&] { p.op("aten::mkldnn_convolution", "[[8,3],[4,3],[4]]"); });
          p.op("aten::relu", "[[8,4]]", [&] { p.op("aten::clamp_min", "[[8,4]]"); });
          p.op("aten::linear", "[[8,4],[5,4],[5]]", [&] { p.op("aten::addmm", "[[5],[8,4],[4,5]]"); });
        }
      });
    w.close();
  }
  const EagerDiff d = diff();
  EXPECT_FALSE(d.on_device);
  EXPECT_EQ(sum(d, false), d.first.all);
  EXPECT_EQ(sum(d, true), d.second.all);
  const EagerRow* fused = find(d, "triton_poi_fused_convolution_relu_0");
  ASSERT_NE(fused, nullptr);
  EXPECT_TRUE(fused->not_measured);
  EXPECT_GT(fused->first.time, 0);
  EXPECT_NE(find(d, "(own code of compiled graphs, kernels among it)"), nullptr);
  EXPECT_THAT(d.notes, ::testing::Contains(::testing::HasSubstr("were not measured")));
}

TEST_F(EagerDiffTest, OneTraceWithBothProfiles) {
  const EagerDiff apart = diff();
  {
    trace::Writer w(compiled_);
    const Id process = w.add(trace::ProcessRecord{});
    const Kernels k = write_compile(w, process);
    ProfileMaker a(w, process), b(w, process);
    for (int i = 0; i < 2; ++i) eager_iteration(a, 10 * i);
    for (int i = 0; i < 3; ++i) compiled_iteration(b, k, 10 * i);
    a.finish();
    b.finish();
    w.close();
  }
  trace::Reader both(compiled_);
  const EagerDiff d = diff_eager(both, both, EagerBy::Kernel);
  EXPECT_EQ(d.first.all, apart.first.all);
  EXPECT_EQ(d.second.all, apart.second.all);
  EXPECT_EQ(d.rows.size(), apart.rows.size());
  EXPECT_THAT(d.notes, ::testing::Contains(::testing::HasSubstr("of 2 profiles in the first trace 1 without")));
}

TEST_F(EagerDiffTest, ATraceWithoutAProfileIsAnError) {
  trace::Writer w(compiled_);
  w.close();
  EXPECT_THROW(diff(), Error);
}

}  // namespace
}  // namespace strata::profiler
