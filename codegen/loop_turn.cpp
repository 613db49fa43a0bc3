// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tiles of the emitter (loop_tile.h): a square of elements is loaded along the first inner axis, one vector for each
// lane, and transposed in registers; then the body runs once for each row of the square, with lanes along the last
// axis.

#include <algorithm>

#include "codegen/loop_emitter.h"
#include "codegen/loop_tile.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

void KernelEmitter::emit_tiles() {
  const Nest& nest = k_.nests[nest_];
  const Axis &row = k_.axes[nest.axes[0]], &lane = k_.axes[nest.axes[1]];
  depth_ = kInnerLevel;
  Value *rows = expression(row.extent), *points = expression(lane.extent);
  const unsigned width = lanes_, squares = static_cast<unsigned>(plan_.nests[nest_].squares);
  Value* none = b_.getInt64(0);
  if (plan_.nests[nest_].strip > 0) {
    emit_tile_in_strips(rows, points);
  } else if (plan_.nests[nest_].run > 0) {
    emit_tile_in_runs(rows, points);
  } else if (lane.extent == SymInt(int64_t{width} * squares)) {
    emit_whole_tiles(none, rows, none, squares);
  } else {
    Block *whole = block("whole"), *part = block("part"), *done = block("tiled");
    b_.CreateCondBr(b_.CreateICmpEQ(points, b_.getInt64(width * squares)), whole, part);
    b_.SetInsertPoint(whole);
    emit_whole_tiles(none, rows, none, squares);
    go(done);
    b_.SetInsertPoint(part);
    if (squares > 1) {
      emit_squares(none, rows, points);
    } else {
      emit_part_tiles(none, rows, points, none);
    }
    go(done);
    b_.SetInsertPoint(done);
  }
  lanes_ = width;
}

/// Rows from `low` on, one square after the other along the lanes, and what is left of one.
void KernelEmitter::emit_squares(Value* low, Value* rows, Value* points) {
  Value* first = loop(b_.getInt64(0), points, lanes_, false, kInnerLevel, "square",
                      [&](Value* at) { emit_whole_tiles(low, rows, at, 1); });
  Block *rest = block("part.rest"), *done = block("squares");
  b_.CreateCondBr(b_.CreateICmpSLT(first, points), rest, done);
  b_.SetInsertPoint(rest);
  emit_part_tiles(low, rows, points, first);
  go(done);
  b_.SetInsertPoint(done);
}

/// Rows from `low` on, `squares` squares side by side from lane `first`, in which all lanes count.
void KernelEmitter::emit_whole_tiles(Value* low, Value* rows, Value* first, unsigned squares) {
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  const auto body_at = [&](Value* i) {
    symbols_[row] = i;
    emit_body(0);
    forget(kInnerLevel);
  };
  const auto begin_square = [&](unsigned square) {
    symbols_[lane] = b_.CreateAdd(first, b_.getInt64(square * lanes_));
  };
  const bool by_tile = plan_.nests[nest_].squares > 1, by_square = !by_tile && plan_.nests[nest_].run == 0;
  const bool by_strip = plan_.nests[nest_].strip > 0, by_page = plan_.nests[nest_].page > 0;
  depth_ = dep_.depth(nest_);
  begin_square(0);
  Value* rest = loop(low, rows, lanes_, false, kInnerLevel, "tile", [&](Value* i) {
    std::vector<Turned> turned(squares);
    std::vector<Value*> starts;
    std::vector<std::pair<BufferId, Value*>> lines;
    for (unsigned square = 0; square < squares; ++square) {
      symbols_[row] = i;
      begin_square(square);
      starts.push_back(symbols_[lane]);
      if (by_square) fetch_squares(rows);
      if (by_tile) std::ranges::copy(lines_of_next_tile(square), std::back_inserter(lines));
      if (by_strip && !by_page) lines = lines_of_next_strip(i, first);
      turned[square] = turned_square();
    }
    const auto write_rows = [&] {
      size_t fetched = 0;
      if (by_strip) strip_.square = b_.CreateAdd(i, strip_.to_scratch);
      for (unsigned r = 0; r < lanes_; ++r) {
        // Neighbours in memory are stored one after the other.
        for (unsigned square = 0; square < squares; ++square) {
          symbols_[lane] = starts[square];
          strip_.row = r;
          emit_turned_row(turned[square], i, r);
        }
        // Between the stores, so that neither waits for the other.
        for (; fetched * lanes_ < lines.size() * (r + 1); ++fetched)
          prefetch(lines[fetched].first, lines[fetched].second, Cache::Second);
      }
    };
    symbols_[row] = i;
    symbols_[lane] = starts[0];
    Value* aligned = puts_in_runs_ ? nullptr : tile_is_aligned();
    if (!aligned) {
      write_rows();
      strip_.square = nullptr;
      if (by_strip) store_and_fetch();
      return;
    }
    // Asked once, and not between the vectors, which could not all stay in registers.
    in_two_ways(aligned, [&](bool past) {
      aligned_ = past;
      write_rows();
    });
    aligned_.reset();
  });
  for (unsigned square = 0; square < squares; ++square) {
    begin_square(square);
    loop(rest, rows, 1, false, kInnerLevel, "rest", body_at);
  }
}

/// Whether every vector of the tile that begins where the loops stand may go past the caches, or null: none does.
llvm::Value* KernelEmitter::tile_is_aligned() {
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol;
  Value* low = nullptr;
  for (const Store& s : nest.stores) {
    if (!plan_.streamed[s.buffer]) continue;
    const uint64_t size = dtype_size(k_.buffers[s.buffer].dtype);
    Value* pitch = b_.CreateMul(expression(linear_in(s.index, row)->coefficient), b_.getInt64(size));
    Value* bits = bits_past_vector(s.buffer, expression(s.index), pitch);
    low = low ? b_.CreateOr(low, bits) : bits;
  }
  return low ? b_.CreateICmpEQ(low, b_.getInt64(0)) : nullptr;
}

/// While a tile is at work, the rows of the next one are fetched: each square has as many lines to fetch as its share.
std::vector<std::pair<BufferId, llvm::Value*>> KernelEmitter::lines_of_next_tile(unsigned square) {
  constexpr int64_t kLinesOfRow = kTileRowBytes / kCacheLine;
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  const int64_t width = lanes_, squares = plan_.nests[nest_].squares;
  std::vector<std::pair<BufferId, Value*>> lines;
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    const auto size = static_cast<int64_t>(dtype_size(k_.buffers[s.buffer].dtype));
    const int64_t share = std::max<int64_t>(width * width * size / kCacheLine, 1);
    const auto across = linear_in(s.index, lane);
    Value* start = expression(linear_in(across->rest, row)->rest + SymInt(kTileRowBytes / size));
    // Number of the square in the tile, and of the first line of its share.
    Value* number = b_.CreateMul(symbols_.at(row), constant(squares));
    number = b_.CreateAdd(b_.CreateUDiv(number, b_.getInt64(lanes_)), b_.getInt64(square));
    Value* line = b_.CreateMul(number, constant(share));
    Value* at_row = b_.CreateUDiv(line, b_.getInt64(kLinesOfRow));
    Value* column = b_.CreateMul(b_.CreateURem(line, b_.getInt64(kLinesOfRow)), constant(kCacheLine / size));
    Value* at = b_.CreateAdd(b_.CreateAdd(start, column), b_.CreateMul(at_row, expression(across->coefficient)));
    for (int64_t i = 0; i < share; ++i) lines.emplace_back(s.buffer, b_.CreateAdd(at, constant(i * kCacheLine / size)));
  }
  return lines;
}

/// Two cache lines ahead in every row of the square; at the end of the rows, what the next tile begins with.
void KernelEmitter::fetch_squares(Value* rows) {
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  for (ScalarId id : plan_.ahead) {
    const Scalar& s = k_.scalars[id];
    Value* ahead = b_.getInt64(128 / dtype_size(k_.buffers[s.buffer].dtype));
    Value *base = expression(s.index), *stride = expression(linear_in(s.index, lane)->coefficient);
    Value* next_tile = b_.CreateSub(b_.CreateMul(stride, b_.getInt64(lanes_)), rows);
    Value* inside = b_.CreateICmpSLT(b_.CreateAdd(symbols_.at(row), ahead), rows);
    base = b_.CreateAdd(base, b_.CreateAdd(ahead, b_.CreateSelect(inside, b_.getInt64(0), next_tile)));
    for (unsigned i = 0; i < lanes_; ++i)
      prefetch(s.buffer, b_.CreateAdd(base, b_.CreateMul(stride, b_.getInt64(i))), Cache::First);
  }
}

/// Fewer points than lanes, at the end of the axis, of rows from `low` on.
void KernelEmitter::emit_part_tiles(Value* low, Value* rows, Value* points, Value* first) {
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  depth_ = dep_.depth(nest_);
  Value* begin = low;
  if (plan_.masks) {
    symbols_[lane] = first;
    active_count_ = b_.CreateTrunc(b_.CreateSub(points, first), b_.getInt32Ty());
    active_ = b_.CreateICmpULT(lane_numbers(b_.getInt32Ty()), b_.CreateVectorSplat(lanes_, active_count_));
    begin = loop(begin, rows, lanes_, false, kInnerLevel, "tile", [&](Value* i) {
      symbols_[row] = i;
      const Turned turned = turned_square();
      for (unsigned r = 0; r < lanes_; ++r) emit_turned_row(turned, i, r);
    });
  } else {
    lanes_ = 1;
  }
  loop(begin, rows, 1, false, kInnerLevel, "row", [&](Value* i) {
    symbols_[row] = i;
    const auto body_at = [&](Value* at) {
      symbols_[lane] = at;
      emit_body(0);
      forget(dep_.depth(nest_));
    };
    if (lanes_ > 1) {
      body_at(first);
    } else {
      loop(first, points, 1, false, dep_.depth(nest_), "lane", body_at);
    }
    forget(kInnerLevel);
  });
  active_ = active_count_ = nullptr;
}

/// All loads that are turned, of the square that begins where the loops stand.
KernelEmitter::Turned KernelEmitter::turned_square() {
  Turned turned;
  for (ScalarId id : plan_.nests[nest_].turned) turned.emplace_back(id, turned_rows(k_.scalars[id]));
  forget(kInnerLevel);
  return turned;
}

/// The body at row `first + r` of a square.
void KernelEmitter::emit_turned_row(const Turned& turned, Value* first, unsigned r) {
  for (const auto& [id, vectors] : turned) values_[id] = vectors[r];
  llvm::IRBuilder<> head(hoist_[kInnerLevel]->getTerminator());
  symbols_[k_.axes[k_.nests[nest_].axes[0]].symbol] = head.CreateAdd(first, b_.getInt64(r));
  emit_body(0);
  forget(kInnerLevel);
}

/// Vectors along the lanes that count, one for each row of the square that begins where the loops stand.
std::vector<llvm::Value*> KernelEmitter::turned_rows(const Scalar& s) {
  const size_t lane = k_.axes[k_.nests[nest_].axes[1]].symbol;
  const DType stored = k_.buffers[s.buffer].dtype;
  set_line(s.node);
  auto* type = llvm::FixedVectorType::get(math_.memory_type(stored), lanes_);
  Value *base = expression(s.index), *stride = expression(linear_in(s.index, lane)->coefficient);
  std::vector<Value*> square;
  for (unsigned i = 0; i < lanes_; ++i) {
    Value* at = b_.CreateAdd(base, b_.CreateMul(stride, b_.getInt64(i)));
    if (!active_) {
      square.push_back(b_.CreateAlignedLoad(type, pointer(s.buffer, at), align_of(s.buffer)));
    } else {
      Value* counts = b_.CreateVectorSplat(lanes_, b_.CreateICmpULT(b_.getInt32(i), active_count_));
      square.push_back(b_.CreateMaskedLoad(type, pointer(s.buffer, at), align_of(s.buffer), counts,
                                           llvm::Constant::getNullValue(type)));
    }
  }
  turn(square, dtype_size(stored));
  for (Value*& v : square) v = math_.widen(v, stored);
  return square;
}

/// As many vectors of `bytes` an element as they have lanes, transposed by instructions that each take two vectors and
/// spoil none: within 128 bits, pairs of ever larger groups are put side by side; then the 128 bits change places.
void KernelEmitter::turn(std::vector<Value*>& square, size_t bytes) {
  const auto lanes = static_cast<unsigned>(square.size());
  const unsigned each = std::min(lanes, static_cast<unsigned>(16 / bytes));
  llvm::SmallVector<int, 64> low, high;
  const auto stage = [&](unsigned distance) {
    for (unsigned i = 0; i < lanes; ++i) {
      if ((i & distance) != 0) continue;
      Value *first = square[i], *second = square[i + distance];
      square[i] = b_.CreateShuffleVector(first, second, low);
      square[i + distance] = b_.CreateShuffleVector(first, second, high);
    }
    low.clear();
    high.clear();
  };
  for (unsigned group = 1; group < each; group *= 2) {
    for (unsigned n = 0; n < lanes; ++n) {
      const unsigned start = n / each * each, pair = n % each / (2 * group);
      const unsigned at = start + pair * group + n % group + ((n & group) != 0 ? lanes : 0);
      low.push_back(static_cast<int>(at));
      high.push_back(static_cast<int>(at + each / 2));
    }
    stage(group);
  }
  for (unsigned distance = each; distance < lanes; distance *= 2) {
    for (unsigned n = 0; n < lanes; ++n) {
      const unsigned at = n / each * 2 * each + n % each;  // even ones of the first vector, then of the second
      low.push_back(static_cast<int>(at));
      high.push_back(static_cast<int>(at + each));
    }
    stage(distance);
  }
  // Of the columns of 128 bits, each has come to the place whose number has its bits in the other order.
  std::vector<Value*> ordered(lanes);
  for (unsigned n = 0; n < lanes; ++n) {
    unsigned column = n / each * each;
    for (unsigned bit = 1, mirrored = each / 2; bit < each; bit *= 2, mirrored /= 2)
      if ((n & bit) != 0) column += mirrored;
    ordered[column] = square[n];
  }
  square = std::move(ordered);
}

}  // namespace strata::codegen
