// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// erf and tanh of float32: one of as many polynomials as a vector has lanes, whose factors one instruction each looks
// up. The promises are those of vector_functions.cpp.

#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <span>

#include "codegen/erf_tables.h"
#include "codegen/llvm_math.h"

namespace strata::codegen {

namespace intrinsic = llvm::Intrinsic;

namespace {

/// Of tanh around the middle of an interval, which the first row has: row k + 1 holds the factors of d^k, d the
/// distance from it. y = kStretch * |x| + 1/2 of the intervals goes from 1/2 to 8; they are as long as quarters (with
/// half as many columns: halves) of the powers of two that they lie between, so that the low bits of y's exponent with
/// the first bits behind it are the column. From kOne on tanh is 1 in float32.
constexpr double kStretch = 0.8125, kOne = 9.011;
constexpr std::array<std::array<float, kWideLanes>, 7> kTanh = {{
    {2.15384626, 2.76923084, 3.38461542, 4, 4.92307711, 6.15384626, 7.38461542, 8.50549984, 0, 0.230769232, 0.384615391,
     0.538461566, 0.769230783, 1.07692313, 1.38461542, 1.69230771},
    {0.973428607, 0.992165625, 0.99770546, 0.999329269, 0.999894083, 0.99999094, 0.999999225, 0.99999994, 0,
     0.226758152, 0.366708934, 0.491822541, 0.646481931, 0.792055309, 0.881980598, 0.934440494},
    {0.0524367206, 0.0156072909, 0.00458377507, 0.00134095061, 0.000211779319, 1.80672941e-05, 1.54121847e-06,
     1.63785955e-07, 1, 0.948580742, 0.86552453, 0.758110583, 0.582061112, 0.372648418, 0.222110257, 0.126820937},
    {-0.0510411672, -0.0154796001, -0.0045707901, -0.00133719912, -0.000210806946, -1.74567467e-05, -1.44666171e-06,
     -8.59111708e-07, 1.24620033e-06, -0.215089545, -0.317378253, -0.372847736, -0.376288891, -0.29516542, -0.195904478,
     -0.118502483},
    {0.0322105922, 0.0101610012, 0.0030346734, 0.00089210266, 0.000141052195, 1.20285076e-05, 1.02607009e-06,
     1.09121956e-07, -0.333392888, -0.267385274, -0.172078356, -0.069313623, 0.0492429286, 0.109563276, 0.0987401679,
     0.0684651434},
    {-0.0144166825, -0.00502749579, -0.00154752936, -0.000480555551, -7.65690202e-05, -7.94526477e-06, -7.89922467e-07,
     2.66284792e-06, 0.000951529189, 0.130443782, 0.16558069, 0.156754643, 0.0935003161, 0.012350562, -0.0212174077,
     -0.024579823},
    {0.00433978345, 0.00185399561, 0.000596746395, 0.0001792494, 2.9326151e-05, 2.53965595e-06, 2.1677684e-07,
     2.2642455e-08, 0.128072113, 0.074524872, 0.0083283009, -0.0396151878, -0.063400954, -0.0373416655, -0.00885685533,
     0.00275036506},
}};
constexpr std::array<std::array<float, kWideLanes / 2>, 8> kWideTanh = {{
    {2.46153855, 3.69230771, 5.53846169, 7.89011526, 0, 0.461538464, 0.923076928, 1.53846157},
    {0.985551715, 0.998759329, 0.999969065, 0.999999702, 0, 0.431337267, 0.727349818, 0.911861479},
    {0.0286879838, 0.0024799183, 6.2161067e-05, 5.60780734e-07, 1, 0.813948154, 0.470962644, 0.168508425},
    {-0.0282722842, -0.00247710757, -6.20793799e-05, -3.12481944e-07, -4.00685349e-06, -0.351083636, -0.342559576,
     -0.15365541},
    {0.0182974935, 0.0016441535, 3.95186471e-05, 3.715258e-07, -0.333177775, -0.119880714, 0.09212102, 0.0839677677},
    {-0.00862586033, -0.000817085849, -1.98684847e-05, -7.05717582e-07, -0.0022209615, 0.16851604, 0.0473269261,
     -0.0253556501},
    {0.0030560256, 0.000342602114, 1.0513254e-05, 8.43737311e-08, 0.147820249, -0.0141264256, -0.0533732325,
     -0.00170985563},
    {-0.000691897818, -0.00011267839, -3.45787294e-06, 2.44420391e-07, -0.0445090197, -0.0523248799, 0.0141146556,
     0.00636963127},
}};

}  // namespace

/// The values, as many as lanes, at `index`, of which the lowest bits count.
llvm::Value* MathEmitter::looked_up(std::span<const float> values, Value* index) {
  Value* row = llvm::ConstantDataVector::get(b_.getContext(), llvm::ArrayRef<float>(values.data(), values.size()));
  const bool is_long = values.size() == kWideLanes;
  return b_.CreateIntrinsic(is_long ? intrinsic::x86_avx512_permvar_sf_512 : intrinsic::x86_avx2_permps, {},
                            {row, index});
}

/// `size`, which is not below 0, or NaN, with the sign of `x`.
llvm::Value* MathEmitter::with_sign(Value* size, Value* x) {
  Value* sign = b_.CreateAnd(bits_of(x), integer(INT32_MIN, bits_of(x)));
  return b_.CreateBitCast(b_.CreateOr(bits_of(size), sign), x->getType());
}

llvm::Value* MathEmitter::short_erf(Value* x) {
  const bool is_long = lanes_of(x) == kWideLanes;
  const double steps_of_1 = is_long ? kErfSteps : kWideErfSteps, last = (lanes_of(x) - 1) / steps_of_1;
  Value* size = b_.CreateUnaryIntrinsic(intrinsic::fabs, x);
  size = b_.CreateSelect(b_.CreateFCmpOLT(stored(last, x), size), stored(last, x), size);
  // Adding 1.5 * 2^23 rounds to a whole number, which then is in the low bits. Not to be folded: no flags.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  size = step(size);
  Value *steps = stored(steps_of_1, x), *shift = stored(12582912, x);
  Value* shifted = step(fma(size, steps, shift));
  Value* whole = step(b_.CreateFSub(shifted, shift));
  Value* d = step(fma(size, steps, b_.CreateFNeg(whole)));
  Value* index = bits_of(shifted);
  const auto factor = [&](size_t k) {
    const std::span<const float> values =
        is_long ? std::span<const float>(kErf[k]) : std::span<const float>(kWideErf[k]);
    return looked_up(values, index);
  };
  const size_t factors = is_long ? kErf.size() : kWideErf.size();
  Value* p = step(factor(factors - 1));
  for (size_t k = factors - 1; k-- > 0;) p = step(fma(p, d, factor(k)));
  return with_sign(p, x);
}

/// Smaller numbers than kOne as they are, so that none is less exact next to 0.
llvm::Value* MathEmitter::short_tanh(Value* x) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  const bool is_long = lanes_of(x) == kWideLanes;
  Value* size = b_.CreateUnaryIntrinsic(intrinsic::fabs, x);
  size = step(b_.CreateSelect(b_.CreateFCmpOLT(stored(kOne, x), size), stored(kOne, x), size));
  Value* y = step(fma(size, stored(kStretch, x), stored(0.5, x)));
  constexpr int kMantissa = 23;
  Value* index = b_.CreateLShr(bits_of(y), static_cast<uint64_t>(kMantissa - (is_long ? 2 : 1)));
  const auto factor = [&](size_t k) {
    return looked_up(is_long ? std::span<const float>(kTanh[k]) : std::span<const float>(kWideTanh[k]), index);
  };
  Value* d = step(b_.CreateFSub(size, factor(0)));
  size_t k = (is_long ? kTanh.size() : kWideTanh.size()) - 1;
  Value* p = step(factor(k));
  while (--k > 0) p = step(fma(p, d, factor(k)));
  return with_sign(p, x);
}

}  // namespace strata::codegen
