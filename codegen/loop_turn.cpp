// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tiles of the emitter (loop_tile.h): a square of elements is loaded along the first inner axis, one vector for each
// lane, and transposed in registers; then the body runs once for each row of the square, with lanes along the last
// axis.

#include "codegen/loop_emitter.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

void KernelEmitter::emit_tiles() {
  const Nest& nest = k_.nests[nest_];
  const Axis &row = k_.axes[nest.axes[0]], &lane = k_.axes[nest.axes[1]];
  depth_ = kInnerLevel;
  Value *rows = expression(row.extent), *points = expression(lane.extent);
  const unsigned width = lanes_;
  if (lane.extent == SymInt(int64_t{width})) {
    emit_whole_tiles(rows);
  } else {
    Block *whole = block("whole"), *part = block("part"), *done = block("tiled");
    b_.CreateCondBr(b_.CreateICmpEQ(points, b_.getInt64(width)), whole, part);
    b_.SetInsertPoint(whole);
    emit_whole_tiles(rows);
    go(done);
    b_.SetInsertPoint(part);
    emit_part_tiles(rows, points);
    go(done);
    b_.SetInsertPoint(done);
  }
  lanes_ = width;
}

/// All lanes count.
void KernelEmitter::emit_whole_tiles(Value* rows) {
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  const auto body_at = [&](Value* i) {
    symbols_[row] = i;
    emit_body(0);
    forget(kInnerLevel);
  };
  depth_ = dep_.depth(nest_);
  symbols_[lane] = b_.getInt64(0);
  Value* rest = loop(b_.getInt64(0), rows, lanes_, false, kInnerLevel, "tile", [&](Value* i) {
    symbols_[row] = i;
    fetch_squares(rows);
    std::vector<std::pair<ScalarId, std::vector<Value*>>> squares;
    for (ScalarId id : plan_.nests[nest_].turned) squares.emplace_back(id, turned_rows(k_.scalars[id]));
    forget(kInnerLevel);
    for (unsigned r = 0; r < lanes_; ++r) {
      for (const auto& [id, vectors] : squares) values_[id] = vectors[r];
      llvm::IRBuilder<> head(hoist_[kInnerLevel]->getTerminator());
      body_at(head.CreateAdd(i, b_.getInt64(r)));
    }
  });
  loop(rest, rows, 1, false, kInnerLevel, "rest", body_at);
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
    for (unsigned i = 0; i < lanes_; ++i) prefetch(s.buffer, b_.CreateAdd(base, b_.CreateMul(stride, b_.getInt64(i))));
  }
}

/// Fewer points than lanes, at the end of the axis.
void KernelEmitter::emit_part_tiles(Value* rows, Value* points) {
  const Nest& nest = k_.nests[nest_];
  const size_t row = k_.axes[nest.axes[0]].symbol, lane = k_.axes[nest.axes[1]].symbol;
  depth_ = dep_.depth(nest_);
  if (target_.avx512) {
    symbols_[lane] = b_.getInt64(0);
    active_count_ = b_.CreateTrunc(points, b_.getInt32Ty());
    active_ = b_.CreateICmpULT(lane_numbers(b_.getInt32Ty()), b_.CreateVectorSplat(lanes_, active_count_));
  } else {
    lanes_ = 1;
  }
  loop(b_.getInt64(0), rows, 1, false, kInnerLevel, "row", [&](Value* i) {
    symbols_[row] = i;
    const auto body_at = [&](Value* at) {
      symbols_[lane] = at;
      emit_body(0);
      forget(dep_.depth(nest_));
    };
    if (lanes_ > 1) {
      body_at(b_.getInt64(0));
    } else {
      loop(b_.getInt64(0), points, 1, false, dep_.depth(nest_), "lane", body_at);
    }
    forget(kInnerLevel);
  });
  active_ = active_count_ = nullptr;
}

/// Vectors along the lanes, one for each row of the square that begins where the loops stand.
std::vector<llvm::Value*> KernelEmitter::turned_rows(const Scalar& s) {
  const size_t lane = k_.axes[k_.nests[nest_].axes[1]].symbol;
  const DType stored = k_.buffers[s.buffer].dtype;
  set_line(s.node);
  auto* type = llvm::FixedVectorType::get(math_.memory_type(stored), lanes_);
  Value *base = expression(s.index), *stride = expression(linear_in(s.index, lane)->coefficient);
  std::vector<Value*> square;
  for (unsigned i = 0; i < lanes_; ++i) {
    Value* at = b_.CreateAdd(base, b_.CreateMul(stride, b_.getInt64(i)));
    square.push_back(b_.CreateAlignedLoad(type, pointer(s.buffer, at), align_of(s.buffer)));
  }
  // Bit by bit, the number of a vector and that of an element in it change places.
  for (unsigned bit = lanes_ / 2; bit > 0; bit /= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned n = 0; n < lanes_; ++n) {
      low.push_back(static_cast<int>((n & bit) != 0 ? lanes_ + n - bit : n));
      high.push_back(static_cast<int>((n & bit) != 0 ? lanes_ + n : n + bit));
    }
    for (unsigned i = 0; i < lanes_; ++i) {
      if ((i & bit) != 0) continue;
      Value *first = square[i], *second = square[i + bit];
      square[i] = b_.CreateShuffleVector(first, second, low);
      square[i + bit] = b_.CreateShuffleVector(first, second, high);
    }
  }
  for (Value*& v : square) v = math_.widen(v, stored);
  return square;
}

}  // namespace strata::codegen
