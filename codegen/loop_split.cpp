// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_split.h"

#include <algorithm>
#include <utility>

#include "codegen/loop_cost.h"
#include "codegen/loop_split_columns.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr int64_t kChunks = 64;           // enough to share out evenly, few enough to combine at once
constexpr int64_t kShortest = 64 * 1024;  // iterations below which one core is as fast
constexpr int64_t kFewPoints = 16;

/// The first nest with inner axes, if everything before it only computes scalars.
std::optional<size_t> reduction_nest(const Kernel& k) {
  for (size_t n = 0; n < k.nests.size(); ++n) {
    if (!k.nests[n].stores.empty()) return std::nullopt;
    if (!k.nests[n].axes.empty()) return n;
  }
  return std::nullopt;
}

bool can_combine(const Nest& nest) {
  return !nest.scan && !nest.reductions.empty() &&
         std::none_of(nest.reductions.begin(), nest.reductions.end(),
                      [](const Reduction& r) { return r.combine == Combine::Welford || r.combine == Combine::SumExp; });
}

SymInt extent_of(const Kernel& k, const std::vector<AxisId>& axes) {
  SymInt total = 1;
  for (AxisId a : axes) total = total * k.axes[a].extent;
  return total;
}

bool is_long(const Kernel& k, const Nest& nest) { return hint(extent_of(k, nest.axes)).value_or(0) >= kShortest; }

/// So few points that they are no work for many cores.
bool has_few_points(const Kernel& k) {
  const auto points = extent_of(k, k.outer).maybe_value();
  return points && *points >= 1 && *points <= kFewPoints;
}

/// Row-major number of an outer point.
SymInt point_number(const Body& body) {
  SymInt number = 0;
  for (AxisId a : body.kernel().outer) number = number * body.kernel().axes[a].extent + body.axis_index(a);
  return number;
}

void replace_axis(Kernel& k, const Nest& nest, size_t symbol, const SymInt& by) {
  auto replaced = [&](const SymInt& e) {
    if (e.is_const()) return e;
    return substitute(e, [&](size_t id) { return id == symbol ? std::optional(by) : std::nullopt; });
  };
  for (ScalarId id : nest.body) k.scalars[id].index = replaced(k.scalars[id].index);
}

DType result_dtype(const Reduction& r, size_t result) { return result == 1 ? DType::I64 : r.dtype; }

/// The chunked kernel, up to its stores; gives the index of a chunk.
SymInt make_chunks(Kernel& k, size_t n, ShapeEnv& env) {
  k.name += "_partial";
  k.nests.resize(n + 1);
  Body body(k, env);
  // Of several axes the longest is cut, whole rows of the others stay together.
  auto& axes = k.nests[n].axes;
  auto length = [&](AxisId a) { return hint(k.axes[a].extent).value_or(1); };
  auto cut = std::max_element(axes.begin(), axes.end(), [&](AxisId a, AxisId b) { return length(a) < length(b); });
  const SymInt extent = k.axes[*cut].extent;
  const size_t symbol = k.axes[*cut].symbol;
  AxisId chunk = body.axis("c", kChunks);
  SymInt c = body.axis_index(chunk), each = ceildiv(extent, kChunks);
  AxisId within = body.axis("w", max(0, min(each, extent - c * each)));
  replace_axis(k, k.nests[n], symbol, c * each + body.axis_index(within));
  *cut = within;
  k.outer.push_back(chunk);
  k.schedule.vector_axis = -1;
  k.schedule.grain = 1;
  return c;
}

}  // namespace

std::optional<SplitReduction> split_reduction(const Kernel& kernel, const Target& target) {
  if (auto columns = split_columns(kernel, target)) return columns;
  auto n = has_few_points(kernel) ? reduction_nest(kernel) : std::nullopt;
  if (!n || !can_combine(kernel.nests[*n]) || !is_long(kernel, kernel.nests[*n])) return std::nullopt;
  ShapeEnv* env = environment_of_loads(kernel);
  if (!env) return std::nullopt;
  SplitReduction out{kernel, kernel, {}};
  Kernel &p = out.partial, &f = out.combine;
  const SymInt point = point_number(Body(f, *env));
  const int64_t slots = extent_of(kernel, kernel.outer).value() * kChunks;
  SymInt chunk = make_chunks(p, *n, *env);
  Body store(p, *env);
  store.begin_nest({});

  f.name += "_combine";
  f.schedule.vector_axis = -1;
  Body load(f, *env);
  AxisId part = load.axis("c", kChunks);
  Nest combine;
  combine.axes = {part};
  std::vector<Nest> rest(f.nests.begin() + static_cast<std::ptrdiff_t>(*n) + 1, f.nests.end());
  f.nests.resize(*n);
  f.nests.push_back(combine);
  const std::vector<Reduction> reductions = kernel.nests[*n].reductions;
  for (size_t r = 0; r < reductions.size(); ++r) {
    Reduction again = reductions[r];
    again.mask = kNone;
    store.node = load.node = again.node;
    for (size_t i = 0; i < result_count(again.combine); ++i) {
      DType type = result_dtype(again, i);
      BufferId to = store.buffer({"partial", type, slots, BufferRole::Output, again.node});
      BufferId from = load.buffer({"partial", type, slots, BufferRole::Input, again.node});
      out.scratch.push_back(static_cast<size_t>(slots) * dtype_size(type));
      Store s;
      s.buffer = to;
      s.index = point * kChunks + chunk;
      s.value = store.reduced(*n, r, i);
      store.store(s);
      (i == 0 ? again.value : again.position) = load.load(from, point * kChunks + load.axis_index(part));
    }
    load.reduce(again);
  }
  f.nests.insert(f.nests.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace strata::codegen
