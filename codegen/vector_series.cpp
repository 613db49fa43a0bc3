// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// exp of float32 for vectors of AVX2: what AVX-512 does in vector_functions.cpp, with half as many numbers to look up
// and powers of two put together bit by bit. The promises are those of that file.

#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "codegen/llvm_math.h"

namespace strata::codegen {

namespace {

constexpr int kLanes = 8;
constexpr int kMantissa = 23;  // bits
constexpr int kLookedUp = 3;   // bits of a power of two that are looked up
constexpr int kAside = 32;     // by 2 to that, numbers are kept away from where they would be denormal or infinite

}  // namespace

/// 2^n * e^r with n a multiple of 1/8 and |r| <= ln(2) / 16: e^r - 1 is r + r^2 (0.5 + r / 6), with factors that leave
/// the least error there, 2.6e-8. 2^n is looked up by what n is over a whole number; that part of n is taken from the
/// bits of what is looked up, so that adding all bits of n where an exponent lies gives 2^n.
///
/// `something`: the lanes whose result is not 0; none is checked without it, and x is at least -87. `of_difference`: x
/// is at most 60, and near enough to take ln(2) in one part (MathEmitter::exp_within).
llvm::Value* MathEmitter::exp_series(Value* x, Value* something, bool of_difference) {
  // Of a difference, what comes of the other lanes is left out at the end, whatever it is.
  if (something && !of_difference) x = b_.CreateSelect(something, x, number(0, x));
  x = step(x);
  Value* shift = stored(12582912.0 / (1 << kLookedUp), x);  // as in short_erf, to eighths
  Value* shifted = step(fma(x, stored(std::numbers::log2e, x), shift));
  Value* n = step(b_.CreateFSub(shifted, shift));
  Value* r = of_difference ? fma(n, stored(-std::numbers::ln2, x), x)
                           : fma(n, stored(-1.428606765330187e-06, x), fma(n, stored(-0.693145751953125, x), x));
  r = step(r);
  Value* square = b_.CreateFMul(r, r);
  Value* p = step(fma(r, stored(0.1666685789823532, x), stored(0.5000645518302917, x)));
  p = step(fma(p, square, r));

  const int aside = !something ? 0 : of_difference ? kAside : -kAside;
  std::array<uint32_t, kLanes> powers;
  for (uint32_t i = 0; i < kLanes; ++i)
    powers[i] =
        std::bit_cast<uint32_t>(static_cast<float>(std::exp2(i / 8.0 + aside))) - (i << (kMantissa - kLookedUp));
  Value* eighths = bits_of(shifted);
  Value* row = llvm::ConstantDataVector::get(b_.getContext(), llvm::ArrayRef<uint32_t>(powers.data(), kLanes));
  Value* power = b_.CreateAdd(b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {row, eighths}),
                              b_.CreateShl(eighths, integer(kMantissa - kLookedUp, eighths)));
  Value* back = stored(std::exp2(-aside), x);
  if (aside < 0) {
    // Numbers below 0 go aside the other way.
    Value* below = b_.CreateAnd(b_.CreateAShr(bits_of(x), integer(31, eighths)),
                                integer(int64_t{2} * kAside << kMantissa, eighths));
    power = b_.CreateAdd(power, below);
    back = b_.CreateBitCast(b_.CreateSub(bits_of(number(std::exp2(-aside), x)), below), x->getType());
  }
  power = b_.CreateBitCast(power, x->getType());
  if (!something) return step(fma(p, power, power));
  // What is denormal or infinite is rounded to it by the last step; of a difference nothing is infinite, and the power
  // may be rounded before.
  if (of_difference) power = b_.CreateFMul(power, back);
  Value* value = step(fma(p, power, power));
  return b_.CreateSelect(something, of_difference ? value : b_.CreateFMul(value, back), number(0, x));
}

}  // namespace strata::codegen
