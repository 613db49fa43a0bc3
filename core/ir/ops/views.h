// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of the view family; `ops::views()` joins them. Types of views carry the strides that PyTorch would give them,
/// as far as the operand's strides are known.

#include "core/ir/ops/common.h"

namespace strata::ops {

Rows reshapes();          ///< view, reshape, flatten, unflatten, squeeze, unsqueeze
Rows permutations();      ///< transpose, permute, movedim, expand, diagonal, flip, repeat
Rows slices();            ///< slice, select, narrow, split, unbind, chunk, as_strided
Rows composed_views();    ///< view_as, roll, tile, ...: `compositions.cpp`
Rows shorthand_copies();  ///< view_copy, resolve_conj, sum_to_size, ...: `shorthands.cpp`
Rows shorthand_views();   ///< hstack, tensor_split, rot90, diag, cross, im2col, ...: `shorthands.cpp`

/// Type of a view of operand 0.
Type view_type(const Call& call, std::vector<SymInt> shape, std::optional<std::vector<SymInt>> strides);
/// Shape with the one -1 replaced; throws a user Error if the element counts cannot agree.
std::vector<SymInt> infer_shape(const Call& call, const std::vector<SymInt>& from, std::vector<SymInt> wanted);
/// Strides of `t` seen as `shape`, or nothing if that needs a copy.
std::optional<std::vector<SymInt>> view_strides(const TensorType& t, const std::vector<SymInt>& shape);
/// The tensor seen as `shape`: shares memory where strides allow, else a copy.
Tensor reshaped(const Tensor& t, const std::vector<int64_t>& shape);
/// An index that counts from the end where it is negative, counted from the front. Exact also where the sign is not
/// known.
SymInt from_front(const SymInt& index, const SymInt& size);
/// The index of one element of a dimension, likewise; rejects what is out of range.
SymInt element_index(const Call& call, const SymInt& index, const std::vector<SymInt>& shape, size_t dim);
/// A bound of a slice: negative counts from the end, then clamped to [0, size]. Exact also where the sign is not known.
SymInt clamp_bound(SymInt bound, const SymInt& size);

/// Bounds of a slice, wrapped and clamped as Python does.
struct SliceBounds {
  size_t dim;
  SymInt start, length, step;
};
SliceBounds slice_bounds(const Call& call, const std::vector<SymInt>& shape);

}  // namespace strata::ops
