// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines along one dimension of a strided tensor, which hand-written kernels work on.

#include <cstdint>

#include "core/runtime/elements.h"

namespace strata::native {

/// The lines along dimension `dim` of a tensor, numbered row-major over the other dimensions. A tensor without
/// dimensions is one line of one element.
struct Lines {
  Lines(const Tensor& t, size_t dim);
  /// First element of line `l`, in elements from the tensor's data.
  int64_t start(int64_t l) const;

  int64_t count = 1, length = 1, step = 1;  ///< lines; elements of each, and from one to the next

 private:
  std::vector<int64_t> shape_, strides_;  ///< of the other dimensions
};

}  // namespace strata::native
