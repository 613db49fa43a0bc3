// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ir/loop.h"

namespace strata::codegen {

/// The largest number of a line in one nest and the sum of e^(x - the largest) in the next become one reduction
/// (`Combine::SumExp`) that reads the line once: cross entropy and logsumexp of lines that no cache holds are as fast
/// as memory gives them. Softmax, which needs each exponential once more, keeps its passes: it takes none twice.
void sum_exponentials_as_they_come(loop::Kernel& kernel);

}  // namespace strata::codegen
