// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "core/support/clamped.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "profiler/rank_collectives.h"
#include "profiler/rank_view.h"

namespace strata::profiler {
namespace {

using Severity = trace::DiagnosticRecord::Severity;
using Lines = std::vector<std::string>;

constexpr size_t kMostLines = 8;  ///< of a list in a finding

std::string milliseconds(std::int64_t ns) { return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6); }

/// `2 times`, `once`.
std::string often(size_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

std::string indented(const Lines& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kMostLines) text += fmt::format("  ... {} more\n", lines.size() - kMostLines);
  return text;
}

/// Compares what ranks did.
class Finder {
 public:
  explicit Finder(trace::Reader& reader) : reader_(reader), ranks_(rank_views(reader)) {}

  std::vector<trace::DiagnosticRecord> find() {
    duplicates();
    missing();
    if (ranks_.size() > 1) {
      frames();
      compile_times();
      collectives();
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.severity > b.severity; });
    return std::move(found_);
  }

 private:
  void add(Severity severity, std::string title, std::string detail, std::string hint, std::int64_t rank,
           trace::Id compile = trace::kNone, std::int64_t cost = -1) {
    trace::DiagnosticRecord d;
    d.severity = severity;
    d.kind = "rank";
    d.title = std::move(title);
    d.detail = std::move(detail);
    d.hint = std::move(hint);
    d.compile = compile;
    d.cost_ns = cost;
    for (const auto& r : ranks_)
      if (r.rank == rank) d.process = r.process;
    found_.push_back(std::move(d));
  }

  // ---- which ranks there are

  void duplicates() {
    for (const auto& r : ranks_) {
      if (r.claimants.size() < 2) continue;
      Lines lines;
      for (const auto& p : r.claimants) {
        std::string files;
        for (const auto& in : reader_.inputs())
          if (in.process == p.id) files += (files.empty() ? "" : ", ") + in.path;
        lines.push_back(fmt::format("process {}: {}", p.pid, files.empty() ? "no file of its own" : files));
      }
      add(Severity::Warning,
          fmt::format("{} processes say that they are rank {}: what is compared is the last, process {}",
                      r.claimants.size(), r.rank, r.claimants.back().pid),
          indented(lines), "import the files of one run only: logs of an earlier run may have stayed in the folder",
          r.rank);
    }
  }

  std::int64_t world_size() {
    double size = 0;
    for (const auto& m : reader_.metrics())
      if (m.key == "world_size" && m.value < 1e7) size = std::max(size, m.value);
    return static_cast<std::int64_t>(size);
  }

  void missing() {
    if (ranks_.empty()) return;
    const std::int64_t said = world_size();
    const std::int64_t last = std::max(said - 1, ranks_.back().rank);
    std::vector<std::int64_t> lost;
    size_t at = 0;
    for (std::int64_t rank = 0; rank <= last && lost.size() < 100000; ++rank) {
      while (at < ranks_.size() && ranks_[at].rank < rank) ++at;
      if (at == ranks_.size() || ranks_[at].rank != rank) lost.push_back(rank);
    }
    if (lost.empty()) return;
    add(Severity::Warning, fmt::format("nothing of {} was imported", ranks_text(lost)),
        said > 0 ? fmt::format("the profiles say that there are {} ranks", said)
                 : fmt::format("the highest rank is {}", last),
        "import the logs and profiles of all ranks, or leave it if these are enough", ranks_.front().rank);
  }

  // ---- frames and compiles

  void frames() {
    std::set<std::string> keys;
    for (const auto& r : ranks_)
      for (const auto& [key, compiles] : r.frames) keys.insert(key);
    if (std::all_of(ranks_.begin(), ranks_.end(), [](const auto& r) { return r.frames.empty(); })) return;
    for (const std::string& key : keys) frame(key);
    breaks();
  }

  const std::vector<trace::CompileRecord>& compiles(const RankView& r, const std::string& key) const {
    static const std::vector<trace::CompileRecord> none;
    const auto found = r.frames.find(key);
    return found == r.frames.end() ? none : found->second;
  }

  void frame(const std::string& key) {
    std::map<std::int64_t, size_t> counts;
    for (const auto& r : ranks_)
      if (!r.frames.empty()) counts[r.rank] = compiles(r, key).size();
    const auto groups = grouped(counts);
    for (size_t i = 1; i < groups.list.size(); ++i) other_count(key, groups.list[0], groups.list[i]);
    size_t most = 0;
    for (const auto& [rank, n] : counts) most = std::max(most, n);
    for (size_t k = 0; k < most; ++k) compile(key, k);
  }

  using CountGroup = std::pair<size_t, std::vector<std::int64_t>>;

  void other_count(const std::string& key, const CountGroup& rule, const CountGroup& other) {
    const std::int64_t rank = other.second.front();
    const RankView& view = view_of(rank);
    if (other.first == 0 || rule.first == 0) {
      const bool only = other.first > 0;
      add(Severity::Warning,
          fmt::format("{} was compiled on {} only", key, ranks_text(only ? other.second : rule.second)),
          fmt::format("not on {}", ranks_text(only ? rule.second : other.second)),
          "the ranks run different code: look for branches on the rank or on data", rank,
          only ? compiles(view, key).front().id : trace::kNone, only ? cost(view, key, 0) : -1);
      return;
    }
    const bool more = other.first > rule.first;
    const RankView& longer = more ? view : view_of(rule.second.front());
    const std::int64_t extra = cost(longer, key, std::min(other.first, rule.first));
    add(Severity::Warning,
        fmt::format("{} was compiled {} on {}, {} on {}", key, often(other.first), ranks_text(other.second),
                    often(rule.first), ranks_text(rule.second)),
        indented(reasons(longer, key)),
        "ranks that recompile keep the others waiting: make the failing guard hold on "
        "all ranks, e.g. mark the dimension dynamic or pad to one size",
        longer.rank, compiles(longer, key).back().id, extra);
  }

  const RankView& view_of(std::int64_t rank) const {
    return *std::find_if(ranks_.begin(), ranks_.end(), [rank](const auto& r) { return r.rank == rank; });
  }

  std::int64_t cost(const RankView& r, const std::string& key, size_t from) const {
    std::int64_t sum = 0;
    const auto& list = compiles(r, key);
    for (size_t i = from; i < list.size(); ++i) sum = add_clamped(sum, std::max<std::int64_t>(list[i].duration_ns, 0));
    return sum;
  }

  /// Why a rank compiled a frame again.
  Lines reasons(const RankView& r, const std::string& key) {
    Lines lines;
    for (const auto& c : compiles(r, key)) {
      std::string why = c.cause;
      for (const auto& again : reader_.recompiles())
        if (again.compile == c.id && !again.reason.empty()) why = again.reason;
      if (!why.empty()) lines.push_back(fmt::format("rank {}, {}: {}", r.rank, c.address, why));
    }
    return lines;
  }

  /// One compile of a frame on all ranks that have it.
  void compile(const std::string& key, size_t k) {
    std::map<std::int64_t, trace::CompileRecord> of_rank;
    for (const auto& r : ranks_)
      if (k < compiles(r, key).size()) of_rank[r.rank] = compiles(r, key)[k];
    if (of_rank.size() < 2) return;
    const std::string name = k == 0 ? key : fmt::format("{} (compile {})", key, k);
    outcomes(name, of_rank);
    // Other inputs make other graphs, guards and symbols: the first of these that differs explains the rest.
    if (!graphs(name, of_rank)) guards(name, of_rank);
    symbols(name, of_rank);
    caches(name, of_rank);
    schedules(name, of_rank);
  }

  using ByRank = std::map<std::int64_t, trace::CompileRecord>;

  void outcomes(const std::string& name, const ByRank& of_rank) {
    std::map<std::int64_t, std::string> values;
    for (const auto& [rank, c] : of_rank) values[rank] = c.outcome == "failed" ? "failed" : "was compiled";
    const auto groups = grouped(values);
    for (size_t i = 1; i < groups.list.size(); ++i) {
      const auto& [what, ranks] = groups.list[i];
      const auto& c = of_rank.at(what == "failed" ? ranks.front() : groups.list[0].second.front());
      add(Severity::Error,
          fmt::format("{} {} on {}, but {} on {}", name, what, ranks_text(ranks), groups.list[0].first,
                      ranks_text(groups.list[0].second)),
          c.error, "the rank that fails runs eager, or stops while others wait for it", ranks.front(), c.id);
    }
  }

  // ---- graphs

  static bool is_post_grad(const trace::SnapshotRecord& s) {
    return s.stage.starts_with("simplified:") && s.stage.ends_with(".after");
  }

  /// Graphs of a stage, one after another.
  Lines lines_of(trace::Id compile, const std::function<bool(const trace::SnapshotRecord&)>& stage) {
    Lines lines;
    for (const auto& s : reader_.snapshots(compile)) {
      if (s.kind != trace::SnapshotKind::Graph || !stage(s)) continue;
      const Lines more = graph_lines(reader_.nodes(s.id));
      lines.insert(lines.end(), more.begin(), more.end());
    }
    return lines;
  }

  bool graphs(const std::string& name, const ByRank& of_rank) {
    const auto captured = [](const trace::SnapshotRecord& s) { return s.stage == "captured"; };
    return graphs_of(name, "captured graph", of_rank, captured) ||
           graphs_of(name, "graph after simplification", of_rank, is_post_grad);
  }

  bool graphs_of(const std::string& name, const std::string& what, const ByRank& of_rank,
                 const std::function<bool(const trace::SnapshotRecord&)>& stage) {
    std::map<std::int64_t, Lines> values;
    for (const auto& [rank, c] : of_rank) values[rank] = lines_of(c.id, stage);
    // A rank whose log lacks the stage (a cache hit) says nothing about it.
    std::erase_if(values, [](const auto& v) { return v.second.empty(); });
    const auto groups = grouped(values);
    for (size_t i = 1; i < groups.list.size(); ++i) {
      const auto& [lines, ranks] = groups.list[i];
      const auto& [rule, most] = groups.list[0];
      add(Severity::Warning,
          fmt::format("the {} of {} is another on {} than on {}{}", what, name, ranks_text(ranks), ranks_text(most),
                      only_shapes(rule, lines) ? ": same operators, other shapes" : ""),
          difference(rule, lines, most.front(), ranks.front()),
          only_shapes(rule, lines)
              ? "inputs differ in size between ranks: pad them, or mark the dimension dynamic"
              : "the ranks run different code: look for branches on the rank, on data or on the environment",
          ranks.front(), of_rank.at(ranks.front()).id);
    }
    return groups.differ();
  }

  static std::string without_type(const std::string& line) { return line.substr(0, line.rfind(") : ")); }

  static bool only_shapes(const Lines& a, const Lines& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
             return without_type(x).substr(0, x.find('(')) == without_type(y).substr(0, y.find('('));
           });
  }

  static std::string difference(const Lines& a, const Lines& b, std::int64_t rank_a, std::int64_t rank_b) {
    std::string text = a.size() == b.size()
                           ? fmt::format("both have {} nodes\n", a.size())
                           : fmt::format("rank {} has {} nodes, rank {} has {}\n", rank_a, a.size(), rank_b, b.size());
    const size_t n = std::min(a.size(), b.size());
    size_t i = 0;
    while (i < n && a[i] == b[i]) ++i;
    const auto line = [i](const Lines& l) { return i < l.size() ? l[i] : std::string("(end)"); };
    return text + fmt::format("first difference at node {}:\n  rank {}: {}\n  rank {}: {}\n", i, rank_a, line(a),
                              rank_b, line(b));
  }

  // ---- sets that should be the same

  void guards(const std::string& name, const ByRank& of_rank) {
    std::map<std::int64_t, std::set<std::string>> values;
    for (const auto& [rank, c] : of_rank)
      for (const auto& g : reader_.guards(c.id)) values[rank].insert(comparable(g.expression));
    if (values.size() != of_rank.size()) return;  // some logs have no guards at all: nothing can be said
    sets(values, of_rank, fmt::format("guards of {}", name),
         "a guard that only some ranks have recompiles only there: see which input or global it looks at");
  }

  void symbols(const std::string& name, const ByRank& of_rank) {
    std::map<std::int64_t, std::set<std::string>> values;
    bool any = false;
    for (const auto& [rank, c] : of_rank) {
      values[rank];
      for (const auto& s : reader_.symbols(c.id)) {
        values[rank].insert(fmt::format("{} is dynamic", s.origin.empty() ? s.name : s.origin));
        any = true;
      }
      for (const auto& a : reader_.assumptions(c.id))
        if (a.kind == "specialized") values[rank].insert("specialized: " + comparable(a.expression)), any = true;
    }
    if (any)
      sets(values, of_rank, fmt::format("dynamic dimensions of {}", name),
           "a dimension that is fixed on some ranks recompiles there when it changes: mark it dynamic on all");
  }

  void sets(const std::map<std::int64_t, std::set<std::string>>& values, const ByRank& of_rank, const std::string& what,
            const std::string& hint) {
    const auto groups = grouped(values);
    for (size_t i = 1; i < groups.list.size(); ++i) {
      const auto& [mine, ranks] = groups.list[i];
      const auto& [rule, most] = groups.list[0];
      Lines more, fewer;
      std::set_difference(mine.begin(), mine.end(), rule.begin(), rule.end(), std::back_inserter(more));
      std::set_difference(rule.begin(), rule.end(), mine.begin(), mine.end(), std::back_inserter(fewer));
      std::string detail;
      if (!more.empty()) detail += fmt::format("only on {}:\n{}", ranks_text(ranks), indented(more));
      if (!fewer.empty()) detail += fmt::format("not on {}:\n{}", ranks_text(ranks), indented(fewer));
      add(Severity::Warning, fmt::format("the {} differ on {} from {}", what, ranks_text(ranks), ranks_text(most)),
          detail, hint, ranks.front(), of_rank.at(ranks.front()).id);
    }
  }

  void caches(const std::string& name, const ByRank& of_rank) {
    std::map<std::int64_t, Lines> values;
    bool any = false;
    for (const auto& [rank, c] : of_rank) {
      values[rank];
      for (const auto& d : diagnostics())
        if (d.compile == c.id && d.kind.starts_with("cache-")) values[rank].push_back(d.kind), any = true;
    }
    const auto groups = grouped(values);
    for (size_t i = 1; any && i < groups.list.size(); ++i)
      add(Severity::Info,
          fmt::format("caches served {} otherwise on {} than on {}", name, ranks_text(groups.list[i].second),
                      ranks_text(groups.list[0].second)),
          fmt::format("{}: {}\n{}: {}\n", ranks_text(groups.list[0].second), words(groups.list[0].first),
                      ranks_text(groups.list[i].second), words(groups.list[i].first)),
          "ranks that miss compile while the others wait: share the cache folder, or warm it up on every host",
          groups.list[i].second.front(), of_rank.at(groups.list[i].second.front()).id);
  }

  static std::string words(const Lines& list) {
    std::string text;
    for (const auto& w : list) text += (text.empty() ? "" : ", ") + w;
    return text.empty() ? "nothing recorded" : text;
  }

  const std::vector<trace::DiagnosticRecord>& diagnostics() {
    if (!diagnostics_) diagnostics_ = reader_.diagnostics();
    return *diagnostics_;
  }

  void schedules(const std::string& name, const ByRank& of_rank) {
    std::map<std::int64_t, Lines> values;
    for (const auto& [rank, c] : of_rank) {
      Lines lines = schedule(c.id);
      if (!lines.empty()) values[rank] = std::move(lines);
    }
    if (values.empty()) return;
    for (const auto& [rank, c] : of_rank) values[rank];  // none is a schedule, too
    const auto groups = grouped(values);
    for (size_t i = 1; i < groups.list.size(); ++i)
      add(Severity::Error,
          fmt::format("the collectives of {} are in another order on {} than on {}", name,
                      ranks_text(groups.list[i].second), ranks_text(groups.list[0].second)),
          difference(groups.list[0].first, groups.list[i].first, groups.list[0].second.front(),
                     groups.list[i].second.front()),
          "collectives must be issued in one order on all ranks: this hangs or mixes up data",
          groups.list[i].second.front(), of_rank.at(groups.list[i].second.front()).id);
  }

  Lines schedule(trace::Id compile) {
    Lines lines;
    for (const auto& a : reader_.artifacts_of_compile(compile)) {
      if (a.name != "inductor_collective_schedule" && a.kind != "inductor_collective_schedule") continue;
      const auto full = reader_.artifact(a.id);
      if (!full) continue;
      try {
        const Json list = parse_json(full->content, a.name);
        for (const Json& item : list.array())
          if (const auto* text = item.as<std::string>()) lines.push_back(*text);
      } catch (const std::exception&) {
        lines.push_back(full->content);  // not the list it should be: still comparable
      }
    }
    return lines;
  }

  // ---- graph breaks

  void breaks() {
    std::map<std::int64_t, std::set<std::string>> values;
    ByRank any_compile;
    for (const auto& r : ranks_) {
      if (r.frames.empty()) continue;
      values[r.rank];
      any_compile[r.rank] = trace::CompileRecord();
    }
    for (const auto& b : reader_.graph_breaks())
      for (const auto& r : ranks_)
        if (b.process == r.process && values.contains(r.rank)) values[r.rank].insert(break_text(b));
    if (values.size() > 1)
      sets(values, any_compile, "graph breaks", "a rank that breaks elsewhere runs other graphs: see the reason");
  }

  std::string break_text(const trace::GraphBreakRecord& b) {
    std::string where;
    const auto stack = reader_.stack(b.stack);
    if (!stack.empty()) where = fmt::format(" at {}:{}", stack.back().file, stack.back().line);
    const std::string what = b.kind.empty() ? b.reason.substr(0, b.reason.find('\n')) : b.kind;
    return comparable(what) + where;
  }

  // ---- time

  void compile_times() {
    std::vector<std::int64_t> times;
    for (const auto& r : ranks_)
      if (r.compile_ns > 0) times.push_back(r.compile_ns);
    if (times.size() < 2) return;
    std::sort(times.begin(), times.end());
    const std::int64_t usual = times[(times.size() - 1) / 2];
    for (const auto& r : ranks_) {
      const std::int64_t more = r.compile_ns - usual;
      // Less than a fifth, or half a second, comes and goes with the machine.
      if (more < usual / 5 || more < 500'000'000) continue;
      add(Severity::Warning,
          fmt::format("rank {} compiles {} longer than others ({} against {})", r.rank, milliseconds(more),
                      milliseconds(r.compile_ns), milliseconds(usual)),
          indented(slow_frames(r)), "the others wait for it at the next collective", r.rank, trace::kNone, more);
    }
  }

  /// Frames by how much longer this rank compiled them than the fastest.
  Lines slow_frames(const RankView& r) const {
    std::vector<std::pair<std::int64_t, std::string>> list;
    for (const auto& [key, mine] : r.frames) {
      std::int64_t least = cost(r, key, 0);
      const std::int64_t own = least;
      for (const auto& other : ranks_) least = std::min(least, cost(other, key, 0));
      if (own > least) list.emplace_back(own - least, key);
    }
    std::sort(list.rbegin(), list.rend());
    Lines lines;
    for (const auto& [more, key] : list) lines.push_back(fmt::format("{}: {} longer", key, milliseconds(more)));
    return lines;
  }

  // ---- collectives of profiles

  void collectives() {
    const CollectiveCalls calls = collective_calls(reader_, ranks_);
    if (calls.size() < 2) return;
    numbers(calls);
    const CollectiveWaits waits = collective_waits(calls);
    if (waits.compared == 0) return;
    const auto worst = std::max_element(waits.caused.begin(), waits.caused.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    Lines lines;
    for (const auto& [rank, waited] : waits.waited)
      lines.push_back(fmt::format("rank {}: waited {}, arrived last in {} of {}", rank, milliseconds(waited),
                                  waits.last.contains(rank) ? waits.last.at(rank) : 0, waits.compared));
    std::string detail = indented(lines);
    if (waits.longest_wait > 0)
      detail += fmt::format("longest: {} for rank {} in {}\n", milliseconds(waits.longest_wait), waits.longest_for,
                            waits.longest_name);
    const std::int64_t most = longest_wait(waits);
    // Below a twentieth of the time it is no more than the noise of launching.
    const bool matters = waits.span > 0 && most > waits.span / 20;
    add(matters ? Severity::Warning : Severity::Info,
        matters ? fmt::format("others wait {} for rank {} in collectives, of {} between the first and the last",
                              milliseconds(most), worst->first, milliseconds(waits.span))
                : fmt::format("ranks arrive together in {} collectives", waits.compared),
        detail, matters ? "look at what that rank does before: more data, a recompile, a slower device or host" : "",
        worst == waits.caused.end() ? ranks_.front().rank : worst->first, trace::kNone, most);
  }

  static std::int64_t longest_wait(const CollectiveWaits& waits) {
    std::int64_t most = 0;
    for (const auto& [rank, waited] : waits.waited) most = std::max(most, waited);
    return most;
  }

  void numbers(const CollectiveCalls& calls) {
    std::map<std::int64_t, Lines> values;
    for (const auto& [rank, list] : calls) {
      std::map<std::string, size_t> counts;
      for (const auto& c : list) ++counts[c.name];
      for (const auto& [name, n] : counts) values[rank].push_back(fmt::format("{} {}", name, often(n)));
    }
    const auto groups = grouped(values);
    for (size_t i = 1; i < groups.list.size(); ++i)
      add(Severity::Warning,
          fmt::format("the profiles of {} show other collectives than {}", ranks_text(groups.list[i].second),
                      ranks_text(groups.list[0].second)),
          fmt::format("{}: {}\n{}: {}\n", ranks_text(groups.list[0].second), words(groups.list[0].first),
                      ranks_text(groups.list[i].second), words(groups.list[i].first)),
          "profile the same steps on all ranks; if they are the same, ranks issue different collectives",
          groups.list[i].second.front());
  }

  trace::Reader& reader_;
  std::vector<RankView> ranks_;
  std::optional<std::vector<trace::DiagnosticRecord>> diagnostics_;
  std::vector<trace::DiagnosticRecord> found_;
};

}  // namespace

std::vector<trace::DiagnosticRecord> find_rank_differences(trace::Reader& reader) { return Finder(reader).find(); }

std::size_t diagnose_ranks(trace::Reader& reader, trace::Writer& writer) {
  const auto found = find_rank_differences(reader);
  for (const auto& d : found) writer.add(d);
  return found.size();
}

}  // namespace strata::profiler
