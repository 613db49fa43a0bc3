// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long each line of Python took, as it is and compiled.

#include <QString>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/trace/reader.h"

namespace strata::studio {

struct LineTimes {
  /// File and line.
  using Place = std::pair<std::string, std::int64_t>;
  struct Side {
    QString title;                  ///< which profile it is; empty: the trace has none
    double total = 0;               ///< of everything in it, also what is of no line
    std::map<Place, double> lines;  ///< nanoseconds
    double of_file(const std::string& file) const;
  };
  /// Eager: of the profile in which nothing ran under a compile, put to lines by its stacks or by matching it with the
  /// compiled one. Compiled: the rows by line of the profile page.
  Side eager, compiled;
  bool empty() const { return eager.lines.empty() && compiled.lines.empty(); }
};
using LineTimesPtr = std::shared_ptr<const LineTimes>;

/// Never null. Slow on large profiles: not for the UI thread.
LineTimesPtr load_line_times(trace::Reader& reader);

}  // namespace strata::studio
