// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Time of what was not compiled, by the Python function or module that called it, for profiles with stacks.

#include <cstdint>
#include <map>
#include <string>

#include "core/trace/reader.h"

namespace strata::profiler {

struct StackTime {
  std::int64_t calls = 0;  ///< device events; on the host, operators that no other called
  std::int64_t ns = 0;
  bool known = false;  ///< the key is a line or module; else words: it is not known which
};

struct StackTimes {
  bool any = false;                        ///< the profile has stacks
  std::map<std::string, StackTime> lines;  ///< `model.py(12): forward`, or `model.py:15 in forward`
  std::map<std::string, StackTime> modules;
  std::int64_t total = 0;  ///< of either
};

/// Of one run that is an imported profile. What runs in an optimizer's step, copies and fills of devices and compiled
/// code are left out. Backward operators count for the forward operator with the same sequence number. `device`: device
/// time, else the time of the outermost operators on the host.
StackTimes stack_times(trace::Reader& reader, const trace::RunRecord& run, bool device);

}  // namespace strata::profiler
