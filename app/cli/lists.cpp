// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata graphs`, `stages`, `passes`, `backends`: what there is.

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "app/cli/table.h"
#include "app/driver/compile.h"
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

void list_graphs(const ListOptions& o) {
  trace::Reader reader(o.trace);
  say_unfinished(reader);
  Table table({"graph", "name", "outcome", ">nodes", ">stages", ">time"});
  JsonArray items;
  for (const trace::CompileRecord& c : reader.compiles()) {
    const auto snapshots = reader.snapshots(c.id);
    const int64_t nodes = snapshots.empty() ? 0 : snapshots.front().node_count;
    const std::string outcome = c.outcome.empty() ? "unfinished" : c.outcome;
    table.row({c.address, c.name, outcome, std::to_string(nodes), std::to_string(snapshots.size()),
               time_text(static_cast<double>(c.duration_ns))});
    items.push_back(Json{JsonObject{{"graph", json(c.address)},
                                    {"name", json(c.name)},
                                    {"outcome", json(outcome)},
                                    {"cause", json(c.cause)},
                                    {"error", json(c.error)},
                                    {"nodes", json(nodes)},
                                    {"stages", json(snapshots.size())},
                                    {"duration_ns", json(c.duration_ns)}}});
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
