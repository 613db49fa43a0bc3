// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "app/draw/export.h"
#include "core/support/error.h"

namespace strata::draw {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --dim: #626b76; --line: #d5dae0; --card: #f5f7f9;
        --accent: #0b62c4; --warn: #a15c00; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171b; --text: #dde2e8; --dim: #939ca7; --line: #333a43; --card: #1c2127; --accent: #6cb0ff;
          --warn: #e3a74a; --bad: #ff8a80; --good: #67c887; }
  .picture svg { filter: invert(0.91) hue-rotate(180deg); }
}
body { background: var(--back); color: var(--text); font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto;
       max-width: 1200px; padding: 16px 24px 80px; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin: 32px 0 8px; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--dim); font-weight: 600; }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
code, pre, .mono { font: 12.5px/1.5 "DejaVu Sans Mono", ui-monospace, monospace; }
pre { background: var(--card); padding: 8px 12px; overflow-x: auto; border-radius: 6px; margin: 6px 0; }
details { margin: 6px 0; } summary { cursor: pointer; padding: 4px 0; } .dim { color: var(--dim); }
.facts { display: flex; flex-wrap: wrap; gap: 8px 28px; padding: 0; margin: 12px 0; list-style: none; }
.facts b { display: block; font-size: 19px; } .picture { overflow: auto; max-height: 80vh; border: 1px solid var(--line);
           border-radius: 6px; } .picture svg { display: block; }
.ok { color: var(--good); } .failed { color: var(--bad); } .restarted, .skipped, .unfinished { color: var(--warn); }
.mark { color: var(--warn); } nav a { color: var(--accent); margin-right: 16px; } .bar { background: var(--accent); height: 8px;
        border-radius: 2px; min-width: 1px; }
)css";

std::string time_text(double ns) {
  if (!(ns >= 0)) return "–";
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} µs", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

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
    head();
    summary();
    findings();
    graph_breaks();
    recompiles();
    times();
    graphs();
    sources();
    problems();
    out_ += "</body>\n</html>\n";
    return std::move(out_);
  }

 private:
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
        "style-src 'unsafe-inline'\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        escape_xml(name), kStyle);
    out_ +=
        "<nav><a href=\"#breaks\">Graph breaks</a><a href=\"#recompiles\">Recompiles</a><a href=\"#time\">Time</a>"
        "<a href=\"#graphs\">Graphs</a><a href=\"#sources\">Sources</a><a href=\"#problems\">Problems</a></nav>\n";
  }

  void fact(const std::string& number, const char* what) { put("<li><b>{}</b>{}</li>\n", escape_xml(number), what); }

  void summary() {
    std::set<trace::Id> frames;
    std::int64_t compile_ns = 0;
    for (const trace::CompileRecord& c : compiles_) {
      frames.insert(c.frame);
      compile_ns += std::max<std::int64_t>(c.duration_ns, 0);
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
    if (options_.findings.empty()) return;
    section("first", "What to fix first");
    std::vector<std::vector<std::string>> rows;
    for (const HtmlFinding& f : options_.findings)
      rows.push_back({fmt::format("<b>{}</b><br>{}", escape_xml(f.title), escape_xml(f.advice)),
                      fmt::format("<span class=\"mono\">{}</span>{}", escape_xml(f.place),
                                  f.code.empty() ? "" : "<pre>" + escape_xml(f.code) + "</pre>"),
                      escape_xml(f.graphs), time_text(f.cost_ns)});
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
        time.ns += s.total_ns;
        if (time.where.empty()) time.where = address(s.compile);
        total += s.total_ns;
      }
    }
    if (all.empty()) return put("<p class=\"dim\">Not measured: the trace has no profile of this.</p>\n");
    std::vector<std::pair<std::pair<std::string, std::string>, Time>> list(all.begin(), all.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
    std::vector<std::vector<std::string>> rows;
    for (const auto& [key, time] : list) {
      const double share = static_cast<double>(time.ns) / static_cast<double>(std::max<std::int64_t>(total, 1));
      rows.push_back({fmt::format("<span class=\"mono\">{}</span>", escape_xml(key.first)), escape_xml(key.second),
                      escape_xml(time.where), std::to_string(time.count), time_text(static_cast<double>(time.ns)),
                      fmt::format("{:.1f}%", share * 100),
                      fmt::format("<div class=\"bar\" style=\"width:{:.0f}px\"></div>", share * 120)});
    }
    table({"kernel", "kind", "graph", ">calls", ">time", ">share", ""}, rows);
  }

  // ----------------------------------------------------------------------------------------------------------------

  void graphs() {
    section("graphs", "Graphs");
    trace::Id frame = trace::kNone;
    for (std::size_t i = 0; i < compiles_.size() && i < options_.max_graphs; ++i) {
      const trace::CompileRecord& c = compiles_[i];
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
    std::vector<std::vector<std::string>> rows;
    for (const trace::SnapshotRecord& s : reader_.snapshots(c.id))
      rows.push_back(
          {escape_xml(s.stage), s.kind == trace::SnapshotKind::Text ? "text" : fmt::format("{} nodes", s.node_count)});
    table({"stage", "content"}, rows);
    for (const trace::SnapshotRecord& s : drawn(c.id)) picture(s);
    out_ += "</details>\n";
  }

  /// The graphs that the kernels compute; else the last one.
  std::vector<trace::SnapshotRecord> drawn(trace::Id compile) {
    std::vector<trace::SnapshotRecord> result;
    std::set<trace::Id> wanted;
    for (const trace::ProgramRecord& p : reader_.programs(compile)) wanted.insert(p.snapshot);
    if (wanted.empty())
      for (const trace::KernelRecord& k : reader_.kernels(compile)) wanted.insert(k.snapshot);
    const auto snapshots = reader_.snapshots(compile);
    for (const trace::SnapshotRecord& s : snapshots)
      if (s.kind == trace::SnapshotKind::Graph && wanted.contains(s.id)) result.push_back(s);
    for (auto it = snapshots.rbegin(); result.empty() && it != snapshots.rend(); ++it)
      if (it->kind == trace::SnapshotKind::Graph) result.push_back(*it);
    return result;
  }

  void picture(const trace::SnapshotRecord& snapshot) {
    put("<p class=\"mono\">{}</p>\n", escape_xml(snapshot.stage));
    const auto nodes = static_cast<std::size_t>(snapshot.node_count);
    if (nodes > options_.max_nodes || drawn_ + nodes > options_.max_drawn)
      return put("<p class=\"dim\">{} nodes: not drawn here; <code>strata export --format svg</code> draws it.</p>\n",
                 snapshot.node_count);
    drawn_ += nodes;
    try {
      std::string svg = render(reader_, snapshot.id, Format::Svg);
      if (svg.starts_with("<?xml")) svg.erase(0, svg.find("?>") + 2);
      put("<div class=\"picture\">{}</div>\n", without_ids(svg));
    } catch (const Error& e) {
      put("<p class=\"failed\">{}</p>\n", escape_xml(e.what()));
    }
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
  std::size_t drawn_ = 0;  ///< nodes in pictures so far
  std::size_t lines_ = 0;  ///< of sources so far
  std::string out_;
};

}  // namespace

std::string html_report(trace::Reader& reader, const HtmlOptions& options) { return HtmlReport(reader, options).run(); }

}  // namespace strata::draw
