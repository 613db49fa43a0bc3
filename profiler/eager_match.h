// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which captured call each operator of an eager profile is.

#include <map>

#include "profiler/compiled_graphs.h"
#include "profiler/eager_costs.h"

namespace strata::profiler {

/// One step of what a compiled program runs in order: a call of a graph that was compiled, or an operator that was not.
struct ReferenceItem {
  const CapturedCall* call = nullptr;  ///< null: not compiled
  int host = -1;                       ///< in the compiled timeline, where not compiled
  AlignItem item;
};

/// What one iteration of the compiled profile ran, graphs spelled out. With iterations: one list per iteration; else
/// one list. `assumed` is set when the profile does not say which graphs ran: then it is all of them, as compiled.
struct Reference {
  std::vector<std::vector<ReferenceItem>> iterations;
  bool assumed = false;
};
Reference make_reference(const Timeline& compiled, CompiledGraphs& graphs);

/// Result of the alignment: by outermost operator of the eager timeline.
struct EagerMatch {
  std::map<int, ReferenceItem> of;
  std::size_t matched = 0, unmatched = 0;  ///< operators
};
EagerMatch match_operators(const Timeline& eager, const Reference& reference);

/// The kernel among those of a graph that took over an item of the eager profile, given the captured call behind it;
/// -1 none: nothing is left of the call in that direction.
int replaced_by(const CompiledGraph& graph, trace::NodeId node, const Timeline& eager, const ProfileCosts& costs,
                const CostItem& item);

}  // namespace strata::profiler
