// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Nodes and events of a trace by what is known of them (see query_language.h for the conditions).
///
/// Keys of nodes: name op target args type dtype shape device module role group id kernel line file graph stage time.
/// Keys of events: name category duration (time) start thread stream device rank match correlation kernel graph, and
/// those of nodes: op target dtype shape module line file node stand for the nodes that the event's kernel computes
/// and all that these were made from.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/query/query_language.h"
#include "core/trace/reader.h"

namespace strata {

/// Whether a condition asks for what only events have.
bool asks_for_events(const QueryExpression& expression);

struct NodeHit {
  trace::NodeRecord node;
  std::string graph, stage;  ///< where it was found first
  std::vector<std::string> kernels;
  double time_ns = -1;  ///< of its kernels, all launches; -1: not measured
  std::string file;     ///< innermost known line
  std::int64_t line = 0;
};

/// Nodes for which the expression holds, each once, in the first of the `snapshots` that shows it so. An unknown key is
/// a user Error.
std::vector<NodeHit> query_nodes(trace::Reader& reader, const QueryExpression& expression,
                                 const std::vector<trace::SnapshotRecord>& snapshots);

/// The same for nodes at hand, without a trace: those of `nodes` for which the expression holds. `times` are of
/// kernels, in nanoseconds. Conditions on line, file, graph and stage are a user Error, as an unknown key is.
std::vector<trace::NodeId> query_records(const QueryExpression& expression, const std::vector<trace::NodeRecord>& nodes,
                                         const std::vector<trace::KernelRecord>& kernels,
                                         const std::map<trace::Id, double>& times);

struct EventHit {
  trace::EventRecord event;  ///< without args
  std::string graph, kernel;
};

struct EventHits {
  std::vector<EventHit> hits;  ///< at most `limit`, in order of start
  std::int64_t count = 0;      ///< all
  double total_ns = 0;         ///< of all
};

/// Events for which the expression holds. An unknown key is a user Error.
EventHits query_events(const std::filesystem::path& trace, const QueryExpression& expression, std::size_t limit);

}  // namespace strata
