// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// One NaN in an image reaches every output, whatever was fused on the way.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/app/cases.h"

namespace strata::testing {
namespace {

class NanInput : public ::testing::TestWithParam<const char*> {};

TEST_P(NanInput, ReachesTheOutputsOfItsImage) {
  const Case c = smallest_case("cnn_fmnist");
  const TemporaryFolder folder;
  Tensor image = c.tensors("input_")[0].clone();
  const int64_t images = image.shape[0], pixels = image.numel() / images;
  image.set((images - 1) * pixels + pixels / 2, NAN);
  const std::string in = (folder.path() / "in.npy").string();
  write_npy(in, image);
  const Finished f = strata({"run", model_file("cnn_fmnist"), "--backend", GetParam(), "--input", in, "--output",
                             (folder.path() / "out").string()});
  ASSERT_EQ(f.code, 0) << f.err;
  const std::vector<double> out = read_npy((folder.path() / "out" / "output_0.npy").string()).values();
  ASSERT_EQ(out.size(), static_cast<size_t>(images * 10));
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isnan(out[i]), i >= out.size() - 10) << i;
}

INSTANTIATE_TEST_SUITE_P(Backends, NanInput, ::testing::Values("strata", "unfused", "interpret"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace strata::testing
