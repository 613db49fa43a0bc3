// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "codegen/loop_cost.h"
#include "codegen/loop_digits.h"
#include "codegen/loop_keep.h"
#include "codegen/loop_late.h"
#include "codegen/loop_memory.h"
#include "codegen/loop_moments.h"
#include "codegen/loop_sum_exp.h"
#include "codegen/loop_sums.h"
#include "codegen/loop_tile.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr double kUnitNs = 0.25;  // a simple vector instruction, with its share of loads

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

/// Whether all nests that go through one of two axes go through both, one right inside the other: only then can one
/// axis take their place.
bool always_together(const Kernel& k, AxisId outer, AxisId inner) {
  return std::all_of(k.nests.begin(), k.nests.end(), [&](const Nest& nest) {
    const auto first = std::find(nest.axes.begin(), nest.axes.end(), outer);
    const auto second = std::find(nest.axes.begin(), nest.axes.end(), inner);
    return first == nest.axes.end() ? second == nest.axes.end() : second == first + 1;
  });
}

void replace_pair(std::vector<AxisId>& axes, AxisId outer, AxisId merged) {
  const auto first = std::find(axes.begin(), axes.end(), outer);
  if (first == axes.end()) return;
  *first = merged;
  axes.erase(first + 1);
}

/// Merges two axes of a nest, or of the outer domain.
bool merge_in(Kernel& k, std::vector<AxisId>& axes) {
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    AxisId outer = axes[i], inner = axes[i + 1];
    if (!always_together(k, outer, inner) || !can_merge(k, outer, inner)) continue;
    SymInt extent = k.axes[outer].extent * k.axes[inner].extent;
    ShapeEnv* env = environment(k);
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
    replace_pair(k.outer, outer, merged);
    for (Nest& nest : k.nests) replace_pair(nest.axes, outer, merged);
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

/// Whether 16-bit floats are moved and nothing else: their bits are, which are never widened (`MathEmitter::narrow`).
bool only_moves_halves(const Kernel& k) {
  const auto is_half = [&](BufferId b) { return is_reduced_float(k.buffers[b].dtype); };
  const auto moves = [&](const Scalar& s) {
    if (s.dtype != DType::F32) return !is_floating(s.dtype);
    return s.op == ScalarOp::Select || s.op == ScalarOp::Neg || (s.op == ScalarOp::Load && is_half(s.buffer)) ||
           (s.op == ScalarOp::Const && s.number == 0);
  };
  const auto stores = [&](const Nest& nest) {
    return nest.reductions.empty() &&
           std::ranges::all_of(nest.stores, [&](const Store& s) { return is_half(s.buffer) && !s.accumulate; });
  };
  return std::ranges::all_of(k.scalars, moves) && std::ranges::all_of(k.nests, stores);
}

/// Bytes of the widest type that is computed with across lanes; int64 index arithmetic beside narrower data does not
/// count.
int widest_bytes(const Kernel& k) {
  size_t widest = 1;
  const size_t half = only_moves_halves(k) ? 2 : 4;
  for (const Scalar& s : k.scalars) {
    if (s.dtype == DType::F64) widest = 8;
    if (s.op == ScalarOp::Index || s.op == ScalarOp::Reduced || (half == 2 && s.op == ScalarOp::Const)) continue;
    const bool is_half = is_reduced_float(s.dtype) || (half == 2 && s.dtype == DType::F32);
    size_t size = is_half ? half : dtype_size(s.dtype);
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

/// Copies of a body that take the steps of its functions in turn (loop_weave.cpp); 1 where it has none whose steps are
/// known, or they do not wait for long (sums of exponentials). Vectors of AVX-512 take as long as two of AVX2: two
/// copies do what four do there.
int copies_to_weave(const Kernel& k, const Nest& nest, const Target& target) {
  if (!target.has("avx2") || !target.has("fma") || sums_exponentials(nest)) return 1;
  const bool takes_steps = std::ranges::any_of(nest.body, [&](ScalarId id) {
    const Scalar& s = k.scalars[id];
    const bool is_one =
        s.op == ScalarOp::Exp || s.op == ScalarOp::Erf || s.op == ScalarOp::Tanh || s.op == ScalarOp::Sigmoid;
    return is_one && s.dtype == DType::F32;
  });
  return !takes_steps ? 1 : target.avx512 && target.vector_bits >= 512 ? 2 : 4;
}

/// Whether a nest stores lines whose length is known and leaves less than a vector: that is stored without a mask
/// (`KernelEmitter::store_rest`), for which the rest has to be apart. In long lines the mask costs little.
bool stores_known_rest(const Kernel& k, const Nest& nest, int lanes) {
  const std::optional<int64_t> length = k.axes[nest.axes.back()].extent.maybe_value();
  return !nest.stores.empty() && length && *length > lanes && *length <= 64 * lanes && *length % lanes != 0;
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
    const int woven = copies_to_weave(k, nest, target);
    p.woven = woven > 1;
    p.unroll = wanted                                                     ? wanted
               : p.woven                                                  ? woven
               : work <= 8                                                ? 4
               : work <= 16 || (sums_exponentials(nest) && target.avx512) ? 2
                                                                          : 1;
    int64_t vectors = extent_hint(k, nest.axes.back()) / p.lanes;
    while (p.unroll > 1 && !wanted && vectors < p.unroll) p.unroll /= 2;
    // What is left of a line goes vector by vector, under masks.
    while (p.woven && p.unroll > 1 && !wanted && vectors % p.unroll * 8 > vectors) p.unroll /= 2;
    p.masked = can_mask && p.unroll == 1 && !stores_known_rest(k, nest, p.lanes);
  }
  if (!plan.lanes_are_points) return;
  size_t work = 0, length = 0;
  bool inner = false;
  for (const Nest& nest : k.nests) {
    work += work_in(k, nest);
    length += length_of(nest, k);
    inner = inner || !nest.axes.empty();
  }
  int woven = 1;
  for (const Nest& nest : k.nests) woven = std::max(woven, copies_to_weave(k, nest, target));
  plan.woven = woven > 1 && !inner && !plan.serial;
  // Half a cache line at a time, loops that only move numbers end too often.
  const size_t short_work = streams(plan) && !target.avx512 ? 12 : 6;
  const int usual = plan.woven ? woven : inner ? 1 : work <= short_work ? 4 : work <= 12 ? 2 : 1;
  plan.unroll = wanted ? wanted : usual;
  // Of short rows nothing but a part of one vector is left for the masked loop.
  const int64_t row = extent_hint(k, k.outer.back());
  while (!wanted && plan.unroll > 1 && row <= 64 * plan.lanes && row % (plan.lanes * plan.unroll) >= plan.lanes)
    plan.unroll /= 2;
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
  const int side_by_side = target.avx512 ? 4 : target.has("avx2") ? 2 : 1;  // as many as there are registers for
  bool fits = plan.lanes_are_points && reduces && !scratch && work <= 16 && k.schedule.vector_width == 0;
  if (!fits || plan.lanes > 16 || !only_neighbours(k, k.outer.back())) return;
  if (extent_hint(k, k.outer.back()) >= 16 * plan.lanes) plan.lanes *= side_by_side;
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
    while (drop_unit_axes(k, k.nests[n].axes, true)) {
    }
  }
  for (size_t n = 0; n < k.nests.size(); ++n) {
    if (k.nests[n].scan) continue;
    while (merge_in(k, k.nests[n].axes)) {
    }
  }
  return k;
}

namespace {

/// Tiles for kernels that transpose.
bool use_tiles(KernelPlan& plan, int lanes, const Target& target) {
  auto tiles = tile_transposes(plan.kernel, lanes, target);
  if (!tiles) return false;
  plan.kernel = std::move(tiles->kernel);
  plan.lanes_are_points = false;
  plan.nests[0].lanes = lanes;
  plan.nests[0].turned = std::move(tiles->turned);
  plan.nests[0].squares = tiles->squares;
  plan.nests[0].run = tiles->run;
  plan.nests[0].run_axis = tiles->run_axis;
  plan.nests[0].strip = tiles->strip;
  plan.nests[0].page = tiles->page;
  plan.nests[0].past_caches = tiles->past_caches;
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

bool goes_through_line(const KernelPlan& plan, size_t nest) {
  const auto is_guessed = [&](const Shares& s) { return s.guessed && s.largest == nest; };
  return !plan.kernel.nests[nest].axes.empty() && std::ranges::none_of(plan.shares, is_guessed);
}

KernelPlan plan_kernel(const Kernel& kernel, const Target& target) {
  Kernel merged = merge_axes(kernel);
  if (target.avx512 || (target.vector_bits >= 256 && target.has("fma"))) sum_exponentials_as_they_come(merged);
  const int lanes = choose_lanes(merged, target);
  if (auto apart = with_digits_apart(merged, lanes)) merged = merge_axes(*apart);
  const auto with_lanes = [&](Kernel k) {
    KernelPlan p;
    p.kernel = std::move(k);
    p.shares = find_shares(p.kernel);
    p.nests.resize(p.kernel.nests.size());
    if (!use_tiles(p, std::min(lanes, 16), target)) use_lanes(p, lanes);
    return p;
  };
  std::optional<Kernel> at_once = with_moments_at_once(merged, lanes);
  KernelPlan plan = with_lanes(std::move(at_once ? *at_once : merged));
  if (at_once && plan.lanes_are_points) plan = with_lanes(std::move(merged));
  plan.serial = points_may_collide(plan.kernel);
  widen_column_reductions(plan, target);
  choose_streams(plan, target);
  plan.masks = has_masks(plan.kernel, target);
  choose_unrolling(plan, target);
  choose_blocks(plan);
  choose_late(plan);
  choose_guesses(plan);
  choose_ahead(plan, target);
  estimate(plan);
  return plan;
}

}  // namespace strata::codegen
