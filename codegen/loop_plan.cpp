// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "codegen/loop_keep.h"
#include "codegen/loop_tile.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr double kUnitNs = 0.25;  // a simple vector instruction, with its share of loads

SymInt axis_symbol(const Kernel& k, AxisId axis) {
  // Recovered from any expression of the environment that is at hand: the extent may be a constant.
  ShapeEnv* env = nullptr;
  auto look = [&](const SymInt& e) {
    if (!env && !e.is_const()) env = e.env();
  };
  for (const Axis& a : k.axes) look(a.extent);
  for (const Scalar& s : k.scalars) look(s.index);
  for (const Nest& n : k.nests) {
    for (const Store& s : n.stores) look(s.index);
  }
  if (!env) return SymInt(0);
  return *env->find(std::as_const(*env).info(k.axes[axis].symbol).name);
}

int64_t extent_hint(const Kernel& k, AxisId axis) {
  const SymInt& e = k.axes[axis].extent;
  if (auto value = e.maybe_value()) return *value;
  if (auto value = hint(e)) return std::max<int64_t>(*value, 1);
  return 64;
}

/// Calls `visit` with every index expression of the kernel.
void each_index(Kernel& k, const std::function<void(SymInt&)>& visit) {
  for (Scalar& s : k.scalars) {
    if (s.op == ScalarOp::Load || s.op == ScalarOp::Index) visit(s.index);
  }
  for (Nest& nest : k.nests) {
    for (Store& s : nest.stores) visit(s.index);
  }
}

bool mentions(const SymInt& e, size_t symbol) {
  auto symbols = free_symbols(e);
  return std::binary_search(symbols.begin(), symbols.end(), symbol);
}

/// Whether `outer` and `inner` occur only as outer * extent(inner) + inner, with any factor.
bool can_merge(Kernel& k, AxisId outer, AxisId inner) {
  bool ok = true;
  size_t so = k.axes[outer].symbol, si = k.axes[inner].symbol;
  const SymInt extent = k.axes[inner].extent;
  each_index(k, [&](SymInt& e) {
    if (!ok || e.is_const() || (!mentions(e, so) && !mentions(e, si))) return;
    auto lo = linear_in(e, so), li = linear_in(e, si);
    ok = lo && li && lo->coefficient == li->coefficient * extent;
  });
  for (const Axis& axis : k.axes) ok = ok && !mentions(axis.extent, so) && !mentions(axis.extent, si);
  return ok;
}

/// A nest with an axis of its own, or the outer domain, as the list of axes to merge in.
bool merge_in(Kernel& k, std::vector<AxisId>& axes) {
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    AxisId outer = axes[i], inner = axes[i + 1];
    if (!can_merge(k, outer, inner)) continue;
    SymInt extent = k.axes[outer].extent * k.axes[inner].extent;
    ShapeEnv* env = axis_symbol(k, outer).is_const() ? nullptr : axis_symbol(k, outer).env();
    if (!env) return false;
    Body body(k, *env);
    AxisId merged = body.axis(k.axes[outer].name.substr(0, 1), extent);
    SymInt symbol = body.axis_index(merged);
    size_t so = k.axes[outer].symbol, si = k.axes[inner].symbol;
    each_index(k, [&](SymInt& e) {
      if (e.is_const() || !mentions(e, si)) return;
      SymInt factor = linear_in(e, si)->coefficient;
      SymInt rest = linear_in(linear_in(e, si)->rest, so)->rest;
      e = factor * symbol + rest;
    });
    axes[i] = merged;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    if (k.schedule.vector_axis == static_cast<int>(outer) || k.schedule.vector_axis == static_cast<int>(inner)) {
      k.schedule.vector_axis = static_cast<int>(merged);
    }
    return true;
  }
  return false;
}

bool drop_unit_axes(Kernel& k, std::vector<AxisId>& axes, bool keep_last) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (keep_last && axes.size() == 1) return false;
    if (k.axes[axes[i]].extent.maybe_value() != 1) continue;
    size_t symbol = k.axes[axes[i]].symbol;
    each_index(k, [&](SymInt& e) {
      if (!e.is_const() && mentions(e, symbol)) {
        e = substitute(e, [&](size_t id) { return id == symbol ? std::optional<SymInt>(0) : std::nullopt; });
      }
    });
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

// -----------------------------------------------------------------------------------------------------------------
// costs

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
      return 80;
    case ScalarOp::Pow:
      return 60;
    case ScalarOp::Sigmoid:
      return 20;
    case ScalarOp::Exp:  // instructions of vector_functions.cpp
      return 12;
    case ScalarOp::Erf:
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

/// What access to `e` costs when the lanes lie along `axis` (symbol), for all lanes of one vector.
double access_cost(const SymInt& e, size_t axis, int lanes, bool indirect) {
  if (indirect) return 0.8 * lanes;
  if (e.is_const() || !mentions(e, axis)) return 0.5;
  auto linear = linear_in(e, axis);
  if (!linear) return 2.5 * lanes;
  auto stride = linear->coefficient.maybe_value();
  if (!stride) return 0.8 * lanes;
  bool near = *stride >= 2 && *stride <= 4;
  return *stride == 1 ? 1 : *stride == -1 ? 2 : near ? 2.0 * static_cast<double>(*stride) : 0.8 * lanes;
}

/// One iteration over `lanes` elements of a nest, with lanes along `axis`; `inner` tells whether that axis belongs to
/// the nest.
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
  auto access = [&](const SymInt& e) { return axis ? access_cost(e, symbol, lanes, is_indirect(e)) : 1.0; };
  for (ScalarId id : nest.body) {
    const Scalar& s = k.scalars[id];
    double wide = lanes > 1 && (s.dtype == DType::F64 || s.dtype == DType::I64) ? 2 : 1;
    total += s.op == ScalarOp::Load ? access(s.index) : operation_cost(s) * wide;
  }
  for (const Reduction& r : nest.reductions) total += r.combine >= Combine::ArgMax ? 8 : 2;
  for (const Store& s : nest.stores) total += access(s.index) + (s.accumulate ? lanes : 0);
  return total;
}

double iterations(const Kernel& k, const Nest& nest, std::optional<AxisId> without) {
  double total = 1;
  for (AxisId a : nest.axes) {
    if (a != without) total *= static_cast<double>(extent_hint(k, a));
  }
  return total;
}

/// Per outer point, with lanes along outer axis `axis`.
double points_cost(const Kernel& k, AxisId axis, int lanes) {
  double total = 0;
  for (const Nest& nest : k.nests) total += iterations(k, nest, {}) * iteration_cost(k, nest, axis, lanes);
  auto extent = static_cast<double>(extent_hint(k, axis));
  double used = std::min<double>(extent / std::ceil(extent / lanes), lanes);
  return total / used;
}

/// Per outer point, with lanes along the inner axis `axis` of a nest.
double nest_cost(const Kernel& k, const Nest& nest, std::optional<AxisId> axis, int lanes) {
  if (!axis || nest.scan) return iterations(k, nest, {}) * 2 * iteration_cost(k, nest, {}, 1);
  double vectors = std::ceil(static_cast<double>(extent_hint(k, *axis)) / lanes);
  double horizontal = 12.0 * static_cast<double>(nest.reductions.size());
  return iterations(k, nest, axis) * vectors * iteration_cost(k, nest, axis, lanes) + horizontal + 4;
}

AxisId best_inner_axis(const Kernel& k, const Nest& nest, int lanes) {
  if (nest.scan) return nest.axes.back();
  if (auto wanted = static_cast<AxisId>(k.schedule.vector_axis);
      k.schedule.vector_axis >= 0 && std::find(nest.axes.begin(), nest.axes.end(), wanted) != nest.axes.end()) {
    return wanted;
  }
  AxisId best = nest.axes.back();
  double best_cost = nest_cost(k, nest, best, lanes);
  for (AxisId axis : nest.axes) {
    // The order of the program is kept unless another one clearly wins.
    double cost = nest_cost(k, nest, axis, lanes);
    if (cost < 0.8 * best_cost) {
      best = axis;
      best_cost = cost;
    }
  }
  return best;
}

/// Bytes of the widest type that is computed with across lanes; int64 index arithmetic beside narrower data does not
/// count.
int widest_bytes(const Kernel& k) {
  size_t widest = 1;
  for (const Scalar& s : k.scalars) {
    if (s.dtype == DType::F64) widest = 8;
    if (s.op == ScalarOp::Index || s.op == ScalarOp::Reduced) continue;
    size_t size = is_reduced_float(s.dtype) ? 4 : dtype_size(s.dtype);
    widest = std::max(widest, std::min<size_t>(size, s.dtype == DType::I64 || s.dtype == DType::U64 ? 4 : 8));
  }
  bool any_float =
      std::any_of(k.scalars.begin(), k.scalars.end(), [](const Scalar& s) { return is_floating(s.dtype); });
  bool stores_wide =
      std::any_of(k.buffers.begin(), k.buffers.end(), [](const Buffer& b) { return dtype_size(b.dtype) == 8; });
  if (!any_float && stores_wide) widest = 8;
  return static_cast<int>(widest);
}

int choose_lanes(const Kernel& k, const Target& target) {
  int bits = target.vector_bits >= 512 && target.avx512 ? 512 : target.vector_bits >= 256 ? 256 : 128;
  if (k.schedule.vector_width > 0 && k.schedule.vector_width <= 64 &&
      (k.schedule.vector_width & (k.schedule.vector_width - 1)) == 0) {
    return k.schedule.vector_width;
  }
  return std::min(bits / 8 / widest_bytes(k), 64);
}

bool is_outer(const Kernel& k, int axis) {
  return axis >= 0 && std::find(k.outer.begin(), k.outer.end(), static_cast<AxisId>(axis)) != k.outer.end();
}

/// Scratch of every lane must fit the stack together.
bool scratch_fits(const Kernel& k, int lanes) {
  int64_t bytes = 0;
  for (const Buffer& b : k.buffers) {
    if (b.role != BufferRole::Local) continue;
    auto numel = b.numel.maybe_value();
    if (!numel || *numel > 65536) return false;
    bytes += *numel * static_cast<int64_t>(dtype_size(b.dtype)) * lanes;
  }
  return bytes <= 65536;
}

/// Whether some nest runs longer at one outer point than at another: lanes could not run it together.
bool extents_vary(const Kernel& k) {
  for (const Nest& nest : k.nests) {
    for (AxisId a : nest.axes) {
      for (AxisId o : k.outer) {
        if (!k.axes[a].extent.is_const() && mentions(k.axes[a].extent, k.axes[o].symbol)) return true;
      }
    }
  }
  return false;
}

/// Instructions of a nest's body, roughly: what a second copy of it would add to the code. A call is short.
size_t length_of(const Nest& nest, const Kernel& k) {
  size_t length = nest.stores.size() + 2 * nest.reductions.size();
  for (ScalarId id : nest.body) {
    const double cost = operation_cost(k.scalars[id]);
    length += cost < 20 ? static_cast<size_t>(cost) : 4;
  }
  return length;
}

size_t work_in(const Kernel& k, const Nest& nest) {
  size_t work = nest.stores.size() + 2 * nest.reductions.size();
  for (ScalarId id : nest.body)
    work += static_cast<size_t>(operation_cost(k.scalars[id])) + (k.scalars[id].op == ScalarOp::Load);
  return work;
}

bool streams(const KernelPlan& plan) {
  return std::find(plan.streamed.begin(), plan.streamed.end(), 1) != plan.streamed.end();
}

void choose_unrolling(KernelPlan& plan, const Target& target) {
  const Kernel& k = plan.kernel;
  // Only whole vectors go past the caches: a loop of such stores is worth a masked rest of its own.
  bool can_mask = target.avx512 && !streams(plan);
  int wanted = k.schedule.unroll > 0 ? std::min(k.schedule.unroll, 8) : 0;
  for (size_t n = 0; n < k.nests.size(); ++n) {
    const Nest& nest = k.nests[n];
    NestPlan& p = plan.nests[n];
    if (plan.lanes_are_points || nest.axes.empty() || nest.scan || !p.turned.empty()) continue;
    size_t work = work_in(k, nest);
    p.unroll = wanted ? wanted : work <= 8 ? 4 : work <= 16 ? 2 : 1;
    int64_t vectors = extent_hint(k, nest.axes.back()) / p.lanes;
    while (p.unroll > 1 && !wanted && vectors < p.unroll) p.unroll /= 2;
    p.masked = can_mask && p.unroll == 1;
  }
  if (!plan.lanes_are_points) return;
  size_t work = 0, length = 0;
  bool inner = false;
  for (const Nest& nest : k.nests) {
    work += work_in(k, nest);
    length += length_of(nest, k);
    inner = inner || !nest.axes.empty();
  }
  plan.unroll = wanted ? wanted : !inner && work <= 6 ? 4 : !inner && work <= 12 ? 2 : 1;
  plan.masked = can_mask && plan.unroll == 1 && length > 20;
}

void use_inner_lanes(KernelPlan& plan, int lanes) {
  Kernel& k = plan.kernel;
  plan.lanes_are_points = false;
  for (size_t n = 0; n < k.nests.size(); ++n) {
    Nest& nest = k.nests[n];
    if (nest.axes.empty()) continue;
    AxisId axis = best_inner_axis(k, nest, lanes);
    std::erase(nest.axes, axis);
    nest.axes.push_back(axis);
    plan.nests[n].lanes = nest.scan ? 1 : lanes;
  }
}

void use_point_lanes(KernelPlan& plan, AxisId axis, int lanes) {
  plan.lanes_are_points = true;
  plan.lanes = lanes;
  std::erase(plan.kernel.outer, axis);
  plan.kernel.outer.push_back(axis);
}

/// Whether every access along the axis is to neighbours or to one place.
bool only_neighbours(Kernel& k, AxisId axis) {
  bool ok = k.indirect.empty();
  each_index(k, [&](SymInt& e) {
    auto linear = linear_in(e, k.axes[axis].symbol);
    auto stride = linear ? linear->coefficient.maybe_value() : std::nullopt;
    ok = ok && (stride == 0 || stride == 1);
  });
  return ok;
}

/// A short reduction per lane walks memory with a large stride: several vectors side by side use whole stretches of it
/// and give independent sums. The code generator splits the wide vector into machine vectors.
void widen_column_reductions(KernelPlan& plan, const Target& target) {
  Kernel& k = plan.kernel;
  bool reduces = false, scratch = false;
  size_t work = 0;
  for (const Nest& nest : k.nests) {
    reduces = reduces || !nest.reductions.empty();
    work += work_in(k, nest);
  }
  for (const Buffer& b : k.buffers) scratch = scratch || b.role == BufferRole::Local;
  bool fits =
      plan.lanes_are_points && reduces && !scratch && work <= 16 && target.avx512 && k.schedule.vector_width == 0;
  if (!fits || plan.lanes > 16 || !only_neighbours(k, k.outer.back())) return;
  if (extent_hint(k, k.outer.back()) >= 16 * plan.lanes) plan.lanes *= 4;
}

/// Buffers that the kernel only writes, each element once, and that are too large to be found in a cache later.
void choose_streams(KernelPlan& plan, const Target& target) {
  const Kernel& k = plan.kernel;
  plan.streamed.assign(k.buffers.size(), 0);
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    const Buffer& b = k.buffers[i];
    auto numel = b.numel.maybe_value() ? b.numel.maybe_value() : hint(b.numel);
    plan.streamed[i] = b.role == BufferRole::Output && numel &&
                       *numel >= target.cache_bytes / static_cast<int64_t>(dtype_size(b.dtype));
  }
  for (const Scalar& s : k.scalars) {
    if (s.op == ScalarOp::Load) plan.streamed[s.buffer] = 0;
  }
  for (const Nest& nest : k.nests) {
    for (const Store& s : nest.stores) plan.streamed[s.buffer] = plan.streamed[s.buffer] && !s.accumulate;
  }
}

/// 0 where nothing is known.
int64_t bytes_of(const Buffer& b) { return hint(b.numel).value_or(0) * static_cast<int64_t>(dtype_size(b.dtype)); }

/// Of a pointwise kernel with a long body: while one vector is at work too few of the next ones' loads are under way
/// for memory to be busy. A short one has enough of them.
void choose_streams_ahead(KernelPlan& plan, const Target& target) {
  constexpr size_t kLongBody = 16;  // instructions
  const Kernel& k = plan.kernel;
  if (k.outer.empty() || k.nests.size() != 1 || !k.nests[0].axes.empty() || work_in(k, k.nests[0]) < kLongBody) return;
  const size_t lane = k.axes[k.outer.back()].symbol;
  for (ScalarId id : k.nests[0].body) {
    const Scalar& s = k.scalars[id];
    if (s.op != ScalarOp::Load || s.a != kNone || k.buffers[s.buffer].role != BufferRole::Input) continue;
    const auto along = linear_in(s.index, lane);
    if (along && along->coefficient == SymInt(1) && bytes_of(k.buffers[s.buffer]) >= target.cache_bytes)
      plan.ahead.push_back(id);
  }
}

/// Whether the kernel computes so much for each element that stores do not come one after the other.
bool takes_functions(const Kernel& k) {
  return std::any_of(k.scalars.begin(), k.scalars.end(), [](const Scalar& s) { return operation_cost(s) >= 12; });
}

/// What is fetched before its turn. A kernel that goes through a line several times reads memory only the first time,
/// and the machine's own prefetching ends at a page: without help memory waits while the line is worked on. Tiles of a
/// transpose read a vector here and one there, which it does not foresee either.
/// Stores past the caches and lines on their way into the first cache wait for the same few buffers: where such stores
/// come close together, lines are fetched into the second cache.
void choose_ahead(KernelPlan& plan, const Target& target) {
  constexpr int64_t kShortest = 512, kLongest = 256 << 10;  // bytes of a line
  const Kernel& k = plan.kernel;
  for (const NestPlan& nest : plan.nests)
    for (ScalarId id : nest.turned)
      if (bytes_of(k.buffers[k.scalars[id].buffer]) >= target.cache_bytes) plan.ahead.push_back(id);
  if (plan.lanes_are_points) return choose_streams_ahead(plan, target);
  const auto passes = std::count_if(k.nests.begin(), k.nests.end(), [](const Nest& n) { return !n.axes.empty(); });
  if (k.outer.empty() || passes < 2) return;
  std::vector<char> seen(k.buffers.size(), 0);
  for (size_t n = 0; n < k.nests.size(); ++n) {
    if (k.nests[n].axes.size() != 1 || plan.nests[n].lanes < 2) continue;
    const AxisId lane = k.nests[n].axes[0];
    for (ScalarId id : k.nests[n].body) {
      const Scalar& s = k.scalars[id];
      if (s.op != ScalarOp::Load || s.a != kNone || seen[s.buffer]) continue;
      const Buffer& b = k.buffers[s.buffer];
      const auto size = static_cast<int64_t>(dtype_size(b.dtype));
      const int64_t line = extent_hint(k, lane) * size, all = bytes_of(b);
      const auto along = linear_in(s.index, k.axes[lane].symbol);
      const auto next = linear_in(s.index, k.axes[k.outer.back()].symbol);
      const bool walks = along && along->coefficient == SymInt(1) && next && !(next->coefficient == SymInt(0));
      if (b.role != BufferRole::Input || !walks || line < kShortest || line > kLongest || all < target.cache_bytes)
        continue;
      seen[s.buffer] = 1;
      plan.ahead.push_back(id);
    }
  }
  plan.ahead_near = !streams(plan) || takes_functions(k);
}

void estimate(KernelPlan& plan) {
  const Kernel& k = plan.kernel;
  for (size_t n = 0; n < k.nests.size(); ++n) {
    const Nest& nest = k.nests[n];
    NestPlan& p = plan.nests[n];
    std::optional<AxisId> axis;
    if (plan.lanes_are_points && !k.outer.empty()) axis = k.outer.back();
    if (!plan.lanes_are_points && !nest.axes.empty()) axis = nest.axes.back();
    int lanes = plan.lanes_are_points ? plan.lanes : p.lanes;
    p.cost = kUnitNs * iteration_cost(k, nest, axis, lanes) / lanes;
    if (!p.turned.empty()) p.cost = kUnitNs * (2 * static_cast<double>(nest.body.size()) + 4) / lanes;
  }
}

}  // namespace

bool points_may_collide(const Kernel& k) {
  for (const Nest& nest : k.nests) {
    for (const Store& s : nest.stores) {
      if (!s.accumulate || k.buffers[s.buffer].role == BufferRole::Local) continue;
      for (AxisId axis : k.outer) {
        auto linear = linear_in(s.index, k.axes[axis].symbol);
        bool apart = linear && !linear->coefficient.is_const();
        apart = apart || (linear && linear->coefficient.is_const() && linear->coefficient.value() != 0);
        if (!apart) return true;
      }
      for (size_t symbol : free_symbols(s.index)) {
        if (k.indirect.contains(symbol)) return true;
      }
    }
  }
  return false;
}

Kernel merge_axes(const Kernel& kernel) {
  Kernel k = kernel;
  while (drop_unit_axes(k, k.outer, true)) {
  }
  while (merge_in(k, k.outer)) {
  }
  for (size_t n = 0; n < k.nests.size(); ++n) {
    if (k.nests[n].scan) continue;
    std::vector<AxisId> axes = k.nests[n].axes;
    while (drop_unit_axes(k, axes, true)) {
    }
    while (merge_in(k, axes)) {
    }
    k.nests[n].axes = axes;
  }
  return k;
}

namespace {

/// Tiles for kernels that transpose.
bool use_tiles(KernelPlan& plan, int lanes, const Target& target) {
  auto tiles = tile_transposes(plan.kernel, lanes, target.cache_bytes);
  if (!tiles) return false;
  plan.kernel = std::move(tiles->kernel);
  plan.lanes_are_points = false;
  plan.nests[0].lanes = lanes;
  plan.nests[0].turned = std::move(tiles->turned);
  plan.nests[0].squares = tiles->squares;
  return true;
}

/// Lanes along outer points or along inner axes, whichever costs less.
void use_lanes(KernelPlan& plan, int lanes) {
  Kernel& k = plan.kernel;
  bool any_inner = std::any_of(k.nests.begin(), k.nests.end(), [](const Nest& n) { return !n.axes.empty(); });
  double inner_cost = 0;
  for (const Nest& nest : k.nests) {
    inner_cost +=
        nest_cost(k, nest, nest.axes.empty() ? std::nullopt : std::optional(best_inner_axis(k, nest, lanes)), lanes);
  }
  AxisId best_outer = k.outer.empty() ? 0 : k.outer.back();
  double outer_cost = k.outer.empty() ? 0 : points_cost(k, best_outer, lanes);
  for (AxisId axis : k.outer) {
    double cost = points_cost(k, axis, lanes);
    if (cost < 0.7 * outer_cost) {
      best_outer = axis;
      outer_cost = cost;
    }
  }
  const bool can_use_points = !k.outer.empty() && scratch_fits(k, lanes) && !extents_vary(k);
  bool points = can_use_points && (!any_inner || outer_cost < inner_cost);
  if (is_outer(k, k.schedule.vector_axis) && can_use_points) {
    points = true;
    best_outer = static_cast<AxisId>(k.schedule.vector_axis);
  } else if (k.schedule.vector_axis >= 0 && any_inner) {
    points = false;
  }
  if (points) {
    use_point_lanes(plan, best_outer, lanes);
  } else {
    use_inner_lanes(plan, lanes);
    keep_expensive_values(k);
  }
}

}  // namespace

KernelPlan plan_kernel(const Kernel& kernel, const Target& target) {
  KernelPlan plan;
  plan.kernel = merge_axes(kernel);
  plan.nests.resize(plan.kernel.nests.size());
  const int lanes = choose_lanes(plan.kernel, target);
  if (!use_tiles(plan, std::min(lanes, 16), target)) use_lanes(plan, lanes);
  plan.serial = points_may_collide(plan.kernel);
  widen_column_reductions(plan, target);
  choose_streams(plan, target);
  choose_unrolling(plan, target);
  choose_ahead(plan, target);
  estimate(plan);
  return plan;
}

// -------------------------------------------------------------------------------------------------------------
// dependence

Dependence::Dependence(const Kernel& kernel, bool lanes_are_points)
    : k_(kernel),
      lanes_are_points_(lanes_are_points),
      level_(kernel.scalars.size(), 0),
      varies_(kernel.scalars.size(), 0),
      stored_(kernel.buffers.size(), 0) {
  for (const Nest& nest : k_.nests) {
    for (const Store& s : nest.stores) stored_[s.buffer] = 1;
  }
  for (size_t n = 0; n < k_.nests.size(); ++n) {
    for (ScalarId id : k_.nests[n].body) analyse(id, n);
  }
}

int Dependence::depth(size_t nest) const { return kPointLevel + static_cast<int>(k_.nests[nest].axes.size()); }

std::optional<AxisId> Dependence::lane_axis(size_t nest) const {
  if (lanes_are_points_) return k_.outer.empty() ? std::nullopt : std::optional(k_.outer.back());
  return k_.nests[nest].axes.empty() ? std::nullopt : std::optional(k_.nests[nest].axes.back());
}

int Dependence::symbol_level(size_t symbol, size_t nest) const {
  for (size_t i = 0; i < k_.outer.size(); ++i) {
    if (k_.axes[k_.outer[i]].symbol == symbol) return i + 1 == k_.outer.size() ? kPointLevel : kRowLevel;
  }
  const auto& axes = k_.nests[nest].axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (k_.axes[axes[i]].symbol == symbol) return kInnerLevel + static_cast<int>(i);
  }
  auto it = k_.indirect.find(symbol);
  return it == k_.indirect.end() ? static_cast<int>(kFunctionLevel) : level_[it->second];
}

bool Dependence::symbol_varies(size_t symbol, size_t nest) const {
  if (auto axis = lane_axis(nest); axis && k_.axes[*axis].symbol == symbol) return true;
  auto it = k_.indirect.find(symbol);
  return it != k_.indirect.end() && varies_[it->second];
}

int Dependence::level(const SymInt& e, size_t nest) const {
  int level = kFunctionLevel;
  if (e.is_const()) return level;
  for (size_t s : free_symbols(e)) level = std::max(level, symbol_level(s, nest));
  return level;
}

bool Dependence::varies(const SymInt& e, size_t nest) const {
  if (e.is_const()) return false;
  for (size_t s : free_symbols(e)) {
    if (symbol_varies(s, nest)) return true;
  }
  return false;
}

void Dependence::analyse(ScalarId id, size_t nest) {
  const Scalar& s = k_.scalars[id];
  int level = kFunctionLevel;
  bool varies = false;
  auto operand = [&](ScalarId a) {
    if (a == kNone) return;
    level = std::max(level, level_[a]);
    varies = varies || varies_[a];
  };
  switch (s.op) {
    case ScalarOp::Const:
      break;
    case ScalarOp::Reduced:
      level = s.a == nest ? depth(nest) : static_cast<int>(kPointLevel);
      varies = lanes_are_points_;
      break;
    case ScalarOp::Load:
      operand(s.a);
      [[fallthrough]];
    case ScalarOp::Index:
      level = std::max(level, this->level(s.index, nest));
      varies = varies || this->varies(s.index, nest);
      if (s.op != ScalarOp::Load) break;
      // Not before the earlier stores of this point; and not before it is known that the nest runs at all.
      if (stored_[s.buffer]) level = depth(nest);
      if (lanes_are_points_ && k_.buffers[s.buffer].role == BufferRole::Local) varies = true;
      if (!k_.nests[nest].axes.empty() || k_.outer.empty()) level = std::max<int>(level, kPointLevel);
      break;
    default:
      operand(s.a);
      operand(s.b);
      operand(s.c);
      // Where nothing runs, nothing is violated.
      if (s.op == ScalarOp::Check && (!k_.nests[nest].axes.empty() || k_.outer.empty()))
        level = std::max<int>(level, kPointLevel);
  }
  level_[id] = level;
  varies_[id] = varies;
}

// ------------------------------------------------------------------------------------------------------------
// fingerprint

namespace {

/// Names every symbol by its place in the kernel and sorts the terms, which interning orders by age.
class Canonical {
 public:
  explicit Canonical(const Kernel& k) {
    for (size_t i = 0; i < k.axes.size(); ++i) names_[k.axes[i].symbol] = "a" + std::to_string(i);
    for (size_t i = 0; i < k.symbols.size(); ++i) names_[k.symbols[i]] = "s" + std::to_string(i);
    for (const auto& [symbol, scalar] : k.indirect) names_[symbol] = "k" + std::to_string(scalar);
  }

  std::string text(const SymInt& e) const {
    if (auto value = e.maybe_value()) return std::to_string(*value);
    std::vector<std::string> parts;
    for (const SymTerm& term : terms(e)) {
      std::vector<std::string> factors;
      for (const SymAtomView& f : term.factors) factors.push_back(atom(f));
      std::sort(factors.begin(), factors.end());
      std::string part = std::to_string(term.coefficient);
      for (const std::string& f : factors) part += "*" + f;
      parts.push_back(std::move(part));
    }
    std::sort(parts.begin(), parts.end());
    std::string out;
    for (const std::string& part : parts) out += "+" + part;
    return out;
  }

 private:
  std::string atom(const SymAtomView& f) const {
    if (f.kind == SymAtomKind::Symbol) {
      auto it = names_.find(f.symbol);
      return it == names_.end() ? "?" + std::to_string(f.symbol) : it->second;
    }
    std::string out = std::to_string(static_cast<int>(f.kind)) + f.name + "(";
    for (const SymInt& arg : f.args) out += text(arg) + ",";
    return out + ")";
  }

  std::map<size_t, std::string> names_;
};

}  // namespace

std::string fingerprint(const Kernel& k) {
  Canonical canonical(k);
  std::string out;
  auto put = [&](auto... values) { ((out += std::to_string(values) + ","), ...); };
  auto range_text = [&](const SymInt& e) {
    SymRange r = range(e);
    put(r.min, r.max);
  };
  for (const Axis& a : k.axes) {
    out += canonical.text(a.extent) + ";";
    range_text(a.extent);
  }
  for (AxisId a : k.outer) put(a);
  for (const Buffer& b : k.buffers) {
    put(static_cast<int>(b.dtype), static_cast<int>(b.role));
    out += b.role == BufferRole::Local ? canonical.text(b.numel) : "";
  }
  for (const Nest& nest : k.nests) {
    out += nest.scan ? "S" : "N";
    for (AxisId a : nest.axes) put(a);
    for (ScalarId id : nest.body) {
      const Scalar& s = k.scalars[id];
      put(id, static_cast<int>(s.op), static_cast<int>(s.dtype), s.a, s.b, s.c, s.integer, s.buffer);
      if (s.op == ScalarOp::Const) put(std::bit_cast<uint64_t>(s.number));
      // Versions for known sizes have constants here too.
      if (!s.index.is_const() || s.op == ScalarOp::Load || s.op == ScalarOp::Index) out += canonical.text(s.index);
    }
    for (const Reduction& r : nest.reductions) {
      put(static_cast<int>(r.combine), r.value, r.position, r.mask, static_cast<int>(r.dtype));
    }
    for (const Store& s : nest.stores) {
      put(s.buffer, s.value, s.mask, static_cast<int>(s.accumulate));
      out += canonical.text(s.index);
    }
  }
  for (const Check& c : k.checks) put(static_cast<int>(c.kind));
  put(k.schedule.vector_axis, k.schedule.vector_width, k.schedule.unroll);
  return out;
}

}  // namespace strata::codegen
