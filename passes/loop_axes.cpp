// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/loop_axes.h"

#include <algorithm>
#include <set>

namespace strata::loop {
namespace {

/// Calls `visit` on every index expression of the kernel.
template <class F>
void for_each_index(Kernel& kernel, F&& visit) {
  for (Scalar& s : kernel.scalars)
    if (s.op == ScalarOp::Load || s.op == ScalarOp::Index) visit(s.index);
  for (Nest& nest : kernel.nests)
    for (Store& store : nest.stores) visit(store.index);
}

/// Whether `index` depends on axes a and b only through a * extent(b) + b.
bool merges_in(const SymInt& index, const Axis& a, const Axis& b) {
  const auto in_b = linear_in(index, b.symbol);
  if (!in_b) return false;
  const auto in_a = linear_in(in_b->rest, a.symbol);
  if (!in_a) return false;
  const auto both = free_symbols(in_b->coefficient);
  if (std::binary_search(both.begin(), both.end(), a.symbol)) return false;
  return in_a->coefficient == in_b->coefficient * b.extent;
}

bool can_merge(Kernel& kernel, const Axis& a, const Axis& b) {
  bool ok = true;
  for_each_index(kernel, [&](SymInt& index) { ok = ok && merges_in(index, a, b); });
  return ok;
}

/// Axis b takes the product of extents; a disappears from `list`.
void merge(Kernel& kernel, ShapeEnv& env, std::vector<AxisId>& list, size_t at) {
  const Axis a = kernel.axes[list[at]], b = kernel.axes[list[at + 1]];
  Body scratch(kernel, env);
  const AxisId merged = scratch.axis(b.name.substr(0, 1), a.extent * b.extent);
  const SymInt index = scratch.axis_index(merged);
  for_each_index(kernel, [&](SymInt& e) {
    e = substitute(e, [&](size_t symbol) -> std::optional<SymInt> {
      if (symbol == a.symbol) return SymInt(0);
      if (symbol == b.symbol) return index;
      return {};
    });
  });
  const std::vector<AxisId> gone = {list[at], list[at + 1]};
  for (Nest& nest : kernel.nests) {
    const auto it = std::find(nest.axes.begin(), nest.axes.end(), gone[0]);
    if (it == nest.axes.end() || &nest.axes == &list) continue;
    *it = merged;
    nest.axes.erase(it + 1);
  }
  list[at] = merged;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

void merge_list(Kernel& kernel, ShapeEnv& env, std::vector<AxisId>& list) {
  for (size_t i = list.size(); i-- > 1;) {
    if (can_merge(kernel, kernel.axes[list[i - 1]], kernel.axes[list[i]])) merge(kernel, env, list, i - 1);
  }
}

/// Merging leaves axes that nobody runs over; renumber.
void compact_axes(Kernel& kernel) {
  std::vector<bool> used(kernel.axes.size(), false);
  for (AxisId a : kernel.outer) used[a] = true;
  for (const Nest& nest : kernel.nests)
    for (AxisId a : nest.axes) used[a] = true;
  std::vector<AxisId> place(kernel.axes.size());
  std::vector<Axis> kept;
  for (size_t i = 0; i < used.size(); ++i) {
    place[i] = static_cast<AxisId>(kept.size());
    if (used[i]) kept.push_back(std::move(kernel.axes[i]));
  }
  kernel.axes = std::move(kept);
  for (AxisId& a : kernel.outer) a = place[a];
  for (Nest& nest : kernel.nests)
    for (AxisId& a : nest.axes) a = place[a];
}

bool is_arithmetic(ScalarOp op) {
  return is_unary(op) || is_binary(op) || op == ScalarOp::Select || op == ScalarOp::Fma;
}

}  // namespace

void drop_empty_nests(Kernel& kernel) {
  std::set<ScalarId> used;
  const auto use = [&](ScalarId id) {
    if (id != kNone) used.insert(id);
  };
  for (const Nest& nest : kernel.nests) {
    for (const Reduction& r : nest.reductions) use(r.value), use(r.position), use(r.mask);
    for (const Store& s : nest.stores) use(s.value), use(s.mask);
  }
  for (const auto& [symbol, id] : kernel.indirect) use(id);
  for (size_t i = kernel.scalars.size(); i-- > 0;) {
    const Scalar& s = kernel.scalars[i];
    if (!used.contains(static_cast<ScalarId>(i)) || s.op == ScalarOp::Reduced) continue;
    use(s.a), use(s.b), use(s.c);
  }
  for (size_t i = 0; i < kernel.scalars.size(); ++i)
    if (!used.contains(static_cast<ScalarId>(i))) kernel.scalars[i] = Scalar{};  // its index must not hinder anything
  std::vector<size_t> place(kernel.nests.size());
  std::vector<Nest> kept;
  for (size_t n = 0; n < kernel.nests.size(); ++n) {
    Nest& nest = kernel.nests[n];
    std::erase_if(nest.body, [&](ScalarId id) { return !used.contains(id); });
    place[n] = kept.size();
    if (!nest.body.empty() || !nest.reductions.empty() || !nest.stores.empty()) kept.push_back(std::move(nest));
  }
  kernel.nests = std::move(kept);
  for (Scalar& s : kernel.scalars)
    if (s.op == ScalarOp::Reduced) s.a = static_cast<ScalarId>(place[s.a]);
}

void merge_axes(Kernel& kernel, ShapeEnv& env) {
  merge_list(kernel, env, kernel.outer);
  for (Nest& nest : kernel.nests) merge_list(kernel, env, nest.axes);
  compact_axes(kernel);
}

SymInt count_flops(const Kernel& kernel) {
  SymInt outer = 1, total = 0;
  for (AxisId a : kernel.outer) outer = outer * kernel.axes[a].extent;
  for (const Nest& nest : kernel.nests) {
    SymInt points = outer;
    for (AxisId a : nest.axes) points = points * kernel.axes[a].extent;
    int64_t operations = static_cast<int64_t>(nest.reductions.size());
    for (ScalarId id : nest.body) operations += is_arithmetic(kernel.scalars[id].op) ? 1 : 0;
    total = total + points * operations;
  }
  return total;
}

std::vector<size_t> size_symbols(const Kernel& kernel) {
  std::set<size_t> found;
  const auto add = [&](const SymInt& e) {
    for (size_t id : free_symbols(e)) found.insert(id);
  };
  for (const Axis& a : kernel.axes) add(a.extent);
  for (const Buffer& b : kernel.buffers) add(b.numel);
  for_each_index(const_cast<Kernel&>(kernel), [&](const SymInt& e) { add(e); });
  for (const Axis& a : kernel.axes) found.erase(a.symbol);
  for (const auto& [symbol, id] : kernel.indirect) found.erase(symbol);
  return {found.begin(), found.end()};
}

}  // namespace strata::loop
