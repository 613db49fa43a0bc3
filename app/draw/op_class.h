// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an operator does, as far as colours are concerned.

#include <array>
#include <string>
#include <string_view>

namespace strata::draw {

enum class OpClass : int {
  Input = 0,
  Parameter,
  Output,
  Pointwise,
  Reduction,
  Contraction,  ///< matrix product, convolution, attention
  View,
  Indexing,  ///< gather, scatter, concatenation, pooling, creation
  Random,
  Symbolic,  ///< sizes and assertions
  Other,
  Opaque  ///< the compiler has no code for it: PyTorch is called
};
inline constexpr int kOpClasses = 12;

/// `matrix product, convolution`: for legends.
std::string_view label(OpClass c);

/// The short name people use: `aten.add.Tensor` -> `add`, `torch.nn.functional.relu` -> `relu`,
/// `called.aten.cdist.default` -> `cdist`.
std::string short_name(std::string_view target);

/// `op` and `target` as in trace::NodeRecord, `name` the node's name (exported programs mark parameters in it).
OpClass classify(std::string_view op, std::string_view target, std::string_view name);

}  // namespace strata::draw
