// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/explain/explain_opaque.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/support/clamped.h"

namespace strata {
namespace {

using trace::Id;
using trace::kNone;

/// The operator behind a row through which PyTorch is called: `called.NAME`, `called_in_order.NAME`.
std::string_view called_name(std::string_view target) {
  const std::size_t dot = target.find('.');
  return target.starts_with("called") && dot != target.npos ? target.substr(dot + 1) : std::string_view();
}

/// The nodes that a kernel computes are in the snapshot that it names, else in the last graph.
Id snapshot_of(trace::Reader& reader, const trace::KernelRecord& kernel) {
  if (kernel.snapshot != kNone) return kernel.snapshot;
  Id last = kNone;
  for (const trace::SnapshotRecord& s : reader.snapshots(kernel.compile))
    if (s.kind == trace::SnapshotKind::Graph) last = s.id;
  return last;
}

ExplainPlace place_of(trace::Reader& reader, const trace::NodeRecord& node) {
  if (node.stack == kNone) return {};
  const auto stack = reader.stack(node.stack);
  if (stack.empty()) return {};
  return {stack.back().file, stack.back().line, stack.back().function, stack.back().text};
}

/// Kernel times of all runs of a compile.
struct Times {
  std::unordered_map<Id, std::int64_t> of_kernel;
  std::int64_t all = 0;
};

Times times_of(trace::Reader& reader, Id compile) {
  Times times;
  for (const trace::RunRecord& run : reader.runs()) {
    if (run.compile != compile) continue;
    for (const trace::EventRecord& e : reader.events(run.id)) {
      if (e.kernel == kNone || e.duration_ns < 0) continue;
      std::int64_t& kernel = times.of_kernel[e.kernel];
      kernel = add_clamped(kernel, e.duration_ns);
      times.all = add_clamped(times.all, e.duration_ns);
    }
  }
  return times;
}

ExplainOpaque call_of(trace::Reader& reader, const trace::KernelRecord& kernel,
                      const std::unordered_map<trace::NodeId, trace::NodeRecord>& nodes) {
  ExplainOpaque call;
  call.target = kernel.name;
  call.by = "interpreter";
  for (const trace::NodeId id : kernel.nodes) {
    const auto found = nodes.find(id);
    if (found == nodes.end()) continue;
    const std::string& target = found->second.target;
    // A result that is taken out of a tuple is no call of its own.
    if (target.starts_with("_operator.getitem")) continue;
    const std::string_view called = called_name(target);
    call.target = called.empty() ? target : called;
    call.by =
        !called.empty() || found->second.extra.find("\"opaque\"") != std::string::npos ? "PyTorch" : "interpreter";
    call.place = place_of(reader, found->second);
    break;
  }
  return call;
}

}  // namespace

std::vector<ExplainOpaque> opaque_calls(trace::Reader& reader, const trace::CompileRecord& compile) {
  std::vector<trace::KernelRecord> kernels = reader.kernels(compile.id);
  std::erase_if(kernels, [](const trace::KernelRecord& k) { return k.kind != trace::KernelKind::Opaque; });
  if (kernels.empty()) return {};
  std::unordered_map<trace::NodeId, trace::NodeRecord> nodes;
  for (trace::NodeRecord& n : reader.nodes(snapshot_of(reader, kernels.front()))) nodes.emplace(n.id, std::move(n));
  const Times times = times_of(reader, compile.id);
  std::map<std::tuple<std::string, std::string, std::int64_t>, ExplainOpaque> groups;
  for (const trace::KernelRecord& kernel : kernels) {
    ExplainOpaque call = call_of(reader, kernel, nodes);
    ExplainOpaque& to = groups.try_emplace({call.target, call.place.file, call.place.line}, call).first->second;
    ++to.count;
    const auto time = times.of_kernel.find(kernel.id);
    if (time != times.of_kernel.end()) to.time_ns = std::max<std::int64_t>(to.time_ns, 0) + time->second;
    if (to.time_ns >= 0 && times.all > 0) to.share = static_cast<double>(to.time_ns) / static_cast<double>(times.all);
  }
  std::vector<ExplainOpaque> calls;
  for (auto& [key, call] : groups) calls.push_back(std::move(call));
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  return calls;
}

std::map<Id, std::string> backends_of(trace::Reader& reader) {
  std::map<Id, std::string> backends;
  for (const trace::ArtifactRecord& a : reader.artifacts()) {
    if (a.name != "backend" || a.owner.kind != trace::OwnerKind::Compile) continue;
    if (const auto whole = reader.artifact(a.id)) backends[a.owner.id] = whole->content;
  }
  return backends;
}

}  // namespace strata
