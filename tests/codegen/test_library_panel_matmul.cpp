// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/instruction_sets.h"
#include "library_reference.h"

namespace strata {
namespace {

using library_test::Case;
using K = PostOp::Kind;

constexpr double kF32 = 4e-6;

/// On processors with AVX2 and no AVX-512 every product that is not small is ours.
void expect_panels(const std::string& text) {
  EXPECT_EQ(text.find("own kernel in panels") != text.npos, library::has_avx2_at_most()) << text;
}

/// Rows that fill no tile and more than one block, columns that fill no panel, depths of one piece and of several.
TEST(LibraryPanelMatmul, EverySizeOfRest) {
  for (const int64_t rows : {37, 96, 103, 200}) {
    for (const int64_t columns : {57, 64, 79, 81, 133}) {
      for (const int64_t depth : {333, 336, 337, 700}) {
        const int form = static_cast<int>(rows + columns + depth) % 3;
        const int threads = static_cast<int>((rows + depth) % 4) + 1;
        Case c("matmul", static_cast<unsigned>(rows * 1000 + columns * 7 + depth));
        c.operand(DType::F32, {rows, depth}, {}, false, rows % 2 ? 3 : 0);
        c.operand(DType::F32, {depth, columns}, form ? std::vector<int>{1, 0} : std::vector<int>{}, form == 2,
                  form == 2 ? 0 : 5);
        c.call.has_bias = columns % 2;
        if (c.call.has_bias) c.operand(DType::F32, {columns});
        c.result(DType::F32, {rows, columns});
        expect_panels(c.check(kF32, true, threads));
      }
    }
  }
}

/// Few panels and many rows, many panels and few rows: cut the one way and the other.
TEST(LibraryPanelMatmul, CutByRowsOrByColumns) {
  for (const auto& s : std::vector<std::vector<int64_t>>{{1000, 30, 10}, {14, 70, 500}, {13, 90, 300}, {97, 65, 97}}) {
    for (const int threads : {2, 3, 7}) {
      for (const bool constant : {false, true}) {
        Case c("matmul", 21);
        c.operand(DType::F32, {s[0], s[1]});
        c.operand(DType::F32, {s[1], s[2]}, {1, 0}, constant);
        c.result(DType::F32, {s[0], s[2]});
        c.post(K::Relu);
        expect_panels(c.check(kF32, true, threads));
      }
    }
  }
}

/// Work on the result is done block by block, in place and on the way to another layout or type.
TEST(LibraryPanelMatmul, OperationsOnTheResult) {
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const bool turned : {false, true}) {
      for (const bool constant : {false, true}) {
        Case c("matmul", 22);
        c.operand(DType::F32, {110, 90});
        c.operand(DType::F32, {90, 75}, {1, 0}, constant);
        c.operand(DType::F32, {75});
        c.call.has_bias = true;
        const int full = c.operand(DType::F32, {110, 75}), row = c.operand(DType::F32, {75});
        const int column = c.operand(DType::F32, {110, 1}), across = c.operand(DType::F32, {110, 75}, {1, 0});
        c.result(dtype, {110, 75}, turned ? std::vector<int>{1, 0} : std::vector<int>{});
        c.post(K::GeluErf);
        c.post(K::Add, 0, 0, full);
        c.post(K::Mul, 0, 0, row);
        c.post(K::Silu);
        c.post(K::Sub, 0, 0, column);
        c.post(K::Add, 0, 0, across);
        expect_panels(c.check(dtype == DType::F32 ? 1e-5 : 1e-2));
      }
    }
  }
}

TEST(LibraryPanelMatmul, BatchesScalesAndOperandsOfEveryLayout) {
  for (const auto& b_order : std::vector<std::vector<int>>{{}, {0, 1, 3, 2}, {0, 2, 1, 3}, {3, 2, 1, 0}}) {
    for (const auto& a_order : std::vector<std::vector<int>>{{}, {0, 2, 1, 3}, {0, 1, 3, 2}}) {
      for (const int64_t heads : {1, 3}) {
        Case c("matmul", 23);
        c.operand(DType::F32, {2, 3, 60, 70}, a_order);
        c.operand(DType::F32, {2, heads, 70, 50}, b_order);
        c.call.alpha = 0.25;
        c.result(DType::F32, {2, 3, 60, 50}, {0, 2, 1, 3});
        expect_panels(c.check(kF32));
      }
    }
  }
}

TEST(LibraryPanelMatmul, OtherTypesAreWidened) {
  for (const DType dtype : {DType::BF16, DType::F16}) {
    for (const bool constant : {false, true}) {
      Case c("matmul", 24);
      c.operand(dtype, {80, 100});
      c.operand(dtype, {100, 70}, {1, 0}, constant);
      c.operand(dtype, {70}, {}, constant);
      c.call.has_bias = true;
      c.result(dtype, {80, 70});
      c.post(K::Relu);
      const std::string text = c.check(dtype == DType::BF16 ? 1e-2 : 1e-3);
      if (!library::has_avx512()) expect_panels(text);
    }
  }
}

/// Rows and columns of 16-bit floats that may change between calls: they are widened as they are packed, not before.
TEST(LibraryPanelMatmul, HalvesOfEverySizeOfRest) {
  for (const DType dtype : {DType::BF16, DType::F16}) {
    for (const int64_t columns : {57, 64, 79, 81, 133}) {
      for (const int64_t depth : {333, 334, 335, 336, 337, 700}) {
        for (const bool turned : {false, true}) {
          const int64_t rows = 13 + columns % 5;
          Case c("matmul", static_cast<unsigned>(columns * 1000 + depth));
          c.operand(dtype, {rows, depth});
          c.operand(dtype, {depth, columns}, turned ? std::vector<int>{1, 0} : std::vector<int>{}, false, 5);
          c.result(DType::F32, {rows, columns});
          const std::string text = c.check(kF32, true, 2);
          if (library::has_avx512()) continue;
          expect_panels(text);
          const std::string as_it_is = dtype == DType::BF16 ? "\n  b bf16[" : "\n  b f16[";
          EXPECT_EQ(text.find(as_it_is) != text.npos, library::has_avx2_at_most()) << text;
        }
      }
    }
  }
}

TEST(LibraryPanelMatmul, NanAndInfinityReachWhatTheyShould) {
  Case c("matmul", 25);
  c.operand(DType::F32, {90, 350});
  c.operand(DType::F32, {350, 60}, {1, 0});
  c.result(DType::F32, {90, 60});
  c.post(K::Relu);
  auto kernel =
      library::compile_library_call(c.call, std::vector<const Tensor*>(3), {}, std::make_shared<library::Scratch>());
  c.tensors[0].set(7 * 350 + 340, NAN);
  c.tensors[1].set(349 * 60 + 59, INFINITY);
  std::vector<std::byte*> buffers;
  for (const Tensor& t : c.tensors) buffers.push_back(t.data());
  kernel->run({buffers.data(), {}, 2});
  for (int64_t i = 0; i < 90; ++i) {
    for (int64_t j = 0; j < 60; ++j) {
      const double got = c.tensors[2].at(i * 60 + j);
      EXPECT_EQ(std::isnan(got), i == 7) << i << " " << j;
      if (i == 7) continue;
      EXPECT_EQ(std::isinf(got), j == 59 && c.tensors[0].at(i * 350 + 349) > 0) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace strata
