// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Along origin edges: up to lines of source, down to kernels, launches and events.

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

#include "core/trace/reader_impl.h"

namespace strata::trace {

std::vector<SourceLocation> Reader::Impl::stack_locked(Id stack) {
  const auto found = select_locked<LocationRow>(
      true, "JOIN (SELECT depth, location FROM stack_frame WHERE stack = ?) ON location.id = location ORDER BY depth",
      stack);
  return {found.begin(), found.end()};
}

std::vector<SourceLocation> Reader::stack(Id stack) {
  return impl_->guarded([&] { return impl_->stack_locked(stack); });
}

std::vector<NodeId> Reader::nodes_at(Id compile, std::string_view file, std::int64_t line) {
  return impl_->guarded([&] {
    Query query = impl_->database().query(
        "SELECT DISTINCT node FROM node WHERE compile = ? AND stack IN (SELECT stack FROM stack_frame WHERE location "
        "IN "
        "(SELECT id FROM location WHERE line = ? AND file IN (SELECT id FROM string WHERE value = ?))) ORDER BY node");
    query.bind(compile).bind(line).bind(file);
    std::vector<NodeId> nodes;
    while (query.step()) nodes.push_back(query.integer(0));
    return nodes;
  });
}

std::vector<OriginRecord> Reader::edges_up(Id compile, NodeId node) {
  return impl_->select<OriginRecord>("WHERE compile = ? AND node = ? ORDER BY from_node", compile, node);
}
std::vector<OriginRecord> Reader::edges_down(Id compile, NodeId node) {
  return impl_->select<OriginRecord>("WHERE compile = ? AND from_node = ? ORDER BY node", compile, node);
}
std::vector<OriginRecord> Reader::edges(Id compile) {
  return impl_->select<OriginRecord>("WHERE compile = ? ORDER BY node, from_node", compile);
}

std::pair<Id, Id> Reader::Impl::lifetime_locked(Id compile, NodeId node) {
  Query query = database().query(
      "SELECT (SELECT min(snapshot) FROM node WHERE compile = ?1 AND node = ?2),"
      "       coalesce((SELECT snapshot FROM node_end WHERE compile = ?1 AND node = ?2),"
      "                (SELECT max(id) FROM snapshot WHERE compile = ?1 AND kind = 0))");
  query.bind(compile).bind(node);
  if (!query.step()) return {kNone, kNone};
  return {query.integer(0), query.integer(1)};
}

std::vector<OriginStep> Reader::Impl::walk_locked(Id compile, NodeId node, bool up) {
  std::vector<OriginStep> steps;
  std::unordered_set<NodeId> seen;
  const auto visit = [&](NodeId id, int depth, NodeId via, const OriginRecord& edge) {
    if (!seen.insert(id).second) return;
    OriginStep step;
    if (const auto row = last_node_locked(compile, id)) {
      step.node = *row;
      std::tie(step.first_snapshot, step.last_snapshot) = lifetime_locked(compile, id);
    } else if (depth == 0) {
      return;
    }
    step.node.id = id;
    step.depth = depth;
    step.via = via;
    step.edge = edge;
    steps.push_back(std::move(step));
  };
  visit(node, 0, 0, {});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const NodeId id = steps[i].node.id;
    const int depth = steps[i].depth + 1;
    const auto edges = select_locked<OriginRecord>(
        true,
        up ? "WHERE compile = ? AND node = ? ORDER BY from_node" : "WHERE compile = ? AND from_node = ? ORDER BY node",
        compile, id);
    for (const OriginRecord& edge : edges) visit(up ? edge.from : edge.node, depth, id, edge);
  }
  return steps;
}

Origins Reader::origins(Id compile, NodeId node) {
  return impl_->guarded([&] {
    Origins result{impl_->walk_locked(compile, node, true), {}};
    std::set<std::tuple<std::string, std::int64_t, std::string>> seen;
    for (const OriginStep& step : result.ancestors) {
      if (step.node.stack == kNone) continue;
      const auto stack = impl_->stack_locked(step.node.stack);
      if (stack.empty()) continue;
      const SourceLocation& inner = stack.back();
      if (seen.emplace(inner.file, inner.line, inner.function).second) result.locations.push_back(inner);
    }
    return result;
  });
}

namespace {

template <class R>
void sort_by_id(std::vector<R>& records) {
  std::sort(records.begin(), records.end(), [](const R& a, const R& b) { return a.id < b.id; });
}

template <class R>
void append_new(std::vector<R>& to, std::unordered_set<Id>& seen, std::vector<R> from) {
  for (R& record : from) {
    if (seen.insert(record.id).second) to.push_back(std::move(record));
  }
}

}  // namespace

Results Reader::results(Id compile, NodeId node, std::size_t max_events) {
  return impl_->guarded([&] {
    Results result;
    result.descendants = impl_->walk_locked(compile, node, false);
    std::unordered_set<Id> kernels, launches, events;
    for (const OriginStep& step : result.descendants) {
      append_new(result.kernels, kernels,
                 impl_->select_locked<KernelRecord>(
                     true, "WHERE id IN (SELECT kernel FROM kernel_node WHERE compile = ? AND node = ?)", compile,
                     step.node.id));
      for (auto& removal :
           impl_->select_locked<RemovalRecord>(true, "WHERE compile = ? AND node = ?", compile, step.node.id)) {
        result.removals.push_back(std::move(removal));
      }
    }
    sort_by_id(result.kernels);
    const auto room = [&] { return static_cast<std::int64_t>(max_events - result.events.size()); };
    for (const KernelRecord& kernel : result.kernels) {
      append_new(result.launches, launches,
                 impl_->select_locked<LaunchRecord>(true, "WHERE kernel = ? ORDER BY ordinal", kernel.id));
      append_new(result.events, events,
                 impl_->select_locked<EventRecord>(true, "WHERE kernel = ? AND kernel <> 0 ORDER BY id LIMIT ?",
                                                   kernel.id, room()));
    }
    for (const LaunchRecord& launch : result.launches) {
      // Events may name the launch, the kernel, or both; those of the kernel are there already.
      append_new(result.events, events,
                 impl_->select_locked<EventRecord>(
                     true, "WHERE launch = ? AND launch <> 0 AND kernel = 0 ORDER BY id LIMIT ?", launch.id, room()));
    }
    sort_by_id(result.events);
    return result;
  });
}

}  // namespace strata::trace
