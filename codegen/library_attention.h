// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scaled dot-product attention in one step.

#include "codegen/library_view.h"

namespace strata::library {

/// softmax(q k^T * alpha + mask) v for operands [..., l, e] of any floating type and strides; batch dimensions
/// broadcast. A query that sees no key at all (bool mask, causal) gives zeros, as PyTorch's operator does. `causal`:
/// query i sees keys 0 to i.
void build_attention(const ConcreteCall& call, Instance& instance);

}  // namespace strata::library
