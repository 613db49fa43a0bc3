// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the libraries of a target can do, in words that passes understand: `fuse` asks here before it moves work into a
/// library call, code generation guarantees it. What is refused would still be computed right when asked for, but
/// slower than a kernel of its own. The machine itself is described by `Target` in plan.h.

#include <cstddef>
#include <string>

#include "core/ir/library.h"

namespace strata {

struct LibraryCapabilities {
  /// Post-operations that one call takes.
  size_t max_post_ops = 16;

  /// Whether `op` may follow the post-operations that `call` has already. All kinds of PostOp are taken by `matmul`,
  /// `convolution` and `convolution_transpose` on floating results; `attention` takes none. `operand` is what Add, Sub
  /// and Mul read (else null): a floating tensor of the result's shape, of one element, or along the channel alone
  /// (matmul: the last dimension; convolution: dimension 1). Its strides are free. `why_not` (may be null) gets the
  /// reason of a refusal, for people.
  bool accepts(const LibraryCall& call, const PostOp& op, const LibraryOperand* operand, std::string* why_not) const;
};

/// Of the CPU: oneDNN and kernels of our own.
const LibraryCapabilities& cpu_library_capabilities();

}  // namespace strata
