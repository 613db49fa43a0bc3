// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pointwise convolution (kernel of one element, stride 1) as the matrix product that it is where channels lie next to
/// each other: rows are places, columns channels.

#include "codegen/library_view.h"
#include "codegen/onednn.h"

namespace strata::library {

/// False for other convolutions, where the library's are faster, for channels that do not lie next to each other, for
/// work on the result whose operands do not lie by rows as well, and where neither our small products nor the library
/// take the product; then `instance` is untouched.
bool build_pointwise_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance);

}  // namespace strata::library
