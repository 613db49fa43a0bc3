// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products of our own where a library's preparations cost more than the product: few rows on a weight that may
/// change between calls (the library would pack it each time), and products of a few microseconds or less.

#include "codegen/library_view.h"
#include "codegen/onednn.h"

namespace strata::library {

/// False when the library does this one better or the types are not float32 or bfloat16; then `instance` is untouched.
bool build_small_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

}  // namespace strata::library
