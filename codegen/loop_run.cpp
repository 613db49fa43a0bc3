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

namespace {

constexpr int64_t kLine = 64;  // bytes

}  // namespace

void KernelEmitter::emit_tile_in_runs(Value* rows, Value* points) {
  const Nest& nest = k_.nests[nest_];
  const int64_t run = plan_.nests[nest_].run, pitch = run_pitch(k_, run);
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  const unsigned width = lanes_;
  for (const Store& s : nest.stores) {
    const auto count = static_cast<uint64_t>(pitch * kRunLines);
    runs_.push_back(at_entry(llvm::ArrayType::get(math_.memory_type(k_.buffers[s.buffer].dtype), count), "runs"));
    runs_.back()->setAlignment(llvm::Align(kLine));
  }
  if (!plan_.ahead.empty()) fetched_ = at_entry(b_.getInt64Ty(), "fetched");
  Value* one = plan_.ahead.empty() ? nullptr : unknown_one();
  Value* whole = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, points, b_.getInt64(static_cast<uint64_t>(run)));
  Value* turned = b_.CreateSelect(runs_are_aligned(), whole, points);
  puts_in_runs_ = true;
  emit_squares(rows, turned);
  puts_in_runs_ = false;
  lanes_ = width;
  if (one) b_.CreateStore(b_.getInt64(0), fetched_);
  loop(b_.getInt64(0), rows, 1, false, kInnerLevel, "line", [&](Value* line) {
    symbols_[row] = line;
    symbols_[lane] = b_.getInt64(0);
    if (one) fetch_next_tile(line, points, turned, one);
    for (size_t i = 0; i < nest.stores.size(); ++i) store_run(i, line, points);
    forget(kInnerLevel);
  });
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
  return b_.CreateICmpEQ(b_.CreateAnd(low, b_.getInt64(kLine - 1)), b_.getInt64(0));
}

/// The value of a store at the place of the tile where the loops stand.
void KernelEmitter::put_in_run(const Store& s) {
  const Nest& nest = k_.nests[nest_];
  const auto pitch = static_cast<uint64_t>(run_pitch(k_, plan_.nests[nest_].run));
  Value* at = b_.CreateMul(symbols_.at(k_.axes[nest.axes[0]].symbol), b_.getInt64(pitch));
  at = b_.CreateAdd(at, symbols_.at(k_.axes[nest.axes[1]].symbol));
  Value* place = b_.CreateGEP(math_.memory_type(k_.buffers[s.buffer].dtype),
                              runs_[static_cast<size_t>(&s - nest.stores.data())], at);
  // Of fewer points than lanes, the others come after them, where there is room.
  Value* value = lanes_ > 1 ? get(s.value, true) : get(s.value);
  b_.CreateAlignedStore(stored_form(s, value, nullptr), place, align_of(s.buffer));
}

/// A line of results, to memory: of the first tile from its beginning, of the last one to its end.
void KernelEmitter::store_run(size_t store, Value* line, Value* points) {
  const Store& s = k_.nests[nest_].stores[store];
  const auto run = static_cast<uint64_t>(plan_.nests[nest_].run);
  const auto pitch = static_cast<uint64_t>(run_pitch(k_, plan_.nests[nest_].run));
  const uint64_t size = dtype_size(k_.buffers[s.buffer].dtype), unit = std::min(target_.vector_bits / 8, 64);
  llvm::Type* type = math_.memory_type(k_.buffers[s.buffer].dtype);
  Value* from = b_.CreateGEP(type, runs_[store], b_.CreateMul(line, b_.getInt64(pitch)));
  Value* to = pointer(s.buffer, expression(s.index));
  Value* late = b_.CreateAnd(b_.CreateNeg(b_.CreatePtrToInt(to, b_.getInt64Ty())), b_.getInt64(kLine - 1));
  late = b_.CreateUDiv(late, b_.getInt64(size));
  Value* is_first = b_.CreateICmpEQ(symbols_.at(k_.axes[k_.outer.back()].symbol), b_.getInt64(0));
  const auto smaller = [&](Value* x, Value* y) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); };
  Value* end = smaller(b_.CreateAdd(late, b_.getInt64(run)), points);
  Value* start = smaller(late, end);
  const auto move = [&](Value* at, llvm::Type* what, bool vectors) {
    Value* value = b_.CreateAlignedLoad(what, b_.CreateGEP(type, from, at), align_of(s.buffer));
    Value* place = b_.CreateGEP(type, to, at);
    if (vectors) return store_vector(s.buffer, value, place);
    b_.CreateAlignedStore(value, place, align_of(s.buffer));
  };
  const auto one = [&](Value* at) { move(at, type, false); };
  const int inside = dep_.depth(nest_);
  loop(b_.CreateSelect(is_first, b_.getInt64(0), start), start, 1, false, inside, "head", one);
  aligned_ = true;
  auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(unit / size));
  Value* rest = loop(start, end, kLine / static_cast<int64_t>(size), false, inside, "run", [&](Value* at) {
    for (uint64_t part = 0; part < kLine; part += unit) move(b_.CreateAdd(at, b_.getInt64(part / size)), vector, true);
  });
  aligned_.reset();
  loop(rest, end, 1, false, inside, "tail", one);
}

/// 1, of which the compiler knows nothing.
llvm::Value* KernelEmitter::unknown_one() {
  auto* place = at_entry(b_.getInt64Ty(), "one");
  b_.CreateStore(b_.getInt64(1), place, true);
  return b_.CreateLoad(b_.getInt64Ty(), place, true, "one");
}

/// A line's share of what the next tile reads. Between stores past the caches, which want the same buffers, processors
/// drop what is fetched too fast: each address waits for the one before, and for two products.
void KernelEmitter::fetch_next_tile(Value* line, Value* points, Value* turned, Value* one) {
  const Nest& nest = k_.nests[nest_];
  const int64_t run = plan_.nests[nest_].run, lines = std::min(run, kRunLines), share = run / lines;
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  Value* tile = symbols_.at(k_.axes[k_.outer.back()].symbol);
  Value* is_last = b_.CreateICmpSLE(points, b_.getInt64(static_cast<uint64_t>(run)));
  const auto plus = [&](Value* x, int64_t y) { return b_.CreateAdd(x, b_.getInt64(static_cast<uint64_t>(y))); };
  Value* zero = plus(one, -1);
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    const auto size = static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
    const auto across = linear_in(s.index, lane);
    Value *start = expression(linear_in(across->rest, row)->rest), *stride = expression(across->coefficient);
    // After the last tile along the lines comes the first one of the next lines.
    Value* along = b_.CreateMul(b_.CreateMul(tile, b_.getInt64(static_cast<uint64_t>(run))), stride);
    Value* next_lines = b_.CreateSub(b_.getInt64(static_cast<uint64_t>(lines)), along);
    start = b_.CreateAdd(start, b_.CreateSelect(is_last, next_lines, b_.CreateMul(turned, stride)));
    start = b_.CreateAdd(start, b_.CreateLoad(b_.getInt64Ty(), fetched_));
    start = b_.CreateAdd(start, b_.CreateMul(line, b_.CreateMul(stride, b_.getInt64(static_cast<uint64_t>(share)))));
    Value* at = start;
    for (int64_t i = 0; i < share; ++i) {
      for (int64_t first = 0; first < lines; first += kLine / size) {
        at = b_.CreateMul(first > 0 ? plus(at, kLine / size) : at, one);
        at = b_.CreateMul(b_.CreateXor(at, zero), one);  // the products must not become one
        prefetch(s.buffer, at, Cache::Second);
      }
      // What begins anywhere has a part of one more cache line.
      prefetch(s.buffer, plus(at, kLine / size - 1), Cache::Second);
      at = b_.CreateAdd(at, b_.CreateSub(stride, b_.getInt64(static_cast<uint64_t>(lines - kLine / size))));
    }
    b_.CreateStore(b_.CreateMul(at, zero), fetched_);
  }
}

}  // namespace strata::codegen
