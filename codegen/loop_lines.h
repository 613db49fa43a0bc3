// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/loop.h"

namespace strata::codegen {

/// The graph nodes that debug lines stand for, ascending: entry i is line i + 1.
std::vector<uint64_t> kernel_lines(const loop::Kernel& kernel);

}  // namespace strata::codegen
