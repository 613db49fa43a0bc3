// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether two tensors agree: the one rule for every comparison.

#include <optional>
#include <string>

#include "core/runtime/tensor.h"

namespace strata {

/// Limits as the user gave them; without: rtol 1e-4 and atol 1e-5 times the largest |b|, for 16-bit floats 2e-2 and
/// 2e-2 times it, for 8-bit floats 1e-1 and 1e-1 times it, and 0 for integers and flags.
struct Tolerance {
  std::optional<double> rtol, atol;
};

struct Comparison {
  bool passed = false;
  int64_t elements = 0, failures = 0;
  double max_abs = 0;         ///< largest |a-b|; infinite where one side alone is not a number
  double max_rel = 0;         ///< largest |a-b| / |b| where b is not 0
  double scale = 0;           ///< largest finite |b|
  double rtol = 0, atol = 0;  ///< the limits that held
  int64_t worst =
      -1;  ///< row-major position of the element that misses its limit most (or has the largest error); -1 if empty
  double worst_actual = 0, worst_expected = 0;
};

/// `|a-b| <= atol + rtol*|b|` for every element. Equal infinities agree, and so do two NaNs. Shapes and dtypes must be
/// equal: `problem` gets words for it otherwise and the comparison fails.
Comparison compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                   std::string* problem = nullptr);

}  // namespace strata
