// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_llvm.h"

#include <algorithm>
#include <set>

#include "codegen/loop_emitter.h"

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
      Value* count = b_.CreateMul(expression(buffer.numel), constant(plan_.lanes));
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
  Value* whole = b_.CreateAnd(b_.CreateSub(high, low), constant(-step));
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
  Value* next = b_.CreateAdd(i, constant(step), "", true, true);
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
    Value* last = b_.CreateAdd(first, constant(block));
    loop(first, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, bound), step, partial, level, name, body);
    for (size_t r = 0; r < totals_.size(); ++r) end_block(r);
  });
  return bound;
}

void KernelEmitter::forget(int level) {
  std::erase_if(values_, [&](const auto& entry) { return dep_.level(entry.first) >= level; });
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
