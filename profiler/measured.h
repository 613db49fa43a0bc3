// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the time of imported profiles went, after `correlate`: sums per program, kernel, node, captured node, line and
/// module, and tables of them.
///
/// A kernel's time is divided evenly among the nodes that it computes (views only where it computes nothing else), and
/// a node's share among the captured nodes that it came from: for a node of a backward graph the forward operators
/// that it is the gradient of. So every table adds up to the same total.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/reader.h"
#include "profiler/correlate.h"
#include "profiler/tensor_core.h"

namespace strata::profiler {

/// Runs that are imported profiles, in order.
std::vector<trace::RunRecord> profile_runs(trace::Reader& reader);

/// Everything measured of one kernel.
struct KernelMeasured {
  trace::KernelRecord record;
  std::string graph;        ///< `0/0 forward`
  std::int64_t calls = 0;   ///< launches that ran, by the operators on the host
  std::int64_t events = 0;  ///< the same by what ran on devices: CUDA graphs have no operators
  double ns = 0, exact_ns = 0;
  double tensor_ns = 0, unknown_ns = 0;  ///< in device kernels that use Tensor Cores, or that may
};

/// Part of a kernel's time. `exact_ns` of it is certain all the way: its events were matched exactly, the producer says
/// which nodes the kernel computes, and which captured nodes (or lines) those came from.
struct TimeShare {
  double ns = 0, exact_ns = 0;
};

using NodeKey = std::pair<trace::Id, trace::NodeId>;  ///< compile and node

/// Nanoseconds in all runs asked for. Device time, or host operator time of profiles without devices.
struct MeasuredTimes {
  double total = 0;  ///< matched or not
  bool device = false;
  std::map<trace::Id, KernelMeasured> kernels;
  std::map<trace::Id, double> programs;
  std::map<NodeKey, TimeShare> nodes;     ///< of the graphs that programs compute
  std::map<NodeKey, TimeShare> captured;  ///< calls of the captured graph; what has no way back to it is not here
  std::map<std::string, TimeShare> lines, modules, operators;
  double parts[kTimeParts] = {};  ///< `Matched` is what `kernels` hold, and launches without a kernel
  std::int64_t part_counts[kTimeParts] = {};
  std::vector<UnassignedEvents> unassigned;
  std::vector<ProgramMeasured> not_measured;
  std::int64_t runs = 0;
};
MeasuredTimes measured_times(trace::Reader& reader, const std::vector<trace::RunRecord>& runs);

/// Python lines behind a kernel (`file:line: code`) with their parts of its time, which add up to 1.
std::map<std::string, double> lines_of_kernel(trace::Reader& reader, const trace::KernelRecord& kernel);

enum class MeasuredBy : int { Kernel = 0, Op, Module, Line, Graph };

struct MeasuredRow {
  std::string key;    ///< kernel, operator, module path, `file:line: code`, graph; or what the part is called
  std::string kind;   ///< for kernels `triton`, `cpp`, `library`; for rows of no kernel the part
  std::string graph;  ///< for kernels
  std::int64_t calls = 0;
  double total = 0, mean = 0, share = 0;
  bool shared = false;                      ///< some of it is a share of a kernel's time
  trace::Match match = trace::Match::None;  ///< `Inferred` when some of it is
  double exact = 0;                         ///< the part of `total` that is not, 0 to 1
  TensorCoreUse tensor_core = TensorCoreUse::Unknown;
  TimePart part = TimePart::Matched;
  bool measured = true;  ///< false: a row that says why something has no time
};

struct MeasuredTable {
  MeasuredBy by = MeasuredBy::Kernel;
  bool device = false;
  std::vector<std::string> runs;  ///< which
  double total = 0;               ///< the sum of the rows
  double matched_percent = -1;
  double tensor_ns = 0;  ///< time in kernels that use Tensor Cores
  std::vector<MeasuredRow> rows;
};

struct MeasuredOptions {
  MeasuredBy by = MeasuredBy::Kernel;
  std::optional<trace::Id> compile;  ///< only what belongs to it
  std::int64_t run = 0;              ///< which profile, from 1; 0 all
};
/// Throws a User error when the trace has no such profile, or no time in it.
MeasuredTable make_measured_table(trace::Reader& reader, const MeasuredOptions& options);

}  // namespace strata::profiler
