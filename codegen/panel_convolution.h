// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Float32 convolutions of our own on processors with AVX2 and no AVX-512, for channels that lie next to each other.

#include "codegen/library_view.h"
#include "codegen/onednn.h"

namespace strata::library {

/// False on other processors and for convolutions that the library is no slower at, or whose weight is no constant;
/// then `instance` is untouched.
bool build_panel_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

}  // namespace strata::library
