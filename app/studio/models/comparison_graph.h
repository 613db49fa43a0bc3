// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two graphs compared node by node: what is the same, what changed and how, what only one has.

#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/studio/models/comparison_align.h"
#include "app/studio/models/comparison_side.h"
#include "app/studio/models/table_model.h"

namespace strata::studio {

/// A node that is not the same on both sides. Indices of nodes; -1: that side has none.
struct GraphDifference {
  int a = -1, b = -1;
  std::string reason;  ///< `shape: [8, 64] → [s0, 64]`; empty where only one side has it
};

/// Nodes of one operator or module.
struct GraphCount {
  std::string key;
  int a = 0, b = 0;  ///< how many
  int same = 0, changed = 0, only_a = 0, only_b = 0;
  bool differs() const { return changed + only_a + only_b > 0; }
};

struct GraphComparison {
  std::string title_a, title_b;  ///< `0/0 captured`
  std::vector<trace::NodeRecord> a, b;
  std::vector<int> b_of_a, a_of_b;             ///< partners; -1 none
  std::vector<GraphDifference> differences;    ///< in the order of A, what only B has after what stands before it
  std::vector<GraphCount> operators, modules;  ///< those that differ first, each part by name
  int same = 0, changed = 0, only_a = 0, only_b = 0;
  bool by_id = false;  ///< stages of one compile
};
using GraphComparisonPtr = std::shared_ptr<const GraphComparison>;

/// Two lists of nodes. `by_id`: stages of one compile. `stop`: see align_graphs.
GraphComparison compare_graphs(const AlignedGraph& a, const AlignedGraph& b, bool by_id,
                               const std::function<bool()>& stop = {});
/// The graphs of two sides, which must have snapshots. Throws Error when one cannot be read.
GraphComparison load_graph_comparison(const CompareSide& a, const CompareSide& b,
                                      const std::function<bool()>& stop = {});

/// `412 nodes are the same, 3 changed, 2 only in A, none only in B`.
QString graph_verdict(const GraphComparison& comparison);

/// What, node, operator, difference, module. One row per difference.
QStringList difference_headers();
std::vector<TableRow> difference_rows(const GraphComparison& comparison);
/// Operator or module, in A, in B, same, changed, only in A, only in B.
QStringList graph_count_headers(bool modules);
std::vector<TableRow> graph_count_rows(const std::vector<GraphCount>& counts);

}  // namespace strata::studio
