// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two ranks of a distributed program: what they compiled, and who waited for whom in collectives.

#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/studio/models/comparison_side.h"
#include "app/studio/models/table_model.h"

namespace strata::studio {

/// A frame that one or both ranks compiled.
struct RankFrame {
  std::string frame;  ///< `model.py:12:forward`
  int compiles_a = 0, compiles_b = 0;
  double ns_a = 0, ns_b = 0;                                     ///< compile time, all compiles
  std::string differs;                                           ///< in words; empty: both did the same
  trace::Id compile_a = trace::kNone, compile_b = trace::kNone;  ///< the first that differs, else the first
};

/// A collective that both took part in. Both leave it together: the shorter one arrived last.
struct RankCollective {
  std::string name, group;
  std::int64_t sequence = -1;
  double ns_a = 0, ns_b = 0;      ///< inside of it
  double wait_a = 0, wait_b = 0;  ///< of that, waiting for the other
};

struct RankComparison {
  std::int64_t rank_a = -1, rank_b = -1;
  std::vector<RankFrame> frames;            ///< those that differ first
  std::vector<RankCollective> collectives;  ///< longest wait first
  double compile_a = 0, compile_b = 0;      ///< nanoseconds, all compiles
  double wait_a = 0, wait_b = 0;            ///< sums
  double span = 0;                          ///< from the first to the last collective
  size_t only_a = 0, only_b = 0;            ///< collectives without a partner
  std::vector<std::string> notes;
};
using RankComparisonPtr = std::shared_ptr<const RankComparison>;

/// Both sides must have a rank. `stop` as in align_graphs.
RankComparison compare_ranks(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop = {});

QString rank_verdict(const RankComparison& comparison);
/// Frame, compiles in A, in B, time in A, in B, difference.
QStringList rank_frame_headers();
std::vector<TableRow> rank_frame_rows(const RankComparison& comparison);
/// Collective, group, number, time in A, in B, wait in A, in B.
QStringList collective_headers();
std::vector<TableRow> collective_rows(const RankComparison& comparison);

}  // namespace strata::studio
