// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An eager profile against a compiled one, as people and scripts read it.

#include <string>

#include "app/cli/json_text.h"
#include "profiler/eager_diff.h"

namespace strata::cli {

/// Headline, table (at most `most_rows` rows, the rest as one), what got slower, launch overhead and idle time, Tensor
/// Cores, notes.
std::string eager_diff_text(const profiler::EagerDiff& diff, std::size_t most_rows = 40);
/// Everything: whole numbers of nanoseconds over all iterations, as profiler/eager_diff.h has them.
Json eager_diff_json(const profiler::EagerDiff& diff);

}  // namespace strata::cli
