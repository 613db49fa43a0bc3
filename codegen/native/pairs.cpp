// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of one or two elements that loop kernels cannot say, element by element: common divisors, neighbours among
// the floats, mantissa and exponent.

#include <array>
#include <cmath>
#include <numeric>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "codegen/native/strided.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

/// `f` of the elements of parameters 0 and 1, in the result's type.
template <class T, class F>
void map_pairs(const Arguments& a, F f) {
  const Tensor& out = a.result();
  const Tensor x = operand_like(a, 0, out), y = operand_like(a, 1, out);
  parallel_for(out.numel(), 2048, [&](int64_t begin, int64_t end) {
    Odometer at(out.shape, {x.strides, y.strides}, begin);
    for (int64_t i = begin; i < end; ++i, at.next())
      out.ptr<T>()[i] = f(x.ptr<const T>()[at.offset(0)], y.ptr<const T>()[at.offset(1)]);
  });
}

template <class T>
uint64_t magnitude(T x) {
  return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
}

/// The multiple is taken in 64 bits and wraps in the type of the elements.
template <bool Multiple>
void divide_common(const Arguments& a) {
  with_stored_type(a.result().dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      map_pairs<T>(a, [](T x, T y) {
        const uint64_t divisor = std::gcd(magnitude(x), magnitude(y));
        if (!Multiple || divisor == 0) return static_cast<T>(divisor);
        const auto part = static_cast<uint64_t>(static_cast<int64_t>(x) / static_cast<int64_t>(divisor));
        return static_cast<T>(magnitude(static_cast<int64_t>(part * static_cast<uint64_t>(static_cast<int64_t>(y)))));
      });
    else
      throw_internal("common divisors of " + std::string(dtype_name(a.result().dtype)));
  });
}

/// Next to `x` towards `y`. The bits of floats of one sign, as integers, are in the order of the numbers.
template <class T>
T neighbour(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(x, y);
  } else {
    const float u = work_value(x), v = work_value(y);
    if (std::isnan(u) || std::isnan(v)) return stored_value<T>(std::numeric_limits<float>::quiet_NaN());
    if (u == v) return y;
    if (u == 0) return {static_cast<uint16_t>(v < 0 ? 0x8001 : 1)};
    return {static_cast<uint16_t>((u < v) == (u > 0) ? x.bits + 1 : x.bits - 1)};
  }
}

void nextafter(const Arguments& a) {
  with_stored_type(a.result().dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      throw_internal("neighbours among " + std::string(dtype_name(a.result().dtype)));
    else
      map_pairs<T>(a, neighbour<T>);
  });
}

template <class T>
void split_floats(const Arguments& a) {
  const Tensor& x = a.tensor(0);
  T* mantissas = a.result(0).defined() ? a.result(0).ptr<T>() : nullptr;
  int32_t* exponents = a.result(1).defined() ? a.result(1).ptr<int32_t>() : nullptr;
  parallel_for(x.numel(), 2048, [&](int64_t begin, int64_t end) {
    Odometer at(x.shape, {x.strides}, begin);
    for (int64_t i = begin; i < end; ++i, at.next()) {
      const WorkType<T> value = work_value(x.ptr<const T>()[at.offset(0)]);
      int exponent = 0;
      const WorkType<T> mantissa = std::frexp(value, &exponent);
      if (mantissas) mantissas[i] = stored_value<T>(mantissa);
      if (exponents) exponents[i] = std::isfinite(value) ? exponent : 0;
    }
  });
}

void frexp(const Arguments& a) {
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      throw_internal("exponents of " + std::string(dtype_name(a.tensor(0).dtype)));
    else
      split_floats<T>(a);
  });
}

constexpr std::array kEntries{Entry{"gcd", divide_common<false>}, Entry{"lcm", divide_common<true>},
                              Entry{"nextafter", nextafter}, Entry{"frexp", frexp}};

}  // namespace

std::span<const Entry> pairs() { return kEntries; }

}  // namespace strata::native
