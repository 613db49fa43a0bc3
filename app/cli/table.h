// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Columns of text, and numbers as people read them.

#include <string>
#include <vector>

namespace strata::cli {

class Table {
 public:
  /// Column heads; those that begin with '>' (not shown) are aligned to the right.
  explicit Table(std::vector<std::string> heads);
  void row(std::vector<std::string> cells);
  /// A line of dashes before the next row.
  void rule();
  /// Aligned lines, each ended by a newline. Widths count code points.
  std::string text() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  ///< the heads first; an empty row is a rule
};

/// `1.23 ms`, `45.6 us`, `12 ns`; `-` for a negative time.
std::string time_text(double nanoseconds);
/// `1.5 MiB`, `12 B`.
std::string bytes_text(double bytes);
/// `12.3`, `0.00123`: three significant digits; `-` where there is nothing to say (not a number, infinite or negative).
std::string rate_text(double value);
/// `12.3%`.
std::string percent_text(double share);
/// The end of a long text, with `...` in place of its beginning.
std::string shortened(const std::string& text, size_t most);

}  // namespace strata::cli
