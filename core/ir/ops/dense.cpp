// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The product is blocked as usual: a strip of A (kRows rows) and a panel of B (kColumns columns) are packed so that the
// innermost loop reads both in order, kDepth deep, and keeps kRows x kColumns sums in registers. Sums are made in the
// order of k within a block, and blocks in order, so that the result does not depend on the number of threads.

#include "core/ir/ops/dense.h"

#include <algorithm>
#include <cstring>

#include "core/runtime/parallel.h"
#include "core/support/error.h"
#include "core/support/vector_clones.h"

namespace strata::ops {
namespace {

constexpr int64_t kRows = 4, kColumns = 16, kDepth = 256;
constexpr int64_t kTile = 128;

/// Eight columns. As a vector type: left to find its own, the compiler goes along the rows and turns all of them in
/// every step.
using Lanes = double __attribute__((vector_size(8 * sizeof(double))));
constexpr int64_t kLanes = 8, kVectors = kColumns / kLanes;

/// c[kRows, kColumns] += packed strip * packed panel.
STRATA_VECTOR_CLONES void multiply_block(int64_t k, const double* __restrict a, const double* __restrict b,
                                         double* __restrict c) {
  Lanes sum[kRows][kVectors];
  std::memcpy(sum, c, sizeof(sum));
  for (int64_t p = 0; p < k; ++p) {
    Lanes line[kVectors];
    std::memcpy(line, b + p * kColumns, sizeof(line));
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t j = 0; j < kVectors; ++j) sum[r][j] += a[p * kRows + r] * line[j];
  }
  std::memcpy(c, sum, sizeof(sum));
}

/// Columns [0, n) of `b`, `k` deep, as panels of kColumns, padded with zeros.
void pack_columns(int64_t k, int64_t n, MatrixView b, std::vector<double>& out) {
  const int64_t panels = (n + kColumns - 1) / kColumns;
  out.assign(static_cast<size_t>(panels * k * kColumns), 0);
  for (int64_t q = 0; q < panels; ++q) {
    const int64_t width = std::min(kColumns, n - q * kColumns);
    double* to = out.data() + q * k * kColumns;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < width; ++j)
        to[p * kColumns + j] = b.data[p * b.row_stride + (q * kColumns + j) * b.column_stride];
  }
}

void pack_rows(int64_t k, int64_t rows, MatrixView a, double* to) {
  for (int64_t p = 0; p < k; ++p)
    for (int64_t r = 0; r < kRows; ++r)
      to[p * kRows + r] = r < rows ? a.data[r * a.row_stride + p * a.column_stride] : 0;
}

void add_block(int64_t rows, int64_t columns, int64_t k, const double* a, const double* b, double* c,
               int64_t c_stride) {
  double block[kRows * kColumns] = {};
  for (int64_t r = 0; r < rows; ++r) std::copy_n(c + r * c_stride, columns, block + r * kColumns);
  multiply_block(k, a, b, block);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(block + r * kColumns, columns, c + r * c_stride);
}

template <class T>
void read(const Tensor& t, double* to) {
  const T* from = t.ptr<const T>();
  std::copy_n(from, t.numel(), to);
}
template <class T>
void write(const double* from, const Tensor& t) {
  T* to = t.ptr<T>();
  for (int64_t i = 0, n = t.numel(); i < n; ++i) to[i] = static_cast<T>(from[i]);
}

}  // namespace

std::vector<double> doubles_of(const Tensor& t) {
  const Tensor flat = t.contiguous();
  std::vector<double> out(static_cast<size_t>(flat.numel()));
  if (flat.dtype == DType::F32) {
    read<float>(flat, out.data());
  } else if (flat.dtype == DType::F64) {
    read<double>(flat, out.data());
  } else {
    const size_t step = dtype_size(flat.dtype);
    for (size_t i = 0; i < out.size(); ++i) out[i] = load_as_double(flat.dtype, flat.data() + i * step);
  }
  return out;
}

void store_doubles(const std::vector<double>& values, const Tensor& to) {
  if (static_cast<int64_t>(values.size()) != to.numel()) throw_internal("store_doubles: sizes differ for " + to.str());
  if (to.dtype == DType::F32) return write<float>(values.data(), to);
  if (to.dtype == DType::F64) return write<double>(values.data(), to);
  const size_t step = dtype_size(to.dtype);
  for (size_t i = 0; i < values.size(); ++i) store_from_double(to.dtype, to.data() + i * step, values[i]);
}

void multiply_add(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c, int64_t c_stride) {
  std::vector<double> panels, strip(static_cast<size_t>(kDepth * kRows));
  for (int64_t p = 0; p < k; p += kDepth) {
    const int64_t depth = std::min(kDepth, k - p);
    pack_columns(depth, n, {b.data + p * b.row_stride, b.row_stride, b.column_stride}, panels);
    for (int64_t i = 0; i < m; i += kRows) {
      const int64_t rows = std::min(kRows, m - i);
      pack_rows(depth, rows, {a.data + i * a.row_stride + p * a.column_stride, a.row_stride, a.column_stride},
                strip.data());
      for (int64_t j = 0; j < n; j += kColumns)
        add_block(rows, std::min(kColumns, n - j), depth, strip.data(), panels.data() + j * depth, c + i * c_stride + j,
                  c_stride);
    }
  }
}

void multiply_add_parallel(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c, int64_t c_stride) {
  const int64_t down = (m + kTile - 1) / kTile, across = (n + kTile - 1) / kTile;
  parallel_for(down * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t / across * kTile, j = t % across * kTile;
      multiply_add(std::min(kTile, m - i), std::min(kTile, n - j), k,
                   {a.data + i * a.row_stride, a.row_stride, a.column_stride},
                   {b.data + j * b.column_stride, b.row_stride, b.column_stride}, c + i * c_stride + j, c_stride);
    }
  });
}

}  // namespace strata::ops
