// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata query`: nodes and events by what is known of them.

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "app/cli/table.h"
#include "app/query/query_words.h"
#include "app/query/trace_query.h"
#include "core/support/error.h"

namespace strata::cli {
namespace {

struct QueryOptions {
  std::string trace, of;
  std::vector<std::string> terms;
  Address address;
  std::size_t limit = 1000;
  bool json = false;
};

/// The stages that are looked through: one, those of one graph, or all.
std::vector<trace::SnapshotRecord> snapshots_of(trace::Reader& reader, const Address& address) {
  if (!address.stage.empty()) return {select_snapshot(reader, select_compile(reader, address).id, address)};
  if (!address.graph.empty()) return reader.snapshots(reader.find_compile(address.graph).id);
  std::vector<trace::SnapshotRecord> all;
  for (const trace::CompileRecord& c : reader.compiles())
    for (trace::SnapshotRecord& s : reader.snapshots(c.id)) all.push_back(std::move(s));
  return all;
}

std::string place_of(const NodeHit& hit) {
  return hit.file.empty() ? "" : fmt::format("{}:{}", shortened(hit.file, 40), hit.line);
}

Json node_json(const NodeHit& hit) {
  const trace::NodeRecord& n = hit.node;
  return Json{JsonObject{{"id", json(n.id)},
                         {"name", json(n.name)},
                         {"op", json(n.op)},
                         {"target", json(n.target)},
                         {"type", json(n.type)},
                         {"module", json(n.module)},
                         {"graph", json(hit.graph)},
                         {"stage", json(hit.stage)},
                         {"kernels", json_list(hit.kernels)},
                         {"time_ns", hit.time_ns < 0 ? Json{} : json(hit.time_ns)},
                         {"file", json(hit.file)},
                         {"line", json(hit.line)}}};
}

std::string nodes_text(const std::vector<NodeHit>& hits, std::size_t limit, bool one_stage) {
  std::vector<std::string> heads = {">id", "name", "target", "type", "module", ">time", "line"};
  if (!one_stage) heads.insert(heads.begin(), {"graph", "stage"});
  Table table(heads);
  for (std::size_t i = 0; i < hits.size() && i < limit; ++i) {
    const NodeHit& hit = hits[i];
    std::vector<std::string> cells = {
        std::to_string(hit.node.id), hit.node.name, hit.node.target, hit.node.type, hit.node.module,
        time_text(hit.time_ns),      place_of(hit)};
    if (!one_stage) cells.insert(cells.begin(), {hit.graph, hit.stage});
    table.row(cells);
  }
  return table.text();
}

/// On stderr: a misspelt value finds nothing, and nothing else says so.
void note_nothing(const QueryOptions& o, const QueryExpression& expression, bool events) {
  if (const std::string why = explain_nothing(o.trace, expression, events); !why.empty()) note(why);
}

void show_nodes(const QueryOptions& o, const QueryExpression& expression) {
  trace::Reader reader(o.trace);
  const std::vector<NodeHit> hits = query_nodes(reader, expression, snapshots_of(reader, o.address));
  if (o.json) {
    JsonArray items;
    for (const NodeHit& hit : hits) items.push_back(node_json(hit));
    return print(to_text(Json{std::move(items)}));
  }
  print(nodes_text(hits, o.limit, !o.address.stage.empty()));
  if (hits.empty()) note_nothing(o, expression, false);
  if (hits.size() > o.limit) note(fmt::format("{} more; --limit shows them", hits.size() - o.limit));
}

const char* match_word(trace::Match match) {
  return match == trace::Match::Exact ? "exact" : match == trace::Match::Inferred ? "inferred" : "none";
}

Json event_json(const EventHit& hit) {
  const trace::EventRecord& e = hit.event;
  return Json{JsonObject{{"id", json(e.id)},
                         {"name", json(e.name)},
                         {"category", json(e.category)},
                         {"start_ns", json(e.start_ns)},
                         {"duration_ns", json(e.duration_ns)},
                         {"thread", json(e.thread)},
                         {"stream", json(e.stream)},
                         {"correlation", json(e.correlation)},
                         {"graph", json(hit.graph)},
                         {"kernel", json(hit.kernel)},
                         {"match", json(match_word(e.match))}}};
}

void show_events(const QueryOptions& o, const QueryExpression& expression) {
  if (!o.address.stage.empty()) throw_user("events have no stage", "leave out --stage, or query nodes with --of nodes");
  QueryExpression scoped = expression;
  if (!o.address.graph.empty()) {
    trace::Reader reader(o.trace);
    QueryExpression graph{QueryExpression::Kind::Condition, {}, {}};
    graph.condition.key = "graph";
    graph.condition.value = reader.find_compile(o.address.graph).address;
    scoped = {QueryExpression::Kind::And, {expression, graph}, {}};
  }
  const EventHits result = query_events(o.trace, scoped, o.limit);
  if (o.json) {
    JsonArray items;
    for (const EventHit& hit : result.hits) items.push_back(event_json(hit));
    return print(to_text(Json{JsonObject{
        {"count", json(result.count)}, {"total_ns", json(result.total_ns)}, {"events", Json{std::move(items)}}}}));
  }
  Table table({">id", "name", "category", ">start", ">duration", ">stream", "graph", "kernel"});
  const std::int64_t origin = result.hits.empty() ? 0 : result.hits.front().event.start_ns;
  for (const EventHit& hit : result.hits)
    table.row({std::to_string(hit.event.id), shortened(hit.event.name, 70), hit.event.category,
               "+" + time_text(static_cast<double>(hit.event.start_ns - origin)),
               time_text(static_cast<double>(hit.event.duration_ns)),
               hit.event.stream < 0 ? "" : std::to_string(hit.event.stream), hit.graph, hit.kernel});
  print(table.text() + fmt::format("{} events, {} in all\n", result.count, time_text(result.total_ns)));
  if (result.count == 0) note_nothing(o, expression, true);
  if (result.count > static_cast<std::int64_t>(result.hits.size()))
    note(fmt::format("{} more; --limit shows them", result.count - static_cast<std::int64_t>(result.hits.size())));
}

void query(const QueryOptions& o) {
  std::string text;
  for (const std::string& term : o.terms) text += (text.empty() ? "" : " ") + term;
  const QueryExpression expression = parse_query(text);
  if (!o.of.empty()) check_word("kind of things to query", o.of, {"nodes", "events"});
  // A profile alone has no nodes.
  const bool events =
      o.of.empty() ? asks_for_events(expression) || trace::Reader(o.trace).compiles().empty() : o.of == "events";
  events ? show_events(o, expression) : show_nodes(o, expression);
}

}  // namespace

void add_query(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("query", "nodes and events by name, operator, shape, time, module, line, ...");
  auto options = std::make_shared<QueryOptions>();
  command->add_option("TRACE", options->trace, "trace file")->required();
  command
      ->add_option("EXPR", options->terms,
                   "KEY=PATTERN, KEY!=PATTERN, KEY~PART, KEY>NUMBER, with and, or, not, ( ): 'category=kernel "
                   "duration>1ms'")
      ->expected(0, 1000);
  add_graph_option(*command, options->address);
  command->get_option("--graph")->description("look in this compile only");
  add_stage_option(*command, options->address);
  command->get_option("--stage")->description("look in this stage only");
  command->add_option("--of", options->of, "nodes or events (default: as the keys need)")->type_name("WHAT");
  command->add_option("--limit", options->limit, "show at most this many (default: 1000)")->type_name("N");
  command->add_flag("--json", options->json, "results as JSON");
  command->callback([options] { query(*options); });
}

}  // namespace strata::cli
