// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A tile is as many rows as a vector has lanes: more rows at a power of two from each other would drive each other out
// of the caches before their lines are used up. It is a page long in the direction that is read, so that few pages of
// the result are open at a time.
//
// What comes from memory has other needs. Lines that are stored one by one, each to another page, take three times as
// long as two neighbours at a time; and lines that are read one by one from many pages come late. There results are put
// together in scratch and stored in runs (loop_run.cpp). Some processors (those with matrix tiles) foresee rows that go
// on; where lines of the results begin with cache lines, their tiles are two squares wide, the next tile goes on in the
// same rows, and nothing is put together. So are tiles of lines too short for a run; where the next tile is not
// foreseen, its share of the rows is fetched into the second cache while one is at work, each from its beginning to its
// end. "From memory" begins where the second cache ends: the last one is far away, and shared.
//
// Within the caches, lines of a result that are a large power of two from each other all want the same few places:
// there squares follow one another along what is written, each line of which is filled before the next begins.

#include "codegen/loop_tile.h"

#include <algorithm>

#include "codegen/loop_cost.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr int64_t kPage = 4096;  // bytes
/// Bytes of an operand and a result from which on these are put together in runs: more than the second cache holds.
constexpr int64_t kLeastInRuns = 8 << 20;
/// Bytes between lines that are written of which no multiple may be: measured, on processors whose first cache holds 64
/// times so many ways of lines, at twice to five times the time.
constexpr int64_t kCrowded = 1024;

int64_t length(const Kernel& k, AxisId axis) { return hint(k.axes[axis].extent).value_or(64); }

SymInt coefficient(const SymInt& e, size_t symbol, bool& linear) {
  const auto parts = linear_in(e, symbol);
  linear = linear && parts.has_value();
  return parts ? parts->coefficient : SymInt(0);
}

bool is_pointwise(const Kernel& k) {
  const bool one_nest = k.nests.size() == 1 && k.nests[0].axes.empty() && k.nests[0].reductions.empty();
  if (!one_nest || k.outer.size() < 2 || k.nests[0].stores.empty() || !k.indirect.empty() || !k.checks.empty())
    return false;
  const bool scratch =
      std::any_of(k.buffers.begin(), k.buffers.end(), [](const Buffer& b) { return b.role == BufferRole::Local; });
  return !scratch && k.schedule.vector_axis < 0 && k.schedule.vector_width == 0;
}

/// The axis along which every store goes to neighbours.
std::optional<AxisId> written_axis(const Kernel& k) {
  for (AxisId a : k.outer) {
    const bool along = std::all_of(k.nests[0].stores.begin(), k.nests[0].stores.end(), [&](const Store& s) {
      bool linear = true;
      return !s.accumulate && coefficient(s.index, k.axes[a].symbol, linear) == SymInt(1) && linear;
    });
    if (along) return a;
  }
  return std::nullopt;
}

/// Loads that go to neighbours along `axis`, and to far places along `lanes`.
std::vector<ScalarId> loads_along(const Kernel& k, AxisId axis, AxisId lanes) {
  std::vector<ScalarId> found;
  for (ScalarId id : k.nests[0].body) {
    const Scalar& s = k.scalars[id];
    if (s.op != ScalarOp::Load || s.a != kNone) continue;
    bool linear = true;
    const SymInt here = coefficient(s.index, k.axes[axis].symbol, linear);
    const SymInt there = coefficient(s.index, k.axes[lanes].symbol, linear);
    const bool near = there == SymInt(0) || there == SymInt(1);
    const bool written = std::any_of(k.nests[0].stores.begin(), k.nests[0].stores.end(),
                                     [&](const Store& store) { return store.buffer == s.buffer; });
    if (linear && here == SymInt(1) && !near && !written) found.push_back(id);
  }
  return found;
}

/// Bytes from a line to the next along `axis`, or nothing where that is not known.
std::optional<int64_t> pitch(const Kernel& k, const SymInt& index, BufferId buffer, AxisId axis) {
  bool linear = true;
  const auto elements = hint(coefficient(index, k.axes[axis].symbol, linear));
  if (!linear || !elements) return std::nullopt;
  return *elements * static_cast<int64_t>(dtype_size(k.buffers[buffer].dtype));
}

/// Whether squares follow one another along what is written: where its lines drive each other out of the caches, and
/// where they begin anywhere, so that a cache line has two vectors' parts, unless lines that are read would be driven
/// out before their rest is.
struct Order {
  bool along_written = false;
  bool crowded = false, across = false;  ///< lines of the results: in few places of the caches, beginning anywhere
};

Order order_of_squares(const Kernel& k, const Tiles& tiles, AxisId read, AxisId written) {
  const auto crowds = [](std::optional<int64_t> bytes) { return bytes && *bytes % kCrowded == 0; };
  Order order;
  for (const Store& s : k.nests[0].stores) {
    const auto bytes = pitch(k, s.index, s.buffer, read);
    order.crowded = order.crowded || crowds(bytes);
    order.across = order.across || (bytes && *bytes % kCacheLine != 0);
  }
  const auto reads_crowded = [&](ScalarId id) {
    return crowds(pitch(k, k.scalars[id].index, k.scalars[id].buffer, written));
  };
  order.along_written = order.crowded || (order.across && std::ranges::none_of(tiles.turned, reads_crowded));
  return order;
}

/// Whether results along `axis` lie nearer to each other than along `other`.
bool lies_within(const Kernel& k, AxisId axis, AxisId other) {
  return std::ranges::all_of(k.nests[0].stores, [&](const Store& s) {
    return pitch(k, s.index, s.buffer, axis).value_or(INT64_MAX) < pitch(k, s.index, s.buffer, other).value_or(0);
  });
}

/// Whether all lines of the results do, if the first one does.
bool begin_with_cache_lines(const Kernel& k, AxisId read) {
  return std::ranges::all_of(k.nests[0].stores, [&](const Store& s) {
    return pitch(k, s.index, s.buffer, read).value_or(1) % kCacheLine == 0;
  });
}

/// Whether runs are stored strip by strip: measured with AVX-512 alone, and not where lines begin anywhere, for which a
/// run, half as long, computes twice as much again. Processors with matrix tiles foresee the rows of such lines.
bool in_strips(const Kernel& k, AxisId read, const Target& target) {
  return target.avx512 && target.vector_bits >= 512 && !target.amx && begin_with_cache_lines(k, read);
}

/// Elements of a row that tiles of strips read: some squares', near `kStripPage` bytes, so that rows end with a whole
/// page or nearly so.
int64_t page_of_strips(int64_t row, int64_t square, int64_t bytes) {
  const int64_t squares = (row + square - 1) / square, usual = std::max<int64_t>(kStripPage / bytes / square, 1);
  const auto beyond = [&](int64_t page) { return (squares + page - 1) / page * page - squares; };
  int64_t best = usual;
  for (int64_t page = (usual + 1) / 2; page <= 2 * usual; ++page)
    if (beyond(page) < beyond(best)) best = page;
  return best * square;
}

/// Whether such a tile is a page of each of few rows: of types of 16 bits and fewer, which have larger squares, tiles
/// of more rows take half the time where rows lie at a power of two from each other.
bool in_pages(const Buffer& source) { return dtype_size(source.dtype) >= 4; }

/// Elements of a line that are put together before they are stored, or 0.
int64_t run_of(const Kernel& k, AxisId read, AxisId written, const Buffer& source, const Target& target) {
  const Nest& nest = k.nests[0];
  const int64_t least = std::min(target.cache_bytes, kLeastInRuns);
  const auto is_large = [&](const Buffer& b) {
    return hint(b.numel).value_or(0) >= least / static_cast<int64_t>(dtype_size(b.dtype));
  };
  if (nest.stores.size() > kMostRuns || !is_large(source)) return 0;
  int64_t largest = 1;
  for (const Store& s : nest.stores) {
    const Buffer& b = k.buffers[s.buffer];
    const bool is_read = std::ranges::any_of(
        k.scalars, [&](const Scalar& load) { return load.op == ScalarOp::Load && load.buffer == s.buffer; });
    if (b.role != BufferRole::Output || !is_large(b) || is_read || s.mask != kNone || s.accumulate) return 0;
    largest = std::max(largest, static_cast<int64_t>(dtype_size(b.dtype)));
  }
  const bool strips = in_strips(k, read, target), pages = strips && in_pages(source);
  const int64_t bytes = pages ? kPagedBytes : strips ? kStripBytes : kRunBytes;
  const int64_t run = std::max(bytes / std::max<int64_t>(largest, pages ? 2 : 1), past_run(k));
  return length(k, written) > run + past_run(k) && length(k, read) >= kRunLines / 2 ? run : 0;
}

/// `axis` as `each * whole + part`: gives the new axes, `whole` or nothing where one part is all of it. A part goes on
/// for `more` elements of the next.
std::pair<std::optional<AxisId>, AxisId> cut(Kernel& k, ShapeEnv& env, AxisId axis, int64_t each, int64_t more = 0) {
  Body body(k, env);
  const SymInt extent = k.axes[axis].extent;
  const size_t symbol = k.axes[axis].symbol;
  std::optional<AxisId> whole;
  SymInt start = 0, left = extent;
  if (!extent.is_const() || extent.value() > each) {
    whole = body.axis("i", ceildiv(extent, each));
    start = body.axis_index(*whole) * each;
    left = more == 0 && mod(extent, each) == SymInt(0) ? SymInt(each) : min(each + more, extent - start);
  }
  const AxisId part = body.axis("t", left);
  const SymInt index = start + body.axis_index(part);
  each_index(k, [&](SymInt& e) {
    if (!e.is_const())
      e = substitute(e, [&](size_t id) { return id == symbol ? std::optional<SymInt>(index) : std::nullopt; });
  });
  return {whole, part};
}

}  // namespace

int64_t past_run(const Kernel& kernel) {
  int64_t elements = 1;
  for (const Store& s : kernel.nests[0].stores)
    elements = std::max(elements, kCacheLine / static_cast<int64_t>(dtype_size(kernel.buffers[s.buffer].dtype)));
  return elements;
}

int64_t run_pitch(const Kernel& kernel, int64_t run) { return run + 2 * past_run(kernel); }

std::optional<Tiles> tile_transposes(const Kernel& kernel, int lanes, const Target& target) {
  if (lanes < 4 || !is_pointwise(kernel)) return std::nullopt;
  const auto written = written_axis(kernel);
  ShapeEnv* env = environment(kernel);
  if (!written || !env || length(kernel, *written) < lanes) return std::nullopt;
  Tiles tiles;
  AxisId read = *written;
  for (AxisId a : kernel.outer) {
    if (a == *written || length(kernel, a) < lanes) continue;
    auto loads = loads_along(kernel, a, *written);
    if (loads.size() <= tiles.turned.size()) continue;
    tiles.turned = std::move(loads);
    read = a;
  }
  if (tiles.turned.empty()) return std::nullopt;
  const Buffer& source = kernel.buffers[kernel.scalars[tiles.turned[0]].buffer];
  const auto bytes = static_cast<int64_t>(dtype_size(source.dtype));
  const bool from_memory = hint(source.numel).value_or(0) >= target.cache_bytes / bytes;
  const Order order = order_of_squares(kernel, tiles, read, *written);
  const int64_t run = run_of(kernel, read, *written, source, target);
  // Processors with matrix tiles do.
  const bool foresees = target.amx;
  tiles.run = foresees && begin_with_cache_lines(kernel, read) ? 0 : run;
  if (tiles.run > 0 && in_strips(kernel, read, target))
    tiles.strip = in_pages(source) ? lanes : std::clamp<int64_t>(kStripBytes / bytes, 2 * lanes, 64);
  tiles.past_caches = run > 0;
  const bool wide = tiles.run == 0 && (from_memory || run > 0) && length(kernel, *written) >= 4 * int64_t{lanes};
  int64_t page_length = kPage / bytes;
  if (tiles.strip > 0 && !in_pages(source)) {
    // Equally long pages, which threads share out.
    const int64_t strips = (length(kernel, read) + tiles.strip - 1) / tiles.strip;
    const int64_t pages = (strips + kStrips - 1) / kStrips;
    page_length = (strips + pages - 1) / pages * tiles.strip;
  } else if (tiles.strip > 0) {
    page_length = tiles.page = page_of_strips(length(kernel, read), int64_t{lanes} * lanes, bytes);
  } else if (tiles.run > 0) {
    page_length = std::min(tiles.run, kRunLines);
  } else if (wide) {
    tiles.squares = 2;
    page_length = kTileRowBytes / bytes;
  } else if (order.along_written) {
    // Whole cache lines, both ways.
    page_length = std::max<int64_t>(lanes, kCacheLine / bytes);
    if (!from_memory && order.crowded && lanes * bytes < kCacheLine) tiles.squares = 2;
  } else if (order.across) {
    // Some pages, for threads each to have lines of their own.
    page_length = std::min(page_length, (length(kernel, read) / 8 / lanes + 1) * lanes);
  }
  tiles.kernel = kernel;
  Kernel& k = tiles.kernel;
  const auto [page, row] = cut(k, *env, read, page_length);
  const auto [strip, lane] = tiles.run > 0 ? cut(k, *env, *written, tiles.run, past_run(k))
                                           : cut(k, *env, *written, int64_t{lanes} * tiles.squares);
  std::erase_if(k.outer, [&](AxisId a) { return a == read || a == *written; });
  if (tiles.run > 0 && strip) tiles.run_axis = *strip;
  // From memory the same rows are read on and on, so that the machine foresees them, or more of each comes at once.
  const bool goes_on = wide || tiles.page > 0;
  if (goes_on && strip) k.outer.push_back(*strip);
  auto at = k.outer.end();
  if (order.along_written && !wide && tiles.run == 0)
    at = std::ranges::find_if(k.outer, [&](AxisId a) { return lies_within(kernel, a, read); });
  if (page) k.outer.insert(at, *page);
  if (!goes_on && strip) k.outer.push_back(*strip);
  k.nests[0].axes = {row, lane};
  return tiles;
}

}  // namespace strata::codegen
