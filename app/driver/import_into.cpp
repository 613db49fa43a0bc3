// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/import_into.h"

#include "app/driver/import_scan.h"
#include "app/driver/importers.h"
#include "app/driver/profile_launches.h"
#include "capture/import/context.h"
#include "capture/torch_graph/importer.h"
#include "core/support/error.h"
#include "core/trace/reader.h"

namespace strata {
namespace {

void note_problem(trace::Writer& writer, trace::Id process, const std::string& title, const std::string& detail) {
  trace::DiagnosticRecord d;
  d.severity = trace::DiagnosticRecord::Severity::Warning;
  d.kind = "import";
  d.title = title;
  d.detail = detail;
  d.process = process;
  writer.add(d);
}

void read(capture::ImportContext& context, const FoundInputs& found) {
  for (std::size_t i = 0; i < found.inputs.size();) {
    std::size_t end = i;
    while (end < found.inputs.size() && found.inputs[end].kind == found.inputs[i].kind) ++end;
    read_inputs(context, found.inputs[i].kind, std::span(found.inputs).subspan(i, end - i));
    i = end;
  }
}

}  // namespace

void import_into(trace::Writer& writer, const std::vector<std::filesystem::path>& paths, const KnownBefore& known) {
  capture::ImportContext context(writer);
  context.adopt(known.process);
  for (const capture::AdoptedCompile& c : known.compiles) context.adopt(c);
  for (const auto& [file, lines] : known.lines)
    for (const auto& [number, text] : lines) context.source_line(file, number, text);
  try {
    const FoundInputs found = find_inputs(paths);
    for (const SkippedInput& s : found.skipped)
      note_problem(writer, known.process.id, "what PyTorch wrote could not be used: " + s.why, s.path.string());
    read(context, found);
    context.finish();
    match_inputs(context);
    trace::Reader reader(writer.path());
    add_launches_to_profiles(reader, writer);
  } catch (const Error& e) {
    note_problem(writer, known.process.id, "what PyTorch wrote could not be read", e.what());
  }
  for (const trace::InputRecord& input : context.inputs())
    if (!input.producer.empty()) writer.set_property("torch", input.producer);
}

TorchGraph add_torch_graph(trace::Writer& writer, trace::Id compile, const CompileOrigin& origin) {
  capture::ImportContext context(writer);
  capture::GraphImporter graphs(context, compile, trace::kNone, capture::kTorchNodes);
  graphs.set_sizes(origin.sizes);
  graphs.set_sources(origin.sources);
  TorchGraph graph;
  graph.snapshot = graphs.add("captured", trace::kNone, capture::parse_graph_payload(origin.graph), origin.graph, "");
  const auto nodes = graphs.nodes(graph.snapshot);
  graph.nodes.assign(nodes.begin(), nodes.end());
  graphs.finish();
  return graph;
}

void add_backend(trace::Writer& writer, trace::Id compile, const std::string& name) {
  trace::ArtifactRecord a;
  a.owner = {trace::OwnerKind::Compile, compile, compile};
  a.kind = "text";
  a.name = "backend";
  a.content = name;
  writer.add(a);
}

}  // namespace strata
