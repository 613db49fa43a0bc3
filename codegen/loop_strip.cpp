// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tiles of runs (loop_run.cpp) of which nothing is done in steps: memory reads and writes all the time. A tile is some
// strips of lines one after the other. Between a square of a strip and the next one, lines of the strip before go to
// memory, and the cache lines of as many elements of the strip after are fetched into the second cache. Scratch holds
// two strips.

#include <algorithm>
#include <utility>

#include "codegen/loop_emitter.h"
#include "codegen/loop_tile.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

void KernelEmitter::emit_tile_in_strips(Value* rows, Value* points) {
  const NestPlan& plan = plan_.nests[nest_];
  const auto run = static_cast<uint64_t>(plan.run), strip = static_cast<uint64_t>(plan.strip);
  const unsigned width = lanes_;
  Value* none = b_.getInt64(0);
  make_runs(2 * plan.strip);
  begin_pace();
  strip_.stored = at_entry(b_.getInt64Ty(), "stored");
  b_.CreateStore(none, strip_.stored);
  Value* aligned = runs_are_aligned();
  Value* whole = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, points, b_.getInt64(run));
  Value* turned = b_.CreateSelect(aligned, whole, points);
  strip_.points = points;
  strip_.whole = b_.CreateAnd(aligned, b_.CreateICmpSGE(points, b_.getInt64(run)));
  loop(none, rows, plan.strip, true, kInnerLevel, "strip", [&](Value* begin) {
    Value* after = b_.CreateAdd(begin, b_.getInt64(strip));
    strip_.begin = begin;
    strip_.to_scratch = b_.CreateSub(b_.CreateAnd(begin, b_.getInt64(strip)), begin);
    find_next_strip(rows, points);
    puts_in_runs_ = true;
    emit_squares(begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, rows), turned);
    puts_in_runs_ = false;
    lanes_ = width;
    store_lines(begin);
  });
  store_lines(rows);
  strip_ = {};
}

/// After the last strip of a tile comes the first one of the next tile along the lines, or of the next lines.
void KernelEmitter::find_next_strip(Value* rows, Value* points) {
  const NestPlan& plan = plan_.nests[nest_];
  const auto run = static_cast<uint64_t>(plan.run), strip = static_cast<uint64_t>(plan.strip);
  Value* none = b_.getInt64(0);
  Value* tile = symbols_.at(k_.axes[k_.outer.back()].symbol);
  Value* to_first_lane = b_.CreateNeg(b_.CreateMul(tile, b_.getInt64(run)));
  Value* ends_lines = b_.CreateICmpSLE(points, b_.getInt64(run));
  Value* line = b_.CreateAdd(strip_.begin, b_.getInt64(strip));
  Value* ends_tile = b_.CreateICmpSGE(line, rows);
  Value* after_tile = b_.CreateSelect(ends_lines, rows, none);
  strip_.next_line = b_.CreateSelect(ends_tile, after_tile, line);
  strip_.next_lane = b_.CreateSelect(ends_tile, b_.CreateSelect(ends_lines, to_first_lane, b_.getInt64(run)), none);
}

/// What the next strip reads is shared out among the squares of this one; the share of that at `row` and `lane`. Each
/// piece of a row goes on in the next strip: of those that begin anywhere, the ends of cache lines are enough.
std::vector<std::pair<BufferId, llvm::Value*>> KernelEmitter::lines_of_next_strip(Value* row, Value* lane) {
  constexpr int64_t kLine = 64;
  const Nest& nest = k_.nests[nest_];
  const int64_t width = lanes_, strip = plan_.nests[nest_].strip, share = std::max<int64_t>(width * width / strip, 1);
  const size_t along = k_.axes[nest.axes[0]].symbol, across = k_.axes[nest.axes[1]].symbol;
  Value* number = b_.CreateMul(b_.CreateSub(row, strip_.begin), b_.getInt64(static_cast<uint64_t>(share)));
  number = b_.CreateUDiv(number, b_.getInt64(lanes_));
  Value* first = b_.CreateAdd(b_.CreateAdd(lane, strip_.next_lane), number);
  std::vector<std::pair<BufferId, Value*>> lines;
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    const auto each = kLine / static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
    const auto linear = linear_in(s.index, across);
    Value* stride = expression(linear->coefficient);
    Value* at = b_.CreateAdd(expression(linear_in(linear->rest, along)->rest), strip_.next_line);
    at = b_.CreateAdd(at, b_.CreateMul(first, stride));
    const int64_t length = std::max(strip, each);
    Value* to_next_row = b_.CreateSub(stride, b_.getInt64(static_cast<uint64_t>(length)));
    at = b_.CreateAdd(at, b_.CreateLoad(b_.getInt64Ty(), fetched_));
    at = b_.CreateSub(at, b_.getInt64(1));
    for (int64_t i = 0; i < share; ++i) {
      for (int64_t end = each; end <= length; end += each) {
        at = paced(b_.CreateAdd(at, b_.getInt64(static_cast<uint64_t>(each))));
        lines.emplace_back(s.buffer, at);
      }
      at = b_.CreateAdd(at, to_next_row);
    }
    end_pace(at);
  }
  return lines;
}

/// Lines that are put together go to memory, up to `end`; without it a square's share of the strip before.
void KernelEmitter::store_lines(Value* end) {
  const NestPlan& plan = plan_.nests[nest_];
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  const auto hoist = hoist_;
  Value *at_row = symbols_[row], *at_lane = symbols_[lane];
  const bool puts_in_runs = std::exchange(puts_in_runs_, false);
  forget(kInnerLevel);
  Value* begin = b_.CreateLoad(b_.getInt64Ty(), strip_.stored);
  if (!end) {
    const int64_t share = std::max<int64_t>(int64_t{lanes_} * lanes_ / plan.run, 1);
    end = b_.CreateAdd(begin, b_.getInt64(static_cast<uint64_t>(share)));
    end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, strip_.begin);
  }
  in_two_ways(strip_.whole, [&](bool whole) {
    loop(begin, end, 1, false, kInnerLevel, "line", [&](Value* line) {
      symbols_[row] = line;
      symbols_[lane] = b_.getInt64(0);
      Value* in_scratch = b_.CreateAnd(line, b_.getInt64(static_cast<uint64_t>(2 * plan.strip - 1)));
      for (size_t i = 0; i < nest.stores.size(); ++i) {
        Value* from = line_in_run(i, in_scratch);
        whole ? store_whole_run(i, from) : store_run(i, from, strip_.points);
      }
      forget(kInnerLevel);
    });
    hoist_ = hoist;
  });
  b_.CreateStore(end, strip_.stored);
  symbols_[row] = at_row;
  symbols_[lane] = at_lane;
  puts_in_runs_ = puts_in_runs;
}

}  // namespace strata::codegen
