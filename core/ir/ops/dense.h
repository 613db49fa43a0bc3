// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Dense arithmetic in double precision for the references of matrix products and convolutions.

#include <cstdint>
#include <vector>

#include "core/runtime/tensor.h"

namespace strata::ops {

/// Elements in row-major order.
std::vector<double> doubles_of(const Tensor& t);
/// Rounds `values` into the contiguous tensor `to`; sizes must agree.
void store_doubles(const std::vector<double>& values, const Tensor& to);

/// A row-major matrix inside a larger array; element (r, c) is at `data[r * row_stride + c * column_stride]`.
struct MatrixView {
  const double* data = nullptr;
  int64_t row_stride = 0, column_stride = 1;
  MatrixView transposed() const { return {data, column_stride, row_stride}; }
};

/// c[m, n] += a[m, k] b[k, n] in the calling thread; row r of c starts at `c + r * c_stride`.
void multiply_add(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c, int64_t c_stride);
/// The same on all cores.
void multiply_add_parallel(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c, int64_t c_stride);

}  // namespace strata::ops
