// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two compiles of one program, compared: which operators became which kernel, and what that saved.

#include <string>
#include <vector>

#include "profiler/profile.h"

namespace strata::profiler {

/// Cost of one run: a part of it, or all. Time is the sum over launches, so that parts add up.
struct Cost {
  double time = 0;  ///< nanoseconds
  double bytes = 0, flops = 0;
  int64_t launches = 0;
  Cost& operator+=(const Cost& other);
};

/// One kernel of the second compile and the kernels of the first that it stands for.
struct KernelChange {
  std::string kernel;  ///< of the second; empty: nothing is left of what the first launched
  std::string kind;
  std::vector<std::string> operators;  ///< captured nodes behind it: `conv2d`, `relu`
  std::vector<std::string> targets;    ///< parallel: `aten.conv2d.default`
  std::vector<std::string> before;     ///< kernels of the first, in launch order
  Cost first, second;
};

struct ProfileDiff {
  std::vector<KernelChange> changes;  ///< in launch order of the second; last the one without a kernel, if there is any
  Cost first, second;                 ///< totals: the sums of the changes
  Statistics first_run, second_run;   ///< whole runs, launches and all between them
  std::string first_label, second_label;

  /// How much longer a run of the second takes, in percent (negative: it is faster); 0 when one has no runs.
  double slower_percent() const;
};

/// Every kernel of the first goes to the one kernel of the second that shares most captured nodes with it (counting how
/// much of each kernel they became; the first launched if equal), and all kernels of the second appear once; so parts
/// add up to totals. Captured nodes are matched by name and target. Throws a User error if the two share none: then
/// they are no compiles of one program.
ProfileDiff diff_profiles(trace::Reader& first, trace::Id first_compile, trace::Reader& second,
                          trace::Id second_compile);

/// Two graphs, compared node by node.
struct GraphDiff {
  struct Change {
    trace::NodeRecord before, after;
  };
  std::vector<trace::NodeRecord> added, removed;
  std::vector<Change> changed;  ///< same node, other target, arguments or type
  size_t same = 0;
};
/// Nodes of one compile are matched by id, others by name. Names are not compared where ids are.
GraphDiff diff_graphs(const std::vector<trace::NodeRecord>& first, const std::vector<trace::NodeRecord>& second,
                      bool by_id);

}  // namespace strata::profiler
