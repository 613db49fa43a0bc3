// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion_siblings.h"

#include <algorithm>

namespace strata {
namespace {

constexpr int64_t kWorthSharing = 64 * 1024;  // elements from which on the work is for several cores

/// Elements that the loops of a kernel run over.
std::optional<int64_t> domain_of(const std::vector<const Node*>& group) {
  int64_t largest = 0;
  for (const Node* node : group) {
    const bool folds = is_reduction(*node);
    const auto size = hint(folds ? Call(*node).type(0).numel() : node->tensor().numel());
    if (!size) return std::nullopt;
    largest = std::max(largest, *size);
  }
  return largest;
}

/// Whether the kernel has only one index into the value.
bool reads_at_one_index(const LoweredLoops& lowered, const Node& value) {
  const auto it = std::find(lowered.buffers.begin(), lowered.buffers.end(), &value);
  if (it == lowered.buffers.end()) return false;
  const auto buffer = static_cast<loop::BufferId>(it - lowered.buffers.begin());
  const SymInt* index = nullptr;
  for (const loop::Scalar& s : lowered.kernel.scalars) {
    if (s.op != loop::ScalarOp::Load || s.buffer != buffer) continue;
    if (index && !(*index == s.index)) return false;
    index = &s.index;
  }
  return index != nullptr;
}

bool stores_inside(const loop::Nest& nest) { return !nest.axes.empty() && !nest.stores.empty(); }

}  // namespace

std::optional<std::string> siblings_differ(const Node& value, const std::vector<const Node*>& a,
                                           const std::vector<const Node*>& b) {
  const auto first = domain_of(a), second = domain_of(b), shared = hint(value.tensor().numel());
  if (!first || !second || !shared) return "a size is known only at run time";
  if (*first != *second)
    return "one runs over " + std::to_string(*first) + " elements, the other over " + std::to_string(*second);
  if (2 * *shared < *first) return "it is a small part of what they read";
  return std::nullopt;
}

std::optional<std::string> siblings_lose(const Node& value, const LoopGroup& group, const LoweredLoops& lowered,
                                         const Layouts& layouts) {
  const loop::Kernel& k = lowered.kernel;
  if (!reads_at_one_index(lowered, value)) return "they read it in different orders";
  std::vector<std::vector<SymInt>> kept;
  for (const Node* node : group.stored) {
    if (node->tensor().shape != group.stored.back()->tensor().shape) continue;
    kept.push_back(layouts.strides(node));
    if (kept.front() != kept.back()) return "their results lie differently in memory";
  }
  const bool inside = std::any_of(k.nests.begin(), k.nests.end(), stores_inside);
  if (!inside) return std::nullopt;
  const auto domain = domain_of(group.nodes);
  if (k.outer.empty() && domain.value_or(0) >= kWorthSharing)
    return "one of them reduces everything: the loops of the other would run on one core";
  for (const loop::Nest& nest : k.nests) {
    if (!stores_inside(nest)) continue;
    for (const loop::Store& s : nest.stores) {
      const auto along = linear_in(s.index, k.axes[nest.axes.back()].symbol);
      if (!along || !(along->coefficient == SymInt(1)))
        return "one of them reduces columns, along which the other would write";
    }
  }
  return std::nullopt;
}

}  // namespace strata
