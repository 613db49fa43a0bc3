// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/tensor_core.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace strata::profiler {
namespace {

// The table was made by going through the names of kernels in real profiles, one by one.
TEST(TensorCore, EveryNameInTheTable) {
  std::ifstream file(STRATA_TEST_DATA "/torch/truth/tensor_core.tsv");
  std::string line;
  int names = 0, yes = 0;
  while (std::getline(file, line)) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string expected = line.substr(0, tab), name = line.substr(tab + 1);
    EXPECT_EQ(tensor_core_text(tensor_core_use(name)), expected) << name;
    ++names;
    yes += expected == "yes";
  }
  EXPECT_GT(names, 150);
  EXPECT_GT(yes, 50);
}

TEST(TensorCore, NothingIsUnknown) {
  EXPECT_EQ(tensor_core_use(""), TensorCoreUse::Unknown);
  EXPECT_EQ(tensor_core_use("1688"), TensorCoreUse::Unknown);
  EXPECT_EQ(tensor_core_use("s"), TensorCoreUse::Unknown);
}

}  // namespace
}  // namespace strata::profiler
