// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata graphs`, `stages`, `passes`, `backends`: what there is.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "app/cli/table.h"
#include "app/driver/compile.h"
#include "app/explain/explain_opaque.h"
#include "core/support/error.h"
#include "passes/pass.h"

namespace strata::cli {
namespace {

struct ListOptions {
  std::string trace;
  Address address;
  bool json = false;
};

void say_unfinished(trace::Reader& reader) {
  if (reader.unfinished())
    note(fmt::format("'{}' is unfinished: it is being written, or its writer was killed", reader.path().string()));
}

/// What the trace says about the compiles beside their records.
struct GraphFacts {
  explicit GraphFacts(trace::Reader& reader) {
    for (trace::FrameRecord& f : reader.frames()) frames[f.id] = std::move(f);
    for (const trace::ProcessRecord& p : reader.processes()) ranks[p.id] = p.rank;
    for (trace::GraphBreakRecord& b : reader.graph_breaks()) breaks[b.compile].push_back(std::move(b));
    for (trace::RecompileRecord& r : reader.recompiles()) recompiles[r.compile].push_back(std::move(r));
    for (const trace::DiagnosticRecord& d : reader.diagnostics())
      if (d.kind == "left") left[d.compile] = d.title;
    backends = backends_of(reader);
  }
  std::map<trace::Id, trace::FrameRecord> frames;
  std::map<trace::Id, std::int64_t> ranks;
  std::map<trace::Id, std::string> left, backends;
  std::map<trace::Id, std::vector<trace::GraphBreakRecord>> breaks;
  std::map<trace::Id, std::vector<trace::RecompileRecord>> recompiles;
};

std::string text_of(const std::map<trace::Id, std::string>& texts, trace::Id id) {
  const auto found = texts.find(id);
  return found == texts.end() ? "" : found->second;
}

/// The beginning of a long text.
std::string shortened_end(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string place(trace::Reader& reader, trace::Id stack) {
  if (stack == trace::kNone) return "";
  const auto locations = reader.stack(stack);
  return locations.empty() ? "" : fmt::format("{}:{}", locations.back().file, locations.back().line);
}

Json breaks_json(trace::Reader& reader, const std::vector<trace::GraphBreakRecord>& breaks) {
  JsonArray items;
  for (const trace::GraphBreakRecord& b : breaks)
    items.push_back(Json{JsonObject{{"reason", json(b.reason)},
                                    {"kind", json(b.kind)},
                                    {"hint", json(b.hint)},
                                    {"line", json(place(reader, b.stack))},
                                    {"cost_ns", json(b.cost_ns)}}});
  return Json{std::move(items)};
}

Json recompiles_json(trace::Reader& reader, const std::vector<trace::RecompileRecord>& recompiles) {
  JsonArray items;
  for (const trace::RecompileRecord& r : recompiles) {
    const auto of = reader.compile(r.of);
    items.push_back(Json{JsonObject{{"of", json(of ? of->address : "")},
                                    {"guard", json(r.expression)},
                                    {"expected", json(r.expected)},
                                    {"actual", json(r.actual)},
                                    {"reason", json(r.reason)},
                                    {"line", json(place(reader, r.stack))},
                                    {"cost_ns", json(r.cost_ns)}}});
  }
  return Json{std::move(items)};
}

Json graph_json(trace::Reader& reader, const trace::CompileRecord& c, GraphFacts& facts, const std::string& outcome) {
  const auto snapshots = reader.snapshots(c.id);
  const trace::FrameRecord& frame = facts.frames[c.frame];
  return Json{JsonObject{{"graph", json(c.address)},
                         {"name", json(c.name)},
                         {"backend", json(text_of(facts.backends, c.id))},
                         {"outcome", json(outcome)},
                         {"left", json(text_of(facts.left, c.id))},
                         {"cause", json(c.cause)},
                         {"error", json(c.error)},
                         {"nodes", json(snapshots.empty() ? 0 : snapshots.front().node_count)},
                         {"stages", json(snapshots.size())},
                         {"duration_ns", json(c.duration_ns)},
                         {"frame", json(c.frame_number)},
                         {"compile", json(c.compile_number)},
                         {"attempt", json(c.attempt)},
                         {"function", json(frame.name)},
                         {"file", json(frame.file)},
                         {"line", json(frame.line)},
                         {"breaks", breaks_json(reader, facts.breaks[c.id])},
                         {"recompiles", recompiles_json(reader, facts.recompiles[c.id])}}};
}

std::string recompile_text(const trace::RecompileRecord& r) {
  if (r.expression.empty()) return first_line(r.reason);
  if (r.expected.empty() || r.actual.empty()) return first_line(r.expression);
  return fmt::format("{} (expected {}, was {})", first_line(r.expression), r.expected, r.actual);
}

/// Why a compile ended as it did, in a few words.
std::string note_of(trace::Reader& reader, const trace::CompileRecord& c, GraphFacts& facts) {
  std::vector<std::string> notes;
  if (!c.error.empty()) notes.push_back(first_line(c.error));
  if (const auto left = facts.left.find(c.id); left != facts.left.end())
    notes.push_back("left to PyTorch: " + first_line(left->second));
  if (const auto& recompiles = facts.recompiles[c.id]; !recompiles.empty())
    notes.push_back("recompiled: " + recompile_text(recompiles.front()));
  else if (!c.cause.empty())
    notes.push_back("recompiled: " + first_line(c.cause));
  for (const trace::GraphBreakRecord& b : facts.breaks[c.id]) {
    const std::string at = place(reader, b.stack);
    notes.push_back(fmt::format("break{}: {}", at.empty() ? "" : " at " + shortened(at, 50),
                                first_line(b.kind.empty() ? b.reason : b.kind)));
  }
  std::string text;
  for (const std::string& n : notes) text += (text.empty() ? "" : "; ") + n;
  return text;
}

/// A recorder's rows come before those that only PyTorch's log knows: by time they are in order again.
std::vector<trace::CompileRecord> compiles_in_time(trace::Reader& reader) {
  std::vector<trace::CompileRecord> compiles = reader.compiles();
  if (reader.property("producer") == "strata")
    std::stable_sort(compiles.begin(), compiles.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return compiles;
}

/// Compiles by process and frame, in the order in which frames were first compiled.
std::vector<trace::CompileRecord> in_tree_order(std::vector<trace::CompileRecord> compiles) {
  std::map<std::tuple<trace::Id, std::string, std::int64_t>, std::size_t> first;
  for (std::size_t i = 0; i < compiles.size(); ++i)
    first.try_emplace({compiles[i].process, compiles[i].prefix, compiles[i].frame_number}, i);
  const auto key = [&](const trace::CompileRecord& c) {
    return std::tuple(c.process, first[{c.process, c.prefix, c.frame_number}], c.compile_number, c.attempt);
  };
  std::stable_sort(compiles.begin(), compiles.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return compiles;
}

void list_graphs(const ListOptions& o) {
  trace::Reader reader(o.trace);
  say_unfinished(reader);
  GraphFacts facts(reader);
  Table table({"graph", "name", "backend", "outcome", ">nodes", ">stages", ">time", "note"});
  JsonArray items;
  trace::Id frame = trace::kNone;
  for (const trace::CompileRecord& c : in_tree_order(compiles_in_time(reader))) {
    const std::string outcome = c.outcome.empty() ? "unfinished" : c.outcome;
    items.push_back(graph_json(reader, c, facts, outcome));
    const bool in_frame = c.frame != trace::kNone && facts.frames.contains(c.frame);
    if (in_frame && c.frame != frame) {
      const trace::FrameRecord& f = facts.frames[c.frame];
      table.row({fmt::format("{}frame {}", c.prefix, f.number), f.name, "", "", "", "", "",
                 f.file.empty() ? "" : fmt::format("{}:{}", shortened(f.file, 60), f.line)});
    }
    frame = c.frame;
    const auto snapshots = reader.snapshots(c.id);
    table.row({(in_frame ? "  " : "") + c.address, in_frame ? "" : c.name, text_of(facts.backends, c.id), outcome,
               std::to_string(snapshots.empty() ? 0 : snapshots.front().node_count), std::to_string(snapshots.size()),
               time_text(static_cast<double>(c.duration_ns)), shortened_end(note_of(reader, c, facts), 160)});
  }
  print(o.json ? to_text(Json{std::move(items)}) : table.text());
}

struct StageLine {
  std::string stage, what, change;
};

StageLine describe(trace::Reader& reader, trace::Id compile, const std::string& stage) {
  if (stage == "source") return {stage, fmt::format("{} files", reader.source_files().size()), ""};
  if (stage == "runs") {
    size_t count = 0;
    for (const trace::RunRecord& r : reader.runs()) count += r.compile == compile;
    return {stage, fmt::format("{} runs", count), ""};
  }
  const trace::SnapshotRecord s = reader.find_snapshot(compile, stage);
  if (s.kind == trace::SnapshotKind::Text) return {stage, "text", ""};
  std::string change;
  if (s.ordinal > 0) change = fmt::format("+{} -{} ~{}", s.added, s.removed, s.changed);
  return {stage, fmt::format("{} nodes", s.node_count), change};
}

void list_stages(const ListOptions& o) {
  trace::Reader reader(o.trace);
  const trace::CompileRecord compile = select_compile(reader, o.address);
  Table table({"stage", "content", "against the one before"});
  JsonArray items;
  for (const std::string& stage : stage_names(reader, compile.id)) {
    const StageLine line = describe(reader, compile.id, stage);
    table.row({line.stage, line.what, line.change});
    items.push_back(
        Json{JsonObject{{"stage", json(line.stage)}, {"content", json(line.what)}, {"change", json(line.change)}}});
  }
  print(o.json ? to_text(Json{std::move(items)}) : table.text());
}

std::string verified_word(trace::Verified v) {
  return v == trace::Verified::Passed ? "passed" : v == trace::Verified::Failed ? "failed" : "no";
}

void list_passes(const ListOptions& o) {
  trace::Reader reader(o.trace);
  const trace::CompileRecord compile = select_compile(reader, o.address);
  Table table({">#", "pass", "changed", ">rewrites", ">before", ">after", ">time", "verified", "note"});
  JsonArray items;
  for (const trace::PassRecord& p : reader.passes(compile.id)) {
    const size_t rewrites = reader.rewrites_of_pass(p.id).size();
    table.row({std::to_string(p.ordinal), p.name, p.changed ? "yes" : "no", std::to_string(rewrites),
               std::to_string(p.nodes_before), std::to_string(p.nodes_after),
               time_text(static_cast<double>(p.duration_ns)), verified_word(p.verified), p.error});
    items.push_back(Json{JsonObject{{"ordinal", json(p.ordinal)},
                                    {"pass", json(p.name)},
                                    {"changed", json(p.changed)},
                                    {"rewrites", json(rewrites)},
                                    {"nodes_before", json(p.nodes_before)},
                                    {"nodes_after", json(p.nodes_after)},
                                    {"duration_ns", json(p.duration_ns)},
                                    {"verified", json(verified_word(p.verified))},
                                    {"note", json(p.error)}}});
  }
  print(o.json ? to_text(Json{std::move(items)}) : table.text());
}

void list_backends(bool as_json) {
  Table table({"backend", "available", "what it is"});
  JsonArray items;
  for (const BackendInfo& b : backends()) {
    table.row({b.name, b.available ? "yes" : "no: " + b.why_not, b.doc});
    items.push_back(Json{JsonObject{{"backend", json(b.name)},
                                    {"available", json(b.available)},
                                    {"why_not", json(b.why_not)},
                                    {"doc", json(b.doc)}}});
  }
  print(as_json ? to_text(Json{std::move(items)}) : table.text());
}

void add_list(CLI::App& app, const char* name, const char* doc, bool of_graph, void (*list)(const ListOptions&)) {
  CLI::App* command = app.add_subcommand(name, doc);
  auto options = std::make_shared<ListOptions>();
  command->add_option("TRACE", options->trace, "trace file")->required();
  if (of_graph) add_graph_option(*command, options->address);
  command->add_flag("--json", options->json, "results as JSON");
  command->callback([options, list] { list(*options); });
}

}  // namespace

void add_graphs(CLI::App& app, Invocation&) { add_list(app, "graphs", "the graphs of a trace", false, list_graphs); }
void add_stages(CLI::App& app, Invocation&) { add_list(app, "stages", "the stages of a graph", true, list_stages); }
void add_passes(CLI::App& app, Invocation&) {
  add_list(app, "passes", "the passes that ran on a graph", true, list_passes);
}

void add_backends(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("backends", "what can run a program here");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "results as JSON");
  command->callback([as_json] { list_backends(*as_json); });
}

}  // namespace strata::cli
