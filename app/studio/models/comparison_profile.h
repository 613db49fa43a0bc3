// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Two profiles or runs beside each other: by kernel, operator, module and line.
///
/// The figures are those of `strata diff`: for an eager and a compiled profile those of profiler/eager_diff.h, for all
/// runs of two compiles those of profiler/diff.h. Anything else (single runs, two compiled profiles) is compared by the
/// names of rows. All tables of one comparison add up to the same totals.

#include <QString>
#include <QStringList>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/studio/models/comparison_side.h"
#include "app/studio/models/profile_rows.h"

namespace strata::studio {

/// A row: what the same thing took on either side. Nanoseconds and launches are per ProfileComparison::unit.
struct CompareRow {
  std::string key;     ///< kernel, operator, module, `file:line: code`; or words for what is in none
  std::string kind;    ///< `kernel`, `library`, ...; `not compiled`, `removed`, `optimizer`, ...
  std::string detail;  ///< what it stands for on side A; may be empty
  double a = 0, b = 0;
  double launches_a = 0, launches_b = 0;
  bool in_a = true, in_b = true;              ///< false: that side has nothing of it
  bool measured_a = true, measured_b = true;  ///< false: it is there, but its profile does not show it
  bool inferred = false;                      ///< that both belong together was concluded
  bool divided = false;                       ///< its time is a share of kernels that compute more than this
  bool elsewhere = false;  ///< what it does on the other side stands in another row: only both together compare
  ComparePlace place_a, place_b;

  double difference() const { return b - a; }
  bool matched() const { return in_a && in_b; }
};

struct ProfileComparison {
  std::string label_a, label_b;       ///< `eager`, `compiled`; the labels of runs
  std::string what;                   ///< that the tables add up: `device time`, `operator time`, `time of launches`
  std::string unit;                   ///< `per iteration`, `per run`, `in all`
  std::string whole;                  ///< `iteration` or `run`: what `whole_a` is the time of; may be empty
  double whole_a = -1, whole_b = -1;  ///< nanoseconds of the middle one, with all that is between kernels; -1 unknown
  double total_a = 0, total_b = 0;    ///< of each table
  double launches_a = 0, launches_b = 0;
  std::array<std::vector<CompareRow>, kProfileTables> tables;  ///< greatest difference first
  std::vector<std::string> notes;

  const std::vector<CompareRow>& by(ProfileBy by) const { return tables[static_cast<size_t>(by)]; }
  /// Time that the headline is about: of the whole where both have one, else the totals.
  double headline_a() const { return whole_a > 0 && whole_b > 0 ? whole_a : total_a; }
  double headline_b() const { return whole_a > 0 && whole_b > 0 ? whole_b : total_b; }
};
using ProfileComparisonPtr = std::shared_ptr<const ProfileComparison>;

/// Both sides must have a run. `stop` is asked between steps: true gives a comparison without rows. Throws Error when
/// one has nothing that was timed.
ProfileComparison compare_profiles(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop = {});

/// The same seen from the other side.
ProfileComparison swapped(ProfileComparison comparison);

/// Rows that take longer on side B, by more than a thousandth of the whole of A (less is noise).
int slower_rows(const ProfileComparison& comparison, ProfileBy by);

/// `compiled is 1.61x faster: 2.82 ms → 1.75 ms per iteration (device time 353 µs → 280 µs); 3 lines got slower`.
QString profile_verdict(const ProfileComparison& comparison);

/// Name, kind, A, B, ratio, difference, share of the difference, launches, replaces.
QStringList compare_headers(ProfileBy by);
std::vector<TableRow> compare_table(const ProfileComparison& comparison, ProfileBy by);
/// The column of the difference, which is sorted by and painted as a bar.
inline constexpr int kDifferenceColumn = 5;

}  // namespace strata::studio
