// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/profiler/correlate_testing.h"

namespace strata::profiler {
namespace {

using ::testing::HasSubstr;
using trace::Match;

TEST_F(CorrelateTest, SameNameInSeveralGraphsAndSeveralTimesInOne) {
  const auto first = add_program(add_compile("0/0", 0, 0), "inference", "ka",
                                 {{"triton_add_0"}, {"extern_kernels.mm", true}, {"triton_add_0"}});
  const auto second = add_program(add_compile("1/0", 1, 0), "inference", "kb", {{"triton_add_0"}});
  add("user_annotation", call_of("ka"), 0, 100);
  const auto a = op("triton_add_0", 10, {{"triton_add_0", 5}});
  const auto mm = op("aten::mm", 20, {{"gemm", 50}, {"splitKreduce", 3}});
  const auto b = op("triton_add_0", 30, {{"triton_add_0", 6}});
  add("user_annotation", call_of("kb"), 200, 100);
  const auto c = op("triton_add_0", 210, {{"triton_add_0", 7}});
  const RunCorrelation& run = correlate_all();

  EXPECT_EQ(launch_of(a[0]), first.launches[0]);
  EXPECT_EQ(launch_of(mm[0]), first.launches[1]);
  EXPECT_EQ(launch_of(mm[1]), first.launches[1]);
  EXPECT_EQ(launch_of(b[0]), first.launches[2]);
  EXPECT_EQ(launch_of(c[0]), second.launches[0]);
  for (trace::Id id : {a[0], mm[0], mm[1], b[0], c[0]}) EXPECT_EQ(match_of(id), Match::Exact);
  EXPECT_EQ(events_.at(c[0]).kernel, second.kernels[0]);
  EXPECT_EQ(events_.at(c[0]).program, second.program);
  EXPECT_EQ(events_.at(c[0]).compile, second.compile);
  EXPECT_EQ(run[TimePart::Matched].ns, 71);
  EXPECT_EQ(run.total(), 71);
  EXPECT_DOUBLE_EQ(run.matched_percent(), 100);
  ASSERT_EQ(run.programs.size(), 2u);
  EXPECT_EQ(run.programs[0].address, "0/0 inference");
  EXPECT_EQ(run.programs[0].launches, 3);
  EXPECT_EQ(run.programs[0].exact.ns, 64);
  EXPECT_EQ(run.programs[0].not_measured, "");
}

TEST_F(CorrelateTest, HostEventsOfALaunchAreAssignedToo) {
  const auto p =
      add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"torch.ops.aten.convolution.default", true}});
  const trace::Id outer = add("cpu_op", "Torch-Compiled Region: 0/0", 0, 200);
  const trace::Id region = add("user_annotation", call_of("ka"), 5, 100);
  const trace::Id unit = add("cpu_op", "aten::convolution", 10, 50);
  const trace::Id inner = add("cpu_op", "aten::cudnn_convolution", 12, 40);
  const trace::Id kernel = launch(15, {{"implicit_gemm", 9}}).at(0);
  const trace::Id behind = add("cpu_op", "aten::add", 300, 5);
  correlate_all();
  EXPECT_EQ(events_.at(outer).compile, p.compile);
  EXPECT_EQ(events_.at(outer).program, 0);
  EXPECT_EQ(events_.at(region).program, p.program);
  EXPECT_EQ(launch_of(region), 0);
  EXPECT_EQ(launch_of(unit), p.launches[0]);
  EXPECT_EQ(launch_of(inner), 0);
  EXPECT_EQ(events_.at(inner).program, p.program);
  EXPECT_EQ(launch_of(kernel), p.launches[0]);
  EXPECT_EQ(events_.at(behind).compile, 0);
  EXPECT_EQ(match_of(behind), Match::None);
}

/// The first call of a function holds its compilation: what the compiler runs is no launch and not lost either.
TEST_F(CorrelateTest, WhatTheCompilerRunsIsApart) {
  const trace::Id compile = add_compile("0/0", 0, 0);
  const auto backward = add_program(compile, "backward", "kb", {{"triton_b_0"}, {"extern_kernels.mm", true}});
  add("cpu_op", "Torch-Compiled Region: 0/0", 0, 90);
  add("cpu_op", "dynamo", 2, 80);
  add("cpu_op", "_compile.compile_inner (dynamo_timed)", 3, 70);
  const auto fake = op("aten::mm", 20, {{"gemm", 3}});
  add("cpu_op", "CompiledFunctionBackward", 100, 300, 2);
  add("cpu_op", "entire_backward_compile", 102, 90, 2);
  add("cpu_op", "backward._backward_impl (dynamo_timed)", 103, 80, 2);
  const auto trial = op("triton_b_0", 110, {{"triton_b_0", 5}}, 2);
  const auto probe = op("aten::mm", 150, {{"gemm", 7}}, 2);
  add("user_annotation", call_of("kb"), 220, 50, 2);
  const auto b = op("triton_b_0", 230, {{"triton_b_0", 11}}, 2);
  const auto mm = op("aten::mm", 250, {{"gemm", 13}}, 2);
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(launch_of(b[0]), backward.launches[0]);
  EXPECT_EQ(launch_of(mm[0]), backward.launches[1]);
  EXPECT_EQ(run[TimePart::Matched].ns, 24);
  EXPECT_EQ(run[TimePart::Unmatched].count, 0);
  EXPECT_EQ(run[TimePart::Compiling].ns, 3 + 5 + 7);
  EXPECT_DOUBLE_EQ(run.matched_percent(), 100);
  for (trace::Id id : {fake[0], trial[0], probe[0]}) EXPECT_EQ(launch_of(id), trace::kNone);
}

TEST_F(CorrelateTest, BackwardOnItsOwnThreadAndPartsApart) {
  const trace::Id compile = add_compile("0/0", 0, 0);
  add_program(compile, "forward", "kf", {{"triton_f_0"}});
  const auto backward = add_program(compile, "backward", "kb", {{"triton_b_0"}});
  add("user_annotation", call_of("kf"), 0, 50);
  op("triton_f_0", 10, {{"triton_f_0", 5}});
  add("cpu_op", "CompiledFunctionBackward", 100, 100, 2);
  const auto prologue = op("aten::copy_", 105, {{"copy_kernel", 2}}, 2);
  add("user_annotation", call_of("kb"), 120, 50, 2);
  const auto b = op("triton_b_0", 130, {{"triton_b_0", 11}}, 2);
  add("user_annotation", "Optimizer.step#Adam.step", 300, 50);
  const auto optimizer = op("aten::_foreach_add_", 310, {{"multi_tensor_apply", 13}});
  const auto eager = op("aten::pow", 400, {{"pow_kernel", 17}});
  const auto copy = op("aten::to", 420, {{"Memcpy HtoD", 19}});
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(launch_of(b[0]), backward.launches[0]);
  EXPECT_EQ(run[TimePart::Matched].ns, 16);
  EXPECT_EQ(run[TimePart::Unmatched].ns, 2);
  EXPECT_EQ(run[TimePart::Optimizer].ns, 13);
  EXPECT_EQ(run[TimePart::Eager].ns, 17);
  EXPECT_EQ(run[TimePart::DataMovement].ns, 19);
  EXPECT_EQ(run[TimePart::Optimizer].count, 1);
  EXPECT_EQ(run.total(), 5 + 11 + 2 + 13 + 17 + 19);
  for (trace::Id id : {prologue[0], optimizer[0], eager[0], copy[0]}) EXPECT_EQ(match_of(id), Match::None);
  ASSERT_FALSE(run.unassigned.empty());
  EXPECT_EQ(run.unassigned[0].name, "Memcpy HtoD");  // greatest first
}

TEST_F(CorrelateTest, LibraryCallsMayLaunchNothingOrFillsAndCopies) {
  const auto p =
      add_program(add_compile("0/0", 0, 0), "inference", "ka",
                  {{"extern_kernels.addmm", true}, {"aten.randint.low_out", true}, {"extern_kernels.addmm", true}});
  add("user_annotation", call_of("ka"), 0, 100);
  const auto a = op("aten::addmm", 10, {{"Memset (Device)", 1}, {"sgemm", 20}, {"Memcpy DtoD", 2}});
  op("aten::empty", 25, {});
  op("aten::randint", 30, {});
  const auto b = op("aten::addmm", 45, {{"sgemm", 21}});
  const RunCorrelation& run = correlate_all();
  for (trace::Id id : a) EXPECT_EQ(launch_of(id), p.launches[0]);
  EXPECT_EQ(launch_of(b[0]), p.launches[2]);
  EXPECT_EQ(match_of(b[0]), Match::Exact);
  EXPECT_EQ(run[TimePart::Matched].ns, 44);
  EXPECT_EQ(run[TimePart::Unmatched].count, 0);
}

TEST_F(CorrelateTest, ExtraAndMissingCallsMakeItInferredOrListed) {
  const auto p = add_program(
      add_compile("0/0", 0, 0), "inference", "ka",
      {{"triton_a_0"}, {"extern_kernels.mm", true}, {"triton_b_1"}, {"extern_kernels.mm", true}, {"triton_c_2"}});
  add("user_annotation", call_of("ka"), 0, 200);
  const auto a = op("triton_a_0", 10, {{"triton_a_0", 1}});
  const auto odd = op("aten::sort", 25, {{"sort_kernel", 2}});  // of no call
  const auto b = op("triton_b_1", 40, {{"triton_b_1", 4}});     // the first mm was skipped
  const auto mm = op("aten::mm", 55, {{"gemm", 8}});
  const auto c = op("triton_c_2", 70, {{"triton_c_2", 16}});
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(match_of(a[0]), Match::Exact);
  EXPECT_EQ(match_of(b[0]), Match::Exact);
  EXPECT_EQ(match_of(c[0]), Match::Exact);
  EXPECT_EQ(launch_of(mm[0]), p.launches[3]);
  EXPECT_EQ(match_of(mm[0]), Match::Inferred);
  EXPECT_EQ(launch_of(odd[0]), 0);
  EXPECT_EQ(run[TimePart::Unmatched].ns, 2);
  ASSERT_EQ(run.unassigned.size(), 1u);
  EXPECT_EQ(run.unassigned[0].name, "sort_kernel");
  EXPECT_NE(run.unassigned[0].why, "");
  EXPECT_EQ(run.programs.at(0).kernels_measured, 4);
  EXPECT_THAT(run.programs.at(0).not_measured, HasSubstr("1 of 5"));
  bool said = false;
  for (const auto& d : reader_->diagnostics())
    said |= d.kind == "correlation" && d.detail.find("sort_kernel") != d.detail.npos;
  EXPECT_TRUE(said);
}

TEST_F(CorrelateTest, CallsInsideOtherOperatorsAndAnnotations) {
  const auto p =
      add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"extern_kernels.mm", true}, {"triton_a_0"}});
  add("user_annotation", call_of("ka"), 0, 200);
  add("cpu_op", "mylib::wrapper", 5, 50);
  const auto mm = op("aten::mm", 10, {{"gemm", 8}});
  add("user_annotation", "stream 3", 60, 50);
  const auto a = op("triton_a_0", 70, {{"triton_a_0", 1}});
  correlate_all();
  EXPECT_EQ(launch_of(mm[0]), p.launches[0]);
  EXPECT_EQ(launch_of(a[0]), p.launches[1]);
}

TEST_F(CorrelateTest, AutotuningIsApart) {
  const auto p = add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"triton_a_0"}});
  add("user_annotation", call_of("ka"), 0, 200);
  for (int i = 0; i < 5; ++i) launch(10 + 5 * i, {{"triton_a_0", 100}});
  const auto a = op("triton_a_0", 70, {{"triton_a_0", 1}});
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(launch_of(a[0]), p.launches[0]);
  EXPECT_EQ(match_of(a[0]), Match::Exact);
  EXPECT_EQ(run[TimePart::Autotuning].ns, 500);
  EXPECT_EQ(run[TimePart::Autotuning].count, 5);
  EXPECT_EQ(run[TimePart::Matched].ns, 1);
  EXPECT_DOUBLE_EQ(run.matched_percent(), 100);
}

TEST_F(CorrelateTest, CudaGraphReplay) {
  const auto p = add_program(add_compile("0/0", 0, 0), "inference", "ka",
                             {{"triton_a_0"},
                              {"extern_kernels.mm", true},
                              {"triton_b_1"},
                              {"extern_kernels.mm", true},
                              {"extern_kernels.bmm", true},
                              {"triton_a_0"}});
  add("user_annotation", call_of("ka"), 0, 200);
  const auto k = launch(10,
                        {{"triton_a_0", 1},
                         {"gemm", 2},
                         {"splitKreduce", 4},
                         {"triton_b_1", 8},
                         {"gemm", 16},
                         {"gemm2", 32},
                         {"triton_a_0", 64}},
                        1, "cudaGraphLaunch");
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(launch_of(k[0]), p.launches[0]);
  EXPECT_EQ(launch_of(k[1]), p.launches[1]);
  EXPECT_EQ(launch_of(k[2]), p.launches[1]);
  EXPECT_EQ(launch_of(k[3]), p.launches[2]);
  EXPECT_EQ(launch_of(k[4]), p.launches[3]);
  EXPECT_EQ(launch_of(k[5]), p.launches[4]);
  EXPECT_EQ(launch_of(k[6]), p.launches[5]);
  EXPECT_EQ(match_of(k[0]), Match::Exact);
  EXPECT_EQ(match_of(k[1]), Match::Inferred);  // the kernel's name does not say which call it is
  EXPECT_EQ(run[TimePart::Matched].ns, 127);
}

TEST_F(CorrelateTest, CudaGraphGapsThatCannotBeTold) {
  add_program(add_compile("0/0", 0, 0), "inference", "ka",
              {{"triton_a_0"}, {"extern_kernels.mm", true}, {"extern_kernels.bmm", true}, {"triton_b_1"}});
  add("user_annotation", call_of("ka"), 0, 200);
  const auto k =
      launch(10, {{"triton_a_0", 1}, {"gemm", 2}, {"gemm", 4}, {"gemm", 8}, {"triton_b_1", 16}}, 1, "cudaGraphLaunch");
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(run[TimePart::Matched].ns, 17);
  EXPECT_EQ(run[TimePart::Unmatched].ns, 14);
  EXPECT_EQ(launch_of(k[2]), 0);
  EXPECT_THAT(run.unassigned.at(0).why, HasSubstr("CUDA graph"));
}

TEST_F(CorrelateTest, CudaGraphKernelsAreDividedByWhatTheyAre) {
  const auto p = add_program(add_compile("0/0", 0, 0), "backward", "ka",
                             {{"torch.ops.aten.convolution_backward.default", true},
                              {"extern_kernels.mm", true},
                              {"extern_kernels.addmm", true},
                              {"triton_b_1"}});
  add("user_annotation", call_of("ka"), 0, 200);
  const auto copy = op("aten::_foreach_copy_", 5, {{"multi_tensor_apply", 256}});
  const auto k = launch(30,
                        {{"nchwToNhwcKernel", 1},
                         {"sm80_xmma_wgrad_implicit_gemm", 2},
                         {"nhwcToNchwKernel", 4},
                         {"cutlass_sgemm", 8},
                         {"cublasLt::splitKreduce_kernel", 16},
                         {"memcpy128", 32},
                         {"sm80_xmma_gemm", 64},
                         {"triton_b_1", 128}},
                        1, "cudaGraphLaunch");
  const RunCorrelation& run = correlate_all();
  const int owner[] = {0, 0, 0, 1, 1, 2, 2, 3};
  for (size_t i = 0; i < k.size(); ++i) EXPECT_EQ(launch_of(k[i]), p.launches[static_cast<size_t>(owner[i])]) << i;
  EXPECT_EQ(match_of(k[3]), Match::Inferred);
  EXPECT_EQ(run[TimePart::Matched].ns, 255);
  EXPECT_EQ(launch_of(copy[0]), 0);
  EXPECT_EQ(run[TimePart::DataMovement].ns, 256);  // into the graph's own inputs
}

/// PyTorch 2.4 does not say which compile it calls.
TEST_F(CorrelateTest, RegionWithoutANumberIsCompiledCode) {
  add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"triton_a_0"}});
  const trace::Id region = add("cpu_op", "Torch-Compiled Region", 0, 100);
  const auto inside = op("Strata: Net 0/0", 10, {{"gemm", 5}});
  const auto outside = op("aten::mm", 200, {{"gemm", 7}});
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(events_.at(region).compile, 0);
  EXPECT_EQ(launch_of(inside[0]), 0);
  EXPECT_EQ(launch_of(outside[0]), 0);
  EXPECT_EQ(run[TimePart::Unmatched].ns, 5);
  EXPECT_EQ(run[TimePart::Eager].ns, 7);
}

TEST_F(CorrelateTest, KeyOfAnotherRunFallsBackToTheAddress) {
  const trace::Id compile = add_compile("0/0", 0, 0);
  const auto forward = add_program(compile, "forward", "old-f", {{"triton_f_0"}});
  const auto backward = add_program(compile, "backward", "old-b", {{"triton_b_0"}});
  add("cpu_op", "Torch-Compiled Region: 0/0", 0, 100);
  add("user_annotation", call_of("new-f"), 5, 90);
  const auto f = op("triton_f_0", 10, {{"triton_f_0", 5}});
  add("cpu_op", "CompiledFunctionBackward", 200, 100, 2);
  add("user_annotation", call_of("new-b"), 205, 90, 2);
  const auto b = op("triton_b_0", 210, {{"triton_b_0", 6}}, 2);
  correlate_all();
  EXPECT_EQ(launch_of(f[0]), forward.launches[0]);
  EXPECT_EQ(launch_of(b[0]), backward.launches[0]);
  EXPECT_EQ(match_of(f[0]), Match::Inferred);
  EXPECT_EQ(match_of(b[0]), Match::Inferred);
}

TEST_F(CorrelateTest, LogWithoutKeysOfTheSameProcessIsSure) {
  const trace::Id compile = add_compile("0/0_1", 0, 0);
  const auto forward = add_program(compile, "forward", "", {{"triton_f_0"}});
  const auto backward = add_program(compile, "backward", "", {{"triton_b_0"}});
  add("cpu_op", "Torch-Compiled Region: 0/0_1", 0, 100);
  add("user_annotation", call_of("None"), 5, 90);
  sequence_ = 3;
  add("cpu_op", "CompiledFunction", 3, 95);
  add("cpu_op", "CompiledFunctionBackward", 200, 100, 2);
  sequence_ = -1;
  const auto f = op("triton_f_0", 10, {{"triton_f_0", 5}});
  add("user_annotation", call_of("None"), 205, 90, 2);
  const auto b = op("triton_b_0", 210, {{"triton_b_0", 6}}, 2);
  correlate_all();
  EXPECT_EQ(launch_of(f[0]), forward.launches[0]);
  EXPECT_EQ(launch_of(b[0]), backward.launches[0]);
  EXPECT_EQ(match_of(f[0]), Match::Exact);
  EXPECT_EQ(match_of(b[0]), Match::Exact);
}

TEST_F(CorrelateTest, UnknownProgramIsListedWithItsKey) {
  add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"triton_a_0"}});
  add("user_annotation", call_of("fzzz"), 0, 100);
  const auto k = op("triton_z_0", 10, {{"triton_z_0", 5}});
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(launch_of(k[0]), 0);
  EXPECT_EQ(run[TimePart::Unmatched].ns, 5);
  EXPECT_THAT(run.unassigned.at(0).why, HasSubstr("fzzz"));
  ASSERT_EQ(report_.not_measured.size(), 1u);
  EXPECT_EQ(report_.not_measured[0].address, "0/0 inference");
  EXPECT_NE(report_.not_measured[0].not_measured, "");
}

TEST_F(CorrelateTest, OneKeyInTwoCompilesIsToldByTheRegion) {
  add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"triton_a_0"}});
  const auto second = add_program(add_compile("1/0", 1, 0), "inference", "ka", {{"triton_a_0"}});
  add("cpu_op", "Torch-Compiled Region: 1/0", 0, 100);
  add("user_annotation", call_of("ka"), 5, 90);
  const auto told = op("triton_a_0", 10, {{"triton_a_0", 5}});
  add("user_annotation", call_of("ka"), 205, 90);
  const auto untold = op("triton_a_0", 210, {{"triton_a_0", 5}});
  correlate_all();
  EXPECT_EQ(launch_of(told[0]), second.launches[0]);
  EXPECT_EQ(match_of(told[0]), Match::Exact);
  EXPECT_EQ(match_of(untold[0]), Match::Inferred);
}

TEST_F(CorrelateTest, RegionsNamedByTheCompileOnly) {
  const trace::Id compile = add_compile("0/1", 0, 1);
  const auto forward = add_program(compile, "forward", "", {{"triton_f_0"}});
  const auto backward = add_program(compile, "backward", "", {{"triton_b_0"}, {"extern_kernels.mm", true}});
  const trace::Id other = add_compile("1/0", 1, 0);
  add_program(other, "forward", "", {{"triton_g_0"}});
  add_program(other, "backward", "", {{"triton_b_0"}});
  add("cpu_op", "Torch-Compiled Region: 0/1", 0, 100);
  sequence_ = 42;
  add("cpu_op", "CompiledFunction", 2, 90);
  sequence_ = -1;
  const auto f = op("triton_f_0", 10, {{"triton_f_0", 5}});
  sequence_ = 42;
  add("cpu_op", "CompiledFunctionBackward", 200, 100, 2);
  sequence_ = -1;
  const auto b = op("triton_b_0", 210, {{"triton_b_0", 6}}, 2);
  const auto mm = op("aten::mm", 230, {{"gemm", 7}}, 2);
  correlate_all();
  EXPECT_EQ(launch_of(f[0]), forward.launches[0]);
  EXPECT_EQ(launch_of(b[0]), backward.launches[0]);
  EXPECT_EQ(launch_of(mm[0]), backward.launches[1]);
  for (trace::Id id : {f[0], b[0], mm[0]}) EXPECT_EQ(match_of(id), Match::Inferred);
}

TEST_F(CorrelateTest, NoAnnotationsAtAll) {
  const auto p =
      add_program(add_compile("0/0", 0, 0), "inference", "",
                  {{"extern_kernels.mm", true}, {"triton_a_0"}, {"extern_kernels.mm", true}, {"triton_b_1"}});
  add("user_annotation", "step", 0, 1000);
  const auto before = op("aten::mm", 5, {{"gemm", 100}});  // somebody else's
  const auto m0 = op("aten::mm", 20, {{"gemm", 1}});
  const auto a = op("triton_a_0", 40, {{"triton_a_0", 2}});
  const auto m1 = op("aten::mm", 60, {{"gemm", 4}});
  const auto b = op("triton_b_1", 80, {{"triton_b_1", 8}});
  const auto after = op("aten::mm", 100, {{"gemm", 200}});
  const auto part = op("triton_a_0", 120, {{"triton_a_0", 400}});  // not the whole program
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(launch_of(m0[0]), p.launches[0]);
  EXPECT_EQ(launch_of(a[0]), p.launches[1]);
  EXPECT_EQ(launch_of(m1[0]), p.launches[2]);
  EXPECT_EQ(launch_of(b[0]), p.launches[3]);
  for (trace::Id id : {m0[0], a[0], m1[0], b[0]}) EXPECT_EQ(match_of(id), Match::Inferred);
  for (trace::Id id : {before[0], after[0], part[0]}) EXPECT_EQ(launch_of(id), 0);
  EXPECT_EQ(run[TimePart::Matched].ns, 15);
  EXPECT_EQ(run[TimePart::Eager].ns, 700);
}

TEST_F(CorrelateTest, DeviceEventsWithoutTheirCallUseTheExternalNumber) {
  const auto p = add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"triton_a_0"}});
  add("user_annotation", call_of("ka"), 0, 100);
  external_ = 99;
  add("cpu_op", "triton_a_0", 10, 10);
  external_ = 0;
  trace::EventRecord e;
  e.run = run_;
  e.category = "kernel";
  e.name = "triton_a_0";
  e.start_ns = 1000;
  e.duration_ns = 5;
  e.stream = 7;
  e.external = 99;
  const trace::Id linked = writer_->add(e);
  e.external = 0;
  const trace::Id lost = writer_->add(e);
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(launch_of(linked), p.launches[0]);
  EXPECT_EQ(launch_of(lost), 0);
  EXPECT_EQ(run[TimePart::Eager].ns, 5);
  EXPECT_NE(run.unassigned.at(0).why, "");
}

TEST_F(CorrelateTest, CpuKernelsAreMeasuredOnlyWhenProfiled) {
  const auto p = add_program(add_compile("0/0", 0, 0), "inference", "ka",
                             {{"cpp_fused_add_0"}, {"extern_kernels.mm", true}, {"cpp_fused_relu_1"}}, "cpu");
  add("user_annotation", call_of("ka"), 0, 100);
  const trace::Id a = add("cpu_op", "graph_0_cpp_fused_add_0", 10, 10);
  const trace::Id mm = add("cpu_op", "aten::mm", 30, 10);
  add("cpu_op", "aten::resolve_conj", 31, 2);
  const trace::Id r = add("cpu_op", "graph_0_cpp_fused_relu_1", 50, 10);
  add("cpu_op", "aten::add", 200, 7);
  add("user_annotation", "Optimizer.step#SGD.step", 300, 50);
  add("cpu_op", "aten::_foreach_add_", 310, 3);
  const RunCorrelation& run = correlate_all();
  EXPECT_FALSE(run.device);
  EXPECT_EQ(launch_of(a), p.launches[0]);
  EXPECT_EQ(launch_of(mm), p.launches[1]);
  EXPECT_EQ(launch_of(r), p.launches[2]);
  EXPECT_EQ(run[TimePart::Matched].ns, 30);
  EXPECT_EQ(run[TimePart::Eager].ns, 7);
  EXPECT_EQ(run[TimePart::Optimizer].ns, 3);
  EXPECT_EQ(run.programs.at(0).not_measured, "");
}

TEST_F(CorrelateTest, CpuKernelsThatWereNotProfiled) {
  add_program(add_compile("0/0", 0, 0), "inference", "ka",
              {{"cpp_fused_add_0"}, {"extern_kernels.mm", true}, {"cpp_fused_relu_1"}}, "cpu");
  add("user_annotation", call_of("ka"), 0, 100);
  add("cpu_op", "aten::mm", 30, 10);
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(run[TimePart::Matched].ns, 10);
  EXPECT_THAT(run.programs.at(0).not_measured, HasSubstr("2 of 3"));
  EXPECT_THAT(run.programs.at(0).not_measured, HasSubstr("profiling"));
}

TEST_F(CorrelateTest, WhatWasWrittenReadsBack) {
  add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"triton_a_0"}, {"triton_b_1"}});
  add("user_annotation", call_of("ka"), 0, 100);
  op("triton_a_0", 10, {{"triton_a_0", 5}});
  op("aten::odd\tname", 30, {{"odd\tkernel", 6}});
  const RunCorrelation made = correlate_all();
  const auto read = read_correlation(*reader_, run_);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->device, made.device);
  for (int i = 0; i < kTimeParts; ++i) EXPECT_EQ(read->parts[i].ns, made.parts[i].ns);
  ASSERT_EQ(read->programs.size(), 1u);
  EXPECT_EQ(read->programs[0].not_measured, made.programs[0].not_measured);
  EXPECT_EQ(read->programs[0].exact.ns, 5);
  EXPECT_EQ(read->programs[0].kernels, 2);
  ASSERT_EQ(read->unassigned.size(), 1u);
  EXPECT_EQ(read->unassigned[0].name, "odd kernel");
  EXPECT_EQ(read->unassigned[0].why, made.unassigned[0].why);
  EXPECT_FALSE(read_correlation(*reader_, run_ + 100).has_value());
}

TEST_F(CorrelateTest, EmptyProfileAndNothingCompiled) {
  const RunCorrelation& run = correlate_all();
  EXPECT_EQ(run.total(), 0);
  EXPECT_DOUBLE_EQ(run.matched_percent(), -1);
}

TEST_F(CorrelateTest, LoopThatRunsItsCallsAgain) {
  // A call in a loop is one launch of the plan and several events; which one is the call cannot be told by order.
  const auto p = add_program(add_compile("0/0", 0, 0), "inference", "ka", {{"triton_a_0"}, {"triton_b_1"}});
  add("user_annotation", call_of("ka"), 0, 200);
  op("triton_a_0", 10, {{"triton_a_0", 1}});
  std::vector<trace::Id> b;
  for (int i = 0; i < 3; ++i) b.push_back(op("triton_b_1", 30 + 20 * i, {{"triton_b_1", 2}})[0]);
  const RunCorrelation& run = correlate_all();
  for (trace::Id id : b) {
    EXPECT_EQ(launch_of(id), p.launches[1]);
    EXPECT_EQ(match_of(id), Match::Inferred);
  }
  EXPECT_EQ(run[TimePart::Unmatched].count, 0);
}

}  // namespace
}  // namespace strata::profiler
