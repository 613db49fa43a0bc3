// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Transposed convolution as a matrix product and a sum of its shifted results: what every input position sends to
/// every tap of the kernel, then each output position's share of it; or, where taps do not meet, a product for each
/// line of the result. The library's own kernels take hundreds of microseconds for small ones.

#include "codegen/library_view.h"
#include "codegen/onednn.h"

namespace strata::library {

/// False for other calls and for what is left to the library: operands other than float32 or bfloat16, groups, sizes
/// whose products do not stay in the caches unless taps are apart; then `instance` is untouched.
bool build_transposed_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

}  // namespace strata::library
