// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How scatters and segment reductions join a value with what is there, for every element type.

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "codegen/native/lines.h"

namespace strata::native {

enum class How : uint8_t { Replace, Add, Multiply, Max, Min };

/// Calls `f` with `how` as a constant.
template <class F>
void with_how(How how, F&& f) {
  switch (how) {
    case How::Replace:
      return f(std::integral_constant<How, How::Replace>{});
    case How::Add:
      return f(std::integral_constant<How, How::Add>{});
    case How::Multiply:
      return f(std::integral_constant<How, How::Multiply>{});
    case How::Max:
      return f(std::integral_constant<How, How::Max>{});
    case How::Min:
      return f(std::integral_constant<How, How::Min>{});
  }
}

/// The two joined, in the work type; integers wrap, NaN wins.
template <How H, class W>
W joined(W a, W b) {
  if constexpr (H == How::Replace) {
    return b;
  } else if constexpr (std::is_same_v<W, bool>) {
    return H == How::Add || H == How::Max ? a || b : a && b;
  } else if constexpr (std::is_floating_point_v<W>) {
    if constexpr (H == How::Add) return a + b;
    if constexpr (H == How::Multiply) return a * b;
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    return H == How::Max ? (a < b ? b : a) : (b < a ? b : a);
  } else {
    using U = std::make_unsigned_t<std::conditional_t<(sizeof(W) < sizeof(int)), int, W>>;
    if constexpr (H == How::Add) return static_cast<W>(static_cast<U>(a) + static_cast<U>(b));
    if constexpr (H == How::Multiply) return static_cast<W>(static_cast<U>(a) * static_cast<U>(b));
    return H == How::Max ? std::max(a, b) : std::min(a, b);
  }
}

/// What changes nothing when joined.
template <class W>
W identity_of(How how) {
  if constexpr (std::is_same_v<W, bool>) {
    return how == How::Multiply || how == How::Min;
  } else {
    using Limits = std::numeric_limits<W>;
    if (how == How::Multiply) return W{1};
    if (how == How::Max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    if (how == How::Min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
    return W{0};
  }
}

/// The mean of `count` values that add up to `sum`: integers round down, as PyTorch's do.
template <class W>
W mean_of(W sum, int64_t count) {
  if constexpr (std::is_floating_point_v<W>)
    return sum / static_cast<W>(count);
  else if constexpr (std::is_same_v<W, bool>)
    return sum;
  else
    return static_cast<W>(std::floor(static_cast<double>(sum) / static_cast<double>(count)));
}

}  // namespace strata::native
