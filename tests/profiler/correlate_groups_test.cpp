// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/library_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/launch_align.h"

namespace strata::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LibraryGroups, ProductsWithWhatGoesWithThem) {
  EXPECT_THAT(divide_among_calls({"Memset (Device)", "scal_kernel", "sgemm", "cublasLt::epilogue", "nvjet_x"},
                                 {"extern_kernels.addmm", "extern_kernels.mm"}),
              ElementsAre(0, 0, 0, 0, 1));
}

TEST(LibraryGroups, BackwardOfAConvolutionTakesOneOrTwo) {
  EXPECT_THAT(
      divide_among_calls({"dgrad", "winogradWgradData", "winogradWgradDelta", "gemm", "winogradWgradOutput", "gemm"},
                         {"torch.ops.aten.convolution_backward.default", "extern_kernels.mm"}),
      ElementsAre(0, 0, 0, 0, 0, 1));
  // Two backwards and three main kernels: either may be the one with two.
  EXPECT_THAT(divide_among_calls({"dgrad", "wgrad_a", "wgrad_b"}, {"torch.ops.aten.convolution_backward.default",
                                                                   "torch.ops.aten.convolution_backward.default"}),
              IsEmpty());
}

TEST(LibraryGroups, NothingWhenItDoesNotFit) {
  EXPECT_THAT(divide_among_calls({"sgemm"}, {"extern_kernels.mm", "extern_kernels.mm"}), IsEmpty());
  EXPECT_THAT(divide_among_calls({}, {}), IsEmpty());
  EXPECT_THAT(divide_among_calls({"sgemm", "sort"}, {"extern_kernels.mm", "extern_kernels.bmm"}), IsEmpty());
  EXPECT_THAT(divide_among_calls({"splitKreduce", "Memset"}, {"extern_kernels.mm"}), IsEmpty());
}

TEST(LaunchAlign, NamesOfOperators) {
  EXPECT_THAT(operator_names("extern_kernels.mm"), ElementsAre("*::mm"));
  EXPECT_THAT(operator_names("torch.ops.aten.convolution_backward.default"), ElementsAre("aten::convolution_backward"));
  EXPECT_THAT(operator_names("aten.randint.low_out"), ElementsAre("aten::randint"));
  EXPECT_THAT(operator_names("buf0.copy_"), ElementsAre("*::copy_"));
  EXPECT_THAT(operator_names("aoti_torch_cuda_mm_out"), ElementsAre("*::mm"));
  EXPECT_THAT(operator_names("torch.ops.mylib.f.default"), ElementsAre("mylib::f"));
  EXPECT_TRUE(fits("graph_12_cpp_fused_add_0", {0, 0, "cpp_fused_add_0", false}));
  EXPECT_TRUE(fits("cpp_fused_add_0", {0, 0, "cpp_fused_add_0:3", false}));
  EXPECT_FALSE(fits("graph_x_cpp_fused_add_0", {0, 0, "cpp_fused_add_0", false}));
  EXPECT_FALSE(fits("xcpp_fused_add_0", {0, 0, "cpp_fused_add_0", false}));
  EXPECT_FALSE(fits("aten::mm", {0, 0, "torch.ops.mylib.mm.default", true}));
}

}  // namespace
}  // namespace strata::profiler
