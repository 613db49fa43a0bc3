// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "app/explain/explain.h"

namespace strata {

/// Fills in the phases of an explanation: from the compile-time timeline of an imported log, else from our passes.
/// `only`: the compiles to look at; null: all.
void explain_time(trace::Reader& reader, const std::set<trace::Id>* only, Explanation& out);

}  // namespace strata
