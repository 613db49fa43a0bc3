// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the rows of matrix products, convolution, pooling, normalisation and losses share. `ops::matrix()` and
/// `ops::convolution()` join them.

#include <array>

#include "core/ir/ops/common.h"
#include "core/ir/ops/dense.h"

namespace strata::ops {

Rows attention_rows();
/// Whether no library computes this attention, but only what it decomposes into: one with dropout, and one whose scale
/// follows from a symbolic head size.
bool attention_is_spelled_out(const Node& node);
Rows einsum_rows();
/// Whether einsum of one operand sums nothing: its result then is a view of the operand.
bool einsum_is_view(const Call& call);
Rows grouped_rows();
Rows recurrent_rows();
Rows convolution_rows();
Rows max_pool_rows();
Rows average_pool_rows();
Rows normalisation_rows();
Rows batch_norm_rows();
Rows resampling_rows();
Rows resizing_rows();
Rows loss_rows();
Rows shorthand_losses();
Rows shorthand_sums();      ///< nansum, trapezoid, tensordot, cosine_embedding_loss, ...
Rows shorthand_matrices();  ///< det, inverse, embedding_bag, gradient, ...
Rows complex_rows();        ///< view_as_complex, conj, polar, ...: `complex.cpp`
Rows fourier();             ///< fft_rfft, _fft_c2c, stft, ...
Rows other_names();         ///< clip, concat, special_expit, ...

/// A row that is nothing but one decomposition, which gives its type, too. The schema stands without `aten::`.
inline OpDef shorthand(const std::string& schema, Decompose decompose, const char* doc) {
  return compound("aten::" + schema, 0, decomposed_type, decompose, doc);
}

/// Rejects the call unless parameter `i` is a tensor of a rank in [low, high].
void require_rank(const Call& call, size_t i, size_t low, size_t high);
/// Rejects tensors of different element types.
void require_same_dtype(const Call& call, size_t a, size_t b);

/// `values` repeated or padded to `count` (`stride=2` means [2, 2]); rejects other lengths. An empty list gives
/// `fallback`.
std::vector<int64_t> spread(const Call& call, size_t i, size_t count, const std::vector<int64_t>& fallback = {});

/// Type of a tuple of tensors that live where the first operand does.
Type tuple_like(const Call& call, std::vector<std::pair<DType, std::vector<SymInt>>> parts);
/// Element type of the mean and the deviation that a norm of its operand 0 returns beside its result: wide, but on
/// PyTorch's CPU that of the operand, unless weight or bias (parameters `weight` and the next) are of another.
DType statistics_dtype(const Call& call, size_t weight);

/// Negative dimensions [-count, -1].
std::vector<int64_t> last_dims(size_t count);
/// float32 for 16-bit floats, so that a spelled-out computation is rounded once, at its end.
inline Node* widen(Builder& b, Node* x) { return b.cast(x, compute_dtype(x->tensor().dtype)); }
inline Node* mean(Builder& b, Node* x, const std::vector<int64_t>& dims, bool keepdim) {
  return b.call("aten.mean.dim", {x, int_list(dims), keepdim});
}
inline Node* squeeze(Builder& b, Node* x, int64_t dim) { return b.call("aten.squeeze.dim", {x, dim}); }
/// `x` (one element per channel) shaped to broadcast along dimension `dim` of a tensor with `rank` dimensions.
Node* along(Builder& b, Node* x, size_t dim, size_t rank);
/// `x` normalised by its own statistics over `dims` (kept, of size 1), in the type of `x`: two passes, mean and mean of
/// the squared distances.
struct Normalised {
  Node *value, *mean, *rstd, *var;
};
Normalised normalise(Builder& b, Node* x, const std::vector<int64_t>& dims, double eps);
/// 0, 1, ..., n - 1 on the device of `like`.
Node* arange(Builder& b, const SymInt& n, const Node* like);
/// `x` where `condition` holds, else `other`.
Node* where_else(Builder& b, Node* condition, Node* x, double other);
/// The kernel of cubic interpolation (Keys' `a`: -0.75, or -0.5 with antialiasing) at a distance within one element,
/// and between one and two; and its weights of the four elements around a place `part` behind the second of them.
Node* cubic_within(Builder& b, Node* distance, double a);
Node* cubic_beyond(Builder& b, Node* distance, double a);
std::array<Node*, 4> cubic_weights(Builder& b, Node* part);
/// Sizes that interpolation gives the last `spatial` dimensions: parameter 1, or where that is None the input's times
/// the factors of parameter `factors`.
std::vector<SymInt> wanted_sizes(const Call& call, size_t spatial, size_t factors);
/// `reduction` of a loss: 0 none, 1 mean, 2 sum, over all elements.
Node* reduce_loss(Builder& b, const Call& call, Node* loss, int64_t reduction);

}  // namespace strata::ops
