// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graphs out of a trace.

#include "core/ir/graph.h"
#include "core/trace/reader.h"

namespace strata {

/// The graph of a snapshot, imported ones too: print_fx gives the text that an imported graph was read from, up to
/// white space. Nodes with their ids, types, sources, modules, makers and origins; symbols with ranges and hints. Data
/// of weights and constants is not in a trace. Throws a user Error when the snapshot is no graph or holds what the
/// graph IR cannot (a damaged trace).
Graph graph_from_trace(trace::Reader& reader, const trace::SnapshotRecord& snapshot);

}  // namespace strata
