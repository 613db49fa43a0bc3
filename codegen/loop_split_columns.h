// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/loop_split.h"

namespace strata::codegen {

/// Two kernels for a long reduction of columns, or nothing. The first goes through chunks of rows in the order in which
/// they lie, adding each to a line of partial results that stays in the nearest cache.
std::optional<SplitReduction> split_columns(const loop::Kernel& kernel, const Target& target);

}  // namespace strata::codegen
