// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Products of groups of rows, each with a matrix of its own (mixtures of experts). Where a group ends, data tells.

#include "core/ir/ops/dense.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

/// rows[S, K], matrices[G, K, N], ends[G] -> [S, N]; without ends, as a batched product.
Type grouped_type(const Call& call) {
  const TensorType &rows = tensor_type(call, 0), &matrices = tensor_type(call, 1);
  require_same_dtype(call, 0, 1);
  if (!is_floating(rows.dtype)) reject(call, "expected floating-point operands");
  const bool batched = rows.shape.size() == 3 && !call.optional_tensor(2);
  if (!batched && (rows.shape.size() != 2 || matrices.shape.size() != 3 || !call.optional_tensor(2)))
    reject(call, "only groups of rows (a matrix, one matrix per group, and where each group ends) are supported");
  if (batched && matrices.shape.size() != 3) reject(call, "expected one matrix per group");
  if (call.size() > 3 && call.optional_tensor(3)) reject(call, "a bias is not supported");
  require_equal(call, rows.shape.back(), matrices.shape[1], "columns of the rows and rows of the matrices");
  if (batched) return result_like(call, rows.dtype, {rows.shape[0], rows.shape[1], matrices.shape[2]});
  const TensorType& ends = tensor_type(call, 2);
  if (ends.shape.size() != 1 || (ends.dtype != DType::I32 && ends.dtype != DType::I64))
    reject(call, "the ends of groups must be one dimension of int32 or int64");
  require_equal(call, ends.shape[0], matrices.shape[0], "numbers of groups");
  const auto out = call.size() > 4 ? call.dtype(4) : std::nullopt;
  return result_like(call, out.value_or(rows.dtype), {rows.shape[0], matrices.shape[2]});
}

/// Rows behind the last group are zeros.
RefValue grouped_reference(const RefContext& c) {
  const Tensor rows = c.tensor(0), matrices = c.tensor(1), ends = c.tensor(2).to(DType::I64);
  const int64_t s = rows.shape[0], k = rows.shape[1], n = matrices.shape[2];
  const std::vector<double> a = doubles_of(rows), b = doubles_of(matrices);
  std::vector<double> out(static_cast<size_t>(s * n), 0.0);
  int64_t from = 0;
  for (int64_t g = 0; g < ends.numel(); ++g) {
    const int64_t to = ends.int_at(g);
    if (to < from || to > s)
      reject(c.call, "group " + std::to_string(g) + " ends at row " + std::to_string(to) + ", expected " +
                         std::to_string(from) + " to " + std::to_string(s));
    multiply_add(to - from, n, k, {a.data() + from * k, k}, {b.data() + g * k * n, n}, out.data() + from * n, n);
    from = to;
  }
  const Tensor result = c.result();
  store_doubles(out, result);
  return result;
}

/// Without ends: every matrix has as many rows as the others.
std::vector<Node*> grouped(Builder& b, const Call& c) {
  Node* y = c.optional_tensor(2) ? nullptr : b.call("aten.bmm.default", {c.tensor(0), c.tensor(1)});
  if (!y) y = b.call("strata.grouped_mm.default", {c.tensor(0), c.tensor(1), c.tensor(2)});
  return {b.cast(y, c.node().type.tensor.dtype)};
}

}  // namespace

Rows grouped_rows() {
  Rows r;
  r.push_back(OpDef("strata::grouped_mm(Tensor rows, Tensor matrices, Tensor ends) -> Tensor", OpClass::Indexing, 0,
                    Promotion::None, grouped_type, grouped_reference, nullptr, NoGradient::Pending,
                    KernelRule{"grouped_mm"}, "", "each group of rows times the matrix of its group"));
  const char* doc = "each group of rows times the matrix of its group, or a batched product";
  r.push_back(
      compound("aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
               "out_dtype=None) -> Tensor",
               0, grouped_type, grouped, doc));
  r.push_back(compound("transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor", 0,
                       grouped_type, grouped, doc));
  return r;
}

}  // namespace strata::ops
