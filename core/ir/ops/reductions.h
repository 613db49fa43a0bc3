// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of the reduction family; `ops::reductions()` joins them.

#include "core/ir/ops/common.h"

namespace strata::ops {

Rows folds();       ///< sum, prod, mean, amax, any, argmax, ...
Rows statistics();  ///< var, std, norm, logsumexp, softmax, ...

/// Which dimensions of operand 0 the call folds: its parameter `dim`; all if there is none, or it is None or empty.
std::vector<bool> reduced_dims(const Call& call);
std::vector<int64_t> reduced_dim_list(const Call& call);
/// Does the call keep folded dimensions with size 1?
bool keeps_dims(const Call& call);
std::vector<SymInt> reduced_shape(const std::vector<SymInt>& shape, const std::vector<bool>& reduced, bool keepdim);
Type reduced_type(const Call& call, DType dtype);
/// Number of elements folded into one.
SymInt reduced_count(const Call& call);
/// `x` (of the call's result shape) with the folded dimensions back as size 1.
Node* with_kept_dims(Builder& builder, Node* x, const Call& call);
/// The same, expanded to operand 0's shape.
Node* spread(Builder& builder, Node* x, const Call& call);

/// Folds the marked dimensions of `t` (elements of T). `f(each)` gives one result, where `each(step)` calls
/// `step(element)` for every element in row-major order.
template <class T, class F>
Tensor fold_elements(const Tensor& t, const std::vector<bool>& reduced, F f) {
  std::vector<int64_t> outer, outer_strides, inner, inner_strides;
  for (size_t d = 0; d < t.rank(); ++d) {
    (reduced[d] ? inner : outer).push_back(t.shape[d]);
    (reduced[d] ? inner_strides : outer_strides).push_back(t.strides[d]);
  }
  const RowLoop points(outer, {outer_strides}), rows(inner, {inner_strides});
  const int64_t step = rows.stride(0), n = rows.inner();
  const T* base = t.ptr<const T>();
  const auto one = [&](const T* p) {
    return f([&](auto&& visit) {
      rows.run([&](const int64_t* at) {
        for (int64_t i = 0; i < n; ++i) visit(p[at[0] + i * step]);
      });
    });
  };
  using R = decltype(one(base));
  Tensor out = Tensor::empty(dtype_of<R>(), outer);
  R* o = out.ptr<R>();
  points.run([&](const int64_t* at) {
    for (int64_t i = 0; i < points.inner(); ++i) *o++ = one(base + at[0] + i * points.stride(0));
  });
  return out;
}

/// What a fold results in: double, or wrapping int64.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
/// What a sum is carried in, with more digits than the result has: hundreds of equal numbers, added one after the
/// other, are off by as many units in the last place.
template <class T>
using Total = std::conditional_t<std::is_floating_point_v<T>, long double, int64_t>;

/// Reference of a reduction: `f(T{}, each)` per result element; elements are converted to `compute` first.
template <class F>
RefValue fold_reference(const RefContext& c, DType compute, F f) {
  const Tensor t = operand(c, 0, compute);
  return with_work_type(compute, [&]<class T>(T) -> RefValue {
    Tensor out = fold_elements<T>(t, reduced_dims(c.call), [&](auto each) { return f(T{}, each); });
    out.shape = c.eval(c.call.node().type.tensor.shape);
    out.strides = contiguous_strides(std::span<const int64_t>(out.shape));
    return as_result(c, out);
  });
}

}  // namespace strata::ops
