// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions of the emitter: accumulators in allocas (promoted to registers later), one set per unrolled copy, merged
// at the end.

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "codegen/loop_cost.h"
#include "codegen/loop_emitter.h"
#include "codegen/loop_sums.h"
#include "core/support/error.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file
using llvm::FixedVectorType;

namespace {

bool is_arg(Combine c) { return c == Combine::ArgMax || c == Combine::ArgMin; }
bool is_largest(Combine c) { return c == Combine::Max || c == Combine::ArgMax; }

int64_t smallest_integer(DType d) {
  unsigned bits = static_cast<unsigned>(dtype_size(d)) * 8;
  return is_signed_integral(d) ? std::numeric_limits<int64_t>::min() >> (64 - bits) : 0;
}
double least_number(DType d) {
  return d == DType::F64 ? std::numeric_limits<double>::lowest() : double{std::numeric_limits<float>::lowest()};
}
int64_t largest_integer(DType d) {
  if (d == DType::Bool) return 1;
  unsigned bits = static_cast<unsigned>(dtype_size(d)) * 8;
  return is_signed_integral(d) ? std::numeric_limits<int64_t>::max() >> (64 - bits)
                               : static_cast<int64_t>(std::numeric_limits<uint64_t>::max() >> (64 - bits));
}

}  // namespace

KernelEmitter::Results KernelEmitter::identity(const Reduction& r, unsigned lanes) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  auto spread = [&](Value* v) { return lanes > 1 ? b_.CreateVectorSplat(lanes, v) : v; };
  auto value = [&](double number, int64_t integer) { return spread(math_.constant(r.dtype, number, integer)); };
  switch (r.combine) {
    case Combine::Sum:
    case Combine::Any:
      return {value(0, 0)};
    case Combine::Prod:
    case Combine::All:
      return {value(1, 1)};
    case Combine::Max:
      return {value(-inf, smallest_integer(r.dtype))};
    case Combine::Min:
      return {value(inf, largest_integer(r.dtype))};
    case Combine::ArgMax:
    case Combine::ArgMin: {
      const auto first = first_position(r);
      Value* position = first ? b_.CreateTrunc(expression(*first), b_.getInt32Ty()) : b_.getInt64(INT64_MAX);
      const bool largest = is_largest(r.combine);
      Value* least = largest ? value(-inf, smallest_integer(r.dtype)) : value(inf, largest_integer(r.dtype));
      return {least, spread(position)};
    }
    case Combine::Welford:
      return {value(0, 0), value(0, 0), value(0, 0)};
    case Combine::SumExp:
      return {value(least_number(r.dtype), 0), value(0, 0), value(0, 0), value(least_number(r.dtype), 0)};
  }
  throw_internal("codegen: unknown reduction");
}

KernelEmitter::Accumulator KernelEmitter::make_accumulator(const Reduction& r, unsigned lanes) {
  Accumulator acc;
  for (Value* initial : identity(r, lanes)) {
    auto* place = at_entry(initial->getType(), "acc");
    b_.CreateStore(initial, place);
    acc.push_back(place);
  }
  return acc;
}

void KernelEmitter::open_reductions(size_t copies, bool rest_is_scalar) {
  const Nest& nest = k_.nests[nest_];
  accumulators_.clear();
  counters_.clear();
  scalar_copy_ = rest_is_scalar ? copies : SIZE_MAX;
  for (size_t c = 0; c < copies + (rest_is_scalar ? 1 : 0); ++c) {
    std::vector<Accumulator> set;
    std::vector<llvm::AllocaInst*> counters;
    for (const Reduction& r : nest.reductions) {
      set.push_back(make_accumulator(r, c == scalar_copy_ ? 1 : lanes_));
      counters.push_back(counts_alike(r) ? make_accumulator(r, 1)[2] : nullptr);
    }
    accumulators_.push_back(std::move(set));
    counters_.push_back(std::move(counters));
  }
  totals_.assign(nest.reductions.size(), nullptr);
  moments_.assign(nest.reductions.size(), {});
  sum_ = {};
  for (size_t r = 0; r < nest.reductions.size(); ++r) {
    if (plan_.nests[nest_].block == 0 || !adds_floats(nest.reductions[r])) continue;
    Reduction wide = nest.reductions[r];
    wide.dtype = DType::F64;
    totals_[r] = make_accumulator(wide, lanes_)[0];
  }
}

/// As they were opened.
void KernelEmitter::reset_reductions() {
  const auto reset = [&](const Accumulator& acc, const Reduction& r) {
    const auto* type = llvm::dyn_cast<FixedVectorType>(acc[0]->getAllocatedType());
    const Results initial = identity(r, type ? type->getNumElements() : 1);
    for (size_t i = 0; i < acc.size(); ++i) b_.CreateStore(initial[i], acc[i]);
  };
  const Nest& nest = k_.nests[nest_];
  for (size_t r = 0; r < nest.reductions.size(); ++r) {
    for (const auto& copy : accumulators_) reset(copy[r], nest.reductions[r]);
    if (!totals_[r]) continue;
    Reduction wide = nest.reductions[r];
    wide.dtype = DType::F64;
    reset({totals_[r]}, wide);
  }
}

KernelEmitter::Results KernelEmitter::load_accumulator(const Accumulator& acc) {
  Results out;
  for (auto* place : acc) out.push_back(b_.CreateLoad(place->getAllocatedType(), place));
  return out;
}

void KernelEmitter::accumulate(size_t index, size_t copy) {
  if (accumulated_[index]) return;
  accumulated_[index] = 1;
  const Reduction& r = k_.nests[nest_].reductions[index];
  set_line(r.node);
  const Accumulator& acc = accumulators_[copy][index];
  bool wide = lanes_ > 1;
  Results old = load_accumulator(acc);
  llvm::AllocaInst* counter = counters_[copy][index];
  Value* value = get(r.value, wide);
  Results now = moments_[index].middle ? moments_step(old, value, moments_[index].middle)
                : sum_.guess           ? guessed_step(old, value)
                : counter              ? welford_step(old, value, counter)
                                       : step(r, old, value, r.position == kNone ? nullptr : position_of(r));
  // With points in the lanes, those that do not count are never stored, so their sums may be anything.
  Value* mask = r.mask == kNone ? nullptr : get(r.mask, wide);
  if (!plan_.lanes_are_points) mask = both(mask, wide ? active_ : nullptr);
  for (size_t i = 0; i < now.size(); ++i) {
    b_.CreateStore(mask ? b_.CreateSelect(mask, now[i], old[i]) : now[i], acc[i]);
  }
}

/// Where the positions of a search are numbers of 32 bits that only grow as its loop goes on: its first, the same for
/// all lanes. Then of equals the one that is there already comes before, and where nothing is larger than the least
/// number there is, the first element is the first of the largest.
std::optional<SymInt> KernelEmitter::first_position(const Reduction& r) const {
  const auto& axes = k_.nests[nest_].axes;
  if (!is_arg(r.combine) || r.mask != kNone || axes.size() != 1) return std::nullopt;
  const Scalar& position = k_.scalars[r.position];
  if (position.op != ScalarOp::Index || !fits_int32(position.index)) return std::nullopt;
  const auto along = linear_in(position.index, k_.axes[axes[0]].symbol);
  const auto step = along ? along->coefficient.maybe_value() : std::nullopt;
  if (!step || *step <= 0) return std::nullopt;
  const bool varies = plan_.lanes_are_points && mentions(along->rest, k_.axes[k_.outer.back()].symbol);
  return varies ? std::nullopt : std::optional(along->rest);
}

/// In half the bits where that will do.
llvm::Value* KernelEmitter::position_of(const Reduction& r) {
  if (!first_position(r)) return get(r.position, lanes_ > 1);
  return lanes_ > 1 ? in_32_bits(r.position) : b_.CreateTrunc(get(r.position), b_.getInt32Ty());
}

/// One more element.
KernelEmitter::Results KernelEmitter::step(const Reduction& r, const Results& acc, Value* value, Value* position) {
  if (is_arg(r.combine))
    return first_position(r) ? later(r, acc, {value, position}) : better(r, acc, {value, position});
  if (r.combine == Combine::SumExp) return sum_exp_step(r, acc, value);
  if (r.combine != Combine::Welford) return combine(r, acc, {value});
  const llvm::IRBuilderBase::FastMathFlagGuard kept(b_);
  allow_contraction();
  Value* count = b_.CreateFAdd(acc[2], llvm::ConstantFP::get(value->getType(), 1));
  Value* delta = b_.CreateFSub(value, acc[0]);
  Value* mean = b_.CreateFAdd(acc[0], b_.CreateFDiv(delta, count));
  Value* m2 = b_.CreateFAdd(acc[1], b_.CreateFMul(delta, b_.CreateFSub(value, mean)));
  return {mean, m2, count};
}

/// Whether a Welford reduction's lanes have seen equally many elements whenever another one comes: then one scalar
/// division serves a vector. Of a loop whose end is masked, the masked step must be the last.
bool KernelEmitter::counts_alike(const Reduction& r) const {
  if (r.combine != Combine::Welford || r.mask != kNone) return false;
  const Nest& nest = k_.nests[nest_];
  if (plan_.lanes_are_points || nest.axes.size() == 1) return true;
  return mod(k_.axes[nest.axes.back()].extent, SymInt(int64_t{lanes_})) == SymInt(0);
}

KernelEmitter::Results KernelEmitter::welford_step(const Results& acc, Value* value, llvm::AllocaInst* counter) {
  const llvm::IRBuilderBase::FastMathFlagGuard kept(b_);
  allow_contraction();
  llvm::Type* type = value->getType()->getScalarType();
  Value* one = llvm::ConstantFP::get(type, 1);
  Value* count = b_.CreateFAdd(b_.CreateLoad(type, counter), one);
  b_.CreateStore(count, counter);
  Value* share = b_.CreateFDiv(one, count);
  if (const unsigned lanes = MathEmitter::lanes_of(value)) share = b_.CreateVectorSplat(lanes, share);
  Value* delta = b_.CreateFSub(value, acc[0]);
  Value* mean = b_.CreateFAdd(acc[0], b_.CreateFMul(delta, share));
  Value* m2 = b_.CreateFAdd(acc[1], b_.CreateFMul(delta, b_.CreateFSub(value, mean)));
  return {mean, m2, b_.CreateFAdd(acc[2], llvm::ConstantFP::get(value->getType(), 1))};
}

/// Whether the nest finds the largest of a line's numbers, and NaN tells of itself otherwise.
bool KernelEmitter::asks_for_numbers_only() const {
  return std::any_of(plan_.shares.begin(), plan_.shares.end(), [&](const Shares& s) { return s.largest == nest_; });
}

KernelEmitter::Results KernelEmitter::combine(const Reduction& r, const Results& a, const Results& b) {
  switch (r.combine) {
    case Combine::Sum:
      return {math_.binary(ScalarOp::Add, a[0], b[0], r.dtype)};
    case Combine::Prod:
      return {math_.binary(ScalarOp::Mul, a[0], b[0], r.dtype)};
    case Combine::Max:
      if (asks_for_numbers_only()) return {b_.CreateSelect(b_.CreateFCmpOGT(b[0], a[0]), b[0], a[0])};
      return {math_.extremum(a[0], b[0], r.dtype, true)};
    case Combine::Min:
      return {math_.extremum(a[0], b[0], r.dtype, false)};
    case Combine::Any:
      return {b_.CreateOr(a[0], b[0])};
    case Combine::All:
      return {b_.CreateAnd(a[0], b[0])};
    case Combine::Welford:
      return merge_welford(a, b);
    default:
      return better(r, a, b);
  }
}

/// The larger (smaller) value with its position; NaN beats all, the smaller position beats equals.
KernelEmitter::Results KernelEmitter::better(const Reduction& r, const Results& a, const Results& b) {
  bool largest = is_largest(r.combine);
  Value* wins = math_.binary(largest ? ScalarOp::Gt : ScalarOp::Lt, b[0], a[0], r.dtype);
  Value* ties = math_.binary(ScalarOp::Eq, b[0], a[0], r.dtype);
  if (is_floating(r.dtype)) {
    Value *nan_a = math_.is_nan(a[0]), *nan_b = math_.is_nan(b[0]);
    wins = b_.CreateOr(wins, b_.CreateAnd(nan_b, b_.CreateNot(nan_a)));
    ties = b_.CreateOr(ties, b_.CreateAnd(nan_a, nan_b));
  }
  Value* earlier = b_.CreateICmpSLT(b[1], a[1]);
  wins = b_.CreateOr(wins, b_.CreateAnd(ties, earlier));
  return {b_.CreateSelect(wins, b[0], a[0]), b_.CreateSelect(wins, b[1], a[1])};
}

/// The same where `b` comes after `a`.
KernelEmitter::Results KernelEmitter::later(const Reduction& r, const Results& a, const Results& b) {
  const bool largest = is_largest(r.combine);
  Value* wins = nullptr;
  if (is_floating(r.dtype)) {
    wins = largest ? b_.CreateFCmpUGT(b[0], a[0]) : b_.CreateFCmpULT(b[0], a[0]);
    wins = b_.CreateAnd(wins, b_.CreateFCmpORD(a[0], a[0]));
  } else {
    wins = math_.binary(largest ? ScalarOp::Gt : ScalarOp::Lt, b[0], a[0], r.dtype);
  }
  return {b_.CreateSelect(wins, b[0], a[0]), b_.CreateSelect(wins, b[1], a[1])};
}

KernelEmitter::Results KernelEmitter::merge_welford(const Results& a, const Results& b) {
  const llvm::IRBuilderBase::FastMathFlagGuard kept(b_);
  allow_contraction();
  Value* zero = llvm::Constant::getNullValue(a[0]->getType());
  Value* count = b_.CreateFAdd(a[2], b[2]);
  Value* delta = b_.CreateFSub(b[0], a[0]);
  Value* half = llvm::ConstantFP::get(a[0]->getType(), 0.5);
  Value* share =
      equal_counts_ ? half : b_.CreateSelect(b_.CreateFCmpOEQ(count, zero), zero, b_.CreateFDiv(b[2], count));
  Value* mean = b_.CreateFAdd(a[0], b_.CreateFMul(delta, share));
  Value* between = b_.CreateFMul(b_.CreateFMul(delta, delta), b_.CreateFMul(a[2], share));
  return {mean, b_.CreateFAdd(b_.CreateFAdd(a[1], b[1]), between), count};
}

std::pair<llvm::Value*, llvm::Value*> KernelEmitter::halves(Value* v) {
  const unsigned half = MathEmitter::lanes_of(v) / 2;
  llvm::SmallVector<int, 64> low(half), high(half);
  std::iota(low.begin(), low.end(), 0);
  std::iota(high.begin(), high.end(), static_cast<int>(half));
  return {b_.CreateShuffleVector(v, low), b_.CreateShuffleVector(v, high)};
}

/// The largest or smallest lane: whether one is NaN is asked once, beside the comparisons and not between them.
llvm::Value* KernelEmitter::extremum_across(Value* v, bool largest) {
  const unsigned lanes = MathEmitter::lanes_of(v);
  Value* nan = b_.CreateBitCast(math_.is_nan(v), b_.getIntNTy(lanes));
  Value* any = b_.CreateICmpNE(nan, llvm::ConstantInt::get(nan->getType(), 0));
  Value* best = extremum_of_numbers(v, largest);
  return b_.CreateSelect(any, llvm::ConstantFP::getNaN(best->getType()), best);
}

/// The same of lanes that are no NaN, or of which any will do if one is.
llvm::Value* KernelEmitter::extremum_of_numbers(Value* v, bool largest) {
  while (MathEmitter::lanes_of(v) > 1) {
    const auto [a, b] = halves(v);
    v = b_.CreateSelect(largest ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
  }
  return b_.CreateExtractElement(v, uint64_t{0});
}

/// Of two numbers, or vectors of them: the second if one is NaN.
llvm::Value* KernelEmitter::larger(Value* a, Value* b) { return b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b); }

/// One more element: a number that few elements are much larger than, the sum of e^(element - that number) of a block
/// and that of the blocks before, and the largest element. As long as no element is so much larger that the sums might
/// overflow, it costs one exponential. All begin with the least number instead of -infinity, which no element's
/// difference from is NaN.
KernelEmitter::Results KernelEmitter::sum_exp_step(const Reduction& r, const Results& acc, Value* value) {
  constexpr double kMuch = 40;  // 2^32 times e^40 is no large number yet
  Value* difference = b_.CreateFSub(value, acc[0]);
  const Results now = math_.by_rarity(
      b_.CreateFCmpUGT(difference, llvm::ConstantFP::get(value->getType(), kMuch)),
      [&] {
        Value* by = math_.extremum(acc[0], value, r.dtype, true);
        Value* smaller = exponential(r, b_.CreateFSub(acc[0], by));
        return Results{by, b_.CreateFMul(acc[1], smaller), b_.CreateFMul(acc[2], smaller),
                       math_.extremum(acc[3], value, r.dtype, true), b_.CreateFSub(value, by)};
      },
      [&] {
        Value* largest = b_.CreateSelect(b_.CreateFCmpOGT(value, acc[3]), value, acc[3]);
        return Results{acc[0], acc[1], acc[2], largest, difference};
      });
  Value* e = r.dtype == DType::F32 ? math_.exp_in_sum(now[4]) : exponential(r, now[4]);
  return {now[0], b_.CreateFAdd(now[1], e), now[2], now[3]};
}

llvm::Value* KernelEmitter::exponential(const Reduction& r, Value* x) { return math_.unary(ScalarOp::Exp, x, r.dtype); }

/// The largest element and the sum of e^(element - the largest).
KernelEmitter::Results KernelEmitter::close_sum_exp(size_t reduction) {
  const Reduction& r = k_.nests[nest_].reductions[reduction];
  const unsigned lanes = plan_.lanes_are_points ? 0 : lanes_;
  std::vector<Results> parts;
  Value* largest = nullptr;
  const auto larger = [&](Value* a) { largest = largest ? math_.extremum(largest, a, r.dtype, true) : a; };
  for (size_t c = 0; c < accumulators_.size(); ++c) {
    parts.push_back(load_accumulator(accumulators_[c][reduction]));
    if (c != scalar_copy_) larger(parts[c][3]);
  }
  if (lanes > 1) largest = extremum_across(largest, true);
  if (scalar_copy_ != SIZE_MAX) larger(parts[scalar_copy_][3]);
  Value* sum = nullptr;
  const auto add = [&](Value* a) { sum = sum ? b_.CreateFAdd(sum, a) : a; };
  const auto part = [&](size_t c) {
    Value* by = c != scalar_copy_ && lanes > 1 ? b_.CreateVectorSplat(lanes, largest) : largest;
    return b_.CreateFMul(b_.CreateFAdd(parts[c][1], parts[c][2]), exponential(r, b_.CreateFSub(parts[c][0], by)));
  };
  for (size_t c = 0; c < accumulators_.size(); ++c)
    if (c != scalar_copy_) add(part(c));
  Reduction added = r;
  added.combine = Combine::Sum;
  if (lanes > 1) sum = across_lanes(added, {sum})[0];
  if (scalar_copy_ != SIZE_MAX) add(part(scalar_copy_));
  // What they began with was not among the elements, of which the largest adds 1: all are -infinity, whose difference
  // from themselves is NaN.
  Value* none =
      b_.CreateAnd(b_.CreateFCmpOEQ(largest, llvm::ConstantFP::get(largest->getType(), least_number(r.dtype))),
                   b_.CreateFCmpOLT(sum, llvm::ConstantFP::get(sum->getType(), 0.5)));
  return {b_.CreateSelect(none, llvm::ConstantFP::getInfinity(largest->getType(), true), largest),
          b_.CreateSelect(none, llvm::ConstantFP::getNaN(sum->getType()), sum)};
}

KernelEmitter::Results KernelEmitter::across_lanes(const Reduction& r, Results v) {
  const llvm::Type* type = v[0]->getType()->getScalarType();
  const bool extremum = r.combine == Combine::Max || r.combine == Combine::Min;
  if (extremum && std::has_single_bit(MathEmitter::lanes_of(v[0])) && (type->isFloatTy() || type->isDoubleTy()))
    return {extremum_across(v[0], is_largest(r.combine))};
  for (unsigned lanes = MathEmitter::lanes_of(v[0]); lanes > 1; lanes /= 2) {
    Results low, high;
    for (Value* part : v) {
      const auto [first, second] = halves(part);
      low.push_back(first);
      high.push_back(second);
    }
    v = combine(r, low, high);
  }
  if (MathEmitter::lanes_of(v[0])) {
    for (Value*& part : v) part = b_.CreateExtractElement(part, uint64_t{0});
  }
  return v;
}

/// What all copies but the scalar one have come to.
KernelEmitter::Results KernelEmitter::merged_copies(size_t reduction) {
  return merged_copies(reduction, [&](const Results& a, const Results& b) {
    return combine(k_.nests[nest_].reductions[reduction], a, b);
  });
}

KernelEmitter::Results KernelEmitter::merged_copies(
    size_t reduction, const std::function<Results(const Results&, const Results&)>& merge) {
  std::vector<Results> parts;
  for (size_t c = 0; c < accumulators_.size(); ++c)
    if (c != scalar_copy_) parts.push_back(load_accumulator(accumulators_[c][reduction]));
  for (size_t width = parts.size(); width > 1; width = (width + 1) / 2)
    for (size_t c = 0; c < width / 2; ++c) parts[c] = merge(parts[c], parts[width - 1 - c]);
  return parts[0];
}

/// The sum of a block moves into that of all.
void KernelEmitter::end_block(size_t reduction) {
  llvm::AllocaInst* total = totals_[reduction];
  const Reduction& r = k_.nests[nest_].reductions[reduction];
  set_line(r.node);
  for (size_t c = 0; r.combine == Combine::SumExp && c < accumulators_.size(); ++c) {
    const Accumulator& acc = accumulators_[c][reduction];
    const Results before = load_accumulator(acc);
    b_.CreateStore(b_.CreateFAdd(before[1], before[2]), acc[2]);
    b_.CreateStore(llvm::Constant::getNullValue(before[1]->getType()), acc[1]);
  }
  if (moments_[reduction].middle) end_block_of_moments(reduction);
  if (!total) return;
  Value* sum = math_.cast(merged_copies(reduction)[0], r.dtype, DType::F64);
  b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(total->getAllocatedType(), total), sum), total);
  clear_copies(reduction, 0);
}

/// One sum of a reduction begins anew in all copies.
void KernelEmitter::clear_copies(size_t reduction, size_t sum) {
  for (size_t c = 0; c < accumulators_.size(); ++c) {
    llvm::AllocaInst* place = accumulators_[c][reduction][sum];
    if (c != scalar_copy_) b_.CreateStore(llvm::Constant::getNullValue(place->getAllocatedType()), place);
  }
}

void KernelEmitter::close_reductions() {
  const Nest& nest = k_.nests[nest_];
  for (size_t i = 0; i < nest.reductions.size(); ++i) {
    const Reduction& r = nest.reductions[i];
    set_line(r.node);
    if (r.combine == Combine::SumExp || moments_[i].middle) {
      const Results out = moments_[i].middle ? moments(i)
                          : sum_.guess       ? load_accumulator({sum_.largest, sum_.sum})
                                             : close_sum_exp(i);
      for (size_t j = 0; j < out.size(); ++j) reduced_[{nest_, i, j}] = out[j];
      continue;
    }
    const size_t copies = accumulators_.size() - (scalar_copy_ == SIZE_MAX ? 0 : 1);
    const auto whole = static_cast<int64_t>(lanes_ * copies);
    equal_counts_ = !plan_.lanes_are_points && counts_alike(r) && std::has_single_bit(copies) &&
                    mod(k_.axes[nest.axes.back()].extent, whole) == SymInt(0);
    Reduction kind = r;
    Results out;
    if (totals_[i]) {
      end_block(i);
      out = load_accumulator({totals_[i]});
      kind.dtype = DType::F64;
    } else {
      out = merged_copies(i);
    }
    if (!plan_.lanes_are_points) out = across_lanes(kind, out);
    equal_counts_ = false;
    if (totals_[i]) out[0] = math_.cast(out[0], DType::F64, r.dtype);
    if (scalar_copy_ != SIZE_MAX) out = combine(r, out, load_accumulator(accumulators_[scalar_copy_][i]));
    if (first_position(r)) out[1] = math_.cast(out[1], DType::I32, DType::I64);
    for (size_t j = 0; j < out.size(); ++j) reduced_[{nest_, i, j}] = out[j];
  }
}

}  // namespace strata::codegen
