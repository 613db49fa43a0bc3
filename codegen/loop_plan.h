// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a loop kernel is run, decided before any text or machine code is emitted: which axes are merged, along which
/// axis the vector lanes lie, how wide they are, and what a point costs. Independent of LLVM.

#include <vector>

#include "core/ir/loop.h"
#include "core/runtime/plan.h"

namespace strata::codegen {

struct NestPlan {
  int lanes = 1;        ///< vector lanes along the last inner axis (1 where lanes are outer points)
  int unroll = 1;       ///< vectors, and accumulators, per iteration
  bool woven = false;   ///< the copies of an iteration take their steps in turn (loop_weave.cpp)
  bool masked = false;  ///< one loop whose last iteration is masked, instead of a plain loop and a masked rest
  std::vector<loop::ScalarId> turned;  ///< loads read in tiles and transposed (loop_tile.h); none: no tiles
  int squares = 1;                     ///< of a tile, side by side
  /// Elements of a line that a tile's results are put together to before they are stored, or 0: they are stored as they
  /// come. An outer axis counts the tiles along the lines (loop_run.cpp).
  int64_t run = 0;
  loop::AxisId run_axis = 0;
  /// Of such tiles: lines that are put together while those before them are stored (loop_strip.cpp), or 0: all of them.
  int64_t strip = 0;
  int64_t page = 0;          ///< of tiles of strips: elements of a row that they read, or 0: some strips of more rows
  bool past_caches = false;  ///< of tiles: results go to memory, also those that the last cache would hold
  /// Long sums of floating numbers: after so many iterations of the loop over axis `block_axis` (an index into the
  /// nest's; of the last one, vectors of all copies) what has come together moves into a sum in float64. 0: never.
  int64_t block = 0;
  size_t block_axis = 0;
  double cost = 1;  ///< estimated nanoseconds of one iteration of the innermost loop, all lanes of it shared out
};

/// A line's exponentials of x - the largest x, which nothing takes but divided by the sum of all.
struct Shares {
  size_t largest = 0;    ///< the nest that finds the largest x, which nothing else asks for
  size_t sum = 0;        ///< the one that adds up the exponentials
  bool guessed = false;  ///< instead of the largest x, some large one of the line is subtracted
};

/// Every field is part of `code_key` (kernel_key.h).
struct KernelPlan {
  loop::Kernel kernel;           ///< with merged and reordered axes
  bool lanes_are_points = true;  ///< each lane is one outer point of the innermost outer axis
  int lanes = 1;                 ///< lanes if they are points
  int unroll = 1;
  bool woven = false;  ///< the points of an iteration take their steps in turn (loop_weave.cpp)
  bool masked = false;
  bool masks = false;          ///< loads and stores of some lanes are an instruction: the rest of a loop is one vector
  bool serial = false;         ///< outer points may write the same place: no two threads
  std::vector<char> streamed;  ///< per buffer: results that no cache holds go to memory past the caches
  /// Loads of long lines that several nests go through: while one point is at work, the next one's line is fetched.
  /// Loads in tiles: those of the squares, or of the tile, after the one at work. Loads of long pointwise bodies: those
  /// of a page later, as of sums of columns.
  std::vector<loop::ScalarId> ahead;
  std::vector<Shares> shares;
  bool late = false;         ///< the last nest of a point goes along with the one before it of the next point
  bool ahead_near = true;    ///< lines of the next point come into the first cache, else into the second
  int64_t ahead_points = 1;  ///< it is not the next point's lines that are fetched, but those of so many points later
  /// If not 0, and lines follow one another in memory: what comes so many bytes after the vector at work comes into the
  /// first cache, and what comes as many bytes later into the second.
  int64_t ahead_bytes = 0;
  std::vector<NestPlan> nests;
};

/// Picks axes, lanes and unrolling for a machine; honours `Kernel::schedule`.
KernelPlan plan_kernel(const loop::Kernel& kernel, const Target& target);

/// Neighbouring axes whose every use is `a * extent(b) + b` become one axis.
loop::Kernel merge_axes(const loop::Kernel& kernel);

/// Whether a nest goes through its line from the beginning to the end.
bool goes_through_line(const KernelPlan& plan, size_t nest);

/// Whether two outer points may add to the same place.
bool points_may_collide(const loop::Kernel& kernel);

}  // namespace strata::codegen
