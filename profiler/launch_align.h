// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which call of a program each event of one of its executions is: names against names, in order.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/records.h"

namespace strata::profiler {

/// A launch of a program as a profile may show it.
struct ExpectedLaunch {
  trace::Id launch = trace::kNone, kernel = trace::kNone;
  std::string name;  ///< of the kernel (`triton_poi_fused_add_0`), or the callee of a library call
  bool library = false;
  bool nodes = true;  ///< the graph nodes that it computes are known
};

/// Names of the operators that a library call may show up as. `aten.X` and `torch.ops.NS.X.overload` give `NS::X`;
/// `extern_kernels.X` gives `*::X` (any namespace).
std::vector<std::string> operator_names(std::string_view callee);

/// Whether an event of this name can be that launch.
bool fits(std::string_view event, const ExpectedLaunch& launch);

/// Something that happened in an execution and may be a launch.
struct Observed {
  std::string_view name;
  /// A kernel of a CUDA graph: a library call shows only as its kernels, whatever they are called.
  bool replayed = false;
  bool device_work = true;  ///< something ran on a device
  bool bare = false;        ///< a call into the driver without an operator around it
};

struct Aligned {
  int launch = -1;  ///< index into the launches; -1: none
  bool exact = false;
};

/// One result per observed event. `exact`: every launch of that name was seen, in order, and nothing else of that name.
/// A kernel that the program launches at one place and that is seen more often is taken to be that launch each time (a
/// loop), not exact.
std::vector<Aligned> align(const std::vector<Observed>& observed, const std::vector<ExpectedLaunch>& launches);

}  // namespace strata::profiler
