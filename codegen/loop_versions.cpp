// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_versions.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace strata::codegen {
namespace {

using loop::Axis;
using loop::AxisId;
using loop::Body;
using loop::Kernel;
using loop::Nest;
using loop::Scalar;

constexpr int64_t kLongestRow = 8192;  ///< elements; what a row costs at its ends is lost in longer ones

ShapeEnv* environment_of_axes(const Kernel& k) {
  for (const Axis& a : k.axes)
    if (!a.extent.is_const()) return a.extent.env();
  return nullptr;
}

/// The axes that a row runs along: those of nests, or, where no nest has any, the outer ones but the outermost.
std::vector<AxisId> row_axes(const Kernel& k) {
  std::vector<AxisId> axes;
  for (const Nest& nest : k.nests) axes.insert(axes.end(), nest.axes.begin(), nest.axes.end());
  if (axes.empty() && k.outer.size() > 1) axes.assign(k.outer.begin() + 1, k.outer.end());
  return axes;
}

std::set<size_t> sizes_of_rows(const Kernel& k) {
  std::set<size_t> sizes;
  for (const AxisId a : row_axes(k))
    for (const size_t id : free_symbols(k.axes[a].extent)) sizes.insert(id);
  return sizes;
}

/// Elements of the longest row with sizes as in the example.
int64_t longest_row(const Kernel& k) {
  int64_t longest = 0;
  for (const AxisId a : row_axes(k)) longest = std::max(longest, hint(k.axes[a].extent).value_or(0));
  return longest;
}

using Replacement = std::function<std::optional<SymInt>(size_t)>;

void substitute_in(SymInt& e, const Replacement& by) {
  if (!e.is_const()) e = substitute(e, by);
}

/// Axes and indirect symbols carry bounds that depend on sizes, so they become others.
class Fixer {
 public:
  Fixer(Kernel& kernel, ShapeEnv& env, const FixedSizes& sizes) : k_(kernel), env_(env) {
    for (const auto& [id, value] : sizes) by_.emplace(id, value);
  }

  void run() {
    const Replacement by = [this](size_t id) -> std::optional<SymInt> {
      const auto it = by_.find(id);
      return it == by_.end() ? std::nullopt : std::optional(it->second);
    };
    replace_axes(by);
    replace_indirect(by);
    for (Scalar& s : k_.scalars) substitute_in(s.index, by);
    for (Nest& nest : k_.nests)
      for (loop::Store& store : nest.stores) substitute_in(store.index, by);
    for (loop::Buffer& buffer : k_.buffers) substitute_in(buffer.numel, by);
    for (loop::Check& check : k_.checks) substitute_in(check.size, by);
    substitute_in(k_.flops, by);
    std::erase_if(k_.symbols, [&](size_t id) { return by_.contains(id); });
  }

 private:
  void replace_axes(const Replacement& by) {
    const std::vector<Axis> before = std::move(k_.axes);
    k_.axes.clear();
    Body body(k_, env_);
    for (const Axis& axis : before) {
      SymInt extent = axis.extent;
      substitute_in(extent, by);
      const std::string prefix = axis.name.substr(0, axis.name.find_first_of("0123456789"));
      const AxisId made = body.axis(prefix, extent);
      by_.insert_or_assign(axis.symbol, body.axis_index(made));
    }
  }

  void replace_indirect(const Replacement& by) {
    std::vector<std::pair<size_t, loop::ScalarId>> before(k_.indirect.begin(), k_.indirect.end());
    std::sort(before.begin(), before.end());
    k_.indirect.clear();
    Body body(k_, env_);
    for (const auto& [id, scalar] : before) {
      Symbol info = std::as_const(env_).info(id);
      if (info.max_expr) substitute_in(*info.max_expr, by);
      by_.insert_or_assign(id, body.indirect(scalar, info.range, info.max_expr));
    }
  }

  Kernel& k_;
  ShapeEnv& env_;
  std::map<size_t, SymInt> by_;
};

std::string reason_for(const FixedSizes& sizes, const ShapeEnv& env) {
  std::string text;
  for (const auto& [id, value] : sizes)
    text += (text.empty() ? "" : ", ") + env.info(id).name + " = " + std::to_string(value);
  return text + ": rows of a known length need no loop bounds at run time and may stay in registers";
}

}  // namespace

std::optional<LoopVersion> version_for_hints(const Kernel& kernel) {
  ShapeEnv* const env = environment_of_axes(kernel);
  const std::set<size_t> sizes = sizes_of_rows(kernel);
  if (!env || sizes.empty() || longest_row(kernel) > kLongestRow) return std::nullopt;
  LoopVersion version{kernel, {}, {}};
  for (const size_t id : sizes) {
    const std::optional<int64_t> value = std::as_const(*env).info(id).hint;
    // Lengths that depend on the outer point, or that only the data tells, have none.
    if (!value || *value < 1 || std::find(kernel.symbols.begin(), kernel.symbols.end(), id) == kernel.symbols.end())
      return std::nullopt;
    version.sizes.emplace_back(id, *value);
  }
  Fixer(version.kernel, *env, version.sizes).run();
  version.reason = reason_for(version.sizes, *env);
  for (const auto& [id, value] : version.sizes)
    version.kernel.name += "_" + std::as_const(*env).info(id).name + "_" + std::to_string(value);
  return version;
}

}  // namespace strata::codegen
