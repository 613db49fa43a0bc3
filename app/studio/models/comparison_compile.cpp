// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison_compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/explain/explain.h"
#include "app/studio/models/comparison_graph.h"
#include "app/studio/models/lists.h"
#include "app/studio/models/overview.h"
#include "core/support/error.h"
#include "profiler/rank_view.h"

namespace strata::studio {

using namespace trace;

namespace {

using Section = CompileDifference::Section;

constexpr size_t kMostGraphRows = 30;
constexpr size_t kMostPhases = 10;

std::string plain_time(double ns) { return ns < 0 ? std::string() : draw::format_time(ns); }

std::string range_text(const SymbolRecord& s) {
  std::string text = s.name;
  if (s.hint) text += fmt::format(", here {}", *s.hint);
  if (s.min || s.max)
    text += fmt::format(", {} to {}", s.min ? std::to_string(*s.min) : "any", s.max ? std::to_string(*s.max) : "any");
  return text;
}

/// The parts of `f(a, b=[1, 2])`: what stands before the bracket, then what commas part.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'' || c == '"') quoted = !quoted;
    const bool outer = !quoted && depth <= 1;
    if (!quoted && (c == '(' || c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ')' || c == ']' || c == '}')) --depth;
    if (outer && (c == ',' || (c == '(' && depth == 1)))
      parts.emplace_back();
    else if (!(c == ' ' && parts.back().empty()))
      parts.back() += c;
  }
  return parts;
}

/// Reads everything of one compile that is compared.
struct Side {
  Side(const CompareSide& side) : reader(*side.reader), choice(*side.compile), id(side.compile->record.id) {
    guards = reader.guards(id);
    symbols = reader.symbols(id);
    assumptions = reader.assumptions(id);
    kernels = reader.kernels(id);
    try {
      explained = explain(reader, choice.record.address);
    } catch (const Error&) {
      // An address that the explanation does not know: there is nothing to explain.
    }
  }
  std::optional<SourceLocation> line(Id stack) {
    return stack == kNone ? std::nullopt : user_line(reader.stack(stack));
  }
  const ExplainRecompile* recompile() const {
    return explained.recompile_list.empty() ? nullptr : &explained.recompile_list.front();
  }

  Reader& reader;
  const CompileChoice& choice;
  Id id;
  std::vector<GuardRecord> guards;
  std::vector<SymbolRecord> symbols;
  std::vector<AssumptionRecord> assumptions;
  std::vector<KernelRecord> kernels;
  Explanation explained;
};

class Comparer {
 public:
  Comparer(const CompareSide& a, const CompareSide& b, const std::function<bool()>& stop)
      : side_a_(a), side_b_(b), stop_(stop), a_(a), b_(b) {}

  CompileComparison compare() {
    const CompileRecord &x = a_.choice.record, &y = b_.choice.record;
    out_.address_a = x.address, out_.address_b = y.address;
    out_.compile_a = x.id, out_.compile_b = y.id;
    out_.duration_a = static_cast<double>(x.duration_ns), out_.duration_b = static_cast<double>(y.duration_ns);
    out_.one_frame = side_a_.reader == side_b_.reader ? a_.choice.frame == b_.choice.frame : x.name == y.name;
    why();
    if (x.outcome != y.outcome) row(Section::Outcome, "outcome", x.outcome, y.outcome);
    if (x.error != y.error) row(Section::Outcome, "error", x.error, y.error);
    sizes();
    guards();
    assumptions();
    tick();
    graphs();
    kernels();
    times();
    return std::move(out_);
  }

 private:
  void tick() const {
    if (stop_ && stop_()) throw ComparisonStopped();
  }

  CompileDifference& row(Section section, std::string what, std::string a, std::string b) {
    CompileDifference& d = out_.rows.emplace_back();
    d.section = section;
    d.what = std::move(what);
    d.a = std::move(a);
    d.b = std::move(b);
    return d;
  }
  static void place(CompileDifference& d, const std::optional<SourceLocation>& at) {
    if (at) d.file = at->file, d.line = at->line;
  }

  // ---- the guard that failed

  void why() {
    // Of two compiles of one trace the later one is there because a guard of an earlier one failed.
    for (const auto& [later, earlier] : {std::pair{&b_, &a_}, std::pair{&a_, &b_}})
      if (const ExplainRecompile* r = later->recompile()) reasons(*r, *later, *earlier);
  }

  void reasons(const ExplainRecompile& r, const Side& later, const Side& earlier) {
    const bool forward = &later == &b_;
    std::vector<ExplainReason> list = r.reasons;
    // The guard of the compile that it is compared with comes first.
    std::stable_partition(list.begin(), list.end(),
                          [&](const ExplainReason& reason) { return reason.of == earlier.choice.record.address; });
    for (const ExplainReason& reason : list) {
      const std::string expected = "expected " + reason.expected,
                        actual = "was " + reason.actual + (reason.inferred ? " (inferred)" : "");
      CompileDifference& d = row(Section::Why,
                                 fmt::format("{} compiled again: guard of {} failed: {}", later.choice.record.address,
                                             reason.of, reason.expression),
                                 forward ? expected : actual, forward ? actual : expected);
      if (reason.expected.empty()) (forward ? d.a : d.b).clear();
      if (reason.actual.empty()) (forward ? d.b : d.a).clear();
      d.file = reason.place.file;
      d.line = reason.place.line;
    }
    if (list.empty() || !out_.cause.empty()) return;
    const ExplainReason& first = list.front();
    out_.cause = fmt::format("{} was compiled because {}", later.choice.record.address, first.expression);
    if (!first.expected.empty() && !first.actual.empty())
      out_.cause += fmt::format(" (expected {}, was {})", first.expected, first.actual);
    out_.advice = r.advice;
  }

  // ---- sizes of inputs and symbols

  static std::map<std::string, NodeRecord> inputs_of(Side& side) {
    std::map<std::string, NodeRecord> inputs;
    if (!side.choice.graphs.empty())
      for (NodeRecord& n : side.reader.nodes(side.choice.graphs.front().id))
        if (n.op == "placeholder") inputs.emplace(n.name, std::move(n));
    return inputs;
  }

  void sizes() {
    const auto a = inputs_of(a_), b = inputs_of(b_);
    for (const auto& [name, x] : a) {
      const auto y = b.find(name);
      if (y != b.end() && x.type == y->second.type) continue;
      CompileDifference& d = row(Section::Sizes, "input " + name, x.type, y == b.end() ? "" : y->second.type);
      d.node_a = x.id;
      if (y == b.end()) continue;
      d.node_b = y->second.id;
      if (out_.sizes.empty()) out_.sizes = size_change(name, x, y->second);
    }
    for (const auto& [name, y] : b)
      if (!a.contains(name)) row(Section::Sizes, "input " + name, "", y.type).node_b = y.id;
    symbols();
  }

  /// `x: [8, 32] → [s77, 32]`, or of the whole type.
  static std::string size_change(const std::string& name, const NodeRecord& x, const NodeRecord& y) {
    if (x.shape == y.shape) return fmt::format("{}: {} → {}", name, x.type, y.type);
    return fmt::format("{}: {} → {}", name, x.shape, y.shape);
  }

  void symbols() {
    const auto key = [](const SymbolRecord& s) { return s.origin.empty() ? s.name : s.origin; };
    std::map<std::string, const SymbolRecord*> first, second;
    for (const SymbolRecord& s : a_.symbols) first.emplace(key(s), &s);
    for (const SymbolRecord& s : b_.symbols) second.emplace(key(s), &s);
    std::set<std::string> keys;
    for (const auto* list : {&first, &second})
      for (const auto& [name, s] : *list) keys.insert(name);
    for (const std::string& name : keys) {
      const auto x = first.find(name), y = second.find(name);
      const std::string from = x == first.end() ? "" : range_text(*x->second);
      const std::string to = y == second.end() ? "" : range_text(*y->second);
      if (from == to) continue;
      CompileDifference& d =
          row(Section::Sizes, "size " + name, from.empty() ? "fixed" : from, to.empty() ? "fixed" : to);
      place(d, y != second.end() ? b_.line(y->second->stack) : a_.line(x->second->stack));
    }
  }

  // ---- guards and assumptions

  static std::string guard_key(const GuardRecord& g) {
    return g.kind + '\n' + g.source + '\n' + profiler::comparable(g.expression);
  }

  void guards() {
    std::map<std::string, std::vector<const GuardRecord*>> open;
    for (const GuardRecord& g : b_.guards) open[guard_key(g)].push_back(&g);
    std::vector<const GuardRecord*> only_a, only_b;
    for (const GuardRecord& g : a_.guards) {
      auto& list = open[guard_key(g)];
      if (list.empty()) {
        only_a.push_back(&g);
        continue;
      }
      list.pop_back();
      ++out_.guards_same;
    }
    for (const GuardRecord& g : b_.guards)
      if (auto& list = open[guard_key(g)]; std::find(list.begin(), list.end(), &g) != list.end()) only_b.push_back(&g);
    changed_guards(only_a, only_b);
    for (const GuardRecord* g : only_a) guard_row(g, nullptr);
    for (const GuardRecord* g : only_b) guard_row(nullptr, g);
    out_.guards_a = static_cast<int>(only_a.size());
    out_.guards_b = static_cast<int>(only_b.size());
  }

  /// Guards of one kind on the same thing, that check another value.
  void changed_guards(std::vector<const GuardRecord*>& only_a, std::vector<const GuardRecord*>& only_b) {
    for (auto x = only_a.begin(); x != only_a.end();) {
      const auto y = std::find_if(only_b.begin(), only_b.end(), [&](const GuardRecord* g) {
        return g->kind == (*x)->kind && g->source == (*x)->source && !g->source.empty();
      });
      if (y == only_b.end()) {
        ++x;
        continue;
      }
      guard_row(*x, *y);
      ++out_.guards_changed;
      only_b.erase(y);
      x = only_a.erase(x);
    }
  }

  void guard_row(const GuardRecord* x, const GuardRecord* y) {
    const GuardRecord& g = x ? *x : *y;
    std::string from = x ? x->expression : "", to = y ? y->expression : "";
    if (x && y) std::tie(from, to) = differing_parts(from, to);
    CompileDifference& d =
        row(Section::Guards, g.source.empty() ? g.kind : fmt::format("{} on {}", g.kind, g.source), from, to);
    d.guard_a = x ? x->id : kNone;
    d.guard_b = y ? y->id : kNone;
    place(d, x ? a_.line(x->stack) : b_.line(y->stack));
  }

  void assumptions() {
    std::set<std::string> first, second;
    for (const AssumptionRecord& s : a_.assumptions) first.insert(s.expression);
    for (const AssumptionRecord& s : b_.assumptions) second.insert(s.expression);
    for (const AssumptionRecord& s : a_.assumptions)
      if (!second.contains(s.expression)) place(row(Section::Assumptions, s.kind, s.expression, ""), a_.line(s.stack));
    for (const AssumptionRecord& s : b_.assumptions)
      if (!first.contains(s.expression)) place(row(Section::Assumptions, s.kind, "", s.expression), b_.line(s.stack));
  }

  // ---- graphs

  void graphs() {
    if (a_.choice.graphs.empty() || b_.choice.graphs.empty()) {
      if (a_.choice.graphs.size() != b_.choice.graphs.size())
        row(Section::Graph, "graph", a_.choice.graphs.empty() ? "none" : "yes",
            b_.choice.graphs.empty() ? "none" : "yes");
      return;
    }
    graph(a_.choice.graphs.front(), b_.choice.graphs.front(), kMostGraphRows);
    const SnapshotRecord& last = a_.choice.graphs.back();
    for (const SnapshotRecord& s : b_.choice.graphs)
      if (s.stage == last.stage && last.id != a_.choice.graphs.front().id) graph(last, s, 0);
  }

  void graph(const SnapshotRecord& x, const SnapshotRecord& y, size_t most) {
    CompareSide first = side_a_, second = side_b_;
    first.snapshot = x.id, first.stage = x.stage;
    second.snapshot = y.id, second.stage = y.stage;
    const GraphComparison c = load_graph_comparison(first, second, stop_);
    const auto nodes = [](size_t n) { return fmt::format("{} node{}", n, n == 1 ? "" : "s"); };
    row(Section::Graph,
        fmt::format("{}: {} the same, {} changed, {} only in A, {} only in B", x.stage, c.same, c.changed, c.only_a,
                    c.only_b),
        nodes(c.a.size()), nodes(c.b.size()));
    for (size_t i = 0; i < std::min(most, c.differences.size()); ++i) {
      const GraphDifference& d = c.differences[i];
      const NodeRecord* m = d.a < 0 ? nullptr : &c.a[static_cast<size_t>(d.a)];
      const NodeRecord* n = d.b < 0 ? nullptr : &c.b[static_cast<size_t>(d.b)];
      const auto text = [](const NodeRecord& node) { return fmt::format("{} : {}", node.name, node.type); };
      CompileDifference& made =
          row(Section::Graph, d.reason.empty() ? (m ? m : n)->target : d.reason, m ? text(*m) : "", n ? text(*n) : "");
      made.node_a = m ? m->id : 0;
      made.node_b = n ? n->id : 0;
      place(made, m ? a_.line(m->stack) : b_.line(n->stack));
    }
    if (most > 0 && c.differences.size() > most)
      row(Section::Graph, fmt::format("… {} more: see the page Graph", c.differences.size() - most), "", "");
  }

  void kernels() {
    std::multimap<std::string, const KernelRecord*> open;
    for (const KernelRecord& k : b_.kernels) open.emplace(k.name, &k);
    std::vector<const KernelRecord*> only_a;
    for (const KernelRecord& k : a_.kernels) {
      const auto at = open.find(k.name);
      if (at == open.end())
        only_a.push_back(&k);
      else
        open.erase(at);
    }
    if (a_.kernels.size() != b_.kernels.size())
      row(Section::Kernels, "number of kernels", std::to_string(a_.kernels.size()), std::to_string(b_.kernels.size()));
    for (const KernelRecord* k : only_a) row(Section::Kernels, "only in A", k->name, "").kernel_a = k->id;
    for (const auto& [name, k] : open) row(Section::Kernels, "only in B", "", name).kernel_b = k->id;
  }

  void times() {
    row(Section::Time, "compile time", plain_time(out_.duration_a), plain_time(out_.duration_b));
    std::map<std::string, std::pair<double, double>> phases;
    for (const ExplainPhase& p : a_.explained.phases) phases[p.name].first = static_cast<double>(p.self_ns);
    for (const ExplainPhase& p : b_.explained.phases) phases[p.name].second = static_cast<double>(p.self_ns);
    if (phases.empty()) own_passes(phases);
    std::vector<std::pair<std::string, std::pair<double, double>>> list(phases.begin(), phases.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& x, const auto& y) {
      return std::abs(x.second.second - x.second.first) > std::abs(y.second.second - y.second.first);
    });
    for (size_t i = 0; i < std::min(kMostPhases, list.size()); ++i)
      row(Section::Time, list[i].first, plain_time(list[i].second.first), plain_time(list[i].second.second));
  }

  void own_passes(std::map<std::string, std::pair<double, double>>& phases) {
    for (const PassRecord& p : a_.reader.passes(a_.id))
      if (p.duration_ns > 0) phases["pass " + p.name].first += static_cast<double>(p.duration_ns);
    for (const PassRecord& p : b_.reader.passes(b_.id))
      if (p.duration_ns > 0) phases["pass " + p.name].second += static_cast<double>(p.duration_ns);
  }

  const CompareSide &side_a_, &side_b_;
  const std::function<bool()>& stop_;
  Side a_, b_;
  CompileComparison out_;
};

}  // namespace

std::pair<std::string, std::string> differing_parts(const std::string& a, const std::string& b) {
  const auto x = parts_of(a), y = parts_of(b);
  if (x.size() != y.size() || x.size() < 2 || x.front() != y.front()) return {a, b};
  std::string from, to;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    from += (from.empty() ? "" : ", ") + x[i];
    to += (to.empty() ? "" : ", ") + y[i];
  }
  return from.empty() ? std::pair{a, b} : std::pair{from, to};
}

CompileComparison compare_compiles_of_frame(const CompareSide& a, const CompareSide& b,
                                            const std::function<bool()>& stop) {
  if (!a.compile || !b.compile) throw_user("one side has no compile", "choose a compile on both sides");
  return Comparer(a, b, stop).compare();
}

QString compile_verdict(const CompileComparison& c) {
  QStringList parts;
  if (!c.one_frame) parts << "these are compiles of different functions";
  if (!c.cause.empty()) parts << qt(c.cause);
  if (!c.sizes.empty()) parts << qt(c.sizes);
  const int guards = c.guards_changed + c.guards_a + c.guards_b;
  parts << (guards == 0 ? QString("all %1 guards are the same").arg(c.guards_same)
                        : QString("%1 of %2 guards differ").arg(guards).arg(guards + c.guards_same));
  if (c.duration_a >= 0 && c.duration_b >= 0)
    parts << QString("compiled in %1 and %2").arg(qt(plain_time(c.duration_a)), qt(plain_time(c.duration_b)));
  return parts.join("; ");
}

QStringList compile_difference_headers() { return {"Part", "What", "In A", "In B", "Line"}; }

std::vector<TableRow> compile_difference_rows(const CompileComparison& c) {
  static const char* const sections[] = {"why",         "outcome", "sizes",   "guards",
                                         "assumptions", "graph",   "kernels", "time"};
  std::vector<TableRow> rows;
  for (const CompileDifference& d : c.rows) {
    TableRow row;
    const QString at =
        d.line > 0 ? qt(d.file.substr(d.file.rfind('/') + 1)) + ":" + QString::number(d.line) : QString();
    const QString none = "–";
    row.cells = {{sections[static_cast<int>(d.section)], static_cast<int>(d.section)},
                 {qt(d.what), {}, qt(d.what)},
                 {d.a.empty() ? none : qt(d.a), {}, qt(d.a)},
                 {d.b.empty() ? none : qt(d.b), {}, qt(d.b)},
                 {at, {}, qt(d.file)}};
    row.mark = d.section == CompileDifference::Section::Why ? "refused"
               : d.a.empty()                                ? "added"
               : d.b.empty()                                ? "removed"
                                                            : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::studio
