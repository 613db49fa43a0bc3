// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Complex numbers as two real ones. Kernels know real numbers only: a complex value becomes its real and its imaginary
/// part, both of its shape, and each operator on it operators on those. What an operator moves (views, joins, gathers)
/// it moves twice; arithmetic follows the formulas that PyTorch's CPU kernels use, so that NaN and infinities come out
/// where they do there.

#include <functional>
#include <string_view>
#include <vector>

#include "core/ir/builder.h"

namespace strata {

/// Whether a value of this type, or a part of the tuple, is complex.
bool has_complex(const Type& type);
/// Whether an operand or the result is complex.
bool touches_complex(const Node& node);

/// A value in the new graph: `imag` is null for one that is real.
struct ComplexParts {
  Node* real = nullptr;
  Node* imag = nullptr;
};

enum class ComplexSupport : uint8_t {
  None,        ///< refused
  Decomposes,  ///< its decomposition holds for complex numbers as well
  Parts        ///< `split_complex` has a rule
};
ComplexSupport complex_support(const OpDef& op);
/// The names, without overloads, that rules and decompositions are kept under: each is that of a row.
std::vector<std::string_view> names_with_complex_rules();
/// Throws a user Error that names the call and its line if a complex operand of it cannot be computed with.
void require_complex_support(const Node& node);

/// The call's results in terms of its operands' parts, one per result. Emits primitives only. `parts_of` gives the
/// parts of an operand; a tuple operand gives the tuples of the parts.
std::vector<ComplexParts> split_complex(Builder& builder, const Call& call,
                                        const std::function<ComplexParts(const Node*)>& parts_of);

/// Both parts side by side in a new last dimension of size 2, as PyTorch keeps them in memory.
Node* interleaved(Builder& builder, const ComplexParts& parts);
/// The parts of what lies so.
ComplexParts parts_of_pairs(Builder& builder, Node* pairs);
/// The type of the pairs that a complex tensor lies in: one more dimension, of size 2.
TensorType pairs_type(const TensorType& type);

}  // namespace strata
