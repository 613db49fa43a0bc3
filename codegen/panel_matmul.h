// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Float32 matrix products of our own on processors with AVX2 and no AVX-512, for which the library only has a general
/// product: it packs both operands in each call and reaches less of what the processor can do.

#include "codegen/library_view.h"
#include "codegen/onednn.h"

namespace strata::library {

/// False on other processors and for results that are not computed in float32; then `instance` is untouched.
bool build_panel_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

/// What small_matmul.h leaves: in panels, else by oneDNN. False where neither has a fast kernel.
bool build_large_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

}  // namespace strata::library
