// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Products of groups of rows, each with a matrix of its own.

#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cstring>

#include "codegen/attention_kernel.h"
#include "codegen/native/native_kernel.h"
#include "codegen/native/strided.h"
#include "codegen/small_product.h"
#include "core/ir/ops/dense.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::native {
namespace {

/// A matrix of floats that is read along one of its dimensions; `transposed`: along the first.
struct Matrix {
  const float* data;
  int64_t stride;
  bool transposed;
};

bool has_lines(const Tensor& t, size_t inner, size_t outer) {
  return (t.strides[inner] == 1 || t.shape[inner] == 1) && t.strides[outer] >= std::max<int64_t>(1, t.shape[inner]);
}

/// Strides that a matrix product takes; others are copied.
Tensor readable(const Tensor& t) {
  const size_t r = t.rank();
  return has_lines(t, r - 1, r - 2) || has_lines(t, r - 2, r - 1) ? t : as_rows(t);
}

/// Two dimensions as float32, in the order in which they lie.
Tensor floats(const Tensor& t) {
  if (t.dtype == DType::F32) return readable(t);
  if (has_lines(t, 1, 0) || !has_lines(t, 0, 1)) return as_rows(as_rows(t), DType::F32);
  Tensor turned = t;
  std::swap(turned.shape[0], turned.shape[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  turned = as_rows(as_rows(turned), DType::F32);
  std::swap(turned.shape[0], turned.shape[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  return turned;
}

Matrix matrix_of(const Tensor& t) {
  const bool plain = has_lines(t, 1, 0);
  return {t.ptr<float>(), plain ? t.strides[0] : t.strides[1], !plain};
}

Tensor rows_of(const Tensor& t, int64_t from, int64_t to) {
  Tensor some = t;
  some.offset += from * t.strides[0];
  some.shape[0] = to - from;
  return some;
}

Tensor matrix_of_group(const Tensor& t, int64_t group) {
  Tensor one = t;
  one.offset += group * t.strides[0];
  one.shape.erase(one.shape.begin());
  one.strides.erase(one.strides.begin());
  return one;
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

void multiply_floats(const Tensor& rows, const Tensor& matrix, const Tensor& out) {
  const Tensor wide = floats(rows), wide_matrix = floats(matrix),
               to = out.dtype == DType::F32 ? out : Tensor::empty(DType::F32, out.shape);
  const Matrix left = matrix_of(wide), right = matrix_of(wide_matrix);
  const int64_t m = rows.shape[0], n = matrix.shape[1], k = rows.shape[1];
  if (dnnl_sgemm(left.transposed ? 'T' : 'N', right.transposed ? 'T' : 'N', m, n, k, 1.0F, left.data, left.stride,
                 right.data, right.stride, 0.0F, to.ptr<float>(), n) != dnnl_success)
    throw_internal("the library refuses a product of [" + std::to_string(m) + ", " + std::to_string(k) + "] and [" +
                   std::to_string(k) + ", " + std::to_string(n) + "]");
  if (out.dtype != DType::F32) copy_to_rows(to.to(out.dtype), out);
}

/// Rows up to which a matrix is read where it lies, in its own type, and not packed or widened before.
constexpr int64_t kFewRows = 8, kFewRowsBfloat16 = 32;
constexpr int64_t kColumns = 64;            // a task's are a multiple of this
constexpr int64_t kTaskProducts = 100'000;  // below, another thread costs more than it saves

/// Experts of a mixture get a row or two each. False where this is no such product.
bool multiply_few_rows(const Tensor& rows, const Tensor& matrix, const Tensor& out) {
  const bool halves = rows.dtype == DType::BF16;
  if (!library::has_small_products() || (!halves && rows.dtype != DType::F32) || matrix.dtype != rows.dtype)
    return false;
  if (rows.shape[0] > (halves ? kFewRowsBfloat16 : kFewRows) || !has_lines(rows, 1, 0)) return false;
  const bool along_rows = has_lines(matrix, 1, 0), lines = has_lines(matrix, 0, 1);
  if (!along_rows && !lines) return false;
  library::SmallProduct p{};
  p.rows = rows.shape[0];
  p.columns = matrix.shape[1];
  p.depth = rows.shape[1];
  p.a = rows.data();
  p.a_stride = rows.strides[0];
  p.b = matrix.data();
  p.lines = !along_rows;
  p.b_stride = matrix.strides[along_rows ? 0 : 1];
  p.dtype = p.c_dtype = rows.dtype;
  p.c = out.data();
  p.c_stride = out.strides[0];
  p.alpha = 1;
  const int64_t blocks = (p.columns + kColumns - 1) / kColumns, work = p.rows * p.depth * kColumns;
  parallel_for(blocks, 1 + kTaskProducts / work, [&](int64_t from, int64_t to) {
    const int64_t first = from * kColumns, last = std::min(p.columns, to * kColumns);
    library::small_product(p, first, last);
  });
  return true;
}

void multiply_groups(const Arguments& a, const Tensor& out) {
  const Tensor &rows = a.tensor(0), &matrices = a.tensor(1);
  int64_t from = 0, g = 0;
  for (const int64_t to : ends_of(a, rows.shape[0])) {
    const Tensor some = rows_of(rows, from, to), matrix = matrix_of_group(matrices, g++), into = rows_of(out, from, to);
    if (into.numel() > 0 && some.numel() > 0 && !multiply_few_rows(some, matrix, into))
      multiply_floats(some, matrix, into);
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
  const Tensor& out = a.result();
  if (!out.defined() || out.numel() == 0) return;
  std::memset(out.data(), 0, static_cast<size_t>(out.numel()) * dtype_size(out.dtype));
  out.dtype == DType::F64 ? multiply_doubles(a, out) : multiply_groups(a, out);
}

constexpr std::array kEntries{Entry{"grouped_mm", grouped_mm}};

}  // namespace

std::span<const Entry> grouped_products() { return kEntries; }

}  // namespace strata::native
