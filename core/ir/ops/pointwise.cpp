// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/pointwise.h"

namespace strata::ops {

std::vector<OpDef> pointwise() {
  Rows rows;
  for (auto part : {elementary, activations, arithmetic, comparisons, selections, conversions, composed_pointwise,
                    shorthand_pointwise, quantized})
    append(rows, part());
  return rows;
}

}  // namespace strata::ops
