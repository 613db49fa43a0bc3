// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tiles of runs (loop_run.cpp) of which nothing is done in steps: memory reads and writes all the time. A tile is some
// strips of lines one after the other. Between a square of a strip and the next one, lines of the strip before go to
// memory, and as many cache lines as a square reads are fetched: of few rows a page of each in the next tile, row by
// row, of more rows (which 16-bit types need) what the next strip reads. Scratch holds two strips.

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
  if (plan.page > 0) begin_next_page();
  loop(none, rows, plan.strip, true, kInnerLevel, "strip", [&](Value* begin) {
    Value* after = b_.CreateAdd(begin, b_.getInt64(strip));
    strip_.begin = begin;
    strip_.to_scratch = b_.CreateSub(b_.CreateAnd(begin, b_.getInt64(strip)), begin);
    if (plan.page == 0) find_next_strip(rows, points);
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
  const Nest& nest = k_.nests[nest_];
  const int64_t width = lanes_, strip = plan_.nests[nest_].strip, share = std::max<int64_t>(width * width / strip, 1);
  const size_t along = k_.axes[nest.axes[0]].symbol, across = k_.axes[nest.axes[1]].symbol;
  Value* number = b_.CreateMul(b_.CreateSub(row, strip_.begin), constant(share));
  number = b_.CreateUDiv(number, b_.getInt64(lanes_));
  Value* first = b_.CreateAdd(b_.CreateAdd(lane, strip_.next_lane), number);
  std::vector<std::pair<BufferId, Value*>> lines;
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    const auto each = kCacheLine / static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
    const auto linear = linear_in(s.index, across);
    Value* stride = expression(linear->coefficient);
    Value* at = b_.CreateAdd(expression(linear_in(linear->rest, along)->rest), strip_.next_line);
    at = b_.CreateAdd(at, b_.CreateMul(first, stride));
    const int64_t length = std::max(strip, each);
    Value* to_next_row = b_.CreateSub(stride, constant(length));
    at = b_.CreateAdd(at, b_.CreateLoad(b_.getInt64Ty(), fetched_));
    at = b_.CreateSub(at, b_.getInt64(1));
    for (int64_t i = 0; i < share; ++i) {
      for (int64_t end = each; end <= length; end += each) {
        at = paced(b_.CreateAdd(at, constant(each)));
        lines.emplace_back(s.buffer, at);
      }
      at = b_.CreateAdd(at, to_next_row);
    }
    end_pace(at);
  }
  return lines;
}

/// What the next tile reads comes row by row, a page of each: pieces of pages, from as many rows at once, come at half
/// the speed. After the last tile along the rows comes the first one of the next rows. Of parts of rows that begin
/// anywhere the ends of cache lines are enough: each goes on in the next tile.
void KernelEmitter::begin_next_page() {
  const Nest& nest = k_.nests[nest_];
  const NestPlan& plan = plan_.nests[nest_];
  const size_t along = k_.axes[nest.axes[0]].symbol, across = k_.axes[nest.axes[1]].symbol;
  Value *line = constant(0), *lane = constant(plan.run);
  if (const AxisId page = k_.outer.back(); page != plan.run_axis) {
    Value* number = symbols_.at(k_.axes[page].symbol);
    Value* is_last = b_.CreateICmpEQ(b_.CreateAdd(number, constant(1)), expression(k_.axes[page].extent));
    line = b_.CreateSelect(is_last, b_.CreateMul(number, constant(-plan.page)), constant(plan.page));
    lane = b_.CreateSelect(is_last, lane, constant(0));
  }
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    const auto each = kCacheLine / static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
    const auto linear = linear_in(s.index, across);
    Value* stride = expression(linear->coefficient);
    Value* start = b_.CreateAdd(expression(linear_in(linear->rest, along)->rest), line);
    start = b_.CreateAdd(b_.CreateAdd(start, b_.CreateMul(lane, stride)), constant(each - 1));
    NextPage next;
    next.buffer = s.buffer;
    next.to_next_row = b_.CreateSub(stride, constant(plan.page));
    next.line = at_entry(b_.getInt64Ty(), "next");
    next.left = at_entry(b_.getInt64Ty(), "left");
    b_.CreateStore(start, next.line);
    b_.CreateStore(constant(plan.page / each), next.left);
    strip_.next.push_back(next);
  }
}

/// Of as many of these lines as a square reads, one of so many parts. Ten cycles from one to the next: what follows
/// sooner is dropped, later makes memory wait (eight take 3 % more, thirteen a quarter; AMD's family 26).
void KernelEmitter::fetch_next_page(int64_t part, int64_t parts) {
  for (NextPage& next : strip_.next) {
    const auto each = kCacheLine / static_cast<int64_t>(dtype_size(k_.buffers[next.buffer].dtype));
    const int64_t lines = std::max<int64_t>(int64_t{lanes_} * lanes_ / each, 1);
    if (part == 0) next.at = b_.CreateLoad(b_.getInt64Ty(), next.line);
    for (int64_t i = part * lines / parts; i < (part + 1) * lines / parts; ++i) {
      prefetch(next.buffer, next.at, Cache::First);
      Value* zero = b_.CreateSub(one_, constant(1));
      next.at = b_.CreateXor(b_.CreateAdd(paced(b_.CreateAdd(next.at, constant(each))), zero), zero);
    }
    if (part + 1 < parts) continue;
    Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), next.left), constant(lines));
    Value* ends_row = b_.CreateICmpSLE(left, constant(0));
    b_.CreateStore(b_.CreateSelect(ends_row, b_.CreateAdd(next.at, next.to_next_row), next.at), next.line);
    b_.CreateStore(b_.CreateSelect(ends_row, constant(plan_.nests[nest_].page / each), left), next.left);
  }
}

/// A square's share of the lines of the strip before goes to memory, as many cache lines of the next tile are fetched.
void KernelEmitter::store_and_fetch() {
  const NestPlan& plan = plan_.nests[nest_];
  const int64_t share = std::max<int64_t>(int64_t{lanes_} * lanes_ / plan.run, 1);
  llvm::IRBuilder<> head(hoist_[kInnerLevel]->getTerminator());  // where what depends on a line is worked out
  Value* begin = head.CreateLoad(b_.getInt64Ty(), strip_.stored);
  Value* end = head.CreateAdd(begin, constant(share));
  Value* is_there = b_.CreateAnd(strip_.whole, b_.CreateICmpSLE(end, strip_.begin));
  in_two_ways(is_there, [&](bool whole) {
    if (whole) {
      int64_t parts = 0, part = 0;
      for (const Store& s : k_.nests[nest_].stores)
        parts += share * plan.run * static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype)) / kCacheLine;
      at_lines([&] {
        for (int64_t i = 0; i < share; ++i)
          store_line(head.CreateAdd(begin, constant(i)), true, [&] { fetch_next_page(part++, parts); });
      });
      b_.CreateStore(end, strip_.stored);
    } else {
      store_lines(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, strip_.begin));
      fetch_next_page(0, 1);
    }
  });
}

/// Lines that are put together go to memory, up to `end`.
void KernelEmitter::store_lines(Value* end) {
  Value* begin = b_.CreateLoad(b_.getInt64Ty(), strip_.stored);
  in_two_ways(strip_.whole, [&](bool whole) {
    at_lines(
        [&] { loop(begin, end, 1, false, kInnerLevel, "line", [&](Value* line) { store_line(line, whole, [] {}); }); });
  });
  b_.CreateStore(end, strip_.stored);
}

/// One line of each result; `then` after each cache line of a whole one.
void KernelEmitter::store_line(Value* line, bool whole, const std::function<void()>& then) {
  const NestPlan& plan = plan_.nests[nest_];
  const Nest& nest = k_.nests[nest_];
  symbols_[k_.axes[nest.axes[0]].symbol] = line;
  symbols_[k_.axes[nest.axes[1]].symbol] = b_.getInt64(0);
  Value* in_scratch = b_.CreateAnd(line, constant(2 * plan.strip - 1));
  for (size_t i = 0; i < nest.stores.size(); ++i) {
    Value* from = line_in_run(i, in_scratch);
    whole ? store_whole_run(i, from, then) : store_run(i, from, strip_.points);
  }
  forget(kInnerLevel);
}

/// Code that goes along the lines of a tile, in the middle of one that goes along its squares.
void KernelEmitter::at_lines(const std::function<void()>& code) {
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  const auto hoist = hoist_;
  Value *at_row = symbols_[row], *at_lane = symbols_[lane];
  const bool puts_in_runs = std::exchange(puts_in_runs_, false);
  forget(kInnerLevel);
  code();
  hoist_ = hoist;
  symbols_[row] = at_row;
  symbols_[lane] = at_lane;
  puts_in_runs_ = puts_in_runs;
}

}  // namespace strata::codegen
