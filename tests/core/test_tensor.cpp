// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "core/runtime/tensor.h"
#include "core/support/error.h"
#include "core/support/huge_pages.h"

namespace strata {
namespace {

using testing::ElementsAre;

Tensor counting(std::vector<int64_t> shape, DType dtype = DType::F32) {
  Tensor t = Tensor::empty(dtype, std::move(shape));
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, static_cast<double>(i + 1));
  return t;
}

Tensor transposed(Tensor t) {
  std::swap(t.shape[0], t.shape[1]);
  std::swap(t.strides[0], t.strides[1]);
  return t;
}

TEST(Tensor, FreshOnesAreAlignedAndContiguous) {
  for (DType dtype : {DType::Bool, DType::I16, DType::F32, DType::F64, DType::C128}) {
    const Tensor t = Tensor::empty(dtype, {3, 1, 5});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
    EXPECT_TRUE(t.is_contiguous());
    EXPECT_EQ(t.storage->size, 15 * dtype_size(dtype));
  }
  EXPECT_EQ(counting({2, 3}).str(), "float32[2, 3]");
  EXPECT_EQ(Tensor::scalar(DType::BF16, 1).str(), "bfloat16[]");
}

TEST(Tensor, SizesOfZeroAndOne) {
  const Tensor none = Tensor::empty(DType::F32, {2, 0, 3});
  EXPECT_EQ(none.numel(), 0);
  EXPECT_TRUE(none.is_contiguous());
  EXPECT_TRUE(none.values().empty());
  EXPECT_EQ(none.contiguous().shape, none.shape);
  EXPECT_EQ(none.to(DType::I64).numel(), 0);
  EXPECT_THAT(contiguous_strides(std::vector<int64_t>{2, 0, 3}), ElementsAre(3, 3, 1));
  Tensor one = counting({1, 4});
  one.strides[0] = 77;  // says nothing
  EXPECT_TRUE(one.is_contiguous());
}

TEST(Tensor, ViewsReadThroughStridesAndOffset) {
  const Tensor base = counting({2, 3});
  const Tensor t = transposed(base);
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_THAT(t.values(), ElementsAre(1, 4, 2, 5, 3, 6));
  const Tensor dense = t.contiguous();
  EXPECT_TRUE(dense.is_contiguous());
  EXPECT_NE(dense.storage, t.storage);
  EXPECT_EQ(dense.values(), t.values());
  EXPECT_EQ(base.contiguous().storage, base.storage);
  EXPECT_NE(base.clone().storage, base.storage);
  Tensor row = base;
  row.shape = {3};
  row.strides = {1};
  row.offset = 3;
  EXPECT_THAT(row.values(), ElementsAre(4, 5, 6));
  row.set(1, -7);
  EXPECT_EQ(base.at(4), -7);
  Tensor wide = base;
  wide.shape = {2, 3};
  wide.strides = {0, 1};
  EXPECT_THAT(wide.values(), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(Tensor, Conversions) {
  const double nan = std::nan("");
  const Tensor t = Tensor::of(DType::F64, {6}, std::vector<double>{-1.9, 0, 0.5, 2.9, nan, 300});
  EXPECT_THAT(t.to(DType::Bool).values(), ElementsAre(1, 0, 1, 1, 1, 1));
  const Tensor ints = t.to(DType::I32);
  EXPECT_EQ(ints.int_at(0), -1);
  EXPECT_EQ(ints.int_at(3), 2);
  EXPECT_EQ(t.to(DType::U8).int_at(5), 300 % 256);
  const Tensor big = Tensor::empty(DType::I64, {2});
  big.set_int(0, (int64_t{1} << 53) + 1);
  big.set_int(1, INT64_MIN);
  EXPECT_EQ(big.int_at(0), (int64_t{1} << 53) + 1);
  EXPECT_EQ(big.to(DType::I32).int_at(0), 1);
  EXPECT_EQ(transposed(counting({2, 2})).to(DType::F64).at(1), 3);
}

TEST(Tensor, HalfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f), 0x3c00);
  EXPECT_EQ(float_to_half(65504.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);            // rounds to infinity
  EXPECT_EQ(float_to_half(1.0f + 1.0f / 2048), 0x3c00);  // a tie goes to the even one
  EXPECT_EQ(float_to_half(1.0f + 3.0f / 2048), 0x3c02);
  EXPECT_EQ(float_to_half(std::ldexp(1.0f, -24)), 1);  // smallest subnormal
  EXPECT_EQ(float_to_half(std::ldexp(1.0f, -26)), 0);
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float f = half_to_float(static_cast<uint16_t>(bits));
    if (!std::isnan(f)) {
      EXPECT_EQ(float_to_half(f), bits);
    }
    const float b = bfloat16_to_float(static_cast<uint16_t>(bits));
    if (!std::isnan(b)) {
      EXPECT_EQ(float_to_bfloat16(b), bits);
    }
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(nan))));
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(nan))));
  EXPECT_EQ(float_to_bfloat16(1.0f + 1.0f / 256), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.0f + 3.0f / 256), 0x3f82);
}

TEST(Tensor, EveryTypeStoresAndLoads) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (is_complex(dtype)) continue;
    if (dtype >= DType::F8E4M3FN) {  // carried, not computed with
      EXPECT_THROW(Tensor::full(dtype, {3}, 1), Error);
      continue;
    }
    const Tensor t = Tensor::full(dtype, {3}, 1);
    EXPECT_THAT(t.values(), ElementsAre(1, 1, 1)) << dtype_name(dtype);
  }
}

/// The flags that the system has noted for the mapping around an address; empty where it does not tell.
std::string mapping_flags(const void* memory) {
  std::ifstream maps("/proc/self/smaps");
  const auto address = reinterpret_cast<uintptr_t>(memory);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const uintptr_t low = std::strtoull(line.c_str(), &end, 16);
    if (*end == '-') inside = low <= address && address < std::strtoull(end + 1, nullptr, 16);
    if (inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

TEST(Tensor, LargeMemoryAsksForHugePages) {
  const Tensor large = Tensor::empty(DType::U8, {16 << 20});
  const std::string flags = mapping_flags(large.data() + (8 << 20));
  if (flags.empty() || !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "the system has no huge pages, or does not tell";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
  void* small = mmap(nullptr, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(small, MAP_FAILED);
  prefer_huge_pages(small, 2 << 20);
  EXPECT_EQ(mapping_flags(small).find(" hg "), std::string::npos);
  munmap(small, 2 << 20);
  prefer_huge_pages(nullptr, 16 << 20);
}

TEST(Tensor, ImpossibleSizesAreRefused) {
  EXPECT_THROW(Tensor::empty(DType::F64, {INT64_MAX / 4, 16}), Error);
  EXPECT_THROW(Tensor::empty(DType::F32, {-1}), Error);
  EXPECT_THROW(Tensor::of(DType::F32, {3}, std::vector<double>{1, 2}), Error);
}

}  // namespace
}  // namespace strata
