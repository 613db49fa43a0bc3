// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which kernels of a CUDA graph belong to which library call, when nothing but their names and their order says so.

#include <string_view>
#include <vector>

namespace strata::profiler {

/// `kernels` ran in this order for `calls` (callees, in this order). Kernels that only prepare or finish (fills, layout
/// changes, reductions of a split product) go with their main kernel; a product has one main kernel, a convolution one,
/// its backward one or two, attention and others one or more of their own sort. Returns the index of the call for each
/// kernel if exactly one division fits, else nothing.
std::vector<int> divide_among_calls(const std::vector<std::string_view>& kernels,
                                    const std::vector<std::string_view>& calls);

}  // namespace strata::profiler
