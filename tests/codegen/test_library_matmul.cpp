// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/instruction_sets.h"
#include "codegen/onednn.h"
#include "library_reference.h"

namespace strata {
namespace {

using library_test::Case;
using K = PostOp::Kind;

constexpr double kF32 = 2e-6;

TEST(LibraryMatmul, TwoDimensionsInEveryStrideOrder) {
  for (int transposed = 0; transposed < 4; ++transposed) {
    for (bool constant : {false, true}) {  // of what is packed
      Case c("matmul", 10 + transposed);
      c.operand(DType::F32, {97, 59}, transposed & 1 ? std::vector<int>{1, 0} : std::vector<int>{});
      c.operand(DType::F32, {59, 153}, transposed & 2 ? std::vector<int>{1, 0} : std::vector<int>{}, constant);
      c.result(DType::F32, {97, 153});
      const std::string text = c.check(kF32);
      const bool is_known = text.find(library::has_avx512() ? "brg:" : "in panels") != text.npos;
      EXPECT_TRUE(is_known || !library::has_avx2()) << text;
    }
  }
}

TEST(LibraryMatmul, SizesOfOneAndZero) {
  const int64_t sizes[][3] = {{1, 1, 1}, {1, 7, 5}, {5, 1, 7}, {7, 5, 1}, {1, 64, 1}, {0, 3, 4}, {3, 0, 4}, {3, 4, 0}};
  for (const auto& s : sizes) {
    for (bool constant : {false, true}) {
      Case c("matmul");
      c.operand(DType::F32, {s[0], s[1]});
      c.operand(DType::F32, {s[1], s[2]}, {1, 0}, constant);
      c.operand(DType::F32, {s[2]});
      c.call.has_bias = true;
      c.result(DType::F32, {s[0], s[2]});
      c.post(K::Relu);
      c.check(kF32);
    }
  }
}

TEST(LibraryMatmul, BatchesAreBroadcastAndMerged) {
  const std::vector<int64_t> a[] = {{4, 5, 6}, {2, 3, 5, 6}, {2, 3, 5, 6}, {2, 1, 5, 6}, {3, 5, 6}, {2, 3, 5, 6}};
  const std::vector<int64_t> b[] = {{6, 7}, {6, 7}, {2, 3, 6, 7}, {1, 3, 6, 7}, {2, 3, 6, 7}, {3, 6, 7}};
  const std::vector<int64_t> r[] = {{4, 5, 7}, {2, 3, 5, 7}, {2, 3, 5, 7}, {2, 3, 5, 7}, {2, 3, 5, 7}, {2, 3, 5, 7}};
  for (int i = 0; i < 6; ++i) {
    Case c("matmul", 30 + i);
    c.operand(DType::F32, a[i]);
    c.operand(DType::F32, b[i], {}, i < 2);
    const int full = c.operand(DType::F32, r[i]);
    const int row = c.operand(DType::F32, {7});
    c.result(DType::F32, r[i]);
    c.post(K::Add, 0, 0, full);
    c.post(K::Mul, 0, 0, row);
    c.check(kF32);
  }
}

TEST(LibraryMatmul, HeadsAsStridedViews) {
  // [batch, heads, length, e] that lies as [batch, length, heads, e]; keys transposed.
  Case c("matmul");
  c.operand(DType::F32, {2, 4, 24, 32}, {0, 2, 1, 3});
  c.operand(DType::F32, {2, 4, 32, 24}, {0, 3, 1, 2});
  c.call.alpha = 0.125;
  c.result(DType::F32, {2, 4, 24, 24});
  c.check(kF32);
  Case d("matmul");
  d.operand(DType::F32, {2, 4, 24, 24});
  d.operand(DType::F32, {2, 4, 24, 32}, {0, 2, 1, 3});
  d.result(DType::F32, {2, 4, 24, 32}, {0, 2, 1, 3});
  d.check(kF32);
}

TEST(LibraryMatmul, ExpandedAndGappedOperands) {
  Case c("matmul");
  c.expanded(DType::F32, {1, 9, 8}, {3, 9, 8});
  c.expanded(DType::F32, {3, 8, 1}, {3, 8, 5});
  c.result(DType::F32, {3, 9, 5});
  c.check(kF32);
  Case d("matmul");
  d.operand(DType::F32, {9, 8}, {}, false, 5);
  d.operand(DType::F32, {8, 6}, {1, 0}, true, 3);
  d.result(DType::F32, {9, 6}, {1, 0});
  d.post(K::Tanh);
  d.check(kF32);
}

/// Whether the library has blocked kernels for elements of this type: elsewhere its general product is the only one.
bool has_blocked_kernels(DType dtype) {
  const auto bits = [](dnnl::cpu_isa isa) { return static_cast<unsigned>(isa); };
  const unsigned needed = bits(dtype == DType::BF16 ? dnnl::cpu_isa::avx512_core_bf16 : dnnl::cpu_isa::avx512_core);
  return library::has_avx512() && (bits(dnnl::get_effective_cpu_isa()) & needed) == needed;
}

/// The library's general product takes long to come up: few rows with gaps are put together first.
TEST(LibraryMatmul, FewRowsWithGapsTakeTheBlockedKernel) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (bool constant : {false, true}) {
      Case c("matmul", 33);
      c.operand(dtype, {12, 64}, {}, false, 1920);
      c.operand(dtype, {64, 148}, {1, 0}, constant);
      c.operand(dtype, {148}, {}, constant);
      c.call.has_bias = true;
      c.result(dtype, {12, 148});
      c.post(K::Tanh);
      const std::string text = c.check(dtype == DType::F32 ? 1e-5 : 2e-2);
      EXPECT_TRUE(!has_blocked_kernels(dtype) || text.find("gemm") == text.npos) << text;
    }
  }
}

TEST(LibraryMatmul, BiasOfEveryShapeWithScales) {
  const std::vector<int64_t> shapes[] = {{11}, {1, 11}, {13, 11}, {13, 1}, {1}, {1, 1}, {}};
  for (const auto& shape : shapes) {
    for (double alpha : {1.0, 0.5}) {
      for (double beta : {1.0, -2.0}) {
        Case c("matmul", 5);
        c.operand(DType::F32, {13, 17});
        c.operand(DType::F32, {17, 11}, {}, true);
        c.operand(DType::F32, shape);
        c.call.has_bias = true;
        c.call.alpha = alpha;
        c.call.beta = beta;
        c.result(DType::F32, {13, 11});
        c.check(kF32);
      }
    }
  }
}

TEST(LibraryMatmul, EveryPostOperation) {
  for (K kind : {K::Relu, K::GeluErf, K::GeluTanh, K::Tanh, K::Sigmoid, K::Silu, K::HardSwish, K::HardSigmoid, K::Elu,
                 K::Clamp, K::Linear}) {
    for (DType dtype : {DType::F32, DType::F64}) {
      Case c("matmul", 50 + static_cast<unsigned>(kind));
      c.operand(dtype, {33, 20});
      c.operand(dtype, {20, 40}, {}, true);
      c.result(dtype, {33, 40});
      c.post(kind, kind == K::Clamp ? -0.5 : 1.5, 0.75);
      c.check(dtype == DType::F32 ? 4e-6 : 1e-13);
    }
  }
}

TEST(LibraryMatmul, RepeatedPostOperations) {
  const std::vector<std::pair<K, double>> chains[] = {{{K::Linear, -0.5}, {K::Linear, -2}},
                                                      {{K::Linear, -0.5}, {K::Add, 0}, {K::Linear, -2}},
                                                      {{K::Linear, 2}, {K::Linear, 3}, {K::Linear, 0.5}},
                                                      {{K::Relu, 0}, {K::Add, 0}, {K::Relu, 0}},
                                                      {{K::Clamp, -0.5}, {K::Mul, 0}, {K::Clamp, -0.1}},
                                                      {{K::HardSigmoid, 0}, {K::Linear, 4}, {K::HardSigmoid, 0}},
                                                      {{K::Elu, 0.5}, {K::Add, 0}, {K::Elu, 2}}};
  for (const auto& chain : chains) {
    Case c("matmul", 60);
    c.operand(DType::F32, {21, 16});
    c.operand(DType::F32, {16, 40}, {}, true);
    const int other = c.operand(DType::F32, {40});
    c.result(DType::F32, {21, 40});
    for (const auto& [kind, alpha] : chain) c.post(kind, alpha, 0.25, kind == K::Add || kind == K::Mul ? other : -1);
    c.check(kF32);
  }
}

TEST(LibraryMatmul, ChainsWithOperandsThatOnednnRefuses) {
  Case c("matmul");
  c.operand(DType::F32, {2, 6, 8});
  c.operand(DType::F32, {8, 10}, {}, true);
  const int column = c.operand(DType::F32, {6, 1});
  const int turned = c.operand(DType::F32, {2, 6, 10}, {2, 1, 0});
  const int wide = c.operand(DType::F64, {10});
  const int half = c.operand(DType::F16, {2, 1, 10});
  c.result(DType::F32, {2, 6, 10});
  c.post(K::Silu);
  c.post(K::Mul, 0, 0, column);
  c.post(K::Add, 0, 0, turned);
  c.post(K::Sub, 0, 0, wide);
  c.post(K::Mul, 0, 0, half);
  c.post(K::Sigmoid);
  c.check(kF32);
}

TEST(LibraryMatmul, SixteenBitStorage) {
  for (DType dtype : {DType::BF16, DType::F16}) {
    for (bool constant : {false, true}) {
      Case c("matmul", 70);
      c.operand(dtype, {19, 32});
      c.operand(dtype, {32, 48}, {1, 0}, constant);
      c.operand(dtype, {48});
      const int other = c.operand(dtype, {19, 48});
      c.call.has_bias = true;
      c.result(dtype, {19, 48});
      c.post(K::GeluErf);
      c.post(K::Add, 0, 0, other);
      c.check(dtype == DType::BF16 ? 6e-3 : 1e-3);
    }
  }
}

TEST(LibraryMatmul, Float64AndIntegersAreExact) {
  Case c("matmul");
  c.operand(DType::F64, {3, 70, 65}, {0, 2, 1});
  c.operand(DType::F64, {65, 40});
  c.operand(DType::F64, {40});
  c.call.has_bias = true;
  c.call.beta = 3;
  c.result(DType::F64, {3, 70, 40});
  c.check(1e-14);
  for (DType dtype : {DType::I64, DType::I32, DType::I16, DType::I8}) {
    Case d("matmul", 3);
    d.operand(dtype, {9, 4});
    d.operand(dtype, {4, 35});
    d.operand(dtype, {35});
    d.call.has_bias = true;
    d.call.beta = 2;
    d.result(dtype, {9, 35});
    d.post(K::Clamp, -20, 20);
    d.check(0);
  }
}

TEST(LibraryMatmul, ManyRandomShapes) {
  std::mt19937 random(99);
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int64_t>(from, to)(random); };
  for (int i = 0; i < 60; ++i) {
    Case c("matmul", 1000 + i);
    const int64_t b1 = pick(1, 3), b2 = pick(1, 3), m = pick(1, 40), k = pick(1, 70), n = pick(1, 80);
    const std::vector<int> order = pick(0, 1)   ? std::vector<int>{0, 1, 2, 3}
                                   : pick(0, 1) ? std::vector<int>{0, 2, 1, 3}
                                                : std::vector<int>{1, 0, 3, 2};
    c.operand(DType::F32, {b1, b2, m, k}, order);
    if (pick(0, 1))
      c.operand(DType::F32, {k, n}, pick(0, 1) ? std::vector<int>{1, 0} : std::vector<int>{}, pick(0, 1));
    else
      c.operand(DType::F32, {pick(0, 1) ? b1 : 1, pick(0, 1) ? b2 : 1, k, n}, order);
    const int full = c.operand(DType::F32, {b1, b2, m, n}, pick(0, 1) ? order : std::vector<int>{});
    c.result(DType::F32, {b1, b2, m, n}, pick(0, 2) ? std::vector<int>{} : order);
    if (pick(0, 1)) c.post(K::Relu);
    if (pick(0, 1)) c.post(K::Add, 0, 0, full);
    if (pick(0, 1)) c.post(K::GeluTanh);
    c.check(4e-6, pick(0, 1));
  }
}

}  // namespace
}  // namespace strata
