// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "app/studio/models/comparison_align.h"
#include "app/studio/models/lists.h"
#include "core/support/error.h"
#include "profiler/rank_collectives.h"
#include "profiler/rank_view.h"

namespace strata::studio {

using namespace trace;
using profiler::CollectiveCall;
using profiler::RankView;

namespace {

class Comparer {
 public:
  Comparer(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop)
      : a_(*a.reader), b_(*b.reader), stop_(stop) {
    out_.rank_a = a.rank;
    out_.rank_b = b.rank;
    view_a_ = view_of(a_, a.rank);
    view_b_ = view_of(b_, b.rank);
  }

  RankComparison compare() {
    out_.compile_a = static_cast<double>(view_a_.compile_ns);
    out_.compile_b = static_cast<double>(view_b_.compile_ns);
    std::set<std::string> keys;
    for (const RankView* view : {&view_a_, &view_b_})
      for (const auto& [key, compiles] : view->frames) keys.insert(key);
    for (const std::string& key : keys) frame(key);
    std::stable_sort(out_.frames.begin(), out_.frames.end(),
                     [](const RankFrame& x, const RankFrame& y) { return !x.differs.empty() && y.differs.empty(); });
    collectives();
    return std::move(out_);
  }

 private:
  static RankView view_of(Reader& reader, std::int64_t rank) {
    for (RankView& view : profiler::rank_views(reader))
      if (view.rank == rank) return std::move(view);
    throw_user(fmt::format("'{}' has no rank {}", reader.path().string(), rank), "choose another rank");
  }

  void tick() const {
    if (stop_ && stop_()) throw ComparisonStopped();
  }

  // ---- compiles

  void frame(const std::string& key) {
    tick();
    static const std::vector<CompileRecord> none;
    const auto x = view_a_.frames.find(key), y = view_b_.frames.find(key);
    const auto& first = x == view_a_.frames.end() ? none : x->second;
    const auto& second = y == view_b_.frames.end() ? none : y->second;
    RankFrame f;
    f.frame = key;
    f.compiles_a = static_cast<int>(first.size());
    f.compiles_b = static_cast<int>(second.size());
    for (const auto& c : first) f.ns_a += static_cast<double>(std::max<std::int64_t>(c.duration_ns, 0));
    for (const auto& c : second) f.ns_b += static_cast<double>(std::max<std::int64_t>(c.duration_ns, 0));
    if (!first.empty()) f.compile_a = first.front().id;
    if (!second.empty()) f.compile_b = second.front().id;
    f.differs = difference(first, second, f);
    out_.frames.push_back(std::move(f));
  }

  std::string difference(const std::vector<CompileRecord>& first, const std::vector<CompileRecord>& second,
                         RankFrame& f) {
    for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
      const std::string text = difference(first[i], second[i]);
      if (text.empty()) continue;
      f.compile_a = first[i].id;
      f.compile_b = second[i].id;
      return i == 0 ? text : fmt::format("compile {}: {}", i, text);
    }
    if (first.size() == second.size()) return {};
    const bool more = first.size() > second.size();
    const auto& longer = more ? first : second;
    const CompileRecord& extra = longer[std::min(first.size(), second.size())];
    (more ? f.compile_a : f.compile_b) = extra.id;
    const std::string who = fmt::format("rank {}", more ? out_.rank_a : out_.rank_b);
    if (std::min(first.size(), second.size()) == 0) return "compiled on " + who + " only";
    return fmt::format("compiled more often on {}{}", who, extra.cause.empty() ? "" : ": " + extra.cause);
  }

  std::string difference(const CompileRecord& x, const CompileRecord& y) {
    if (x.outcome != y.outcome) return fmt::format("outcome: {} and {}", x.outcome, y.outcome);
    const auto first = lines(a_, x.id), second = lines(b_, y.id);
    if (first != second) {
      if (first.size() != second.size()) return fmt::format("graph: {} and {} nodes", first.size(), second.size());
      size_t at = 0;
      while (first[at] == second[at]) ++at;
      return fmt::format("graph: {} and {}", first[at], second[at]);
    }
    const auto guards = guards_of(a_, x.id), others = guards_of(b_, y.id);
    std::vector<std::string> only;
    std::set_symmetric_difference(guards.begin(), guards.end(), others.begin(), others.end(), std::back_inserter(only));
    return only.empty() ? std::string() : fmt::format("{} guards differ: {}", only.size(), only.front());
  }

  static std::vector<std::string> lines(Reader& reader, Id compile) {
    for (const SnapshotRecord& s : reader.snapshots(compile))
      if (s.kind == SnapshotKind::Graph) return profiler::graph_lines(reader.nodes(s.id));
    return {};
  }
  static std::multiset<std::string> guards_of(Reader& reader, Id compile) {
    std::multiset<std::string> guards;
    for (const GuardRecord& g : reader.guards(compile)) guards.insert(profiler::comparable(g.expression));
    return guards;
  }

  // ---- collectives

  using Key = std::tuple<std::string, std::int64_t, std::string, int>;

  /// Calls by group, number and name; those without a number by how many of that name came before.
  static std::map<Key, CollectiveCall> numbered(const std::vector<CollectiveCall>& calls) {
    std::map<Key, CollectiveCall> out;
    std::map<std::tuple<std::string, std::int64_t, std::string>, int> seen;
    for (const CollectiveCall& call : calls)
      out.emplace(Key{call.group, call.sequence, call.name, seen[{call.group, call.sequence, call.name}]++}, call);
    return out;
  }

  /// The rank with the process that was profiled: logs and profiles may be of two runs of the program.
  RankView profiled(Reader& reader, RankView view) {
    std::set<Id> processes;
    for (const RunRecord& run : reader.runs())
      if (run.label == "profile") processes.insert(run.process);
    if (processes.contains(view.process)) return view;
    for (const ProcessRecord& p : view.claimants)
      if (processes.contains(p.id)) {
        view.process = p.id;
        out_.notes.push_back(fmt::format("the profile of rank {} is of another process than its compiles", view.rank));
        break;
      }
    return view;
  }

  /// Of both ranks at once where they are in one trace: then all are of one kind, host or device.
  std::pair<profiler::CollectiveCalls, profiler::CollectiveCalls> calls() {
    tick();
    const RankView first = profiled(a_, view_a_), second = profiled(b_, view_b_);
    if (&a_ == &b_) {
      auto both = profiler::collective_calls(a_, {first, second});
      return {both, both};
    }
    auto of_a = profiler::collective_calls(a_, {first});
    tick();
    return {std::move(of_a), profiler::collective_calls(b_, {second})};
  }

  void collectives() {
    auto [calls_a, calls_b] = calls();
    const auto first = numbered(calls_a[out_.rank_a]), second = numbered(calls_b[out_.rank_b]);
    if (first.empty() && second.empty()) {
      out_.notes.push_back("no profile of these ranks shows collectives");
      return;
    }
    std::int64_t begin = INT64_MAX, end = INT64_MIN;
    for (const auto& [key, x] : first) {
      const auto y = second.find(key);
      if (y == second.end()) {
        ++out_.only_a;
        continue;
      }
      begin = std::min(begin, x.start);
      end = std::max(end, x.end);
      add(x, y->second);
    }
    out_.only_b = second.size() - (first.size() - out_.only_a);
    out_.span = end > begin ? static_cast<double>(end) - static_cast<double>(begin) : 0;
    std::stable_sort(out_.collectives.begin(), out_.collectives.end(),
                     [](const RankCollective& x, const RankCollective& y) {
                       return std::max(x.wait_a, x.wait_b) > std::max(y.wait_a, y.wait_b);
                     });
  }

  /// A collective ends everywhere at once, whatever the clocks say: who was in it longer came earlier.
  void add(const CollectiveCall& x, const CollectiveCall& y) {
    RankCollective c;
    c.name = x.name;
    c.group = x.group;
    c.sequence = x.sequence;
    c.ns_a = static_cast<double>(x.end) - static_cast<double>(x.start);
    c.ns_b = static_cast<double>(y.end) - static_cast<double>(y.start);
    c.wait_a = std::max(0.0, c.ns_a - c.ns_b);
    c.wait_b = std::max(0.0, c.ns_b - c.ns_a);
    out_.wait_a += c.wait_a;
    out_.wait_b += c.wait_b;
    out_.collectives.push_back(std::move(c));
  }

  Reader &a_, &b_;
  const std::function<bool()>& stop_;
  RankView view_a_, view_b_;
  RankComparison out_;
};

QString ns_text(double ns) { return qt(draw::format_time(ns)); }

}  // namespace

RankComparison compare_ranks(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop) {
  return Comparer(a, b, stop).compare();
}

QString rank_verdict(const RankComparison& c) {
  QStringList parts;
  const auto differing =
      std::count_if(c.frames.begin(), c.frames.end(), [](const auto& f) { return !f.differs.empty(); });
  parts << (c.frames.empty() ? QString("nothing was compiled")
            : differing == 0 ? QString("both ranks compiled the same")
                             : QString("%1 of %2 functions differ").arg(differing).arg(c.frames.size()));
  if (!c.frames.empty()) parts << QString("compile time %1 and %2").arg(ns_text(c.compile_a), ns_text(c.compile_b));
  if (!c.collectives.empty()) {
    const bool a_waits = c.wait_a > c.wait_b;
    QString waits = QString("in %1 collectives rank %2 waited %3 for rank %4")
                        .arg(c.collectives.size())
                        .arg(a_waits ? c.rank_a : c.rank_b)
                        .arg(ns_text(std::max(c.wait_a, c.wait_b)))
                        .arg(a_waits ? c.rank_b : c.rank_a);
    if (std::min(c.wait_a, c.wait_b) > 0) waits += ", which waited " + ns_text(std::min(c.wait_a, c.wait_b));
    parts << waits;
  }
  if (c.only_a + c.only_b > 0) parts << QString("%1 collectives on one rank only").arg(c.only_a + c.only_b);
  return parts.join("; ");
}

QStringList rank_frame_headers() { return {"Function", "Compiles A", "Compiles B", "Time A", "Time B", "Difference"}; }

std::vector<TableRow> rank_frame_rows(const RankComparison& c) {
  std::vector<TableRow> rows;
  for (const RankFrame& f : c.frames) {
    TableRow row;
    row.cells = {{qt(f.frame.substr(f.frame.rfind('/') + 1)), {}, qt(f.frame)},
                 {f.compiles_a ? QString::number(f.compiles_a) : "–", f.compiles_a},
                 {f.compiles_b ? QString::number(f.compiles_b) : "–", f.compiles_b},
                 {f.compiles_a ? ns_text(f.ns_a) : "–", f.ns_a},
                 {f.compiles_b ? ns_text(f.ns_b) : "–", f.ns_b},
                 {f.differs.empty() ? "the same" : qt(f.differs), {}, qt(f.differs)}};
    row.mark = f.differs.empty() ? "" : "changed";
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList collective_headers() { return {"Collective", "Group", "Number", "Time A", "Time B", "Waits A", "Waits B"}; }

std::vector<TableRow> collective_rows(const RankComparison& c) {
  std::vector<TableRow> rows;
  for (const RankCollective& x : c.collectives) {
    TableRow row;
    const auto wait = [](double ns) { return TableCell{ns > 0 ? ns_text(ns) : "–", ns}; };
    row.cells = {{qt(x.name)},
                 {qt(x.group)},
                 {x.sequence < 0 ? QString() : QString::number(x.sequence), static_cast<qlonglong>(x.sequence)},
                 {ns_text(x.ns_a), x.ns_a},
                 {ns_text(x.ns_b), x.ns_b},
                 wait(x.wait_a),
                 wait(x.wait_b)};
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::studio
