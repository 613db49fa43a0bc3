// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which values of a captured program share memory, as PyTorch has them. From the stage `functional` on none do.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/builder.h"

namespace strata {

/// The operand that the node's value shares memory with (a tuple for its parts), or null.
const Node* aliased_operand(const Node& node);

/// Lists of tensors of which each is a view of the operand at its place in a list, as meshgrid's.
bool views_each(const Node& node);

/// The value whose memory `node`'s is: an input, a constant, or the result of an operator that views nothing.
const Node& storage_owner(const Node& node);

/// Dimensions from the outermost to the innermost in memory that has neither gaps nor places used twice (row-major
/// where strides are not known); nothing for other tensors.
std::optional<std::vector<int64_t>> memory_order(const TensorType& type);

/// The permutation that undoes one.
std::vector<int64_t> inverse_of(const std::vector<int64_t>& order);

/// `value` in memory of its own, in the order of `like`, if it uses places twice or leaves gaps, as what is expanded
/// does: what is drawn at random later goes by the tensor that was written, not by what was written into it.
Node* in_own_memory(Builder& b, Node* value, const TensorType& like);

/// What sizes, strides and offset of an `as_strided` call count.
enum class StridedOver : uint8_t {
  Owner,    ///< the memory of `storage_owner` of the operand, from its start
  Operand,  ///< the operand's elements row by row, from its first
  Unknown   ///< memory with gaps, or a start that is not known
};
StridedOver strided_over(const Call& call);

/// How many elements of type `dtype` lie where a tensor does: a complex number is two real ones.
SymInt elements_in_memory(const TensorType& memory, DType dtype);

}  // namespace strata
