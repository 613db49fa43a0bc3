// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of graph payloads: what is read goes into records and comes back as the same text, and the two
/// halves of the input (cut at a line `====`) are aligned with each other. Nothing may be thrown.

#include <cstdlib>
#include <string_view>

#include "capture/torch_graph/align.h"
#include "capture/torch_graph/follow.h"
#include "capture/torch_graph/imported_graph.h"
#include "capture/torch_graph/modules.h"
#include "capture/torch_graph/records.h"
#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/support/error.h"

namespace {

using namespace strata;
using namespace strata::capture;

void expect_round_trip(std::string_view text) {
  std::optional<Graph> graph;
  try {
    graph = parse_fx(text);
  } catch (const Error&) {
    return;
  }
  const GraphRecords records = records_of(*graph);
  trace::SnapshotRecord snapshot;
  snapshot.extra = records.extra;
  std::unordered_map<const Node*, const trace::NodeRecord*> from;
  Graph again = graph_of(snapshot, records.nodes, nullptr, &from);
  for (const auto& [node, record] : from)
    const_cast<Node*>(node)->meta.source =
        records.from[static_cast<size_t>(record - records.nodes.data())]->meta.source;
  if (print_fx(again) != print_fx(*graph)) std::abort();
}

void number_places(graphs::ImportedGraph& g) {
  for (const SourceStack& source : g.sources) g.places.push_back(source ? source->back().line % 7 + 1 : 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find("\n====\n");
  ParsedGraph first = parse_graph_payload(text.substr(0, cut));
  if (first.exact) expect_round_trip(text.substr(0, cut));
  ParsedGraph second = parse_graph_payload(cut == std::string_view::npos ? text : text.substr(cut + 6));
  if (!first.graph || !second.graph) return 0;
  number_places(*first.graph);
  number_places(*second.graph);
  graphs::module_paths(*first.graph, {});
  graphs::align(*first.graph, *second.graph);
  graphs::replaced_by(*first.graph, *second.graph, graphs::same_names(*first.graph, *second.graph));
  return 0;
}
