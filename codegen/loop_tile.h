// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/ir/loop.h"
#include "core/runtime/plan.h"

namespace strata::codegen {

/// A kernel whose only nest runs over tiles: of its two inner axes, both former outer ones, the last one holds the
/// lanes.
struct Tiles {
  loop::Kernel kernel;
  std::vector<loop::ScalarId> turned;  ///< loads that lie along the first of the two: read row by row and transposed
  int squares = 1;                     ///< of `lanes` elements each, side by side along the axis of the lanes
  int64_t run = 0;                     ///< results that are put together before they are stored; 0: stored as they come
  loop::AxisId run_axis = 0;           ///< the outer axis that counts runs
  int64_t strip = 0;                   ///< of these, lines of which the ones before are stored meanwhile; 0: none are
  int64_t page = 0;                    ///< elements of a row that a tile of strips reads; 0: some strips of more rows
  bool past_caches = false;            ///< results go to memory, also those that the last cache would hold
};

inline constexpr int64_t kCacheLine = 64;  ///< bytes

/// Bytes of a row of a tile that has several squares.
inline constexpr int64_t kTileRowBytes = 1024;

/// Of tiles whose results are put together in scratch before they are stored: bytes of a line that go to memory at
/// once, and how many lines there are (of elements of 8 bytes half as many).
inline constexpr int64_t kRunBytes = 512, kRunLines = 128;

/// Of tiles whose lines are stored strip by strip: bytes of a line that go to memory at once, the same of a row that is
/// read, and how many strips there are at most.
inline constexpr int64_t kStripBytes = 256, kStrips = 128;

/// Of such tiles that read a page of each of few rows: bytes of a line that go to memory at once, and of that page.
inline constexpr int64_t kPagedBytes = 128, kStripPage = 4096;

/// The largest results that are put together at a time.
inline constexpr size_t kMostRuns = 2;

/// Elements after a run that its lines need to end with a whole cache line.
int64_t past_run(const loop::Kernel& kernel);

/// Elements from a line to the next in scratch: room for what comes after a run, and for a vector that ends there.
int64_t run_pitch(const loop::Kernel& kernel, int64_t run);

/// Cuts a pointwise kernel that reads along one axis and writes along another into tiles of `lanes` elements of the
/// written axis and a page of the read one, so that both sides of a transpose go through memory line by line. Where
/// operands and results are larger than the second cache, results are put together (`run`), with AVX-512 in strips.
/// Where operands are larger than the last one, or the machine foresees the rows of a tile (those with matrix tiles do)
/// and lines of the results begin with cache lines, tiles are twice as wide and `kTileRowBytes` long. Nothing if the
/// kernel is none of these, or too small to gain by it. `lanes` is a power of two.
std::optional<Tiles> tile_transposes(const loop::Kernel& kernel, int lanes, const Target& target);

}  // namespace strata::codegen
