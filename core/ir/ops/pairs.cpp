// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of one or two elements that loop bodies cannot say: common divisors, neighbours among the floats, parts of
// a float; and compositions that rest on the sign bit.

#include <cmath>
#include <numbers>
#include <numeric>

#include "core/ir/ops/indexing.h"

namespace strata::ops {
namespace {

constexpr auto kNoGradient = NoGradient::Nondifferentiable;
using Nodes = std::vector<Node*>;

// -------------------------------------------------------------------------------------------------- common divisors

/// 0 where both are 0. Taken in 64 bits, so that the smallest number of a narrow type has an absolute value.
int64_t common_divisor(int64_t a, int64_t b) {
  const auto size = [](int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x); };
  return static_cast<int64_t>(std::gcd(size(a), size(b)));
}
int64_t common_multiple(int64_t a, int64_t b) {
  const int64_t divisor = common_divisor(a, b);
  if (divisor == 0) return 0;
  const int64_t product = wrap_mul(a / divisor, b);
  return product < 0 ? wrap_neg(product) : product;
}

template <int64_t (*F)(int64_t, int64_t)>
RefValue integer_reference(const RefContext& c) {
  const DType compute = reference_compute_dtype(c);
  const std::vector<int64_t> shape = c.eval(c.call.node().type.tensor.shape);
  const std::array<Tensor, 2> in{operand(c, 0, compute), operand(c, 1, compute)};
  return as_result(c, map_elements<int64_t>(shape, in, F, std::make_index_sequence<2>()));
}

OpDef divisor_row(const char* name, Reference reference, const char* doc) {
  return OpDef("aten::" + std::string(name) + "(Tensor self, Tensor other) -> Tensor", OpClass::Indexing,
               trait::Commutative, Promotion::Default, integral_type, reference, nullptr, kNoGradient, KernelRule{name},
               "", doc);
}

// ----------------------------------------------------------------------------------------------------------- floats

/// The neighbour of `x` towards `y` among 16-bit floats, by their bits, whose order is that of the numbers.
template <uint16_t (*Pack)(float), float (*Unpack)(uint16_t)>
double narrow_neighbour(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::nan("");
  if (x == y) return y;
  const uint16_t sign = y < 0 ? 0x8000 : 0;
  if (x == 0) return Unpack(static_cast<uint16_t>(sign | 1));
  const uint16_t bits = Pack(static_cast<float>(x));
  return Unpack(static_cast<uint16_t>((x < y) == (x > 0) ? bits + 1 : bits - 1));
}

double neighbour(DType dtype, double x, double y) {
  switch (dtype) {
    case DType::F32:
      return std::nextafter(static_cast<float>(x), static_cast<float>(y));
    case DType::BF16:
      return narrow_neighbour<float_to_bfloat16, bfloat16_to_float>(x, y);
    case DType::F16:
      return narrow_neighbour<float_to_half, half_to_float>(x, y);
    default:
      return std::nextafter(x, y);
  }
}

RefValue nextafter_reference(const RefContext& c) {
  const DType dtype = c.call.node().type.tensor.dtype;
  const std::vector<int64_t> shape = c.eval(c.call.node().type.tensor.shape);
  const std::array<Tensor, 2> in{converted(operand(c, 0, dtype), DType::F64),
                                 converted(operand(c, 1, dtype), DType::F64)};
  const auto f = [dtype](double x, double y) { return neighbour(dtype, x, y); };
  return as_result(c, map_elements<double>(shape, in, f, std::make_index_sequence<2>()));
}

Type frexp_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  if (!is_floating(t.dtype)) reject(call, "only floating-point tensors have a mantissa and an exponent");
  return Type::tuple({result_like(call, t.dtype, t.shape), result_like(call, DType::I32, t.shape)});
}

RefValue frexp_reference(const RefContext& c) {
  const Tensor x = c.tensor(0).contiguous();
  Tensor mantissa = c.result(0), exponent = c.result(1);
  for (int64_t i = 0; i < x.numel(); ++i) {
    int e = 0;
    mantissa.set(i, std::frexp(x.at(i), &e));
    exponent.set_int(i, std::isfinite(x.at(i)) ? e : 0);
  }
  return std::vector<RefValue>{mantissa, exponent};
}

// ------------------------------------------------------------------------------------------------------ compositions

Node* number(Builder& b, double value, DType dtype) {
  return b.call("aten.full.default", {sizes({}), value}, {{"dtype", dtype}});
}

Nodes signbit(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  if (is_floating(c.type(0).dtype)) x = b.call("aten.copysign.Tensor", {number(b, 1, c.type(0).dtype), x});
  return {b.call("aten.lt.Scalar", {x, 0})};
}

/// In the operand's type at each step, as PyTorch does: 16-bit floats are rounded in between.
Nodes round_decimals(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const int64_t decimals = c.constant(1);
  if (!is_floating(c.type(0).dtype)) reject(c, "only floating-point tensors are rounded to decimals");
  if (decimals == 0) return {b.call("aten.round.default", {x})};
  Node* power = number(b, std::pow(10, std::abs(decimals)), c.type(0).dtype);
  Node* scaled = b.call("aten.round.default", {decimals > 0 ? b.mul(x, power) : b.div(x, power)});
  return {decimals > 0 ? b.div(scaled, power) : b.mul(scaled, power)};
}

}  // namespace

Rows pairs() {
  Rows r;
  r.push_back(divisor_row("gcd", integer_reference<common_divisor>, "greatest common divisor"));
  r.push_back(divisor_row("lcm", integer_reference<common_multiple>, "least common multiple"));
  r.push_back(OpDef("aten::nextafter(Tensor self, Tensor other) -> Tensor", OpClass::Indexing, 0, Promotion::Default,
                    floating_type, nextafter_reference, nullptr, kNoGradient, KernelRule{"nextafter"}, "",
                    "the next number of the type on the way to other"));
  r.push_back(OpDef("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", OpClass::Indexing, 0,
                    Promotion::None, frexp_type, frexp_reference, nullptr, kNoGradient, KernelRule{"frexp"}, "",
                    "mantissa in [0.5, 1) and power of two"));
  r.push_back(compound("aten::signbit(Tensor self) -> Tensor", 0, decomposed_type, signbit,
                       "is the sign negative, also zero's"));
  r.push_back(compound("aten::round.decimals(Tensor self, *, int decimals) -> Tensor", 0, decomposed_type,
                       round_decimals, "rounded to a number of decimals, half to even"));
  return r;
}

}  // namespace strata::ops
