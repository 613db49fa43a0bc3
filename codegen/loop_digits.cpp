// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A view such as [batch, heads, length, 64] seen as [batch, length, heads * 64] reads its operand at `i % 64` and
// `i // 64`. Lanes along i would gather, after divisions in each lane; lanes along a digit of i load neighbours, and
// what depends on the other one is computed once a row.

#include "codegen/loop_digits.h"

#include <algorithm>
#include <functional>

#include "codegen/loop_cost.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

/// Calls `visit` with every quotient and remainder in an expression.
void each_division(const SymInt& e, const std::function<void(const SymAtomView&)>& visit) {
  if (e.is_const()) return;
  for (const SymTerm& term : terms(e))
    for (const SymAtomView& factor : term.factors) {
      if (factor.kind == SymAtomKind::FloorDiv || factor.kind == SymAtomKind::Mod) visit(factor);
      for (const SymInt& argument : factor.args) each_division(argument, visit);
    }
}

/// The least number that the index is divided by as it is, or 0.
int64_t divisor_of(const Kernel& k, size_t symbol) {
  int64_t least = 0;
  each_index(k, [&](const SymInt& e) {
    if (!mentions(e, symbol)) return;
    each_division(e, [&](const SymAtomView& division) {
      const auto by = division.args[1].maybe_value();
      const auto linear = linear_in(division.args[0], symbol);
      if (by && *by > 1 && linear && linear->coefficient == SymInt(1) && linear->rest == SymInt(0))
        least = least == 0 ? *by : std::min(least, *by);
    });
  });
  return least;
}

}  // namespace

std::optional<Kernel> with_digits_apart(const Kernel& kernel, int lanes) {
  const auto is_pointwise = [](const Nest& nest) { return nest.axes.empty(); };
  if (kernel.outer.empty() || !std::ranges::all_of(kernel.nests, is_pointwise) || kernel.schedule.vector_axis >= 0)
    return std::nullopt;
  const AxisId axis = kernel.outer.back();
  const size_t symbol = kernel.axes[axis].symbol;
  const int64_t by = divisor_of(kernel, symbol);
  const auto extent = kernel.axes[axis].extent.maybe_value();
  ShapeEnv* env = environment(kernel);
  if (!env || 4 * by < 3 * int64_t{lanes} || !extent || *extent % by != 0 || *extent == by) return std::nullopt;
  if (std::ranges::any_of(kernel.axes, [&](const Axis& a) { return mentions(a.extent, symbol); })) return std::nullopt;
  Kernel k = kernel;
  Body body(k, *env);
  const AxisId high = body.axis("i", *extent / by), low = body.axis("i", by);
  const SymInt index = body.axis_index(high) * by + body.axis_index(low);
  bool apart = true;
  each_index(k, [&](SymInt& e) {
    if (e.is_const() || !mentions(e, symbol)) return;
    e = substitute(e, [&](size_t id) { return id == symbol ? std::optional<SymInt>(index) : std::nullopt; });
    each_division(
        e, [&](const SymAtomView& division) { apart = apart && !mentions(division.args[0], k.axes[low].symbol); });
  });
  if (!apart) return std::nullopt;
  k.outer.back() = high;
  k.outer.push_back(low);
  return k;
}

}  // namespace strata::codegen
