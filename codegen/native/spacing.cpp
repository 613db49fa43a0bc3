// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Powers with evenly spaced exponents, each by the library's own `pow`: where the result is integral the last bit of a
// power decides.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

/// As the machine converts: the smallest integer where the number does not fit, of 32 bits for narrow types.
template <class T>
T converted(double x) {
  if constexpr (!std::is_integral_v<T>) {
    return stored_value<T>(static_cast<WorkType<T>>(x));
  } else {
    using Wide = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    constexpr double limit = sizeof(T) == 8 ? 0x1p63 : 0x1p31;
    const bool fits = x > -limit - (sizeof(T) == 8 ? 0 : 1) && x < limit;
    return static_cast<T>(fits ? static_cast<Wide>(x) : std::numeric_limits<Wide>::min());
  }
}

/// An end of the exponents as an element of the result.
template <class T>
T bound(const Arguments& a, size_t i) {
  if (!a.has(i)) {
    if constexpr (std::is_integral_v<T>)
      if (a.call.is_integer_scalar(i)) return static_cast<T>(a.integer(i));
    return converted<T>(a.call.number(i));
  }
  const Tensor& t = a.tensor(i);
  if constexpr (std::is_integral_v<T>)
    if (!is_floating(t.dtype)) return static_cast<T>(load_as_int(t.dtype, t.data()));
  return converted<T>(load_as_double(t.dtype, t.data()));
}

template <class T>
double distance(T start, T end) {
  if constexpr (std::is_same_v<T, int64_t>)
    return static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(end) - static_cast<uint64_t>(start)));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(end) - static_cast<uint32_t>(start)));
  else
    return static_cast<double>(work_value(stored_value<T>(work_value(end) - work_value(start))));
}

template <class T>
void fill_powers(const Arguments& a) {
  const Tensor& out = a.result();
  const int64_t n = out.numel();
  if (n == 1) {  // of the end as it was given, not as an element
    const double start = a.has(0) ? load_as_double(a.tensor(0).dtype, a.tensor(0).data()) : a.call.number(0);
    out.ptr<T>()[0] = converted<T>(std::pow(a.call.number(3), start));
    return;
  }
  const T first = bound<T>(a, 0), last = bound<T>(a, 1);
  const double base = a.call.number(3), step = distance(first, last) / static_cast<double>(std::max<int64_t>(n - 1, 1));
  const auto start = static_cast<double>(work_value(first)), end = static_cast<double>(work_value(last));
  const int64_t half = n / 2;
  parallel_for(n, 1024, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      out.ptr<T>()[i] = converted<T>(std::pow(
          base, i < half ? start + step * static_cast<double>(i) : end - step * static_cast<double>(n - 1 - i)));
  });
}

void logspace(const Arguments& a) {
  with_stored_type(a.result().dtype, [&]<class T>(T) { fill_powers<T>(a); });
}

constexpr std::array kEntries{Entry{"logspace", logspace}};

}  // namespace

std::span<const Entry> spacing() { return kEntries; }

}  // namespace strata::native
