// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether two loop kernels that read the same value, and nothing of each other, should be one. Both questions give a
/// reason against it, for people, or nothing.

#include <optional>
#include <string>
#include <vector>

#include "passes/lower_to_loops.h"

namespace strata {

/// Before a trial lowering: different sizes, or too little in common.
std::optional<std::string> siblings_differ(const Node& value, const std::vector<const Node*>& a,
                                           const std::vector<const Node*>& b);

/// After it: `lowered` would read the value in several orders, write in short pieces, or keep cores idle.
std::optional<std::string> siblings_lose(const Node& value, const LoopGroup& group, const LoweredLoops& lowered,
                                         const Layouts& layouts);

}  // namespace strata
