// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elements as they are stored, by type instead of by DType: what code that works on many elements is compiled for once
/// per type.

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/ir/dtype.h"
#include "core/runtime/tensor.h"
#include "core/support/error.h"

namespace strata {

/// 16-bit floats as they are stored.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
/// bool as it is stored, where it differs from a number of 8 bits: what combines two of them gives false or true.
struct Truth {
  uint8_t value;
};

/// What an element is compared and computed in: itself, or float32 for the 16-bit floats.
template <class T>
struct Work {
  using type = T;
};
template <>
struct Work<Half> {
  using type = float;
};
template <>
struct Work<BFloat16> {
  using type = float;
};
template <>
struct Work<Truth> {
  using type = bool;
};
template <class T>
using WorkType = typename Work<T>::type;

template <class T>
T work_value(T x) {
  return x;
}
// Inline and without branches, so that loops over them become vector instructions.

/// The exponent is moved from 15 to 127, and twice as far for infinity and NaN; what has none is a multiple of 2^-24,
/// which a subtraction of float32 brings into form (no denormal number of float32 comes up on the way).
inline float work_value(Half x) {
  const uint32_t shifted = (x.bits & 0x7fffU) << 13, exponent = shifted & 0x0f800000U;
  const uint32_t moved = shifted + (exponent == 0x0f800000U ? 0x70000000U : 0x38000000U);
  const float small = std::bit_cast<float>(shifted + 0x38800000U) - 0x1p-14F;
  const uint32_t magnitude = exponent == 0 ? std::bit_cast<uint32_t>(small) : moved;
  return std::bit_cast<float>(magnitude | (x.bits & 0x8000U) << 16);
}
inline float work_value(BFloat16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }

inline bool work_value(Truth x) { return x.value != 0; }

/// To nearest, ties to even: on the bits; what has no exponent afterwards by an addition of float32, whose last bit is
/// then worth 2^-24. 65520 and above become infinity.
inline Half nearest_half(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7fffffffU, sign = bits >> 16 & 0x8000U;
  const uint32_t usual = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const uint32_t large = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
  const uint32_t rounded = magnitude < 0x38800000U ? small : magnitude >= 0x477ff000U ? large : usual;
  return {static_cast<uint16_t>(rounded | sign)};
}
/// NaN stays NaN.
inline BFloat16 nearest_bfloat16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  return {static_cast<uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? (bits >> 16) | 0x40U : rounded)};
}

/// Rounds to nearest, ties to even.
template <class T>
T stored_value(WorkType<T> x) {
  if constexpr (std::is_same_v<T, Half>)
    return nearest_half(x);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return nearest_bfloat16(x);
  else if constexpr (std::is_same_v<T, Truth>)
    return {static_cast<uint8_t>(x)};
  else
    return x;
}

/// Calls `f` with a value of the type that elements of a float type are stored in, and gives its answer; false for
/// other types.
template <class F>
bool with_float_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::F32:
      return f(float{});
    case DType::F64:
      return f(double{});
    case DType::F16:
      return f(Half{});
    case DType::BF16:
      return f(BFloat16{});
    default:
      return false;
  }
}

/// Calls `f` with a value of the type that elements of `dtype` are stored in (bool as uint8_t). Throws a user Error for
/// complex types and unsigned ones of more than 8 bits.
template <class F>
void with_stored_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::I64:
      return f(int64_t{});
    case DType::I32:
      return f(int32_t{});
    case DType::I16:
      return f(int16_t{});
    case DType::I8:
      return f(int8_t{});
    case DType::U8:
    case DType::Bool:
      return f(uint8_t{});
    default:
      if (!with_float_type(dtype, [&](auto x) { return f(x), true; }))
        throw_user("elements of type " + std::string(dtype_name(dtype)) + " have no kernel here");
  }
}

/// As `with_stored_type`, with `Truth` for bool.
template <class F>
void with_element_type(DType dtype, F&& f) {
  if (dtype == DType::Bool) return f(Truth{});
  with_stored_type(dtype, f);
}

}  // namespace strata
