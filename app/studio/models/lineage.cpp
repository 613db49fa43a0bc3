// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/lineage.h"

#include <algorithm>

namespace strata::studio {

using namespace trace;

namespace {

bool any_line(const std::vector<LineRanges>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const LineRanges& ranges) { return !ranges.empty(); });
}

Relatives text_of(const CompileData& compile, const StepData& step, const std::unordered_set<NodeId>& nodes) {
  Relatives result;
  for (const CodeUnit& unit : step.texts) result.lines.push_back(lines_of(*unit.artifact, nodes));
  for (const KernelRecord& kernel : compile.kernels)
    if (std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [&](NodeId id) { return nodes.contains(id); }))
      result.kernels.push_back(kernel.id);
  return result;
}

Relatives in_text(Reader& reader, const CompileData& compile, const StepData& step, const std::vector<NodeId>& nodes,
                  const std::function<bool()>& stop) {
  for (bool down : {true, false}) {
    const auto family = kin(reader, compile.compile.id, nodes, down, stop);
    std::unordered_set<NodeId> all(family.begin(), family.end());
    all.insert(nodes.begin(), nodes.end());
    Relatives result = text_of(compile, step, all);
    if (!any_line(result.lines) && result.kernels.empty()) continue;
    result.relation = down ? Relation::MadeOf : Relation::MadeFrom;
    return result;
  }
  return {};
}

}  // namespace

std::vector<NodeId> kin(Reader& reader, Id compile, const std::vector<NodeId>& start, bool down,
                        const std::function<bool()>& stop) {
  std::unordered_set<NodeId> seen(start.begin(), start.end());
  std::vector<NodeId> queue = start;
  for (size_t head = 0; head < queue.size() && queue.size() < start.size() + kMostKin; ++head) {
    if (stop && head % 64 == 63 && stop()) break;
    for (const OriginRecord& edge :
         down ? reader.edges_down(compile, queue[head]) : reader.edges_up(compile, queue[head]))
      if (const NodeId next = down ? edge.node : edge.from; seen.insert(next).second) queue.push_back(next);
  }
  return {queue.begin() + static_cast<std::ptrdiff_t>(start.size()), queue.end()};
}

Relatives find_relatives(Reader& reader, const CompileData& compile, const StepData& step,
                         const std::vector<NodeId>& nodes, const std::function<bool()>& stop) {
  if (nodes.empty()) return {};
  if (step.snapshot.kind == SnapshotKind::Text) return in_text(reader, compile, step, nodes, stop);
  Relatives result;
  std::vector<NodeId> absent;
  for (NodeId id : nodes) (step.find(id) ? result.nodes : absent).push_back(id);
  if (!result.nodes.empty()) result.relation = Relation::Same;
  if (absent.empty()) return result;
  std::unordered_set<NodeId> seen(result.nodes.begin(), result.nodes.end());
  for (bool down : {true, false}) {
    const size_t before = result.nodes.size();
    for (NodeId id : kin(reader, step.snapshot.compile, absent, down, stop))
      if (step.find(id) && seen.insert(id).second) result.nodes.push_back(id);
    if (result.nodes.size() == before) continue;
    result.relation = down ? Relation::MadeOf : Relation::MadeFrom;
    break;
  }
  return result;
}

}  // namespace strata::studio
