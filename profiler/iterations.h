// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where one iteration of a profiled program ends and the next begins.

#include "profiler/timeline.h"

namespace strata::profiler {

/// Whether an event is an engine call that runs a backward node.
bool is_backward_call(const HostEvent& event);
/// Whether an operator is one that a program calls (`aten::conv2d`, `mylib::f`), not a frame around such.
bool is_real_operator(const HostEvent& event);

/// Operators that no other operator calls, backward nodes included, of one track, by start.
std::vector<int> top_operators(const Timeline& timeline, trace::Id track);

/// Fills in `main_track`, `iterations` and `iteration_source`: by `ProfilerStep#N`, else an outermost annotation that
/// repeats (or one that holds most of the operators), else steps of an optimizer, else operators that repeat in a
/// fixed order.
void find_iterations(Timeline& timeline);

}  // namespace strata::profiler
