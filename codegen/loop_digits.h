// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/ir/loop.h"

namespace strata::codegen {

/// The kernel with its innermost outer axis cut in two, where its index is taken apart by a number (`i // 64`, `i %
/// 64`: merged heads, flattened images), so that neighbours in memory are neighbours along the new innermost axis.
/// Nothing where that does not help: rows far shorter than `lanes` vector lanes, quotients that stay.
std::optional<loop::Kernel> with_digits_apart(const loop::Kernel& kernel, int lanes);

}  // namespace strata::codegen
