// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which importer reads which kind of input, and what is done once all are read.

#include <span>

#include "app/driver/import_scan.h"
#include "capture/import/context.h"

namespace strata {

/// Reads one kind of inputs, all of it together (ranks have to know of each other). Errors of single files become
/// problems of their inputs.
void read_inputs(capture::ImportContext& context, InputKind kind, std::span<const FoundInput> inputs);

struct MatchSummary {
  /// Kernel time under compiled regions, and the part of it that graph nodes explain; -1: nothing was measured.
  double kernel_ns = -1, matched_ns = -1;
};

/// Matches what was measured with what was compiled, and compares ranks. After all inputs, before the writer is closed.
MatchSummary match_inputs(capture::ImportContext& context);

}  // namespace strata
