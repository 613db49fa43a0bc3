// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "library_reference.h"

namespace strata {
namespace {

using library_test::Case;

Case make(DType dtype, int64_t b, int64_t h, int64_t l, int64_t keys, int64_t e, int64_t ev, unsigned seed,
          bool strided = false) {
  Case c("attention", seed);
  const std::vector<int> order = strided ? std::vector<int>{0, 2, 1, 3} : std::vector<int>{};
  c.operand(dtype, {b, h, l, e}, order);
  c.operand(dtype, {b, h, keys, e}, order);
  c.operand(dtype, {b, h, keys, ev}, order);
  c.call.alpha = 1 / std::sqrt(static_cast<double>(e));
  return c;
}

TEST(LibraryAttention, ShapesFromOneToSeveralBlocks) {
  const int64_t sizes[][6] = {{1, 1, 1, 1, 1, 1},
                              {2, 4, 24, 24, 32, 32},
                              {1, 2, 200, 140, 40, 24},
                              {2, 2, 7, 300, 20, 33},
                              {1, 3, 129, 128, 8, 5}};
  for (const auto& s : sizes) {
    for (bool strided : {false, true}) {
      Case c = make(DType::F32, s[0], s[1], s[2], s[3], s[4], s[5], 7, strided);
      c.result(DType::F32, {s[0], s[1], s[2], s[5]}, strided ? std::vector<int>{0, 2, 1, 3} : std::vector<int>{});
      c.check(2e-6);
    }
  }
}

TEST(LibraryAttention, Causal) {
  for (int64_t l : {1, 5, 130, 150}) {
    Case c = make(DType::F32, 1, 2, l, 150, 16, 16, 8);
    c.call.causal = true;
    c.result(DType::F32, {1, 2, l, 16});
    c.check(2e-6);
  }
}

TEST(LibraryAttention, MasksOfEveryShapeAndType) {
  const std::vector<int64_t> shapes[] = {{2, 3, 40, 150}, {2, 1, 1, 150}, {40, 150}, {1, 150}, {2, 1, 40, 1}};
  for (const auto& shape : shapes) {
    for (DType dtype : {DType::Bool, DType::F32}) {
      Case c = make(DType::F32, 2, 3, 40, 150, 24, 24, 9);
      c.operand(dtype, shape);
      c.call.has_mask = true;
      c.result(DType::F32, {2, 3, 40, 24});
      c.check(2e-6);
    }
  }
}

/// Causal order as a mask, and sequences side by side: blocks that all rows of a tile see, or none.
TEST(LibraryAttention, MasksThatAreMostlyAllOrNothing) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (const bool causal : {true, false}) {
      for (const double fill : {-static_cast<double>(INFINITY), -2.0}) {
        Case c = make(dtype, 1, 2, 170, 170, 8, 8, 22);
        const int mask = c.operand(DType::Bool, {170, 170});
        for (int64_t i = 0; i < 170; ++i)
          for (int64_t j = 0; j < 170; ++j) c.tensors[mask].set_int(i * 170 + j, causal ? j <= i : i / 90 == j / 90);
        c.call.has_mask = true;
        c.call.mask_fill = fill;
        c.result(dtype, {1, 2, 170, 8});
        c.check(dtype == DType::F32 ? 2e-6 : 8e-3);
      }
    }
  }
}

TEST(LibraryAttention, RowsWithoutAnyKeyAreZero) {
  Case c = make(DType::F32, 1, 2, 9, 140, 8, 8, 10);
  const int mask = c.operand(DType::Bool, {9, 140});
  for (int64_t j = 0; j < 140; ++j) c.tensors[mask].set_int(3 * 140 + j, 0);
  for (int64_t j = 0; j < 128; ++j) c.tensors[mask].set_int(4 * 140 + j, 0);  // a whole block unseen
  c.call.has_mask = true;
  c.result(DType::F32, {1, 2, 9, 8});
  c.check(2e-6);
}

/// As a program spells it out: a number in place of hidden scores, NaN or 0 where nothing is left to see.
TEST(LibraryAttention, SpelledOutMasks) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    for (double fill : {-static_cast<double>(INFINITY), -1.5}) {
      for (int64_t rows : {1, 9, 40}) {
        for (const bool empty_rows_nan : {true, false}) {
          Case c = make(dtype, 1, 2, rows, 300, 16, 16, 17);
          const int mask = c.operand(DType::Bool, {rows, 300});
          for (int64_t j = 0; j < 300; ++j) c.tensors[mask].set_int(rows / 2 * 300 + j, 0);
          c.call.has_mask = c.call.mask_replaces = true;
          c.call.empty_rows_nan = empty_rows_nan;
          c.call.mask_fill = fill;
          c.result(dtype, {1, 2, rows, 16});
          c.check(dtype == DType::F32 ? 2e-6 : dtype == DType::F64 ? 1e-14 : 1e-2);
        }
      }
    }
  }
}

/// Heads, keys and columns that fill the matrices of the processor, or fall short of them.
TEST(LibraryAttention, Bfloat16OfAnySize) {
  const int64_t sizes[][5] = {{40, 16, 64, 64, 0}, {70, 150, 80, 40, 0}, {33, 129, 33, 17, 1},
                              {16, 1, 2, 1, 0},    {50, 50, 128, 64, 1}, {9, 31, 1, 100, 0},
                              {1, 200, 64, 64, 0}, {3, 70, 128, 80, 1},  {8, 17, 16, 16, 0}};
  bool strided = false;
  for (const auto& [rows, keys, e, ev, causal] : sizes) {
    strided = !strided;
    for (const bool masked : {false, true}) {
      Case c = make(DType::BF16, 1, 2, rows, keys, e, ev, 21, strided);
      c.call.causal = causal != 0;
      if (masked) {
        const int mask = c.operand(DType::Bool, {rows, keys});
        for (int64_t i = 0; i < rows; ++i) c.tensors[mask].set_int(i * keys, 1);
        c.call.has_mask = true;
      }
      c.result(DType::BF16, {1, 2, rows, ev}, strided ? std::vector<int>{0, 2, 1, 3} : std::vector<int>{});
      c.check(8e-3);
    }
  }
}

/// Hidden keys have weight 0, which makes NaN of a NaN.
TEST(LibraryAttention, HiddenNanShows) {
  for (int64_t rows : {2, 20}) {
    Case c = make(DType::F32, 1, 1, rows, 300, 16, 16, 18);
    const int mask = c.operand(DType::Bool, {1, 300});
    for (int64_t j = 100; j < 300; ++j) c.tensors[mask].set_int(j, 0);
    c.tensors[mask].set_int(0, 1);
    c.tensors[2].set(290 * 16 + 3, NAN);
    c.call.has_mask = true;
    c.result(DType::F32, {1, 1, rows, 16});
    c.check(2e-6);
    for (int64_t i = 0; i < rows * 16; ++i) EXPECT_EQ(std::isnan(c.tensors.back().at(i)), i % 16 == 3) << i;
  }
}

std::vector<double> run(const Case& c) {
  auto kernel = library::compile_library_call(c.call, std::vector<const Tensor*>(c.tensors.size()), {},
                                              std::make_shared<library::Scratch>());
  std::vector<std::byte*> buffers;
  for (const Tensor& t : c.tensors) buffers.push_back(t.data());
  kernel->run({buffers.data(), {}, 2});
  return c.tensors.back().values();
}

/// As in PyTorch: what a row in causal order does not see of its own 512 keys has weight 0; further keys do not count.
TEST(LibraryAttention, HiddenInfinityShowsInItsOwnKeysOnly) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    for (int64_t rows : {1, 9, 40, 600}) {
      for (int64_t bad : {3, 511, 512, 650}) {
        Case c = make(dtype, 1, 1, rows, 700, 16, 16, 18);
        c.tensors[2].set(bad * 16 + 3, INFINITY);
        c.call.causal = true;
        c.result(dtype, {1, 1, rows, 16});
        const std::vector<double> found = run(c);
        for (int64_t i = 0; i < rows * 16; ++i) {
          const int64_t row = i / 16;
          const bool hidden = i % 16 == 3 && row < bad && row / 512 == bad / 512, seen = i % 16 == 3 && row >= bad;
          EXPECT_EQ(std::isnan(found[static_cast<size_t>(i)]), hidden) << dtype_name(dtype) << " " << bad << " " << i;
          EXPECT_EQ(std::isinf(found[static_cast<size_t>(i)]), seen) << dtype_name(dtype) << " " << bad << " " << i;
        }
      }
    }
  }
}

/// A bool mask of PyTorch's operator adds -inf: a score that is no number, or inf, makes NaN of the row.
TEST(LibraryAttention, HiddenScoresThatAreNoNumbersShow) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F64}) {
    for (double score : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
      for (int64_t rows : {2, 40}) {
        for (int64_t mask_rows : {int64_t{1}, rows}) {
          Case c = make(dtype, 1, 1, rows, 300, 16, 16, 19);
          const int mask = c.operand(DType::Bool, {mask_rows, 300});
          for (int64_t i = 0; i < mask_rows * 300; ++i) c.tensors[mask].set_int(i, i % 300 < 100);
          for (int64_t i = 0; i < rows * 16; ++i) c.tensors[0].set(i, 1);
          c.tensors[1].set(290 * 16 + 3, score);
          c.call.has_mask = true;
          c.result(dtype, {1, 1, rows, 16});
          for (double x : run(c)) EXPECT_TRUE(std::isnan(x)) << dtype_name(dtype) << " " << rows << " " << mask_rows;
          c.call.mask_replaces = true;  // spelled out, the mask replaces the score
          for (double x : run(c)) EXPECT_FALSE(std::isnan(x)) << dtype_name(dtype) << " " << rows << " " << mask_rows;
        }
      }
    }
  }
}

TEST(LibraryAttention, LargeScoresDoNotOverflow) {
  Case c = make(DType::F32, 1, 1, 12, 200, 16, 16, 11);
  c.call.alpha = 40;
  c.result(DType::F32, {1, 1, 12, 16});
  c.check(2e-4);
}

TEST(LibraryAttention, NanStaysInItsRow) {
  Case c = make(DType::F32, 1, 1, 8, 20, 16, 16, 12);
  c.tensors[0].set(3 * 16 + 2, NAN);
  c.result(DType::F32, {1, 1, 8, 16});
  auto kernel =
      library::compile_library_call(c.call, std::vector<const Tensor*>(4), {}, std::make_shared<library::Scratch>());
  std::vector<std::byte*> buffers;
  for (const Tensor& t : c.tensors) buffers.push_back(t.data());
  kernel->run({buffers.data(), {}, 1});
  for (int64_t i = 0; i < 8 * 16; ++i) EXPECT_EQ(std::isnan(c.tensors[3].at(i)), i / 16 == 3) << i;
}

TEST(LibraryAttention, OtherTypesAndBatchBroadcast) {
  for (DType dtype : {DType::BF16, DType::F16, DType::F64}) {
    Case c = make(dtype, 2, 2, 30, 50, 16, 16, 13);
    const int mask = c.operand(DType::Bool, {50});
    c.tensors[mask].set_int(0, 1);
    c.call.has_mask = true;
    c.call.causal = true;
    c.result(dtype, {2, 2, 30, 16});
    c.post(PostOp::Kind::Relu);
    c.check(dtype == DType::F64 ? 1e-14 : dtype == DType::F16 ? 1e-3 : 8e-3);
  }
  Case b("attention", 14);
  b.operand(DType::F32, {3, 2, 10, 8});
  b.operand(DType::F32, {2, 12, 8});
  b.operand(DType::F32, {1, 2, 12, 8});
  b.result(DType::F32, {3, 2, 10, 8});
  b.check(2e-6);
}

TEST(LibraryAttention, EmptySizes) {
  Case c = make(DType::F32, 0, 2, 3, 4, 8, 8, 15);
  c.result(DType::F32, {0, 2, 3, 8});
  c.check(0);
  Case d = make(DType::F32, 1, 2, 3, 0, 8, 8, 16);
  d.result(DType::F32, {1, 2, 3, 8});
  d.check(0);  // no keys: zeros
}

/// NaN in a query concerns its row, in a key all rows, in a value its column: with and without other keys to see.
TEST(LibraryAttention, NanStaysNan) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    for (int64_t keys : {1, 5, 200}) {
      for (int where : {0, 1, 2}) {
        Case c = make(dtype, 1, 1, 6, keys, 8, 9, 40 + where);
        c.result(dtype, {1, 1, 6, 9});
        const std::vector<const Tensor*> constants(4, nullptr);
        auto kernel = library::compile_library_call(c.call, constants, {}, std::make_shared<library::Scratch>());
        c.tensors[where].set(2, NAN);
        std::vector<std::byte*> buffers;
        for (const Tensor& t : c.tensors) buffers.push_back(t.data());
        kernel->run({buffers.data(), {}, 2});
        const std::vector<double> found = c.tensors.back().values();
        for (int64_t i = 0; i < 6 * 9; ++i) {
          const bool expected = where == 0 ? i / 9 == 0 : where == 1 || i % 9 == 2;
          EXPECT_EQ(std::isnan(found[i]), expected) << dtype_name(dtype) << " " << keys << " " << where << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata
