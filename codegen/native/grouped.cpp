// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Products of groups of rows, each with a matrix of its own.

#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cstring>

#include "codegen/native/native_kernel.h"
#include "codegen/native/strided.h"
#include "core/ir/ops/dense.h"
#include "core/support/error.h"

namespace strata::native {
namespace {

/// A matrix that is read along one of its dimensions; `transposed`: along the first.
struct Matrix {
  const float* data;
  int64_t stride;
  bool transposed;
};

/// Strides that a matrix product takes; others are copied.
Tensor readable(const Tensor& t) {
  const size_t r = t.rank();
  const auto fits = [&](size_t inner, size_t outer) {
    return (t.strides[inner] == 1 || t.shape[inner] == 1) && t.strides[outer] >= std::max<int64_t>(1, t.shape[inner]);
  };
  return fits(r - 1, r - 2) || fits(r - 2, r - 1) ? t : as_rows(t);
}

Matrix matrix_at(const Tensor& t, int64_t offset) {
  const size_t r = t.rank();
  const bool plain =
      (t.strides[r - 1] == 1 || t.shape[r - 1] == 1) && t.strides[r - 2] >= std::max<int64_t>(1, t.shape[r - 1]);
  return {t.ptr<float>() + offset, plain ? t.strides[r - 2] : t.strides[r - 1], !plain};
}

/// Ends of the groups, checked: rows [ends[g - 1], ends[g]) are group g's.
std::vector<int64_t> ends_of(const Arguments& a, int64_t rows) {
  const Tensor ends = as_rows(a.tensor(2), DType::I64);
  std::vector<int64_t> list(ends.ptr<int64_t>(), ends.ptr<int64_t>() + ends.numel());
  for (size_t g = 0; g < list.size(); ++g)
    if (list[g] < (g ? list[g - 1] : 0) || list[g] > rows)
      refuse(a.call, "group " + std::to_string(g) + " ends at row " + std::to_string(list[g]) + ", expected " +
                         std::to_string(g ? list[g - 1] : 0) + " to " + std::to_string(rows));
  return list;
}

void multiply_floats(const Arguments& a, const Tensor& out) {
  const Tensor rows = readable(as_rows(a.tensor(0), DType::F32));
  const Tensor& given = a.tensor(1);
  const Tensor matrices = given.dtype == DType::F32 ? readable(given) : Tensor();
  const int64_t k = rows.shape[1], n = given.shape[2];
  const Matrix left = matrix_at(rows, 0);
  int64_t from = 0, g = 0;
  for (const int64_t to : ends_of(a, rows.shape[0])) {
    const int64_t group = g++, m = to - from;
    if (m > 0 && n > 0 && k > 0) {
      Tensor one = given.dtype == DType::F32 ? matrices : given;
      one.offset += group * one.strides[0];
      one.shape = {k, n};
      one.strides.erase(one.strides.begin());
      if (given.dtype != DType::F32) one = as_rows(one, DType::F32);  // only of groups that have rows
      const Matrix right = matrix_at(one, 0);
      const float* x = left.data + from * (left.transposed ? 1 : left.stride);
      if (dnnl_sgemm(left.transposed ? 'T' : 'N', right.transposed ? 'T' : 'N', m, n, k, 1.0F, x, left.stride,
                     right.data, right.stride, 0.0F, out.ptr<float>() + from * n, n) != dnnl_success)
        throw_internal("the library refuses a product of [" + std::to_string(m) + ", " + std::to_string(k) + "] and [" +
                       std::to_string(k) + ", " + std::to_string(n) + "]");
    }
    from = to;
  }
}

void multiply_doubles(const Arguments& a, const Tensor& out) {
  const Tensor rows = as_rows(a.tensor(0)), matrices = as_rows(a.tensor(1));
  const int64_t k = rows.shape[1], n = matrices.shape[2];
  int64_t from = 0, g = 0;
  for (const int64_t to : ends_of(a, rows.shape[0])) {
    ops::multiply_add_parallel(to - from, n, k, {rows.ptr<double>() + from * k, k},
                               {matrices.ptr<double>() + g++ * k * n, n}, out.ptr<double>() + from * n, n);
    from = to;
  }
}

/// Rows behind the last group are zeros. 16-bit floats are multiplied in float32 and rounded once.
void grouped_mm(const Arguments& a) {
  const Tensor& result = a.result();
  if (!result.defined() || result.numel() == 0) return;
  const bool wide = result.dtype == DType::F64;
  const DType inside = wide ? DType::F64 : DType::F32;
  const Tensor out = result.dtype == inside ? result : Tensor::empty(inside, result.shape);
  std::memset(out.data(), 0, static_cast<size_t>(out.numel()) * dtype_size(inside));
  wide ? multiply_doubles(a, out) : multiply_floats(a, out);
  if (result.dtype != inside) copy_elements(out.to(result.dtype), result);
}

constexpr std::array kEntries{Entry{"grouped_mm", grouped_mm}};

}  // namespace

std::span<const Entry> grouped_products() { return kEntries; }

}  // namespace strata::native
