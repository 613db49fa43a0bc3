// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/studio/models/comparison_methods.h"
#include "core/support/error.h"
#include "profiler/captured.h"
#include "profiler/diff.h"

namespace strata::studio {

using namespace trace;

namespace {

std::string joined(const std::vector<std::string>& words) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(words.size(), most); ++i) text += (i ? ", " : "") + words[i];
  return words.size() > most ? text + ", …" : text;
}

// ------------------------------------------------------------------------------------------------ all runs of two
// compiles

/// What the kernels of one compile took, divided among operators, modules and lines.
class Divided {
 public:
  Divided(Reader& reader, Id compile)
      : compile_(compile), captured_(reader, compile), costs_(profiler::measure(reader, compile)) {}

  const profiler::Costs& costs() const { return costs_; }

  /// Adds one side of a table: `second` the times of B.
  void add(ProfileBy by, bool second, RowsByKey& rows) const {
    for (const profiler::KernelCost& k : costs_.kernels) {
      double all = 0;
      for (const auto& [id, count] : k.captured) all += count;
      for (const auto& [id, count] : k.captured) add_part(by, second, rows, k, id, count / all);
      if (k.captured.empty()) add_to(rows.row(kind(by), "(unknown)"), second, k, 1);
    }
  }

 private:
  static std::string kind(ProfileBy by) {
    return by == ProfileBy::Operator ? "operator" : by == ProfileBy::Module ? "module" : "line";
  }

  void add_part(ProfileBy by, bool second, RowsByKey& rows, const profiler::KernelCost& k, NodeId id,
                double part) const {
    const NodeRecord& node = captured_.nodes().at(id);
    std::string key = by == ProfileBy::Operator ? node.target
                      : by == ProfileBy::Module ? node.module
                                                : captured_.line(id);
    if (key.empty()) key = by == ProfileBy::Module ? "(top level)" : "(unknown)";
    CompareRow& row = rows.row(kind(by), key);
    add_to(row, second, k, part);
    row.divided |= part < 1 - 1e-9;
    ComparePlace& place = second ? row.place_b : row.place_a;
    if (place.any()) return;
    place = {compile_, kNone, id, {}, 0};
    if (by != ProfileBy::Line) return;
    if (const auto at = captured_.location(id)) place.file = at->file, place.line = at->line;
  }

  static void add_to(CompareRow& row, bool second, const profiler::KernelCost& k, double part) {
    (second ? row.b : row.a) += k.per_run * part;
    (second ? row.launches_b : row.launches_a) += static_cast<double>(k.launches) * part;
    (second ? row.in_b : row.in_a) = true;
  }

  Id compile_;
  profiler::CapturedNodes captured_;
  profiler::Costs costs_;
};

ComparePlace place_of_kernel(const profiler::Costs& costs, Id compile, const std::string& name) {
  for (const profiler::KernelCost& k : costs.kernels)
    if (k.record.name == name) return {compile, k.record.id, 0, {}, 0};
  return {};
}

CompareRow row_of(const profiler::KernelChange& change, const profiler::Costs& before, const profiler::Costs& after,
                  const CompareSide& a, const CompareSide& b) {
  CompareRow row;
  row.key = change.kernel.empty() ? "(no kernel)" : change.kernel;
  row.kind = change.kernel.empty() ? "removed" : change.kind;
  row.detail = joined(change.operators);
  if (!change.before.empty()) row.detail += (row.detail.empty() ? "" : "; ") + ("was " + joined(change.before));
  row.a = change.first.time;
  row.b = change.second.time;
  row.launches_a = static_cast<double>(change.first.launches);
  row.launches_b = static_cast<double>(change.second.launches);
  row.in_a = !change.before.empty();
  row.in_b = !change.kernel.empty();
  if (row.in_b) row.place_b = place_of_kernel(after, b.run->compile, change.kernel);
  if (row.in_a) row.place_a = place_of_kernel(before, a.run->compile, change.before.front());
  return row;
}

ProfileComparison compare_compiles(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop) {
  const profiler::ProfileDiff d = profiler::diff_profiles(*a.reader, a.run->compile, *b.reader, b.run->compile);
  ProfileComparison c;
  c.what = "time of launches";
  c.unit = "per run";
  c.whole = "run";
  c.whole_a = d.first_run.median;
  c.whole_b = d.second_run.median;
  c.total_a = d.first.time;
  c.total_b = d.second.time;
  c.launches_a = static_cast<double>(d.first.launches);
  c.launches_b = static_cast<double>(d.second.launches);
  if (stop && stop()) return c;
  const Divided first(*a.reader, a.run->compile), second(*b.reader, b.run->compile);
  for (const profiler::KernelChange& change : d.changes)
    c.tables[0].push_back(row_of(change, first.costs(), second.costs(), a, b));
  for (const ProfileBy by : {ProfileBy::Operator, ProfileBy::Module, ProfileBy::Line}) {
    RowsByKey rows;
    first.add(by, false, rows);
    second.add(by, true, rows);
    c.tables[static_cast<size_t>(by)] = rows.take();
  }
  return c;
}

// --------------------------------------------------------------------------------------------------------- by name

/// Median duration of runs of ours; -1 where they are profiles or have none.
double median_run(const CompareSide& side) {
  if (side.run->profile) return -1;
  std::vector<double> times;
  for (const RunRecord& run : side.reader->runs())
    if (run.duration_ns > 0 && std::find(side.run->runs.begin(), side.run->runs.end(), run.id) != side.run->runs.end())
      times.push_back(static_cast<double>(run.duration_ns));
  return profiler::statistics(std::move(times)).median;
}

/// Rows of one side that may stand beside those of the other.
struct NamedRow {
  const ProfileRow* row;
  bool used = false;
};

/// Pairs rows of two tables: by name, kernels also by what they were made of, several of one name in order.
class Pairing {
 public:
  Pairing(const ProfileData& a, const ProfileData& b, ProfileBy by, double per_a, double per_b)
      : by_(by), per_a_(per_a), per_b_(per_b) {
    for (const ProfileRow& r : a.by(by)) a_.push_back({&r});
    for (const ProfileRow& r : b.by(by)) b_.push_back({&r});
  }

  std::vector<CompareRow> pair() {
    match([&](const ProfileRow& r) { return r.key + '\n' + r.kind + '\n' + r.made_of; }, false);
    if (by_ == ProfileBy::Kernel) match([](const ProfileRow& r) { return r.key + '\n' + r.kind; }, true);
    // Lines move when a file is edited: their code stays.
    if (by_ == ProfileBy::Line) match([](const ProfileRow& r) { return code_of(r); }, true);
    for (const NamedRow& r : a_)
      if (!r.used) add(r.row, nullptr, false);
    for (const NamedRow& r : b_)
      if (!r.used) add(nullptr, r.row, false);
    return std::move(out_);
  }

 private:
  static std::string code_of(const ProfileRow& r) {
    if (r.file.empty()) return {};
    const size_t code = r.key.find(": ", r.file.size());
    const std::string name = r.file.substr(r.file.rfind('/') + 1);
    return code == std::string::npos ? std::string() : name + r.key.substr(code);
  }

  template <typename Key>
  void match(const Key& key, bool inferred) {
    std::map<std::string, std::vector<size_t>> open;
    for (size_t i = b_.size(); i-- > 0;)
      if (!b_[i].used)
        if (const std::string k = key(*b_[i].row); !k.empty()) open[k].push_back(i);
    for (NamedRow& a : a_) {
      if (a.used) continue;
      const auto at = open.find(key(*a.row));
      if (at == open.end() || at->second.empty()) continue;
      NamedRow& b = b_[at->second.back()];
      at->second.pop_back();
      a.used = b.used = true;
      add(a.row, b.row, inferred);
    }
  }

  static ComparePlace place(const ProfileRow& r) {
    ComparePlace p{r.compile, r.kernel, 0, r.file, r.line};
    if (r.kernel == kNone && !r.nodes.empty()) std::tie(p.compile, p.node) = r.nodes.front();
    return p;
  }

  void add(const ProfileRow* a, const ProfileRow* b, bool inferred) {
    const ProfileRow& named = b ? *b : *a;
    CompareRow& row = out_.emplace_back();
    row.key = named.key;
    row.kind = named.kind;
    row.detail = named.made_of;
    row.in_a = a;
    row.in_b = b;
    row.inferred = inferred;
    for (const ProfileRow* r : {a, b})
      if (r) row.divided |= r->certain_ns < r->ns * (1 - 1e-9);
    if (a) row.a = a->ns / per_a_, row.launches_a = static_cast<double>(a->calls) / per_a_, row.place_a = place(*a);
    if (b) row.b = b->ns / per_b_, row.launches_b = static_cast<double>(b->calls) / per_b_, row.place_b = place(*b);
  }

  ProfileBy by_;
  double per_a_, per_b_;
  std::vector<NamedRow> a_, b_;
  std::vector<CompareRow> out_;
};

void sum_launches(ProfileComparison& c) {
  for (const CompareRow& r : c.tables[0]) c.launches_a += r.launches_a, c.launches_b += r.launches_b;
}

}  // namespace

ProfileComparison compare_by_name(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop) {
  const ProfilePtr first = load_profile(*a.reader, a.run->runs);
  if (stop && stop()) return {};
  const ProfilePtr second = load_profile(*b.reader, b.run->runs);
  if (stop && stop()) return {};
  const bool own = !a.run->profile && !b.run->profile;
  const double per_a = own ? static_cast<double>(std::max<size_t>(a.run->runs.size(), 1)) : 1;
  const double per_b = own ? static_cast<double>(std::max<size_t>(b.run->runs.size(), 1)) : 1;
  ProfileComparison c;
  c.what = first->device && second->device ? "device time" : "time of launches";
  c.unit = own ? "per run" : "in all";
  c.total_a = first->total / per_a;
  c.total_b = second->total / per_b;
  for (const auto& [data, title] : {std::pair{&first, "A"}, std::pair{&second, "B"}})
    if ((*data)->total <= 0) c.notes.push_back(fmt::format("nothing was timed in the run of side {}", title));
  if (first->device != second->device)
    c.notes.push_back("one side was measured on devices, the other on the host: they do not show the same thing");
  if (!own) c.notes.push_back("totals of all iterations are compared: both profiles should show equally many");
  c.whole = own ? "run" : "";
  c.whole_a = own ? median_run(a) : -1;
  c.whole_b = own ? median_run(b) : -1;
  for (int i = 0; i < kProfileTables; ++i)
    c.tables[static_cast<size_t>(i)] = Pairing(*first, *second, static_cast<ProfileBy>(i), per_a, per_b).pair();
  sum_launches(c);
  return c;
}

ProfileComparison compare_compiles_or_names(const CompareSide& a, const CompareSide& b,
                                            const std::function<bool()>& stop) {
  try {
    return compare_compiles(a, b, stop);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    ProfileComparison c = compare_by_name(a, b, stop);
    c.notes.push_back("these are different programs: rows are compared by name");
    return c;
  }
}

}  // namespace strata::studio
