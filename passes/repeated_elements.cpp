// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/repeated_elements.h"

namespace strata {

bool repeats_elements(const TensorType& type) {
  if (!type.strides) return false;
  for (size_t d = 0; d < type.shape.size(); ++d)
    if ((*type.strides)[d] == SymInt(0) && !known_le(type.shape[d], 1)) return true;
  return false;
}

}  // namespace strata
