// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_cost.h"

#include <algorithm>
#include <numeric>

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

int64_t extent_hint(const Kernel& k, AxisId axis) {
  const SymInt& e = k.axes[axis].extent;
  if (auto value = e.maybe_value()) return *value;
  if (auto value = hint(e)) return std::max<int64_t>(*value, 1);
  return 64;
}

bool mentions(const SymInt& e, size_t symbol) {
  auto symbols = free_symbols(e);
  return std::binary_search(symbols.begin(), symbols.end(), symbol);
}

namespace {

/// Instructions for an element; of sums of exponentials those of `exp`, too.
int reduction_cost(const Reduction& r) {
  if (r.combine == Combine::SumExp) return 18;
  return r.combine >= Combine::ArgMax ? 8 : 2;
}

}  // namespace

ShapeEnv* environment_of_loads(const Kernel& k) {
  for (const Scalar& s : k.scalars)
    if (!s.index.is_const()) return s.index.env();
  return nullptr;
}

ShapeEnv* environment(const Kernel& k) {
  ShapeEnv* env = nullptr;
  const auto look = [&](const SymInt& e) {
    if (!env && !e.is_const()) env = e.env();
  };
  for (const Axis& a : k.axes) look(a.extent);
  each_index(k, look);
  return env;
}

double operation_cost(const Scalar& s) {
  switch (s.op) {
    case ScalarOp::Const:
    case ScalarOp::Index:
    case ScalarOp::Reduced:
      return 0;
    case ScalarOp::Sqrt:
    case ScalarOp::Rsqrt:
    case ScalarOp::Reciprocal:
      return 4;
    case ScalarOp::Div:
      return is_floating(s.dtype) ? 4 : 60;
    case ScalarOp::FloorDiv:
    case ScalarOp::Mod:
    case ScalarOp::Fmod:
      return is_floating(s.dtype) ? 16 : 80;
    case ScalarOp::Pow:
      return 60;
    case ScalarOp::Sigmoid:
      return 20;
    case ScalarOp::Exp:  // instructions of vector_functions.cpp
      return 12;
    case ScalarOp::Log:
      return 15;
    case ScalarOp::Erf:
    case ScalarOp::Tanh:
      return 16;
    case ScalarOp::Sin:
    case ScalarOp::Cos:
      return 18;
    default:
      break;
  }
  bool call = (s.op >= ScalarOp::Exp && s.op <= ScalarOp::Erfc) || s.op == ScalarOp::Atan2;
  return call ? 20 : 1;
}

namespace {

/// Whether `count` elements `stride` bytes apart want so few places of the first cache that their lines are gone before
/// the next elements of these are asked for.
bool crowds(int64_t stride, int64_t count) {
  constexpr int64_t kPage = 4096, kWays = 8;  // lines that lie pages apart want the same place, which has so many ways
  const int64_t places = kPage / std::gcd(stride, kPage);
  return places <= 8 && count > kWays * places;
}

/// What access to `e` costs when the lanes lie along `axis` (symbol), which has `count` elements of `size` bytes, for all
/// lanes of one vector.
double access_cost(const SymInt& e, size_t axis, int lanes, bool indirect, int64_t size, int64_t count) {
  // 23 cycles for sixteen lanes on AMD's processors; Intel's are as slow since they guard against leaks.
  const double gather = 1.4 * lanes;
  constexpr double kCrowded = 4;
  if (indirect) return gather;
  if (e.is_const() || !mentions(e, axis)) return 0.5;
  auto linear = linear_in(e, axis);
  if (!linear) return 2.5 * lanes;
  auto stride = linear->coefficient.maybe_value();
  if (!stride) return gather;
  if (*stride != 0 && crowds(*stride * size, count)) return kCrowded * gather;
  bool near = *stride >= 2 && *stride <= 4;
  return *stride == 1 ? 1 : *stride == -1 ? 2 : near ? 2.0 * static_cast<double>(*stride) : gather;
}

}  // namespace

double iteration_cost(const Kernel& k, const Nest& nest, std::optional<AxisId> axis, int lanes) {
  double total = 1;
  size_t symbol = axis ? k.axes[*axis].symbol : SIZE_MAX;
  auto is_indirect = [&](const SymInt& e) {
    for (size_t s : free_symbols(e)) {
      if (auto it = k.indirect.find(s); it != k.indirect.end()) {
        const Scalar& value = k.scalars[it->second];
        if (value.op != ScalarOp::Load || mentions(value.index, symbol)) return true;
      }
    }
    return false;
  };
  auto access = [&](const SymInt& e, BufferId buffer) {
    if (!axis) return 1.0;
    const auto size = static_cast<int64_t>(dtype_size(k.buffers[buffer].dtype));
    return access_cost(e, symbol, lanes, is_indirect(e), size, extent_hint(k, *axis));
  };
  for (ScalarId id : nest.body) {
    const Scalar& s = k.scalars[id];
    double wide = lanes > 1 && (s.dtype == DType::F64 || s.dtype == DType::I64) ? 2 : 1;
    total += s.op == ScalarOp::Load ? access(s.index, s.buffer) : operation_cost(s) * wide;
  }
  for (const Reduction& r : nest.reductions) total += reduction_cost(r);
  for (const Store& s : nest.stores) total += access(s.index, s.buffer) + (s.accumulate ? lanes : 0);
  return total;
}

size_t length_of(const Nest& nest, const Kernel& k) {
  size_t length = nest.stores.size() + 2 * nest.reductions.size();
  for (ScalarId id : nest.body) {
    const double cost = operation_cost(k.scalars[id]);
    length += cost < 20 ? static_cast<size_t>(cost) : 4;
  }
  return length;
}

size_t work_in(const Kernel& k, const Nest& nest) {
  size_t work = nest.stores.size();
  for (const Reduction& r : nest.reductions)
    work += r.combine == Combine::SumExp ? static_cast<size_t>(reduction_cost(r)) : 2;
  for (ScalarId id : nest.body)
    work += static_cast<size_t>(operation_cost(k.scalars[id])) + (k.scalars[id].op == ScalarOp::Load);
  return work;
}

bool sums_exponentials(const Nest& nest) {
  return std::any_of(nest.reductions.begin(), nest.reductions.end(),
                     [](const Reduction& r) { return r.combine == Combine::SumExp; });
}

}  // namespace strata::codegen
