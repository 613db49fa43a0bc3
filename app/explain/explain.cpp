// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "app/explain/explain_opaque.h"
#include "app/explain/explain_time.h"
#include "capture/torch_text/python_traceback.h"
#include "capture/torch_text/recompile_reason.h"
#include "core/support/clamped.h"

namespace strata {
namespace {

using trace::Id;
using trace::kNone;

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end != 0) lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Sums costs of which some are unknown, and some of damaged logs are larger than any time.
void add_cost(std::int64_t& sum, std::int64_t cost) {
  if (cost < 0) return;
  sum = std::max<std::int64_t>(sum, 0);
  sum = add_clamped(sum, cost);
}

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

/// What a compile is apart from its attempts.
using CompileKey = std::tuple<Id, std::string, std::int64_t, std::int64_t>;

CompileKey key_of(const trace::CompileRecord& c) { return {c.process, c.prefix, c.frame_number, c.compile_number}; }

/// `0/1` for `0/1_2`.
std::string without_attempt(const trace::CompileRecord& c) {
  const std::string end = fmt::format("_{}", c.attempt);
  return c.attempt > 0 && c.address.ends_with(end) ? c.address.substr(0, c.address.size() - end.size()) : c.address;
}

/// `f at line 12` for `torch_dynamo_resume_in_f_at_12`.
std::string resumed(std::string_view name) {
  constexpr std::string_view kStart = "torch_dynamo_resume_in_";
  const std::size_t at = name.rfind("_at_");
  if (!name.starts_with(kStart) || at == std::string_view::npos || at < kStart.size()) return {};
  return fmt::format("{} at line {}", name.substr(kStart.size(), at - kStart.size()), name.substr(at + 4));
}

constexpr double kWorthTelling = 0.1;  // of the run time

/// Whether a file is installed, not written by the user.
bool is_library(std::string_view file) {
  return file.find("site-packages/") != std::string_view::npos ||
         file.find("dist-packages/") != std::string_view::npos || file.find("/lib/python3") != std::string_view::npos ||
         file.starts_with('<');
}

class Explainer {
 public:
  Explainer(trace::Reader& reader, std::string_view address) : reader_(reader), compiles_(in_time(reader)) {
    std::optional<CompileKey> only;
    if (!address.empty()) only = key_of(reader_.find_compile(address));
    for (const trace::CompileRecord& c : compiles_) {
      by_id_[c.id] = &c;
      if (!only || key_of(c) == *only) selected_.insert(c.id);
    }
    filtered_ = only.has_value();
    for (const trace::SourceFileRecord& file : reader_.source_files()) known_sources_.insert(file.path);
  }

  Explanation run() {
    header();
    breaks();
    recompiles();
    frames();
    guards();
    shapes();
    notes();
    opaque();
    explain_time(reader_, filtered_ ? &selected_ : nullptr, out_);
    findings();
    return std::move(out_);
  }

 private:
  /// A recorder's rows come before those that only PyTorch's log knows: by time they are in order again.
  static std::vector<trace::CompileRecord> in_time(trace::Reader& reader) {
    std::vector<trace::CompileRecord> compiles = reader.compiles();
    if (reader.property("producer") == "strata")
      std::stable_sort(compiles.begin(), compiles.end(),
                       [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    return compiles;
  }

  bool selected(Id compile) const { return filtered_ ? selected_.contains(compile) : true; }

  std::string address(Id compile) const {
    const auto found = by_id_.find(compile);
    return found == by_id_.end() ? std::string() : without_attempt(*found->second);
  }

  ExplainPlace place(const trace::SourceLocation& location) {
    ExplainPlace out{location.file, location.line, location.function, location.text};
    if (out.text.empty()) out.text = source_line(out.file, out.line);
    return out;
  }

  ExplainPlace place(Id stack) {
    if (stack == kNone) return {};
    const auto locations = reader_.stack(stack);
    return locations.empty() ? ExplainPlace{} : place(locations.back());
  }

  /// The innermost line that is not PyTorch's own, if there is one.
  ExplainPlace user_place(Id stack) {
    if (stack == kNone) return {};
    const auto locations = reader_.stack(stack);
    for (auto l = locations.rbegin(); l != locations.rend(); ++l)
      if (l->file.find("site-packages/torch/") == std::string::npos && l->file.starts_with('/')) return place(*l);
    return locations.empty() ? ExplainPlace{} : place(locations.back());
  }

  std::string source_line(const std::string& file, std::int64_t line) {
    if (line <= 0 || !known_sources_.contains(file)) return {};
    auto cached = sources_.find(file);
    if (cached == sources_.end()) {
      std::map<std::int64_t, std::string> lines;
      if (const auto record = reader_.source_file(file)) {
        for (const auto& l : record->lines) lines[l.number] = l.text;
        std::int64_t number = 0;
        if (!record->excerpt)
          for (std::string_view rest = record->text; !rest.empty();) {
            const std::size_t end = rest.find('\n');
            lines[++number] = rest.substr(0, end);
            if (end == std::string_view::npos) break;
            rest.remove_prefix(end + 1);
          }
      }
      cached = sources_.emplace(file, std::move(lines)).first;
    }
    const auto found = cached->second.find(line);
    if (found == cached->second.end()) return {};
    const std::size_t start = found->second.find_first_not_of(" \t");
    return start == std::string::npos ? std::string() : found->second.substr(start);
  }

  void header() {
    for (const trace::InputRecord& input : reader_.inputs())
      if (out_.producer.empty()) out_.producer = input.producer;
    if (out_.producer.empty())
      for (const char* key : {"producer", "version"})
        if (const auto value = reader_.property(key)) out_.producer += (out_.producer.empty() ? "" : " ") + *value;
    for (const trace::ProcessRecord& p : reader_.processes()) {
      processes_[p.id] = p;
      if (p.rank >= 0) add_once(out_.ranks, p.rank);
    }
    std::sort(out_.ranks.begin(), out_.ranks.end());
    out_.processes = static_cast<std::int64_t>(processes_.size());
  }

  // ---- breaks ---------------------------------------------------------------------------------------------------

  void breaks() {
    std::map<std::tuple<std::string, std::int64_t, std::string>, std::size_t> groups;
    for (const trace::GraphBreakRecord& b : reader_.graph_breaks()) {
      if (!selected(b.compile)) continue;
      ++out_.breaks;
      if (const auto found = by_id_.find(b.compile); found != by_id_.end()) ++breaks_of_[key_of(*found->second)];
      const std::string kind = first_line(b.kind.empty() ? b.reason : b.kind);
      const ExplainPlace at = place(b.stack);
      const auto [group, fresh] = groups.try_emplace({at.file, at.line, kind}, out_.break_groups.size());
      if (fresh) out_.break_groups.push_back(new_break(b, kind, at));
      ExplainBreak& to = out_.break_groups[group->second];
      ++to.count;
      add_cost(to.cost_ns, b.cost_ns);
      if (const std::string a = address(b.compile); !a.empty()) add_once(to.compiles, a);
    }
    std::stable_sort(out_.break_groups.begin(), out_.break_groups.end(),
                     [](const ExplainBreak& a, const ExplainBreak& b) { return a.cost_ns > b.cost_ns; });
  }

  ExplainBreak new_break(const trace::GraphBreakRecord& b, const std::string& kind, const ExplainPlace& at) {
    ExplainBreak out;
    out.place = at;
    out.kind = kind;
    out.reason = b.reason;
    out.explanation = b.explanation;
    out.link = b.link;
    out.hints = lines_of(b.hint);
    out.advice = break_advice(b.kind, b.reason, b.explanation);
    out.stack = b.stack == kNone ? std::vector<trace::SourceLocation>() : reader_.stack(b.stack);
    if (is_library(at.file))
      for (const trace::SourceLocation& l : out.stack)
        if (!is_library(l.file)) out.caller = place(l);
    return out;
  }

  // ---- recompiles -----------------------------------------------------------------------------------------------

  void recompiles() {
    std::map<CompileKey, std::size_t> places;
    for (const trace::RecompileRecord& r : reader_.recompiles()) {
      const auto compile = by_id_.find(r.compile);
      if (!selected(r.compile)) continue;
      const CompileKey key = compile == by_id_.end() ? CompileKey{kNone, "", -1, r.id} : key_of(*compile->second);
      const auto [at, fresh] = places.try_emplace(key, out_.recompile_list.size());
      if (fresh) {
        ExplainRecompile entry;
        entry.compile = address(r.compile);
        if (compile != by_id_.end()) entry.function = compile->second->name;
        out_.recompile_list.push_back(std::move(entry));
      }
      ExplainRecompile& to = out_.recompile_list[at->second];
      to.cost_ns = std::max(to.cost_ns, r.cost_ns);
      to.reasons.push_back(reason(r));
      recompile_of_[key] = at->second;
    }
    for (ExplainRecompile& r : out_.recompile_list) r.advice = recompile_advice(r.reasons.front());
    out_.recompiles = static_cast<std::int64_t>(out_.recompile_list.size());
  }

  ExplainReason reason(const trace::RecompileRecord& r) {
    ExplainReason out = explain_reason(r);
    if (const std::string of = address(r.of); !of.empty()) out.of = of;
    out.place = user_place(r.stack);
    return out;
  }

  // ---- compiles -------------------------------------------------------------------------------------------------

  void frames() {
    std::map<Id, trace::FrameRecord> records;
    for (trace::FrameRecord& f : reader_.frames()) records[f.id] = std::move(f);
    for (const trace::MetricRecord& m : reader_.metrics())
      if (m.owner.kind == trace::OwnerKind::Compile) metrics_[{m.owner.id, m.key}] = m.value;
    for (const trace::CompileRecord& c : compiles_)
      if (selected(c.id)) kernel_cache(c);
    std::map<std::tuple<Id, std::string, std::int64_t>, std::size_t> frames;
    std::map<CompileKey, std::pair<std::size_t, std::size_t>> compiles;
    for (const trace::CompileRecord& c : compiles_) {
      if (!selected(c.id)) continue;
      ++out_.attempts;
      const auto [frame, fresh] = frames.try_emplace({c.process, c.prefix, c.frame_number}, out_.frames.size());
      if (fresh) out_.frames.push_back(new_frame(c, records));
      ExplainFrame& to = out_.frames[frame->second];
      const auto [at, first] = compiles.try_emplace(key_of(c), frame->second, to.compiles.size());
      if (first) to.compiles.emplace_back().attempts = 0;
      add_attempt(to.compiles[at->second.second], c);
      add_cost(to.cost_ns, c.duration_ns);
      add_cost(out_.compile_ns, c.duration_ns);
    }
    const std::map<Id, std::string> backends = backends_of(reader_);
    for (ExplainFrame& frame : out_.frames)
      for (ExplainCompile& c : frame.compiles) {
        finish_compile(c);
        if (const auto backend = backends.find(c.last); backend != backends.end()) c.backend = backend->second;
      }
  }

  /// Our own compiles count in metrics what PyTorch's logs say entry by entry.
  void kernel_cache(const trace::CompileRecord& c) {
    for (const auto& [word, metric] : {std::pair("hit", "kernel_cache:hits"), {"miss", "kernel_cache:misses"}}) {
      const auto found = metrics_.find({c.id, metric});
      if (found == metrics_.end() || !(found->second > 0)) continue;
      ExplainNote note;
      note.kind = std::string("cache-") + word;
      note.title = std::string("kernel cache ") + word;
      note.compiles.push_back(c.address);
      note.count = static_cast<std::int64_t>(found->second);
      const auto cost = metrics_.find({c.id, "time:generate_code"});
      if (metric == std::string_view("kernel_cache:misses") && cost != metrics_.end())
        note.cost_ns = static_cast<std::int64_t>(cost->second);
      out_.notes.push_back(std::move(note));
    }
  }

  /// What no code was made for: single calls, and graphs as a whole.
  void opaque() {
    for (const trace::DiagnosticRecord& d : reader_.diagnostics())
      if (d.kind == "left") left_[d.compile] = d.title;
    for (ExplainFrame& frame : out_.frames)
      for (ExplainCompile& c : frame.compiles) {
        if (const auto left = left_.find(c.last); left != left_.end()) c.left = left->second;
        for (ExplainOpaque& call : opaque_calls(reader_, *by_id_.at(c.last))) {
          call.compile = c.address;
          if (call.place.text.empty()) call.place.text = source_line(call.place.file, call.place.line);
          c.opaque += call.count;
          out_.opaque.push_back(std::move(call));
        }
      }
  }

  ExplainFrame new_frame(const trace::CompileRecord& c, std::map<Id, trace::FrameRecord>& records) {
    ExplainFrame out;
    if (const auto process = processes_.find(c.process); process != processes_.end()) {
      out.rank = process->second.rank;
      out.pid = process->second.pid;
    }
    out.number = c.frame_number;
    const trace::FrameRecord& frame = records[c.frame];
    out.place = {frame.file, frame.line, frame.name.empty() ? c.name : frame.name, source_line(frame.file, frame.line)};
    out.resumes = resumed(out.place.function);
    return out;
  }

  void add_attempt(ExplainCompile& to, const trace::CompileRecord& c) {
    ++to.attempts;
    if (!c.cause.empty()) to.cause = first_line(c.cause);
    add_cost(to.cost_ns, c.duration_ns);
    // Rows need not be in the order of the attempts.
    if (const auto known = by_id_.find(to.last); known != by_id_.end() && known->second->attempt > c.attempt) return;
    to.last = c.id;
    to.address = without_attempt(c);
    to.outcome = c.outcome;
    to.error = c.error;
  }

  void finish_compile(ExplainCompile& c) {
    ++out_.compiles;
    const trace::CompileRecord& record = *by_id_.at(c.last);
    c.breaks = breaks_of_[key_of(record)];
    for (const trace::SnapshotRecord& s : reader_.snapshots(c.last)) {
      if (s.kind != trace::SnapshotKind::Graph || c.graph) continue;
      c.graph = true;
      c.nodes = s.node_count;
    }
    out_.graphs += c.graph ? 1 : 0;
    c.kernels = static_cast<std::int64_t>(reader_.kernels(c.last).size());
    if (const auto at = metrics_.find({c.last, "guard_latency"}); at != metrics_.end()) c.guard_latency_ns = at->second;
    if (const auto at = recompile_of_.find(key_of(record)); at != recompile_of_.end())
      c.cause = cause(out_.recompile_list[at->second].reasons.front());
  }

  /// `x.size()[0]`: what a relation over one size is about.
  static std::string size_name(const ExplainReason& r) {
    const std::size_t size = r.expression.find(".size()[");
    if (size == std::string::npos) return r.source;
    return r.source + r.expression.substr(size, r.expression.find(']', size) + 1 - size);
  }

  /// `n: 2 -> 3`.
  static std::string cause(const ExplainReason& r) {
    if (r.expected.empty() || r.actual.empty()) return r.expression;
    std::string what = r.source.empty() ? r.expression : r.source;
    const bool plain = r.form == "value" || r.form == "type" || r.form == "shape" || r.form == "backend";
    if (!plain) what = fmt::format("{} of {}", r.form, what);
    if (r.form == "shape") return fmt::format("{} = {}, needs {}", size_name(r), r.actual, r.expected);
    return fmt::format("{}: {} -> {}", what, r.expected, r.actual);
  }

  /// `expected 2, found 3`.
  static std::string values(const ExplainReason& r) {
    if (r.expected.empty() && r.actual.empty()) return r.expression;
    return fmt::format("expected {}, found {}", r.expected.empty() ? "another value" : r.expected,
                       r.actual.empty() ? "another value" : r.actual);
  }

  // ---- guards and shapes ----------------------------------------------------------------------------------------

  void guards() {
    std::map<std::string, ExplainGuards::Kind> kinds;
    for (ExplainFrame& frame : out_.frames)
      for (ExplainCompile& c : frame.compiles) {
        for (const trace::GuardRecord& g : reader_.guards(c.last)) {
          ++c.guards;
          ExplainGuards::Kind& kind = kinds[g.kind];
          kind.kind = g.kind;
          ++kind.count;
          kind.failures += g.failures;
        }
        out_.guards.count += c.guards;
        if (c.guards > 0) out_.guards.costliest.push_back({c.address, c.guards, c.guard_latency_ns});
      }
    for (auto& [name, kind] : kinds) out_.guards.kinds.push_back(kind);
    std::stable_sort(out_.guards.kinds.begin(), out_.guards.kinds.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    std::stable_sort(out_.guards.costliest.begin(), out_.guards.costliest.end(),
                     [](const auto& a, const auto& b) { return a.latency_ns > b.latency_ns; });
  }

  void shapes() {
    for (const ExplainFrame& frame : out_.frames)
      for (const ExplainCompile& c : frame.compiles) {
        // Where two producers know a symbol, the one that says where it comes from counts.
        std::map<std::string, std::size_t> seen;
        for (const trace::SymbolRecord& s : reader_.symbols(c.last)) {
          const auto [at, fresh] = seen.try_emplace(s.name, out_.symbols.size());
          ExplainSymbol symbol{c.address, s.name, s.origin, s.hint, s.min, s.max, place(s.stack)};
          if (fresh)
            out_.symbols.push_back(std::move(symbol));
          else if (out_.symbols[at->second].place.file.empty() && !symbol.place.file.empty())
            out_.symbols[at->second] = std::move(symbol);
        }
        for (const trace::AssumptionRecord& a : reader_.assumptions(c.last))
          out_.assumptions.push_back({c.address, a.expression, a.kind, a.reason, user_place(a.stack)});
      }
  }

  // ---- notes ----------------------------------------------------------------------------------------------------

  void notes() {
    std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, std::size_t> groups;
    for (const trace::DiagnosticRecord& d : reader_.diagnostics()) {
      if (filtered_ && !selected_.contains(d.compile)) continue;
      const ExplainPlace at = user_place(d.stack);
      const auto [group, fresh] = groups.try_emplace({d.kind, d.title, at.file, at.line}, out_.notes.size());
      if (fresh) {
        ExplainNote note;
        note.severity = d.severity;
        note.kind = d.kind;
        note.title = full_title(d);
        note.detail = d.detail;
        note.hint = d.kind == "error" ? error_advice(note.title) : d.hint;
        note.place = at;
        out_.notes.push_back(std::move(note));
      }
      ExplainNote& to = out_.notes[group->second];
      ++to.count;
      add_cost(to.cost_ns, d.cost_ns);
      if (const std::string a = address(d.compile); !a.empty()) add_once(to.compiles, a);
    }
    failed_compiles();
    std::stable_sort(out_.notes.begin(), out_.notes.end(),
                     [](const ExplainNote& a, const ExplainNote& b) { return a.severity > b.severity; });
  }

  /// Some errors say only in their second line what happened.
  static std::string full_title(const trace::DiagnosticRecord& d) {
    if (d.kind != "error" || !d.title.ends_with(':')) return d.title;
    const std::vector<std::string> message = lines_of(capture::parse_python_error(d.detail).message);
    return message.size() > 1 ? d.title + " " + message[1] : d.title;
  }

  /// Dynamo raises an error where it gives up to compile a function again.
  static bool is_limit(const ExplainNote& n) {
    return n.kind == "recompile-limit" || n.title.find("recompile limit") != std::string::npos ||
           n.title.find("cache_size_limit") != std::string::npos;
  }

  /// Compiles that failed without a record of the error.
  void failed_compiles() {
    for (const trace::CompileRecord& c : compiles_) {
      if (!selected(c.id) || c.error.empty()) continue;
      const std::string compile = without_attempt(c);
      const bool told = std::any_of(out_.notes.begin(), out_.notes.end(), [&](const ExplainNote& n) {
        return n.kind == "error" && std::find(n.compiles.begin(), n.compiles.end(), compile) != n.compiles.end();
      });
      if (told) continue;
      ExplainNote note;
      note.severity = trace::DiagnosticRecord::Severity::Error;
      note.kind = "error";
      note.title = first_line(c.error);
      note.detail = c.error;
      note.hint = error_advice(note.title);
      note.compiles = {compile};
      note.count = 1;
      note.cost_ns = c.duration_ns;
      out_.notes.push_back(std::move(note));
    }
  }

  // ---- what to do -----------------------------------------------------------------------------------------------

  void findings() {
    for (const ExplainBreak& b : out_.break_groups)
      out_.findings.push_back({"break", fmt::format("graph break: {}", b.kind.empty() ? b.reason : b.kind), b.advice,
                               b.place, b.compiles, b.count, b.cost_ns,
                               b.explanation.empty() ? b.reason : b.explanation, b.caller, b.hints});
    recompile_findings();
    note_findings();
    opaque_findings();
    std::stable_sort(out_.findings.begin(), out_.findings.end(), [](const auto& a, const auto& b) {
      return std::pair(urgent(a), a.cost_ns) > std::pair(urgent(b), b.cost_ns);
    });
  }

  /// What runs without compiled code, or not at all, comes before what only costs time.
  static bool urgent(const ExplainFinding& f) { return f.kind == "error" || f.kind == "recompile-limit"; }

  /// Recompiles of one function for one reason are one thing to do.
  void recompile_findings() {
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> groups;
    for (const ExplainRecompile& r : out_.recompile_list) {
      const ExplainReason& first = r.reasons.front();
      const auto [at, fresh] =
          groups.try_emplace({r.function, first.form, first.source + (first.source.empty() ? first.expression : "")},
                             out_.findings.size());
      if (fresh) {
        const std::string title =
            fmt::format("{}compiled again: {}", r.function.empty() ? "" : r.function + " ", cause(first));
        out_.findings.push_back({"recompile", title, r.advice, first.place, {}, 0, -1, values(first), {}, {}});
      }
      ExplainFinding& to = out_.findings[at->second];
      ++to.count;
      add_cost(to.cost_ns, r.cost_ns);
      if (!r.compile.empty()) to.compiles.push_back(r.compile);
    }
  }

  /// Calls that take a part of the time that is worth looking at.
  void opaque_findings() {
    for (const ExplainOpaque& o : out_.opaque) {
      if (o.share < kWorthTelling) continue;
      out_.findings.push_back(
          {"opaque",
           fmt::format("{} calls {} for {}: {:.0f}% of the time of its kernels", o.compile,
                       o.by == "PyTorch" ? "PyTorch" : "the reference interpreter", o.target, 100 * o.share),
           "the compiler has no code for this operator: use others that do the same, or keep it out of what must be "
           "fast",
           o.place,
           {o.compile},
           o.count,
           -1,
           {},
           {},
           {}});
    }
  }

  void note_findings() {
    for (const ExplainNote& n : out_.notes) {
      std::string advice = n.hint;
      if (is_limit(n)) {
        advice =
            "the function runs without compiled code from here on: mend what it is compiled again for, before "
            "raising the limit";
      } else if (n.kind == "cudagraph-skip") {
        if (advice.empty())
          advice = "every kernel is launched from the host: remove the cause, or use a mode without CUDA graphs";
      } else if (n.kind == "cache-bypass") {
        if (advice.empty()) advice = "this compile is done anew in every process: remove what cannot be cached";
      } else if (n.kind == "left") {
        if (advice.empty())
          advice =
              "PyTorch runs all of this graph as it would without the compiler: remove the cause to have it compiled";
      } else if (n.kind == "error") {
        if (is_break(n) || is_given_up(n)) continue;
      } else if (n.kind == "restart") {
        if (is_break(n)) continue;
        advice = restart_advice(n.title);
      } else if (n.kind != "rank" || n.severity == trace::DiagnosticRecord::Severity::Info) {
        continue;
      }
      out_.findings.push_back({is_limit(n) ? "recompile-limit" : n.kind,
                               finding_title(n),
                               advice,
                               n.place,
                               n.compiles,
                               n.count,
                               n.cost_ns,
                               n.detail,
                               {},
                               {}});
    }
  }

  /// `BackendCompilerFailed: ...` without the module of the exception.
  static std::string short_type(const std::string& title) {
    const std::size_t end = title.find(':'), dot = title.rfind('.', end);
    const bool dotted = dot != std::string::npos && end != std::string::npos && title.find(' ') > dot;
    return dotted ? title.substr(dot + 1) : title;
  }

  static std::string finding_title(const ExplainNote& n) {
    if (n.kind == "left") return "graph left to PyTorch: " + n.title;
    if (n.kind == "error") return short_type(n.title);
    return n.kind == "restart" ? fmt::format("analysis started over: {}", class_name(n.title)) : n.title;
  }

  /// `Restart` for `<class 'torch.exc.Restart'>`.
  static std::string class_name(const std::string& text) {
    if (!text.starts_with("<class '") || !text.ends_with("'>")) return text;
    const std::size_t start = std::max<std::size_t>(text.rfind('.') + 1, 8);
    return text.substr(start, text.size() - 2 - start);
  }

  /// The bare error of a compile whose limit is a note of its own.
  bool is_given_up(const ExplainNote& n) const {
    return n.title == "Unsupported" && std::any_of(out_.notes.begin(), out_.notes.end(), [&](const ExplainNote& other) {
             return other.kind == "recompile-limit" && other.compiles == n.compiles;
           });
  }

  /// An error that is the graph break of the same compile, told again.
  bool is_break(const ExplainNote& n) const {
    for (const ExplainBreak& b : out_.break_groups)
      for (const std::string& compile : n.compiles)
        if (std::find(b.compiles.begin(), b.compiles.end(), compile) != b.compiles.end() &&
            (n.title.find(b.kind) != std::string::npos || (n.place.line > 0 && n.place.line == b.place.line)))
          return true;
    return false;
  }

  trace::Reader& reader_;
  const std::vector<trace::CompileRecord> compiles_;
  std::map<Id, const trace::CompileRecord*> by_id_;
  std::set<Id> selected_;
  bool filtered_ = false;
  std::map<Id, trace::ProcessRecord> processes_;
  std::set<std::string> known_sources_;
  std::map<std::string, std::map<std::int64_t, std::string>> sources_;
  std::map<CompileKey, std::int64_t> breaks_of_;
  std::map<CompileKey, std::size_t> recompile_of_;
  std::map<Id, std::string> left_;
  std::map<std::pair<Id, std::string>, double> metrics_;
  Explanation out_;
};

}  // namespace

ExplainReason explain_reason(const trace::RecompileRecord& r) {
  const capture::RecompileText parsed = capture::parse_recompile_reason(r.reason.empty() ? r.expression : r.reason);
  ExplainReason out;
  out.of = parsed.of;
  out.form = capture::form_name(parsed.form);
  out.source = parsed.source;
  out.expression = r.expression.empty() ? parsed.expression : r.expression;
  out.expected = r.expected;
  out.actual = r.actual;
  out.inferred = !r.actual.empty() && parsed.actual.empty();
  return out;
}

Explanation explain(trace::Reader& reader, std::string_view address) { return Explainer(reader, address).run(); }

}  // namespace strata
