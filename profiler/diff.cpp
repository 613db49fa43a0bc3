// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/support/error.h"
#include "profiler/captured.h"

namespace strata::profiler {
namespace {

/// Captured nodes of two compiles share no ids: a name and what it computes stand for one.
using NodeKey = std::pair<std::string, std::string>;

using WeightedKeys = std::map<NodeKey, int>;

WeightedKeys keys_of(const KernelCost& k, const CapturedNodes& captured) {
  WeightedKeys keys;
  for (const auto& [id, count] : k.captured) {
    const trace::NodeRecord& node = captured.nodes().at(id);
    keys[{node.name, node.target}] += count;
  }
  return keys;
}

/// Operators in program order, each once per row.
void add_operators(const KernelCost& k, const CapturedNodes& captured, KernelChange& change) {
  for (const auto& [id, count] : k.captured) {
    const trace::NodeRecord& node = captured.nodes().at(id);
    if (std::find(change.operators.begin(), change.operators.end(), node.name) != change.operators.end()) continue;
    change.operators.push_back(node.name);
    change.targets.push_back(node.target);
  }
}

Cost cost_of(const KernelCost& k) {
  const auto n = static_cast<double>(k.launches);
  return {k.per_run, k.bytes * n, k.flops * n, k.launches};
}

std::string kind_of(const trace::KernelRecord& k) {
  if (k.kind == trace::KernelKind::Library) return k.library;
  return k.kind == trace::KernelKind::Opaque ? "opaque" : "loop";
}

KernelChange change_of(const KernelCost& k, const CapturedNodes& captured) {
  KernelChange c;
  c.kernel = k.record.name;
  c.kind = kind_of(k.record);
  c.second = cost_of(k);
  add_operators(k, captured, c);
  return c;
}

/// Kernels by the captured nodes they compute.
class KernelIndex {
 public:
  void add(const WeightedKeys& keys, size_t kernel) {
    for (const auto& [key, count] : keys) kernels_[key].emplace_back(kernel, count);
  }
  /// The kernel that shares most with these; the lowest if several share equally much.
  std::optional<size_t> best(const WeightedKeys& keys) const {
    std::map<size_t, int64_t> votes;
    for (const auto& [key, count] : keys)
      if (const auto it = kernels_.find(key); it != kernels_.end())
        for (const auto& [kernel, weight] : it->second) votes[kernel] += int64_t{count} * weight;
    std::optional<size_t> best;
    for (const auto& [kernel, count] : votes)
      if (!best || count > votes[*best]) best = kernel;
    return best;
  }

 private:
  std::map<NodeKey, std::vector<std::pair<size_t, int>>> kernels_;
};

void check_same_program(const CapturedNodes& a, const CapturedNodes& b) {
  std::set<NodeKey> names;
  for (const auto& [id, node] : a.nodes())
    if (a.is_call(id)) names.emplace(node.name, node.target);
  bool any = names.empty();
  for (const auto& [id, node] : b.nodes()) any = any || names.contains({node.name, node.target});
  if (!any)
    throw_user("the two traces have no operator in common",
               "compare two compiles of one program, or two graphs with TRACE@GRAPH@STAGE");
}

bool same(const trace::NodeRecord& a, const trace::NodeRecord& b) {
  return a.op == b.op && a.target == b.target && a.args == b.args && a.type == b.type;
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  time += other.time;
  bytes += other.bytes;
  flops += other.flops;
  launches += other.launches;
  return *this;
}

double ProfileDiff::slower_percent() const {
  if (first_run.count == 0 || second_run.count == 0 || first_run.median <= 0) return 0;
  return (second_run.median / first_run.median - 1) * 100;
}

ProfileDiff diff_profiles(trace::Reader& first, trace::Id first_compile, trace::Reader& second,
                          trace::Id second_compile) {
  const CapturedNodes a(first, first_compile), b(second, second_compile);
  check_same_program(a, b);
  const Costs before = measure(first, first_compile), after = measure(second, second_compile);
  ProfileDiff diff;
  diff.first_run = before.run;
  diff.second_run = after.run;
  diff.first_label = before.label;
  diff.second_label = after.label;
  KernelIndex index;
  for (const KernelCost& k : after.kernels) {
    index.add(keys_of(k, b), diff.changes.size());
    diff.changes.push_back(change_of(k, b));
  }
  KernelChange gone;
  for (const KernelCost& k : before.kernels) {
    const auto best = index.best(keys_of(k, a));
    KernelChange& change = best ? diff.changes[*best] : gone;
    change.before.push_back(k.record.name);
    change.first += cost_of(k);
    if (!best) add_operators(k, a, gone);
  }
  if (!gone.before.empty()) diff.changes.push_back(std::move(gone));
  for (const KernelChange& c : diff.changes) {
    diff.first += c.first;
    diff.second += c.second;
  }
  return diff;
}

GraphDiff diff_graphs(const std::vector<trace::NodeRecord>& first, const std::vector<trace::NodeRecord>& second,
                      bool by_id) {
  const auto key = [by_id](const trace::NodeRecord& n) { return by_id ? std::to_string(n.id) : n.name; };
  std::unordered_map<std::string, const trace::NodeRecord*> before;
  for (const trace::NodeRecord& n : first) before.emplace(key(n), &n);
  GraphDiff diff;
  std::set<std::string> met;
  for (const trace::NodeRecord& n : second) {
    const auto it = before.find(key(n));
    if (it == before.end()) {
      diff.added.push_back(n);
      continue;
    }
    met.insert(it->first);
    if (same(*it->second, n))
      ++diff.same;
    else
      diff.changed.push_back({*it->second, n});
  }
  for (const trace::NodeRecord& n : first)
    if (!met.contains(key(n))) diff.removed.push_back(n);
  return diff;
}

}  // namespace strata::profiler
