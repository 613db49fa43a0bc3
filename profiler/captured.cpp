// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/captured.h"

#include <fmt/format.h>

#include <set>

namespace strata::profiler {

CapturedNodes::CapturedNodes(trace::Reader& reader, trace::Id compile) : reader_(reader) {
  for (const trace::SnapshotRecord& s : reader.snapshots(compile)) {
    if (s.kind != trace::SnapshotKind::Graph) continue;
    for (trace::NodeRecord& n : reader.nodes(s.id)) nodes_.emplace(n.id, std::move(n));
    break;
  }
  for (const trace::OriginRecord& e : reader.edges(compile)) parents_[e.node].push_back(e.from);
}

bool CapturedNodes::is_call(trace::NodeId node) const {
  const auto it = nodes_.find(node);
  return it != nodes_.end() && it->second.op != "placeholder" && it->second.op != "get_attr" &&
         it->second.op != "output";
}

std::vector<trace::NodeId> CapturedNodes::of(trace::NodeId start) const {
  std::set<trace::NodeId> seen{start};
  std::vector<trace::NodeId> open{start}, found;
  while (!open.empty()) {
    const trace::NodeId node = open.back();
    open.pop_back();
    if (is_call(node)) found.push_back(node);
    const auto it = parents_.find(node);
    if (it == parents_.end()) continue;
    for (trace::NodeId parent : it->second)
      if (seen.insert(parent).second) open.push_back(parent);
  }
  return found;
}

std::map<trace::NodeId, int> CapturedNodes::of(const std::vector<trace::NodeId>& nodes) const {
  std::map<trace::NodeId, int> counts;
  for (trace::NodeId node : std::set<trace::NodeId>(nodes.begin(), nodes.end()))
    for (trace::NodeId captured : of(node)) ++counts[captured];
  return counts;
}

std::optional<trace::SourceLocation> CapturedNodes::location(trace::NodeId node) const {
  const auto it = nodes_.find(node);
  if (it == nodes_.end() || it->second.stack == trace::kNone) return std::nullopt;
  auto stack = reader_.stack(it->second.stack);
  if (stack.empty()) return std::nullopt;
  trace::SourceLocation* best = &stack.back();
  for (auto l = stack.rbegin(); l != stack.rend(); ++l) {
    if (l->file.find("/torch/") != std::string::npos || l->file.starts_with("torch/") || l->file.starts_with('<'))
      continue;
    best = &*l;
    break;
  }
  return std::move(*best);
}

std::string CapturedNodes::line(trace::NodeId node) const {
  const auto at = location(node);
  if (!at) return {};
  return fmt::format("{}:{}{}{}", at->file, at->line, at->text.empty() ? "" : ": ", at->text);
}

}  // namespace strata::profiler
