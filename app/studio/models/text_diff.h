// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two graphs as text, side by side: which lines came, went, changed, moved. Lines of the same node belong together
/// whatever they say; others are matched by what they say.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/records.h"

namespace strata::studio {

/// `relu_1: f32[8, 64] = aten.relu.default(add_3)`
std::string node_line(const trace::NodeRecord& node);

enum class DiffKind : std::uint8_t {
  Same = 0,
  Added,
  Removed,
  Changed,
  MovedAway,  ///< the line where it stood
  Moved       ///< the line where it stands now; it may have changed too
};

/// A row of the comparison: a line of the left text, of the right one, or both. Lines are numbers from 0, -1 none.
struct DiffRow {
  DiffKind kind = DiffKind::Same;
  int left = -1, right = -1;
  bool operator==(const DiffRow&) const = default;
};

struct TextDiff {
  std::string left_title, right_title;
  std::vector<std::string> left, right;  ///< lines
  std::vector<trace::NodeId> left_nodes, right_nodes;
  std::vector<DiffRow> rows;  ///< both texts from first to last line; a moved line has two rows
  size_t added = 0, removed = 0, changed = 0, moved = 0;

  bool same() const { return added + removed + changed + moved == 0; }
  trace::NodeId node(const DiffRow& row) const {
    return row.right >= 0 ? right_nodes[static_cast<size_t>(row.right)] : left_nodes[static_cast<size_t>(row.left)];
  }
  /// As `diff -u` writes it, with `context` lines around what differs; moved lines are marked `<` and `>`.
  std::string to_text(int context = 3) const;
};

/// `stop` is asked now and then; when it says true, draw::Stopped is thrown.
TextDiff diff_graphs(const std::vector<trace::NodeRecord>& before, const std::vector<trace::NodeRecord>& after,
                     const std::function<bool()>& stop = {});

/// Parts of a line, in bytes: first and one past the last.
using WordMarks = std::vector<std::pair<int, int>>;
/// The words in which two lines differ; never cuts a UTF-8 sequence. Lines that have little in common are marked whole.
std::pair<WordMarks, WordMarks> differing_words(const std::string& left, const std::string& right);

/// What is shown of the rows when runs without a difference are folded.
struct DiffFold {
  int first = 0, count = 0;  ///< rows
  bool folded = false;
  bool operator==(const DiffFold&) const = default;
};
/// Runs of rows, all of them in order. Runs that are all the same, but for `context` rows next to a difference, are
/// folded when that hides at least two.
std::vector<DiffFold> fold_rows(const std::vector<DiffRow>& rows, int context = 3);

}  // namespace strata::studio
