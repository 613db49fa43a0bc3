// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What hand-written kernels share: element types, and lines along one dimension of a strided tensor.

#include <cstdint>

#include "core/runtime/tensor.h"
#include "core/support/error.h"

namespace strata::native {

/// 16-bit floats as they are stored.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

/// What an element is compared and computed in.
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
template <class T>
using WorkType = typename Work<T>::type;

template <class T>
T work_value(T x) {
  return x;
}
inline float work_value(Half x) { return half_to_float(x.bits); }
inline float work_value(BFloat16 x) { return bfloat16_to_float(x.bits); }

template <class T>
T stored_value(WorkType<T> x) {
  if constexpr (std::is_same_v<T, Half>)
    return {float_to_half(x)};
  else if constexpr (std::is_same_v<T, BFloat16>)
    return {float_to_bfloat16(x)};
  else
    return x;
}

/// Calls `f` with a value of the type that elements of `dtype` are stored in (bool as uint8_t). Throws a user Error for
/// complex types.
template <class F>
void with_stored_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::F32:
      return f(float{});
    case DType::F64:
      return f(double{});
    case DType::F16:
      return f(Half{});
    case DType::BF16:
      return f(BFloat16{});
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
      throw_user("elements of type " + std::string(dtype_name(dtype)) + " have no kernel here");
  }
}

/// The lines along dimension `dim` of a tensor, numbered row-major over the other dimensions. A tensor without
/// dimensions is one line of one element.
struct Lines {
  Lines(const Tensor& t, size_t dim);
  /// First element of line `l`, in elements from the tensor's data.
  int64_t start(int64_t l) const;

  int64_t count = 1, length = 1, step = 1;  ///< lines; elements of each, and from one to the next

 private:
  std::vector<int64_t> shape_, strides_;  ///< of the other dimensions
};

}  // namespace strata::native
