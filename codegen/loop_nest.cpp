// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The points of a row, the nests of a point, and what is fetched ahead of both.

#include <algorithm>
#include <array>

#include "codegen/loop_emitter.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

void KernelEmitter::emit_points(Value* low, Value* high) {
  depth_ = kPointLevel;
  lanes_ = 1;
  active_ = active_count_ = nullptr;
  if (k_.outer.empty()) return emit_point();
  size_t symbol = k_.axes[k_.outer.back()].symbol;
  if (plan_.lanes_are_points && plan_.lanes > 1) return emit_point_vectors(low, high);
  if (plan_.late) {
    emit_late_points(low, high);
    depth_ = kRowLevel;
    return;
  }
  loop(low, high, 1, false, kPointLevel, "point", [&](Value* i) {
    symbols_[symbol] = i;
    emit_point();
  });
  depth_ = kRowLevel;
}

void KernelEmitter::emit_point_vectors(Value* low, Value* high) {
  size_t symbol = k_.axes[k_.outer.back()].symbol;
  auto width = static_cast<unsigned>(plan_.lanes);
  Value* rest = low;
  if (!plan_.masked) {
    lanes_ = width;
    const int64_t step = static_cast<int64_t>(width) * plan_.unroll;
    const auto whole_vectors = [&] {
      return loop(low, high, step, false, kPointLevel, "vectors", [&](Value* i) {
        side_by_side(plan_.unroll, plan_.woven, [&](int u) {
          symbols_[symbol] = b_.CreateAdd(i, b_.getInt64(width * static_cast<unsigned>(u)));
          emit_point();
          fetch_streams();
        });
      });
    };
    if (Value* aligned = points_are_aligned(low)) {
      rest = end_of_steps(low, high, step);
      in_two_ways(aligned, [&](bool past) {
        aligned_ = past;
        whole_vectors();
      });
      aligned_.reset();
    } else {
      rest = whole_vectors();
    }
  }
  const bool can_mask = plan_.masks;
  lanes_ = can_mask ? width : 1;
  depth_ = kPointLevel;
  loop(rest, high, lanes_, true, kPointLevel, "rest", [&](Value* i) {
    symbols_[symbol] = i;
    if (can_mask) {
      Value* left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(high, i), b_.getInt64(width));
      active_count_ = b_.CreateTrunc(left, b_.getInt32Ty());
      Value* bound = b_.CreateVectorSplat(width, active_count_);
      active_ = b_.CreateICmpULT(lane_numbers(b_.getInt32Ty()), bound);
    }
    emit_point();
    if (can_mask) fetch_streams();
  });
  lanes_ = 1;
  active_ = active_count_ = nullptr;
  depth_ = kRowLevel;
}

/// Whether every result that goes past the caches may do so from point `low` on, or null: each vector has to be asked
/// for itself.
llvm::Value* KernelEmitter::points_are_aligned(Value* low) {
  const size_t symbol = k_.axes[k_.outer.back()].symbol;
  Value* bits = nullptr;
  for (const Nest& nest : k_.nests) {
    for (const Store& s : nest.stores) {
      if (!plan_.streamed[s.buffer]) continue;
      const auto along = linear_in(s.index, symbol);
      if (!nest.axes.empty() || !along || !(along->coefficient == SymInt(1))) return nullptr;
      Value* past = bits_past_vector(s.buffer, b_.CreateAdd(expression(along->rest), low));
      bits = bits ? b_.CreateOr(bits, past) : past;
    }
  }
  return bits ? b_.CreateICmpEQ(bits, b_.getInt64(0)) : nullptr;
}

/// Whether copy `copy` of vectors of `bytes` is the one that asks for a cache line, where each vector stands for so
/// many quarters of as many bytes ahead: lines may be longer than vectors.
bool KernelEmitter::begins_cache_line(size_t copy, uint64_t quarters, size_t bytes) const {
  constexpr uint64_t kLine = 64;
  const uint64_t step = std::max<uint64_t>(1, quarters * lanes_ * bytes / 4);
  return copy * step % kLine < step;
}

/// What the vector a page from here reads, or a later one: where the machine's own prefetching, which ends at a page,
/// would wait. Of what is asked for between stores past the caches, AMD's processors drop some: where two vectors are a
/// cache line, each asks for it.
void KernelEmitter::fetch_streams() {
  constexpr int64_t kPage = 4096;  // bytes
  const auto& body = k_.nests[nest_].body;
  for (ScalarId id : plan_.ahead) {
    if (std::find(body.begin(), body.end(), id) == body.end()) continue;
    const Scalar& s = k_.scalars[id];
    const auto size = static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
    SymInt ahead = kPage / size;
    // Several rows at a time are read already as far as those that come next.
    if (const auto& axes = k_.nests[nest_].axes; axes.size() > 1)
      if (const auto next = linear_in(s.index, k_.axes[axes[axes.size() - 2]].symbol))
        ahead = max(ahead, next->coefficient);
    prefetch(s.buffer, expression(s.index + ahead), Cache::Second);
  }
}

void KernelEmitter::emit_point() {
  emit_nests(k_.nests.size());
  forget(kPointLevel);
  reduced_.clear();
}

/// The first `count` nests of a point.
void KernelEmitter::emit_nests(size_t count) {
  const unsigned lanes = lanes_;
  for (size_t n = 0; n < count; ++n) {
    lanes_ = lanes;
    depth_ = kPointLevel;
    nest_ = n;
    emit_nest(n);
  }
  lanes_ = lanes;
  depth_ = kPointLevel;
}

// -------------------------------------------------------------------------------------------------------------------
// nests

void KernelEmitter::emit_nest(size_t n) {
  const Nest& nest = k_.nests[n];
  accumulated_.assign(nest.reductions.size(), 0);
  if (nest.axes.empty()) return emit_body(0);
  if (guess_of(&Shares::largest)) return guess_largest();
  const NestPlan& p = plan_.nests[n];
  unsigned lanes = plan_.lanes_are_points ? lanes_ : static_cast<unsigned>(p.lanes);
  bool scalar_rest = !plan_.lanes_are_points && lanes > 1 && !plan_.masks;
  unsigned outer_lanes = lanes_;
  lanes_ = lanes;
  set_line(nest.reductions.empty() ? 0 : nest.reductions[0].node);
  open_reductions(plan_.lanes_are_points ? 1 : static_cast<size_t>(p.unroll), scalar_rest);
  begin_sum();
  Block* end = block("nest.end");
  Value* runs = b_.getTrue();
  for (AxisId a : nest.axes) {
    const SymInt& extent = k_.axes[a].extent;
    if (range(extent).min < 1) runs = b_.CreateAnd(runs, b_.CreateICmpSGT(expression(extent), b_.getInt64(0)));
  }
  Block* hoist = block("nest");
  b_.CreateCondBr(runs, hoist, end);
  b_.SetInsertPoint(hoist);
  Block* body = block("nest.body");
  go(body);
  hoist_[kPointLevel] = hoist;
  b_.SetInsertPoint(body);
  depth_ = kInnerLevel;
  emit_inner(0);
  finish_moments();
  finish_sum();
  if (const Shares* shares = guess_of(&Shares::sum)) add_up_again(*shares);
  go(end);
  b_.SetInsertPoint(end);
  depth_ = kPointLevel;
  lanes_ = lanes;
  close_reductions();
  take_largest();
  lanes_ = outer_lanes;
  forget(kInnerLevel);
}

void KernelEmitter::emit_inner(size_t position) {
  const Nest& nest = k_.nests[nest_];
  int level = kInnerLevel + static_cast<int>(position);
  bool last = position + 1 == nest.axes.size();
  depth_ = level;
  if (!plan_.nests[nest_].turned.empty()) return emit_tiles();
  if (last && !plan_.lanes_are_points && lanes_ > 1) return emit_lane_loops();
  const Axis& axis = k_.axes[nest.axes[position]];
  depth_ = level;
  Value* extent = expression(axis.extent);
  axis_loop(position, b_.getInt64(0), extent, 1, false, level, "inner", [&](Value* i) {
    symbols_[axis.symbol] = i;
    if (last) {
      depth_ = level;
      emit_body(0);
      forget(level);
    } else {
      emit_inner(position + 1);
    }
  });
  forget(level);
}

void KernelEmitter::emit_lane_loops() {
  const Nest& nest = k_.nests[nest_];
  const NestPlan& p = plan_.nests[nest_];
  const Axis& axis = k_.axes[nest.axes.back()];
  int level = dep_.depth(nest_);
  depth_ = level;
  unsigned width = lanes_;
  Value* extent = expression(axis.extent);
  Value* rest = b_.getInt64(0);
  int64_t whole = static_cast<int64_t>(width) * p.unroll;
  bool divides = mod(axis.extent, whole) == SymInt(0);
  bool fits = axis.extent.maybe_value().value_or(whole) >= whole;
  find_middles();
  guess_sum();
  const auto whole_vectors = [&] {
    rest = axis_loop(nest.axes.size() - 1, rest, extent, whole, false, level, "vectors", [&](Value* i) {
      side_by_side(p.unroll, p.woven, [&](int u) {
        symbols_[axis.symbol] = b_.CreateAdd(i, b_.getInt64(width * static_cast<unsigned>(u)));
        emit_late_body(static_cast<size_t>(u));
        emit_body(static_cast<size_t>(u));
        fetch_ahead(static_cast<size_t>(u));
        forget(level);
      });
    });
  };
  // Asked once a line where that tells for all of it: between the vectors the branches would cost as much as they do.
  if (Value* aligned = divides && fits ? late_is_aligned() : nullptr) {
    in_two_ways(aligned, [&](bool past) {
      aligned_ = past;
      rest = b_.getInt64(0);
      whole_vectors();
    });
    aligned_.reset();
  } else if ((!p.masked || divides) && fits) {
    whole_vectors();
  }
  if (divides) return;
  const bool can_mask = plan_.masks;
  if (!can_mask) lanes_ = 1;
  const auto all_in_rest = p.masked ? nest.axes.size() - 1 : SIZE_MAX;
  const std::optional<int64_t> length = axis.extent.maybe_value();
  const bool once = can_mask && length && (p.masked ? *length : *length % whole) < width;
  axis_loop(all_in_rest, rest, extent, lanes_, true, level, "rest", [&](Value* i) {
    symbols_[axis.symbol] = i;
    if (can_mask) only_before(extent, i);
    if (once) rest_ = static_cast<unsigned>(*length % whole);
    const size_t copy = can_mask ? 0 : scalar_copy_;
    emit_late_body(copy);
    emit_body(copy);
    if (can_mask) fetch_ahead(0);
    forget(level);
  });
  active_ = active_count_ = nullptr;
  rest_ = 0;
  lanes_ = width;
}

/// Of the lanes that begin at `i`, those before `extent` count.
void KernelEmitter::only_before(Value* extent, Value* i) {
  Value* left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(extent, i), b_.getInt64(lanes_));
  active_count_ = b_.CreateTrunc(left, b_.getInt32Ty());
  active_ = b_.CreateICmpULT(lane_numbers(b_.getInt32Ty()), b_.CreateVectorSplat(lanes_, active_count_));
}

/// While a line is gone through pass by pass, the next point's is fetched, a part in each of the last passes, so that
/// memory is never without work for long. `copy` vectors of an iteration stand before this one.
void KernelEmitter::fetch_ahead(size_t copy) {
  const Nest& nest = k_.nests[nest_];
  if (plan_.ahead.empty() || once_more_) return;
  if (nest.axes.size() > 1) return fetch_streams();
  uint64_t before = 0, later = 0;
  for (size_t n = 0; n < k_.nests.size(); ++n)
    if (n != nest_ && goes_through_line(plan_, n)) ++(n < nest_ ? before : later);
  // The pass that takes along another is at work for longest.
  if (plan_.late) before = 0, later = later == 1 ? 0 : 4;
  const uint64_t passes = before + later + 1;
  static constexpr std::array<std::array<uint64_t, 4>, 5> kShares = {{{}, {4}, {2, 2}, {2, 1, 1}, {1, 1, 1, 1}}};
  const auto shares = kShares[std::min<uint64_t>(passes, 4)];
  const uint64_t share = later < 4 ? shares[later] : 0;  // in quarters, the last pass first
  if (share == 0) return;
  uint64_t first = 0;
  for (uint64_t n = later + 1; n < 4; ++n) first += shares[n];
  const Axis& lane = k_.axes[nest.axes[0]];
  const SymInt start_of_share = floordiv(lane.extent, 4) * SymInt(static_cast<int64_t>(first));
  const size_t outer = k_.axes[k_.outer.back()].symbol;
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    const size_t size = dtype_size(k_.buffers[s.buffer].dtype);
    if (!begins_cache_line(copy, share, size)) continue;
    const SymInt point = linear_in(s.index, outer)->coefficient;
    // The load may stand in another nest, with an axis of its own.
    for (const Nest& other : k_.nests) {
      if (other.axes.size() != 1 || std::find(other.body.begin(), other.body.end(), id) == other.body.end()) continue;
      const Axis& own = k_.axes[other.axes[0]];
      if (!(own.extent == lane.extent)) continue;
      const SymInt line = linear_in(s.index, own.symbol)->rest;
      if (plan_.ahead_bytes > 0 && point == lane.extent) {
        const SymInt step = plan_.ahead_bytes / static_cast<int64_t>(size);
        for (const auto& [times, into] : {std::pair{1, Cache::First}, std::pair{2, Cache::Second}})
          prefetch(s.buffer, b_.CreateAdd(expression(line + step * times), symbols_.at(lane.symbol)), into);
        continue;
      }
      Value* start = expression(line + point * SymInt(plan_.ahead_points) + start_of_share);
      Value* done = b_.CreateMul(symbols_.at(lane.symbol), b_.getInt64(share));
      prefetch(s.buffer, b_.CreateAdd(start, b_.CreateLShr(done, b_.getInt64(2))),
               plan_.ahead_near ? Cache::First : Cache::Second);
    }
  }
}

void KernelEmitter::prefetch(BufferId buffer, Value* index, Cache into) {
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {b_.getPtrTy()},
      {pointer(buffer, index), b_.getInt32(0), b_.getInt32(static_cast<uint32_t>(into)), b_.getInt32(1)});
}

void KernelEmitter::emit_body(size_t copy) {
  const Nest& nest = k_.nests[nest_];
  copy_ = copy;
  std::fill(accumulated_.begin(), accumulated_.end(), 0);
  for (ScalarId id : nest.body) emit_scalar(id);
  for (size_t r = 0; r < nest.reductions.size(); ++r) accumulate(r, copy);
  look_for_larger(copy);
  for (const Store& s : nest.stores) emit_store(s);
  set_line(0);
}

}  // namespace strata::codegen
