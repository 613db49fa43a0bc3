// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/html_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "app/draw/export.h"
#include "app/explain/explain.h"
#include "app/report/report_style.h"
#include "core/support/clamped.h"
#include "core/support/error.h"

namespace strata::report {

using draw::escape_xml;

namespace {

std::string time_text(double ns) { return ns >= 0 ? draw::format_time(ns) : "–"; }

class HtmlReport {
 public:
  HtmlReport(trace::Reader& reader, const HtmlOptions& options) : reader_(reader), options_(options) {
    for (trace::CompileRecord& c : reader.compiles()) {
      if (!options.graph.empty() && c.address != options.graph) continue;
      compiles_.push_back(std::move(c));
    }
    if (!options.graph.empty() && compiles_.empty()) compiles_.push_back(reader.find_compile(options.graph));
    for (const trace::CompileRecord& c : compiles_) addresses_[c.id] = c.address;
    for (trace::FrameRecord& f : reader.frames()) frames_[f.id] = std::move(f);
    for (trace::GraphBreakRecord& b : reader.graph_breaks())
      if (shown(b.compile)) breaks_.push_back(std::move(b));
    for (trace::RecompileRecord& r : reader.recompiles())
      if (shown(r.compile)) recompiles_.push_back(std::move(r));
  }

  std::string run() {
    tell(0, "summary");
    head();
    summary();
    explanation_ = explain(reader_, options_.graph);
    findings();
    graph_breaks();
    recompiles();
    tell(0.1, "times");
    times();
    compile_time();
    graphs();
    tell(0.9, "sources");
    sources();
    problems();
    put("<script>{}</script>\n</body>\n</html>\n", kScript);
    return std::move(out_);
  }

 private:
  void tell(double part, std::string_view what) {
    if (options_.progress && !options_.progress(part, what)) throw draw::Stopped();
  }

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  bool shown(trace::Id compile) const { return options_.graph.empty() || addresses_.contains(compile); }
  std::string address(trace::Id compile) const {
    const auto found = addresses_.find(compile);
    return found == addresses_.end() ? "" : found->second;
  }

  void section(const char* id, const char* title) { put("<h2 id=\"{}\">{}</h2>\n", id, title); }

  /// A table of at most `max_rows` rows; heads that begin with '>' are numbers. Cells are HTML.
  void table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows) {
    out_ += "<table><thead><tr>";
    for (const std::string& head : heads)
      put("<th{}>{}</th>", head.starts_with('>') ? " class=\"n\"" : "", escape_xml(head.substr(head.starts_with('>'))));
    out_ += "</tr></thead><tbody>\n";
    for (std::size_t r = 0; r < rows.size() && r < options_.max_rows; ++r) {
      out_ += "<tr>";
      for (std::size_t i = 0; i < heads.size(); ++i)
        put("<td{}>{}</td>", heads[i].starts_with('>') ? " class=\"n\"" : "", i < rows[r].size() ? rows[r][i] : "");
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table>\n";
    if (rows.size() > options_.max_rows) put("<p class=\"dim\">{} more rows.</p>\n", rows.size() - options_.max_rows);
  }

  void head() {
    const std::string name = reader_.path().filename().string();
    put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src '{2}'\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n"
        "<h1>{0}</h1>\n",
        escape_xml(name), kStyle, kScriptHash);
    out_ +=
        "<nav><a href=\"#first\">To fix</a><a href=\"#breaks\">Graph breaks</a><a href=\"#recompiles\">Recompiles</a>"
        "<a href=\"#time\">Time</a><a href=\"#graphs\">Graphs</a><a href=\"#sources\">Sources</a>"
        "<a href=\"#problems\">Problems</a><span class=\"dim\" id=\"found\"></span>"
        "<input id=\"search\" type=\"search\" hidden placeholder=\"Search ( / )\" aria-label=\"search\"/></nav>\n";
  }

  void fact(const std::string& number, const char* what) { put("<li><b>{}</b>{}</li>\n", escape_xml(number), what); }

  void summary() {
    std::set<trace::Id> frames;
    std::int64_t compile_ns = 0;
    for (const trace::CompileRecord& c : compiles_) {
      frames.insert(c.frame);
      compile_ns = add_clamped(compile_ns, std::max<std::int64_t>(c.duration_ns, 0));
    }
    out_ += "<ul class=\"facts\">\n";
    fact(std::to_string(frames.size()), "frames");
    fact(std::to_string(compiles_.size()), "compile attempts");
    fact(std::to_string(breaks_.size()), "graph breaks");
    fact(std::to_string(recompiles_.size()), "recompiles");
    fact(time_text(static_cast<double>(compile_ns)), "compiling");
    fact(std::to_string(reader_.event_count()), "events");
    out_ += "</ul>\n";
    std::vector<std::vector<std::string>> rows;
    for (const trace::InputRecord& i : reader_.inputs())
      rows.push_back({escape_xml(i.path), escape_xml(i.kind), fmt::format("{}", i.bytes), escape_xml(i.producer)});
    if (!rows.empty()) table({"input", "kind", ">bytes", "made by"}, rows);
  }

  void findings() {
    section("first", "What to fix first");
    std::vector<std::vector<std::string>> rows;
    for (const ExplainFinding& f : explanation_.findings) {
      const std::string where = f.place.file.empty() ? "" : fmt::format("{}:{}", f.place.file, f.place.line);
      rows.push_back(
          {fmt::format("<b>{}</b><br><span class=\"ok\">{}</span>", escape_xml(f.title), escape_xml(f.advice)),
           fmt::format("<span class=\"mono\">{}</span>{}", escape_xml(where),
                       f.place.text.empty() ? "" : "<pre>" + escape_xml(f.place.text) + "</pre>"),
           escape_xml(fmt::format("{}", fmt::join(f.compiles, ", "))), time_text(static_cast<double>(f.cost_ns))});
    }
    if (rows.empty()) return put("<p class=\"dim\">Nothing stands out.</p>\n");
    table({"what, and what to do", "line", "graphs", ">cost"}, rows);
  }

  /// `file:line in function` of the innermost entry and the code of the line.
  std::string place(trace::Id stack) {
    if (stack == trace::kNone) return "";
    const auto locations = reader_.stack(stack);
    if (locations.empty()) return "";
    const trace::SourceLocation& l = locations.back();
    std::string text = fmt::format("<span class=\"mono\">{}:{}</span>", escape_xml(l.file), l.line);
    if (!l.function.empty()) text += fmt::format(" in {}", escape_xml(l.function));
    if (!l.text.empty()) text += fmt::format("<pre>{}</pre>", escape_xml(l.text));
    return text;
  }

  void graph_breaks() {
    section("breaks", "Graph breaks");
    if (breaks_.empty()) return put("<p class=\"dim\">None.</p>\n");
    std::vector<std::vector<std::string>> rows;
    for (const trace::GraphBreakRecord& b : breaks_)
      rows.push_back({escape_xml(address(b.compile)), place(b.stack),
                      fmt::format("<b>{}</b>{}{}", escape_xml(b.kind.empty() ? b.reason : b.kind),
                                  b.explanation.empty() ? "" : "<br>" + escape_xml(b.explanation),
                                  b.hint.empty() ? "" : "<br><span class=\"ok\">" + escape_xml(b.hint) + "</span>"),
                      time_text(static_cast<double>(b.cost_ns))});
    table({"graph", "line", "why, and what to do", ">cost"}, rows);
  }

  void recompiles() {
    section("recompiles", "Recompiles");
    if (recompiles_.empty()) return put("<p class=\"dim\">None.</p>\n");
    std::vector<std::vector<std::string>> rows;
    for (const trace::RecompileRecord& r : recompiles_)
      rows.push_back({escape_xml(address(r.compile)), escape_xml(address(r.of)),
                      fmt::format("<code>{}</code>", escape_xml(r.expression.empty() ? r.reason : r.expression)),
                      escape_xml(r.expected), escape_xml(r.actual), place(r.stack),
                      time_text(static_cast<double>(r.cost_ns))});
    table({"graph", "of", "guard that failed", "expected", "was", "line", ">cost"}, rows);
  }

  // ----------------------------------------------------------------------------------------------------------------

  struct Time {
    std::int64_t count = 0, ns = 0;
    std::string where;
  };

  /// What takes time on the device, or, where a profile has none, in operators.
  void times() {
    section("time", "Where the time went");
    std::map<std::pair<std::string, std::string>, Time> all;
    std::int64_t total = 0;
    for (const trace::RunRecord& run : reader_.runs()) {
      if (run.label == "compile") continue;
      const auto sums = reader_.event_sums(run.id);
      const bool device = std::any_of(sums.begin(), sums.end(), [](const auto& s) { return s.device; });
      for (const trace::EventSum& s : sums) {
        const bool counts = s.device ? !s.category.ends_with("annotation") : !device && s.kernel != trace::kNone;
        if (!counts || !shown(s.compile)) continue;
        Time& time = all[{s.name, s.category}];
        time.count += s.count;
        time.ns = add_clamped(time.ns, s.total_ns);
        if (time.where.empty()) time.where = address(s.compile);
        total = add_clamped(total, s.total_ns);
      }
    }
    if (all.empty()) return put("<p class=\"dim\">Not measured: the trace has no profile of this.</p>\n");
    std::vector<std::pair<std::pair<std::string, std::string>, Time>> list(all.begin(), all.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
    std::vector<std::vector<std::string>> rows;
    for (const auto& [key, time] : list) {
      rows.push_back({fmt::format("<span class=\"mono\">{}</span>", escape_xml(key.first)), escape_xml(key.second),
                      escape_xml(time.where), std::to_string(time.count), time_text(static_cast<double>(time.ns)),
                      share_text(time.ns, total), bar(time.ns, total)});
    }
    table({"kernel", "kind", "graph", ">calls", ">time", ">share", ""}, rows);
  }

  /// Phases of PyTorch's own clock, or the passes of ours.
  void compile_time() {
    std::vector<std::pair<std::string, std::int64_t>> parts;
    for (const ExplainPhase& p : explanation_.phases) parts.emplace_back(p.name, p.self_ns);
    std::int64_t total = explanation_.phases_ns;
    if (parts.empty()) {
      std::map<std::string, std::int64_t> passes;
      for (const trace::CompileRecord& c : compiles_)
        for (const trace::PassRecord& p : reader_.passes(c.id)) {
          if (p.duration_ns <= 0) continue;
          passes[p.name] = add_clamped(passes[p.name], p.duration_ns);
          total = add_clamped(total, p.duration_ns);
        }
      parts.assign(passes.begin(), passes.end());
      std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    }
    if (parts.empty()) return;
    section("compile-time", "Where the compile time went");
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, ns] : parts)
      rows.push_back({escape_xml(name), time_text(static_cast<double>(ns)), share_text(ns, total), bar(ns, total)});
    table({"phase", ">time", ">share", ""}, rows);
  }

  static double share(std::int64_t ns, std::int64_t total) {
    return static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(total, 1));
  }
  static std::string share_text(std::int64_t ns, std::int64_t total) {
    return fmt::format("{:.1f}%", share(ns, total) * 100);
  }
  static std::string bar(std::int64_t ns, std::int64_t total) {
    return fmt::format("<div class=\"bar\" style=\"width:{:.0f}px\"></div>", share(ns, total) * 120);
  }

  // ----------------------------------------------------------------------------------------------------------------

  void graphs() {
    section("graphs", "Graphs");
    trace::Id frame = trace::kNone;
    for (std::size_t i = 0; i < compiles_.size() && i < options_.max_graphs; ++i) {
      const trace::CompileRecord& c = compiles_[i];
      tell(0.2 + 0.7 * static_cast<double>(i) / static_cast<double>(compiles_.size()), "graph " + c.address);
      if (c.frame != trace::kNone && c.frame != frame) {
        const trace::FrameRecord& f = frames_[c.frame];
        put("<p><b>{}</b> <span class=\"dim mono\">{}{}</span></p>\n", escape_xml(f.name.empty() ? c.name : f.name),
            escape_xml(f.file), f.line > 0 ? fmt::format(":{}", f.line) : "");
      }
      frame = c.frame;
      graph(c);
    }
    if (compiles_.size() > options_.max_graphs)
      put("<p class=\"dim\">{} more compile attempts; <code>--graph</code> shows one.</p>\n",
          compiles_.size() - options_.max_graphs);
  }

  void graph(const trace::CompileRecord& c) {
    const std::string outcome = c.outcome.empty() ? "unfinished" : c.outcome;
    put("<details><summary><b>{}</b> <span class=\"{}\">{}</span> <span class=\"dim\">{}, {}</span></summary>\n",
        escape_xml(c.address), escape_xml(outcome), escape_xml(outcome), escape_xml(c.name),
        time_text(static_cast<double>(c.duration_ns)));
    if (!c.cause.empty()) put("<pre>{}</pre>\n", escape_xml(c.cause));
    if (!c.error.empty()) put("<pre class=\"failed\">{}</pre>\n", escape_xml(c.error));
    stages(c.id);
    kernels(c.id);
    guards(c.id);
    for (const trace::SnapshotRecord& s : drawn(c.id)) picture(s);
    out_ += "</details>\n";
  }

  void stages(trace::Id compile) {
    std::map<trace::Id, double> times;
    for (const trace::PassRecord& p : reader_.passes(compile)) times[p.id] = static_cast<double>(p.duration_ns);
    std::vector<std::vector<std::string>> rows;
    for (const trace::SnapshotRecord& s : reader_.snapshots(compile)) {
      std::string changes;
      if (s.added > 0) changes += fmt::format(" +{}", s.added);
      if (s.removed > 0) changes += fmt::format(" −{}", s.removed);
      if (s.changed > 0) changes += fmt::format(" ~{}", s.changed);
      const auto time = times.find(s.pass);
      rows.push_back({escape_xml(s.stage),
                      s.kind == trace::SnapshotKind::Text ? "text" : fmt::format("{} nodes", s.node_count), changes,
                      time == times.end() ? "" : time_text(time->second)});
    }
    if (!rows.empty()) table({"stage", "content", "against the one before", ">pass"}, rows);
  }

  void kernels(trace::Id compile) {
    const auto all = reader_.kernels(compile);
    if (all.empty()) return;
    const auto times = draw::kernel_times(reader_, compile);
    std::vector<std::vector<std::string>> rows;
    for (const trace::KernelRecord& k : all) {
      const auto time = times.find(k.id);
      rows.push_back({fmt::format("<span class=\"mono\">{}</span>", escape_xml(k.name)),
                      escape_xml(k.library.empty() ? k.language : k.library), fmt::format("{}", k.nodes.size()),
                      time == times.end() ? "" : time_text(time->second)});
    }
    put("<details><summary>{} kernels</summary>\n", all.size());
    table({"kernel", "made with", ">nodes", ">median"}, rows);
    out_ += "</details>\n";
  }

  void guards(trace::Id compile) {
    const auto all = reader_.guards(compile);
    if (all.empty()) return;
    put("<details><summary>{} guards</summary>\n", all.size());
    std::vector<std::vector<std::string>> rows;
    for (const trace::GuardRecord& g : all) {
      if (guards_ >= options_.max_guards) break;
      ++guards_;
      rows.push_back({escape_xml(g.kind), fmt::format("<code>{}</code>", escape_xml(g.expression)),
                      fmt::format("<code>{}</code>", escape_xml(g.source)), place_of(g.stack),
                      fmt::format("{}", g.failures)});
    }
    table({"kind", "condition", "looks at", "line", ">failed"}, rows);
    if (rows.size() < all.size() && rows.size() < options_.max_rows)
      put("<p class=\"dim\">{} more guards.</p>\n", all.size() - rows.size());
    out_ += "</details>\n";
  }

  /// `file:line`, without the code: guards are many.
  std::string place_of(trace::Id stack) {
    if (stack == trace::kNone) return "";
    const auto locations = reader_.stack(stack);
    if (locations.empty()) return "";
    return fmt::format("<span class=\"mono\">{}:{}</span>", escape_xml(locations.back().file), locations.back().line);
  }

  /// What was captured, and the graphs that the kernels compute; without kernels the last one.
  std::vector<trace::SnapshotRecord> drawn(trace::Id compile) {
    std::vector<trace::SnapshotRecord> result;
    std::set<trace::Id> wanted;
    for (const trace::ProgramRecord& p : reader_.programs(compile)) wanted.insert(p.snapshot);
    if (wanted.empty())
      for (const trace::KernelRecord& k : reader_.kernels(compile)) wanted.insert(k.snapshot);
    const auto snapshots = reader_.snapshots(compile);
    const auto is_graph = [](const trace::SnapshotRecord& s) { return s.kind == trace::SnapshotKind::Graph; };
    const auto last = std::find_if(snapshots.rbegin(), snapshots.rend(), is_graph);
    if (last != snapshots.rend() && std::none_of(snapshots.begin(), snapshots.end(),
                                                 [&](const auto& s) { return is_graph(s) && wanted.contains(s.id); }))
      wanted.insert(last->id);
    bool first = true;
    for (const trace::SnapshotRecord& s : snapshots)
      if (is_graph(s) && (std::exchange(first, false) || wanted.contains(s.id))) result.push_back(s);
    return result;
  }

  void picture(const trace::SnapshotRecord& snapshot) {
    const auto nodes = static_cast<std::size_t>(snapshot.node_count);
    put("<details open><summary class=\"mono\">{}</summary>\n", escape_xml(snapshot.stage));
    if (nodes > options_.max_nodes || drawn_ + nodes > options_.max_drawn) {
      put("<p class=\"dim\">{} nodes: not drawn here; <code>strata export --format svg</code> draws it.</p>\n", nodes);
      operators(snapshot.id);
    } else {
      drawn_ += nodes;
      draw(snapshot.id);
    }
    out_ += "</details>\n";
  }

  void draw(trace::Id snapshot) {
    try {
      std::string svg = draw::render(reader_, snapshot, draw::Format::Svg);
      if (svg.starts_with("<?xml")) svg.erase(0, svg.find("?>") + 2);
      put("<div class=\"picture\">{}</div>\n", without_ids(svg));
    } catch (const Error& e) {
      put("<p class=\"failed\">{}</p>\n", escape_xml(e.what()));
    }
  }

  /// In place of a picture: which operators, how often. Of so many graphs only that reading them stays quick.
  void operators(trace::Id snapshot) {
    if (++counted_ > options_.max_counted) return;
    std::map<std::string, std::int64_t> counts;
    for (const trace::NodeRecord& n : reader_.nodes(snapshot)) ++counts[n.target.empty() ? n.op : n.target];
    std::vector<std::pair<std::string, std::int64_t>> list(counts.begin(), counts.end());
    std::erase_if(list, [](const auto& entry) { return entry.second < 2; });
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    if (list.size() > 30) list.resize(30);
    std::vector<std::vector<std::string>> rows;
    for (const auto& [target, count] : list)
      rows.push_back({fmt::format("<span class=\"mono\">{}</span>", escape_xml(target)), std::to_string(count)});
    if (!rows.empty()) table({"most frequent operators", ">nodes"}, rows);
  }

  /// Several pictures in one document must not share ids.
  static std::string without_ids(const std::string& svg) {
    constexpr std::string_view id = "<g class=\"node\" id=\"";
    std::string out;
    std::size_t from = 0;
    for (std::size_t at; (at = svg.find(id, from)) != std::string::npos;) {
      out.append(svg, from, at - from);
      out += "<g class=\"node\" data-node=\"";
      from = at + id.size();
    }
    return out.append(svg, from);
  }

  // ----------------------------------------------------------------------------------------------------------------

  void mark(std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>>& marks, trace::Id stack,
            std::string text) {
    if (stack == trace::kNone) return;
    const auto locations = reader_.stack(stack);
    if (!locations.empty()) marks[{locations.back().file, locations.back().line}].push_back(std::move(text));
  }

  void sources() {
    section("sources", "Sources");
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> marks;
    for (const trace::GraphBreakRecord& b : breaks_)
      mark(marks, b.stack, fmt::format("graph break {}: {}", address(b.compile), b.kind.empty() ? b.reason : b.kind));
    for (const trace::RecompileRecord& r : recompiles_)
      mark(marks, r.stack,
           fmt::format("recompile {}: {}", address(r.compile), r.expression.empty() ? r.reason : r.expression));
    for (const trace::CompileRecord& c : compiles_) {
      std::map<trace::Id, std::size_t> guards;
      for (const trace::GuardRecord& g : reader_.guards(c.id)) ++guards[g.stack];
      for (const auto& [stack, count] : guards)
        mark(marks, stack, fmt::format("{} guard{} of {}", count, count == 1 ? "" : "s", c.address));
    }
    const auto files = reader_.source_files();
    if (files.empty()) put("<p class=\"dim\">No source lines in the trace.</p>\n");
    for (const trace::SourceFileRecord& f : files)
      if (const auto file = reader_.source_file(f.path)) source(*file, marks);
  }

  void source(const trace::SourceFileRecord& file,
              const std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>>& marks) {
    put("<details><summary class=\"mono\">{}</summary><pre>", escape_xml(file.path));
    std::vector<trace::SourceFileRecord::Line> lines = file.lines;
    std::int64_t number = 0;
    for (std::size_t at = 0; at < file.text.size();) {
      const std::size_t end = std::min(file.text.find('\n', at), file.text.size());
      lines.push_back({++number, file.text.substr(at, end - at)});
      at = end + 1;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (++lines_ > options_.max_lines) {
        put("<span class=\"dim\">{} more lines.</span>\n", lines.size() - i);
        break;
      }
      const auto& line = lines[i];
      put("<span class=\"dim\">{:6}</span>  {}\n", line.number, escape_xml(line.text));
      const auto found = marks.find({file.path, line.number});
      if (found == marks.end()) continue;
      for (std::size_t m = 0; m < found->second.size() && m < 12; ++m)
        put("<span class=\"mark\">        ^ {}</span>\n", escape_xml(found->second[m]));
    }
    out_ += "</pre></details>\n";
  }

  void problems() {
    section("problems", "Problems and hints");
    std::vector<std::vector<std::string>> rows;
    for (const trace::DiagnosticRecord& d : reader_.diagnostics()) {
      if (d.compile != trace::kNone && !shown(d.compile)) continue;
      if (d.severity == trace::DiagnosticRecord::Severity::Info) continue;
      rows.push_back({escape_xml(d.kind), escape_xml(address(d.compile)),
                      escape_xml(d.title) + (d.detail.empty() ? ""
                                                              : "<details><summary class=\"dim\">more</summary><pre>" +
                                                                    escape_xml(d.detail) + "</pre></details>"),
                      escape_xml(d.hint)});
    }
    if (rows.empty()) return put("<p class=\"dim\">None.</p>\n");
    table({"kind", "graph", "what", "what to do"}, rows);
  }

  trace::Reader& reader_;
  const HtmlOptions& options_;
  std::vector<trace::CompileRecord> compiles_;
  std::map<trace::Id, std::string> addresses_;
  std::map<trace::Id, trace::FrameRecord> frames_;
  std::vector<trace::GraphBreakRecord> breaks_;
  std::vector<trace::RecompileRecord> recompiles_;
  Explanation explanation_;
  std::size_t drawn_ = 0;    ///< nodes in pictures so far
  std::size_t guards_ = 0;   ///< in tables so far
  std::size_t counted_ = 0;  ///< graphs whose operators were counted
  std::size_t lines_ = 0;    ///< of sources so far
  std::string out_;
};

}  // namespace

std::string html_report(trace::Reader& reader, const HtmlOptions& options) { return HtmlReport(reader, options).run(); }

}  // namespace strata::report
