// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/views.h"

namespace strata::ops {

Type view_type(const Call& call, std::vector<SymInt> shape, std::optional<std::vector<SymInt>> strides) {
  Type type = result_like(call, tensor_type(call, 0).dtype, std::move(shape));
  type.tensor.device = tensor_type(call, 0).device;
  type.tensor.strides = std::move(strides);
  return type;
}

std::vector<OpDef> views() {
  Rows rows;
  for (auto part : {reshapes, permutations, slices, composed_views, shorthand_views, shorthand_copies})
    append(rows, part());
  return rows;
}

}  // namespace strata::ops
