// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the time of a compiled program goes, from the launches that a trace recorded.
///
/// A kernel that computes several operators has one time. By operator, module or line, it is divided among the captured
/// nodes that the kernel came from, by how many of the kernel's nodes each became, so that every table adds up to the
/// same total; rows that got such shares are marked `shared`.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/reader.h"

namespace strata::profiler {

/// Middle, least, greatest and mean of some durations in nanoseconds; -1 when there are none. The middle of an even
/// number is the mean of two.
struct Statistics {
  size_t count = 0;
  double median = -1, min = -1, max = -1, mean = -1, total = 0;
};
Statistics statistics(std::vector<double> values);

/// Work per time. 0 bytes or flops, or no time, give 0.
struct Rates {
  double gigabytes_per_second = 0, gigaflops_per_second = 0, flops_per_byte = 0;
};
Rates rates(double bytes, double flops, double nanoseconds);

enum class By : int { Kernel = 0, Op, Module, Line };
/// `kernel`, `op`, `module`, `line`; anything else is a User error that names the nearest.
By parse_by(std::string_view word);

/// One kernel of a compile and everything measured of it.
struct KernelCost {
  trace::KernelRecord record;
  Statistics time;       ///< of one launch
  double per_run = 0;    ///< nanoseconds of one run of the program: the median of one launch times launches per run
  int64_t launches = 0;  ///< in the plan
  double bytes = 0,
         flops = 0;  ///< of one launch, at the sizes of the runs where the trace has them, else at the hints; 0 unknown
  std::map<trace::NodeId, int> captured;  ///< captured calls that it came from, with how many of its nodes did
};

/// What was measured of a compile. Kernels in the order of their first launch; those that are never launched come last.
struct Costs {
  std::string label;            ///< of its runs: the backend
  Statistics run;               ///< whole runs
  double launched = 0;          ///< sum of `per_run` over the kernels
  int64_t launches = 0;         ///< in the plan
  double bytes = 0, flops = 0;  ///< of one run
  std::vector<KernelCost> kernels;
};
/// A compile without runs has all times -1 or 0.
Costs measure(trace::Reader& reader, trace::Id compile);

struct Row {
  std::string key;              ///< kernel name, operator, module path, or `file:line: code`
  std::string kind;             ///< for kernels: `loop`, `onednn matmul`, `opaque`
  int64_t calls = 0;            ///< launches in all runs that took part
  double total = 0;             ///< nanoseconds in all runs
  double mean = 0;              ///< total / calls
  double share = 0;             ///< of the total of all rows
  double bytes = 0, flops = 0;  ///< in all runs
  Rates rates;
  bool shared = false;  ///< some of it is a share of a kernel's time
};

struct Profile {
  By by = By::Kernel;
  Costs costs;
  double total = 0;       ///< sum of the rows, nanoseconds
  std::vector<Row> rows;  ///< greatest total first
};
/// Throws a User error when the compile has no timed launches.
Profile make_profile(trace::Reader& reader, trace::Id compile, By by);

}  // namespace strata::profiler
