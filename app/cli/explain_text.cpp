// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/table.h"

namespace strata::cli {
namespace {

constexpr std::size_t kWidth = 110;
constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

std::string plural(std::int64_t n, std::string_view one, std::string_view many = {}) {
  return fmt::format("{} {}", n, n == 1 ? std::string(one) : many.empty() ? std::string(one) + "s" : std::string(many));
}

/// `0/1, 0/2 and 3 more`.
std::string list_text(const std::vector<std::string>& items, std::size_t most = 6) {
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) out += (i ? ", " : "") + items[i];
  if (items.size() > most) out += fmt::format(" and {} more", items.size() - most);
  return out;
}

std::string place_text(const ExplainPlace& p) {
  if (p.file.empty()) return "";
  std::string out = shortened(p.file, 60);
  if (p.line > 0) out += fmt::format(":{}", p.line);
  if (!p.function.empty()) out += fmt::format(" in {}", p.function);
  return out;
}

/// The beginning of a text on one line.
std::string brief(std::string_view text, std::size_t most) {
  std::string out(text.substr(0, text.find('\n')));
  if (out.size() <= most) return out;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  return out.substr(0, end) + "...";
}

/// Words broken into lines of at most kWidth, `first` before the first line and blanks of that length before others.
std::string wrapped(std::string_view text, const std::string& first) {
  const std::string blanks(first.size(), ' ');
  std::string out = first, line;
  const auto flush = [&] {
    out += line + "\n";
    line.clear();
  };
  bool fresh = true;
  const auto begin_line = [&] {
    if (!fresh) out += blanks;
    fresh = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!line.empty() && first.size() + line.size() + 1 + word.size() > kWidth) flush();
    if (!word.empty()) {
      if (line.empty()) begin_line();
      line += (line.empty() ? "" : " ") + std::string(word);
    }
    if (end < text.size() && text[end] == '\n' && !line.empty()) flush();
    at = end + 1;
  }
  if (!line.empty()) flush();
  return fresh ? std::string() : out;
}

class Text {
 public:
  Text(const Explanation& e, bool all) : e_(e), limit_(all ? kNoLimit : 12) {}

  std::string run() {
    summary();
    findings();
    tree();
    breaks();
    recompiles();
    opaque();
    notes("Left to PyTorch", {"left"});
    guards();
    symbols();
    notes("Errors", {"error"});
    notes("Limits", {"recompile-limit"});
    notes("CUDA graphs", {"cudagraph-skip"});
    caches();
    notes("Ranks", {"rank"});
    notes("Restarts", {"restart"});
    other_notes();
    time();
    return out_;
  }

 private:
  void head(const std::string& title) { out_ += fmt::format("\n{}\n{}\n", title, std::string(title.size(), '-')); }

  void more(std::size_t size) {
    if (size > limit_) out_ += fmt::format("  ... {} more (--all shows them)\n", size - limit_);
  }

  void code(const ExplainPlace& p, const std::string& indent) {
    if (!p.text.empty()) out_ += fmt::format("{}| {}\n", indent, brief(p.text, kWidth));
  }

  void summary() {
    if (!e_.producer.empty()) out_ += e_.producer + ": ";
    if (e_.processes > 0) out_ += plural(e_.processes, "process", "processes") + ", ";
    if (!e_.ranks.empty()) out_ += plural(static_cast<std::int64_t>(e_.ranks.size()), "rank") + ", ";
    out_ += fmt::format("{}, {}", plural(static_cast<std::int64_t>(e_.frames.size()), "function"),
                        plural(e_.compiles, "compile"));
    if (e_.attempts > e_.compiles) out_ += fmt::format(" in {}", plural(e_.attempts, "attempt"));
    if (e_.graphs > 0 || e_.compiles == 0) out_ += ", " + plural(e_.graphs, "graph");
    out_ += fmt::format(", {}, {}", plural(e_.breaks, "graph break"), plural(e_.recompiles, "recompile"));
    if (e_.compile_ns >= 0) out_ += fmt::format("; {} of compile time", time_text(static_cast<double>(e_.compile_ns)));
    out_ += "\n";
  }

  void findings() {
    if (e_.findings.empty()) {
      out_ += "\nNothing to mend: no graph breaks, no recompiles, no errors.\n";
      return;
    }
    head("What to fix first");
    std::size_t number = 0;
    for (const ExplainFinding& f : e_.findings) {
      if (number == limit_) break;
      out_ += wrapped(f.title + (f.count > 1 ? fmt::format(" ({} times)", f.count) : ""),
                      fmt::format("{:>3}. {:>10}  ", ++number, cost(f.cost_ns)));
      const std::string at = place_text(f.place), in = list_text(f.compiles);
      if (!at.empty() || !in.empty())
        out_ += fmt::format("                 {}{}{}\n", at, at.empty() || in.empty() ? "" : "   ",
                            in.empty() ? "" : "[" + in + "]");
      code(f.place, "                 ");
      out_ += wrapped(f.advice, "              -> ");
    }
    more(e_.findings.size());
  }

  static std::string cost(std::int64_t ns) { return ns < 0 ? "-" : time_text(static_cast<double>(ns)); }

  void tree() {
    if (e_.frames.empty()) return;
    head("Compiles");
    const bool ranks = e_.ranks.size() > 1;
    std::size_t shown = 0;
    for (const ExplainFrame& f : e_.frames) {
      if (shown++ == limit_) break;
      const std::string rank = ranks ? fmt::format("rank {}, ", f.rank) : "";
      const std::string at = place_text({f.place.file, f.place.line, "", ""});
      out_ += fmt::format("{}{}{}{}{}\n", rank,
                          f.place.function.empty() ? fmt::format("frame {}", f.number) : f.place.function,
                          at.empty() ? "" : "   " + at,
                          f.resumes.empty() ? "" : fmt::format("   (the rest of {}, behind a break)", f.resumes),
                          f.cost_ns < 0 ? "" : "   " + cost(f.cost_ns));
      for (const ExplainCompile& c : f.compiles) compile(c);
    }
    more(e_.frames.size());
  }

  void compile(const ExplainCompile& c) {
    std::vector<std::string> facts;
    if (c.attempts > 1) facts.push_back(plural(c.attempts, "attempt"));
    if (c.graph) facts.push_back(fmt::format("graph of {}", plural(c.nodes, "node")));
    if (!c.backend.empty()) facts.insert(facts.begin(), c.backend);
    if (c.kernels > 0) facts.push_back(plural(c.kernels, "kernel"));
    if (c.opaque > 0) facts.push_back(fmt::format("{} opaque", c.opaque));
    if (c.guards > 0) facts.push_back(plural(c.guards, "guard"));
    if (c.breaks > 0) facts.push_back(plural(c.breaks, "break"));
    out_ += fmt::format("  {:<8} {:<9} {:>10}  {}\n", c.address, c.outcome.empty() ? "-" : c.outcome, cost(c.cost_ns),
                        list_text(facts));
    if (!c.cause.empty()) out_ += fmt::format("           again, for {}\n", brief(c.cause, kWidth - 24));
    if (!c.error.empty()) out_ += fmt::format("           {}\n", brief(c.error, kWidth - 11));
  }

  void breaks() {
    if (e_.break_groups.empty()) return;
    head(fmt::format("Graph breaks: {} at {}{}", e_.breaks,
                     plural(static_cast<std::int64_t>(e_.break_groups.size()), "place"), total(e_.break_groups)));
    std::size_t shown = 0;
    for (const ExplainBreak& b : e_.break_groups) {
      if (shown++ == limit_) break;
      const std::string at = place_text(b.place);
      out_ += fmt::format("{}   {}{}   [{}]\n", at.empty() ? "(place unknown)" : at, cost(b.cost_ns),
                          b.count > 1 ? fmt::format(", {} times", b.count) : "", list_text(b.compiles));
      code(b.place, "  ");
      if (!b.caller.file.empty()) out_ += fmt::format("  called from {}\n", place_text(b.caller));
      code(b.caller, "  ");
      out_ += fmt::format("  {}\n", brief(b.kind.empty() ? b.reason : b.kind, kWidth));
      out_ += wrapped(b.explanation, "    why   ");
      for (const std::string& hint : b.hints) out_ += wrapped(hint, "    hint  ");
      out_ += wrapped(b.advice, "    do    ");
      if (!b.link.empty()) out_ += fmt::format("    see   {}\n", b.link);
    }
    more(e_.break_groups.size());
  }

  template <class List>
  static std::string total(const List& list) {
    std::int64_t sum = -1;
    for (const auto& item : list)
      if (item.cost_ns >= 0) sum = std::max<std::int64_t>(sum, 0) + item.cost_ns;
    return sum < 0 ? "" : fmt::format(", {}", time_text(static_cast<double>(sum)));
  }

  void recompiles() {
    if (e_.recompile_list.empty()) return;
    head(fmt::format("Recompiles: {}{}", e_.recompiles, total(e_.recompile_list)));
    std::size_t shown = 0;
    for (const ExplainRecompile& r : e_.recompile_list) {
      if (shown++ == limit_) break;
      const ExplainReason& first = r.reasons.front();
      out_ += fmt::format("{}{}   {}\n", r.compile, r.function.empty() ? "" : " " + r.function, cost(r.cost_ns));
      out_ += fmt::format("    guard     {}{}\n", brief(first.expression, kWidth - 30),
                          first.of.empty() ? "" : fmt::format("   (of {})", first.of));
      if (!first.expected.empty()) out_ += fmt::format("    expected  {}\n", brief(first.expected, kWidth - 14));
      if (!first.actual.empty())
        out_ += fmt::format("    was       {}{}\n", brief(first.actual, kWidth - 30),
                            first.inferred ? "   (inferred from the new compile)" : "");
      if (const std::string at = place_text(first.place); !at.empty()) out_ += fmt::format("    at        {}\n", at);
      code(first.place, "              ");
      if (r.reasons.size() > 1) out_ += fmt::format("    also      {}\n", also(r));
      out_ += wrapped(r.advice, "    do        ");
    }
    more(e_.recompile_list.size());
  }

  /// Why the older compiles did not fit.
  static std::string also(const ExplainRecompile& r) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < r.reasons.size(); ++i)
      others.push_back(fmt::format("{}: {}", r.reasons[i].of, brief(r.reasons[i].expression, 40)));
    return brief(list_text(others, 3), kWidth - 14);
  }

  void opaque() {
    if (e_.opaque.empty()) return;
    head("Opaque calls");
    Table table({"graph", "operator", "computed by", ">calls", ">time", ">share", "line"});
    for (std::size_t i = 0; i < e_.opaque.size() && i < limit_; ++i) {
      const ExplainOpaque& o = e_.opaque[i];
      table.row({o.compile, o.target, o.by, std::to_string(o.count), cost(o.time_ns),
                 o.share < 0 ? "-" : percent_text(o.share), place_text(o.place)});
    }
    out_ += table.text();
    more(e_.opaque.size());
  }

  void guards() {
    if (e_.guards.count == 0) return;
    head(fmt::format("Guards: {}", e_.guards.count));
    std::vector<std::string> kinds;
    for (const auto& k : e_.guards.kinds) kinds.push_back(fmt::format("{} {}", k.kind.empty() ? "?" : k.kind, k.count));
    out_ += wrapped(list_text(kinds, 30), "  ");
    std::size_t shown = 0;
    for (const auto& c : e_.guards.costliest) {
      if (c.latency_ns < 0 || shown++ == 5) break;
      out_ += fmt::format("  {:<8} {:>10} per call to check {}\n", c.compile, time_text(c.latency_ns),
                          plural(c.count, "guard"));
    }
  }

  void symbols() {
    if (e_.symbols.empty() && e_.assumptions.empty()) return;
    head("Dynamic shapes");
    std::map<std::string, std::size_t> rows;
    std::vector<std::pair<const ExplainSymbol*, std::vector<std::string>>> groups;
    for (const ExplainSymbol& symbol : e_.symbols) {
      const auto [at, fresh] = rows.try_emplace(symbol_key(symbol), groups.size());
      if (fresh) groups.push_back({&symbol, {}});
      groups[at->second].second.push_back(symbol.compile);
    }
    Table table({"symbol", "is", "now", "range", "line", "graphs"});
    for (std::size_t i = 0; i < groups.size() && i < limit_; ++i) {
      const ExplainSymbol& symbol = *groups[i].first;
      table.row({symbol.name, shortened(symbol.origin, 44), symbol.hint ? fmt::format("{}", *symbol.hint) : "-",
                 range_text(symbol), place_text(symbol.place), list_text(groups[i].second)});
    }
    if (!groups.empty()) out_ += table.text();
    more(groups.size());
    assumptions();
  }

  static std::string range_text(const ExplainSymbol& s) {
    if (!s.min && !s.max) return "any";
    if (!s.max) return fmt::format("{} or more", *s.min);
    return s.min ? fmt::format("{} to {}", *s.min, *s.max) : fmt::format("at most {}", *s.max);
  }

  static std::string symbol_key(const ExplainSymbol& s) {
    return fmt::format("{}\n{}\n{}\n{}\n{}:{}", s.name, s.origin, s.hint.value_or(-1), range_text(s), s.place.file,
                       s.place.line);
  }

  void assumptions() {
    // what fixed a symbol is news; relations are what one expects
    std::vector<const ExplainAssumption*> sorted;
    for (const ExplainAssumption& a : e_.assumptions) sorted.push_back(&a);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
      return (a->kind == "specialized") > (b->kind == "specialized");
    });
    std::size_t shown = 0;
    for (const ExplainAssumption* a : sorted) {
      if (shown++ == limit_) break;
      const std::string at = place_text(a->place);
      out_ += fmt::format("  {} {} {}{}{}\n", a->compile, a->kind == "specialized" ? "fixed:" : "relies on",
                          brief(a->expression, 60), a->reason.empty() ? "" : fmt::format(" ({})", brief(a->reason, 60)),
                          at.empty() ? "" : "   " + at);
    }
    more(sorted.size());
  }

  void note(const ExplainNote& n) {
    const std::string at = place_text(n.place);
    out_ +=
        fmt::format("  {}{}{}{}\n", brief(n.title, kWidth), n.count > 1 ? fmt::format("   ({} times)", n.count) : "",
                    n.compiles.empty() ? "" : fmt::format("   [{}]", list_text(n.compiles)),
                    n.cost_ns < 0 ? "" : "   " + cost(n.cost_ns));
    if (!at.empty()) out_ += fmt::format("      at {}\n", at);
    code(n.place, "      ");
    out_ += wrapped(n.hint, "      -> ");
  }

  void notes(const std::string& title, std::initializer_list<std::string_view> kinds) {
    std::vector<const ExplainNote*> found;
    for (const ExplainNote& n : e_.notes)
      if (std::find(kinds.begin(), kinds.end(), n.kind) != kinds.end()) found.push_back(&n);
    list(title, found);
  }

  void list(const std::string& title, const std::vector<const ExplainNote*>& found) {
    if (found.empty()) return;
    head(fmt::format("{}: {}", title, found.size()));
    for (std::size_t i = 0; i < found.size() && i < limit_; ++i) note(*found[i]);
    more(found.size());
  }

  struct CacheUse {
    std::int64_t hits = 0, misses = 0, bypasses = 0, cost_ns = -1;
  };

  /// Each cache apart: what one misses may be time that another's miss holds already.
  void caches() {
    std::map<std::string, CacheUse> caches;
    std::vector<const ExplainNote*> bypasses;
    for (const ExplainNote& n : e_.notes) {
      if (!n.kind.starts_with("cache-")) continue;
      const std::string word = n.kind.substr(6);
      CacheUse& use = caches[n.title.substr(0, n.title.find(" " + word))];
      (word == "hit" ? use.hits : word == "miss" ? use.misses : use.bypasses) += n.count;
      if (word == "miss" && n.cost_ns >= 0) use.cost_ns = std::max<std::int64_t>(use.cost_ns, 0) + n.cost_ns;
      if (word == "bypass") bypasses.push_back(&n);
    }
    if (caches.empty()) return;
    head("Compile caches");
    for (const auto& [name, use] : caches)
      out_ += fmt::format(
          "  {:<28} {}, {}{}, {}\n", name, plural(use.hits, "hit"), plural(use.misses, "miss", "misses"),
          use.cost_ns < 0 ? "" : fmt::format(" ({})", cost(use.cost_ns)), plural(use.bypasses, "bypass", "bypasses"));
    for (std::size_t i = 0; i < bypasses.size() && i < limit_; ++i) note(*bypasses[i]);
  }

  void other_notes() {
    std::vector<const ExplainNote*> found;
    for (const ExplainNote& n : e_.notes) {
      const bool shown = n.kind == "error" || n.kind == "recompile-limit" || n.kind == "cudagraph-skip" ||
                         n.kind == "rank" || n.kind == "restart" || n.kind == "left" || n.kind.starts_with("cache-");
      if (!shown) found.push_back(&n);
    }
    list("Other notes", found);
  }

  void time() {
    if (e_.phases.empty() || e_.phases_ns <= 0) return;
    head(fmt::format("Where the compile time went: {}", time_text(static_cast<double>(e_.phases_ns))));
    for (const ExplainPhase& p : e_.phases) {
      out_ += fmt::format("  {:<38} {:>10} {:>6}\n", p.name, time_text(static_cast<double>(p.self_ns)),
                          percent_text(static_cast<double>(p.self_ns) / static_cast<double>(e_.phases_ns)));
      for (std::size_t i = 0; i < p.spans.size() && i < 3; ++i)
        out_ += fmt::format("      {:<48} {:>10}  {}\n", brief(p.spans[i].name, 48),
                            time_text(static_cast<double>(p.spans[i].self_ns)), plural(p.spans[i].count, "time"));
    }
  }

  const Explanation& e_;
  std::size_t limit_;
  std::string out_;
};

}  // namespace

std::string explain_text(const Explanation& explanation, bool all) { return Text(explanation, all).run(); }

}  // namespace strata::cli
