// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata show`: any stage of a graph, one node of it, or one kernel, as text.

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/cli.h"
#include "app/cli/table.h"
#include "app/driver/trace_graph.h"
#include "core/ir/fx_printer.h"
#include "core/ir/text.h"
#include "core/support/error.h"

namespace strata::cli {
namespace {

struct ShowOptions {
  std::string trace, style = "text", node, kernel;
  Address address;
};

/// Graphs of other producers may hold what our graph IR does not read: then the records themselves.
std::string plain_listing(trace::Reader& reader, trace::Id snapshot) {
  std::string text;
  for (const trace::NodeRecord& n : reader.nodes(snapshot))
    text += fmt::format("%{}:{} = {} {}({}){}{}\n", n.name, n.id, n.op, n.target, n.args,
                        n.type.empty() ? "" : " : " + n.type, n.module.empty() ? "" : " in " + n.module);
  return text;
}

std::string graph_text(trace::Reader& reader, const trace::SnapshotRecord& snapshot, const std::string& style) {
  try {
    const Graph graph = graph_from_trace(reader, snapshot);
    if (style == "text") return print_text(graph);
    FxOptions options;
    options.form = FxOptions::Form::Class;
    options.annotations = options.comments = options.clean_ups = style == "fx";
    return print_fx(graph, options);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
    note(fmt::format("shown as plain records: {}", e.what()));
    return plain_listing(reader, snapshot.id);
  }
}

std::string artifacts_text(trace::Reader& reader, const trace::Owner& owner) {
  std::string text;
  for (const trace::ArtifactRecord& a : reader.artifacts(owner)) {
    const auto whole = reader.artifact(a.id);
    if (!whole) continue;
    if (owner.kind == trace::OwnerKind::Kernel) text += fmt::format("# {}\n", a.kind);
    text += whole->content;
    if (!whole->content.ends_with('\n')) text += '\n';
  }
  return text;
}

std::string sources_text(trace::Reader& reader) {
  std::string text;
  for (const trace::SourceFileRecord& f : reader.source_files()) {
    const auto file = reader.source_file(f.path);
    if (!file) continue;
    text += fmt::format("# {}{}\n", file->path, file->excerpt ? " (the lines that are known)" : "");
    text += file->text;
    for (const auto& line : file->lines) text += fmt::format("{:6}  {}\n", line.number, line.text);
    text += '\n';
  }
  return text;
}

std::string runs_text(trace::Reader& reader, trace::Id compile) {
  Table table({"run", "label", ">repeat", ">time", ">events"});
  for (const trace::RunRecord& r : reader.runs())
    if (r.compile == compile)
      table.row({std::to_string(r.id), r.label, std::to_string(r.repeat), time_text(static_cast<double>(r.duration_ns)),
                 std::to_string(reader.events(r.id).size())});
  return table.text();
}

std::string stack_text(trace::Reader& reader, trace::Id stack) {
  std::string text;
  for (const trace::SourceLocation& l : reader.stack(stack))
    text += fmt::format("  {}:{} in {}: {}\n", l.file, l.line, l.function, l.text);
  return text;
}

trace::NodeRecord find_node(trace::Reader& reader, trace::Id snapshot, const std::string& name) {
  std::vector<std::string> names;
  for (trace::NodeRecord& n : reader.nodes(snapshot)) {
    if (n.name == name || std::to_string(n.id) == name) return n;
    names.push_back(n.name);
  }
  throw_user(fmt::format("this stage has no node '{}'", name), suggest(name, names));
}

std::string node_text(trace::Reader& reader, trace::Id compile, const trace::NodeRecord& n) {
  std::string text = fmt::format("{} (id {}): {} {}({}) : {}\n", n.name, n.id, n.op, n.target, n.args, n.type);
  if (!n.module.empty()) text += fmt::format("module: {}\n", n.module);
  if (const auto pass = reader.pass(n.maker)) text += fmt::format("made by: {}\n", pass->name);
  if (n.stack != trace::kNone) text += "source:\n" + stack_text(reader, n.stack);
  text += "made from:\n";
  for (const trace::OriginStep& s : reader.origins(compile, n.id).ancestors)
    if (s.depth > 0)
      text += fmt::format("  {}{} (id {}), {}{}{}\n", std::string(static_cast<size_t>(s.depth) * 2 - 2, ' '),
                          s.node.name, s.node.id, s.edge.kind, s.edge.rule.empty() ? "" : " by " + s.edge.rule,
                          s.edge.exact ? "" : ", inferred");
  const trace::Results results = reader.results(compile, n.id, 0);
  text += "became:\n";
  for (const trace::OriginStep& s : results.descendants)
    if (s.depth > 0)
      text += fmt::format("  {}{} (id {}), {}\n", std::string(static_cast<size_t>(s.depth) * 2 - 2, ' '), s.node.name,
                          s.node.id, s.edge.kind);
  for (const trace::KernelRecord& k : results.kernels)
    text += fmt::format("  kernel {}{}\n", k.name, k.library.empty() ? "" : ": " + k.library);
  for (const trace::RemovalRecord& r : results.removals) {
    const auto pass = reader.pass(r.pass);
    text += fmt::format("  removed (id {}) by {}: {}{}\n", r.node, pass ? pass->name : "a pass", r.rule,
                        r.reason.empty() ? "" : ", " + r.reason);
  }
  for (const trace::FusionRecord& f : reader.fusions_of_node(compile, n.id))
    text += fmt::format("  {} with {}: {}\n", f.accepted ? "fused" : "not fused",
                        f.producer == n.id ? f.consumer : f.producer, f.reason);
  return text;
}

std::string kernel_text(trace::Reader& reader, trace::Id compile, const std::string& name) {
  std::vector<std::string> names;
  for (const trace::KernelRecord& k : reader.kernels(compile)) {
    names.push_back(k.name);
    if (k.name != name && std::to_string(k.id) != name) continue;
    std::string text = artifacts_text(reader, {trace::OwnerKind::Kernel, k.id, compile});
    return text.empty() ? fmt::format("# kernel {} has no code in this trace\n", k.name) : text;
  }
  throw_user(fmt::format("this graph has no kernel '{}'", name), suggest(name, names));
}

std::string shown(const ShowOptions& o) {
  check_word("style", o.style, {"text", "fx", "code"});
  trace::Reader reader(o.trace);
  const trace::CompileRecord compile = select_compile(reader, o.address);
  if (!o.kernel.empty()) return kernel_text(reader, compile.id, o.kernel);
  Address address = o.address;
  const std::string stage = select_stage(reader, compile.id, address);
  if (!o.node.empty() || (stage != "source" && stage != "runs")) {
    address.stage = stage;
    const trace::SnapshotRecord snapshot = select_snapshot(reader, compile.id, address);
    if (!o.node.empty()) return node_text(reader, compile.id, find_node(reader, snapshot.id, o.node));
    return snapshot.kind == trace::SnapshotKind::Text
               ? artifacts_text(reader, {trace::OwnerKind::Snapshot, snapshot.id, compile.id})
               : graph_text(reader, snapshot, o.style);
  }
  return stage == "source" ? sources_text(reader) : runs_text(reader, compile.id);
}

}  // namespace

void add_show(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("show", "a stage, a node or a kernel as text");
  auto options = std::make_shared<ShowOptions>();
  command->add_option("TRACE", options->trace, "trace file")->required();
  add_graph_option(*command, options->address);
  add_stage_option(*command, options->address);
  command->add_option("--node", options->node, "one node, by name or id: source, origins, kernels, fusion decisions")
      ->type_name("N");
  command->add_option("--kernel", options->kernel, "the code of one kernel, by name")->type_name("NAME");
  command
      ->add_option("--style", options->style,
                   "text (Strata's own, default), fx (as PyTorch prints it), code (the bare program)")
      ->type_name("STYLE");
  command->callback([options] { print(shown(*options)); });
}

}  // namespace strata::cli
