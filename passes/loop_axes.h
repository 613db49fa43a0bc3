// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Loop IR clean-up after lowering, and facts read off a kernel.

#include "core/ir/loop.h"

namespace strata::loop {

/// Drops nests that neither reduce nor store and whose scalars nobody uses.
void drop_empty_nests(Kernel& kernel);

/// Adjacent axes whose indices always appear as `a * extent(b) + b` become one axis of extent(a) * extent(b): longer
/// vectors, fewer loops.
void merge_axes(Kernel& kernel, ShapeEnv& env);

/// Arithmetic instructions times the points they run at.
SymInt count_flops(const Kernel& kernel);

/// Ids of the size symbols used in extents, indices and buffer sizes; neither axes nor indirect symbols. Ascending.
std::vector<size_t> size_symbols(const Kernel& kernel);

}  // namespace strata::loop
