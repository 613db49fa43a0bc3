// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Index expressions, loads and stores of the emitter.

#include <algorithm>
#include <array>
#include <bit>

#include "codegen/loop_emitter.h"
#include "core/support/error.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file
using llvm::FixedVectorType;

// ------------------------------------------------------------------------------------------------------- index
// expressions

llvm::Value* KernelEmitter::symbol_value(size_t symbol) {
  if (auto it = symbols_.find(symbol); it != symbols_.end()) return it->second;
  auto it = k_.indirect.find(symbol);
  if (it == k_.indirect.end()) {
    throw_internal("codegen: kernel '" + k_.name + "' uses symbol " + std::to_string(symbol) +
                   ", which is neither an axis nor a size nor indirect");
  }
  DType type = k_.scalars[it->second].dtype;
  Value* v = get(it->second);
  return math_.cast(v, type, DType::I64);
}

int KernelEmitter::factor_level(const SymAtomView& factor) const {
  if (factor.kind == SymAtomKind::Symbol) return dep_.symbol_level(factor.symbol, nest_);
  int level = kFunctionLevel;
  for (const SymInt& arg : factor.args) level = std::max(level, dep_.level(arg, nest_));
  return level;
}

llvm::Value* KernelEmitter::call_value(const SymAtomView& factor, Value* a, Value* b) {
  switch (factor.kind) {
    case SymAtomKind::Min:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case SymAtomKind::Max:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case SymAtomKind::FloorDiv:
    case SymAtomKind::Mod: {
      bool is_div = factor.kind == SymAtomKind::FloorDiv;
      if (range(factor.args[0]).min >= 0 && range(factor.args[1]).min > 0) {
        return is_div ? b_.CreateUDiv(a, b) : b_.CreateURem(a, b);
      }
      DType type = a->getType()->getScalarSizeInBits() == 32 ? DType::I32 : DType::I64;
      return math_.binary(is_div ? ScalarOp::FloorDiv : ScalarOp::Mod, a, b, type);
    }
    default:
      throw_user("kernel '" + k_.name + "' needs '" + factor.name + "' of sizes, which cannot be computed at run time");
  }
}

/// `scaled` of a size, or of one in each lane: in float64, as PyTorch computes it.
llvm::Value* KernelEmitter::scaled_value(const SymAtomView& factor, Value* size) {
  llvm::Type* type = b_.getDoubleTy();
  if (const unsigned lanes = MathEmitter::lanes_of(size)) type = FixedVectorType::get(type, lanes);
  const llvm::Intrinsic::ID whole = factor.rounding == SymRounding::Trunc   ? llvm::Intrinsic::trunc
                                    : factor.rounding == SymRounding::Floor ? llvm::Intrinsic::floor
                                    : factor.rounding == SymRounding::Ceil  ? llvm::Intrinsic::ceil
                                                                            : llvm::Intrinsic::roundeven;
  Value* product = b_.CreateFMul(b_.CreateSIToFP(size, type), llvm::ConstantFP::get(type, factor.factor));
  return b_.CreateFPToSI(b_.CreateUnaryIntrinsic(whole, product), size->getType());
}

std::pair<int, llvm::Value*> KernelEmitter::factor_value(const SymAtomView& factor) {
  int level = factor_level(factor);
  if (factor.kind == SymAtomKind::Symbol) return {level, symbol_value(factor.symbol)};
  if (factor.args.empty()) return {level, call_value(factor, nullptr, nullptr)};
  Value* out = expression(factor.args[0]);
  if (factor.kind == SymAtomKind::Scaled) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    set_insert(level);
    return {level, scaled_value(factor, out)};
  }
  for (size_t i = 1; i < factor.args.size(); ++i) {
    Value* next = expression(factor.args[i]);
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    set_insert(level);
    out = call_value(factor, out, next);
  }
  return {level, out};
}

std::pair<int, llvm::Value*> KernelEmitter::term_value(const SymTerm& term) {
  std::vector<std::pair<int, Value*>> factors;
  for (const SymAtomView& f : term.factors) factors.push_back(factor_value(f));
  std::stable_sort(factors.begin(), factors.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  int level = kFunctionLevel;
  Value* out = constant(term.coefficient);
  for (auto& [at, value] : factors) {
    level = std::max(level, at);
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    set_insert(level);
    out = b_.CreateMul(out, value);
  }
  return {level, out};
}

llvm::Value* KernelEmitter::expression(const SymInt& e) {
  if (auto value = e.maybe_value()) return constant(*value);
  std::vector<std::pair<int, Value*>> parts;
  for (const SymTerm& term : terms(e)) parts.push_back(term_value(term));
  // Outermost first, so that each partial sum is computed where its last part becomes known.
  std::stable_sort(parts.begin(), parts.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  Value* sum = nullptr;
  for (auto& [level, value] : parts) {
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    set_insert(level);
    sum = sum ? b_.CreateAdd(sum, value) : value;
  }
  return sum ? sum : b_.getInt64(0);
}

llvm::Value* KernelEmitter::lane_numbers(llvm::Type* element) {
  std::vector<llvm::Constant*> numbers;
  for (unsigned i = 0; i < lanes_; ++i) numbers.push_back(llvm::ConstantInt::get(element, i));
  return llvm::ConstantVector::get(numbers);
}

bool KernelEmitter::fits_int32(const SymInt& e) const {
  SymRange r = range(e);
  if (r.min < INT32_MIN || r.max > INT32_MAX - 128) return false;
  if (e.is_const()) return true;
  for (const SymTerm& term : terms(e)) {
    for (const SymAtomView& f : term.factors) {
      for (const SymInt& arg : f.args) {
        if (!fits_int32(arg)) return false;
      }
    }
  }
  return true;
}

/// One value per lane. Sums and products may wrap in 32 bits, since the result fits; the operands of calls are known to
/// fit.
llvm::Value* KernelEmitter::lane_expression(const SymInt& e, llvm::Type* element) {
  if (!dep_.varies(e, nest_)) return b_.CreateVectorSplat(lanes_, b_.CreateTrunc(expression(e), element));
  Value *sum = nullptr, *uniform = b_.getInt64(0);
  for (const SymTerm& term : terms(e)) {
    SymTerm same{term.coefficient, {}};
    Value* varying = nullptr;
    for (const SymAtomView& f : term.factors) {
      bool varies = f.kind == SymAtomKind::Symbol && dep_.symbol_varies(f.symbol, nest_);
      for (const SymInt& arg : f.args) varies = varies || dep_.varies(arg, nest_);
      if (!varies) {
        same.factors.push_back(f);
        continue;
      }
      Value* v = lane_factor(f, element);
      varying = varying ? b_.CreateMul(varying, v) : v;
    }
    Value* factor = term_value(same).second;
    if (!varying) {
      uniform = b_.CreateAdd(uniform, factor);
      continue;
    }
    Value* part = b_.CreateMul(varying, b_.CreateVectorSplat(lanes_, b_.CreateTrunc(factor, element)));
    sum = sum ? b_.CreateAdd(sum, part) : part;
  }
  return b_.CreateAdd(sum, b_.CreateVectorSplat(lanes_, b_.CreateTrunc(uniform, element)));
}

/// A constant or a number of the loops, one value per lane in half the bits, or null: machines compare no more than a
/// few of 64 bits at a time, and without AVX-512 make no floats of them but one by one.
llvm::Value* KernelEmitter::in_32_bits(ScalarId id) {
  const Scalar& s = k_.scalars[id];
  if (s.dtype != DType::I64) return nullptr;
  if (s.op == ScalarOp::Const && s.integer >= INT32_MIN && s.integer <= INT32_MAX)
    return b_.CreateVectorSplat(lanes_, b_.getInt32(static_cast<uint32_t>(s.integer)));
  if (s.op == ScalarOp::Index && fits_int32(s.index)) return lane_expression(s.index, b_.getInt32Ty());
  return nullptr;
}

llvm::Value* KernelEmitter::lane_factor(const SymAtomView& f, llvm::Type* element) {
  if (f.kind == SymAtomKind::Symbol) {
    Value* v = symbol_value(f.symbol);
    if (MathEmitter::lanes_of(v)) return b_.CreateTrunc(v, FixedVectorType::get(element, lanes_));
    v = b_.CreateVectorSplat(lanes_, b_.CreateTrunc(v, element));
    auto axis = dep_.lane_axis(nest_);
    bool is_axis = axis && k_.axes[*axis].symbol == f.symbol;
    return is_axis ? b_.CreateAdd(v, lane_numbers(element)) : v;
  }
  Value* out = lane_expression(f.args[0], element);
  if (f.kind == SymAtomKind::Scaled) return scaled_value(f, out);
  for (size_t i = 1; i < f.args.size(); ++i) out = call_value(f, out, lane_expression(f.args[i], element));
  return out;
}

// ---------------------------------------------------------------------------------------------------------------
// addresses

KernelEmitter::Address KernelEmitter::address(const SymInt& e, BufferId buffer) {
  Address a;
  // Scratch of vectorised points is interleaved: one element of every lane, then the next element.
  bool scratch = k_.buffers[buffer].role == BufferRole::Local && plan_.lanes_are_points && lanes_ > 1;
  bool varies = lanes_ > 1 && dep_.varies(e, nest_);
  if (!varies) {
    a.base = expression(e);
    if (!scratch) return a;
    a.kind = Address::Kind::Strided;
    a.base = b_.CreateMul(a.base, b_.getInt64(lanes_));
    a.step = 1;
    return a;
  }
  if (scratch) {
    llvm::Type* i64 = b_.getInt64Ty();
    a.kind = Address::Kind::Anywhere;
    Value* each = b_.CreateMul(lane_expression(e, i64), b_.CreateVectorSplat(lanes_, b_.getInt64(lanes_)));
    a.indices = b_.CreateAdd(each, lane_numbers(i64));
    return a;
  }
  auto axis = dep_.lane_axis(nest_);
  auto linear = axis ? linear_in(e, k_.axes[*axis].symbol) : std::nullopt;
  if (linear && !dep_.varies(linear->rest, nest_) && !dep_.varies(linear->coefficient, nest_)) {
    a.kind = Address::Kind::Strided;
    a.base = expression(e);
    a.step = linear->coefficient.maybe_value();
    if (!a.step) a.stride = expression(linear->coefficient);
    return a;
  }
  a.kind = Address::Kind::Anywhere;
  a.indices = lane_expression(e, fits_int32(e) ? b_.getInt32Ty() : b_.getInt64Ty());
  return a;
}

llvm::Value* KernelEmitter::pointer(BufferId buffer, Value* index) {
  return b_.CreateGEP(math_.memory_type(k_.buffers[buffer].dtype), buffers_[buffer], index);
}

/// One pointer per lane.
llvm::Value* KernelEmitter::pointers(BufferId buffer, const Address& a) {
  llvm::Type* type = math_.memory_type(k_.buffers[buffer].dtype);
  if (a.kind == Address::Kind::Anywhere) return b_.CreateGEP(type, buffers_[buffer], a.indices);
  if (a.kind == Address::Kind::Uniform) return b_.CreateVectorSplat(lanes_, pointer(buffer, a.base));
  Value* first = pointer(buffer, a.base);
  if (a.step && std::abs(*a.step) < (1 << 24)) {
    std::vector<llvm::Constant*> offsets;
    for (unsigned i = 0; i < lanes_; ++i) {
      offsets.push_back(llvm::ConstantInt::getSigned(b_.getInt32Ty(), *a.step * static_cast<int64_t>(i)));
    }
    return b_.CreateGEP(type, first, llvm::ConstantVector::get(offsets));
  }
  Value* stride = a.step ? constant(*a.step) : a.stride;
  Value* offsets = b_.CreateMul(b_.CreateVectorSplat(lanes_, stride), lane_numbers(b_.getInt64Ty()));
  return b_.CreateGEP(type, first, offsets);
}

llvm::Value* KernelEmitter::both(Value* a, Value* b) {
  if (!a) return b;
  return b ? b_.CreateAnd(a, b) : a;
}

/// The lanes that count under a mask scalar; null for all.
llvm::Value* KernelEmitter::lane_mask(ScalarId mask) {
  return both(active_, mask == kNone ? nullptr : get(mask, true));
}

llvm::Value* KernelEmitter::reverse(Value* v) { return b_.CreateVectorReverse(v); }

/// As many zeros as lanes of the widest elements.
llvm::Value* KernelEmitter::zeros() {
  if (zeros_) return zeros_;
  constexpr unsigned kWords = 32;  // of 8 bytes
  auto* type = FixedVectorType::get(b_.getInt64Ty(), kWords);
  auto* place = at_entry(type, "zeros");
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(place->getNextNode());
  b_.CreateStore(llvm::Constant::getNullValue(type), place);
  return zeros_ = place;
}

llvm::Value* KernelEmitter::sink() { return sink_ ? sink_ : sink_ = at_entry(b_.getInt64Ty(), "sink"); }

// -------------------------------------------------------------------------------------------------------------------
// loads

llvm::Value* KernelEmitter::emit_load(const Scalar& s, bool vector) {
  Address a = address(s.index, s.buffer);
  DType stored = k_.buffers[s.buffer].dtype;
  if (a.kind == Address::Kind::Uniform) return load_uniform(s, a, vector);
  const bool in_turn = a.kind == Address::Kind::Strided && (a.step == 1 || a.step == -1);
  Value* condition = in_turn && s.a != kNone ? get(s.a) : nullptr;
  if (condition && !MathEmitter::lanes_of(condition))
    return math_.widen(load_contiguous(s.buffer, a, active_, a.step == -1, condition), stored);
  return math_.widen(load_lanes(s.buffer, a, lane_mask(s.a)), stored);
}

llvm::Value* KernelEmitter::load_uniform(const Scalar& s, const Address& a, bool vector) {
  DType stored = k_.buffers[s.buffer].dtype;
  llvm::Type* type = math_.memory_type(stored);
  Value* place = pointer(s.buffer, a.base);
  Value* mask = s.a == kNone ? nullptr : get(s.a);
  bool lanes_differ = mask && MathEmitter::lanes_of(mask);
  if (lanes_differ) mask = both(mask, active_);
  if (mask) place = b_.CreateSelect(lanes_differ ? b_.CreateOrReduce(mask) : mask, place, zeros());
  Value* v = math_.widen(b_.CreateAlignedLoad(type, place, align_of(s.buffer)), stored);
  if (!vector) return v;
  v = b_.CreateVectorSplat(lanes_, v);
  return lanes_differ ? b_.CreateSelect(mask, v, llvm::Constant::getNullValue(v->getType())) : v;
}

llvm::Value* KernelEmitter::load_lanes(BufferId buffer, const Address& a, Value* mask) {
  bool strided = a.kind == Address::Kind::Strided;
  if (strided && a.step == 1) return load_contiguous(buffer, a, mask, false);
  if (strided && a.step == -1) return load_contiguous(buffer, a, mask, true);
  if (strided && a.step >= 2 && a.step <= 4) return load_interleaved(buffer, a, mask);
  return gather(buffer, pointers(buffer, a), mask);
}

/// A lane mask for vector `v` of an interleaved load: only the elements that lanes want, where their lane counts.
llvm::Value* KernelEmitter::spread(Value* mask, unsigned step, unsigned v) {
  llvm::SmallVector<int, 64> picks;
  for (unsigned i = 0; i < lanes_; ++i) {
    unsigned place = v * lanes_ + i;
    bool wanted = place % step == 0 && place / step < lanes_;
    picks.push_back(static_cast<int>(wanted ? place / step : lanes_));
  }
  return b_.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), picks);
}

/// A small stride: whole vectors and a shuffle are cheaper than a gather. Nothing behind the last lane's element is
/// read.
llvm::Value* KernelEmitter::load_interleaved(BufferId buffer, const Address& a, Value* mask) {
  const bool partial = mask && mask == active_ && active_count_;
  llvm::Type* element = math_.memory_type(k_.buffers[buffer].dtype);
  auto step = static_cast<unsigned>(*a.step);
  auto* type = FixedVectorType::get(element, lanes_);
  llvm::Value* out = nullptr;
  llvm::Type* i32 = b_.getInt32Ty();
  // Elements up to that of the last lane that counts.
  Value* limit = nullptr;
  if (partial) {
    Value* last = b_.CreateMul(b_.CreateSub(active_count_, b_.getInt32(1)), b_.getInt32(step));
    limit = b_.CreateVectorSplat(lanes_, last);
  }
  // Vector v holds the elements [v * lanes, (v + 1) * lanes); lane i wants element i * step.
  for (unsigned v = 0; v < step; ++v) {
    unsigned last = (lanes_ - 1) * step;
    unsigned count = std::min(lanes_, last + 1 - std::min(last + 1, v * lanes_));
    Value* place = pointer(buffer, b_.CreateAdd(a.base, b_.getInt64(v * lanes_)));
    Value* part = nullptr;
    Value* zero = llvm::Constant::getNullValue(type);
    if (partial) {
      Value* elements = b_.CreateAdd(lane_numbers(i32), b_.CreateVectorSplat(lanes_, b_.getInt32(v * lanes_)));
      part = b_.CreateMaskedLoad(type, place, align_of(buffer), b_.CreateICmpULE(elements, limit), zero);
    } else if (mask) {
      part = b_.CreateMaskedLoad(type, place, align_of(buffer), spread(mask, step, v), zero);
    } else if (count == lanes_) {
      part = b_.CreateAlignedLoad(type, place, align_of(buffer));
    } else {
      std::vector<llvm::Constant*> keep;
      for (unsigned i = 0; i < lanes_; ++i) keep.push_back(b_.getInt1(i < count));
      part = b_.CreateMaskedLoad(type, place, align_of(buffer), llvm::ConstantVector::get(keep), zero);
    }
    llvm::SmallVector<int, 64> picks;
    for (unsigned i = 0; i < lanes_; ++i) {
      bool here = i * step / lanes_ == v;
      picks.push_back(static_cast<int>(here ? lanes_ + i * step % lanes_ : i));
    }
    if (!out) out = llvm::PoisonValue::get(type);
    out = b_.CreateShuffleVector(out, part, picks);
  }
  return out;
}

/// With a `condition` for all lanes, zeros are read in the place of what it excludes: a load that is masked off where
/// nothing lies takes a processor a hundred cycles and more.
llvm::Value* KernelEmitter::load_contiguous(BufferId buffer, const Address& a, Value* mask, bool reversed,
                                            Value* condition) {
  auto* type = FixedVectorType::get(math_.memory_type(k_.buffers[buffer].dtype), lanes_);
  Value* first = reversed ? b_.CreateSub(a.base, b_.getInt64(lanes_ - 1)) : a.base;
  Value* place = pointer(buffer, first);
  if (condition) place = b_.CreateSelect(condition, place, zeros());
  if (!mask) {
    Value* v = b_.CreateAlignedLoad(type, place, align_of(buffer));
    return reversed ? reverse(v) : v;
  }
  Value* v = load_masked(type, place, align_of(buffer), reversed ? reverse(mask) : mask);
  return reversed ? reverse(v) : v;
}

/// Without AVX-512 no instruction loads some of a vector's short elements, and it takes one branch for each. But where
/// masks tell parts of an axis apart, most vectors lie in one of them: a whole one is loaded at once, none not at all.
llvm::Value* KernelEmitter::load_masked(FixedVectorType* type, Value* place, llvm::Align align, Value* mask) {
  Value* zero = llvm::Constant::getNullValue(type);
  const auto masked = [&] { return b_.CreateMaskedLoad(type, place, align, mask, zero); };
  const bool has_instruction = target_.avx512 || type->getScalarSizeInBits() >= 32;
  // What is hoisted stands in front of a branch that is there already.
  if (has_instruction || lanes_ < 2 || b_.GetInsertBlock()->getTerminator()) return masked();
  return math_.one_by_rarity(
      b_.CreateNot(mask), [&] { return math_.one_by_rarity(mask, masked, [&] { return zero; }); },
      [&] { return b_.CreateAlignedLoad(type, place, align); });
}

llvm::Value* KernelEmitter::gather(BufferId buffer, Value* addresses, Value* mask) {
  llvm::Type* element = math_.memory_type(k_.buffers[buffer].dtype);
  auto* type = FixedVectorType::get(element, lanes_);
  bool has_instruction = target_.avx512 && element->getPrimitiveSizeInBits() >= 32;
  if (has_instruction) {
    if (!mask) mask = llvm::Constant::getAllOnesValue(FixedVectorType::get(b_.getInt1Ty(), lanes_));
    return b_.CreateMaskedGather(type, addresses, align_of(buffer), mask, llvm::Constant::getNullValue(type));
  }
  if (mask) addresses = b_.CreateSelect(mask, addresses, b_.CreateVectorSplat(lanes_, zeros()));
  Value* out = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < lanes_; ++i) {
    Value* v = b_.CreateAlignedLoad(element, b_.CreateExtractElement(addresses, i), align_of(buffer));
    out = b_.CreateInsertElement(out, v, i);
  }
  return out;
}

// ------------------------------------------------------------------------------------------------------------------
// stores

/// What goes to memory: the value rounded to the buffer's type, added to the old content where the store accumulates.
llvm::Value* KernelEmitter::stored_form(const Store& s, Value* value, Value* old) {
  DType stored = k_.buffers[s.buffer].dtype, from = k_.scalars[s.value].dtype;
  if (!s.accumulate) return math_.narrow(value, from, stored);
  DType type = compute_dtype(stored);
  Value* sum = math_.binary(ScalarOp::Add, math_.widen(old, stored), math_.cast(value, from, type), type);
  return math_.narrow(sum, type, stored);
}

void KernelEmitter::emit_store(const Store& s) {
  set_line(s.node);
  if (puts_in_runs_) return put_in_run(s);
  Address a = address(s.index, s.buffer);
  bool mask_varies = s.mask != kNone && vector(s.mask);
  if (lanes_ == 1) return store_scalar(s, a, get(s.value));
  // In nests without inner axes of a kernel with lanes inside, everything is scalar.
  bool lanes_here = dep_.lane_axis(nest_).has_value();
  if (!lanes_here) return store_scalar(s, a, get(s.value));
  bool same_everywhere = a.kind == Address::Kind::Uniform && !s.accumulate && !mask_varies && !vector(s.value);
  if (same_everywhere) return store_scalar(s, a, get(s.value));
  store_lanes(s, a, get(s.value, true));
}

void KernelEmitter::write_scalar(const Store& s, Value* place, Value* value) {
  llvm::Type* type = math_.memory_type(k_.buffers[s.buffer].dtype);
  Value* old = s.accumulate ? b_.CreateAlignedLoad(type, place, align_of(s.buffer)) : nullptr;
  b_.CreateAlignedStore(stored_form(s, value, old), place, align_of(s.buffer));
}

void KernelEmitter::store_scalar(const Store& s, const Address& a, Value* value) {
  Value* place = pointer(s.buffer, a.base);
  if (s.mask != kNone) place = b_.CreateSelect(get(s.mask), place, sink());
  write_scalar(s, place, value);
}

void KernelEmitter::store_lanes(const Store& s, const Address& a, Value* value) {
  Value* mask = lane_mask(s.mask);
  bool strided = a.kind == Address::Kind::Strided;
  bool apart = strided && a.step && *a.step != 0;
  llvm::Type* element = math_.memory_type(k_.buffers[s.buffer].dtype);
  bool contiguous = strided && (a.step == 1 || a.step == -1);
  if (contiguous) {
    bool reversed = a.step == -1;
    Value* old = s.accumulate ? load_contiguous(s.buffer, a, mask, reversed) : nullptr;
    Value* v = stored_form(s, value, old);
    Value* place = pointer(s.buffer, reversed ? b_.CreateSub(a.base, b_.getInt64(lanes_ - 1)) : a.base);
    if (reversed) v = reverse(v);
    if (!mask) {
      store_vector(s.buffer, v, place);
    } else if (rest_ > 0 && s.mask == kNone && !reversed) {
      store_rest(s.buffer, v, place);
    } else {
      b_.CreateMaskedStore(v, place, align_of(s.buffer), reversed ? reverse(mask) : mask);
    }
    return;
  }
  Value* addresses = pointers(s.buffer, a);
  bool scatter = target_.avx512 && element->getPrimitiveSizeInBits() >= 32 && (apart || !s.accumulate);
  if (!scatter) return store_each_lane(s, addresses, value, mask);
  Value* old = s.accumulate ? gather(s.buffer, addresses, mask) : nullptr;
  if (!mask) mask = llvm::Constant::getAllOnesValue(FixedVectorType::get(b_.getInt1Ty(), lanes_));
  b_.CreateMaskedScatter(stored_form(s, value, old), addresses, align_of(s.buffer), mask);
}

/// The lanes of a line's rest, in parts of 1, 2, 4, ... of them. Where a result lies where an operand did, what follows
/// a line is read next, and processors take a masked store for one of the whole vector: the load would wait until the
/// store has reached the cache, and line after line would wait for the one before (layer norms of 24 and 40 channels
/// took three times as long, AMD's family 26).
void KernelEmitter::store_rest(BufferId buffer, Value* v, Value* place) {
  llvm::Type* element = v->getType()->getScalarType();
  for (unsigned done = 0, part = std::bit_floor(rest_); done < rest_; done += part, part = std::bit_floor(rest_ - done))
    b_.CreateAlignedStore(math_.slice(v, done, part), b_.CreateConstGEP1_64(element, place, done), align_of(buffer));
}

/// A whole vector; past the caches where the plan wants that and the place is aligned, which only the addresses tell.
void KernelEmitter::store_vector(BufferId buffer, Value* v, Value* place) {
  const auto bytes = v->getType()->getPrimitiveSizeInBits().getFixedValue() / 8;
  if (!plan_.streamed[buffer] || bytes < 16) {
    b_.CreateAlignedStore(v, place, align_of(buffer));
    return;
  }
  const uint64_t unit = std::min<uint64_t>(bytes, 64);
  const auto store = [&](bool past) {
    auto* made = b_.CreateAlignedStore(v, place, past ? llvm::Align(unit) : align_of(buffer));
    llvm::LLVMContext& context = module_.getContext();
    auto* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
    if (past) made->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, one));
  };
  if (aligned_) return store(*aligned_);
  Value* low = b_.CreateAnd(b_.CreatePtrToInt(place, b_.getInt64Ty()), b_.getInt64(unit - 1));
  in_two_ways(b_.CreateICmpEQ(low, b_.getInt64(0)), store);
}

void KernelEmitter::in_two_ways(Value* condition, const std::function<void(bool)>& emit) {
  Block *past = block("past"), *plain = block("plain"), *next = block("stored");
  b_.CreateCondBr(condition, past, plain);
  for (Block* way : {past, plain}) {
    b_.SetInsertPoint(way);
    emit(way == past);
    go(next);
  }
  b_.SetInsertPoint(next);
}

/// Lane after lane, for places that may coincide; lanes that do not count write to a place nobody reads.
void KernelEmitter::store_each_lane(const Store& s, Value* addresses, Value* value, Value* mask) {
  if (mask) addresses = b_.CreateSelect(mask, addresses, b_.CreateVectorSplat(lanes_, sink()));
  for (unsigned i = 0; i < lanes_; ++i) {
    write_scalar(s, b_.CreateExtractElement(addresses, i), b_.CreateExtractElement(value, i));
  }
}

}  // namespace strata::codegen
