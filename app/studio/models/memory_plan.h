// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory over time: the buffers of a compile over its launches, and what a profile saw allocated.

#include <QStringList>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/studio/models/step.h"
#include "app/studio/models/table_model.h"

namespace strata::studio {

/// A buffer as a box: launches across, bytes up.
struct MemoryBlock {
  trace::Id buffer = trace::kNone, reuse_of = trace::kNone;
  trace::NodeId node = 0;
  std::string name, kind;
  std::int64_t first = 0, last = 0;  ///< launches, inclusive
  double bytes = 0, offset = 0;
  bool arena = false;     ///< `offset` is where it really is
  std::size_t chain = 0;  ///< blocks with the same number share memory
};

struct MemoryPlan {
  std::vector<MemoryBlock> blocks;    ///< by first launch
  std::vector<std::string> launches;  ///< names
  std::vector<double> live;           ///< bytes in use during each launch; shared memory once
  double peak = 0;
  std::int64_t peak_launch = -1;
  double height = 0;         ///< the highest end of a block
  std::size_t unplaced = 0;  ///< buffers without a known size or lifetime
  std::size_t chains = 0;    ///< of more than one block

  const MemoryBlock* find(trace::Id buffer) const;
  /// The block under this launch and byte; -1 none.
  int at(double launch, double byte) const;
};

/// Programs of a compile that have launches, with their names (`forward`); one without a name if it has only one.
std::vector<std::pair<trace::Id, std::string>> memory_programs(const CompileData& compile);

/// Blocks in the arena stand where they are; others above it, each as low as it fits, in the order they come; what
/// takes over memory stands where the memory is. Outputs live to the end. `outside`: also inputs, weights and
/// constants, which are not made here.
MemoryPlan make_memory_plan(const CompileData& compile, trace::Id program, bool outside);

/// Buffer, kind, bytes, from, to, offset, memory of, node. A row for each block; `name` gives the names of nodes.
QStringList memory_headers();
std::vector<TableRow> memory_rows(const MemoryPlan& plan, const std::function<std::string(trace::NodeId)>& name = {});

/// What a profile saw of one device.
struct MemoryCurve {
  struct Point {
    std::int64_t time = 0;  ///< nanoseconds from the first
    double allocated = 0, reserved = 0;
    double change = 0;  ///< bytes: allocated (positive) or released
    trace::Id event = trace::kNone;
  };
  std::string device;  ///< `cuda:0`, `cpu`
  std::vector<Point> points;
  double peak = 0;
  std::int64_t peak_time = 0;
};
using MemoryCurves = std::vector<MemoryCurve>;
/// Of all profiles, one curve per profile and device. Reads every event where there may be some.
MemoryCurves load_memory_curves(trace::Reader& reader, const std::function<bool()>& cancelled = {});

}  // namespace strata::studio
