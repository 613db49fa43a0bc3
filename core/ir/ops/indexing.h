// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of the indexing family; `ops::indexing()` joins them.
///
/// Indices that come from data: references and hand-written kernels throw IndexError when one is out of range. Loop
/// bodies cannot throw: they go on with index 0 and tell (`loop::Check`), so that no access is ever out of bounds.

#include "core/ir/ops/common.h"

namespace strata::ops {

using Index = std::vector<SymInt>;

Rows gathers();              ///< embedding, gather, index, index_select
Rows scatters();             ///< scatter, scatter_add, index_put, slice_scatter, select_scatter
Rows scatter_forms();        ///< scatter.reduce, index_reduce, put, diagonal_scatter, as_strided_scatter
Rows joins();                ///< cat, stack, pad, tril, triu, diff
Rows creations();            ///< arange, full, zeros, empty, scalar_tensor
Rows randoms();              ///< rand, randn, randint, bernoulli, ...
Rows dropouts();             ///< dropout, of channels too
Rows orders();               ///< cumsum, cumprod, sort, topk
Rows searches();             ///< searchsorted, bucketize, nonzero_static
Rows spacings();             ///< linspace, logspace, hann_window, ...
Rows data_sizes();           ///< item, nonzero, masked_select, unique, bincount: sizes that depend on data
Rows special_functions();    ///< gamma, Bessel, orthogonal polynomials, ...
Rows selections_of_lines();  ///< kthvalue, median, mode, cummax, quantile, ...
Rows histograms();           ///< histc, histogram
Rows pairs();                ///< gcd, lcm, nextafter, frexp, signbit, angle
Rows distances();            ///< cdist, bilinear, addbmm, tril_indices, empty_permuted
Rows grid_samplings();       ///< grid_sampler_3d
Rows segments();             ///< segment_reduce
Rows regions();              ///< torchvision's boxes and regions of images
Rows linear_algebra();       ///< Cholesky, LU, QR, triangular systems of small matrices
Rows singular_values();      ///< svdvals, pinv, matrix_rank, eigvalsh, tensorsolve
Rows composed_indexing();    ///< one_hot, index_add, linspace, ...: `compositions.cpp`

/// A loop index from an integer scalar of the body that cannot be out of range: clamped to [0, size).
SymInt data_index(loop::Body& body, ScalarId value, const SymInt& size);

/// How an operator takes indices, and what PyTorch says when they are wrong.
struct IndexRange {
  SymInt size;
  bool negative = false;  ///< -1 is the last
  std::string text;       ///< `{index}`, `{size}`
};
/// "index 7 is out of bounds for dimension 1 with size 3".
IndexRange index_range(const SymInt& size, size_t dim, bool negative);
/// A loop index from an integer scalar, checked. Where the size may be 0 there may be nothing to read: then `readable`
/// becomes the mask for loads, joined with what it is.
SymInt checked_data_index(loop::Body& body, ScalarId value, const IndexRange& range, std::optional<ScalarId>& readable);
/// An index from data in [0, size), or IndexError naming the call.
int64_t checked_index(const Call& call, int64_t index, int64_t size, bool negative = true);
/// Throws unless parameter `i` holds integers fit for indexing.
void check_index_type(const Call& call, size_t i);
/// Rejects parameter `i` unless it is such a tensor of at most one dimension.
void check_line_of_indices(const Call& call, size_t i);
/// Rejects parameter 3, what is written at the indices (parameter 2) of dimension `dim` of parameter 0, unless its
/// other sizes are those of parameter 0, and it has one slice for each index. A number is as good as one element.
void check_source(const Call& call, size_t dim);
/// Rejects an index tensor that has more than `size` elements in dimension `d`, where `what` names what has that size.
/// One without elements may be of any size.
void require_covered(const Call& call, const SymInt& size, Index index, size_t d, const std::string& what);

/// Size `dim` of result `part`, as the captured program names it where data tells it; a user Error where it does not.
SymInt stated_size(const Call& call, size_t part, size_t dim);
/// From here on `size` is known: it is the element of `count`.
void read_size(Builder& builder, Node* count, const SymInt& size);

/// `self[indices]`, where an index is a tensor or None (the whole dimension).
struct IndexPlan {
  std::vector<Node*> indices;  ///< one per leading dimension of self; null for None
  Index broadcast;             ///< common shape of the index tensors
  size_t at = 0;               ///< where that shape stands in the result
  Index shape;                 ///< of the result
};

IndexPlan index_plan(const Call& call);
/// Whether `self[indices]` has a mask among its indices: the size of what it names depends on data.
bool indexed_by_mask(const Call& call);
/// Of `index` with masks: as the captured program says.
Type masked_index_type(const Call& call);
/// With positions in place of masks; empty where there is none.
std::vector<Node*> index_without_masks(Builder& builder, const Call& call);
/// Trailing coordinates of `at` (inside the broadcast shape) that address an operand of shape `shape`.
template <class T, class S>
std::vector<T> broadcast_position(const std::vector<T>& at, const std::vector<S>& shape) {
  std::vector<T> out;
  const size_t lead = at.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d) out.push_back(shape[d] == S(1) ? T(0) : at[lead + d]);
  return out;
}

/// Calls `visit(flat, index)` for every multi-index of `shape` in row-major order.
template <class F>
void for_each_index(const std::vector<int64_t>& shape, F&& visit) {
  int64_t total = 1;
  for (int64_t s : shape) total *= s;
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t flat = 0; flat < total; ++flat) {
    visit(flat, index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}
/// Position in elements, from the tensor's data pointer.
inline int64_t position(const Tensor& t, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * t.strides[d];
  return at;
}

/// Calls `visit(flat, at, source)` for every element that `self[indices]` addresses: `at` in the plan's shape, `source`
/// in self.
template <class F>
void for_each_indexed(const RefContext& c, F&& visit) {
  const IndexPlan p = index_plan(c.call);
  const Tensor self = c.tensor(0);
  const std::vector<Tensor> indices = c.tensors(1);
  const size_t n = p.broadcast.size();
  std::vector<int64_t> source(self.rank());
  for_each_index(c.eval(p.shape), [&](int64_t flat, const std::vector<int64_t>& at) {
    const std::vector<int64_t> inner(at.begin() + static_cast<ptrdiff_t>(p.at),
                                     at.begin() + static_cast<ptrdiff_t>(p.at + n));
    size_t next = 0;
    for (size_t d = 0; d < source.size(); ++d) {
      if (d < indices.size() && indices[d].defined()) {
        const Tensor& t = indices[d];
        const int64_t where =
            position(t, broadcast_position(inner, t.shape)) * static_cast<int64_t>(dtype_size(t.dtype));
        source[d] = checked_index(c.call, load_as_int(t.dtype, t.data() + where), self.shape[d]);
      } else {
        if (next == p.at) next += n;
        source[d] = at[next++];
      }
    }
    visit(flat, at, source);
  });
}

}  // namespace strata::ops
