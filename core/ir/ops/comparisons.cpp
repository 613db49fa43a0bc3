// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Comparisons, logical and bitwise operators.

#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

constexpr auto kNone = NoGradient::Nondifferentiable;

std::string schema_text(const std::string& name, const char* overload, const char* other) {
  return "aten::" + name + "." + overload + "(Tensor self, " + other + " other) -> Tensor";
}

/// Tensor and Scalar overloads of one comparison.
template <auto F, ScalarOp Op>
void comparison(Rows& r, const std::string& name, const std::string& doc, uint32_t traits = 0) {
  r.push_back(row(schema_text(name, "Tensor", "Tensor"), traits, Promotion::Compare, pointwise_type,
                  binary_reference<F>, binary_body<Op>, kNone, doc));
  r.push_back(row(schema_text(name, "Scalar", "Scalar"), 0, Promotion::Compare, pointwise_type, binary_reference<F>,
                  binary_body<Op>, kNone, doc));
}

Rows compare() {
  Rows r;
  comparison<[](auto a, auto b) { return a == b; }, ScalarOp::Eq>(r, "eq", "self == other", trait::Commutative);
  comparison<[](auto a, auto b) { return a != b; }, ScalarOp::Ne>(r, "ne", "self != other", trait::Commutative);
  comparison<[](auto a, auto b) { return a < b; }, ScalarOp::Lt>(r, "lt", "self < other");
  comparison<[](auto a, auto b) { return a <= b; }, ScalarOp::Le>(r, "le", "self <= other");
  comparison<[](auto a, auto b) { return b < a; }, ScalarOp::Gt>(r, "gt", "self > other");
  comparison<[](auto a, auto b) { return b <= a; }, ScalarOp::Ge>(r, "ge", "self >= other");
  return r;
}

Rows logical() {
  const auto binary = [](const char* schema, Reference reference, PointwiseBody body, const char* doc) {
    return row(schema, trait::Commutative, Promotion::Logical, pointwise_type, reference, body, kNone, doc);
  };
  Rows r;
  r.push_back(binary("aten::logical_and(Tensor self, Tensor other) -> Tensor",
                     binary_reference<[](auto a, auto b) { return a != 0 && b != 0; }>, binary_body<ScalarOp::And>,
                     "both are not zero"));
  r.push_back(binary("aten::logical_or(Tensor self, Tensor other) -> Tensor",
                     binary_reference<[](auto a, auto b) { return a != 0 || b != 0; }>, binary_body<ScalarOp::Or>,
                     "one is not zero"));
  r.push_back(binary("aten::logical_xor(Tensor self, Tensor other) -> Tensor",
                     binary_reference<[](auto a, auto b) { return (a != 0) != (b != 0); }>, binary_body<ScalarOp::Xor>,
                     "exactly one is not zero"));
  r.push_back(row("aten::logical_not(Tensor self) -> Tensor", 0, Promotion::Logical, pointwise_type,
                  unary_reference<[](auto x) { return x == 0; }>, unary_body<ScalarOp::Not>, kNone,
                  "the element is zero"));
  return r;
}

/// The overloads of a bitwise operator; `__and__` and the like are Python's spelling of the same.
template <auto F, ScalarOp Op>
void bitwise(Rows& r, const std::string& name, const std::string& python, const std::string& doc) {
  for (const std::string& n : {"bitwise_" + name, python}) {
    r.push_back(row(schema_text(n, "Tensor", "Tensor"), trait::Commutative, Promotion::Default, integral_type,
                    binary_reference<F>, binary_body<Op>, kNone, doc));
    r.push_back(row(schema_text(n, "Scalar", "Scalar"), 0, Promotion::Default, integral_type, binary_reference<F>,
                    binary_body<Op>, kNone, doc));
  }
}

/// The reference works in int64, where the complement of a bool is not its negation.
RefValue bitwise_not_reference(const RefContext& c) {
  const bool boolean = pointwise_compute_dtype(c.call) == DType::Bool;
  return map_reference<1>(c, {0}, [boolean](const RefContext&) {
    return [boolean](auto x) {
      const int64_t v = static_cast<int64_t>(x);
      return boolean ? static_cast<int64_t>(v == 0) : ~v;
    };
  });
}

/// Shifts by the width or more give 0 (right shifts of negative numbers: -1), as in PyTorch.
template <bool Left>
RefValue shift_reference(const RefContext& c) {
  const auto bits = static_cast<int64_t>(8 * dtype_size(pointwise_compute_dtype(c.call)));
  return map_reference<2>(c, {0, 1}, [bits](const RefContext&) {
    return [bits](auto x, auto by) {
      const int64_t a = static_cast<int64_t>(x), n = static_cast<int64_t>(by);
      if (n < 0 || n >= bits) return Left || a >= 0 ? int64_t{0} : int64_t{-1};
      return Left ? static_cast<int64_t>(static_cast<uint64_t>(a) << n) : a >> n;
    };
  });
}

/// Clamps the count below the width: a shift by the width or more is not defined in loop IR.
template <ScalarOp Op>
ScalarId shift_body(Body& b, const Call& call, Operands x) {
  const DType d = body_dtype(b, x);
  const auto bits = static_cast<int64_t>(8 * dtype_size(d));
  const ScalarId value = body_operand(b, call, x, 0), by = body_operand(b, call, x, 1);
  const ScalarId last = b.integer(bits - 1, d), zero = b.integer(0, d);
  const ScalarId negative = b.binary(ScalarOp::Lt, by, zero);
  const ScalarId outside = b.binary(ScalarOp::Or, negative, b.binary(ScalarOp::Gt, by, last));
  const ScalarId shifted = b.binary(Op, value, b.select(outside, zero, by));
  const ScalarId far = Op == ScalarOp::Shl || !is_signed_integral(d) ? zero : b.binary(ScalarOp::Shr, value, last);
  return b.select(outside, far, shifted);
}

Rows bits() {
  Rows r;
  bitwise<[](auto a, auto b) { return static_cast<int64_t>(a) & static_cast<int64_t>(b); }, ScalarOp::And>(
      r, "and", "__and__", "self & other");
  bitwise<[](auto a, auto b) { return static_cast<int64_t>(a) | static_cast<int64_t>(b); }, ScalarOp::Or>(
      r, "or", "__or__", "self | other");
  bitwise<[](auto a, auto b) { return static_cast<int64_t>(a) ^ static_cast<int64_t>(b); }, ScalarOp::Xor>(
      r, "xor", "__xor__", "self ^ other");
  r.push_back(row("aten::bitwise_not(Tensor self) -> Tensor", trait::Involution, Promotion::Default, integral_type,
                  bitwise_not_reference, unary_body<ScalarOp::Not>, kNone, "~self; of bool: not self"));
  r.push_back(row("aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", 0, Promotion::Default,
                  integral_type, shift_reference<true>, shift_body<ScalarOp::Shl>, kNone, "self << other"));
  r.push_back(row("aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", 0, Promotion::Default,
                  integral_type, shift_reference<false>, shift_body<ScalarOp::Shr>, kNone,
                  "self >> other, keeping the sign"));
  return r;
}

}  // namespace

Rows comparisons() {
  Rows rows;
  for (auto part : {compare, logical, bits}) append(rows, part());
  return rows;
}

}  // namespace strata::ops
