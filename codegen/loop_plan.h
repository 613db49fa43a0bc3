// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a loop kernel is run, decided before any text or machine code is emitted: which axes are merged, along which
/// axis the vector lanes lie, how wide they are, and what a point costs. Independent of LLVM.

#include <optional>
#include <string>
#include <vector>

#include "core/ir/loop.h"
#include "core/runtime/plan.h"

namespace strata::codegen {

/// Depth of the loop that an instruction belongs to: it is computed once per iteration of that loop.
enum Level : int {
  kFunctionLevel = 0,  ///< constant for the whole call
  kRowLevel = 1,       ///< changes with the outer axes but the innermost one
  kPointLevel = 2,     ///< once per outer point
  kInnerLevel = 3      ///< plus the position of the inner axis in its nest
};

struct NestPlan {
  int lanes = 1;        ///< vector lanes along the last inner axis (1 where lanes are outer points)
  int unroll = 1;       ///< vectors, and accumulators, per iteration
  bool masked = false;  ///< one loop whose last iteration is masked, instead of a plain loop and a masked rest
  std::vector<loop::ScalarId> turned;  ///< loads read in tiles and transposed (loop_tile.h); none: no tiles
  int squares = 1;                     ///< of a tile, side by side
  double cost = 1;  ///< estimated nanoseconds of one iteration of the innermost loop, all lanes of it shared out
};

/// Every field is part of `code_key` (kernel_key.h).
struct KernelPlan {
  loop::Kernel kernel;           ///< with merged and reordered axes
  bool lanes_are_points = true;  ///< each lane is one outer point of the innermost outer axis
  int lanes = 1;                 ///< lanes if they are points
  int unroll = 1;
  bool masked = false;
  bool serial = false;         ///< outer points may write the same place: no two threads
  std::vector<char> streamed;  ///< per buffer: results that no cache holds go to memory past the caches
  /// Loads of long lines that several nests go through: while one point is at work, the next one's line is fetched.
  /// Loads in tiles: those of the squares, or of the tile, after the one at work. Loads of long pointwise bodies: those
  /// of a page later.
  std::vector<loop::ScalarId> ahead;
  bool ahead_near = true;  ///< lines of the next point come into the first cache, else into the second
  std::vector<NestPlan> nests;
};

/// Picks axes, lanes and unrolling for a machine; honours `Kernel::schedule`.
KernelPlan plan_kernel(const loop::Kernel& kernel, const Target& target);

/// Neighbouring axes whose every use is `a * extent(b) + b` become one axis.
loop::Kernel merge_axes(const loop::Kernel& kernel);

/// Whether two outer points may add to the same place.
bool points_may_collide(const loop::Kernel& kernel);

/// Where each instruction belongs, and whether it differs between lanes.
class Dependence {
 public:
  Dependence(const loop::Kernel& kernel, bool lanes_are_points);

  int level(loop::ScalarId id) const { return level_[id]; }
  bool varies(loop::ScalarId id) const { return varies_[id] != 0; }
  int level(const SymInt& e, size_t nest) const;
  bool varies(const SymInt& e, size_t nest) const;
  /// The axis along which the lanes of a nest lie; nothing if its instructions are scalar.
  std::optional<loop::AxisId> lane_axis(size_t nest) const;
  /// Depth of the innermost loop of a nest.
  int depth(size_t nest) const;
  int symbol_level(size_t symbol, size_t nest) const;
  bool symbol_varies(size_t symbol, size_t nest) const;

 private:
  void analyse(loop::ScalarId id, size_t nest);

  const loop::Kernel& k_;
  bool lanes_are_points_;
  std::vector<int> level_;
  std::vector<char> varies_;
  std::vector<char> stored_;  // buffer is written by this kernel
};

/// Structure of a kernel without its names and nodes: kernels with equal fingerprints compute the same from the same
/// arguments.
std::string fingerprint(const loop::Kernel& kernel);

}  // namespace strata::codegen
