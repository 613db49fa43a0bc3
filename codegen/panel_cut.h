// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How products in panels are shared out among threads.

#include <algorithm>
#include <cstdint>

namespace strata::library {

inline int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }

/// A matrix is cut into so many parts of its rows and of its panels; all parts of all matrices go round the threads.
struct PanelCut {
  int64_t rows = 1, panels = 1;
};

/// What keeps the threads busiest, in as few parts as that takes; `groups` are rows that stay together. With
/// `keeps_rows` an eighth of that is given up for parts of whole rows: their elements come from the core that has
/// computed them and are next read there, where parts of their columns go back and forth between cores.
inline PanelCut cut_for(int64_t batch, int64_t groups, int64_t panels, int64_t threads, bool keeps_rows) {
  constexpr int64_t kMostParts = 128;  // of one dimension
  PanelCut best;
  const auto cost = [&](const PanelCut& c) {
    const int64_t eighths = keeps_rows && c.panels > 1 ? 9 : 8;
    return parts(batch * c.rows * c.panels, threads) * parts(groups, c.rows) * parts(panels, c.panels) * eighths;
  };
  for (int64_t r = 1; r <= std::min({groups, threads, kMostParts}); ++r) {
    for (int64_t p = 1; p <= std::min({panels, threads, kMostParts}); ++p) {
      const PanelCut c{r, p};
      if (cost(c) < cost(best) || (cost(c) == cost(best) && r * p < best.rows * best.panels)) best = c;
    }
  }
  return best;
}

/// Rows [first, last) of panels [panel, last_panel).
struct PanelPart {
  int64_t first, last, panel, last_panel;
};

/// Part `i` of a matrix of `rows`, of which `together` stay together.
inline PanelPart part_of(const PanelCut& cut, int64_t i, int64_t rows, int64_t together, int64_t panels) {
  const int64_t r = i / cut.panels, c = i % cut.panels, groups = parts(rows, together);
  return {groups * r / cut.rows * together, std::min(rows, groups * (r + 1) / cut.rows * together),
          panels * c / cut.panels, panels * (c + 1) / cut.panels};
}

}  // namespace strata::library
