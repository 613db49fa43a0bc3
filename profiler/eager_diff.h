// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An imported profile of a program as it is, and one of it compiled: which operators and kernels of the first each
/// line, module or kernel of the second replaced.
///
/// What is compared is device time where there are devices, else the operators' own time on the host. Every part of
/// either profile is in exactly one row (a compiled kernel of several lines is divided among them in whole
/// nanoseconds), so rows add up to the totals, and totals are the time of all kernels, copies and fills in the trace.
///
/// Operators are put beside the captured graph in order, by name and shape of inputs; backward kernels follow the
/// forward operator with the same sequence number. All of that is inferred, and rows say so. Where the first profile
/// has Python stacks, lines and modules come from these, and are exact.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/reader.h"

namespace strata::profiler {

enum class EagerBy : int { Kernel = 0, Line, Module };
/// `kernel`, `line`, `module`; anything else is a User error that names the nearest.
EagerBy parse_eager_by(std::string_view word);

/// A part of a profile, over all its iterations.
struct EagerSide {
  std::int64_t time = 0;      ///< nanoseconds
  std::int64_t launches = 0;  ///< kernels, copies and fills; on the host operators that call no other
  std::int64_t bytes = 0;     ///< read and written, estimated from shapes
  EagerSide& operator+=(const EagerSide& other);
  bool operator==(const EagerSide&) const = default;
};

/// How often something ran in all iterations, and how long.
struct EagerPart {
  std::string name;
  std::int64_t count = 0;
  std::int64_t time = 0;
};

struct EagerRow {
  std::string key;                   ///< kernel, line or module; for other kinds an operator or words
  std::string kind;                  ///< `kernel`, `library`, `line`, `module`; `not compiled`, `removed`, `optimizer`,
                                     ///< `data movement`, `overhead`, `not attributed`
  std::string address, role;         ///< of kernels: `0/0`, `forward`
  trace::Id kernel = trace::kNone;   ///< of kernels: its record in the second trace
  std::vector<std::string> nodes;    ///< of kernels: the nodes of the program's graph that they compute
  std::vector<std::string> part_of;  ///< of kernels: captured calls behind them (`relu`)
  std::vector<EagerPart> operators;  ///< of the first profile, as the program called them; longest first
  std::vector<EagerPart> before;     ///< its kernels
  std::vector<EagerPart> after;      ///< kernels of the second
  EagerSide first, second;
  bool inferred = false;      ///< that (some of) these operators belong here was concluded from order, names and shapes
  bool divided = false;       ///< by line and module: time of kernels that are not for certain of this row alone
  std::int64_t known = 0;     ///< nanoseconds of the first profile that its Python stacks put here
  bool not_measured = false;  ///< the second side has a kernel that its profile does not show
};

/// One profile as a whole.
struct EagerTotals {
  EagerSide all;
  std::int64_t iterations = 0;   ///< 0: could not be told apart
  std::string iteration_source;  ///< what they were told apart by
  std::int64_t step = -1;        ///< nanoseconds of the middle iteration (the lower of two), host and device
  bool bytes_known = false;      ///< shapes were recorded
  std::int64_t launch_calls = 0, launch_time = 0;  ///< host calls that launch, and time inside them
  std::int64_t device_span = 0, device_busy = 0, device_idle = 0, gaps = 0, longest_gap = 0;
  std::int64_t tensor_core = 0, no_tensor_core = 0, tensor_core_unknown = 0;  ///< nanoseconds of kernels
};

struct EagerDiff {
  EagerBy by = EagerBy::Kernel;
  bool on_device = false;      ///< what `time` is: of devices, or of operators on the host
  bool per_iteration = false;  ///< both have iterations: compare `per` values, not totals
  std::vector<EagerRow> rows;  ///< longest first (the longer side per iteration)
  EagerTotals first, second;
  std::vector<std::string> notes;  ///< what a reader has to know: assumed, missing, not measured

  /// A total of one side per iteration, or as it is where iterations could not be told apart.
  double per(const EagerTotals& side, std::int64_t total) const;
  /// How much longer the second takes, in percent (negative: it is faster): of the middle iteration, or of the total
  /// time where iterations are unknown.
  double slower_percent() const;
};

/// Both may be one trace with both profiles in it (`choose_runs` in timeline.h). Throws a User error when one has no
/// profile or nothing in it that has a time.
EagerDiff diff_eager(trace::Reader& eager, trace::Reader& compiled, EagerBy by);
/// The same of these profiles of each trace.
EagerDiff diff_eager(trace::Reader& eager, const std::vector<trace::RunRecord>& eager_runs, trace::Reader& compiled,
                     const std::vector<trace::RunRecord>& compiled_runs, EagerBy by);

}  // namespace strata::profiler
