// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tiles of transposes that go from memory to memory (loop_tile.h). What is read in turn lies far apart when it is
// written, and few loads can wait for memory at a time. So a tile is done in two steps: its results are put together in
// scratch, which the caches hold as they do what is read; then each line of them goes to memory in one run, past the
// caches, and meanwhile the processor fetches the next tile into the second cache.
//
// Lines may begin anywhere. A run then begins and ends with the first cache line that begins in it and after it, so
// that cache lines are written whole, and the tile has so many more elements, which the next one computes again.

#include <algorithm>

#include "codegen/loop_emitter.h"
#include "codegen/loop_tile.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

void KernelEmitter::emit_tile_in_runs(Value* rows, Value* points) {
  const Nest& nest = k_.nests[nest_];
  const int64_t run = plan_.nests[nest_].run;
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  const unsigned width = lanes_;
  make_runs(kRunLines);
  begin_pace();
  Value* whole = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, points, constant(run));
  Value* turned = b_.CreateSelect(runs_are_aligned(), whole, points);
  puts_in_runs_ = true;
  emit_squares(b_.getInt64(0), rows, turned);
  puts_in_runs_ = false;
  lanes_ = width;
  loop(b_.getInt64(0), rows, 1, false, kInnerLevel, "line", [&](Value* line) {
    symbols_[row] = line;
    symbols_[lane] = b_.getInt64(0);
    fetch_next_tile(line, points, turned);
    for (size_t i = 0; i < nest.stores.size(); ++i) store_run(i, line_in_run(i, line), points);
    forget(kInnerLevel);
  });
}

/// Scratch for so many lines of each result.
void KernelEmitter::make_runs(int64_t lines) {
  const auto count = static_cast<uint64_t>(run_pitch(k_, plan_.nests[nest_].run) * lines);
  for (const Store& s : k_.nests[nest_].stores) {
    runs_.push_back(at_entry(llvm::ArrayType::get(math_.memory_type(k_.buffers[s.buffer].dtype), count), "runs"));
    runs_.back()->setAlignment(llvm::Align(kCacheLine));
  }
}

/// Whether all lines of the tile's results begin with a cache line.
llvm::Value* KernelEmitter::runs_are_aligned() {
  const Nest& nest = k_.nests[nest_];
  symbols_[k_.axes[nest.axes[0]].symbol] = symbols_[k_.axes[nest.axes[1]].symbol] = b_.getInt64(0);
  Value* low = b_.getInt64(0);
  for (const Store& s : nest.stores) {
    Value* size = b_.getInt64(dtype_size(k_.buffers[s.buffer].dtype));
    const auto along = linear_in(s.index, k_.axes[nest.axes[0]].symbol);
    low = b_.CreateOr(low, b_.CreatePtrToInt(pointer(s.buffer, expression(s.index)), b_.getInt64Ty()));
    low = b_.CreateOr(low, b_.CreateMul(expression(along->coefficient), size));
  }
  return b_.CreateICmpEQ(b_.CreateAnd(low, b_.getInt64(kCacheLine - 1)), b_.getInt64(0));
}

/// Where the results of a line are put together, the number of which among those in scratch is `line`.
llvm::Value* KernelEmitter::line_in_run(size_t store, Value* line) {
  const auto pitch = static_cast<uint64_t>(run_pitch(k_, plan_.nests[nest_].run));
  llvm::Type* type = math_.memory_type(k_.buffers[k_.nests[nest_].stores[store].buffer].dtype);
  return b_.CreateGEP(type, runs_[store], b_.CreateMul(line, b_.getInt64(pitch)));
}

/// The value of a store at the place of the tile where the loops stand.
void KernelEmitter::put_in_run(const Store& s) {
  const Nest& nest = k_.nests[nest_];
  llvm::Type* type = math_.memory_type(k_.buffers[s.buffer].dtype);
  Value* line = strip_.square;
  if (!line) line = symbols_.at(k_.axes[nest.axes[0]].symbol);
  if (!strip_.square && strip_.to_scratch) line = b_.CreateAdd(line, strip_.to_scratch);
  Value* place = line_in_run(static_cast<size_t>(&s - nest.stores.data()), line);
  place = b_.CreateGEP(type, place, symbols_.at(k_.axes[nest.axes[1]].symbol));
  // Of a square, one address and numbers that are known.
  if (strip_.square)
    place = b_.CreateGEP(type, place,
                         b_.getInt64(strip_.row * static_cast<uint64_t>(run_pitch(k_, plan_.nests[nest_].run))));
  // Of fewer points than lanes, the others come after them, where there is room.
  Value* value = lanes_ > 1 ? get(s.value, true) : get(s.value);
  b_.CreateAlignedStore(stored_form(s, value, nullptr), place, align_of(s.buffer));
}

/// A line of results, which begins at `from`, to memory: of the first tile from its beginning, of the last one to its
/// end.
void KernelEmitter::store_run(size_t store, Value* from, Value* points) {
  const Store& s = k_.nests[nest_].stores[store];
  const auto run = static_cast<uint64_t>(plan_.nests[nest_].run);
  const uint64_t size = dtype_size(k_.buffers[s.buffer].dtype);
  llvm::Type* type = math_.memory_type(k_.buffers[s.buffer].dtype);
  Value* to = pointer(s.buffer, expression(s.index));
  Value* late = b_.CreateAnd(b_.CreateNeg(b_.CreatePtrToInt(to, b_.getInt64Ty())), b_.getInt64(kCacheLine - 1));
  late = b_.CreateUDiv(late, b_.getInt64(size));
  Value* is_first = b_.CreateICmpEQ(symbols_.at(k_.axes[plan_.nests[nest_].run_axis].symbol), b_.getInt64(0));
  const auto smaller = [&](Value* x, Value* y) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); };
  Value* end = smaller(b_.CreateAdd(late, b_.getInt64(run)), points);
  Value* start = smaller(late, end);
  const auto one = [&](Value* at) {
    Value* value = b_.CreateAlignedLoad(type, b_.CreateGEP(type, from, at), align_of(s.buffer));
    b_.CreateAlignedStore(value, b_.CreateGEP(type, to, at), align_of(s.buffer));
  };
  const int inside = dep_.depth(nest_);
  loop(b_.CreateSelect(is_first, b_.getInt64(0), start), start, 1, false, inside, "head", one);
  Value* rest = loop(start, end, kCacheLine / static_cast<int64_t>(size), false, inside, "run",
                     [&](Value* at) { store_cache_line(s.buffer, from, to, at); });
  loop(rest, end, 1, false, inside, "tail", one);
}

/// A line that is one run and begins with a cache line, to memory.
void KernelEmitter::store_whole_run(size_t store, Value* from, const std::function<void()>& then) {
  const Store& s = k_.nests[nest_].stores[store];
  const auto each = kCacheLine / static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
  Value* to = pointer(s.buffer, expression(s.index));
  for (int64_t at = 0; at < plan_.nests[nest_].run; at += each) {
    store_cache_line(s.buffer, from, to, constant(at));
    then();
  }
}

/// One cache line past the caches, `at` elements after `from` and `to`.
void KernelEmitter::store_cache_line(BufferId buffer, Value* from, Value* to, Value* at) {
  const uint64_t size = dtype_size(k_.buffers[buffer].dtype),
                 unit = std::min<uint64_t>(target_.vector_bits / 8, kCacheLine);
  llvm::Type* type = math_.memory_type(k_.buffers[buffer].dtype);
  auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(unit / size));
  aligned_ = true;
  for (uint64_t part = 0; part < kCacheLine; part += unit) {
    Value* place = b_.CreateAdd(at, b_.getInt64(part / size));
    Value* value = b_.CreateAlignedLoad(vector, b_.CreateGEP(type, from, place), align_of(buffer));
    store_vector(buffer, value, b_.CreateGEP(type, to, place));
  }
  aligned_.reset();
}

/// Between stores past the caches, which want the same buffers, processors drop what is fetched too fast: addresses are
/// made to wait for each other.
void KernelEmitter::begin_pace() {
  auto* place = at_entry(b_.getInt64Ty(), "one");
  b_.CreateStore(b_.getInt64(1), place, true);
  one_ = b_.CreateLoad(b_.getInt64Ty(), place, true, "one");
  fetched_ = at_entry(b_.getInt64Ty(), "fetched");
  b_.CreateStore(b_.getInt64(0), fetched_);
}

/// The same index, two products later, which must not become one.
llvm::Value* KernelEmitter::paced(Value* index) {
  index = b_.CreateXor(b_.CreateMul(index, one_), b_.CreateSub(one_, b_.getInt64(1)));
  return b_.CreateMul(index, one_);
}

/// What is fetched next waits for this index: `fetched_` is 0 then.
void KernelEmitter::end_pace(Value* index) {
  b_.CreateStore(b_.CreateMul(index, b_.CreateSub(one_, b_.getInt64(1))), fetched_);
}

/// A line's share of what the next tile reads.
void KernelEmitter::fetch_next_tile(Value* line, Value* points, Value* turned) {
  const Nest& nest = k_.nests[nest_];
  const int64_t run = plan_.nests[nest_].run, lines = std::min(run, kRunLines), share = run / lines;
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  Value* tile = symbols_.at(k_.axes[plan_.nests[nest_].run_axis].symbol);
  Value* is_last = b_.CreateICmpSLE(points, constant(run));
  const auto plus = [&](Value* x, int64_t y) { return b_.CreateAdd(x, constant(y)); };
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    const auto size = static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
    const auto across = linear_in(s.index, lane);
    Value *start = expression(linear_in(across->rest, row)->rest), *stride = expression(across->coefficient);
    // After the last tile along the lines comes the first one of the next lines.
    Value* along = b_.CreateMul(b_.CreateMul(tile, constant(run)), stride);
    Value* next_lines = b_.CreateSub(constant(lines), along);
    start = b_.CreateAdd(start, b_.CreateSelect(is_last, next_lines, b_.CreateMul(turned, stride)));
    start = b_.CreateAdd(start, b_.CreateLoad(b_.getInt64Ty(), fetched_));
    start = b_.CreateAdd(start, b_.CreateMul(line, b_.CreateMul(stride, constant(share))));
    Value* at = start;
    for (int64_t i = 0; i < share; ++i) {
      for (int64_t first = 0; first < lines; first += kCacheLine / size) {
        at = paced(first > 0 ? plus(at, kCacheLine / size) : at);
        prefetch(s.buffer, at, Cache::Second);
      }
      // What begins anywhere has a part of one more cache line.
      prefetch(s.buffer, plus(at, kCacheLine / size - 1), Cache::Second);
      at = b_.CreateAdd(at, b_.CreateSub(stride, constant(lines - kCacheLine / size)));
    }
    end_pace(at);
  }
}

}  // namespace strata::codegen
