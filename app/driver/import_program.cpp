// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/import_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "app/driver/graph_records.h"
#include "capture/pt2.h"

namespace strata {
namespace {

using capture::ImportContext;

std::int64_t free_frame_number(ImportContext& context) {
  std::int64_t next = 0;
  for (const capture::ImportedCompile& c : context.compiles()) next = std::max(next, c.record.frame_number + 1);
  return next;
}

trace::Id add_input(ImportContext& context, const std::filesystem::path& path, trace::Id process) {
  trace::InputRecord input;
  input.path = path.string();
  input.kind = "program";
  input.process = process;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  if (!ignored) input.bytes = static_cast<std::int64_t>(size);
  return context.add_input(input);
}

trace::CompileRecord add_compile(ImportContext& context, const Program& program, trace::Id process) {
  trace::FrameRecord frame;
  frame.process = process;
  frame.number = free_frame_number(context);
  frame.name = program.name;
  frame.file = program.path;
  trace::CompileRecord compile;
  compile.process = process;
  compile.frame = context.writer().add(frame);
  compile.frame_number = frame.number;
  compile.address = fmt::format("{}/0", frame.number);
  compile.name = program.name;
  compile.outcome = "ok";
  compile.id = context.writer().add(compile);
  return compile;
}

}  // namespace

void import_program(ImportContext& context, const std::filesystem::path& path) {
  const Program program = load_pt2(path);
  const trace::Id process = context.process(0, -1);
  const trace::Id input = add_input(context, path, process);
  const trace::CompileRecord compile = add_compile(context, program, process);
  GraphRecords graphs(context.writer());
  graphs.symbols(program.graph, compile.id);
  graphs.assumptions(program.graph, compile.id);
  trace::SnapshotRecord captured;
  captured.compile = compile.id;
  captured.stage = "captured";
  captured.extra = GraphRecords::form(program.graph);
  context.writer().add(captured, graphs.nodes(program.graph));
  for (const auto& [file, lines] : program.source_lines)
    for (const auto& [number, text] : lines) context.source_line(file, number, text);
  context.compiles().push_back({compile, input});
  context.count(input, "graph");
  context.count(input, "node", static_cast<std::int64_t>(program.graph.size()));
  context.finish_input(input, process, program.producer);
}

}  // namespace strata
