// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scalar operations of loop IR as LLVM instructions, on scalars and on vectors of any number of lanes.
/// Only sources that emit LLVM IR include this: LLVM's headers are slow to compile.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <span>
#include <string>

#include "codegen/math_symbol.h"
#include "core/ir/loop.h"
#include "core/runtime/plan.h"

namespace strata::codegen {

/// Of float32 in a vector of AVX-512; AVX2 has half as many.
constexpr unsigned kWideLanes = 16;

class MathEmitter {
 public:
  using Value = llvm::Value;
  MathEmitter(llvm::IRBuilder<>& builder, llvm::Module& module, const Target& target)
      : b_(builder), module_(module), target_(target) {}

  /// Type in registers (bool is i1, bfloat16 its bits) and in memory (bool is i8).
  llvm::Type* register_type(DType dtype) const;
  llvm::Type* memory_type(DType dtype) const;
  static unsigned lanes_of(const Value* value);
  /// Lanes [begin, begin + count); of those behind the last, the last.
  Value* slice(Value* v, unsigned begin, unsigned count);
  llvm::Type* like(llvm::Type* element, const Value* shape) const;

  /// Between memory's form and the dtype that is computed in.
  Value* widen(Value* memory, DType stored);
  Value* narrow(Value* value, DType from, DType stored);

  Value* constant(DType dtype, double number, int64_t integer) const;
  Value* cast(Value* a, DType from, DType to);
  Value* unary(loop::ScalarOp op, Value* a, DType dtype);
  Value* binary(loop::ScalarOp op, Value* a, Value* b, DType dtype);
  Value* is_nan(Value* a) { return b_.CreateFCmpUNO(a, a); }
  /// Larger or smaller of two, NaN if either is.
  Value* extremum(Value* a, Value* b, DType dtype, bool larger);
  Value* product(Value* a, Value* b);
  Value* fma(Value* a, Value* b, Value* c);
  /// A float32 that many lanes are divided by, taken apart once: `mantissa * 2^-shift`, and one part in the mantissa.
  struct Divisor {
    Value *mantissa, *inverse, *shift;  ///< in sixteen lanes each
  };
  bool has_divisors(const Value* lanes) const;
  bool has_shares(const Value* lanes) const;
  Divisor divisor(Value* value);
  /// `a / b`, `b` that divisor in all lanes, rounded as by the division (denormal results: perhaps one unit away). May
  /// end the block that is built.
  Value* quotient(Value* a, Value* b, const Divisor& divisor);
  /// The sum of numbers none of which is below 0, and one part in it as a sum of two floats; `usual`: it is neither
  /// large nor small; null where that is known, but for NaN, and for 0 as all of the numbers are.
  struct Whole {
    Value *sum, *inverse, *rest, *usual;
  };
  Whole whole(Value* sum, bool is_usual);
  /// `a / sum` for `a` one of these numbers: rounded once, of 1 / sum to some 48 bits (results below 2^-100: perhaps
  /// one unit away).
  Value* share(Value* a, const Whole& whole);
  /// Ends of steps of functions are marked from now on, where they are in `block`; null: no more. Returns the marks
  /// made since the last call, in order: calls that return their argument, to be replaced before the code is used.
  std::vector<llvm::Instruction*> mark_steps(const llvm::BasicBlock* block);
  Value* absolute(Value* a);
  /// e^x of float32 for x of at most 80, or NaN, where only its part in a sum of at least 1 counts: some 10^-38 of what
  /// is less.
  Value* exp_in_sum(Value* x);
  /// e^x of float32 for x of at most 60, or NaN; x is a rounded difference, which is all that need be exact of it.
  Value* exp_of_difference(Value* x);
  /// Values for which one way will do unless `condition` is true, or any of its lanes is. The block that is built has
  /// no end yet.
  using Values = std::vector<Value*>;
  Values by_rarity(Value* condition, const std::function<Values()>& rare, const std::function<Values()>& usual);
  Value* one_by_rarity(Value* condition, const std::function<Value*()>& rare, const std::function<Value*()>& usual);

 private:
  Value* before_widening(Value* value, DType stored, int depth = 0);
  Value* splat_like(Value* scalar, const Value* shape);
  Value* number(double value, const Value* shape) { return llvm::ConstantFP::get(shape->getType(), value); }
  /// The same where it is one of many, and floats are computed with.
  Value* stored(double value, const Value* shape);
  Value* integer(int64_t value, const Value* shape) { return llvm::ConstantInt::getSigned(shape->getType(), value); }
  Value* compare(loop::ScalarOp op, Value* a, Value* b, DType dtype);
  Value* float_unary(loop::ScalarOp op, Value* a, DType dtype);
  Value* integer_unary(loop::ScalarOp op, Value* a, DType dtype);
  Value* float_binary(loop::ScalarOp op, Value* a, Value* b, DType dtype);
  Value* integer_binary(loop::ScalarOp op, Value* a, Value* b, DType dtype);
  Value* float_floor_divide(Value* a, Value* b, DType dtype);
  Value* float_modulo(Value* a, Value* b, DType dtype);
  Value* divide(loop::ScalarOp op, Value* a, Value* b, DType dtype);
  Value* shift(loop::ScalarOp op, Value* a, Value* b, DType dtype);
  Value* integer_power(Value* a, Value* b, DType dtype);
  Value* sigmoid(Value* a, DType dtype);
  Value* float_to_integer(Value* a, DType to);
  Value* float_to_int64(Value* a);
  Value* float_to_bfloat(Value* a);
  using VectorFunction = std::function<Value*(std::span<Value* const>)>;
  /// `function`, which takes vectors of `width` lanes, on any number of lanes: part by part, the last one filled up
  /// with its last lane, a single number in all lanes.
  Value* in_vectors(unsigned width, std::span<Value* const> args, const VectorFunction& function);
  /// A C math function by its double name, through libmvec where it has it, else lane by lane.
  Value* math_call(const std::string& name, std::span<Value* const> args);
  Value* float_remainder(Value* a, Value* b);
  /// Functions that are computed in place instead (vector_functions.cpp). They may end the block that is built.
  bool is_short(loop::ScalarOp op, const Value* a) const;
  /// Lanes of the vectors that they are computed in: 16 in AVX-512, 8 in AVX2; 0 elsewhere.
  unsigned short_width() const;
  Value* short_function(loop::ScalarOp op, Value* a);
  Value* short_exp(Value* x);
  Value* exp_within(Value* x, Value* something, bool of_difference = false);
  Value* short_log(Value* x);
  Value* short_erf(Value* x);  // vector_tables.cpp, with what follows
  Value* short_tanh(Value* x);
  Value* looked_up(std::span<const float> values, Value* index);
  Value* with_sign(Value* size, Value* x);
  /// The same without AVX-512 (vector_series.cpp).
  Value* exp_series(Value* x, Value* something, bool of_difference);
  Value* bits_of(Value* x);
  /// `x`, where a step of a function ends.
  Value* step(Value* x);
  Value* sine(loop::ScalarOp op, Value* x);
  Value* short_sine(loop::ScalarOp op, Value* x, Value* size);
  Value* vector_call(const std::string& function, unsigned width, std::span<Value* const> args);
  Value* call_lanes(const std::string& function, llvm::Type* result, std::span<Value* const> args);
  Value* concatenate(std::span<Value* const> parts, unsigned lanes);

  llvm::IRBuilder<>& b_;
  llvm::Module& module_;
  const Target& target_;
  const llvm::BasicBlock* marked_ = nullptr;  ///< where steps are marked
  std::vector<llvm::Instruction*> marks_;
};

}  // namespace strata::codegen
