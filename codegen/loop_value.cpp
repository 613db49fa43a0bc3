// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions of a body: each is computed once at the level it depends on, for one element or for all lanes.

#include <algorithm>
#include <optional>

#include "codegen/loop_emitter.h"
#include "core/support/error.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

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

}  // namespace strata::codegen
