// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Factorisations and triangular systems of batches of matrices, float32 or float64, in LAPACK's conventions (signs,
/// pivots counted from 1, info). Plain loops: for small matrices, where calling a library does not pay.

#include <string_view>
#include <vector>

#include "core/ir/op.h"
#include "core/runtime/tensor.h"

namespace strata::ops {

/// One call: operands in the schema's order (undefined where they are no tensors), with any strides, all of one type
/// but for pivots; results are row-major memory to fill, undefined where nobody reads them.
struct MatrixCall {
  const Call& call;
  std::vector<Tensor> operands, results;
};

/// Computes a kernel of `linear_algebra()`'s rows by its name; batches run in parallel. Throws an internal Error for a
/// name that is none, a user Error for pivots out of range.
void compute_matrices(std::string_view kernel, const MatrixCall& call);

}  // namespace strata::ops
