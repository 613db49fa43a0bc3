// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/studio/models/comparison_methods.h"
#include "app/studio/models/lists.h"
#include "core/support/error.h"

namespace strata::studio {

namespace {

void order(ProfileComparison& c) {
  for (auto& table : c.tables)
    std::stable_sort(table.begin(), table.end(), [](const CompareRow& x, const CompareRow& y) {
      return std::abs(x.difference()) > std::abs(y.difference());
    });
}

/// The label of a side; where both go by the same name, its letter tells them apart.
void name_sides(ProfileComparison& c, const CompareSide& a, const CompareSide& b) {
  c.label_a = a.run->label;
  c.label_b = b.run->label;
  if (c.label_a != c.label_b) return;
  if (a.run->rank >= 0 && b.run->rank >= 0 && a.run->rank != b.run->rank) {
    c.label_a = fmt::format("rank {}", a.run->rank);
    c.label_b = fmt::format("rank {}", b.run->rank);
    return;
  }
  c.label_a = "A";
  c.label_b = "B";
}

QString ns_text(double ns) { return qt(draw::format_time(ns)); }

QString signed_time(double ns) {
  if (ns == 0) return "0";
  return (ns > 0 ? "+" : "−") + ns_text(std::abs(ns));
}

QString percent_text(double part, double whole) {
  return whole > 0 ? QString::number(100 * part / whole, 'f', 1) + " %" : QString();
}

QString count_text(double n) { return QString::number(n, 'f', n == std::floor(n) ? 0 : 1); }

/// `1.61x faster`, `as fast`, `1.20x slower`.
QString pace(double a, double b) {
  if (a <= 0 || b <= 0) return {};
  const double ratio = a / b;
  if (ratio > 0.995 && ratio < 1.005) return "as fast";
  return ratio > 1 ? QString("%1x faster").arg(ratio, 0, 'f', 2) : QString("%1x slower").arg(1 / ratio, 0, 'f', 2);
}

QString plural(int n, const char* one, const char* many) { return QString("%1 %2").arg(n).arg(n == 1 ? one : many); }

}  // namespace

ProfileComparison compare_profiles(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop) {
  if (!a.run || !b.run) throw_user("one side has no run", "choose a run on both sides");
  ProfileComparison c;
  const bool both_profiles = a.run->profile && b.run->profile;
  if (both_profiles && !(a.run->compiled && b.run->compiled)) {
    const bool turned = a.run->compiled;
    c = compare_eager(turned ? b : a, turned ? a : b, stop);
    if (turned) c = swapped(std::move(c));
  } else if (a.run->whole && b.run->whole) {
    c = compare_compiles_or_names(a, b, stop);
  } else {
    c = compare_by_name(a, b, stop);
  }
  name_sides(c, a, b);
  order(c);
  return c;
}

ProfileComparison swapped(ProfileComparison c) {
  std::swap(c.label_a, c.label_b);
  std::swap(c.whole_a, c.whole_b);
  std::swap(c.total_a, c.total_b);
  std::swap(c.launches_a, c.launches_b);
  for (auto& table : c.tables)
    for (CompareRow& r : table) {
      std::swap(r.a, r.b);
      std::swap(r.launches_a, r.launches_b);
      std::swap(r.in_a, r.in_b);
      std::swap(r.measured_a, r.measured_b);
      std::swap(r.place_a, r.place_b);
    }
  return c;
}

int slower_rows(const ProfileComparison& c, ProfileBy by) {
  const double least = c.total_a * 1e-3;
  return static_cast<int>(std::count_if(c.by(by).begin(), c.by(by).end(), [&](const CompareRow& r) {
    return r.measured_a && r.measured_b && !r.elsewhere && r.difference() > least;
  }));
}

QString profile_verdict(const ProfileComparison& c) {
  const double a = c.headline_a(), b = c.headline_b();
  if (a <= 0 || b <= 0) return "One side has no time to compare.";
  const bool whole = c.whole_a > 0 && c.whole_b > 0;
  const QString how = pace(a, b);
  QString text =
      QString("%1 is %2: %3 → %4 ")
          .arg(qt(c.label_b), how == "as fast" ? "as fast as " + qt(c.label_a) : how, ns_text(a), ns_text(b));
  text += whole ? "per " + qt(c.whole) : qt(c.what) + " " + qt(c.unit);
  if (whole) text += QString(" (%1 %2 → %3)").arg(qt(c.what), ns_text(c.total_a), ns_text(c.total_b));
  const int lines = slower_rows(c, ProfileBy::Line), kernels = slower_rows(c, ProfileBy::Kernel);
  if (lines > 0)
    text += "; " + plural(lines, "line got slower", "lines got slower");
  else if (kernels > 0)
    text += "; " + plural(kernels, "kernel got slower", "kernels got slower");
  else
    text += "; nothing got slower";
  return text;
}

QStringList compare_headers(ProfileBy by) {
  static const char* const names[] = {"Kernel", "Operator", "Module", "Line"};
  return {names[static_cast<int>(by)], "Kind", "A", "B", "Ratio", "Difference", "Share", "Launches", "Stands for"};
}

namespace {

QString short_name(const CompareRow& r, ProfileBy by) {
  if (by != ProfileBy::Line) return qt(r.key);
  // The path of a line is in the tooltip.
  const size_t colon = r.key.find(':'), slash = r.key.rfind('/', colon);
  return qt(slash == std::string::npos || colon == std::string::npos ? r.key : r.key.substr(slash + 1));
}

QString row_tip(const CompareRow& r) {
  QStringList lines = {qt(r.key)};
  if (!r.in_a) lines << "only in B";
  if (!r.in_b) lines << "only in A";
  if (r.inferred) lines << "* that both sides belong together was concluded from order, names and shapes";
  if (r.divided) lines << "~ a share of kernels that compute more than this";
  if (!r.detail.empty()) lines << qt(r.detail);
  return lines.join('\n');
}

TableCell side_cell(double ns, bool in, bool measured) {
  if (!in) return {"–", -1.0, "not on this side"};
  if (!measured) return {"not measured", -1.0, "it ran, but its profile does not show it"};
  return {ns_text(ns), ns};
}

TableCell ratio_cell(const CompareRow& r) {
  const bool known = r.matched() && r.measured_a && r.measured_b && r.a > 0 && r.b > 0;
  if (!known) return {QString(), -1.0};
  return {QString("%1x").arg(r.a / r.b, 0, 'f', 2), r.a / r.b, "time of A divided by time of B: above 1, B is faster"};
}

TableRow table_row(const CompareRow& r, ProfileBy by, double total_difference) {
  TableRow row;
  const bool known = r.measured_a && r.measured_b;
  const QString marks = QString(r.inferred ? " *" : "") + (r.divided ? " ~" : "");
  row.cells = {
      {short_name(r, by) + marks, {}, row_tip(r)},
      {qt(r.kind)},
      side_cell(r.a, r.in_a, r.measured_a),
      side_cell(r.b, r.in_b, r.measured_b),
      ratio_cell(r),
      {known ? signed_time(r.difference()) : "?", known ? r.difference() : 0.0},
      {known ? percent_text(std::abs(r.difference()), total_difference) : QString(),
       known ? std::abs(r.difference()) : 0.0, "of all differences, faster and slower"},
      {QString("%1 → %2").arg(count_text(r.launches_a), count_text(r.launches_b)), r.launches_b - r.launches_a},
      {qt(r.detail), {}, qt(r.detail)}};
  return row;
}

}  // namespace

std::vector<TableRow> compare_table(const ProfileComparison& c, ProfileBy by) {
  double all = 0;
  for (const CompareRow& r : c.by(by))
    if (r.measured_a && r.measured_b) all += std::abs(r.difference());
  std::vector<TableRow> rows;
  for (const CompareRow& r : c.by(by)) rows.push_back(table_row(r, by, all));
  return rows;
}

}  // namespace strata::studio
