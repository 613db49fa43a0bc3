// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata show`: any stage of a graph, one node of it, or one kernel, as text.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

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

/// The kernels that the nodes of a stage became, as comments: the text reads back as before.
std::string kernels_text(trace::Reader& reader, const trace::SnapshotRecord& snapshot) {
  std::map<trace::NodeId, std::string> names;
  std::string text;
  for (const trace::KernelRecord& k : reader.kernels(snapshot.compile)) {
    if (k.snapshot != snapshot.id) continue;
    if (names.empty())
      for (const trace::NodeRecord& n : reader.nodes(snapshot.id)) names[n.id] = n.name;
    text += fmt::format("# kernel {}{}:", k.name, k.library.empty() ? "" : " (" + k.library + ")");
    for (const trace::NodeId id : k.nodes) text += names.contains(id) ? " %" + names[id] : " " + std::to_string(id);
    text += '\n';
  }
  return text;
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

/// What stands on the lines of the sources.
using LineMarks = std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>>;

void add_mark(trace::Reader& reader, LineMarks& marks, trace::Id stack, const std::string& text) {
  if (stack == trace::kNone) return;
  const auto locations = reader.stack(stack);
  if (locations.empty()) return;
  auto& list = marks[{locations.back().file, locations.back().line}];
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Breaks and recompiles of all graphs, guards of this one.
LineMarks line_marks(trace::Reader& reader, trace::Id compile) {
  LineMarks marks;
  const auto address = [&](trace::Id id) {
    const auto c = reader.compile(id);
    return c ? " (graph " + c->address + ")" : std::string();
  };
  for (const trace::GraphBreakRecord& b : reader.graph_breaks())
    add_mark(reader, marks, b.stack,
             fmt::format("graph break{}: {}", address(b.compile), first_line(b.kind.empty() ? b.reason : b.kind)));
  for (const trace::RecompileRecord& r : reader.recompiles())
    add_mark(
        reader, marks, r.stack,
        fmt::format("recompile{}: {}", address(r.compile), first_line(r.expression.empty() ? r.reason : r.expression)));
  std::map<trace::Id, std::vector<const trace::GuardRecord*>> by_stack;
  const auto guards = reader.guards(compile);
  for (const trace::GuardRecord& g : guards) by_stack[g.stack].push_back(&g);
  for (const auto& [stack, list] : by_stack)
    for (std::size_t i = 0; i < list.size() && i < 5; ++i)
      add_mark(reader, marks, stack,
               i == 4 && list.size() > 5 ? fmt::format("... {} more guards", list.size() - 4)
                                         : fmt::format("guard {}: {}", list[i]->kind, first_line(list[i]->expression)));
  return marks;
}

std::string sources_text(trace::Reader& reader, trace::Id compile) {
  const LineMarks marks = line_marks(reader, compile);
  std::string text;
  const auto marks_of = [&](const std::string& path, std::int64_t number) {
    const auto found = marks.find({path, number});
    if (found == marks.end()) return;
    for (const std::string& mark : found->second) text += fmt::format("        ^ {}\n", mark);
  };
  for (const trace::SourceFileRecord& f : reader.source_files()) {
    const auto file = reader.source_file(f.path);
    if (!file) continue;
    text += fmt::format("# {}{}\n", file->path, file->excerpt ? " (the lines that are known)" : "");
    text += file->text;
    for (const auto& line : file->lines) {
      text += fmt::format("{:6}  {}\n", line.number, line.text);
      marks_of(file->path, line.number);
    }
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

/// Kernels with what was measured of them.
std::string kernels_of_node(trace::Reader& reader, const trace::Results& results) {
  std::map<trace::Id, std::pair<std::int64_t, std::int64_t>> measured;
  if (!results.kernels.empty())
    for (const trace::RunRecord& run : reader.runs())
      for (const trace::EventSum& sum : reader.event_sums(run.id)) {
        measured[sum.kernel].first += sum.count;
        measured[sum.kernel].second += sum.total_ns;
      }
  std::string text;
  for (const trace::KernelRecord& k : results.kernels) {
    std::vector<std::string> launches;
    for (const trace::LaunchRecord& l : results.launches)
      if (l.kernel == k.id) launches.push_back(fmt::format("{}", l.ordinal));
    text +=
        fmt::format("  kernel {}{}{}", k.name, k.library.empty() ? "" : ": " + k.library, k.exact ? "" : ", inferred");
    if (!launches.empty()) text += fmt::format(", launch {}", fmt::join(launches, ", "));
    const auto [count, ns] = measured[k.id];
    text += count > 0 ? fmt::format(", {} in {} runs of it\n", time_text(static_cast<double>(ns)), count)
                      : ", not measured\n";
  }
  return text;
}

std::string node_text(trace::Reader& reader, trace::Id compile, const trace::NodeRecord& n) {
  std::string text = fmt::format("{} (id {}): {} {}({}) : {}\n", n.name, n.id, n.op, n.target, n.args, n.type);
  if (!n.module.empty()) text += fmt::format("module: {}\n", n.module);
  if (const auto pass = reader.pass(n.maker)) text += fmt::format("made by: {}\n", pass->name);
  if (n.stack != trace::kNone) text += "source:\n" + stack_text(reader, n.stack);
  const trace::Origins origins = reader.origins(compile, n.id);
  text += "made from:\n";
  for (const trace::OriginStep& s : origins.ancestors)
    if (s.depth > 0)
      text += fmt::format("  {}{} (id {}), {}{}{}\n", std::string(static_cast<size_t>(s.depth) * 2 - 2, ' '),
                          s.node.name, s.node.id, s.edge.kind, s.edge.rule.empty() ? "" : " by " + s.edge.rule,
                          s.edge.exact ? "" : ", inferred");
  if (n.stack == trace::kNone && !origins.locations.empty()) {
    text += "lines it comes from:\n";
    for (const trace::SourceLocation& l : origins.locations)
      text += fmt::format("  {}:{}: {}\n", l.file, l.line, l.text);
  }
  const trace::Results results = reader.results(compile, n.id, 0);
  text += "became:\n";
  for (const trace::OriginStep& s : results.descendants)
    if (s.depth > 0)
      text += fmt::format("  {}{} (id {}), {}\n", std::string(static_cast<size_t>(s.depth) * 2 - 2, ' '), s.node.name,
                          s.node.id, s.edge.kind);
  text += kernels_of_node(reader, results);
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
               : graph_text(reader, snapshot, o.style) + kernels_text(reader, snapshot);
  }
  return stage == "source" ? sources_text(reader, compile.id) : runs_text(reader, compile.id);
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
