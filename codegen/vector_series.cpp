// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// exp of float32 for vectors that no instruction of AVX-512 helps: a longer polynomial, of least relative error, and
// powers of two put together bit by bit. The promises are those of vector_functions.cpp.

#include <array>
#include <numbers>
#include <span>
#include <vector>

#include "codegen/llvm_math.h"

namespace strata::codegen {

using llvm::FixedVectorType;

namespace {

// Factors from the constant on. e^r for |r| <= ln(2) / 2, off by 3e-9 and by 1e-7 of it.
constexpr std::array kExp{
    1.0, 1.0, 0.4999999403953552, 0.1666652113199234, 0.04166838899254799, 0.008368716575205326, 0.001381459878757596};
constexpr std::array kShortExp{
    1.0, 1.0, 0.499992311000824, 0.16667114198207855, 0.04189015552401543, 0.008312520571053028};
constexpr double kShift = 12582912;  // 1.5 * 2^23: a sum with it is rounded to a whole number, in its low bits
constexpr unsigned kMantissa = 23;

}  // namespace

/// x = n ln(2) + r.
struct MathEmitter::Reduced {
  Value* n;  ///< as an integer; in the low 9 bits
  Value* r;
};

/// Pairs of factors, pairs of pairs, and so on (G. Estrin, "Organization of computer systems: the fixed plus variable
/// structure computer", 1960): steps that wait for each other are what costs here.
llvm::Value* MathEmitter::series(std::span<const double> factors, Value* x) {
  std::vector<Value*> parts;
  for (const double f : factors) parts.push_back(number(f, x));
  for (Value* power = x; parts.size() > 1; power = b_.CreateFMul(power, power)) {
    for (size_t k = 0; k < parts.size(); k += 2)
      parts[k / 2] = k + 1 < parts.size() ? fma(parts[k + 1], power, parts[k]) : parts[k];
    parts.resize((parts.size() + 1) / 2);
  }
  return parts[0];
}

llvm::Value* MathEmitter::bits_of(Value* x) {
  return b_.CreateBitCast(x, FixedVectorType::get(b_.getInt32Ty(), lanes_of(x)));
}

MathEmitter::Reduced MathEmitter::reduce_exponent(Value* x, bool of_difference) {
  Value* shifted = fma(x, number(std::numbers::log2e, x), number(kShift, x));
  Value* n = b_.CreateFSub(shifted, number(kShift, x));
  // In two parts as in exp_within, and for the same reason in one.
  Value* r = of_difference ? fma(n, number(-std::numbers::ln2, x), x)
                           : fma(n, number(-1.428606765330187e-06, x), fma(n, number(-0.693145751953125, x), x));
  return {bits_of(shifted), r};
}

/// 2^n p, which is no denormal number and not infinite.
llvm::Value* MathEmitter::scale_normal(const Reduced& e, Value* p) {
  Value* bits = b_.CreateAdd(bits_of(p), b_.CreateShl(e.n, integer(kMantissa, e.n)));
  return b_.CreateBitCast(bits, p->getType());
}

/// Without `something`, x is at least -87.
llvm::Value* MathEmitter::exp_series(Value* x, Value* something, bool of_difference) {
  Value* zero = number(0, x);
  if (!something) {
    const Reduced e = reduce_exponent(x, of_difference);
    // The bits of NaN are anything by now: what is left of x makes it NaN again.
    return fma(e.r, zero, scale_normal(e, series(kShortExp, e.r)));
  }
  const Reduced e = reduce_exponent(b_.CreateSelect(something, x, zero), of_difference);
  // By half of n, which leaves a normal number, then by the rest: rounds a denormal result once, and overflows.
  Value* whole = b_.CreateSub(e.n, integer(0x4b400000, e.n));
  Value* half = b_.CreateAShr(whole, integer(1, whole));
  Value* p = scale_normal({half, e.r}, series(kExp, e.r));
  Value* rest = b_.CreateShl(b_.CreateSub(whole, half), integer(kMantissa, whole));
  Value* power = b_.CreateBitCast(b_.CreateAdd(rest, bits_of(number(1, x))), x->getType());
  return b_.CreateSelect(something, fma(p, power, b_.CreateFMul(e.r, zero)), zero);
}

}  // namespace strata::codegen
