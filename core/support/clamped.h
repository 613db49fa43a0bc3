// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace strata {

/// The sum, or the nearest number where that is none of int64: times in a file may be anything.
constexpr std::int64_t add_clamped(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? Limits::min() : Limits::max()) : sum;
}

/// The difference, or the nearest number.
constexpr std::int64_t subtract_clamped(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? (b < 0 ? Limits::max() : Limits::min()) : difference;
}

/// The number without its fraction, or the nearest of int64; 0 for NaN.
constexpr std::int64_t to_integer_clamped(double x) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (x >= kEnd) return Limits::max();
  if (x < -kEnd) return Limits::min();
  return x == x ? static_cast<std::int64_t>(x) : 0;
}

}  // namespace strata
