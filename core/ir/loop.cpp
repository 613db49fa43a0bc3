// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/loop.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/ir/loop_fold.h"
#include "core/support/error.h"
#include "core/support/index_error.h"

namespace strata::loop {

namespace {

constexpr std::array<std::string_view, 64> kOpNames = {
    "const", "index",    "load",    "reduced",    "cast",  "bitcast", "neg",   "abs",  "sqrt", "rsqrt", "exp",
    "exp2",  "expm1",    "log",     "log2",       "log10", "log1p",   "sin",   "cos",  "tan",  "asin",  "acos",
    "atan",  "sinh",     "cosh",    "tanh",       "asinh", "acosh",   "atanh", "erf",  "erfc", "floor", "ceil",
    "round", "trunc",    "sigmoid", "reciprocal", "not",   "isnan",   "isinf", "sign", "add",  "sub",   "mul",
    "div",   "floordiv", "mod",     "fmod",       "pow",   "atan2",   "min",   "max",  "fmin", "fmax",  "and",
    "or",    "xor",      "shl",     "shr",        "eq",    "ne",      "lt",    "le",   "gt"};

size_t mix(size_t seed, size_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 31); }

bool same(const Scalar& x, const Scalar& y) {
  return x.op == y.op && x.dtype == y.dtype && x.a == y.a && x.b == y.b && x.c == y.c &&
         std::bit_cast<uint64_t>(x.number) == std::bit_cast<uint64_t>(y.number) && x.integer == y.integer &&
         x.buffer == y.buffer && x.index == y.index;
}

size_t hash_of(const Scalar& s) {
  size_t h = mix(static_cast<size_t>(s.op), static_cast<size_t>(s.dtype));
  for (size_t part : {size_t{s.a}, size_t{s.b}, size_t{s.c}, std::bit_cast<size_t>(s.number),
                      static_cast<size_t>(s.integer), size_t{s.buffer}, std::hash<SymInt>()(s.index)}) {
    h = mix(h, part);
  }
  return h;
}

/// A symbol of that name if it has the same bounds, else the first free `name_2`, `name_3`, ...: kernels of one
/// environment share their axis symbols where they can, which keeps the interned expressions few and the names short.
SymInt shared_symbol(ShapeEnv& env, const std::string& name, const Symbol& wanted, const std::vector<size_t>& taken) {
  for (int i = 1;; ++i) {
    Symbol symbol = wanted;
    symbol.name = i == 1 ? name : name + "_" + std::to_string(i);
    auto found = env.find(symbol.name);
    if (!found) return env.symbol(symbol);
    auto id = env.symbol_id(*found);
    if (!id || std::find(taken.begin(), taken.end(), *id) != taken.end()) continue;
    const Symbol& info = std::as_const(env).info(*id);
    if (info.origin == wanted.origin && info.range.min == wanted.range.min && info.range.max == wanted.range.max &&
        info.max_expr == wanted.max_expr) {
      return *found;
    }
  }
}

}  // namespace

std::string_view to_string(ScalarOp op) {
  switch (op) {
    case ScalarOp::Ge:
      return "ge";
    case ScalarOp::Select:
      return "select";
    case ScalarOp::Fma:
      return "fma";
    case ScalarOp::Check:
      return "check";
    default:
      return kOpNames[static_cast<size_t>(op)];
  }
}
static_assert(static_cast<size_t>(ScalarOp::Gt) + 1 == kOpNames.size());

bool is_unary(ScalarOp op) { return op >= ScalarOp::Neg && op <= ScalarOp::Sign; }
bool is_binary(ScalarOp op) { return op >= ScalarOp::Add && op <= ScalarOp::Ge; }
bool is_comparison(ScalarOp op) { return op >= ScalarOp::Eq && op <= ScalarOp::Ge; }

std::string_view to_string(Combine combine) {
  constexpr std::array<std::string_view, 10> names = {"sum", "prod",   "max",    "min",     "any",
                                                      "all", "argmax", "argmin", "welford", "sumexp"};
  return names[static_cast<size_t>(combine)];
}

void throw_violation(const Check& check, int64_t value, int64_t size) {
  const std::string where = check.where.empty() ? "" : ", in " + check.where;
  if (check.kind == Check::Kind::Divisor) throw_user("ZeroDivisionError: integer division or modulo by zero" + where);
  if (check.wrapped && value < 0) value -= size;
  std::string text = check.text;
  for (const auto& [mark, number] : {std::pair<std::string_view, int64_t>{"{index}", value}, {"{size}", size}})
    if (const size_t at = text.find(mark); at != std::string::npos)
      text.replace(at, mark.size(), std::to_string(number));
  throw IndexError(text + where);
}

size_t result_count(Combine combine) {
  switch (combine) {
    case Combine::ArgMax:
    case Combine::ArgMin:
    case Combine::SumExp:
      return 2;
    case Combine::Welford:
      return 3;
    default:
      return 1;
  }
}

// ------------------------------------------------------------------------------------------------------------ nests
// and axes

size_t Body::begin_nest(std::vector<AxisId> axes) {
  if (!kernel_.nests.empty() && !kernel_.nests.back().axes.empty()) {
    for (ScalarId id : kernel_.nests.back().body) {
      auto [begin, end] = seen_.equal_range(hash_of(kernel_.scalars[id]));
      for (auto it = begin; it != end; ++it) {
        if (it->second == id) {
          seen_.erase(it);
          break;
        }
      }
    }
  }
  Nest nest;
  nest.axes = std::move(axes);
  kernel_.nests.push_back(std::move(nest));
  return kernel_.nests.size() - 1;
}

AxisId Body::axis(std::string_view prefix, SymInt extent) {
  size_t same_prefix = 0;
  std::vector<size_t> taken;
  for (const Axis& axis : kernel_.axes) {
    taken.push_back(axis.symbol);
    bool numbered = axis.name.size() > prefix.size() && axis.name.starts_with(prefix) &&
                    axis.name.find_first_not_of("0123456789_", prefix.size()) == std::string::npos;
    same_prefix += numbered ? 1 : 0;
  }
  Symbol symbol;
  SymRange bounds = range(extent);
  symbol.range = {0, bounds.max == kSymMax ? kSymMax : std::max<int64_t>(0, bounds.max - 1)};
  symbol.max_expr = extent - 1;
  symbol.origin = "axis";
  Axis axis;
  SymInt index = shared_symbol(env_, std::string(prefix) + std::to_string(same_prefix), symbol, taken);
  axis.symbol = *env_.symbol_id(index);
  axis.name = std::as_const(env_).info(axis.symbol).name;
  axis.extent = extent;
  kernel_.axes.push_back(std::move(axis));
  return static_cast<AxisId>(kernel_.axes.size() - 1);
}

SymInt Body::axis_index(AxisId axis) const {
  if (axis >= kernel_.axes.size()) throw_internal("loop: axis " + std::to_string(axis) + " does not exist");
  return *env_.find(std::as_const(env_).info(kernel_.axes[axis].symbol).name);
}

BufferId Body::buffer(Buffer buffer) {
  kernel_.buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(kernel_.buffers.size() - 1);
}

// --------------------------------------------------------------------------------------------------------------
// instructions

ScalarId Body::append(Scalar scalar) {
  size_t hash = hash_of(scalar);
  auto [begin, end] = seen_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (same(kernel_.scalars[it->second], scalar)) return it->second;
  }
  if (kernel_.nests.empty()) begin_nest({});
  scalar.node = node;
  kernel_.scalars.push_back(std::move(scalar));
  auto id = static_cast<ScalarId>(kernel_.scalars.size() - 1);
  kernel_.nests.back().body.push_back(id);
  seen_.emplace(hash, id);
  return id;
}

ScalarId Body::constant(double value, DType dtype) {
  if (!is_floating(dtype)) return integer(fold::float_to_integer(value, dtype), dtype);
  Scalar s;
  s.dtype = compute_dtype(dtype);
  s.number = fold::round_to(value, s.dtype);
  return append(std::move(s));
}

ScalarId Body::integer(int64_t value, DType dtype) {
  if (is_floating(dtype)) return constant(static_cast<double>(value), dtype);
  Scalar s;
  s.dtype = dtype;
  s.integer = fold::wrap(value, dtype);
  return append(std::move(s));
}

ScalarId Body::index(const SymInt& e) {
  if (e.is_const()) return integer(e.value());
  if (auto id = env_.symbol_id(e)) {
    auto found = kernel_.indirect.find(*id);
    if (found != kernel_.indirect.end() && kernel_.scalars[found->second].dtype == DType::I64) return found->second;
  }
  Scalar s;
  s.op = ScalarOp::Index;
  s.dtype = DType::I64;
  s.index = e;
  return append(std::move(s));
}

ScalarId Body::load(BufferId buffer, const SymInt& index, ScalarId mask) {
  DType dtype = compute_dtype(kernel_.buffers.at(buffer).dtype);
  if (mask != kNone && scalar(mask).op == ScalarOp::Const) {
    if (!scalar(mask).integer) return integer(0, dtype);
    mask = kNone;
  }
  Scalar s;
  s.op = ScalarOp::Load;
  s.dtype = dtype;
  s.buffer = buffer;
  s.index = index;
  s.a = mask;
  return append(std::move(s));
}

ScalarId Body::cast(ScalarId a, DType dtype) {
  const Scalar& from = scalar(a);
  if (from.dtype == dtype) return a;
  // Widening and narrowing back gives what was there before.
  if (from.op == ScalarOp::Cast && is_reduced_float(scalar(from.a).dtype) && scalar(from.a).dtype == dtype)
    return from.a;
  if (from.op == ScalarOp::Cast && dtype == DType::F32 && is_reduced_float(from.dtype)) {
    const Scalar& whole = scalar(from.a);
    const double number = is_floating(whole.dtype) ? whole.number : static_cast<double>(whole.integer);
    if (whole.op == ScalarOp::Const && whole.dtype != DType::U64)
      return constant(fold::round_to(number, from.dtype), dtype);
  }
  if (from.op == ScalarOp::Const && !is_reduced_float(dtype)) {
    if (is_floating(from.dtype)) return constant(from.number, dtype);
    if (!is_floating(dtype)) return integer(dtype == DType::Bool ? from.integer != 0 : from.integer, dtype);
    bool large_unsigned = from.dtype == DType::U64 && from.integer < 0;
    if (!large_unsigned && dtype == DType::F32) return constant(static_cast<float>(from.integer), dtype);
    if (!large_unsigned) return constant(static_cast<double>(from.integer), dtype);
  }
  Scalar s;
  s.op = ScalarOp::Cast;
  s.dtype = dtype;
  s.a = a;
  return append(std::move(s));
}

ScalarId Body::unary(ScalarOp op, ScalarId a) {
  DType type = dtype(a);
  if (auto folded = fold::unary(op, scalar(a))) {
    return is_floating(folded->dtype) ? constant(folded->number, folded->dtype)
                                      : integer(folded->integer, folded->dtype);
  }
  if ((op == ScalarOp::Neg || op == ScalarOp::Not) && scalar(a).op == op) return scalar(a).a;
  bool rounding = op == ScalarOp::Floor || op == ScalarOp::Ceil || op == ScalarOp::Round || op == ScalarOp::Trunc;
  if (rounding && !is_floating(type)) return a;
  Scalar s;
  s.op = op;
  s.dtype = op == ScalarOp::IsNan || op == ScalarOp::IsInf ? DType::Bool : type;
  s.a = a;
  return append(std::move(s));
}

ScalarId Body::binary(ScalarOp op, ScalarId a, ScalarId b) {
  if (dtype(a) != dtype(b)) {
    throw_internal("loop kernel '" + kernel_.name + "': operands of '" + std::string(to_string(op)) +
                   "' must have one dtype, found " + std::string(dtype_name(dtype(a))) + " and " +
                   std::string(dtype_name(dtype(b))));
  }
  if (auto folded = fold::binary(op, scalar(a), scalar(b))) {
    return is_floating(folded->dtype) ? constant(folded->number, folded->dtype)
                                      : integer(folded->integer, folded->dtype);
  }
  if (auto kept = fold::identity(op, scalar(a), scalar(b))) return *kept == fold::Operand::A ? a : b;
  Scalar s;
  s.op = op;
  s.dtype = is_comparison(op) ? DType::Bool : dtype(a);
  s.a = a;
  s.b = b;
  return append(std::move(s));
}

ScalarId Body::select(ScalarId condition, ScalarId a, ScalarId b) {
  if (dtype(a) != dtype(b))
    throw_internal("loop kernel '" + kernel_.name + "': branches of 'select' must have one dtype");
  if (a == b) return a;
  if (scalar(condition).op == ScalarOp::Const) return scalar(condition).integer ? a : b;
  Scalar s;
  s.op = ScalarOp::Select;
  s.dtype = dtype(a);
  s.a = condition;
  s.b = a;
  s.c = b;
  return append(std::move(s));
}

ScalarId Body::check(ScalarId value, ScalarId holds, ScalarId instead, Check check) {
  if (dtype(value) != dtype(instead) || scalar(instead).op != ScalarOp::Const)
    throw_internal("loop kernel '" + kernel_.name + "': a check needs a constant of the value's dtype instead");
  if (live != kNone) holds = binary(ScalarOp::Or, holds, unary(ScalarOp::Not, live));
  if (scalar(holds).op == ScalarOp::Const && scalar(holds).integer) return value;
  check.node = node;
  auto& checks = kernel_.checks;
  const auto at = std::find(checks.begin(), checks.end(), check);
  Scalar s;
  s.op = ScalarOp::Check;
  s.dtype = dtype(value);
  s.a = value;
  s.b = holds;
  s.c = instead;
  s.integer = at - checks.begin();
  if (at == checks.end()) checks.push_back(std::move(check));
  return append(std::move(s));
}

ScalarId Body::reduced(size_t nest, size_t reduction, size_t result) {
  if (nest >= kernel_.nests.size() || reduction >= kernel_.nests[nest].reductions.size()) {
    throw_internal("loop kernel '" + kernel_.name + "': no reduction " + std::to_string(reduction) + " in nest " +
                   std::to_string(nest));
  }
  const Reduction& r = kernel_.nests[nest].reductions[reduction];
  bool position = result == 1 && (r.combine == Combine::ArgMax || r.combine == Combine::ArgMin);
  Scalar s;
  s.op = ScalarOp::Reduced;
  s.dtype = position ? DType::I64 : r.dtype;
  s.a = static_cast<ScalarId>(nest);
  s.b = static_cast<ScalarId>(reduction);
  s.integer = static_cast<int64_t>(result);
  return append(std::move(s));
}

size_t Body::reduce(Reduction reduction) {
  if (kernel_.nests.empty()) throw_internal("loop kernel '" + kernel_.name + "': reduction outside of a nest");
  if (reduction.node == 0) reduction.node = node;
  if (reduction.mask != kNone && scalar(reduction.mask).op == ScalarOp::Const && scalar(reduction.mask).integer) {
    reduction.mask = kNone;
  }
  kernel_.nests.back().reductions.push_back(reduction);
  return kernel_.nests.back().reductions.size() - 1;
}

void Body::store(Store store) {
  if (kernel_.nests.empty()) begin_nest({});
  if (store.node == 0) store.node = node;
  if (store.mask != kNone && scalar(store.mask).op == ScalarOp::Const) {
    if (!scalar(store.mask).integer) return;
    store.mask = kNone;
  }
  // A later load of this buffer must see the store.
  std::erase_if(seen_, [&](const auto& entry) {
    const Scalar& s = kernel_.scalars[entry.second];
    return s.op == ScalarOp::Load && s.buffer == store.buffer;
  });
  kernel_.nests.back().stores.push_back(std::move(store));
}

SymInt Body::indirect(ScalarId scalar, SymRange bounds, std::optional<SymInt> max_expr) {
  if (!is_integral(dtype(scalar))) {
    throw_internal("loop kernel '" + kernel_.name + "': an indirect index must be an integer, found " +
                   std::string(dtype_name(dtype(scalar))));
  }
  if (this->scalar(scalar).op == ScalarOp::Const) return this->scalar(scalar).integer;
  if (this->scalar(scalar).op == ScalarOp::Index) return this->scalar(scalar).index;
  Symbol symbol;
  symbol.range = bounds;
  symbol.max_expr = max_expr;
  symbol.origin = "indirect";
  std::vector<size_t> taken;
  for (const auto& [id, value] : kernel_.indirect) {
    const Symbol& info = std::as_const(env_).info(id);
    if (value == scalar && info.range.min == bounds.min && info.range.max == bounds.max && info.max_expr == max_expr) {
      return *env_.find(info.name);
    }
    taken.push_back(id);
  }
  SymInt index = shared_symbol(env_, "k" + std::to_string(kernel_.indirect.size()), symbol, taken);
  kernel_.indirect.emplace(*env_.symbol_id(index), scalar);
  return index;
}

}  // namespace strata::loop
