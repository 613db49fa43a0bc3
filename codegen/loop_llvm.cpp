// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_llvm.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "codegen/loop_emitter.h"
#include "core/support/error.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

KernelEmitter::KernelEmitter(llvm::Module& module, const KernelPlan& plan, const Target& target)
    : module_(module),
      plan_(plan),
      k_(plan.kernel),
      target_(target),
      dep_(plan.kernel, plan.lanes_are_points),
      b_(module.getContext()),
      math_(b_, module, target) {}

/// For the steps of Welford's sums. Products of the program stay rounded (`MathEmitter::product`).
void KernelEmitter::allow_contraction() {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  b_.setFastMathFlags(flags);
}

llvm::Function* KernelEmitter::emit(const std::string& name, bool lines) {
  open_function(name);
  if (lines) attach_lines(name);
  set_line(0);
  load_arguments();
  emit_rows();
  return f_;
}

void KernelEmitter::open_function(const std::string& name) {
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, b_.getInt64Ty(), b_.getInt64Ty()}, false);
  f_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
  f_->addFnAttr("target-cpu", target_.cpu);
  f_->addFnAttr("target-features", target_.features);
  std::string bits = target_.avx512 && target_.vector_bits >= 512 ? "512" : target_.vector_bits >= 256 ? "256" : "128";
  f_->addFnAttr("prefer-vector-width", bits);
  f_->addFnAttr("min-legal-vector-width", bits);
  f_->addFnAttr(llvm::Attribute::NoUnwind);
  f_->setAlignment(llvm::Align(64));
  constexpr const char* names[] = {"buffers", "symbols", "begin", "end"};
  for (unsigned i = 0; i < 4; ++i) f_->getArg(i)->setName(names[i]);
  hoist_.assign(kPointLevel + 1, nullptr);
  b_.SetInsertPoint(block("entry"));
}

void KernelEmitter::attach_lines(const std::string& name) {
  llvm::DIBuilder debug(module_);
  auto* file = debug.createFile(name, ".");
  debug.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "strata", true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  auto* type = debug.createSubroutineType(debug.getOrCreateTypeArray({}));
  scope_ = debug.createFunction(file, name, name, file, 1, type, 1, llvm::DINode::FlagZero,
                                llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  f_->setSubprogram(scope_);
  debug.finalize();
  std::vector<uint64_t> nodes = kernel_lines(k_);
  for (size_t i = 0; i < nodes.size(); ++i) line_of_[nodes[i]] = static_cast<unsigned>(i + 1);
}

void KernelEmitter::set_line(uint64_t node) {
  if (!scope_) return;
  auto it = line_of_.find(node);
  unsigned line = it == line_of_.end() ? 0 : it->second;
  b_.SetCurrentDebugLocation(llvm::DILocation::get(module_.getContext(), line, 0, scope_));
}

llvm::BasicBlock* KernelEmitter::block(const char* name) { return Block::Create(module_.getContext(), name, f_); }

void KernelEmitter::begin_hoist(int level, const char* name) {
  if (static_cast<int>(hoist_.size()) <= level) hoist_.resize(static_cast<size_t>(level) + 1, nullptr);
  Block* hoist = block(name);
  Block* body = block("body");
  if (!b_.GetInsertBlock()->getTerminator()) go(hoist);
  b_.SetInsertPoint(hoist);
  go(body);
  hoist_[static_cast<size_t>(level)] = hoist;
  b_.SetInsertPoint(body);
}

void KernelEmitter::set_insert(int level) {
  if (level < depth_) b_.SetInsertPoint(hoist_[static_cast<size_t>(level)]->getTerminator());
}

llvm::AllocaInst* KernelEmitter::at_entry(llvm::Type* type, const char* name, Value* count) {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  Block& entry = f_->getEntryBlock();
  if (count) {
    b_.SetInsertPoint(entry.getTerminator());
  } else {
    b_.SetInsertPoint(&entry, entry.begin());
  }
  return b_.CreateAlloca(type, count, name);
}

void KernelEmitter::load_arguments() {
  Block* rows = block("rows");
  hoist_[kFunctionLevel] = b_.GetInsertBlock();
  go(rows);
  b_.SetInsertPoint(hoist_[kFunctionLevel]->getTerminator());
  for (size_t i = 0; i < k_.symbols.size(); ++i) {
    Value* at = b_.CreateConstGEP1_64(b_.getInt64Ty(), f_->getArg(1), i);
    symbols_[k_.symbols[i]] = b_.CreateLoad(b_.getInt64Ty(), at, "size");
  }
  depth_ = kFunctionLevel;
  for (BufferId i = 0; i < k_.buffers.size(); ++i) {
    const Buffer& buffer = k_.buffers[i];
    if (buffer.role == BufferRole::Local) {
      Value* count = b_.CreateMul(expression(buffer.numel), b_.getInt64(static_cast<uint64_t>(plan_.lanes)));
      auto* scratch = at_entry(math_.memory_type(buffer.dtype), "scratch", count);
      scratch->setAlignment(llvm::Align(64));
      buffers_.push_back(scratch);
    } else {
      Value* at = b_.CreateConstGEP1_64(b_.getPtrTy(), f_->getArg(0), i);
      buffers_.push_back(b_.CreateLoad(b_.getPtrTy(), at, "buffer"));
    }
  }
  b_.SetInsertPoint(rows);
}

// ------------------------------------------------------------------------------------------------------------ outer
// points

void KernelEmitter::emit_rows() {
  Value *begin = f_->getArg(2), *end = f_->getArg(3);
  Block *start = block("start"), *done = block("done");
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), start, done);
  b_.SetInsertPoint(start);
  depth_ = kRowLevel;
  size_t count = k_.outer.size();
  if (count <= 1) {
    begin_hoist(kRowLevel, "row");
    emit_points(begin, end);
    go(done);
    b_.SetInsertPoint(done);
    finish_function();
    return;
  }
  std::vector<Value*> extents, first(count);
  for (AxisId a : k_.outer) extents.push_back(expression(k_.axes[a].extent));
  Value* rest = begin;
  for (size_t i = count; i-- > 1;) {
    first[i] = b_.CreateURem(rest, extents[i]);
    rest = b_.CreateUDiv(rest, extents[i]);
  }
  first[0] = rest;

  // Rows in two loops, so that what only the other axes decide is computed once for all rows of the innermost two.
  llvm::Type* i64 = b_.getInt64Ty();
  Block *rows = block("rows"), *row = block("row"), *body = block("row.body");
  Block* from = b_.GetInsertBlock();
  go(rows);
  b_.SetInsertPoint(rows);
  auto* first_point = b_.CreatePHI(i64, 2, "point");
  auto* first_low = b_.CreatePHI(i64, 2, "low");
  std::vector<llvm::PHINode*> index;
  for (size_t i = 0; i + 1 < count; ++i) {
    index.push_back(b_.CreatePHI(i64, 2, "outer"));
    index[i]->addIncoming(first[i], from);
    symbols_[k_.axes[k_.outer[i]].symbol] = index[i];
  }
  first_point->addIncoming(begin, from);
  first_low->addIncoming(first[count - 1], from);
  go(row);
  b_.SetInsertPoint(row);
  auto* point = b_.CreatePHI(i64, 2, "point");
  auto* low = b_.CreatePHI(i64, 2, "low");
  auto* number = b_.CreatePHI(i64, 2, "row");
  point->addIncoming(first_point, rows);
  low->addIncoming(first_low, rows);
  number->addIncoming(index.back(), rows);
  symbols_[k_.axes[k_.outer[count - 2]].symbol] = number;
  go(body);
  hoist_[kRowLevel] = row;
  b_.SetInsertPoint(body);
  Value* left = b_.CreateAdd(low, b_.CreateSub(end, point));
  Value* high = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, extents[count - 1], left);
  emit_points(low, high);

  Value *next = b_.CreateAdd(point, b_.CreateSub(high, low)), *none = b_.getInt64(0);
  Block *more = block("more"), *advance = block("advance");
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), more, done);
  b_.SetInsertPoint(more);
  Value* next_row = b_.CreateAdd(number, b_.getInt64(1));
  b_.CreateCondBr(b_.CreateICmpSLT(next_row, extents[count - 2]), row, advance);
  point->addIncoming(next, more);
  low->addIncoming(none, more);
  number->addIncoming(next_row, more);

  b_.SetInsertPoint(advance);
  index.back()->addIncoming(none, advance);
  Value* carry = b_.getTrue();
  for (size_t i = count - 2; i-- > 0;) {
    Value* up = b_.CreateAdd(index[i], b_.CreateZExt(carry, i64));
    carry = b_.CreateICmpEQ(up, extents[i]);
    index[i]->addIncoming(b_.CreateSelect(carry, none, up), advance);
  }
  first_point->addIncoming(next, advance);
  first_low->addIncoming(none, advance);
  go(rows);
  b_.SetInsertPoint(done);
  finish_function();
}

/// Stores past the caches are not ordered with what follows otherwise.
void KernelEmitter::finish_function() {
  const auto& streamed = plan_.streamed;
  if (std::find(streamed.begin(), streamed.end(), 1) != streamed.end())
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  tell_violations();
  b_.CreateRetVoid();
}

/// Where so many whole steps from `low` end as there are before `high`.
llvm::Value* KernelEmitter::end_of_steps(Value* low, Value* high, int64_t step) {
  Value* whole = b_.CreateAnd(b_.CreateSub(high, low), b_.getInt64(static_cast<uint64_t>(-step)));
  return b_.CreateAdd(low, whole);
}

llvm::Value* KernelEmitter::loop(Value* low, Value* high, int64_t step, bool partial, int level, const char* name,
                                 const std::function<void(Value*)>& body) {
  if (static_cast<int>(hoist_.size()) <= level) hoist_.resize(static_cast<size_t>(level) + 1, nullptr);
  Block *head = block(name), *run = block("loop"), *exit = block("exit");
  Block* from = b_.GetInsertBlock();
  // Counting to a bound that whole steps reach keeps the loop's end a plain comparison.
  Value* bound = partial || step == 1 ? high : end_of_steps(low, high, step);
  b_.CreateCondBr(b_.CreateICmpSLT(low, bound), head, exit);
  b_.SetInsertPoint(head);
  auto* i = b_.CreatePHI(b_.getInt64Ty(), 2, "i");
  i->addIncoming(low, from);
  go(run);
  hoist_[static_cast<size_t>(level)] = head;
  b_.SetInsertPoint(run);
  body(i);
  set_line(0);
  Value* next = b_.CreateAdd(i, b_.getInt64(static_cast<uint64_t>(step)), "", true, true);
  Block* last = b_.GetInsertBlock();
  i->addIncoming(next, last);
  b_.CreateCondBr(b_.CreateICmpSLT(next, bound), head, exit);
  b_.SetInsertPoint(exit);
  return bound;
}

llvm::Value* KernelEmitter::axis_loop(size_t axis, Value* low, Value* high, int64_t step, bool partial, int level,
                                      const char* name, const std::function<void(Value*)>& body) {
  const NestPlan& p = plan_.nests[nest_];
  if (p.block == 0 || p.block_axis != axis) return loop(low, high, step, partial, level, name, body);
  const int64_t block = step * p.block;
  Value* bound = partial ? high : end_of_steps(low, high, step);
  loop(low, bound, block, true, level, "block", [&](Value* first) {
    Value* last = b_.CreateAdd(first, b_.getInt64(static_cast<uint64_t>(block)));
    loop(first, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, bound), step, partial, level, name, body);
    for (size_t r = 0; r < totals_.size(); ++r) end_block(r);
  });
  return bound;
}

void KernelEmitter::forget(int level) {
  std::erase_if(values_, [&](const auto& entry) { return dep_.level(entry.first) >= level; });
}

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
  unsigned lanes = lanes_;
  for (size_t n = 0; n < k_.nests.size(); ++n) {
    lanes_ = lanes;
    depth_ = kPointLevel;
    nest_ = n;
    emit_nest(n);
  }
  lanes_ = lanes;
  depth_ = kPointLevel;
  forget(kPointLevel);
  reduced_.clear();
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
  axis_loop(all_in_rest, rest, extent, lanes_, true, level, "rest", [&](Value* i) {
    symbols_[axis.symbol] = i;
    if (can_mask) only_before(extent, i);
    const size_t copy = can_mask ? 0 : scalar_copy_;
    emit_late_body(copy);
    emit_body(copy);
    if (can_mask) fetch_ahead(0);
    forget(level);
  });
  active_ = active_count_ = nullptr;
  lanes_ = width;
}

bool KernelEmitter::goes_through_line(size_t n) const {
  const auto is_guessed = [&](const Shares& s) { return s.guessed && s.largest == n; };
  return !k_.nests[n].axes.empty() && std::ranges::none_of(plan_.shares, is_guessed);
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
    if (n != nest_ && goes_through_line(n)) ++(n < nest_ ? before : later);
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
    if (!begins_cache_line(copy, share, dtype_size(k_.buffers[s.buffer].dtype))) continue;
    const SymInt next = linear_in(s.index, outer)->coefficient * SymInt(plan_.ahead_points);
    // The load may stand in another nest, with an axis of its own.
    for (const Nest& other : k_.nests) {
      if (other.axes.size() != 1 || std::find(other.body.begin(), other.body.end(), id) == other.body.end()) continue;
      const Axis& own = k_.axes[other.axes[0]];
      if (!(own.extent == lane.extent)) continue;
      Value* start = expression(linear_in(s.index, own.symbol)->rest + next + start_of_share);
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

// ------------------------------------------------------------------------------------------------------------
// instructions

llvm::Value* KernelEmitter::get(ScalarId id) {
  auto it = values_.find(id);
  if (it == values_.end()) throw_internal("codegen: %" + std::to_string(id) + " of '" + k_.name + "' is not available");
  return it->second;
}

llvm::Value* KernelEmitter::get(ScalarId id, bool vector) {
  Value* v = get(id);
  return vector && !MathEmitter::lanes_of(v) ? b_.CreateVectorSplat(lanes_, v) : v;
}

llvm::Value* KernelEmitter::emit_scalar(ScalarId id) {
  if (auto it = values_.find(id); it != values_.end()) return it->second;
  const Scalar& s = k_.scalars[id];
  if (s.op == ScalarOp::Reduced && s.a == nest_) accumulate(s.b, copy_);
  int level = dep_.level(id);
  bool hoisted = level < depth_;
  // Where the builder stands, what is computed may go on in another block.
  std::optional<llvm::IRBuilder<>::InsertPointGuard> guard;
  if (hoisted) guard.emplace(b_);
  set_insert(level);
  set_line(s.node);
  int depth = depth_;
  // While the builder stands in a hoist block, that level counts as the innermost: nothing may go behind it.
  if (hoisted) depth_ = level;
  Value* v = compute(s, vector(id));
  depth_ = depth;
  values_[id] = v;
  return v;
}

llvm::Value* KernelEmitter::compute(const Scalar& s, bool vector) {
  switch (s.op) {
    case ScalarOp::Const:
      return math_.constant(s.dtype, s.number, s.integer);
    case ScalarOp::Index:
      return vector ? lane_expression(s.index, b_.getInt64Ty()) : expression(s.index);
    case ScalarOp::Load:
      return emit_load(s, vector);
    case ScalarOp::Reduced: {
      if (s.a == nest_) return load_accumulator(accumulators_[copy_][s.b])[static_cast<size_t>(s.integer)];
      return reduced_.at({s.a, s.b, static_cast<size_t>(s.integer)});
    }
    case ScalarOp::Cast:
      if (vector && k_.scalars[s.a].op == ScalarOp::Index && is_floating(s.dtype))
        if (Value* a = in_32_bits(s.a)) return math_.cast(a, DType::I32, s.dtype);
      return math_.cast(get(s.a, vector), k_.scalars[s.a].dtype, s.dtype);
    case ScalarOp::Bitcast: {
      Value* a = get(s.a, vector);
      return b_.CreateBitCast(a, math_.like(math_.register_type(s.dtype), a));
    }
    case ScalarOp::Select:
      return b_.CreateSelect(get(s.a, vector), get(s.b, vector), get(s.c, vector));
    case ScalarOp::Check:
      return emit_check(s, vector);
    case ScalarOp::Fma:
      return math_.fma(get(s.a, vector), get(s.b, vector), get(s.c, vector));
    default:
      break;
  }
  DType type = k_.scalars[s.a].dtype;
  if (vector && is_comparison(s.op)) {
    Value *a = in_32_bits(s.a), *b = a ? in_32_bits(s.b) : nullptr;
    if (b) return math_.binary(s.op, a, b, DType::I32);
  }
  if (s.op == ScalarOp::Exp && is_part_of_sum(s)) return math_.exp_of_difference(get(s.a, vector));
  if (is_unary(s.op)) return math_.unary(s.op, get(s.a, vector), type);
  if (s.op == ScalarOp::Div && vector)
    if (Value* quotient = divide_by_one(s)) return quotient;
  return math_.binary(s.op, get(s.a, vector), get(s.b, vector), type);
}

bool KernelEmitter::is_part_of_sum(const Scalar& s) const {
  return std::any_of(plan_.shares.begin(), plan_.shares.end(),
                     [&](const Shares& shares) { return &k_.scalars[k_.nests[shares.sum].reductions[0].value] == &s; });
}

/// Whether a quotient is that of an exponential and the sum of all of them, as in softmax: the dividend was put into
/// scratch as it was summed up.
bool KernelEmitter::is_share(const Scalar& s) const {
  const Scalar &a = k_.scalars[s.a], &b = k_.scalars[s.b];
  if (b.op != ScalarOp::Reduced || a.op != ScalarOp::Load || k_.buffers[a.buffer].role != BufferRole::Local)
    return false;
  const Reduction& sum = k_.nests[b.a].reductions[b.b];
  if (sum.combine != Combine::Sum || sum.mask != kNone || k_.scalars[sum.value].op != ScalarOp::Exp) return false;
  for (const Nest& nest : k_.nests)
    for (const Store& store : nest.stores)
      if (store.buffer == a.buffer && store.value != sum.value) return false;
  return true;
}

/// Lanes that go by one and the same number, which is taken apart outside the loop: a division takes as long as eight
/// products. Nothing where it is not so.
llvm::Value* KernelEmitter::divide_by_one(const Scalar& s) {
  const int level = dep_.level(s.b);
  Value* a = get(s.a, true);
  if (level >= depth_ || vector(s.b) || k_.scalars[s.b].op == ScalarOp::Const) return nullptr;
  if (math_.has_shares(a) && is_share(s)) {
    MathEmitter::Whole whole;
    {
      const llvm::IRBuilder<>::InsertPointGuard guard(b_);
      set_insert(level);
      // The largest number less itself is 0: one of the exponentials is 1, and none is more than e^8.
      const size_t nest = k_.scalars[s.b].a;
      const auto adds_up = [&](const Shares& shares) { return shares.sum == nest; };
      whole = math_.whole(get(s.b), std::ranges::any_of(plan_.shares, adds_up));
    }
    return math_.share(a, whole);
  }
  if (!math_.has_divisors(a)) return nullptr;
  MathEmitter::Divisor divisor;
  {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    set_insert(level);
    divisor = math_.divisor(get(s.b));
  }
  return math_.quotient(a, get(s.b, true), divisor);
}

std::vector<uint64_t> kernel_lines(const Kernel& kernel) {
  std::set<uint64_t> nodes;
  for (const Scalar& s : kernel.scalars) nodes.insert(s.node);
  for (const Nest& nest : kernel.nests) {
    for (const Reduction& r : nest.reductions) nodes.insert(r.node);
    for (const Store& s : nest.stores) nodes.insert(s.node);
  }
  nodes.erase(0);
  return {nodes.begin(), nodes.end()};
}

llvm::Function* emit_kernel(llvm::Module& module, const KernelPlan& plan, const std::string& name, const Target& target,
                            bool lines) {
  return KernelEmitter(module, plan, target).emit(name, lines);
}

}  // namespace strata::codegen
