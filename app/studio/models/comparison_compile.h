// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two compilations of one frame: why there is a second one, and what differs between them.

#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/studio/models/comparison_side.h"
#include "app/studio/models/table_model.h"

namespace strata::studio {

/// A line of the comparison.
struct CompileDifference {
  enum class Section : int { Why = 0, Outcome, Sizes, Guards, Assumptions, Graph, Kernels, Time };
  Section section = Section::Outcome;
  std::string what;
  std::string a, b;  ///< what it is on either side; empty: that side has none
  std::string file;  ///< the user's line it comes from
  std::int64_t line = 0;
  trace::Id guard_a = trace::kNone, guard_b = trace::kNone;
  trace::Id kernel_a = trace::kNone, kernel_b = trace::kNone;
  trace::NodeId node_a = 0, node_b = 0;
};

struct CompileComparison {
  std::string address_a, address_b;
  trace::Id compile_a = trace::kNone, compile_b = trace::kNone;
  bool one_frame = true;
  std::vector<CompileDifference> rows;  ///< by section
  std::string advice;                   ///< what to change so that it is not compiled again; may be empty
  int guards_same = 0, guards_changed = 0, guards_a = 0, guards_b = 0;
  double duration_a = -1, duration_b = -1;  ///< nanoseconds
  std::string cause;                        ///< `tensor 'x' size mismatch at index 0 (expected 8, was 9)`
  std::string sizes;                        ///< `L['x'].size()[0]: 8 → s77`, the first
};
using CompileComparisonPtr = std::shared_ptr<const CompileComparison>;

/// Both sides must have a compile. `stop` as in align_graphs.
CompileComparison compare_compiles_of_frame(const CompareSide& a, const CompareSide& b,
                                            const std::function<bool()>& stop = {});

QString compile_verdict(const CompileComparison& comparison);
/// Part, what, in A, in B, line.
QStringList compile_difference_headers();
std::vector<TableRow> compile_difference_rows(const CompileComparison& comparison);

/// The parts of two texts that differ, where both are lists of the same form: of `f(x, size=[8])` and `f(x, size=[9])`
/// those are `size=[8]` and `size=[9]`. The texts themselves where they are not alike.
std::pair<std::string, std::string> differing_parts(const std::string& a, const std::string& b);

}  // namespace strata::studio
