// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Float32 convolutions with kernels of 3 by 3 and steps of one after Winograd (winograd.h). What does not lie with its
/// channels next to each other is moved before, or after.

#include "codegen/library_view.h"
#include "codegen/onednn.h"

namespace strata::library {

/// False on processors without AVX2 and for other convolutions, or such as gain nothing; then `instance` is untouched.
/// Throws NotPacked where a constant weight that has given its memory back is needed.
bool build_winograd_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

}  // namespace strata::library
