// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A matrix product brought into the fewest dimensions: what the builders of its kernels start from.

#include <optional>
#include <vector>

#include "codegen/library_view.h"

namespace strata::library {

/// The product with all views aligned to the result's dimensions: a and b have the batch dimensions of the result or 1.
struct MatmulProduct {
  View a, b, result;
  float scale = 1;            ///< of the product, before everything else
  std::vector<ResultOp> ops;  ///< an unusual bias first
  std::optional<View>
      bias;  ///< float32 along the last dimension, added before the operations (bfloat16 is an operation here)
  bool b_constant = false;
  const void* b_key = nullptr;
};

/// Batch dimensions are merged where strides allow, so that a linear layer on [batch, length, features] is one product
/// of two dimensions. Steps for a scaled bias are added to `instance`.
MatmulProduct make_matmul_product(const ConcreteCall& call, Instance& instance);

/// Elements that follow each other along the last dimension, and are the same along all others.
bool is_row_vector(const View& v);

/// A matrix in the last two dimensions, one of them dense and the other not overlapping it.
bool is_plain_matrix(const View& v);

/// Whether elements follow each other along dimension d.
inline bool is_dense(const View& v, size_t d) { return v.shape[d] == 1 || v.strides[d] == 1; }

/// Where the matrix of number `batch` lies, counted over all but the last two dimensions of `result`; sizes of 1 in `v`
/// are broadcast.
std::byte* matrix_at(const StepArgs& args, const View& v, const std::vector<int64_t>& result, int64_t batch);

}  // namespace strata::library
