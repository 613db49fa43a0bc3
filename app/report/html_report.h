// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A report of a trace as one HTML file: nothing is loaded from elsewhere. Its only script is the search box.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/trace/reader.h"

namespace strata::report {

struct HtmlOptions {
  std::string graph;              ///< only this compile; empty: all
  std::size_t max_rows = 300;     ///< of one table; what is left out is counted
  std::size_t max_nodes = 400;    ///< larger graphs are not drawn
  std::size_t max_drawn = 4000;   ///< nodes in all pictures together: a node takes about a kilobyte
  std::size_t max_graphs = 500;   ///< compile attempts; what is left out is counted, like lines
  std::size_t max_lines = 5000;   ///< of sources, all files together
  std::size_t max_guards = 5000;  ///< of all graphs together
  std::size_t max_counted = 50;   ///< large graphs whose operators are counted in place of a picture
  /// Told now and then how far it is, from 0 to 1, and with what; false stops: draw::Stopped is thrown. May be empty.
  std::function<bool(double, std::string_view)> progress = {};
};

/// The whole document: summary, what to fix first, graph breaks and recompiles with their lines, where run and compile
/// time went, graphs with stages, kernels, guards and pictures, sources with marks, problems of the import. An unknown
/// graph is a user Error.
std::string html_report(trace::Reader& reader, const HtmlOptions& options = {});

}  // namespace strata::report
