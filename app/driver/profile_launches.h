// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/trace/reader.h"
#include "core/trace/writer.h"

namespace strata {

/// Puts the launches of our own timed runs into the profiles that PyTorch's profiler made meanwhile, each inside the
/// annotation of its call (`Strata: NAME`): the two compile to the same process, so a run goes to the call that began
/// last before it. `reader` reads what `writer` has committed.
void add_launches_to_profiles(trace::Reader& reader, trace::Writer& writer);

}  // namespace strata
