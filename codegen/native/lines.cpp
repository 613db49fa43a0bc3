// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/native/lines.h"

namespace strata::native {

Lines::Lines(const Tensor& t, size_t dim) {
  for (size_t d = 0; d < t.rank(); ++d) {
    if (d == dim) continue;
    shape_.push_back(t.shape[d]);
    strides_.push_back(t.strides[d]);
    count *= t.shape[d];
  }
  if (t.rank() == 0) return;
  length = t.shape[dim];
  step = t.strides[dim];
}

int64_t Lines::start(int64_t l) const {
  int64_t at = 0;
  for (size_t d = shape_.size(); d-- > 0;) {
    at += l % shape_[d] * strides_[d];
    l /= shape_[d];
  }
  return at;
}

}  // namespace strata::native
