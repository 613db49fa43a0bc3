// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Chooses layouts for what only library calls see.

#include <vector>

#include "core/runtime/plan.h"

namespace strata::library {

/// The plan's library calls, by launch (others: null kind), with every temporary that is made by a convolution and read
/// by convolutions alone laid out channels-last: so that a chain of convolutions needs no reorder between its links.
/// Same size, same numbers, other strides.
std::vector<LibraryCall> lay_out_channels_last(const Plan& plan);

}  // namespace strata::library
