// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products and convolutions of our own, for what oneDNN does not have: float64, integers, odd sizes, processors
/// it does not know.

#include "codegen/library_view.h"

namespace strata::library {

/// Complete instances: operands are converted to the compute type (float32, float64, int64), the result is converted
/// back. Sizes of 0 are fine.
void build_fallback_matmul(const ConcreteCall& call, Instance& instance);
void build_fallback_convolution(const ConcreteCall& call, Instance& instance);

}  // namespace strata::library
