// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/explain_text.h"
#include "app/cli/json_text.h"

namespace strata::cli {
namespace {

Json place_json(const ExplainPlace& p) {
  if (p.file.empty()) return Json{};
  return Json{JsonObject{
      {"file", json(p.file)}, {"line", json(p.line)}, {"function", json(p.function)}, {"text", json(p.text)}}};
}

Json optional_json(const std::optional<std::int64_t>& value) { return value ? json(*value) : Json{}; }

template <class List, class Make>
Json array_json(const List& list, Make&& make) {
  JsonArray items;
  for (const auto& item : list) items.push_back(make(item));
  return Json{std::move(items)};
}

Json finding_json(const ExplainFinding& f) {
  return Json{JsonObject{{"kind", json(f.kind)},
                         {"title", json(f.title)},
                         {"advice", json(f.advice)},
                         {"place", place_json(f.place)},
                         {"graphs", json_list(f.compiles)},
                         {"count", json(f.count)},
                         {"cost_ns", json(f.cost_ns)}}};
}

Json compile_json(const ExplainCompile& c) {
  return Json{JsonObject{{"graph", json(c.address)},
                         {"attempts", json(c.attempts)},
                         {"outcome", json(c.outcome)},
                         {"cause", json(c.cause)},
                         {"error", json(c.error)},
                         {"cost_ns", json(c.cost_ns)},
                         {"captured", json(c.graph)},
                         {"nodes", json(c.nodes)},
                         {"kernels", json(c.kernels)},
                         {"opaque", json(c.opaque)},
                         {"backend", json(c.backend)},
                         {"left", json(c.left)},
                         {"breaks", json(c.breaks)},
                         {"guards", json(c.guards)},
                         {"guard_latency_ns", json(c.guard_latency_ns)}}};
}

Json frame_json(const ExplainFrame& f) {
  return Json{JsonObject{{"rank", json(f.rank)},
                         {"pid", json(f.pid)},
                         {"frame", json(f.number)},
                         {"function", json(f.place.function)},
                         {"file", json(f.place.file)},
                         {"line", json(f.place.line)},
                         {"resumes", json(f.resumes)},
                         {"cost_ns", json(f.cost_ns)},
                         {"compiles", array_json(f.compiles, compile_json)}}};
}

Json break_json(const ExplainBreak& b) {
  const auto location = [](const trace::SourceLocation& l) { return place_json({l.file, l.line, l.function, l.text}); };
  return Json{JsonObject{{"place", place_json(b.place)},
                         {"caller", place_json(b.caller)},
                         {"kind", json(b.kind)},
                         {"reason", json(b.reason)},
                         {"explanation", json(b.explanation)},
                         {"hints", json_list(b.hints)},
                         {"advice", json(b.advice)},
                         {"link", json(b.link)},
                         {"graphs", json_list(b.compiles)},
                         {"count", json(b.count)},
                         {"cost_ns", json(b.cost_ns)},
                         {"stack", array_json(b.stack, location)}}};
}

Json reason_json(const ExplainReason& r) {
  return Json{JsonObject{{"of", json(r.of)},
                         {"form", json(r.form)},
                         {"source", json(r.source)},
                         {"guard", json(r.expression)},
                         {"expected", json(r.expected)},
                         {"actual", json(r.actual)},
                         {"inferred", json(r.inferred)},
                         {"place", place_json(r.place)}}};
}

Json recompile_json(const ExplainRecompile& r) {
  return Json{JsonObject{{"graph", json(r.compile)},
                         {"function", json(r.function)},
                         {"reasons", array_json(r.reasons, reason_json)},
                         {"advice", json(r.advice)},
                         {"cost_ns", json(r.cost_ns)}}};
}

Json opaque_json(const ExplainOpaque& o) {
  return Json{JsonObject{{"graph", json(o.compile)},
                         {"target", json(o.target)},
                         {"by", json(o.by)},
                         {"count", json(o.count)},
                         {"time_ns", json(o.time_ns)},
                         {"share", json(o.share)},
                         {"place", place_json(o.place)}}};
}

Json guards_json(const ExplainGuards& g) {
  const auto kind = [](const ExplainGuards::Kind& k) {
    return Json{JsonObject{{"kind", json(k.kind)}, {"count", json(k.count)}, {"failures", json(k.failures)}}};
  };
  const auto check = [](const ExplainGuards::Check& c) {
    return Json{JsonObject{{"graph", json(c.compile)}, {"count", json(c.count)}, {"latency_ns", json(c.latency_ns)}}};
  };
  return Json{JsonObject{
      {"count", json(g.count)}, {"kinds", array_json(g.kinds, kind)}, {"compiles", array_json(g.costliest, check)}}};
}

Json symbol_json(const ExplainSymbol& s) {
  return Json{JsonObject{{"graph", json(s.compile)},
                         {"name", json(s.name)},
                         {"origin", json(s.origin)},
                         {"hint", optional_json(s.hint)},
                         {"min", optional_json(s.min)},
                         {"max", optional_json(s.max)},
                         {"place", place_json(s.place)}}};
}

Json assumption_json(const ExplainAssumption& a) {
  return Json{JsonObject{{"graph", json(a.compile)},
                         {"expression", json(a.expression)},
                         {"kind", json(a.kind)},
                         {"reason", json(a.reason)},
                         {"place", place_json(a.place)}}};
}

Json note_json(const ExplainNote& n) {
  using Severity = trace::DiagnosticRecord::Severity;
  const char* severity = n.severity == Severity::Error ? "error" : n.severity == Severity::Warning ? "warning" : "info";
  return Json{JsonObject{{"severity", json(severity)},
                         {"kind", json(n.kind)},
                         {"title", json(n.title)},
                         {"detail", json(n.detail)},
                         {"hint", json(n.hint)},
                         {"graphs", json_list(n.compiles)},
                         {"place", place_json(n.place)},
                         {"count", json(n.count)},
                         {"cost_ns", json(n.cost_ns)}}};
}

Json phase_json(const ExplainPhase& p) {
  const auto span = [](const ExplainPhase::Span& s) {
    return Json{JsonObject{{"name", json(s.name)},
                           {"count", json(s.count)},
                           {"total_ns", json(s.total_ns)},
                           {"self_ns", json(s.self_ns)}}};
  };
  return Json{JsonObject{{"name", json(p.name)}, {"self_ns", json(p.self_ns)}, {"spans", array_json(p.spans, span)}}};
}

}  // namespace

Json explain_json(const Explanation& e) {
  JsonArray ranks;
  for (const std::int64_t rank : e.ranks) ranks.push_back(json(rank));
  return Json{JsonObject{{"producer", json(e.producer)},
                         {"processes", json(e.processes)},
                         {"ranks", Json{std::move(ranks)}},
                         {"compiles", json(e.compiles)},
                         {"attempts", json(e.attempts)},
                         {"graphs", json(e.graphs)},
                         {"breaks", json(e.breaks)},
                         {"recompiles", json(e.recompiles)},
                         {"compile_ns", json(e.compile_ns)},
                         {"fix_first", array_json(e.findings, finding_json)},
                         {"frames", array_json(e.frames, frame_json)},
                         {"break_list", array_json(e.break_groups, break_json)},
                         {"recompile_list", array_json(e.recompile_list, recompile_json)},
                         {"opaque", array_json(e.opaque, opaque_json)},
                         {"guards", guards_json(e.guards)},
                         {"symbols", array_json(e.symbols, symbol_json)},
                         {"assumptions", array_json(e.assumptions, assumption_json)},
                         {"notes", array_json(e.notes, note_json)},
                         {"phases_ns", json(e.phases_ns)},
                         {"phases", array_json(e.phases, phase_json)}}};
}

}  // namespace strata::cli
