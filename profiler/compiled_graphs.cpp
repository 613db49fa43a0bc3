// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/compiled_graphs.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "profiler/op_names.h"

namespace strata::profiler {
namespace {

using NodesById = std::unordered_map<trace::NodeId, const trace::NodeRecord*>;

NodesById by_id(const std::vector<trace::NodeRecord>& nodes) {
  NodesById map;
  for (const auto& n : nodes) map[n.id] = &n;
  return map;
}

/// Shapes of the tensors that a node takes, in order of its operands; scalars left out, as profiles' are.
std::vector<std::string> input_shapes(const trace::NodeRecord& node, const NodesById& nodes) {
  std::vector<std::string> shapes;
  for (const auto& operand : node.inputs)
    for (const trace::NodeId id : operand) {
      const auto found = nodes.find(id);
      if (found != nodes.end() && found->second->shape.size() > 2) shapes.push_back(found->second->shape);
    }
  return shapes;
}

/// The first graph of a compile, in program order.
std::vector<trace::NodeRecord> captured_nodes(trace::Reader& reader, trace::Id compile) {
  for (const auto& s : reader.snapshots(compile))
    if (s.kind == trace::SnapshotKind::Graph) return reader.nodes(s.id);
  return {};
}

std::vector<ComputedNode> computed(const trace::KernelRecord& kernel, const NodesById& nodes) {
  std::vector<ComputedNode> list;
  const auto add = [&](std::string name, std::string base, std::vector<std::string> shapes) {
    ComputedNode n;
    n.name = std::move(name);
    n.family = std::string(operator_family(base));
    n.base = std::move(base);
    n.shapes = std::move(shapes);
    list.push_back(std::move(n));
  };
  for (const trace::NodeId id : kernel.nodes)
    if (const auto found = nodes.find(id); found != nodes.end())
      add(found->second->name, operator_base(found->second->target), input_shapes(*found->second, nodes));
  if (list.empty() && !kernel.library.empty()) add("", operator_base(kernel.library), {});
  return list;
}

/// Place of each kernel in its program's plan.
std::map<trace::Id, std::int64_t> first_launches(trace::Reader& reader, trace::Id compile) {
  std::map<trace::Id, std::int64_t> first;
  for (const auto& launch : reader.launches(compile)) first.try_emplace(launch.kernel, launch.ordinal);
  return first;
}

}  // namespace

CompiledGraphs::CompiledGraphs(trace::Reader& reader) : reader_(reader) {
  for (const auto& compile : reader.compiles()) {
    for (const auto& program : reader.programs(compile.id)) {
      by_id_[program.id] = program;
      if (!program.key.empty()) by_key_.try_emplace(program.key, program);
    }
    if (compile.outcome != "restarted" && compile.outcome != "failed" && compile.outcome != "skipped")
      compiles_.push_back(compile);
  }
}

const trace::ProgramRecord* CompiledGraphs::program(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second;
}

const trace::ProgramRecord* CompiledGraphs::program(trace::Id id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

trace::Id CompiledGraphs::compile_at(std::string_view address) const {
  trace::Id found = trace::kNone;  // the last attempt has the address with its number; regions do not say it
  for (const auto& c : compiles_) {
    std::string_view own = c.address;
    if (const auto colon = own.rfind(':'); colon != own.npos) own.remove_prefix(colon + 1);
    if (own == address || (own.starts_with(address) && own.substr(address.size(), 1) == "_")) found = c.id;
  }
  return found;
}

const CompiledGraph* CompiledGraphs::graph(trace::Id compile) {
  const auto found = graphs_.find(compile);
  if (found != graphs_.end()) return found->second.get();
  std::unique_ptr<CompiledGraph> graph;
  for (const auto& record : compiles_)
    if (record.id == compile) graph = read(record);
  return graphs_.emplace(compile, std::move(graph)).first->second.get();
}

std::unique_ptr<CompiledGraph> CompiledGraphs::read(const trace::CompileRecord& record) {
  const auto nodes = captured_nodes(reader_, record.id);
  if (nodes.empty()) return nullptr;
  auto graph = std::make_unique<CompiledGraph>();
  graph->record = record;
  const CapturedNodes captured(reader_, record.id);
  const NodesById ids = by_id(nodes);
  for (const auto& n : nodes) {
    if (!captured.is_call(n.id)) continue;
    graph->call_of[n.id] = graph->calls.size();
    graph->calls.push_back({record.id,
                            n.id,
                            {operator_base(n.target), input_shapes(n, ids)},
                            captured.line(n.id),
                            n.module,
                            captured.location(n.id).value_or(trace::SourceLocation())});
  }
  std::map<trace::Id, std::vector<trace::NodeRecord>> program_nodes;  // by snapshot
  const auto first = first_launches(reader_, record.id);
  for (const auto& kernel : reader_.kernels(record.id)) {
    ProgramKernel k;
    const trace::ProgramRecord* p = program(kernel.program);
    const trace::Id snapshot = p != nullptr && p->snapshot != trace::kNone ? p->snapshot : kernel.snapshot;
    if (snapshot != trace::kNone && !program_nodes.contains(snapshot))
      program_nodes[snapshot] = reader_.snapshot(snapshot) ? reader_.nodes(snapshot) : std::vector<trace::NodeRecord>();
    k.record = kernel;
    k.address = record.address;
    k.role = p == nullptr ? "" : p->role;
    k.captured = captured.of(kernel.nodes);
    k.nodes = computed(kernel, by_id(program_nodes[snapshot]));
    graph->kernels.push_back(std::move(k));
  }
  const auto place = [&](const ProgramKernel& k) {
    const auto found = first.find(k.record.id);
    return std::pair{k.is_backward(), found == first.end() ? std::numeric_limits<std::int64_t>::max() : found->second};
  };
  std::stable_sort(graph->kernels.begin(), graph->kernels.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return graph;
}

}  // namespace strata::profiler
