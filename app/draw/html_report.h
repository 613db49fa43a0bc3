// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A report of a trace as one HTML file: nothing is loaded from elsewhere, no scripts.

#include <cstddef>
#include <string>
#include <vector>

#include "core/trace/reader.h"

namespace strata::draw {

/// One thing to do, as `strata explain` finds them.
struct HtmlFinding {
  std::string title, advice, place, code, graphs;
  double cost_ns = -1;
};

struct HtmlOptions {
  std::vector<HtmlFinding> findings;  ///< most serious first
  std::string graph;                  ///< only this compile; empty: all
  std::size_t max_rows = 300;         ///< of one table; what is left out is counted
  std::size_t max_nodes = 400;        ///< larger graphs are not drawn
  std::size_t max_drawn = 4000;       ///< nodes in all pictures together: a node takes about a kilobyte
  std::size_t max_graphs = 500;       ///< compile attempts; what is left out is counted, like lines
  std::size_t max_lines = 5000;       ///< of sources, all files together
};

/// The whole document: summary, graph breaks and recompiles with their lines, graphs with pictures of what was fused,
/// where the time went, sources with marks, problems of the import. An unknown graph is a user Error.
std::string html_report(trace::Reader& reader, const HtmlOptions& options = {});

}  // namespace strata::draw
