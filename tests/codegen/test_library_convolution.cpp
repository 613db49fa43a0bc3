// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "codegen/instruction_sets.h"
#include "codegen/small_product.h"
#include "codegen/winograd.h"
#include "core/support/error.h"
#include "library_reference.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using library_test::Case;
using K = PostOp::Kind;

constexpr double kF32 = 3e-6;

/// Of what the library computes in; other types become float32 before.
bool is_library_type(DType dtype) { return dtype == DType::F32 || library::has_avx512(); }

struct Shape {
  int64_t n, c, o, groups, size, kernel, stride, padding, dilation, output_padding = 0;
};

/// Operands come before the result: it is taken away, so that more of them can follow.
Tensor take_result(Case& c) {
  const Tensor result = c.tensors.back();
  c.tensors.pop_back();
  return result;
}

/// A convolution of `spatial` dimensions, the sizes growing by one per dimension; with bias.
Case make(const Shape& s, size_t spatial, DType dtype, bool transposed, bool constant, bool channels_last,
          unsigned seed, bool weight_last = false) {
  Case c(transposed ? "convolution_transpose" : "convolution", seed);
  std::vector<int64_t> in{s.n, s.c}, out{s.n, s.o};
  std::vector<int64_t> weight =
      transposed ? std::vector<int64_t>{s.c, s.o / s.groups} : std::vector<int64_t>{s.o, s.c / s.groups};
  std::vector<int> order{0};
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t base = spatial == 3 ? std::min<int64_t>(s.size, 6) : s.size;  // the reference is slow
    const int64_t size = base + static_cast<int64_t>(d), span = (s.kernel - 1) * s.dilation + 1;
    in.push_back(size);
    weight.push_back(s.kernel);
    out.push_back(transposed ? (size - 1) * s.stride - 2 * s.padding + span + s.output_padding
                             : (size + 2 * s.padding - span) / s.stride + 1);
    order.push_back(static_cast<int>(d) + 2);
  }
  order.push_back(1);
  const std::vector<int> last = order;
  if (!channels_last) order.clear();
  c.operand(dtype, in, order);
  c.operand(dtype, weight, weight_last ? last : std::vector<int>{}, constant);
  c.operand(dtype, {s.o}, {}, constant);
  c.call.has_bias = true;
  c.call.groups = s.groups;
  c.call.stride.assign(spatial, s.stride);
  c.call.padding.assign(spatial, s.padding);
  c.call.dilation.assign(spatial, s.dilation);
  c.call.output_padding.assign(spatial, s.output_padding);
  c.result(dtype, out, order);
  return c;
}

const Shape kShapes[] = {
    {2, 16, 32, 1, 9, 3, 1, 1, 1}, {1, 3, 8, 1, 12, 5, 2, 2, 1},  {2, 8, 8, 8, 7, 3, 1, 1, 1},
    {2, 6, 9, 3, 8, 3, 2, 0, 1},   {1, 5, 7, 1, 11, 3, 1, 2, 2},  {3, 4, 6, 2, 6, 1, 1, 0, 1},
    {1, 1, 1, 1, 5, 2, 3, 1, 1},   {2, 16, 16, 1, 6, 1, 2, 0, 1}, {1, 32, 64, 32, 5, 3, 1, 1, 1},
};

TEST(LibraryConvolution, AllDimensionsLayoutsAndWeights) {
  unsigned seed = 0;
  for (const Shape& s : kShapes) {
    for (size_t spatial : {1, 2, 3}) {
      for (int variant = 0; variant < (spatial == 2 ? 4 : 2); ++variant) {
        Case c = make(s, spatial, DType::F32, false, variant & 1, variant & 2, ++seed);
        c.check(kF32);
      }
    }
  }
}

/// Work on the result of the kinds that our own kernels tell apart, `work` of kWorks; `order` is how the result lies,
/// and what is added to it.
constexpr int kWorks = 6;
void add_work(Case& c, int work, const std::vector<int>& order) {
  c.call.has_bias = work != 1;
  const std::vector<int64_t> out = take_result(c).shape;
  const int same = c.operand(DType::F32, out, order), channel = c.operand(DType::F32, {out[1], 1, 1});
  const int other = c.operand(DType::F32, out);
  c.result(DType::F32, out, order);
  if (work == 5) c.post(K::Mul, 0, 0, channel);
  if (work == 5) c.post(K::Add, 0, 0, channel);
  if (work == 2 || work == 3 || work == 5) c.post(K::Add, 0, 0, same);
  if (work == 1 || work == 2 || work == 5) c.post(K::Relu);
  if (work == 4) {
    c.post(K::HardSwish);
    c.post(K::Mul, 0, 0, channel);
    c.post(K::Add, 0, 0, other);
  }
}

/// Few output channels that lie next to each other, in panels where vectors have eight lanes: edges, steps, kernels of
/// one piece and of several, tiles that are not full, and work on the result of every kind.
TEST(LibraryConvolution, FewChannelsInPanels) {
  unsigned seed = 900;
  for (const Shape& s : std::vector<Shape>{{2, 16, 16, 1, 13, 3, 1, 1, 2},
                                           {1, 32, 16, 1, 17, 5, 1, 1, 1},
                                           {3, 19, 11, 1, 7, 3, 2, 1, 1},
                                           {1, 48, 16, 1, 9, 5, 1, 2, 1},
                                           {1, 340, 12, 1, 4, 3, 1, 1, 1},
                                           {2, 700, 16, 1, 4, 2, 1, 0, 1},
                                           {1, 24, 9, 1, 20, 3, 1, 4, 3},
                                           {1, 16, 16, 1, 3, 7, 1, 3, 1},
                                           {1, 17, 16, 1, 30, 7, 3, 2, 2}}) {
    for (int work = 0; work < kWorks; ++work) {
      Case c = make(s, 2, DType::F32, false, true, true, ++seed);
      add_work(c, work, {0, 2, 3, 1});
      const std::string text = c.check(kF32 * 2, true, static_cast<int>(seed % 4) + 1);
      EXPECT_EQ(text.find("own kernel in panels") != text.npos, library::has_avx2_at_most()) << text;
    }
  }
}

/// What lies beyond the edges is not multiplied: an infinite weight would make NaN of it.
TEST(LibraryConvolution, InfiniteWeightsAtTheEdges) {
  for (const int64_t size : {4, 6}) {  // in panels and after Winograd
    Case c = make({1, 16, 16, 1, size, 3, 1, 1, 1}, 2, DType::F32, false, true, true, 950);
    Tensor& weight = c.tensors[1];
    weight.set(0, HUGE_VAL);  // of the first tap
    c.check(kF32 * 2);
    const std::vector<double> result = c.tensors.back().values();
    const size_t columns = static_cast<size_t>(size) + 1;
    for (const size_t beyond : {size_t{0}, size_t{1}, columns, 2 * columns})
      EXPECT_TRUE(std::isfinite(result[beyond])) << beyond;
    EXPECT_FALSE(std::isfinite(result[columns + 2])) << result[columns + 2];
  }
}

/// Kernels of 3 by 3 in tiles of 4 by 4: every padding, sizes that no tile ends with, channels that no vector ends
/// with, weights that are packed or turned in each run, channels last and first, work on the result of every kind.
TEST(LibraryConvolution, AfterWinograd) {
  unsigned seed = 970;
  for (const Shape& s : std::vector<Shape>{{2, 16, 20, 1, 13, 3, 1, 1, 1},
                                           {1, 35, 50, 1, 11, 3, 1, 0, 1},
                                           {3, 19, 40, 1, 7, 3, 1, 2, 1},
                                           {4, 512, 33, 1, 4, 3, 1, 1, 1},
                                           {1, 16, 33, 1, 9, 3, 1, 3, 1}}) {
    for (int work = s.c > 500 ? 4 : 0; work < kWorks; ++work) {
      const bool constant = seed % 3 != 0;
      const bool weight_last = ++seed % 2, last = seed % 5 != 0;
      const std::vector<int> order = last ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{};
      Case c = make(s, 2, DType::F32, false, constant, last, seed, weight_last);
      add_work(c, work, order);
      const std::string text = c.check(kF32 * 2, true, static_cast<int>(seed % 4) + 1);
      EXPECT_EQ(text.find("after Winograd") != text.npos, library::winograd_kernels() != nullptr) << text;
      const bool turns = library::winograd_kernels() && !constant;
      EXPECT_EQ(text.find("turned in each run") != text.npos, turns) << text;
    }
  }
}

/// Where differences of infinities would make NaN of what is infinite, and sums of large numbers infinities of what is
/// not.
TEST(LibraryConvolution, NumbersThatAreNotFiniteAfterWinograd) {
  const double large = 3e38, nan = std::numeric_limits<double>::quiet_NaN();
  for (const double odd : {HUGE_VAL, -HUGE_VAL, nan, large}) {
    for (int variant = 0; variant < 4; ++variant) {
      Case c = make({1, 16, 40, 1, 11, 3, 1, 1, 1}, 2, DType::F32, false, variant & 1, true, 990);
      // Elements that two or four tiles share, next to each other or not, of one channel and of several.
      Tensor& in = c.tensors[0];
      const int64_t plane = 11 * 12;
      for (const int64_t at : variant & 2 ? std::vector<int64_t>{0, 26, 27, plane + 40, 2 * plane + 131}
                                          : std::vector<int64_t>{3 * plane + 65})
        in.set(at, odd);
      if (odd == large)  // weights that leave results in range
        for (int64_t i = 0; i < c.tensors[1].numel(); ++i) c.tensors[1].set(i, i % 7 == 0 ? 0.1 : 0.0);
      c.post(K::Relu);
      const std::string text = c.check(kF32 * 2);
      EXPECT_EQ(text.find("after Winograd") != text.npos, library::winograd_kernels() != nullptr) << text;
    }
  }
}

TEST(LibraryConvolution, TransposedWithOutputPadding) {
  unsigned seed = 200;
  for (Shape s : kShapes) {
    for (size_t spatial : {1, 2, 3}) {
      for (int64_t output_padding : {0, 1}) {
        if (output_padding >= s.stride) continue;
        s.output_padding = output_padding;
        ++seed;
        Case c = make(s, spatial, DType::F32, true, seed % 2, false, seed);
        if (c.tensors.back().numel() <= 0) continue;
        c.post(K::Relu);
        c.check(kF32);
      }
    }
  }
}

/// Small ones are a product and the sum of its shifted results.
TEST(LibraryConvolution, TransposedAsAProduct) {
  const Shape shapes[] = {{2, 16, 24, 1, 1, 4, 1, 0, 1}, {2, 12, 5, 1, 8, 4, 2, 1, 1}, {1, 6, 4, 1, 5, 3, 3, 2, 2, 2},
                          {3, 4, 6, 1, 4, 3, 2, 1, 2},   {1, 3, 1, 1, 19, 2, 3, 0, 1}, {2, 8, 32, 1, 9, 5, 2, 2, 1, 1}};
  unsigned seed = 700;
  for (const Shape& s : shapes) {
    for (const size_t spatial : {s.kernel == 2 ? size_t{3} : size_t{1}, size_t{2}}) {
      for (int variant = 0; variant < 4; ++variant) {
        const DType dtype = variant == 3 ? DType::BF16 : DType::F32;
        Case c = make(s, spatial, dtype, true, variant & 1, variant & 2, ++seed);
        const Tensor result = take_result(c);
        std::vector<int64_t> scale(spatial + 1, 1);
        scale[0] = s.o;
        c.operand(DType::F32, scale);
        c.result(dtype, result.shape);
        c.post(K::Mul, 0, 0, 3);
        c.post(K::Relu);
        c.post(K::Tanh);
        const std::string text = c.check(dtype == DType::F32 ? 2e-5 : 1e-2);
        EXPECT_EQ(text.find("taps of") != text.npos, is_library_type(dtype)) << text;
      }
    }
  }
}

/// One line for each sample: it is done in pieces, which overlap where taps do.
TEST(LibraryConvolution, TransposedLongLines) {
  const Shape shapes[] = {{1, 3, 24, 1, 740, 4, 2, 1, 1},  {1, 3, 24, 1, 601, 5, 3, 2, 2},
                          {1, 3, 24, 1, 1499, 2, 3, 0, 1}, {1, 3, 24, 1, 950, 3, 4, 0, 1},
                          {1, 32, 24, 1, 51, 8, 8, 0, 1},  {2, 32, 24, 1, 41, 5, 5, 0, 1},
                          {1, 3, 24, 1, 410, 7, 1, 3, 1}};
  unsigned seed = 900;
  for (const Shape& s : shapes) {
    for (int variant = 0; variant < 4; ++variant) {
      for (const int threads : {2, 5}) {
        Case c = make(s, 1, DType::F32, true, variant & 1, variant & 2, ++seed);
        c.post(K::Relu);
        EXPECT_NE(c.check(1e-5, true, threads).find("taps"), std::string::npos);
      }
    }
  }
}

/// Where stride and kernel are equal no two taps meet: lines of float32 are products by themselves, unless they are too
/// deep to read their taps again and again.
TEST(LibraryConvolution, TransposedWithTapsApart) {
  const Shape shapes[] = {{2, 12, 5, 1, 6, 2, 2, 0, 1}, {1, 6, 40, 1, 3, 3, 3, 0, 1},  {1, 16, 24, 1, 3, 4, 4, 0, 1},
                          {2, 3, 1, 1, 7, 2, 2, 0, 1},  {1, 270, 3, 1, 4, 2, 2, 0, 1}, {1, 6, 5, 1, 4, 3, 3, 0, 1, 2}};
  unsigned seed = 800;
  for (const Shape& s : shapes) {
    for (const size_t spatial : {1, 2, 3}) {
      for (int variant = 0; variant < 16; variant += spatial == 2 ? 1 : 5) {  // the reference is slow
        const DType dtype = variant >= 12 ? DType::BF16 : DType::F32;
        Case c = make(s, spatial, dtype, true, variant & 1, variant & 2, ++seed, variant & 4);
        if (variant & 8) {
          c.post(K::Linear, 0.5, 0.25);
          c.post(K::Relu);
        }
        const std::string text = c.check(dtype == DType::F32 ? 1e-5 : 1e-2);
        const bool apart = dtype == DType::F32 && s.c <= 256 && s.output_padding == 0 && library::has_small_products();
        const char* expected = apart ? "taps that are apart" : "taps of";
        EXPECT_EQ(text.find(expected) != text.npos, is_library_type(dtype)) << text;
      }
    }
  }
}

/// Few places of many weights: a product of rows of channels, unless an operand of the work on the result lies
/// otherwise.
TEST(LibraryConvolution, PointwiseAsAProduct) {
  unsigned seed = 900;
  for (const size_t spatial : {size_t{1}, size_t{2}}) {
    const std::vector<int> last = spatial == 1 ? std::vector<int>{0, 2, 1} : std::vector<int>{0, 2, 3, 1};
    for (const int64_t n : {1, 3}) {
      for (int variant = 0; variant < 8; ++variant) {
        const DType dtype = variant & 1 ? DType::BF16 : DType::F32;
        const bool constant = variant & 2, by_sample = variant & 4;
        Case c = make({n, 190, 100, 1, 2, 1, 1, 0, 1}, spatial, dtype, false, constant, true, ++seed);
        const Tensor result = take_result(c);
        std::vector<int64_t> scale(spatial + 2, 1);
        scale[0] = by_sample ? n : 1;
        scale[1] = 100;
        const int factor = c.operand(dtype, scale), residual = c.operand(dtype, result.shape, last);
        c.result(dtype, result.shape, last);
        c.post(K::Mul, 0, 0, factor);
        c.post(K::Add, 0, 0, residual);
        c.post(K::Relu);
        const std::string text = c.check(dtype == DType::F32 ? 2e-5 : 1e-2);
        const bool is_product =
            (n == 1 || !by_sample) && (!constant || result.numel() / 100 <= 8) && is_library_type(dtype);
        EXPECT_EQ(text.find("matmul") != text.npos, is_product) << n << " " << variant << "\n" << text;
      }
    }
  }
}

/// Of constant weights as well, where an operand that lies as the result is added to as many channels or more.
TEST(LibraryConvolution, PointwiseThatAddsIsAProduct) {
  unsigned seed = 950;
  for (const auto& [in, out] : {std::pair{40, 96}, std::pair{64, 64}, std::pair{96, 72}, std::pair{20, 48}}) {
    for (int variant = 0; variant < 8; ++variant) {
      const DType dtype = variant & 1 ? DType::BF16 : DType::F32;
      const bool alike = variant & 2, first = variant & 4;
      Case c = make({2, in, out, 1, 5, 1, 1, 0, 1}, 2, dtype, false, true, true, ++seed);
      const Tensor result = take_result(c);
      const int residual = c.operand(dtype, result.shape, alike ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{});
      c.result(dtype, result.shape, {0, 2, 3, 1});
      if (!first) c.post(K::Silu);
      c.post(K::Add, 0, 0, residual);
      c.post(K::Relu);
      const std::string text = c.check(dtype == DType::F32 ? 2e-5 : 1e-2);
      const bool is_product = library::has_avx512() && dtype == DType::F32 && alike && out >= std::max(in, 64);
      EXPECT_EQ(text.find("matmul") != text.npos, is_product) << in << " " << variant << "\n" << text;
    }
  }
}

TEST(LibraryConvolution, PostOperations) {
  for (K kind : {K::Relu, K::GeluErf, K::GeluTanh, K::Tanh, K::Sigmoid, K::Silu, K::HardSwish, K::HardSigmoid, K::Elu,
                 K::Clamp, K::Linear}) {
    Case c = make(kShapes[0], 2, DType::F32, false, true, false, 300 + static_cast<unsigned>(kind));
    c.post(kind, kind == K::Clamp ? -0.5 : 1.5, 0.75);
    c.check(2e-5);  // of a result that is smaller than what was summed up
  }
}

/// Adds what lies as the result does, then works on with what does not.
void check_residual(const Shape& s, size_t spatial, bool channels_last, unsigned seed) {
  SCOPED_TRACE(fmt::format("{} dimensions, {} channels, channels last: {}", spatial, s.c, channels_last));
  Case c = make(s, spatial, DType::F32, false, true, channels_last, seed);
  const Tensor result = take_result(c);
  std::vector<int> last{0}, turned{1, 0};
  for (size_t d = 0; d < spatial; ++d) last.push_back(static_cast<int>(d) + 2);
  for (size_t d = spatial; d-- > 0;) turned.push_back(static_cast<int>(d) + 2);
  last.push_back(1);
  if (!channels_last) last.clear();
  std::vector<int64_t> channels(spatial + 1, 1), columns(spatial + 2, 1);
  channels[0] = result.shape[1];
  columns.front() = result.shape.front();
  columns.back() = result.shape.back();
  const int same = c.operand(DType::F32, result.shape, last);
  const int other = c.operand(DType::F32, result.shape, turned);
  const int channel = c.operand(DType::F32, channels), at = c.operand(DType::F32, columns);
  c.result(DType::F32, result.shape, last);
  c.post(K::Add, 0, 0, same);
  c.post(K::Relu);
  c.post(K::Mul, 0, 0, channel);
  c.post(K::Sub, 0, 0, other);
  c.post(K::Silu);
  c.post(K::Add, 0, 0, at);
  c.check(kF32);
}

TEST(LibraryConvolution, ResidualAddThenRelu) {
  for (bool channels_last : {false, true})
    for (const Shape& s : kShapes) check_residual(s, 2, channels_last, 400);
}

/// So many products an element that oneDNN's faster kernels do, which do not add.
TEST(LibraryConvolution, ResidualAddAfterManyProducts) {
  for (bool channels_last : {false, true}) {
    check_residual({1, 352, 32, 1, 9, 3, 1, 1, 1}, 1, channels_last, 410);
    check_residual({1, 128, 16, 1, 5, 3, 1, 2, 2}, 2, channels_last, 411);
    check_residual({1, 48, 16, 1, 3, 3, 1, 1, 1}, 3, channels_last, 412);
  }
}

/// Padding that no window fills: left to oneDNN's general kernel, which reads operands wrongly: those of the result's
/// shape, with three dimensions those of channels as well.
TEST(LibraryConvolution, OperandsWherePaddingIsWiderThanTheKernel) {
  for (const size_t spatial : {1, 2, 3}) {
    for (const Shape& s : {Shape{3, 3, 3, 1, 6, 1, 1, 1, 1}, Shape{2, 4, 17, 1, 5, 2, 1, 2, 1}}) {
      for (const K kind : {K::Add, K::Sub, K::Mul}) {
        for (const bool of_channels : {false, true}) {
          for (const bool channels_last : {false, true}) {
            Case c = make(s, spatial, DType::F32, false, kind == K::Add, channels_last, 450);
            const Tensor result = take_result(c);
            std::vector<int64_t> shape = result.shape;
            if (of_channels) shape = std::vector<int64_t>(shape.size(), 1);
            shape[1] = s.o;
            const int operand = c.operand(DType::F32, shape);
            c.result(DType::F32, result.shape);
            c.post(K::Relu);
            c.post(kind, 0, 0, operand);
            c.check(kF32);
          }
        }
      }
    }
  }
}

TEST(LibraryConvolution, OtherTypes) {
  unsigned seed = 500;
  for (const Shape& s : kShapes) {
    for (bool transposed : {false, true}) {
      for (bool constant : {false, true}) {
        make(s, 2, DType::BF16, transposed, constant, false, ++seed).check(8e-3);
        make(s, 2, DType::BF16, transposed, constant, true, ++seed).check(8e-3);
        make(s, 2, DType::F16, transposed, constant, false, ++seed).check(1e-3);
        make(s, 2, DType::F64, transposed, constant, false, ++seed).check(1e-14);
      }
    }
  }
}

TEST(LibraryConvolution, EmptySizes) {
  Case none = make({0, 3, 4, 1, 6, 3, 1, 1, 1}, 2, DType::F32, false, true, false, 1);
  EXPECT_EQ(none.check(kF32), "nothing to do\n");
  Case no_channels = make({2, 0, 4, 1, 6, 3, 1, 1, 1}, 2, DType::F32, false, false, false, 2);
  no_channels.check(kF32);
}

TEST(LibraryConvolution, WrongDescriptionsAreRefused) {
  Case c = make(kShapes[0], 2, DType::F32, false, true, false, 1);
  c.call.stride = {1};
  EXPECT_THROW(c.check(kF32), Error);
  Case d = make(kShapes[0], 2, DType::F32, false, true, false, 1);
  d.call.kind = "convolutions";
  EXPECT_NE(testing::error_text([&] { d.check(kF32); }).find("did you mean 'convolution'"), std::string::npos);
}

}  // namespace
}  // namespace strata
