// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm_math.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <dlfcn.h>

#include <array>
#include <limits>
#include <unordered_map>

#include "core/support/error.h"

namespace strata::codegen {

using llvm::FixedVectorType;
using llvm::Intrinsic::ID;
using loop::ScalarOp;
namespace intrinsic = llvm::Intrinsic;

namespace {

/// PyTorch's integer power: wraps; negative exponents give 0 but for bases 1 and -1.
extern "C" int64_t strata_integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e; e >>= 1) {
    if (e & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}
extern "C" uint64_t strata_unsigned_power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

void* open_library(const char* name) { return dlopen(name, RTLD_NOW | RTLD_GLOBAL); }

std::string_view libm_name(ScalarOp op) {
  switch (op) {
    case ScalarOp::Exp:
      return "exp";
    case ScalarOp::Exp2:
      return "exp2";
    case ScalarOp::Expm1:
      return "expm1";
    case ScalarOp::Log:
      return "log";
    case ScalarOp::Log2:
      return "log2";
    case ScalarOp::Log10:
      return "log10";
    case ScalarOp::Log1p:
      return "log1p";
    case ScalarOp::Sin:
      return "sin";
    case ScalarOp::Cos:
      return "cos";
    case ScalarOp::Tan:
      return "tan";
    case ScalarOp::Asin:
      return "asin";
    case ScalarOp::Acos:
      return "acos";
    case ScalarOp::Atan:
      return "atan";
    case ScalarOp::Sinh:
      return "sinh";
    case ScalarOp::Cosh:
      return "cosh";
    case ScalarOp::Tanh:
      return "tanh";
    case ScalarOp::Asinh:
      return "asinh";
    case ScalarOp::Acosh:
      return "acosh";
    case ScalarOp::Atanh:
      return "atanh";
    case ScalarOp::Erf:
      return "erf";
    case ScalarOp::Erfc:
      return "erfc";
    default:
      return {};
  }
}

bool is_signed(DType d) { return is_signed_integral(d); }

}  // namespace

void* math_symbol(const std::string& name) {
  static void* const vector_library = open_library("libmvec.so.1");
  static void* const c_library = open_library("libm.so.6");
  if (name == "strata_integer_power") return reinterpret_cast<void*>(&strata_integer_power);
  if (name == "strata_unsigned_power") return reinterpret_cast<void*>(&strata_unsigned_power);
  if (name.starts_with("_ZGV")) return vector_library ? dlsym(vector_library, name.c_str()) : nullptr;
  if (void* found = c_library ? dlsym(c_library, name.c_str()) : nullptr) return found;
  return dlsym(RTLD_DEFAULT, name.c_str());
}

// ------------------------------------------------------------------------------------------------------------------
// types

llvm::Type* MathEmitter::register_type(DType dtype) const {
  switch (dtype) {
    case DType::Bool:
      return b_.getInt1Ty();
    case DType::F16:
      return b_.getHalfTy();
    case DType::BF16:
      return b_.getInt16Ty();
    case DType::F32:
      return b_.getFloatTy();
    case DType::F64:
      return b_.getDoubleTy();
    default:
      return b_.getIntNTy(static_cast<unsigned>(dtype_size(dtype)) * 8);
  }
}

llvm::Type* MathEmitter::memory_type(DType dtype) const {
  return dtype == DType::Bool ? b_.getInt8Ty() : register_type(dtype);
}

unsigned MathEmitter::lanes_of(const Value* value) {
  auto* vector = llvm::dyn_cast<FixedVectorType>(value->getType());
  return vector ? vector->getNumElements() : 0;
}

llvm::Type* MathEmitter::like(llvm::Type* element, const Value* shape) const {
  unsigned lanes = lanes_of(shape);
  return lanes ? static_cast<llvm::Type*>(FixedVectorType::get(element, lanes)) : element;
}

llvm::Value* MathEmitter::splat_like(Value* scalar, const Value* shape) {
  unsigned lanes = lanes_of(shape);
  return lanes ? b_.CreateVectorSplat(lanes, scalar) : scalar;
}

llvm::Value* MathEmitter::constant(DType dtype, double number, int64_t integer) const {
  if (dtype == DType::F32 || dtype == DType::F64) return llvm::ConstantFP::get(register_type(dtype), number);
  return llvm::ConstantInt::get(register_type(dtype), static_cast<uint64_t>(integer), true);
}

llvm::Value* MathEmitter::widen(Value* memory, DType stored) {
  switch (stored) {
    case DType::Bool:
      return b_.CreateICmpNE(memory, llvm::Constant::getNullValue(memory->getType()));
    case DType::F16:
    case DType::BF16:
      return cast(memory, stored, DType::F32);
    default:
      return memory;
  }
}

/// The 16-bit float that `value` was widened from, where nothing but its sign has changed since; else null. Moving
/// numbers then takes no conversion.
llvm::Value* MathEmitter::before_widening(Value* value, DType stored, int depth) {
  namespace match = llvm::PatternMatch;
  constexpr int kDeepest = 6;  // choices among choices: as many as concatenations have parts
  if (depth > kDeepest) return nullptr;
  llvm::Type* type = like(register_type(stored), value);
  Value *x = nullptr, *condition = nullptr, *y = nullptr;
  const auto widened = [&] {
    return stored == DType::F16
               ? match::match(value, match::m_FPExt(match::m_Value(x)))
               : match::match(
                     value, match::m_BitCast(match::m_Shl(match::m_ZExt(match::m_Value(x)), match::m_SpecificInt(16))));
  };
  if (widened()) return x->getType() == type ? x : nullptr;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value))
    return constant->isNullValue() ? llvm::Constant::getNullValue(type) : nullptr;
  if (match::match(value, match::m_Select(match::m_Value(condition), match::m_Value(x), match::m_Value(y)))) {
    x = before_widening(x, stored, depth + 1);
    y = x ? before_widening(y, stored, depth + 1) : nullptr;
    return y ? b_.CreateSelect(condition, x, y) : nullptr;
  }
  if (!match::match(value, match::m_FNeg(match::m_Value(x)))) return nullptr;
  x = before_widening(x, stored, depth + 1);
  if (!x) return nullptr;
  llvm::Type* bits = like(b_.getInt16Ty(), x);
  return b_.CreateBitCast(b_.CreateXor(b_.CreateBitCast(x, bits), llvm::ConstantInt::get(bits, 0x8000)), type);
}

llvm::Value* MathEmitter::narrow(Value* value, DType from, DType stored) {
  if (from == DType::F32 && is_reduced_float(stored))
    if (Value* as_it_was = before_widening(value, stored)) return as_it_was;
  Value* converted = cast(value, from, stored);
  return stored == DType::Bool ? b_.CreateZExt(converted, like(b_.getInt8Ty(), converted)) : converted;
}

// ------------------------------------------------------------------------------------------------------------------
// casts

llvm::Value* MathEmitter::float_to_bfloat(Value* a) {
  // Round to nearest even on the bits; the processor's own conversion would flush denormals.
  llvm::Type* i32 = like(b_.getInt32Ty(), a);
  Value* bits = b_.CreateBitCast(a, i32);
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), llvm::ConstantInt::get(i32, 1));
  Value* rounded = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(bits, llvm::ConstantInt::get(i32, 0x7fff)), odd), 16);
  Value* quiet = llvm::ConstantInt::get(i32, 0x7fc0);
  return b_.CreateTrunc(b_.CreateSelect(is_nan(a), quiet, rounded), like(b_.getInt16Ty(), a));
}

llvm::Value* MathEmitter::float_to_integer(Value* a, DType to) {
  // As PyTorch's compiled code does: narrow types by way of int32, so that values out of range wrap the same way.
  llvm::Type* target = like(register_type(to), a);
  if (to == DType::U64) return b_.CreateFPToUI(a, target);
  bool narrow = to == DType::I32 || dtype_size(to) < 4;
  Value* wide = narrow ? b_.CreateFPToSI(a, like(b_.getInt32Ty(), a)) : float_to_int64(a);
  return b_.CreateTrunc(wide, target);
}

/// Without AVX-512 vectors are converted to 64 bits one number after the other, to 32 bits at once: unless a number has
/// more.
llvm::Value* MathEmitter::float_to_int64(Value* a) {
  llvm::Type* type = like(b_.getInt64Ty(), a);
  const auto plainly = [&] { return b_.CreateFPToSI(a, type); };
  const bool has_instruction = target_.has("avx512dq") || !lanes_of(a) || !a->getType()->getScalarType()->isFloatTy();
  // What is hoisted stands in front of a branch that is there already.
  if (has_instruction || b_.GetInsertBlock()->getTerminator()) return plainly();
  Value* near = b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(intrinsic::fabs, a), number(0x1p31, a));
  return one_by_rarity(b_.CreateNot(near), plainly,
                       [&] { return b_.CreateSExt(b_.CreateFPToSI(a, like(b_.getInt32Ty(), a)), type); });
}

llvm::Value* MathEmitter::cast(Value* a, DType from, DType to) {
  if (from == to) return a;
  if (from == DType::BF16) {
    Value* bits = b_.CreateShl(b_.CreateZExt(a, like(b_.getInt32Ty(), a)), 16);
    return cast(b_.CreateBitCast(bits, like(b_.getFloatTy(), a)), DType::F32, to);
  }
  if (from == DType::F16) return cast(b_.CreateFPExt(a, like(b_.getFloatTy(), a)), DType::F32, to);
  llvm::Type* target = like(register_type(to), a);
  if (is_reduced_float(to)) {
    // PyTorch rounds to float first, also from double.
    Value* f = cast(a, from, DType::F32);
    return to == DType::BF16 ? float_to_bfloat(f) : b_.CreateFPTrunc(f, target);
  }
  if (is_floating(from)) {
    if (to == DType::Bool) return b_.CreateFCmpUNE(a, llvm::Constant::getNullValue(a->getType()));
    if (is_floating(to)) return to == DType::F64 ? b_.CreateFPExt(a, target) : b_.CreateFPTrunc(a, target);
    return float_to_integer(a, to);
  }
  if (to == DType::Bool) return b_.CreateICmpNE(a, llvm::Constant::getNullValue(a->getType()));
  if (is_floating(to)) return is_signed(from) ? b_.CreateSIToFP(a, target) : b_.CreateUIToFP(a, target);
  return b_.CreateIntCast(a, target, is_signed(from));
}

// ----------------------------------------------------------------------------------------------------------- library
// calls

llvm::Value* MathEmitter::slice(Value* v, unsigned begin, unsigned count) {
  llvm::SmallVector<int, 64> mask;
  // Lanes past the end repeat the last one: a safe argument where a narrow vector is padded.
  for (unsigned i = 0; i < count; ++i) mask.push_back(static_cast<int>(std::min(begin + i, lanes_of(v) - 1)));
  return b_.CreateShuffleVector(v, mask);
}

llvm::Value* MathEmitter::concatenate(std::span<Value* const> parts, unsigned lanes) {
  std::vector<Value*> level(parts.begin(), parts.end());
  while (level.size() > 1) {
    std::vector<Value*> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      llvm::SmallVector<int, 64> mask;
      for (unsigned j = 0; j < 2 * lanes_of(level[i]); ++j) mask.push_back(static_cast<int>(j));
      next.push_back(b_.CreateShuffleVector(level[i], level[i + 1], mask));
    }
    level = std::move(next);
  }
  return lanes_of(level[0]) == lanes ? level[0] : slice(level[0], 0, lanes);
}

llvm::Value* MathEmitter::call_lanes(const std::string& function, llvm::Type* result, std::span<Value* const> args) {
  std::vector<llvm::Type*> types;
  for (Value* a : args) types.push_back(a->getType()->getScalarType());
  auto callee = module_.getOrInsertFunction(function, llvm::FunctionType::get(result, types, false));
  unsigned lanes = lanes_of(args[0]);
  auto call = [&](const std::vector<Value*>& values) {
    auto* c = b_.CreateCall(callee, values);
    c->setDoesNotAccessMemory();
    c->setDoesNotThrow();
    return c;
  };
  if (!lanes) return call({args.begin(), args.end()});
  Value* out = llvm::PoisonValue::get(FixedVectorType::get(result, lanes));
  for (unsigned i = 0; i < lanes; ++i) {
    std::vector<Value*> values;
    for (Value* a : args) values.push_back(b_.CreateExtractElement(a, i));
    out = b_.CreateInsertElement(out, call(values), i);
  }
  return out;
}

llvm::Value* MathEmitter::in_vectors(unsigned width, std::span<Value* const> args, const VectorFunction& function) {
  const unsigned lanes = lanes_of(args[0]);
  std::vector<Value*> parts;
  for (unsigned begin = 0; begin < std::max(lanes, 1u); begin += width) {
    std::vector<Value*> values;
    for (Value* a : args)
      values.push_back(lanes == 0 ? b_.CreateVectorSplat(width, a) : lanes == width ? a : slice(a, begin, width));
    parts.push_back(function(values));
  }
  return lanes == 0 ? b_.CreateExtractElement(parts[0], uint64_t{0}) : concatenate(parts, lanes);
}

llvm::Value* MathEmitter::vector_call(const std::string& function, unsigned width, std::span<Value* const> args) {
  llvm::Type* element = args[0]->getType()->getScalarType();
  llvm::Type* type = FixedVectorType::get(element, width);
  std::vector<llvm::Type*> types(args.size(), type);
  // No vector register survives the call: what lives on goes to the stack and back, in one piece where it is aligned.
  const llvm::Align whole(width * element->getPrimitiveSizeInBits() / 8);
  b_.GetInsertBlock()->getParent()->addFnAttr(llvm::Attribute::getWithStackAlignment(b_.getContext(), whole));
  auto callee = module_.getOrInsertFunction(function, llvm::FunctionType::get(type, types, false));
  return in_vectors(width, args, [&](std::span<Value* const> values) {
    auto* c = b_.CreateCall(callee, llvm::ArrayRef<Value*>(values.data(), values.size()));
    c->setDoesNotAccessMemory();
    c->setDoesNotThrow();
    return c;
  });
}

/// The widest form that the target has, also for fewer numbers than it takes and for a single one: forms of other
/// widths and libm differ in the last place, and a value that is computed in two places, here once for all lanes, there
/// in every lane, must be the same value (a program may compare or subtract them).
llvm::Value* MathEmitter::math_call(const std::string& name, std::span<Value* const> args) {
  llvm::Type* element = args[0]->getType()->getScalarType();
  bool single = element->isFloatTy();
  std::string scalar = name + (single ? "f" : "");
  struct Variant {
    char letter;
    unsigned bits;
  };
  constexpr std::array<Variant, 3> variants = {{{'e', 512}, {'d', 256}, {'b', 128}}};
  for (auto [letter, bits] : variants) {
    unsigned width = bits / (single ? 32 : 64);
    if ((bits == 512 && !target_.avx512) || (bits == 256 && target_.vector_bits < 256)) continue;
    std::string function =
        std::string("_ZGV") + letter + "N" + std::to_string(width) + std::string(args.size(), 'v') + "_" + scalar;
    if (math_symbol(function)) return vector_call(function, width, args);
  }
  return call_lanes(scalar, element, args);
}

// ------------------------------------------------------------------------------------------------------------------
// unary

llvm::Value* MathEmitter::sigmoid(Value* a, DType dtype) {
  Value* e = unary(ScalarOp::Exp, b_.CreateFNeg(a), dtype);
  return b_.CreateFDiv(number(1, a), b_.CreateFAdd(number(1, a), e));
}

/// LLVM 19 takes `|x| <= 0 ? 0 : x` for a number that is not negative: what a comparison says of |x| it takes for said
/// of x. Behind the fence, which is no instruction, it does not see what is compared.
llvm::Value* MathEmitter::absolute(Value* a) {
  return b_.CreateArithmeticFence(b_.CreateUnaryIntrinsic(intrinsic::fabs, a), a->getType());
}

llvm::Value* MathEmitter::float_unary(ScalarOp op, Value* a, DType dtype) {
  auto call = [&](ID id) { return b_.CreateUnaryIntrinsic(id, a); };
  switch (op) {
    case ScalarOp::Neg:
      return b_.CreateFNeg(a);
    case ScalarOp::Abs:
      return absolute(a);
    case ScalarOp::Sqrt:
      return call(intrinsic::sqrt);
    case ScalarOp::Rsqrt:
      return b_.CreateFDiv(number(1, a), call(intrinsic::sqrt));
    case ScalarOp::Floor:
      return call(intrinsic::floor);
    case ScalarOp::Ceil:
      return call(intrinsic::ceil);
    case ScalarOp::Round:
      return call(intrinsic::roundeven);
    case ScalarOp::Trunc:
      return call(intrinsic::trunc);
    case ScalarOp::Sigmoid:
      return sigmoid(a, dtype);
    case ScalarOp::Reciprocal:
      return b_.CreateFDiv(number(1, a), a);
    case ScalarOp::IsNan:
      return is_nan(a);
    case ScalarOp::IsInf:
      return b_.CreateFCmpOEQ(absolute(a), number(std::numeric_limits<double>::infinity(), a));
    case ScalarOp::Sign: {
      Value* zero = number(0, a);
      Value* up = b_.CreateUIToFP(b_.CreateFCmpOGT(a, zero), a->getType());
      return b_.CreateFSub(up, b_.CreateUIToFP(b_.CreateFCmpOLT(a, zero), a->getType()));
    }
    default:
      break;
  }
  if (is_short(op, a)) return short_function(op, a);
  std::string_view name = libm_name(op);
  if (name.empty()) throw_internal("codegen: '" + std::string(to_string(op)) + "' on floats has no rule");
  return math_call(std::string(name), std::array{a});
}

llvm::Value* MathEmitter::integer_unary(ScalarOp op, Value* a, DType dtype) {
  Value* zero = llvm::Constant::getNullValue(a->getType());
  bool is_bool = dtype == DType::Bool;
  switch (op) {
    case ScalarOp::Neg:
      return is_bool ? a : b_.CreateNeg(a);
    case ScalarOp::Not:
      return b_.CreateNot(a);
    case ScalarOp::Abs:
      return is_signed(dtype) ? b_.CreateBinaryIntrinsic(intrinsic::abs, a, b_.getFalse()) : a;
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Round:
    case ScalarOp::Trunc:
      return a;
    case ScalarOp::Sign: {
      if (is_bool) return a;
      Value* up = b_.CreateZExt(b_.CreateICmpNE(a, zero), a->getType());
      return is_signed(dtype) ? b_.CreateSelect(b_.CreateICmpSLT(a, zero), integer(-1, a), up) : up;
    }
    default:
      throw_internal("codegen: '" + std::string(to_string(op)) + "' on integers has no rule");
  }
}

llvm::Value* MathEmitter::unary(ScalarOp op, Value* a, DType dtype) {
  return is_floating(dtype) ? float_unary(op, a, dtype) : integer_unary(op, a, dtype);
}

// -----------------------------------------------------------------------------------------------------------------
// binary

namespace {

/// Whether a value is the same number, and not NaN, in all lanes.
bool is_number(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && !number->isNaN();
}

}  // namespace

llvm::Value* MathEmitter::fma(Value* a, Value* b, Value* c) {
  return b_.CreateIntrinsic(intrinsic::fma, {a->getType()}, {a, b, c});
}

llvm::Value* MathEmitter::extremum(Value* a, Value* b, DType dtype, bool larger) {
  if (!is_floating(dtype)) {
    ID id =
        is_signed(dtype) ? (larger ? intrinsic::smax : intrinsic::smin) : (larger ? intrinsic::umax : intrinsic::umin);
    return b_.CreateBinaryIntrinsic(id, a, b);
  }
  // Beside a number one comparison will do. Not only for speed: LLVM 19 takes `a is NaN, or a > 0` for classes of
  // numbers, and forgets on the way that a was |x|.
  if (is_number(b)) return b_.CreateSelect(larger ? b_.CreateFCmpUGT(a, b) : b_.CreateFCmpULT(a, b), a, b);
  // Of two zeros either will do: the machine's own max, and a second look at the operand that is not the running one.
  Value* v = b_.CreateBinaryIntrinsic(larger ? intrinsic::maximum : intrinsic::minimum, b, a);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(v)) call->setHasNoSignedZeros(true);
  return v;
}

llvm::Value* MathEmitter::compare(ScalarOp op, Value* a, Value* b, DType dtype) {
  bool f = is_floating(dtype), s = is_signed(dtype);
  using P = llvm::CmpInst::Predicate;
  auto pick = [&](P of_float, P of_signed, P of_unsigned) {
    return b_.CreateCmp(f ? of_float : s ? of_signed : of_unsigned, a, b);
  };
  switch (op) {
    case ScalarOp::Eq:
      return pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case ScalarOp::Ne:
      return pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
    case ScalarOp::Lt:
      return pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
    case ScalarOp::Le:
      return pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case ScalarOp::Gt:
      return pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
    default:
      return pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
  }
}

/// C's fmod, which is exact. Of quotients up to 2^22 (float32) or 2^51 the whole part q is right or one too large: then
/// so is the remainder a - q * b, which is less than b and a multiple of the last place of a or b, and so is b more.
/// The library takes a hundred times as long; a vector with a larger quotient, with infinity or NaN is left to it.
llvm::Value* MathEmitter::float_remainder(Value* a, Value* b) {
  const auto by_library = [&] { return math_call("fmod", std::array{a, b}); };
  if (!target_.avx512 && !target_.has("fma")) return by_library();
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Value *x = b_.CreateUnaryIntrinsic(intrinsic::fabs, a), *y = b_.CreateUnaryIntrinsic(intrinsic::fabs, b);
  Value* quotient = b_.CreateFDiv(x, y);
  const bool is_double = a->getType()->getScalarType()->isDoubleTy();
  Value* near = b_.CreateAnd(b_.CreateFCmpOLT(quotient, number(is_double ? 0x1p51 : 0x1p22, a)),
                             b_.CreateFCmpOLT(y, number(std::numeric_limits<double>::infinity(), a)));
  Value* whole = b_.CreateUnaryIntrinsic(intrinsic::trunc, quotient);
  Value* rest = fma(b_.CreateFNeg(whole), y, x);
  rest = b_.CreateSelect(b_.CreateFCmpOLT(rest, number(0, a)), b_.CreateFAdd(rest, y), rest);
  rest = b_.CreateBinaryIntrinsic(intrinsic::copysign, rest, a);
  // What is hoisted stands in front of a branch that is there already.
  if (b_.GetInsertBlock()->getTerminator()) return b_.CreateSelect(near, rest, by_library());
  return one_by_rarity(
      b_.CreateNot(near), [&] { return b_.CreateSelect(near, rest, by_library()); }, [&] { return rest; });
}

llvm::Value* MathEmitter::float_modulo(Value* a, Value* b, DType) {
  Value* zero = number(0, a);
  Value* m = float_remainder(a, b);
  Value* differ = b_.CreateXor(b_.CreateFCmpOLT(b, zero), b_.CreateFCmpOLT(m, zero));
  Value* wrong = b_.CreateAnd(b_.CreateFCmpUNE(m, zero), differ);
  return b_.CreateSelect(wrong, b_.CreateFAdd(m, b), m);
}

llvm::Value* MathEmitter::float_floor_divide(Value* a, Value* b, DType) {
  Value* zero = number(0, a);
  Value* m = float_remainder(a, b);
  Value* quotient = b_.CreateFDiv(b_.CreateFSub(a, m), b);
  Value* differ = b_.CreateXor(b_.CreateFCmpOLT(b, zero), b_.CreateFCmpOLT(m, zero));
  Value* adjust = b_.CreateAnd(b_.CreateFCmpUNE(m, zero), differ);
  quotient = b_.CreateSelect(adjust, b_.CreateFSub(quotient, number(1, a)), quotient);
  Value* floored = b_.CreateUnaryIntrinsic(intrinsic::floor, quotient);
  Value* low = b_.CreateFCmpOGT(b_.CreateFSub(quotient, floored), number(0.5, a));
  floored = b_.CreateSelect(low, b_.CreateFAdd(floored, number(1, a)), floored);
  Value* plain = b_.CreateFDiv(a, b);
  Value* signed_zero = b_.CreateBinaryIntrinsic(intrinsic::copysign, zero, plain);
  Value* result = b_.CreateSelect(b_.CreateFCmpUNE(quotient, zero), floored, signed_zero);
  return b_.CreateSelect(b_.CreateFCmpOEQ(b, zero), plain, result);
}

/// A program's product is rounded, as PyTorch's is: taken into a sum unrounded, the difference of two large equal
/// numbers (of a softmax and its maximum, of an element and its mean) would no longer be zero.
llvm::Value* MathEmitter::product(Value* a, Value* b) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  return b_.CreateFMul(a, b);
}

llvm::Value* MathEmitter::float_binary(ScalarOp op, Value* a, Value* b, DType dtype) {
  switch (op) {
    case ScalarOp::Add:
      return b_.CreateFAdd(a, b);
    case ScalarOp::Sub:
      return b_.CreateFSub(a, b);
    case ScalarOp::Mul:
      return product(a, b);
    case ScalarOp::Div:
      return b_.CreateFDiv(a, b);
    case ScalarOp::Min:
      return extremum(a, b, dtype, false);
    case ScalarOp::Max:
      return extremum(a, b, dtype, true);
    case ScalarOp::Fmin:
      return b_.CreateBinaryIntrinsic(intrinsic::minnum, a, b);
    case ScalarOp::Fmax:
      return b_.CreateBinaryIntrinsic(intrinsic::maxnum, a, b);
    case ScalarOp::FloorDiv:
      return float_floor_divide(a, b, dtype);
    case ScalarOp::Mod:
      return float_modulo(a, b, dtype);
    case ScalarOp::Fmod:
      return float_remainder(a, b);
    case ScalarOp::Pow:
      return math_call("pow", std::array{a, b});
    case ScalarOp::Atan2:
      return math_call("atan2", std::array{a, b});
    default:
      throw_internal("codegen: '" + std::string(to_string(op)) + "' on floats has no rule");
  }
}

llvm::Value* MathEmitter::divide(ScalarOp op, Value* a, Value* b, DType dtype) {
  // Lanes that do not count may hold a zero divisor, and the machine traps on it and on the one quotient that
  // overflows.
  bool s = is_signed(dtype);
  Value* zero = llvm::Constant::getNullValue(a->getType());
  Value* bad = b_.CreateICmpEQ(b, zero);
  Value* minus_one = nullptr;
  if (s) {
    minus_one = b_.CreateICmpEQ(b, integer(-1, b));
    bad = b_.CreateOr(bad, minus_one);
  }
  Value* safe = b_.CreateSelect(bad, integer(1, b), b);
  Value* quotient = s ? b_.CreateSDiv(a, safe) : b_.CreateUDiv(a, safe);
  Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, safe));
  Value* wrong = nullptr;
  if (s && (op == ScalarOp::FloorDiv || op == ScalarOp::Mod)) {
    Value* differ = b_.CreateICmpSLT(b_.CreateXor(rest, safe), zero);
    wrong = b_.CreateAnd(b_.CreateICmpNE(rest, zero), differ);
  }
  if (op == ScalarOp::Mod || op == ScalarOp::Fmod)
    return wrong ? b_.CreateSelect(wrong, b_.CreateAdd(rest, safe), rest) : rest;
  if (wrong) quotient = b_.CreateSub(quotient, b_.CreateZExt(wrong, a->getType()));
  return s ? b_.CreateSelect(minus_one, b_.CreateNeg(a), quotient) : quotient;
}

llvm::Value* MathEmitter::shift(ScalarOp op, Value* a, Value* b, DType dtype) {
  unsigned bits = a->getType()->getScalarSizeInBits();
  Value* inside = b_.CreateICmpULT(b, integer(bits, b));
  if (op == ScalarOp::Shl || !is_signed(dtype)) {
    Value* count = b_.CreateSelect(inside, b, integer(0, b));
    Value* shifted = op == ScalarOp::Shl ? b_.CreateShl(a, count) : b_.CreateLShr(a, count);
    return b_.CreateSelect(inside, shifted, integer(0, a));
  }
  return b_.CreateAShr(a, b_.CreateSelect(inside, b, integer(bits - 1, b)));
}

llvm::Value* MathEmitter::integer_power(Value* a, Value* b, DType dtype) {
  llvm::Type* wide = like(b_.getInt64Ty(), a);
  bool s = is_signed(dtype);
  std::array<Value*, 2> args = {b_.CreateIntCast(a, wide, s), b_.CreateIntCast(b, wide, s)};
  Value* power = call_lanes(s ? "strata_integer_power" : "strata_unsigned_power", b_.getInt64Ty(), args);
  return b_.CreateTrunc(power, a->getType());
}

llvm::Value* MathEmitter::integer_binary(ScalarOp op, Value* a, Value* b, DType dtype) {
  bool is_bool = dtype == DType::Bool;
  switch (op) {
    case ScalarOp::Add:
      return is_bool ? b_.CreateOr(a, b) : b_.CreateAdd(a, b);
    case ScalarOp::Sub:
      return is_bool ? b_.CreateXor(a, b) : b_.CreateSub(a, b);
    case ScalarOp::Mul:
      return is_bool ? b_.CreateAnd(a, b) : b_.CreateMul(a, b);
    case ScalarOp::Div:
    case ScalarOp::FloorDiv:
    case ScalarOp::Mod:
    case ScalarOp::Fmod:
      if (is_bool) break;
      return divide(op, a, b, dtype);
    case ScalarOp::Min:
    case ScalarOp::Fmin:
      return is_bool ? b_.CreateAnd(a, b) : extremum(a, b, dtype, false);
    case ScalarOp::Max:
    case ScalarOp::Fmax:
      return is_bool ? b_.CreateOr(a, b) : extremum(a, b, dtype, true);
    case ScalarOp::And:
      return b_.CreateAnd(a, b);
    case ScalarOp::Or:
      return b_.CreateOr(a, b);
    case ScalarOp::Xor:
      return b_.CreateXor(a, b);
    case ScalarOp::Shl:
    case ScalarOp::Shr:
      if (is_bool) break;
      return shift(op, a, b, dtype);
    case ScalarOp::Pow:
      if (is_bool) return b_.CreateOr(a, b_.CreateNot(b));
      return integer_power(a, b, dtype);
    default:
      break;
  }
  throw_internal("codegen: '" + std::string(to_string(op)) + "' on " + std::string(dtype_name(dtype)) + " has no rule");
}

llvm::Value* MathEmitter::binary(ScalarOp op, Value* a, Value* b, DType dtype) {
  if (is_comparison(op)) return compare(op, a, b, dtype);
  return is_floating(dtype) ? float_binary(op, a, b, dtype) : integer_binary(op, a, b, dtype);
}

}  // namespace strata::codegen
