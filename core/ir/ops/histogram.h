// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Counting elements in bins as PyTorch does, for the reference and the kernel. Which bin an element next to an edge
/// falls into is decided by the rounding of the element type, so each step of the arithmetic is rounded to it here.

#include <vector>

#include "core/ir/op.h"
#include "core/runtime/tensor.h"

namespace strata::ops {

struct Histogram {
  std::vector<double> counts, edges;  ///< one edge more than counts
};

/// Of a call of `histc` or `histogram`. `bins`: edges, undefined where the call gives a number of bins. `weight`:
/// undefined for ones; else as many elements as `x`. Elements outside of the edges, and NaN, do not count. Throws a
/// user Error for a range that is not finite or empty.
Histogram histogram_of(const Call& call, const Tensor& x, const Tensor& bins, const Tensor& weight);

}  // namespace strata::ops
