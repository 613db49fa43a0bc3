// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of float32 as a few instructions in the loop itself, for vectors of AVX-512 and AVX2: a call of a library
// costs more than what it computes, since no vector register survives it, and loops with calls cannot keep up with
// memory. `log` is for AVX-512 alone; vector_series.cpp has `exp` for AVX2, vector_tables.cpp `erf` and `tanh`.
//
// Single numbers and fewer than a vector go the same way, so that a value does not depend on where it is computed.
//
// exp and erf are at most 2.1 units in the last place from the exact value, log 1.8, tanh 1.7, sin and cos 1.6,
// denormal numbers included; NaN stays NaN. tests/codegen/test_loop_scalar.cpp holds them to that. sin and cos of
// numbers beyond kFarthest are the library's; whether there are any is one comparison for all lanes. A sine and a
// cosine of one number share all but their last steps: the same instructions, of which LLVM keeps one copy.

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "codegen/llvm_math.h"

namespace strata::codegen {

using llvm::FixedVectorType;
using loop::ScalarOp;
namespace intrinsic = llvm::Intrinsic;

namespace {

/// Up to here, a whole number of quarter turns taken off in three steps of fma leaves a float's accuracy.
constexpr double kFarthest = 65536;

bool is_sine(ScalarOp op) { return op == ScalarOp::Sin || op == ScalarOp::Cos; }

}  // namespace

unsigned MathEmitter::short_width() const {
  if (target_.avx512 && target_.vector_bits >= 512) return kWideLanes;
  return target_.vector_bits >= 256 && target_.has("avx2") && target_.has("fma") ? kWideLanes / 2 : 0;
}

/// A known constant, where there are fewer registers than constants, is spread over a register each time that it is
/// needed. An instruction takes it from memory for nothing, if it lies there as a vector of which nothing is known.
llvm::Value* MathEmitter::stored(double value, const Value* shape) {
  Value* known = number(value, shape);
  if (lanes_of(shape) != kWideLanes / 2 || !known->getType()->getScalarType()->isFloatTy()) return known;
  const std::string name = fmt::format("stored.{:08x}", std::bit_cast<uint32_t>(static_cast<float>(value)));
  llvm::GlobalVariable* place = module_.getNamedGlobal(name);
  if (!place) {
    place = new llvm::GlobalVariable(module_, known->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                     llvm::cast<llvm::Constant>(known), name);
    place->setExternallyInitialized(true);
    place->setAlignment(llvm::Align(32));
  }
  llvm::LoadInst* load = b_.CreateAlignedLoad(known->getType(), place, llvm::Align(32));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return load;
}

llvm::Value* MathEmitter::bits_of(Value* x) {
  return b_.CreateBitCast(x, FixedVectorType::get(b_.getInt32Ty(), lanes_of(x)));
}

std::vector<llvm::Instruction*> MathEmitter::mark_steps(const llvm::BasicBlock* block) {
  marked_ = block;
  return std::exchange(marks_, {});
}

llvm::Value* MathEmitter::step(Value* x) {
  if (!marked_ || b_.GetInsertBlock() != marked_) return x;
  auto* form = llvm::FunctionType::get(x->getType(), {x->getType()}, false);
  marks_.push_back(
      b_.CreateCall(llvm::InlineAsm::get(form, "", lanes_of(x) == kWideLanes ? "=v,0" : "=x,0", false), {x}));
  return marks_.back();
}

bool MathEmitter::is_short(ScalarOp op, const Value* a) const {
  const unsigned width = short_width();
  // Without instructions that take a number apart the library's log is no slower.
  const bool is_one = op == ScalarOp::Exp || op == ScalarOp::Erf || op == ScalarOp::Tanh || is_sine(op) ||
                      (op == ScalarOp::Log && width == kWideLanes);
  return is_one && width > 0 && a->getType()->getScalarType()->isFloatTy();
}

llvm::Value* MathEmitter::short_function(ScalarOp op, Value* a) {
  return in_vectors(short_width(), std::array{a}, [&](std::span<Value* const> x) {
    if (is_sine(op)) return sine(op, x[0]);
    if (op == ScalarOp::Erf || op == ScalarOp::Tanh) return op == ScalarOp::Erf ? short_erf(x[0]) : short_tanh(x[0]);
    return op == ScalarOp::Exp ? short_exp(x[0]) : short_log(x[0]);
  });
}

/// Near ones in place, a vector with any far ones (or NaN) by the library.
llvm::Value* MathEmitter::sine(ScalarOp op, Value* x) {
  Value* size = b_.CreateUnaryIntrinsic(intrinsic::fabs, x);
  Value* far = b_.CreateFCmpUGT(size, number(kFarthest, x));
  Value* near_value = short_sine(op, x, size);
  const std::string name = op == ScalarOp::Sin ? "sin" : "cos";
  // What is hoisted stands in front of a branch that is there already.
  if (b_.GetInsertBlock()->getTerminator()) return b_.CreateSelect(far, math_call(name, std::array{x}), near_value);
  return one_by_rarity(
      far, [&] { return b_.CreateSelect(far, math_call(name, std::array{x}), near_value); },
      [&] { return near_value; });
}

MathEmitter::Values MathEmitter::by_rarity(Value* condition, const std::function<Values()>& rare,
                                           const std::function<Values()>& usual) {
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* rare_block = llvm::BasicBlock::Create(b_.getContext(), "rare", function);
  auto* usual_block = llvm::BasicBlock::Create(b_.getContext(), "usual", function);
  auto* next = llvm::BasicBlock::Create(b_.getContext(), "next", function);
  Value* any = condition;
  if (const unsigned lanes = lanes_of(condition)) {
    Value* bits = b_.CreateBitCast(condition, b_.getIntNTy(lanes));
    any = b_.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
  }
  b_.CreateCondBr(any, rare_block, usual_block, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  const auto build = [&](llvm::BasicBlock* block, const std::function<Values()>& way) {
    b_.SetInsertPoint(block);
    Values values = way();
    block = b_.GetInsertBlock();
    b_.CreateBr(next);
    return std::pair(std::move(values), block);
  };
  const auto [rare_values, rare_end] = build(rare_block, rare);
  const auto [usual_values, usual_end] = build(usual_block, usual);
  b_.SetInsertPoint(next);
  Values values;
  for (size_t i = 0; i < rare_values.size(); ++i) {
    auto* value = b_.CreatePHI(rare_values[i]->getType(), 2);
    value->addIncoming(rare_values[i], rare_end);
    value->addIncoming(usual_values[i], usual_end);
    values.push_back(value);
  }
  return values;
}

llvm::Value* MathEmitter::one_by_rarity(Value* condition, const std::function<Value*()>& rare,
                                        const std::function<Value*()>& usual) {
  return by_rarity(condition, [&] { return Values{rare()}; }, [&] { return Values{usual()}; })[0];
}

/// sin(q * pi/2 + r) and cos of it: a sine or cosine of r, |r| < pi/4 (a little more for large numbers), with a sign.
llvm::Value* MathEmitter::short_sine(ScalarOp op, Value* x, Value* size) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  auto* integers = FixedVectorType::get(b_.getInt32Ty(), lanes_of(x));
  const auto whole = [&](uint32_t value) { return llvm::ConstantInt::get(integers, value); };
  Value* shift = stored(12582912, x);  // as in short_erf
  Value* shifted = fma(size, stored(0.6366197466850281, x), shift);
  Value* turns = b_.CreateFSub(shifted, shift);
  // pi/2 in three parts. What the first step leaves is exact.
  Value* r = fma(turns, stored(-1.5707963705062866, x), size);
  r = fma(turns, stored(4.371138828673793e-08, x), r);
  r = fma(turns, stored(1.7151245100058819e-15, x), r);
  Value* square = b_.CreateFMul(r, r);
  Value* s = stored(-0.00019506503304000944, x);
  for (const double c : {0.00833209976553917, -0.16666653752326965}) s = fma(s, square, stored(c, x));
  s = fma(b_.CreateFMul(square, r), s, r);
  Value* c = stored(2.4412080165348016e-05, x);
  for (const double k : {-0.0013887130189687014, 0.04166664183139801, -0.5, 1.0}) c = fma(c, square, stored(k, x));
  Value* quarter = b_.CreateBitCast(shifted, integers);
  Value* odd = b_.CreateICmpNE(b_.CreateAnd(quarter, whole(1)), whole(0));
  const bool is_cosine = op == ScalarOp::Cos;
  Value* value = b_.CreateSelect(odd, is_cosine ? s : c, is_cosine ? c : s);
  Value* sign = b_.CreateShl(is_cosine ? b_.CreateAdd(quarter, whole(1)) : quarter, whole(30));
  if (!is_cosine) sign = b_.CreateXor(sign, b_.CreateBitCast(x, integers));
  sign = b_.CreateAnd(sign, whole(0x80000000));
  return b_.CreateBitCast(b_.CreateXor(b_.CreateBitCast(value, integers), sign), x->getType());
}

bool MathEmitter::has_divisors(const Value* lanes) const {
  return lanes_of(lanes) == kWideLanes && short_width() == kWideLanes && is_short(ScalarOp::Exp, lanes);
}
bool MathEmitter::has_shares(const Value* lanes) const {
  return lanes_of(lanes) == short_width() && is_short(ScalarOp::Exp, lanes);
}

/// The mantissa is at least 1 and less than 2. Of infinity and 0 it is 1, and the shift makes of the quotient what it
/// is.
MathEmitter::Divisor MathEmitter::divisor(Value* value) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Value* b = b_.CreateVectorSplat(kWideLanes, value);
  Value *nothing = number(0, b), *all = b_.getInt16(UINT16_MAX), *current = b_.getInt32(4);
  Value* mantissa =
      b_.CreateIntrinsic(intrinsic::x86_avx512_mask_getmant_ps_512, {}, {b, b_.getInt32(0), nothing, all, current});
  Value* exponent = b_.CreateIntrinsic(intrinsic::x86_avx512_mask_getexp_ps_512, {}, {b, nothing, all, current});
  return {mantissa, b_.CreateFDiv(number(1, b), mantissa), b_.CreateFNeg(exponent)};
}

/// One step from the product with the inverse, as P. Markstein has it ("Computation of elementary functions on the IBM
/// RISC System/6000 processor", 1990): what the product leaves of the dividend is exact, and divided gives the bits
/// that it lacks. A vector in which that does not hold for all lanes (0, infinity, NaN, and numbers so small that the
/// rest would be denormal) is divided.
llvm::Value* MathEmitter::quotient(Value* a, Value* b, const Divisor& by) {
  // What is hoisted stands in front of a branch that is there already.
  if (b_.GetInsertBlock()->getTerminator()) return b_.CreateFDiv(a, b);
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  constexpr uint32_t kSmallest = 27U << 24, kInfinity = 255U << 24;  // 2^-100, without their sign
  auto* integers = FixedVectorType::get(b_.getInt32Ty(), kWideLanes);
  const auto whole = [&](uint32_t value) { return llvm::ConstantInt::get(integers, value); };
  Value* q = b_.CreateFMul(a, by.inverse);
  Value* size = b_.CreateShl(b_.CreateBitCast(q, integers), whole(1));
  Value* unusual = b_.CreateICmpUGE(b_.CreateSub(size, whole(kSmallest)), whole(kInfinity - kSmallest));
  return one_by_rarity(
      unusual, [&] { return b_.CreateFDiv(a, b); },
      [&] {
        Value* rest = fma(b_.CreateFNeg(q), by.mantissa, a);
        return b_.CreateIntrinsic(intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                  {fma(rest, by.inverse, q), by.shift, q, b_.getInt16(UINT16_MAX), b_.getInt32(4)});
      });
}

MathEmitter::Whole MathEmitter::whole(Value* sum, bool is_usual) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  constexpr double kLarge = 0x1p60;
  Value* usual = nullptr;
  if (!is_usual)
    usual = b_.CreateAnd(b_.CreateFCmpOGE(sum, number(1, sum)), b_.CreateFCmpOLE(sum, number(kLarge, sum)));
  Value* inverse = b_.CreateFDiv(number(1, sum), sum);
  Value* rest = b_.CreateFMul(fma(b_.CreateFNeg(inverse), sum, number(1, sum)), inverse);
  const auto spread = [&](Value* v) { return b_.CreateVectorSplat(short_width(), v); };
  return {spread(sum), spread(inverse), spread(rest), usual};
}

/// No number is larger than the sum, so that nothing overflows, and none is NaN where it is not.
llvm::Value* MathEmitter::share(Value* a, const Whole& by) {
  // What is hoisted stands in front of a branch that is there already.
  if (b_.GetInsertBlock()->getTerminator()) return b_.CreateFDiv(a, by.sum);
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  const auto usual = [&] { return fma(a, by.inverse, b_.CreateFMul(a, by.rest)); };
  if (!by.usual) return usual();
  return one_by_rarity(b_.CreateNot(by.usual), [&] { return b_.CreateFDiv(a, by.sum); }, usual);
}

llvm::Value* MathEmitter::short_exp(Value* x) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  // Beyond these numbers the result is infinite or 0; comparisons with NaN are false, so that NaN goes on. To find out
  // that a result is too small for a denormal number, processors take hundreds of cycles: those lanes are left out,
  // whatever comes of them here.
  Value* something = b_.CreateNot(b_.CreateFCmpOLT(x, stored(-104, x)));
  x = b_.CreateSelect(b_.CreateFCmpOLT(stored(89, x), x), stored(89, x), x);
  return exp_within(x, something);
}

llvm::Value* MathEmitter::exp_of_difference(Value* x) {
  if (!is_short(ScalarOp::Exp, x)) return unary(ScalarOp::Exp, x, DType::F32);
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  return in_vectors(short_width(), std::array{x}, [&](std::span<Value* const> part) {
    return exp_within(part[0], b_.CreateNot(b_.CreateFCmpOLT(part[0], stored(-104, part[0]))), true);
  });
}

llvm::Value* MathEmitter::exp_in_sum(Value* x) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  x = b_.CreateSelect(b_.CreateFCmpOLT(x, stored(-87, x)), stored(-87, x), x);
  if (!is_short(ScalarOp::Exp, x)) return unary(ScalarOp::Exp, x, DType::F32);
  return in_vectors(short_width(), std::array{x},
                    [&](std::span<Value* const> part) { return exp_within(part[0], nullptr, true); });
}

/// 2^n * e^r with n a multiple of 1/16 and |r| <= ln(2) / 32: one instruction looks up what n leaves of 2^n over a
/// whole number, three steps of a series give e^r. Steps that wait for each other are what costs here. 0 for lanes
/// that have nothing. Of a difference, which is off by up to 2^-24 of itself, ln(2) as a float32 is near enough: the
/// product is off by 2^-28 of it.
llvm::Value* MathEmitter::exp_within(Value* x, Value* something, bool of_difference) {
  if (lanes_of(x) != kWideLanes) return exp_series(x, something, of_difference);
  Value* shift = number(12582912.0 / kWideLanes, x);  // as in short_erf, to sixteenths
  Value* shifted = step(fma(x, number(1.4426950408889634, x), shift));
  Value* n = step(b_.CreateFSub(shifted, shift));
  Value* r = nullptr;
  if (of_difference) {
    r = fma(n, number(-std::numbers::ln2, x), x);
  } else {
    // ln(2) in two parts, the first of so few bits that its product with n is exact.
    r = fma(n, number(-0.693145751953125, x), x);
    r = fma(n, number(-1.428606765330187e-06, x), r);
  }
  r = step(r);
  Value* square = b_.CreateFMul(r, r);
  Value* p = step(fma(r, number(1.0 / 6, x), number(0.5, x)));
  p = step(fma(p, square, r));  // e^r - 1
  std::array<float, kWideLanes> roots;
  for (unsigned i = 0; i < kWideLanes; ++i)
    roots[i] = static_cast<float>(std::exp2(static_cast<double>(i) / kWideLanes));
  Value* index = b_.CreateBitCast(shifted, FixedVectorType::get(b_.getInt32Ty(), kWideLanes));
  Value* row = llvm::ConstantDataVector::get(b_.getContext(), llvm::ArrayRef<float>(roots.data(), kWideLanes));
  Value* root = b_.CreateIntrinsic(intrinsic::x86_avx512_permvar_sf_512, {}, {row, index});
  p = step(fma(p, root, root));
  // By 2 to the whole number below n. Rounds denormal results once, and overflows as it should.
  Value* some = something ? b_.CreateBitCast(something, b_.getInt16Ty()) : b_.getInt16(UINT16_MAX);
  return b_.CreateIntrinsic(intrinsic::x86_avx512_mask_scalef_ps_512, {}, {p, n, number(0, x), some, b_.getInt32(4)});
}

/// x = 2^e m with m in [3/4, 3/2), so that of numbers next to 1 nothing but their distance from 1 counts. With c the
/// sixteenth next to m, log(x) = e log(2) + log(c) + log(1 + r), r = m / c - 1, |r| <= 1/24: a series of five steps.
/// Inverses and logarithms of the thirteen c are looked up by the low bits of 16 c. Of 0, infinity and NaN the exponent
/// makes of the sum what it should be, and the mantissa of numbers below 0 is NaN.
llvm::Value* MathEmitter::short_log(Value* x) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  constexpr int kFrom3To6Quarters = 3, kNanBelow0 = 2 << 2;
  Value *nothing = number(0, x), *all = b_.getInt16(UINT16_MAX), *current = b_.getInt32(4);
  Value* m = b_.CreateIntrinsic(intrinsic::x86_avx512_mask_getmant_ps_512, {},
                                {x, b_.getInt32(kFrom3To6Quarters | kNanBelow0), nothing, all, current});
  Value* e = b_.CreateIntrinsic(intrinsic::x86_avx512_mask_getexp_ps_512, {}, {x, nothing, all, current});
  e = b_.CreateSelect(b_.CreateFCmpOLT(m, number(1, x)), b_.CreateFAdd(e, number(1, x)), e);
  Value* shifted = fma(m, number(kWideLanes, x), number(12582912, x));  // as in short_erf
  Value* index = b_.CreateBitCast(shifted, FixedVectorType::get(b_.getInt32Ty(), kWideLanes));
  std::array<float, kWideLanes> inverses, logarithms;
  for (unsigned i = 0; i < kWideLanes; ++i) {
    inverses[i] = static_cast<float>(16.0 / (i < 12 ? i + 16 : i));
    logarithms[i] = static_cast<float>(-std::log(static_cast<double>(inverses[i])));
  }
  Value* r = fma(m, looked_up(inverses, index), number(-1, x));
  Value* p = number(0.2, x);
  for (const double c : {-0.25, 1.0 / 3, -0.5}) p = fma(p, r, number(c, x));
  p = fma(b_.CreateFMul(r, r), p, r);
  return b_.CreateFAdd(fma(e, number(std::numbers::ln2, x), looked_up(logarithms, index)), p);
}

}  // namespace strata::codegen
