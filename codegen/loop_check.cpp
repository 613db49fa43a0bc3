// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Checks of data. Each has one place per vector width that keeps a value which violated it; LLVM turns the places into
// registers, so that a check in a loop is a comparison and two selects. What was found is told at the function's end,
// in *cells*: two 64-bit words per check, "violated" and the value. Any thread may be the last to write there.

#include "codegen/loop_emitter.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

llvm::AllocaInst* KernelEmitter::violation_place(int64_t check, llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::AllocaInst*& place = violations_[{check, type->getScalarSizeInBits(), vector ? vector->getNumElements() : 1}];
  if (place) return place;
  place = at_entry(type, "violation");
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(place->getNextNode());
  const int64_t none = k_.checks[static_cast<size_t>(check)].unviolated();
  b_.CreateStore(llvm::ConstantInt::getSigned(type, none), place);
  return place;
}

llvm::Value* KernelEmitter::emit_check(const Scalar& s, bool vector) {
  Value *value = get(s.a, vector), *holds = get(s.b, vector), *instead = get(s.c, vector);
  Value* violated = b_.CreateNot(holds);
  if (vector && active_) violated = b_.CreateAnd(violated, active_);
  llvm::AllocaInst* place = violation_place(s.integer, value->getType());
  Value* before = b_.CreateLoad(value->getType(), place);
  b_.CreateStore(b_.CreateSelect(violated, value, before), place);
  return b_.CreateSelect(holds, value, instead);
}

void KernelEmitter::tell_violations() {
  for (const auto& [key, place] : violations_) {
    const int64_t check = std::get<0>(key);
    llvm::Type* type = place->getAllocatedType();
    Value* found = b_.CreateLoad(type, place);
    Value* none = llvm::ConstantInt::getSigned(type, k_.checks[static_cast<size_t>(check)].unviolated());
    Value* violated = b_.CreateICmpNE(found, none);
    if (MathEmitter::lanes_of(found)) {
      // The largest of those that violate: of indices, which are 64 bits wide; all wrong divisors are 0.
      const bool wide = type->getScalarSizeInBits() == 64;
      Value* others = llvm::ConstantInt::getSigned(type, wide ? INT64_MIN : 0);
      found = b_.CreateIntMaxReduce(b_.CreateSelect(violated, found, others), true);
      violated = b_.CreateOrReduce(violated);
    }
    Block *tell = block("violated"), *next = block("checked");
    b_.CreateCondBr(violated, tell, next);
    b_.SetInsertPoint(tell);
    Value* at = b_.CreateConstGEP1_64(b_.getPtrTy(), f_->getArg(1), k_.symbols.size());
    Value* cells = b_.CreateLoad(b_.getPtrTy(), at, "cells");
    const auto write = [&](int64_t word, Value* what) {
      Value* cell = b_.CreateConstGEP1_64(b_.getInt64Ty(), cells, static_cast<uint64_t>(2 * check + word));
      auto* store = b_.CreateAlignedStore(what, cell, llvm::Align(8));
      store->setAtomic(llvm::AtomicOrdering::Monotonic);
    };
    write(1, b_.CreateSExt(found, b_.getInt64Ty()));
    write(0, b_.getInt64(1));
    go(next);
    b_.SetInsertPoint(next);
  }
}

}  // namespace strata::codegen
