// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "app/draw/picture.h"
#include "app/explain/explain.h"
#include "app/studio/models/comparison_side.h"
#include "app/studio/models/lists.h"
#include "core/support/clamped.h"

namespace strata::studio {

using namespace trace;

namespace {

bool inside_torch(const std::string& file) {
  return file.find("/torch/") != std::string::npos || file.starts_with("torch/") || file.starts_with("<frozen");
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Finding::Kind kind_of(const std::string& kind) {
  if (kind == "break") return Finding::Kind::Break;
  if (kind == "recompile") return Finding::Kind::Recompile;
  if (kind == "error" || kind == "recompile-limit") return Finding::Kind::Error;
  if (kind == "cache-bypass") return Finding::Kind::Cache;
  if (kind == "cudagraph-skip") return Finding::Kind::CudaGraph;
  return kind == "rank" ? Finding::Kind::Rank : Finding::Kind::Other;
}

/// What `strata explain` says is worth mending, and the kernels that take most of the time.
class Findings {
 public:
  Findings(Reader& reader, TraceData& data) : reader_(reader), data_(data) {}

  void collect() {
    for (const CompileRecord& c : data_.compiles) by_address_.emplace(without_attempt(c), c.id);
    for (const ExplainFinding& f : explain(reader_).findings) add(f);
    add_kernels();
    std::stable_sort(data_.findings.begin(), data_.findings.end(), [](const Finding& a, const Finding& b) {
      const auto rank = [](const Finding& f) { return f.kind == Finding::Kind::Error ? 0 : 1; };
      return std::tuple(rank(a), -a.cost_ns) < std::tuple(rank(b), -b.cost_ns);
    });
  }

 private:
  /// `0/1` for `0/1_2`.
  static std::string without_attempt(const CompileRecord& c) {
    const std::string end = fmt::format("_{}", c.attempt);
    return c.attempt > 0 && c.address.ends_with(end) ? c.address.substr(0, c.address.size() - end.size()) : c.address;
  }

  void add(const ExplainFinding& from) {
    Finding f;
    f.kind = kind_of(from.kind);
    f.title = from.title;
    if (!f.title.empty()) f.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(f.title[0])));
    if (from.detail != from.title) f.detail = from.detail.substr(0, 400);
    f.hint = from.advice;
    for (const std::string& hint : from.hints)
      if (hint != f.hint) f.hint += (f.hint.empty() ? "" : "\n") + hint;
    f.count = from.count;
    f.cost_ns = static_cast<double>(from.cost_ns);
    const ExplainPlace& place = from.caller.line > 0 ? from.caller : from.place;
    f.file = place.file;
    f.line = place.line;
    f.code = place.text;
    if (!from.compiles.empty())
      if (const auto at = by_address_.find(from.compiles.front()); at != by_address_.end()) f.compile = at->second;
    data_.findings.push_back(std::move(f));
  }

  /// The kernels that take most of what was measured, and work that no kernel was made for.
  void add_kernels() {
    struct Sum {
      Id compile = kNone;
      std::int64_t total = 0, count = 0;
    };
    std::map<Id, Sum> sums;
    std::int64_t all = 0;
    for (const RunRecord& run : data_.runs)
      for (const EventSum& s : reader_.event_sums(run.id)) {
        if (s.kernel == kNone || (!s.device && s.category.starts_with("cu"))) continue;
        if (!s.device && s.category == "cpu_op") continue;
        Sum& sum = sums[s.kernel];
        sum.total += s.total_ns;
        sum.count += s.count;
        all += s.total_ns;
      }
    for (const auto& [id, sum] : sums) {
      if (sum.total * 10 < all) continue;
      const auto kernel = reader_.kernel(id);
      if (!kernel) continue;
      Finding f;
      f.kind = Finding::Kind::Kernel;
      f.title = fmt::format("{} takes {:.0f} % of the kernel time", kernel->name,
                            100.0 * static_cast<double>(sum.total) / static_cast<double>(all));
      f.count = sum.count;
      f.cost_ns = static_cast<double>(sum.total);
      f.compile = kernel->compile;
      f.kernel = id;
      data_.findings.push_back(std::move(f));
    }
  }

  Reader& reader_;
  TraceData& data_;
  std::map<std::string, Id> by_address_;
};

void read_places(Reader& reader, TraceData& data) {
  std::set<Id> stacks;
  for (const auto& r : data.breaks) stacks.insert(r.stack);
  for (const auto& r : data.recompiles) stacks.insert(r.stack);
  for (const auto& r : data.diagnostics) stacks.insert(r.stack);
  for (const Id stack : stacks)
    if (const auto line = user_line(reader.stack(stack))) data.places[stack] = *line;
}

// --------------------------------------------------------------------------------------------------------------- html

/// Names of any length come out of traces; a text of a megabyte without a space takes minutes to be laid out.
QString escape(const std::string& text) {
  constexpr qsizetype kMost = 600;
  const QString shown = qt(text);
  return (shown.size() > kMost ? shown.left(kMost) + "…" : shown).toHtmlEscaped();
}

QString line_link(const std::string& file, std::int64_t line) {
  if (file.empty() || line <= 0) return {};
  return QString("<a href=\"line:%1:%2\">%3:%1</a>").arg(line).arg(escape(file), escape(file_name(file)));
}

QString compile_link(const CompileRecord& c) {
  return QString("<a href=\"compile:%1\">%2</a>").arg(c.id).arg(escape(c.address));
}

QString ran_html(const TraceData& data) {
  const auto property = [&](const char* key) {
    const auto at = data.properties.find(key);
    return at == data.properties.end() ? std::string() : at->second;
  };
  QStringList parts;
  for (const char* key : {"model", "producer", "torch", "cpu", "gpu", "target", "backend"})
    if (const std::string value = property(key); !value.empty())
      parts << (value.starts_with(key) ? QString("<b>%1</b>").arg(escape(value))
                                       : QString("%1 <b>%2</b>").arg(key, escape(value)));
  std::set<std::int64_t> ranks;
  for (const auto& p : data.processes)
    if (p.rank >= 0) ranks.insert(p.rank);
  if (!ranks.empty()) parts << QString("<b>%1</b> ranks").arg(ranks.size());
  std::set<std::string> producers;
  for (const auto& i : data.inputs)
    if (!i.producer.empty()) producers.insert(i.producer);
  for (const auto& p : producers)
    if (p != property("torch")) parts << escape(p);
  if (!data.inputs.empty()) parts << QString("imported from %1 files").arg(data.inputs.size());
  return parts.isEmpty() ? QString() : "<p>" + parts.join(" &nbsp;·&nbsp; ") + "</p>";
}

QString totals_html(const TraceData& data) {
  double compile = 0;
  std::int64_t failed = 0;
  std::set<std::tuple<Id, std::string, std::int64_t, std::int64_t>> compiles;  // a compile may take several attempts
  for (const auto& c : data.compiles) {
    compiles.emplace(c.process, c.prefix, c.frame_number, c.compile_number);
    if (c.duration_ns > 0) compile += static_cast<double>(c.duration_ns);
    failed += c.outcome == "failed";
  }
  QStringList parts;
  QString count = QString("<b>%1</b> compiles").arg(compiles.size());
  if (compiles.size() < data.compiles.size()) count += QString(" in %1 attempts").arg(data.compiles.size());
  parts << count;
  if (compile > 0) parts << QString("<b>%1</b> compiling").arg(duration_text(compile));
  parts << QString("<b>%1</b> graph breaks").arg(data.breaks.size());
  parts << QString("<b>%1</b> recompiles").arg(data.recompiled());
  if (failed) parts << QString("<b>%1</b> failed").arg(failed);
  return "<p>" + parts.join(" &nbsp;·&nbsp; ") + "</p>";
}

QString finding_html(const TraceData& data, const Finding& f) {
  QString text = "<li><b>" + escape(f.title) + "</b>";
  if (f.count > 1) text += QString(" ×%1").arg(f.count);
  if (f.cost_ns >= 0) text += " — " + duration_text(f.cost_ns);
  QStringList links;
  if (const QString at = line_link(f.file, f.line); !at.isEmpty()) links << at;
  if (const CompileRecord* c = data.compile(f.compile))
    links << (f.kernel ? QString("<a href=\"kernel:%1:%2\">show</a>").arg(c->id).arg(f.kernel) : compile_link(*c));
  if (!links.isEmpty()) text += " &nbsp; " + links.join(" &nbsp; ");
  if (!f.code.empty()) text += "<br><code>" + escape(f.code) + "</code>";
  if (!f.detail.empty()) text += "<br>" + escape(f.detail).replace("\n", "<br>");
  if (!f.hint.empty()) text += "<br><i>" + escape(f.hint).replace("\n", "<br>") + "</i>";
  return text + "</li>";
}

QString findings_html(const TraceData& data) {
  if (data.findings.empty()) return "<p>Nothing stands out: no breaks, no recompiles, no errors.</p>";
  QString text = "<ol>";
  for (size_t i = 0; i < std::min<size_t>(5, data.findings.size()); ++i) text += finding_html(data, data.findings[i]);
  text += "</ol>";
  if (data.findings.size() > 5)
    text += QString("<p><a href=\"view:problems\">All %1</a></p>").arg(data.findings.size());
  return text;
}

QString compile_row(const TraceData& data, const CompileRecord& c, bool first_of_frame) {
  const auto count = [](const auto& map, Id id) {
    const auto at = map.find(id);
    return at == map.end() ? QString() : QString::number(at->second);
  };
  std::int64_t breaks = 0;
  for (const auto& b : data.breaks) breaks += b.compile == c.id;
  QString why = escape(c.outcome == "failed" ? c.error.substr(0, 160) : c.cause.substr(0, 160));
  why.replace('\n', ' ');
  return QString(
             "<tr><td>%1</td><td>%2</td><td>%3</td><td align=right>%4</td><td align=right>%5</td>"
             "<td align=right>%6</td><td align=right>%7</td><td>%8</td></tr>")
      .arg(first_of_frame ? escape(data.frame_title(c)) : QString(), compile_link(c), escape(c.outcome),
           c.duration_ns >= 0 ? duration_text(static_cast<double>(c.duration_ns)) : QString(),
           breaks ? QString::number(breaks) : QString(), count(data.guards, c.id), count(data.kernels, c.id), why);
}

QString compiles_html(const TraceData& data) {
  if (data.compiles.empty()) return "<p>This trace holds no compiled graph.</p>";
  QString text =
      "<table cellspacing=0 cellpadding=4><tr><th align=left>Frame</th><th align=left>Compile</th>"
      "<th align=left>Outcome</th><th align=right>Time</th><th align=right>Breaks</th><th align=right>Guards</th>"
      "<th align=right>Kernels</th><th align=left>Why</th></tr>";
  std::vector<const CompileRecord*> order;
  for (const auto& c : data.compiles) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->process, a->frame, a->frame_number) < std::tuple(b->process, b->frame, b->frame_number);
  });
  constexpr size_t kShown = 400;
  for (size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    const bool first = i == 0 || order[i]->frame != order[i - 1]->frame || order[i]->frame == kNone;
    text += compile_row(data, *order[i], first);
  }
  text += "</table>";
  if (order.size() > kShown) text += QString("<p>… and %1 more</p>").arg(order.size() - kShown);
  return text;
}

QString runs_html(const TraceData& data) {
  struct Sum {
    std::int64_t count = 0, total = 0;
  };
  std::map<std::string, Sum> by_label;
  for (const auto& r : data.runs) {
    Sum& sum = by_label[r.label.empty() ? "run" : r.label];
    sum.count += 1;
    if (r.duration_ns > 0) sum.total = add_clamped(sum.total, r.duration_ns);
  }
  if (by_label.empty()) return {};
  QStringList parts;
  for (const auto& [label, sum] : by_label)
    parts << QString("%1: <b>%2</b>, %3")
                 .arg(escape(label))
                 .arg(sum.count)
                 .arg(duration_text(static_cast<double>(sum.total)));
  return "<h3>What was timed</h3><p>" + parts.join(" &nbsp;·&nbsp; ") +
         " &nbsp; <a href=\"view:timeline\">timeline</a> &nbsp; <a href=\"view:profile\">kernels</a>" +
         (data.eager_and_compiled ? " &nbsp; <a href=\"view:compare\">compare eager and compiled</a></p>" : "</p>");
}

}  // namespace

std::optional<SourceLocation> user_line(const std::vector<SourceLocation>& stack) {
  for (auto it = stack.rbegin(); it != stack.rend(); ++it)
    if (!inside_torch(it->file)) return *it;
  if (stack.empty()) return std::nullopt;
  return stack.back();
}

std::size_t TraceData::recompiled() const {
  std::set<Id> again;
  for (const RecompileRecord& r : recompiles) again.insert(r.compile);
  return again.size();
}

const CompileRecord* TraceData::compile(Id id) const {
  const auto at = std::find_if(compiles.begin(), compiles.end(), [id](const auto& c) { return c.id == id; });
  return at == compiles.end() ? nullptr : &*at;
}

std::string TraceData::frame_title(const CompileRecord& compile) const {
  const auto at = std::find_if(frames.begin(), frames.end(), [&](const auto& f) { return f.id == compile.frame; });
  if (at == frames.end()) return compile.name;
  if (at->file.empty()) return at->name;
  return fmt::format("{} ({}:{})", at->name, file_name(at->file), at->line);
}

TraceDataPtr load_trace_data(Reader& reader) {
  auto data = std::make_shared<TraceData>();
  for (auto& p : reader.properties()) data->properties[p.key] = p.value;
  data->processes = reader.processes();
  data->frames = reader.frames();
  data->compiles = reader.compiles();
  data->breaks = reader.graph_breaks();
  data->recompiles = reader.recompiles();
  data->diagnostics = reader.diagnostics();
  data->inputs = reader.inputs();
  data->runs = reader.runs();
  data->eager_and_compiled = has_eager_and_compiled(reader);
  for (const auto& c : data->compiles) {
    if (const auto guards = reader.guards(c.id).size()) data->guards[c.id] = static_cast<std::int64_t>(guards);
    if (const auto kernels = reader.kernels(c.id).size()) data->kernels[c.id] = static_cast<std::int64_t>(kernels);
  }
  read_places(reader, *data);
  std::set<std::string> paths;
  for (const auto& file : reader.source_files()) paths.insert(file.path);
  for (const auto& [stack, place] : data->places)
    if (!place.file.empty()) paths.insert(place.file);
  data->source_paths.assign(paths.begin(), paths.end());
  Findings(reader, *data).collect();
  return data;
}

QString overview_html(const TraceData& data, bool dark) {
  const QString style = QString(
                            "<style>a { color: %1; text-decoration: none; } h3 { margin: 14px 0 4px 0; } "
                            "li { margin-bottom: 7px; } code { font-family: monospace; } th { border-bottom: 1px solid "
                            "gray; }</style>")
                            .arg(dark ? "#7ab7ff" : "#1a5fb4");
  return style + "<h2>Overview</h2>" + ran_html(data) + totals_html(data) + "<h3>Most worth fixing</h3>" +
         findings_html(data) + runs_html(data) + "<h3>Compiles</h3>" + compiles_html(data);
}

QStringList finding_headers() { return {"What", "Times", "Cost", "Where", "Reason", "Way out"}; }

std::vector<TableRow> finding_rows(const TraceData& data) {
  std::vector<TableRow> rows;
  for (const Finding& f : data.findings) {
    TableRow row;
    const QString where = f.file.empty() ? QString() : QString("%1:%2").arg(qt(file_name(f.file))).arg(f.line);
    row.cells = {{qt(f.title), {}, qt(f.title)},
                 {QString::number(f.count), static_cast<qlonglong>(f.count)},
                 {duration_text(f.cost_ns), f.cost_ns},
                 {where, {}, qt(f.code)},
                 {qt(f.detail).simplified(), {}, qt(f.detail)},
                 {qt(f.hint).simplified(), {}, qt(f.hint)}};
    row.compile = f.compile;
    row.kernel = f.kernel;
    row.file = qt(f.file);
    row.line = static_cast<int>(f.line);
    row.mark = f.kind == Finding::Kind::Error ? "refused" : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList guard_headers() {
  return {"Kind", "Condition", "Looks at", "Line", "Checks", "Failures", "Cost", "What to change"};
}

namespace {
/// What to do about each guard that failed.
std::map<Id, QString> guard_advice(const std::vector<RecompileRecord>& recompiles) {
  std::map<Id, QString> advice;
  for (const RecompileRecord& r : recompiles)
    if (r.guard != kNone) advice.emplace(r.guard, qt(recompile_advice(explain_reason(r))));
  return advice;
}
}  // namespace

std::vector<TableRow> guard_rows(const std::vector<GuardRecord>& guards, const std::map<Id, SourceLocation>& places,
                                 const std::vector<RecompileRecord>& recompiles) {
  std::vector<TableRow> rows;
  const std::map<Id, QString> advice = guard_advice(recompiles);
  for (const GuardRecord& g : guards) {
    const auto what = advice.find(g.id);
    TableRow row;
    QString where, code;
    if (const auto at = places.find(g.stack); at != places.end()) {
      where = QString("%1:%2").arg(qt(file_name(at->second.file))).arg(at->second.line);
      code = qt(at->second.text);
      row.file = qt(at->second.file);
      row.line = static_cast<int>(at->second.line);
    }
    row.cells = {
        {qt(g.kind)},
        {qt(g.expression).simplified(), {}, qt(g.detail.empty() ? g.expression : g.detail)},
        {qt(g.source)},
        {where, {}, code},
        {g.hits ? QString::number(g.hits) : QString(), static_cast<qlonglong>(g.hits)},
        {g.failures ? QString::number(g.failures) : QString(), static_cast<qlonglong>(g.failures)},
        {g.cost_ns >= 0 ? duration_text(static_cast<double>(g.cost_ns)) : QString(), static_cast<double>(g.cost_ns)},
        {what == advice.end() ? QString() : what->second}};
    row.guard = g.id;
    row.mark = g.failures || what != advice.end() ? "refused" : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList chain_headers() {
  return {"Compile", "Outcome", "Time", "Guard that failed", "Expected", "Found", "Line", "What to change"};
}

std::vector<TableRow> chain_rows(const TraceData& data, const CompileRecord& compile) {
  std::vector<TableRow> rows;
  for (const CompileRecord& c : data.compiles) {
    const bool same = compile.frame != kNone ? c.frame == compile.frame
                                             : c.process == compile.process && c.frame_number == compile.frame_number;
    if (!same) continue;
    TableRow row;
    QString guard = qt(c.cause).section('\n', 0, 0), expected, actual, where, change;
    for (const RecompileRecord& r : data.recompiles) {
      if (r.compile != c.id) continue;
      guard = qt(r.expression.empty() ? r.reason : r.expression).section('\n', 0, 0);
      expected = qt(r.expected);
      actual = qt(r.actual);
      change = qt(recompile_advice(explain_reason(r)));
      if (const auto at = data.places.find(r.stack); at != data.places.end()) {
        where = QString("%1:%2").arg(qt(file_name(at->second.file))).arg(at->second.line);
        row.file = qt(at->second.file);
        row.line = static_cast<int>(at->second.line);
      }
      break;  // the first is the guard of the newest compile, which was asked first
    }
    row.cells = {{qt(c.address)},
                 {qt(c.outcome)},
                 {c.duration_ns >= 0 ? duration_text(static_cast<double>(c.duration_ns)) : QString(),
                  static_cast<double>(c.duration_ns)},
                 {guard},
                 {expected},
                 {actual},
                 {where},
                 {change}};
    row.compile = c.id;
    row.mark = c.outcome == "failed" ? "refused" : c.id == compile.id ? "changed" : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::studio
