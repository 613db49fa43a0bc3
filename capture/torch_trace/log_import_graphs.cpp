// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs and programs. What belongs to a program (cache key, provenance, autotuning) is logged after its code, so a
// program is written when the next graph or code of its attempt comes, or the attempt ends.
#include <utility>

#include "capture/torch_trace/log_import.h"

namespace strata::capture::detail {
namespace {

std::string stage_of(const LogPlace& place) {
  switch (place.what.place) {
    case GraphPlace::Forward:
    case GraphPlace::Backward:
    case GraphPlace::Inference:
      return place.role;
    case GraphPlace::PostBefore:
      return "simplified:" + place.role + ".before";
    case GraphPlace::PostAfter:
      return "simplified:" + place.role + ".after";
    default:
      return place.what.stage;
  }
}

std::string dimensions(JsonSlice list) {
  std::string out = "[";
  for (const JsonSlice item : list.items()) out += (out.size() > 1 ? ", " : "") + item.words();
  return out + "]";
}

}  // namespace

// The program that a graph became, added at its first graph.
trace::Id LogImport::program_of(AttemptState& attempt, const LogPlace& place) {
  if (place.code < 0) return trace::kNone;
  trace::Id& program = attempt.programs[place.code];
  if (program == trace::kNone) {
    trace::ProgramRecord record;
    record.compile = attempt.record.id;
    record.role = place.role;
    program = writer().add(record);
  }
  return program;
}

void LogImport::take_graph(std::size_t i, PreparedRecord& prepared) {
  AttemptState* attempt = attempt_of(i);
  if (!attempt) {
    artifact(owner_of(i), "fx", place(i).what.name, trace::pack_content(prepared.text));
    return;
  }
  write_program(*attempt);
  compile_of(i)->has_graph = true;
  attempt->graph_bytes += prepared.text.size();
  if (place(i).what.stage == "captured") {
    std::vector<std::pair<std::string, std::string>> sizes;
    for (const auto& [name, dims] : record(i).metadata.find("sizes").members())
      sizes.emplace_back(name, dimensions(dims));
    attempt->graphs->set_sizes(std::move(sizes));
    attempt->graphs->set_sources(std::exchange(attempt->sources, {}));
  }
  const trace::Id program = program_of(*attempt, place(i));
  const bool captured = place(i).what.stage == "captured";
  const trace::Id written =
      captured && attempt->adopted ? std::exchange(attempt->captured, trace::kNone) : trace::kNone;
  const trace::Id snapshot = attempt->graphs->add(stage_of(place(i)), program, std::move(*prepared.graph),
                                                  prepared.text, place(i).role, record(i).line, written);
  if (place(i).code >= 0) attempt->program_graphs[place(i).code] = snapshot;
}

void LogImport::take_code(std::size_t i, PreparedRecord& prepared) {
  AttemptState* attempt = attempt_of(i);
  if (!attempt || !prepared.code) {
    artifact(owner_of(i), "python", place(i).what.name, trace::pack_content(prepared.text));
    return;
  }
  write_program(*attempt);
  compile_of(i)->has_graph = true;
  auto pending = std::make_unique<PendingProgram>();
  LogPlace own = place(i);
  own.code = static_cast<std::int64_t>(i);
  pending->program.id = program_of(*attempt, own);
  pending->program.compile = attempt->record.id;
  pending->program.role = own.role;
  pending->program.path = record(i).metadata.find("filename").words();
  if (pending->program.path.empty()) pending->program.path = record(i).metadata.find("file_path").words();
  if (const auto graph = attempt->program_graphs.find(own.code); graph != attempt->program_graphs.end())
    pending->graph = graph->second;
  if (pending->graph == trace::kNone) pending->graph = attempt->graphs->program_graph(own.role);
  pending->hash = std::move(prepared.hash);
  pending->text = std::move(prepared.text);
  pending->code = std::move(prepared.code);
  attempt->pending = std::move(pending);
}

// Texts about a program, kept as artifacts of the compile too.
void LogImport::take_program_text(std::size_t i, const PreparedRecord& prepared) {
  keep(i, prepared);
  AttemptState* attempt = attempt_of(i);
  if (!attempt || !attempt->pending) return;
  PendingProgram& program = *attempt->pending;
  switch (place(i).what.kind) {
    case RecordKind::NodeMappings:
      program.mappings = prepared.text;
      break;
    case RecordKind::KernelStacks:
      program.stacks = prepared.text;
      break;
    case RecordKind::PostNodes:
      program.post_nodes = prepared.text;
      break;
    case RecordKind::PreNodes:
      program.pre_nodes = prepared.text;
      break;
    default:
      program.triton = prepared.text;
      break;
  }
}

void LogImport::write_program(AttemptState& attempt) {
  if (!attempt.pending) return;
  const std::unique_ptr<PendingProgram> pending = std::move(attempt.pending);
  GraphImporter& graphs = *attempt.graphs;
  int bad = 0;
  const ProvenanceMaps maps =
      parse_provenance(pending->mappings, pending->stacks, pending->triton, pending->post_nodes, &bad);
  if (bad > 0) context_.problem(input_, "bad_provenance", 0, "a provenance record is not the JSON that was expected");
  ProgramGraph graph;
  graph.snapshot = pending->graph;
  if (pending->graph != trace::kNone) {
    graph.nodes = graphs.nodes(pending->graph);
    if (!maps.post_to_pre.empty()) {
      graphs.link(pending->graph, maps.post_to_pre);
    } else if (!pending->pre_nodes.empty()) {
      graphs.link_json(pending->graph, pending->pre_nodes);
    }
  }
  context_.programs().push_back({pending->program, pending->code->aot_id, pending->hash});
  add_output_code(context_, pending->program, pending->text, *pending->code, maps, graph, input_);
}

}  // namespace strata::capture::detail
