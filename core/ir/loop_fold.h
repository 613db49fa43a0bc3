// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Constant folding of single loop instructions, exactly as the instruction would compute.

#include <optional>

#include "core/ir/loop.h"

namespace strata::loop::fold {

/// A folded constant: `number` for floats, `integer` otherwise.
struct Value {
  DType dtype = DType::F32;
  double number = 0;
  int64_t integer = 0;
};
enum class Operand : uint8_t { A, B };

/// The value as the dtype holds it; numbers of 16 bits by way of float, as PyTorch has them.
double round_to(double value, DType dtype);
/// Truncated to the width of an integer dtype, sign- or zero-extended; Bool gives 0 or 1.
int64_t wrap(int64_t value, DType dtype);
/// PyTorch's conversion of a float: to Bool `!= 0`, else truncation through int32 (I32 and narrower) or int64; out of
/// the range of that, its smallest value.
int64_t float_to_integer(double value, DType dtype);

/// The result when the operands are constants and the operation is exact to fold; otherwise nothing.
std::optional<Value> unary(ScalarOp op, const Scalar& a);
std::optional<Value> binary(ScalarOp op, const Scalar& a, const Scalar& b);
/// The operand that the result always equals (`x * 1`, `x - 0`, `x & true`), if any. Signed zeros and NaN are
/// respected.
std::optional<Operand> identity(ScalarOp op, const Scalar& a, const Scalar& b);

}  // namespace strata::loop::fold
