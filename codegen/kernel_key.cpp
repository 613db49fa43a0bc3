// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernel_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/loop_cost.h"
#include "codegen/loop_fingerprint.h"
#include "codegen/loop_lines.h"
#include "codegen/loop_object.h"
#include "codegen/object_cache.h"

namespace strata::codegen {
namespace {

/// Code may rely on what is known of axes, sizes and indirect indices.
void add_bounds(std::string& key, const loop::Kernel& k) {
  const ShapeEnv* env = environment(k);
  const auto add = [&](size_t symbol) {
    if (!env || symbol >= env->symbol_count()) return;
    const Symbol& s = env->info(symbol);
    key += fmt::format(" {}..{}", s.range.min, s.range.max);
    if (s.max_expr) key += fmt::format("/{}", range(*s.max_expr).max);
  };
  for (const loop::Axis& a : k.axes) add(a.symbol);
  for (size_t symbol : k.symbols) add(symbol);
  std::map<loop::ScalarId, size_t> indirect;
  for (const auto& [symbol, scalar] : k.indirect) indirect.emplace(scalar, symbol);
  for (const auto& [scalar, symbol] : indirect) add(symbol);
}

/// Which instructions share a line.
void add_lines(std::string& key, const loop::Kernel& k) {
  std::vector<uint64_t> nodes = kernel_lines(k);
  const auto add = [&](uint64_t node) {
    key += fmt::format(" {}", std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  for (const loop::Scalar& s : k.scalars) add(s.node);
  for (const loop::Nest& nest : k.nests) {
    for (const loop::Reduction& r : nest.reductions) add(r.node);
    for (const loop::Store& s : nest.stores) add(s.node);
  }
}

}  // namespace

std::string code_key(const KernelPlan& plan, bool texts) {
  std::string key = fingerprint(plan.kernel);
  key += fmt::format("\n{} {} {} {} {} {}", plan.lanes_are_points, plan.lanes, plan.unroll, plan.woven, plan.masked,
                     plan.serial);
  for (const char streamed : plan.streamed) key += streamed ? " s" : " -";
  for (const loop::ScalarId id : plan.ahead) key += fmt::format(" a{}", id);
  key += fmt::format(" {}{}", plan.ahead_near ? "near" : "far", plan.ahead_points);
  if (plan.ahead_bytes > 0) key += fmt::format("+{}", plan.ahead_bytes);
  key += plan.late ? " late" : "";
  key += plan.masks ? " masks" : "";
  for (const Shares& s : plan.shares) key += fmt::format(" e{}/{}/{}", s.largest, s.sum, s.guessed);
  for (const NestPlan& n : plan.nests) {
    key += fmt::format(" {}/{}/{}/{}/{}/{}/{}", n.lanes, n.unroll, n.woven, n.masked, n.squares, n.block, n.block_axis);
    key += fmt::format(" {}/{}/{}/{}", n.run, n.strip, n.page, n.past_caches);
    for (const loop::ScalarId id : n.turned) key += fmt::format(" t{}", id);
  }
  add_bounds(key, plan.kernel);
  if (texts) {
    key += " lines";
    add_lines(key, plan.kernel);
  }
  return key;
}

std::string structure_key(const KernelPlan& plan) {
  KernelPlan copy = plan;
  copy.kernel.schedule = {};
  return code_key(copy, false);
}

/// A symbol that is nothing of the kernel's has the number that it got in this process.
bool is_portable(const std::string& code_key) { return code_key.find('?') == std::string::npos; }

Sha256Digest entry_key(const std::string& code_key, const Target& target) {
  return sha256(fmt::format("kernel\n{}\n{}\n{}\n{}\n{}\n{}", build_identity(), code_generator_version(), target.cpu,
                            target.features, target.vector_bits, code_key));
}

}  // namespace strata::codegen
