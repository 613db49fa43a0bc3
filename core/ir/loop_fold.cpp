// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/loop_fold.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/runtime/tensor.h"

namespace strata::loop::fold {

namespace {

bool is_const(const Scalar& s) { return s.op == ScalarOp::Const; }

std::optional<double> float_unary(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::Neg:
      return -a;
    case ScalarOp::Abs:
      return std::fabs(a);
    case ScalarOp::Floor:
      return std::floor(a);
    case ScalarOp::Ceil:
      return std::ceil(a);
    case ScalarOp::Trunc:
      return std::trunc(a);
    case ScalarOp::Round:
      return std::nearbyint(a);
    default:
      return std::nullopt;
  }
}

/// Double arithmetic on floats, rounded once to float, is exactly float arithmetic for these four and sqrt.
std::optional<double> float_binary(ScalarOp op, double a, double b) {
  switch (op) {
    case ScalarOp::Add:
      return a + b;
    case ScalarOp::Sub:
      return a - b;
    case ScalarOp::Mul:
      return a * b;
    case ScalarOp::Div:
      return a / b;
    default:
      return std::nullopt;
  }
}

template <class T>
std::optional<int64_t> compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::Eq:
      return a == b;
    case ScalarOp::Ne:
      return a != b;
    case ScalarOp::Lt:
      return a < b;
    case ScalarOp::Le:
      return a <= b;
    case ScalarOp::Gt:
      return a > b;
    case ScalarOp::Ge:
      return a >= b;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> integer_binary(ScalarOp op, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case ScalarOp::Add:
      return static_cast<int64_t>(ua + ub);
    case ScalarOp::Sub:
      return static_cast<int64_t>(ua - ub);
    case ScalarOp::Mul:
      return static_cast<int64_t>(ua * ub);
    case ScalarOp::And:
      return a & b;
    case ScalarOp::Or:
      return a | b;
    case ScalarOp::Xor:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

bool is_one(const Scalar& s) { return is_const(s) && (is_floating(s.dtype) ? s.number == 1.0 : s.integer == 1); }
bool is_integer_zero(const Scalar& s) { return is_const(s) && !is_floating(s.dtype) && s.integer == 0; }
bool is_all_ones(const Scalar& s) { return is_const(s) && !is_floating(s.dtype) && s.integer == wrap(-1, s.dtype); }
/// -0.0 for addition, +0.0 for subtraction: the one zero that leaves every value, also the other zero, as it is.
bool is_neutral_zero(const Scalar& s, bool negative) {
  return is_const(s) && is_floating(s.dtype) && s.number == 0 && std::signbit(s.number) == negative;
}

}  // namespace

double round_to(double value, DType dtype) {
  switch (dtype) {
    case DType::F32:
      return static_cast<float>(value);
    case DType::F16:
      return half_to_float(float_to_half(static_cast<float>(value)));
    case DType::BF16:
      return bfloat16_to_float(float_to_bfloat16(static_cast<float>(value)));
    default:
      return value;
  }
}

int64_t wrap(int64_t value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return value != 0;
    case DType::U8:
      return static_cast<uint8_t>(value);
    case DType::I8:
      return static_cast<int8_t>(value);
    case DType::U16:
      return static_cast<uint16_t>(value);
    case DType::I16:
      return static_cast<int16_t>(value);
    case DType::U32:
      return static_cast<uint32_t>(value);
    case DType::I32:
      return static_cast<int32_t>(value);
    default:
      return value;
  }
}

int64_t float_to_integer(double value, DType dtype) {
  if (dtype == DType::Bool) return value != 0;
  bool through_int32 = dtype == DType::I32 || dtype_size(dtype) < 4;
  if (through_int32) {
    bool fits = value > -0x1p31 - 1 && value < 0x1p31;
    return wrap(fits ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::min(), dtype);
  }
  bool fits = value >= -0x1p63 && value < 0x1p63;
  if (dtype == DType::U64 && value >= 0x1p63 && value < 0x1p64)
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  return wrap(fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min(), dtype);
}

std::optional<Value> unary(ScalarOp op, const Scalar& a) {
  if (!is_const(a)) return std::nullopt;
  if (is_floating(a.dtype)) {
    if (op == ScalarOp::IsNan) return Value{DType::Bool, 0, std::isnan(a.number)};
    if (op == ScalarOp::IsInf) return Value{DType::Bool, 0, std::isinf(a.number)};
    auto r = float_unary(op, a.number);
    return r ? std::optional(Value{a.dtype, *r, 0}) : std::nullopt;
  }
  if (op == ScalarOp::Not) return Value{a.dtype, 0, a.dtype == DType::Bool ? !a.integer : wrap(~a.integer, a.dtype)};
  if (op == ScalarOp::Neg && a.dtype != DType::Bool) {
    return Value{a.dtype, 0, wrap(static_cast<int64_t>(-static_cast<uint64_t>(a.integer)), a.dtype)};
  }
  return std::nullopt;
}

std::optional<Value> binary(ScalarOp op, const Scalar& a, const Scalar& b) {
  if (!is_const(a) || !is_const(b)) return std::nullopt;
  if (is_floating(a.dtype)) {
    if (auto r = compare(op, a.number, b.number)) return Value{DType::Bool, 0, *r};
    auto r = float_binary(op, a.number, b.number);
    return r ? std::optional(Value{a.dtype, round_to(*r, a.dtype), 0}) : std::nullopt;
  }
  auto r = a.dtype == DType::U64 ? compare(op, static_cast<uint64_t>(a.integer), static_cast<uint64_t>(b.integer))
                                 : compare(op, a.integer, b.integer);
  if (r) return Value{DType::Bool, 0, *r};
  if (a.dtype == DType::Bool && (op == ScalarOp::Sub || op == ScalarOp::Add || op == ScalarOp::Mul))
    return std::nullopt;
  r = integer_binary(op, a.integer, b.integer);
  return r ? std::optional(Value{a.dtype, 0, wrap(*r, a.dtype)}) : std::nullopt;
}

std::optional<Operand> identity(ScalarOp op, const Scalar& a, const Scalar& b) {
  switch (op) {
    case ScalarOp::Add:
      if (is_integer_zero(b) || is_neutral_zero(b, true)) return Operand::A;
      if (is_integer_zero(a) || is_neutral_zero(a, true)) return Operand::B;
      return std::nullopt;
    case ScalarOp::Sub:
      return is_integer_zero(b) || is_neutral_zero(b, false) ? std::optional(Operand::A) : std::nullopt;
    case ScalarOp::Mul:
      if (is_one(b) || is_integer_zero(a)) return Operand::A;
      if (is_one(a) || is_integer_zero(b)) return Operand::B;
      return std::nullopt;
    case ScalarOp::Div:
      return is_one(b) ? std::optional(Operand::A) : std::nullopt;
    case ScalarOp::And:
      if (is_all_ones(b) || is_integer_zero(a)) return Operand::A;
      if (is_all_ones(a) || is_integer_zero(b)) return Operand::B;
      return std::nullopt;
    case ScalarOp::Or:
      if (is_integer_zero(b) || is_all_ones(a)) return Operand::A;
      if (is_integer_zero(a) || is_all_ones(b)) return Operand::B;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace strata::loop::fold
