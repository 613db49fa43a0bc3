// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/plan.h"

namespace strata {

/// Fills lifetimes (first and last launch) of every buffer, and `reuse_of` where a loop kernel may write its result
/// over an operand that dies there: equal size, every load of the operand at the very index that is stored, the store
/// last.
void plan_memory(Plan& plan);

}  // namespace strata
