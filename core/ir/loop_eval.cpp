// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/loop_eval.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/ir/loop_fold.h"
#include "core/runtime/tensor.h"
#include "core/support/error.h"

namespace strata::loop {

namespace {

template <class T>
T read(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

ScalarValue load(const std::byte* at, DType d) {
  switch (d) {
    case DType::Bool:
      return {0, read<uint8_t>(at) != 0};
    case DType::U8:
      return {0, read<uint8_t>(at)};
    case DType::I8:
      return {0, read<int8_t>(at)};
    case DType::U16:
      return {0, read<uint16_t>(at)};
    case DType::I16:
      return {0, read<int16_t>(at)};
    case DType::U32:
      return {0, read<uint32_t>(at)};
    case DType::I32:
      return {0, read<int32_t>(at)};
    case DType::U64:
    case DType::I64:
      return {0, read<int64_t>(at)};
    case DType::F16:
      return {half_to_float(read<uint16_t>(at)), 0};
    case DType::BF16:
      return {bfloat16_to_float(read<uint16_t>(at)), 0};
    case DType::F32:
      return {read<float>(at), 0};
    default:
      return {read<double>(at), 0};
  }
}

void store(std::byte* at, DType d, ScalarValue v) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (d) {
    case DType::F16:
      return put(float_to_half(static_cast<float>(v.number)));
    case DType::BF16:
      return put(float_to_bfloat16(static_cast<float>(v.number)));
    case DType::F32:
      return put(static_cast<float>(v.number));
    case DType::F64:
      return put(v.number);
    default:
      std::memcpy(at, &v.integer, dtype_size(d));
  }
}

double python_mod(double a, double b) {
  double m = std::fmod(a, b);
  return m != 0 && (b < 0) != (m < 0) ? m + b : m;
}

/// In the operand's own precision, because the steps round.
template <class T>
T floor_divide(T a, T b) {
  if (b == 0) return a / b;
  T m = std::fmod(a, b), q = (a - m) / b;
  if (m != 0 && (b < 0) != (m < 0)) q -= 1;
  if (q == 0) return std::copysign(T(0), a / b);
  T f = std::floor(q);
  return q - f > T(0.5) ? f + 1 : f;
}

double float_unary(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::Neg:
      return -a;
    case ScalarOp::Abs:
      return std::fabs(a);
    case ScalarOp::Sqrt:
      return std::sqrt(a);
    case ScalarOp::Rsqrt:
      return 1 / std::sqrt(a);
    case ScalarOp::Exp:
      return std::exp(a);
    case ScalarOp::Exp2:
      return std::exp2(a);
    case ScalarOp::Expm1:
      return std::expm1(a);
    case ScalarOp::Log:
      return std::log(a);
    case ScalarOp::Log2:
      return std::log2(a);
    case ScalarOp::Log10:
      return std::log10(a);
    case ScalarOp::Log1p:
      return std::log1p(a);
    case ScalarOp::Sin:
      return std::sin(a);
    case ScalarOp::Cos:
      return std::cos(a);
    case ScalarOp::Tan:
      return std::tan(a);
    case ScalarOp::Asin:
      return std::asin(a);
    case ScalarOp::Acos:
      return std::acos(a);
    case ScalarOp::Atan:
      return std::atan(a);
    case ScalarOp::Sinh:
      return std::sinh(a);
    case ScalarOp::Cosh:
      return std::cosh(a);
    case ScalarOp::Tanh:
      return std::tanh(a);
    case ScalarOp::Asinh:
      return std::asinh(a);
    case ScalarOp::Acosh:
      return std::acosh(a);
    case ScalarOp::Atanh:
      return std::atanh(a);
    case ScalarOp::Erf:
      return std::erf(a);
    case ScalarOp::Erfc:
      return std::erfc(a);
    case ScalarOp::Floor:
      return std::floor(a);
    case ScalarOp::Ceil:
      return std::ceil(a);
    case ScalarOp::Round:
      return std::nearbyint(a);
    case ScalarOp::Trunc:
      return std::trunc(a);
    case ScalarOp::Sigmoid:
      return 1 / (1 + std::exp(-a));
    case ScalarOp::Reciprocal:
      return 1 / a;
    case ScalarOp::Sign:
      return (a > 0) - (a < 0);
    default:
      throw_internal("loop evaluator: '" + std::string(to_string(op)) + "' is no operation on a float");
  }
}

double float_binary(ScalarOp op, double a, double b, bool single) {
  switch (op) {
    case ScalarOp::Add:
      return a + b;
    case ScalarOp::Sub:
      return a - b;
    case ScalarOp::Mul:
      return a * b;
    case ScalarOp::Div:
      return a / b;
    case ScalarOp::FloorDiv:
      return single ? floor_divide(static_cast<float>(a), static_cast<float>(b)) : floor_divide(a, b);
    case ScalarOp::Mod:
      return python_mod(a, b);
    case ScalarOp::Fmod:
      return std::fmod(a, b);
    case ScalarOp::Pow:
      return std::pow(a, b);
    case ScalarOp::Atan2:
      return std::atan2(a, b);
    case ScalarOp::Min:
      return std::isnan(a) || std::isnan(b) ? std::nan("") : a < b ? a : b;
    case ScalarOp::Max:
      return std::isnan(a) || std::isnan(b) ? std::nan("") : a > b ? a : b;
    case ScalarOp::Fmin:
      return std::fmin(a, b);
    case ScalarOp::Fmax:
      return std::fmax(a, b);
    default:
      throw_internal("loop evaluator: '" + std::string(to_string(op)) + "' is no operation on two floats");
  }
}

template <class T>
bool compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::Eq:
      return a == b;
    case ScalarOp::Ne:
      return a != b;
    case ScalarOp::Lt:
      return a < b;
    case ScalarOp::Le:
      return a <= b;
    case ScalarOp::Gt:
      return a > b;
    default:
      return a >= b;
  }
}

int64_t integer_unary(ScalarOp op, int64_t a, DType d) {
  bool is_signed = is_signed_integral(d);
  switch (op) {
    case ScalarOp::Neg:
      return d == DType::Bool ? a : static_cast<int64_t>(0 - static_cast<uint64_t>(a));
    case ScalarOp::Abs:
      return is_signed && a < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a;
    case ScalarOp::Not:
      return d == DType::Bool ? !a : ~a;
    case ScalarOp::Sign:
      return is_signed ? (a > 0) - (a < 0) : a != 0;
    default:
      return a;
  }
}

int64_t power(int64_t base, int64_t exponent, bool is_signed) {
  if (is_signed && exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1;
  for (uint64_t e = static_cast<uint64_t>(exponent), f = static_cast<uint64_t>(base); e; e >>= 1, f *= f) {
    if (e & 1) result *= f;
  }
  return static_cast<int64_t>(result);
}

/// Quotient and remainder of `Div` and `Fmod`, or of `FloorDiv` and `Mod`. Division by zero is PyTorch's error, not
/// ours: anything will do.
int64_t divide(ScalarOp op, int64_t a, int64_t b, bool is_signed) {
  bool quotient = op == ScalarOp::Div || op == ScalarOp::FloorDiv;
  if (b == 0) return quotient ? a : 0;
  if (!is_signed) {
    auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    return static_cast<int64_t>(quotient ? ua / ub : ua % ub);
  }
  if (b == -1) return quotient ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : 0;
  int64_t q = a / b, r = a % b;
  bool floors = (op == ScalarOp::FloorDiv || op == ScalarOp::Mod) && r != 0 && (r < 0) != (b < 0);
  return quotient ? q - floors : r + (floors ? b : 0);
}

int64_t shift(ScalarOp op, int64_t a, int64_t b, DType d) {
  bool inside = static_cast<uint64_t>(b) < 8 * dtype_size(d);
  if (op == ScalarOp::Shl) return inside ? static_cast<int64_t>(static_cast<uint64_t>(a) << b) : 0;
  if (!is_signed_integral(d)) return inside ? static_cast<int64_t>(static_cast<uint64_t>(a) >> b) : 0;
  return a >> (inside ? b : 63);
}

int64_t integer_binary(ScalarOp op, int64_t a, int64_t b, DType d) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  bool is_bool = d == DType::Bool, less = is_signed_integral(d) ? a < b : ua < ub;
  switch (op) {
    case ScalarOp::Add:
      return is_bool ? a | b : static_cast<int64_t>(ua + ub);
    case ScalarOp::Sub:
      return is_bool ? a ^ b : static_cast<int64_t>(ua - ub);
    case ScalarOp::Mul:
      return static_cast<int64_t>(ua * ub);
    case ScalarOp::Div:
    case ScalarOp::FloorDiv:
    case ScalarOp::Mod:
    case ScalarOp::Fmod:
      return divide(op, a, b, is_signed_integral(d));
    case ScalarOp::Pow:
      return power(a, b, is_signed_integral(d));
    case ScalarOp::Min:
    case ScalarOp::Fmin:
      return less ? a : b;
    case ScalarOp::Max:
    case ScalarOp::Fmax:
      return less ? b : a;
    case ScalarOp::And:
      return a & b;
    case ScalarOp::Or:
      return a | b;
    case ScalarOp::Xor:
      return a ^ b;
    case ScalarOp::Shl:
    case ScalarOp::Shr:
      return shift(op, a, b, d);
    default:
      throw_internal("loop evaluator: '" + std::string(to_string(op)) + "' is no operation on integers");
  }
}

ScalarValue cast(ScalarValue a, DType from, DType to) {
  if (is_floating(from)) {
    if (!is_floating(to)) return {0, fold::float_to_integer(a.number, to)};
    return {fold::round_to(a.number, to), 0};
  }
  if (!is_floating(to)) return {0, fold::wrap(a.integer, to)};
  bool large = from == DType::U64 && a.integer < 0;
  if (to == DType::F64)
    return {large ? static_cast<double>(static_cast<uint64_t>(a.integer)) : static_cast<double>(a.integer), 0};
  float f = large ? static_cast<float>(static_cast<uint64_t>(a.integer)) : static_cast<float>(a.integer);
  return {fold::round_to(f, to), 0};
}

class Evaluator {
 public:
  Evaluator(const Kernel& kernel, std::span<std::byte* const> buffers, const SymBindings& symbols)
      : k_(kernel), buffers_(buffers.begin(), buffers.end()), symbols_(symbols), values_(kernel.scalars.size()) {
    size_t most = symbols_.size();
    for (const Axis& a : k_.axes) most = std::max(most, a.symbol + 1);
    for (const auto& [symbol, scalar] : k_.indirect) most = std::max(most, symbol + 1);
    symbols_.resize(most);
    scratch_.resize(k_.buffers.size());
  }

  void run() { outer(0); }

 private:
  int64_t value(const SymInt& e) {
    for (size_t s : free_symbols(e)) {
      if (auto it = k_.indirect.find(s); it != k_.indirect.end()) symbols_[s] = values_[it->second].integer;
    }
    auto v = evaluate(e, symbols_);
    if (!v) throw_internal("loop evaluator: '" + e.str() + "' of kernel '" + k_.name + "' has no value");
    return *v;
  }

  void outer(size_t i) {
    if (i == k_.outer.size()) return point();
    const Axis& axis = k_.axes[k_.outer[i]];
    int64_t extent = value(axis.extent);
    for (int64_t x = 0; x < extent; ++x) {
      symbols_[axis.symbol] = x;
      outer(i + 1);
    }
  }

  void point() {
    results_.assign(k_.nests.size(), {});
    for (size_t b = 0; b < k_.buffers.size(); ++b) {
      if (k_.buffers[b].role != BufferRole::Local) continue;
      scratch_[b].assign(static_cast<size_t>(value(k_.buffers[b].numel)) * dtype_size(k_.buffers[b].dtype),
                         std::byte{0xa5});
      buffers_[b] = scratch_[b].data();
    }
    for (nest_ = 0; nest_ < k_.nests.size(); ++nest_) {
      for (const Reduction& r : k_.nests[nest_].reductions) results_[nest_].push_back(identity(r));
      inner(0);
    }
  }

  void inner(size_t i) {
    const Nest& nest = k_.nests[nest_];
    if (i == nest.axes.size()) return body();
    const Axis& axis = k_.axes[nest.axes[i]];
    int64_t extent = value(axis.extent);
    for (int64_t x = 0; x < extent; ++x) {
      symbols_[axis.symbol] = x;
      inner(i + 1);
    }
  }

  void body() {
    const Nest& nest = k_.nests[nest_];
    std::vector<char> done(nest.reductions.size(), 0);
    auto combine_once = [&](size_t r) {
      if (!done[r]) combine(nest.reductions[r], results_[nest_][r]);
      done[r] = 1;
    };
    for (ScalarId id : nest.body) {
      const Scalar& s = k_.scalars[id];
      if (s.op == ScalarOp::Reduced && s.a == nest_) combine_once(s.b);
      values_[id] = instruction(s);
    }
    for (size_t r = 0; r < nest.reductions.size(); ++r) combine_once(r);
    for (const Store& s : nest.stores) write(s);
  }

  std::byte* place(BufferId b, const SymInt& index) {
    return buffers_[b] + value(index) * static_cast<int64_t>(dtype_size(k_.buffers[b].dtype));
  }

  ScalarValue instruction(const Scalar& s) {
    switch (s.op) {
      case ScalarOp::Const:
        return {s.number, s.integer};
      case ScalarOp::Index:
        return {0, value(s.index)};
      case ScalarOp::Load:
        if (s.a != kNone && !values_[s.a].integer) return {};
        return strata::loop::load(place(s.buffer, s.index), k_.buffers[s.buffer].dtype);
      case ScalarOp::Reduced:
        return results_[s.a][s.b][static_cast<size_t>(s.integer)];
      case ScalarOp::Select:
        return values_[s.a].integer ? values_[s.b] : values_[s.c];
      case ScalarOp::Check: {
        const Check& check = k_.checks.at(static_cast<size_t>(s.integer));
        if (!values_[s.b].integer) throw_violation(check, values_[s.a].integer, value(check.size));
        return values_[s.a];
      }
      default:
        break;
    }
    ScalarValue b = s.b == kNone ? ScalarValue{} : values_[s.b], c = s.c == kNone ? ScalarValue{} : values_[s.c];
    return evaluate_scalar(s.op, k_.scalars[s.a].dtype, s.dtype, values_[s.a], b, c);
  }

  static std::vector<ScalarValue> identity(const Reduction& r) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    unsigned bits = static_cast<unsigned>(dtype_size(r.dtype)) * 8;
    bool is_signed = is_signed_integral(r.dtype);
    int64_t low = is_signed ? INT64_MIN >> (64 - bits) : 0;
    int64_t high = r.dtype == DType::Bool ? 1
                   : is_signed            ? INT64_MAX >> (64 - bits)
                                          : static_cast<int64_t>(UINT64_MAX >> (64 - bits));
    switch (r.combine) {
      case Combine::Prod:
      case Combine::All:
        return {{1, 1}};
      case Combine::Max:
        return {{-inf, low}};
      case Combine::Min:
        return {{inf, high}};
      case Combine::ArgMax:
        return {{-inf, low}, {0, INT64_MAX}};
      case Combine::ArgMin:
        return {{inf, high}, {0, INT64_MAX}};
      case Combine::Welford:
        return {{}, {}, {}};
      case Combine::SumExp:
        return {{-inf, low}, {}};
      default:
        return {{}};
    }
  }

  void combine(const Reduction& r, std::vector<ScalarValue>& acc) {
    if (r.mask != kNone && !values_[r.mask].integer) return;
    ScalarValue v = values_[r.value];
    // Float sums stay in double here: a reference to compare with, not an order of summation.
    DType wide = is_floating(r.dtype) ? DType::F64 : r.dtype;
    auto apply = [&](ScalarOp op) { acc[0] = evaluate_scalar(op, wide, wide, acc[0], v); };
    switch (r.combine) {
      case Combine::Sum:
        return apply(ScalarOp::Add);
      case Combine::Prod:
        return apply(ScalarOp::Mul);
      case Combine::Max:
        return apply(ScalarOp::Max);
      case Combine::Min:
        return apply(ScalarOp::Min);
      case Combine::Any:
        return void(acc[0].integer |= v.integer);
      case Combine::All:
        return void(acc[0].integer &= v.integer);
      case Combine::Welford: {
        double delta = v.number - acc[0].number;
        acc[2].number += 1;
        acc[0].number += delta / acc[2].number;
        acc[1].number += delta * (v.number - acc[0].number);
        return;
      }
      case Combine::SumExp: {
        const double before = acc[0].number;
        apply(ScalarOp::Max);
        if (acc[1].number != 0 && before != acc[0].number) acc[1].number *= std::exp(before - acc[0].number);
        acc[1].number += std::exp(v.number - acc[0].number);
        return;
      }
      default:
        return take_better(r, acc, v, values_[r.position]);
    }
  }

  static void take_better(const Reduction& r, std::vector<ScalarValue>& acc, ScalarValue v, ScalarValue at) {
    bool f = is_floating(r.dtype), largest = r.combine == Combine::ArgMax;
    bool nan_old = f && std::isnan(acc[0].number), nan_new = f && std::isnan(v.number);
    auto is = [&](ScalarOp op) { return evaluate_scalar(op, r.dtype, DType::Bool, v, acc[0]).integer != 0; };
    bool wins = is(largest ? ScalarOp::Gt : ScalarOp::Lt) || (nan_new && !nan_old);
    bool ties = is(ScalarOp::Eq) || (nan_new && nan_old);
    if (wins || (ties && at.integer < acc[1].integer)) acc = {v, at};
  }

  void write(const Store& s) {
    if (s.mask != kNone && !values_[s.mask].integer) return;
    DType stored = k_.buffers[s.buffer].dtype;
    std::byte* at = place(s.buffer, s.index);
    ScalarValue v = values_[s.value];
    if (s.accumulate)
      v = evaluate_scalar(ScalarOp::Add, compute_dtype(stored), compute_dtype(stored), strata::loop::load(at, stored),
                          v);
    strata::loop::store(at, stored, v);
  }

  const Kernel& k_;
  std::vector<std::byte*> buffers_;
  SymBindings symbols_;
  std::vector<ScalarValue> values_;
  std::vector<std::vector<std::byte>> scratch_;
  std::vector<std::vector<std::vector<ScalarValue>>> results_;
  size_t nest_ = 0;
};

}  // namespace

ScalarValue evaluate_scalar(ScalarOp op, DType operand, DType result, ScalarValue a, ScalarValue b, ScalarValue c) {
  if (op == ScalarOp::Cast) return cast(a, operand, result);
  if (op == ScalarOp::Bitcast) {
    std::byte bytes[8] = {};
    store(bytes, operand, a);
    return load(bytes, result);
  }
  if (is_floating(operand)) {
    if (is_comparison(op)) return {0, compare(op, a.number, b.number)};
    if (op == ScalarOp::IsNan) return {0, std::isnan(a.number)};
    if (op == ScalarOp::IsInf) return {0, std::isinf(a.number)};
    if (op == ScalarOp::Fma && operand == DType::F32) {
      return {std::fma(static_cast<float>(a.number), static_cast<float>(b.number), static_cast<float>(c.number)), 0};
    }
    if (op == ScalarOp::Fma) return {std::fma(a.number, b.number, c.number), 0};
    double v = is_unary(op) ? float_unary(op, a.number) : float_binary(op, a.number, b.number, operand == DType::F32);
    return {fold::round_to(v, result), 0};
  }
  if (is_comparison(op)) {
    bool large = operand == DType::U64;
    return {0, large ? compare(op, static_cast<uint64_t>(a.integer), static_cast<uint64_t>(b.integer))
                     : compare(op, a.integer, b.integer)};
  }
  int64_t v = is_unary(op) ? integer_unary(op, a.integer, operand) : integer_binary(op, a.integer, b.integer, operand);
  return {0, fold::wrap(v, operand)};
}

void evaluate_loop(const Kernel& kernel, std::span<std::byte* const> buffers, const SymBindings& symbols) {
  if (buffers.size() != kernel.buffers.size()) {
    throw_internal("loop evaluator: kernel '" + kernel.name + "' has " + std::to_string(kernel.buffers.size()) +
                   " buffers, found " + std::to_string(buffers.size()));
  }
  Evaluator(kernel, buffers, symbols).run();
}

}  // namespace strata::loop
