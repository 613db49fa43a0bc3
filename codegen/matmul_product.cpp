// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/matmul_product.h"

#include <algorithm>

#include "codegen/library_copy.h"

namespace strata::library {
namespace {

/// beta * bias joins the operations on the result unless the primitive can add it itself.
void add_bias(const ConcreteCall& call, MatmulProduct& p, Instance& instance) {
  const LibraryCall& c = *call.call;
  p.scale = static_cast<float>(c.alpha);
  if (!c.has_bias || c.beta == 0) return;
  View bias = call.operands[2];
  const bool native = c.alpha == 1 && c.beta == 1 && bias.dtype == DType::F32;
  if (c.beta != 1) {
    const View scaled = instance.scratch.tensor(DType::F32, bias.shape);
    instance.steps.push_back(make_copy(bias, scaled));
    instance.steps.push_back(
        make_epilogue(scaled, scaled, {{PostOp::Kind::Linear, c.beta, PostOp::kNothingAdded, {}, false}}));
    bias = scaled;
  }
  bias = with_rank(std::move(bias), p.result.rank());
  if (native && is_row_vector(bias) && bias.shape.back() == p.result.shape.back()) {
    for (size_t d = 0; d + 1 < bias.rank(); ++d) bias.shape[d] = 1;
    p.bias = std::move(bias);
  } else {
    p.ops.push_back({PostOp::Kind::Add, 0, 0, std::move(bias), false});
  }
}

/// Removes dimension d (merged into d + 1) from every view, or from none.
bool merge(std::vector<View*> views, size_t d) {
  for (const View* v : views) {
    const bool absent = (v->shape[d] == 1 || v->strides[d] == 0) && (v->shape[d + 1] == 1 || v->strides[d + 1] == 0);
    const bool joined =
        v->strides[d] == v->strides[d + 1] * v->shape[d + 1] && v->shape[d] != 1 && v->shape[d + 1] != 1;
    if (!absent && !joined) return false;
  }
  for (View* v : views) {
    const bool absent = v->strides[d + 1] == 0 || v->shape[d + 1] == 1;
    v->shape[d + 1] = absent && v->strides[d] == 0 ? 1 : v->shape[d] * v->shape[d + 1];
    v->shape.erase(v->shape.begin() + static_cast<int64_t>(d));
    v->strides.erase(v->strides.begin() + static_cast<int64_t>(d));
  }
  return true;
}

/// Drops dimension d where the result has one element.
void drop(const std::vector<View*>& views, size_t d) {
  for (View* v : views) {
    v->shape.erase(v->shape.begin() + static_cast<int64_t>(d));
    v->strides.erase(v->strides.begin() + static_cast<int64_t>(d));
  }
}

/// Broadcast dimensions get size 1 everywhere but in the result.
void squeeze_broadcast(View& v) {
  for (size_t d = 0; d < v.rank(); ++d) {
    if (v.strides[d] == 0) v.shape[d] = 1;
  }
}

void merge_batch(MatmulProduct& p) {
  std::vector<View*> views{&p.a, &p.b, &p.result};
  for (ResultOp& op : p.ops) {
    if (op.has_operand()) views.push_back(&op.operand);
  }
  if (p.bias) views.push_back(&*p.bias);
  for (size_t d = p.result.rank() - 2; d-- > 0;) {
    if (p.result.shape[d] == 1) drop(views, d);
  }
  for (size_t d = p.result.rank() - 2; d-- > 1;) merge(views, d - 1);
  // The last batch dimension joins the rows when b has none.
  if (p.result.rank() != 3 || p.b.shape[0] != 1) return;
  std::vector<View*> rows;
  for (View* v : views) {
    if (v != &p.b) rows.push_back(v);
  }
  if (merge(rows, 0)) drop({&p.b}, 0);
}

}  // namespace

bool is_row_vector(const View& v) {
  for (size_t d = 0; d + 1 < v.rank(); ++d) {
    if (v.shape[d] != 1 && v.strides[d] != 0) return false;
  }
  return v.strides.back() == 1;
}

bool is_plain_matrix(const View& v) {
  const size_t r = v.rank();
  const int64_t rows = v.shape[r - 2], columns = v.shape[r - 1], sr = v.strides[r - 2], sc = v.strides[r - 1];
  const bool row_major = (sc == 1 || columns == 1) && (sr >= columns || rows == 1);
  const bool column_major = (sr == 1 || rows == 1) && (sc >= rows || columns == 1);
  return row_major || column_major;
}

std::byte* matrix_at(const StepArgs& args, const View& v, const std::vector<int64_t>& result, int64_t batch) {
  int64_t offset = 0;
  for (size_t d = result.size() - 2; d-- > 0;) {
    if (v.shape[d] != 1) offset += batch % result[d] * v.strides[d];
    batch /= result[d];
  }
  return args.at(v.slot) + offset * static_cast<int64_t>(dtype_size(v.dtype));
}

MatmulProduct make_matmul_product(const ConcreteCall& call, Instance& instance) {
  MatmulProduct p;
  const size_t rank = std::max<size_t>(2, call.result.rank());
  p.result = call.result;
  p.a = with_rank(call.operands[0], rank);
  p.b = with_rank(call.operands[1], rank);
  add_bias(call, p, instance);
  for (ResultOp& op : result_ops(call)) p.ops.push_back(std::move(op));
  for (size_t d = 0; d + 2 < rank; ++d) {
    if (p.a.strides[d] == 0) p.a.shape[d] = 1;
    if (p.b.strides[d] == 0) p.b.shape[d] = 1;
  }
  for (ResultOp& op : p.ops) {
    if (op.has_operand()) squeeze_broadcast(op.operand);
  }
  p.b_constant = call.constant[1];
  p.b_key = call.packed_key;
  merge_batch(p);
  return p;
}

}  // namespace strata::library
