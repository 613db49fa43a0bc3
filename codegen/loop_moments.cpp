// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Mean and variance of a line: sums of differences from a number near the mean, and of their squares.
//
//   k = mean of some vectors of the line
//   s = sum(x - k), q = sum((x - k)^2)
//   mean = k + s / n, sum((x - mean)^2) = q - s^2 / n
//
// An element costs three instructions that wait for nothing but the sums, and partial results are added, where
// Welford's steps and merges each wait for the mean of the one before. As far as k is from the mean, the difference
// loses bits: of m elements, m (k - mean)^2 <= n var holds for their mean k, so that q is at most n (1 + n / m) var.
// Mostly it is hardly more than n var. Where it is several times as much, outliers are in k, and the squared distances
// are added up once more, from the mean. Of long lines, both are cut into blocks (loop_sums.h).

#include "codegen/loop_moments.h"

#include <algorithm>

#include "codegen/loop_emitter.h"
#include "codegen/loop_pair.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr int64_t kLongest = 4096;  // vectors: of longer lines too little is in k
constexpr int64_t kParts = 4;       // of a line; a vector of each is in k
constexpr double kMostLost = 4;     // q is at most so many times the result

/// A nest that adds up x along a line, and the next one through it, which adds up (x - mean)^2.
struct Pair : LinePair {
  bool fits() const {
    if (!reduce(Combine::Sum, Combine::Sum) || !is_floating(k.nests[first].reductions[0].dtype)) return false;
    const Scalar& square = k.scalars[k.nests[second].reductions[0].value];
    if (square.op != ScalarOp::Mul || square.a != square.b) return false;
    const Scalar& difference = k.scalars[square.a];
    return difference.op == ScalarOp::Sub && is_mean(difference.b) &&
           equal(difference.a, k.nests[first].reductions[0].value) &&
           !reads_what_is_written(k, k.nests[second], k.nests[first]) && means_only();
  }

  /// The sum divided by the number of elements.
  bool is_mean(ScalarId id) const {
    const Scalar& s = k.scalars[id];
    return s.op == ScalarOp::Div && is_result(s.a, first) && is_count(k.scalars[s.b]);
  }

 private:
  bool is_count(const Scalar& s) const {
    const SymInt& extent = k.axes[k.nests[first].axes[0]].extent;
    if (s.op == ScalarOp::Const) return extent.is_const() && s.number == static_cast<double>(extent.value());
    return s.op == ScalarOp::Cast && k.scalars[s.a].op == ScalarOp::Index && k.scalars[s.a].index == extent;
  }

  /// Whether the sum goes into means only.
  bool means_only() const {
    const auto is_sum = [&](ScalarId id) { return id != kNone && is_result(id, first); };
    return std::ranges::all_of(k.nests, [&](const Nest& nest) {
      return std::ranges::all_of(nest.body,
                                 [&](ScalarId id) {
                                   const Scalar& s = k.scalars[id];
                                   const bool leaf =
                                       s.op == ScalarOp::Reduced || s.op == ScalarOp::Const || s.op == ScalarOp::Index;
                                   return leaf || (!is_sum(s.a) && !is_sum(s.b) && !is_sum(s.c)) || is_mean(id);
                                 }) &&
             std::ranges::none_of(
                 nest.reductions,
                 [&](const Reduction& r) { return is_sum(r.value) || is_sum(r.position) || is_sum(r.mask); }) &&
             std::ranges::none_of(nest.stores, [&](const Store& s) { return is_sum(s.value) || is_sum(s.mask); });
    });
  }
};

/// Whether a nest's lines are at least a vector, not too long, and gone through in one loop without conditions.
bool has_lines(const Kernel& k, const Nest& nest, int64_t lanes) {
  if (nest.axes.size() != 1 || nest.scan || has_checks(k, nest)) return false;
  const SymRange extent = range(k.axes[nest.axes[0]].extent);
  return extent.min >= lanes && extent.max <= kLongest * lanes;
}

}  // namespace

std::optional<Kernel> with_moments_at_once(const Kernel& apart, int lanes) {
  std::optional<Kernel> together;
  for (size_t n = 0; n < (together ? *together : apart).nests.size(); ++n) {
    const Kernel& now = together ? *together : apart;
    const size_t next = next_line(now, n);
    if (next >= now.nests.size() || !has_lines(now, now.nests[n], lanes) || !Pair{{now, n, next}}.fits()) continue;
    if (!together) together = apart;
    Kernel& kernel = *together;
    const Pair pair{{kernel, n, next}};
    std::vector<ScalarId> means;
    for (size_t id = 0; id < kernel.scalars.size(); ++id)
      if (pair.is_mean(static_cast<ScalarId>(id))) means.push_back(static_cast<ScalarId>(id));
    for (const ScalarId id : means) {
      Scalar& s = kernel.scalars[id];
      s.op = ScalarOp::Reduced;
      s.a = static_cast<ScalarId>(n);
      s.b = 0;
      s.integer = 0;
    }
    join(kernel, n, next, Combine::Welford);
  }
  return together;
}

bool takes_moments(const KernelPlan& plan, size_t nest, const Reduction& r) {
  const int lanes = plan.nests[nest].lanes;
  return r.combine == Combine::Welford && r.mask == kNone && !plan.lanes_are_points && lanes > 1 &&
         has_lines(plan.kernel, plan.kernel.nests[nest], lanes);
}

/// The numbers near the means, before the loop over the line.
void KernelEmitter::find_middles() {
  const Nest& nest = k_.nests[nest_];
  const SymInt& extent = k_.axes[nest.axes.back()].extent;
  const int64_t lanes{lanes_};
  const bool parts = range(extent).min >= kParts * lanes;
  const SymInt part = floordiv(extent, SymInt(kParts * lanes)) * SymInt(lanes);
  for (size_t i = 0; i < nest.reductions.size(); ++i) {
    if (!takes_moments(plan_, nest_, nest.reductions[i])) continue;
    const ScalarId value = nest.reductions[i].value;
    std::vector<Value*> vectors;
    for (int64_t v = 0; v < (parts ? kParts : 1); ++v) vectors.push_back(value_at(value, expression(part * SymInt(v))));
    // By twos, so that of equal numbers the mean is exact; each by its share, so that no sum of large ones overflows.
    Value* share = llvm::ConstantFP::get(vectors[0]->getType(), 1.0 / static_cast<double>(vectors.size() * lanes_));
    for (Value*& v : vectors) v = b_.CreateFMul(v, share);
    for (size_t left = vectors.size(); left > 1; left /= 2)
      for (size_t k = 0; k < left / 2; ++k) vectors[k] = b_.CreateFAdd(vectors[k], vectors[k + left / 2]);
    Reduction added = nest.reductions[i];
    added.combine = Combine::Sum;
    Value* middle = across_lanes(added, {vectors[0]})[0];
    Moments& m = moments_[i];
    for (llvm::AllocaInst** place : {&m.middle, &m.mean, &m.distances}) *place = at_entry(middle->getType(), "moment");
    b_.CreateStore(middle, m.middle);
    added.dtype = DType::F64;
    for (llvm::AllocaInst*& sum : m.of_blocks)
      sum = plan_.nests[nest_].block > 0 ? make_accumulator(added, lanes_)[0] : nullptr;
  }
}

/// The vector of an instruction that begins at `index` of the line.
llvm::Value* KernelEmitter::value_at(ScalarId id, Value* index) {
  const Nest& nest = k_.nests[nest_];
  std::vector<char> needed(k_.scalars.size(), 0);
  needed[id] = 1;
  mark_operands(k_, nest, needed);
  symbols_[k_.axes[nest.axes.back()].symbol] = index;
  for (const ScalarId each : nest.body)
    if (needed[each]) emit_scalar(each);
  Value* found = get(id, lanes_ > 1);
  forget(depth_);
  return found;
}

KernelEmitter::Results KernelEmitter::moments_step(const Results& acc, Value* value, llvm::AllocaInst* place) {
  const llvm::IRBuilderBase::FastMathFlagGuard kept(b_);
  Value* middle = b_.CreateLoad(place->getAllocatedType(), place);
  if (const unsigned lanes = MathEmitter::lanes_of(value)) middle = b_.CreateVectorSplat(lanes, middle);
  Value* difference = b_.CreateFSub(value, middle);
  allow_contraction();
  Value* squares = b_.CreateFAdd(acc[1], b_.CreateFMul(difference, difference));
  b_.clearFastMathFlags();
  return {b_.CreateFAdd(acc[0], difference), squares, acc[2]};
}

/// After the loop over the line: mean, and sum of squared distances from it.
void KernelEmitter::finish_moments() {
  for (size_t i = 0; i < moments_.size(); ++i)
    if (moments_[i].middle) finish_moments(i);
}

/// What the copies have come to is added to the sums of blocks, which are float64.
void KernelEmitter::end_block_of_moments(size_t reduction) {
  const Results sums = moments_of_copies(reduction);
  const Moments& m = moments_[reduction];
  for (size_t i = 0; i < m.of_blocks.size(); ++i) {
    b_.CreateStore(sums[i], m.of_blocks[i]);
    clear_copies(reduction, i);
  }
}

/// Of all copies, and of the blocks that have ended; float64 if there are blocks.
KernelEmitter::Results KernelEmitter::moments_of_copies(size_t reduction) {
  Results sums = merged_copies(reduction, [&](const Results& a, const Results& b) {
    return Results{b_.CreateFAdd(a[0], b[0]), b_.CreateFAdd(a[1], b[1])};
  });
  sums.resize(2);
  const DType type = k_.nests[nest_].reductions[reduction].dtype;
  for (size_t i = 0; i < sums.size(); ++i)
    if (llvm::AllocaInst* blocks = moments_[reduction].of_blocks[i])
      sums[i] = b_.CreateFAdd(load_accumulator({blocks})[0], math_.cast(sums[i], type, DType::F64));
  return sums;
}

void KernelEmitter::finish_moments(size_t reduction) {
  const Moments& m = moments_[reduction];
  const Nest& nest = k_.nests[nest_];
  const DType dtype = nest.reductions[reduction].dtype;
  set_line(nest.reductions[reduction].node);
  Reduction added = nest.reductions[reduction];
  added.combine = Combine::Sum;
  if (m.of_blocks[0]) added.dtype = DType::F64;
  const auto widened = [&](Value* v) { return math_.cast(v, dtype, added.dtype); };
  const Results sums = moments_of_copies(reduction);
  llvm::Type* type = sums[0]->getType()->getScalarType();
  const auto number = [&](double x) { return llvm::ConstantFP::get(type, x); };
  Value* n = b_.CreateSIToFP(expression(k_.axes[nest.axes[0]].extent), type);
  Value* one_of_n = b_.CreateFDiv(number(1), n);
  // Divided before the lanes are added, so that no sum of large numbers overflows.
  Value* shift = b_.CreateFMul(sums[0], b_.CreateVectorSplat(lanes_, one_of_n));
  shift = across_lanes(added, {shift})[0];
  Value* squares = across_lanes(added, {sums[1]})[0];
  if (scalar_copy_ != SIZE_MAX) {
    const Results scalar = load_accumulator(accumulators_[scalar_copy_][reduction]);
    shift = b_.CreateFAdd(shift, b_.CreateFMul(widened(scalar[0]), one_of_n));
    squares = b_.CreateFAdd(squares, widened(scalar[1]));
  }
  Value* mean = b_.CreateFAdd(widened(load_accumulator({m.middle})[0]), shift);
  const auto keep = [&](Value* v, llvm::AllocaInst* place) {
    b_.CreateStore(math_.cast(v, added.dtype, dtype), place);
  };
  keep(mean, m.mean);
  Value* left = b_.CreateFSub(squares, b_.CreateFMul(b_.CreateFMul(shift, shift), n));
  keep(left, m.distances);
  // NaN if there are infinite numbers, of which the mean may be infinite, too.
  Value* is_fine = b_.CreateFCmpOLE(squares, b_.CreateFMul(left, number(kMostLost)));
  where_rare(b_.CreateNot(is_fine), [&] {
    mean = load_accumulator({m.mean})[0];
    type = mean->getType();
    n = b_.CreateSIToFP(expression(k_.axes[nest.axes[0]].extent), type);
    Value* is_finite =
        b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, mean), llvm::ConstantFP::getInfinity(type));
    Value* exact = b_.CreateSelect(is_finite, mean, b_.CreateFDiv(sum_of_line(reduction, nullptr), n));
    b_.CreateStore(exact, m.mean);
    b_.CreateStore(sum_of_line(reduction, exact), m.distances);
  });
}

/// Mean, sum of squared distances from it, and number of elements.
KernelEmitter::Results KernelEmitter::moments(size_t reduction) {
  const Moments& m = moments_[reduction];
  llvm::Type* type = m.mean->getAllocatedType();
  Value* n = b_.CreateSIToFP(expression(k_.axes[k_.nests[nest_].axes[0]].extent), type);
  return {b_.CreateLoad(type, m.mean), b_.CreateLoad(type, m.distances), n};
}

/// The sum of a line's values, or of squared distances from their mean, by another pass over it, in
/// float64.
llvm::Value* KernelEmitter::sum_of_line(size_t reduction, Value* mean) {
  const Nest& nest = k_.nests[nest_];
  const Axis& axis = k_.axes[nest.axes.back()];
  Reduction added = nest.reductions[reduction];
  added.combine = Combine::Sum;
  added.dtype = DType::F64;
  const DType type = nest.reductions[reduction].dtype;
  const unsigned width = lanes_;
  const bool can_mask = plan_.masks;
  const Accumulator sum = make_accumulator(added, width), scalar = make_accumulator(added, 1);
  const auto add = [&](Value* i, const Accumulator& to) {
    Value* value = value_at(added.value, i);
    if (mean) {
      value = b_.CreateFSub(value, lanes_ > 1 ? b_.CreateVectorSplat(lanes_, mean) : mean);
      value = b_.CreateFMul(value, value);
    }
    Value* before = load_accumulator(to)[0];
    Value* after = b_.CreateFAdd(before, math_.cast(value, type, DType::F64));
    b_.CreateStore(active_ ? b_.CreateSelect(active_, after, before) : after, to[0]);
  };
  Value* extent = expression(axis.extent);
  Value* rest = loop(b_.getInt64(0), extent, width, false, kInnerLevel, "vectors", [&](Value* i) { add(i, sum); });
  if (!can_mask) lanes_ = 1;
  loop(rest, extent, lanes_, true, kInnerLevel, "rest", [&](Value* i) {
    if (can_mask) only_before(extent, i);
    add(i, can_mask ? sum : scalar);
  });
  active_ = active_count_ = nullptr;
  lanes_ = width;
  Value* all = across_lanes(added, load_accumulator(sum))[0];
  return math_.cast(can_mask ? all : b_.CreateFAdd(all, load_accumulator(scalar)[0]), DType::F64, type);
}

}  // namespace strata::codegen
