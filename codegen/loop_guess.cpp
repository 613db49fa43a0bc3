// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Softmax without a pass for the largest x of a line: shares are the same whatever is subtracted from all x, as long as
// no exponential overflows and the sum of them does not vanish. The largest of some vectors of the line will do.
//
//   g = the largest of four vectors
//   for each x: e = e^(x - g), kept; sum += e; larger = max(larger, x - g)
//   if larger is too much: the largest of all, and the loop above with it
//   shares e / sum
//
// Where one of the line is NaN, the sum and all shares are, as they should be.

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "codegen/loop_emitter.h"
#include "codegen/loop_pair.h"
#include "codegen/loop_sum_exp.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr int64_t kShortest = 8;              // vectors of a line
constexpr int64_t kLong = 512;                // vectors
constexpr int64_t kParts = 4, kMany = 16;     // of a line, and of a long one; a vector of each is looked at
constexpr double kMuch = 8, kMuchInSum = 16;  // a difference is off by half a unit in its last place, and so is e^it

}  // namespace

void choose_guesses(KernelPlan& plan) {
  const Kernel& k = plan.kernel;
  if (plan.lanes_are_points) return;
  for (Shares& s : plan.shares) {
    bool checks = false;
    for (size_t n = s.largest; n <= s.sum; ++n) checks = checks || has_checks(k, k.nests[n]);
    if (checks) continue;
    const NestPlan &a = plan.nests[s.largest], &b = plan.nests[s.sum];
    const SymRange extent = range(k.axes[k.nests[s.sum].axes[0]].extent);
    // What the first pass would keep for the second has to be computed.
    if (!k.nests[s.largest].stores.empty() || a.lanes != b.lanes || a.lanes < 2 || extent.min < kShortest * a.lanes)
      continue;
    // Gone through again, a line must be what it was.
    const Nest& sum = k.nests[s.sum];
    s.guessed = !reads_what_is_written(k, sum, sum) && !reads_what_is_written(k, k.nests[s.largest], sum);
  }
}

const Shares* KernelEmitter::guess_of(size_t Shares::* nest) const {
  if (once_more_) return nullptr;
  const auto is_it = [&](const Shares& s) { return s.guessed && s.*nest == nest_; };
  const auto it = std::ranges::find_if(plan_.shares, is_it);
  return it == plan_.shares.end() ? nullptr : &*it;
}

/// Of the values of the nest's reduction, the largest of some vectors, and a finite number if that is -infinity, from
/// which differences would be NaN. NaN only if there is one among the values.
llvm::Value* KernelEmitter::guessed_largest() {
  const Nest& nest = k_.nests[nest_];
  const SymInt extent = k_.axes[nest.axes[0]].extent, lanes{int64_t{lanes_}};
  const int64_t parts = range(extent).min >= kLong * int64_t{lanes_} ? kMany : kParts;
  const SymInt part = floordiv(extent, SymInt(parts) * lanes) * lanes;
  Value* v = nullptr;
  for (int64_t i = 0; i < parts; ++i) {
    Value* next = value_at(nest.reductions[0].value, expression(part * SymInt(i)));
    v = v ? larger(v, next) : next;
  }
  v = extremum_of_numbers(v, true);
  Value* least = llvm::ConstantFP::get(v->getType(), double{std::numeric_limits<float>::lowest()});
  return b_.CreateSelect(b_.CreateFCmpOLT(v, least), least, v);
}

/// In the place of the nest that finds the largest x.
void KernelEmitter::guess_largest() {
  const unsigned outer_lanes = lanes_;
  lanes_ = static_cast<unsigned>(plan_.nests[nest_].lanes);
  begin_hoist(kPointLevel, "guess");
  depth_ = kInnerLevel;
  Value* largest = guessed_largest();
  guess_.largest = at_entry(largest->getType(), "guess");
  b_.CreateStore(largest, guess_.largest);
  reduced_[{nest_, 0, 0}] = largest;
  depth_ = kPointLevel;
  lanes_ = outer_lanes;
  forget(kInnerLevel);
}

/// Before the loop that adds up.
void KernelEmitter::begin_sum() {
  if (!guess_of(&Shares::sum)) return;
  guess_.larger.clear();
  for (const std::vector<Accumulator>& copy : accumulators_) {
    llvm::Type* type = copy[0][0]->getAllocatedType();
    guess_.larger.push_back(at_entry(type, "larger"));
    b_.CreateStore(llvm::Constant::getNullValue(type), guess_.larger.back());
  }
}

/// By how much the largest that has been added up is larger than the guess.
void KernelEmitter::look_for_larger(size_t copy) {
  if (!guess_of(&Shares::sum)) return;
  const bool wide = lanes_ > 1;
  const Scalar& exponential = k_.scalars[k_.nests[nest_].reductions[0].value];
  Value* difference = get(exponential.a, wide);
  llvm::AllocaInst* place = guess_.larger[copy];
  Value* before = b_.CreateLoad(place->getAllocatedType(), place);
  Value* counts = b_.CreateFCmpOGT(difference, before);
  if (active_ && wide) counts = b_.CreateAnd(counts, active_);
  b_.CreateStore(b_.CreateSelect(counts, difference, before), place);
}

/// After the loop that adds up, and in place of what it came to if some x is much larger than the guess.
void KernelEmitter::add_up_again(const Shares& shares) {
  Value* much = nullptr;
  for (llvm::AllocaInst* place : guess_.larger) {
    Value* larger = b_.CreateLoad(place->getAllocatedType(), place);
    Value* is_much = b_.CreateFCmpOGT(larger, llvm::ConstantFP::get(larger->getType(), kMuch));
    if (MathEmitter::lanes_of(larger)) is_much = b_.CreateOrReduce(is_much);
    much = much ? b_.CreateOr(much, is_much) : is_much;
  }
  where_rare(much, [&] {
    const auto accumulators = accumulators_;
    const auto counters = counters_;
    const auto totals = totals_;
    const auto moments = moments_;
    const size_t sum = nest_, scalar_copy = scalar_copy_;
    const auto go_through = [&](size_t nest, const char* name) {
      nest_ = nest;
      depth_ = kPointLevel;
      begin_hoist(kPointLevel, name);
      depth_ = kInnerLevel;
      accumulated_.assign(k_.nests[nest].reductions.size(), 0);
    };
    for (const ScalarId id : k_.nests[sum].body) values_.erase(id);
    for (const ScalarId id : k_.nests[shares.largest].body) values_.erase(id);
    go_through(shares.largest, "largest");
    open_reductions(static_cast<size_t>(plan_.nests[nest_].unroll), scalar_copy != SIZE_MAX);
    emit_inner(0);
    depth_ = kPointLevel;
    lanes_ = static_cast<unsigned>(plan_.nests[nest_].lanes);
    close_reductions();
    b_.CreateStore(reduced_.at({nest_, 0, 0}), guess_.largest);
    emit_between(shares);
    go_through(sum, "sum");
    accumulators_ = accumulators, counters_ = counters, totals_ = totals, moments_ = moments;
    scalar_copy_ = scalar_copy;
    reset_reductions();
    emit_inner(0);
  });
}

/// What is gone through once more where that is seldom wanted: alone, and with nothing of it known afterwards.
void KernelEmitter::where_rare(Value* condition, const std::function<void()>& emit) {
  Block *again = block("again"), *done = block("done");
  b_.CreateCondBr(condition, again, done, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(again);
  const auto values = values_;
  const auto hoists = hoist_;
  Value* late = std::exchange(late_.point, nullptr);
  once_more_ = true;
  emit();
  once_more_ = false;
  late_.point = late;
  values_ = values, hoist_ = hoists;
  go(done);
  b_.SetInsertPoint(done);
}

/// Behind both loops: what has been subtracted.
void KernelEmitter::take_largest() {
  const Shares* shares = guess_of(&Shares::sum);
  if (!shares) return;
  reduced_[{shares->largest, 0, 0}] = b_.CreateLoad(guess_.largest->getAllocatedType(), guess_.largest);
  emit_between(*shares);
}

/// Between the two nests stand numbers that are computed with the largest.
void KernelEmitter::emit_between(const Shares& shares) {
  const size_t nest = nest_;
  for (nest_ = shares.largest + 1; nest_ < shares.sum; ++nest_) {
    for (const ScalarId id : k_.nests[nest_].body) values_.erase(id);
    for (const ScalarId id : k_.nests[nest_].body) emit_scalar(id);
  }
  nest_ = nest;
}

/// Whether the nest's sum of exponentials goes by a guess.
bool KernelEmitter::guesses_sum() const {
  const Nest& nest = k_.nests[nest_];
  if (once_more_ || plan_.lanes_are_points || nest.axes.size() != 1 || nest.reductions.size() != 1) return false;
  const Reduction& r = nest.reductions[0];
  return r.combine == Combine::SumExp && r.mask == kNone && r.dtype == DType::F32 && lanes_ > 1 &&
         nest.stores.empty() && !has_checks(k_, nest) &&
         range(k_.axes[nest.axes[0]].extent).min >= kShortest * int64_t{lanes_};
}

/// Before the loop that adds exponentials up as they come.
void KernelEmitter::guess_sum() {
  if (!guesses_sum()) return;
  Value* largest = guessed_largest();
  for (llvm::AllocaInst** place : {&sum_.guess, &sum_.largest, &sum_.sum})
    *place = at_entry(largest->getType(), "exponentials");
  b_.CreateStore(largest, sum_.guess);
}

/// One more element, as `sum_exp_step` has them.
KernelEmitter::Results KernelEmitter::guessed_step(const Results& acc, Value* value) {
  Value* guess = b_.CreateLoad(sum_.guess->getAllocatedType(), sum_.guess);
  if (const unsigned lanes = MathEmitter::lanes_of(value)) guess = b_.CreateVectorSplat(lanes, guess);
  Value* e = math_.exp_in_sum(b_.CreateFSub(value, guess));
  Value* largest = b_.CreateSelect(b_.CreateFCmpOGT(value, acc[3]), value, acc[3]);
  return {acc[0], b_.CreateFAdd(acc[1], e), acc[2], largest};
}

/// After the loop: the largest element and the sum of e^(element - the largest), step by step if the guess was far off,
/// or an element is no number.
void KernelEmitter::finish_sum() {
  if (!sum_.guess) return;
  const Reduction& r = k_.nests[nest_].reductions[0];
  Reduction added = r;
  added.combine = Combine::Sum;
  Value *sum = nullptr, *largest = nullptr;
  const auto add = [&](size_t c) {
    const Results part = load_accumulator(accumulators_[c][0]);
    return std::pair(b_.CreateFAdd(part[1], part[2]), part[3]);
  };
  for (size_t c = 0; c < accumulators_.size(); ++c) {
    if (c == scalar_copy_) continue;
    const auto [s, l] = add(c);
    sum = sum ? b_.CreateFAdd(sum, s) : s;
    largest = largest ? larger(largest, l) : l;
  }
  sum = across_lanes(added, {sum})[0];
  largest = extremum_of_numbers(largest, true);
  if (scalar_copy_ != SIZE_MAX) {
    const auto [s, l] = add(scalar_copy_);
    sum = b_.CreateFAdd(sum, s);
    largest = larger(largest, l);
  }
  Value* guess = b_.CreateLoad(sum->getType(), sum_.guess);
  Value* by = b_.CreateFSub(guess, largest);
  b_.CreateStore(largest, sum_.largest);
  b_.CreateStore(b_.CreateFMul(sum, exponential(r, by)), sum_.sum);
  // The guess is an element, e^0 is in the sum: unless it is NaN, or all are -infinity.
  Value* is_fine = b_.CreateAnd(b_.CreateFCmpOGE(by, llvm::ConstantFP::get(by->getType(), -kMuchInSum)),
                                b_.CreateFCmpOGE(sum, llvm::ConstantFP::get(sum->getType(), 1)));
  where_rare(b_.CreateNot(is_fine), [&] {
    begin_hoist(kPointLevel, "sum");
    for (const ScalarId id : k_.nests[nest_].body) values_.erase(id);
    reset_reductions();
    const ExponentialSum sums = std::exchange(sum_, {});
    emit_inner(0);
    const Results exact = close_sum_exp(0);
    sum_ = sums;
    b_.CreateStore(exact[0], sum_.largest);
    b_.CreateStore(exact[1], sum_.sum);
  });
}

}  // namespace strata::codegen
