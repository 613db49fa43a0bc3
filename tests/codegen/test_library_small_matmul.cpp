// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/instruction_sets.h"
#include "codegen/small_product.h"
#include "library_reference.h"

namespace strata {
namespace {

using library_test::Case;
using K = PostOp::Kind;

double tolerance(DType dtype) { return dtype == DType::F32 ? 2e-6 : 1e-2; }

bool is_own(const std::string& text) { return text.find("matmul own kernel for") != text.npos; }
/// Or one in panels, which AVX2 has (test_library_panel_matmul.cpp).
bool is_ours(const std::string& text) { return text.find("matmul own kernel") != text.npos; }

/// Whether oneDNN multiplies elements of this type as they are, so that less is left to our kernels.
bool is_narrow_in_library(DType dtype) { return dtype == DType::BF16 && library::has_avx512(); }

/// A weight [columns, depth] that may change between calls, as a linear layer reads it.
TEST(LibrarySmallMatmul, FewRowsOnATransposedWeight) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (int64_t rows : {1, 2, 3, 4, 5, 7, 8, 12}) {
      for (int64_t columns : {1, 5, 16, 63, 65, 200}) {
        for (int64_t depth : {64, 77, 280}) {
          Case c("matmul", static_cast<unsigned>(rows * 1000 + columns));
          c.operand(dtype, {rows, depth}, {}, false, rows % 2 ? 3 : 0);
          c.operand(dtype, {depth, columns}, {1, 0}, false, columns % 2 ? 5 : 0);
          const bool has_bias = columns % 2;
          if (has_bias) c.operand(DType::F32, {columns});
          c.call.has_bias = has_bias;
          c.result(dtype, {rows, columns});
          const std::string text = c.check(tolerance(dtype));
          const bool few = rows <= (is_narrow_in_library(dtype) ? 4 : 12);
          const bool own = library::has_avx512() || rows < library::kManyRows ? is_own(text) : is_ours(text);
          EXPECT_TRUE(!library::has_small_products() || own == (few || columns == 1)) << text;
        }
      }
    }
  }
}

/// More rows: columns are turned into rows first, as long as they are short.
TEST(LibrarySmallMatmul, MoreRowsOnATransposedWeight) {
  for (int64_t rows : {13, 16, 20, 41}) {
    for (int64_t columns : {1, 5, 16, 63, 65, 130}) {
      for (int64_t depth : {1, 3, 4, 15, 77, 511, 512, 513}) {
        Case c("matmul", static_cast<unsigned>(rows * 1000 + columns));
        c.operand(DType::F32, {rows, depth}, {}, false, rows % 2 ? 3 : 0);
        c.operand(DType::F32, {depth, columns}, {1, 0}, false, columns % 2 ? 5 : 0);
        const bool has_bias = columns % 2;
        if (has_bias) c.operand(DType::F32, {columns});
        c.call.has_bias = has_bias;
        c.result(DType::F32, {rows, columns});
        const std::string text = c.check(depth > 100 ? 4e-6 : 2e-6);
        const bool is_small = rows * ((columns + 15) / 16 * 16) * depth <= 262'144;
        const bool expected = library::has_avx512() ? is_own(text) == is_small : is_ours(text);
        EXPECT_TRUE(!library::has_small_products() || columns == 1 || expected) << text;
      }
    }
  }
}

TEST(LibrarySmallMatmul, SmallOperandsOfEveryLayout) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (bool constant : {false, true}) {
      for (const auto& s : std::vector<std::vector<int64_t>>{
               {1, 1, 1}, {6, 16, 16}, {7, 3, 33}, {13, 40, 17}, {2, 65, 100}, {9, 200, 45}, {14, 65, 130}}) {
        if (is_narrow_in_library(dtype) && s[0] * s[1] * s[2] > 16'384) continue;  // the library's
        for (bool transposed : {false, true}) {
          Case c("matmul", 5);
          c.operand(dtype, {s[0], s[1]});
          c.operand(dtype, {s[1], s[2]}, transposed ? std::vector<int>{1, 0} : std::vector<int>{}, constant);
          c.operand(DType::F32, {s[2]});
          c.call.has_bias = true;
          c.result(dtype, {s[0], s[2]});
          const std::string text = c.check(tolerance(dtype));
          const bool packs = is_narrow_in_library(dtype) && !constant && transposed;
          const bool widens = dtype == DType::F16 && constant && library::has_avx512();  // the weight, once
          EXPECT_TRUE(!library::has_small_products() || packs || widens || is_ours(text)) << text;
        }
      }
    }
  }
}

TEST(LibrarySmallMatmul, BatchesScalesAndOperationsOnTheResult) {
  Case c("matmul", 6);
  c.operand(DType::F32, {2, 3, 4, 9}, {0, 2, 1, 3});
  c.operand(DType::F32, {2, 1, 9, 11});
  c.call.alpha = 0.5;
  c.result(DType::F32, {2, 3, 4, 11}, {0, 2, 1, 3});
  EXPECT_EQ(is_own(c.check(2e-6)), library::has_small_products());
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    Case d("matmul", 7);
    d.operand(dtype, {3, 96});
    d.operand(dtype, {96, 70}, {1, 0});
    d.operand(DType::F32, {70});
    d.call.has_bias = true;
    d.call.alpha = 0.5;
    d.call.beta = 2;
    const int full = d.operand(DType::F32, {3, 70});
    d.result(dtype, {3, 70});
    d.post(K::GeluErf);
    d.post(K::Add, 0, 0, full);
    EXPECT_EQ(is_own(d.check(tolerance(dtype))), library::has_small_products());
  }
}

/// Work on the result of few rows, whose lengths are not whole vectors.
TEST(LibrarySmallMatmul, EveryPostOperation) {
  for (K kind : {K::Relu, K::GeluErf, K::GeluTanh, K::Tanh, K::Sigmoid, K::Silu, K::HardSwish, K::HardSigmoid, K::Elu,
                 K::Clamp, K::Linear}) {
    for (const int64_t columns : {70, 256, 300}) {
      Case c("matmul", 90 + static_cast<unsigned>(kind));
      c.operand(DType::F32, {3, 96});
      c.operand(DType::F32, {96, columns}, {1, 0});
      c.result(DType::F32, {3, columns});
      c.post(kind, kind == K::Clamp ? -0.5 : 1.5, 0.75);
      EXPECT_EQ(is_own(c.check(4e-6)), library::has_small_products());
    }
  }
}

TEST(LibrarySmallMatmul, NanAndInfinityReachWhatTheyShould) {
  Case c("matmul", 8);
  c.operand(DType::F32, {3, 70});
  c.operand(DType::F32, {70, 33}, {1, 0});
  c.result(DType::F32, {3, 33});
  c.post(K::Relu);
  auto kernel =
      library::compile_library_call(c.call, std::vector<const Tensor*>(3), {}, std::make_shared<library::Scratch>());
  c.tensors[0].set(70 + 69, NAN);
  c.tensors[1].set(69 * 33 + 4, INFINITY);
  std::vector<std::byte*> buffers;
  for (const Tensor& t : c.tensors) buffers.push_back(t.data());
  kernel->run({buffers.data(), {}, 2});
  for (int64_t i = 0; i < 3 * 33; ++i) EXPECT_EQ(std::isnan(c.tensors[2].at(i)), i / 33 == 1) << i;
}

}  // namespace
}  // namespace strata
