// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/reductions.h"

#include <algorithm>

namespace strata::ops {
std::vector<bool> reduced_dims(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  const auto named = param(call, "dim");
  const std::vector<size_t> dims = named ? distinct_dims(call, *named, rank) : std::vector<size_t>();
  if (dims.empty()) return std::vector<bool>(rank, true);
  std::vector<bool> reduced(std::max<size_t>(rank, 1), false);
  for (const size_t d : dims) reduced[d] = true;
  reduced.resize(rank);
  return reduced;
}

std::vector<int64_t> reduced_dim_list(const Call& call) {
  std::vector<int64_t> list;
  const std::vector<bool> reduced = reduced_dims(call);
  for (size_t d = 0; d < reduced.size(); ++d)
    if (reduced[d]) list.push_back(static_cast<int64_t>(d));
  return list;
}

bool keeps_dims(const Call& call) {
  const auto keeps = param(call, "keepdim");
  return keeps && call.boolean(*keeps);
}

std::vector<SymInt> reduced_shape(const std::vector<SymInt>& shape, const std::vector<bool>& reduced, bool keepdim) {
  std::vector<SymInt> out;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d])
      out.push_back(shape[d]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

Type reduced_type(const Call& call, DType dtype) {
  return result_like(call, dtype, reduced_shape(tensor_type(call, 0).shape, reduced_dims(call), keeps_dims(call)));
}

SymInt reduced_count(const Call& call) {
  SymInt n = 1;
  const auto& shape = tensor_type(call, 0).shape;
  const std::vector<bool> reduced = reduced_dims(call);
  for (size_t d = 0; d < shape.size(); ++d)
    if (reduced[d]) n = n * shape[d];
  return n;
}

Node* with_kept_dims(Builder& b, Node* x, const Call& call) {
  return b.reshape(x, reduced_shape(tensor_type(call, 0).shape, reduced_dims(call), true));
}

Node* spread(Builder& b, Node* x, const Call& call) {
  return b.expand(with_kept_dims(b, x, call), tensor_type(call, 0).shape);
}

std::vector<OpDef> reductions() {
  Rows rows = folds();
  append(rows, statistics());
  return rows;
}

}  // namespace strata::ops
